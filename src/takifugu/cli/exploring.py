"""`explore`: the page that shows what noise hides."""

from __future__ import annotations

from pathlib import Path

from takifugu.cli.output import show_page
from takifugu.pages.explorer import TITLE, explorer
from takifugu.pages.explorer.link import Link, link_of


def explore(file: Path | None, output: Path | None, force: bool) -> None:
    link = Link("", ()) if file is None else link_of(file)
    show_page(output, "explorer", explorer(), TITLE, force, link.settings, link.differences)

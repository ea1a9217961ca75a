"""`explore`: the page that shows what noise hides."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import open_page, print_json, write_page
from takifugu.core.text.tables import paragraph
from takifugu.pages.explorer import TITLE, explorer
from takifugu.pages.explorer.link import Link, link_of


def explore(file: Path | None, output: Path | None, force: bool) -> None:
    link = Link("", ()) if file is None else link_of(file)
    page = write_page(output, "explorer", explorer(), TITLE, force)
    address = page.resolve().as_uri() + (f"#{link.settings}" if link.settings else "")
    if print_json({"page": str(page), "address": address, "differences": list(link.differences)}):
        return
    click.echo(address)
    for sentence in link.differences:
        click.echo(paragraph(sentence))
    open_page(address)

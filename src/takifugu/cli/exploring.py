"""`explore`: the page that shows what noise hides."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

import click

from takifugu.cli.output import print_json, write_new
from takifugu.core.text.tables import paragraph
from takifugu.pages.explorer import TITLE, explorer
from takifugu.pages.explorer.link import Link, link_of


def explore(file: Path | None, output: Path | None, force: bool, as_json: bool) -> None:
    link = Link("", ()) if file is None else link_of(file)
    page = output or Path(tempfile.mkdtemp(prefix="takifugu-explorer-")) / "explorer.html"
    write_new(page, explorer(), force, ".html", lambda former: TITLE in former)
    address = page.resolve().as_uri() + (f"#{link.settings}" if link.settings else "")
    if as_json:
        print_json("explore", file, {"page": str(page), "address": address, "differences": list(link.differences)})
        return
    click.echo(address)
    for sentence in link.differences:
        click.echo(paragraph(sentence))
    if not webbrowser.open(address):
        click.echo("There is no browser here: open this address with one.", err=True)

"""A page that a command writes, and opens in the browser."""

from __future__ import annotations

import tempfile
import webbrowser
from pathlib import Path

import click

from takifugu.cli.output import write_new


def write_page(output: Path | None, name: str, text: str, title: str, force: bool) -> Path:
    """Write a page to `output`, or into a new folder; `title` is what an earlier one begins with."""
    page = output or Path(tempfile.mkdtemp(prefix="takifugu-")) / f"{name}.html"
    write_new(page, text, force, ".html", lambda former: title in former)
    return page


def open_page(address: str, what: str = "address") -> None:
    """Open an address in the browser, or say that there is none."""
    if not webbrowser.open(address):
        click.echo(f"There is no browser here: open this {what} with one.", err=True)

"""`takifugu advise`: is the table worth reading, and what would make it so?"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import click

from takifugu.cli.group import complain
from takifugu.cli.output import heading, only_one, print_json
from takifugu.cli.progress import watching
from takifugu.cli.terminal import is_terminal
from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.text.tables import paragraph
from takifugu.releasing.advice.advice import advise
from takifugu.releasing.advice.leaving_out import left_out
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.file.loading import load

_COLOURS = {Verdict.GOOD: "green", Verdict.ROUGH: "yellow", Verdict.USELESS: "red"}


def advice(files: tuple[Path, ...], window: str | None, as_json: bool) -> None:
    documents = []
    for file in files:
        # A number from the private data must not go into a file or a log: None if output may be kept.
        lost: tuple[str, ...] | None = None
        if is_terminal(sys.stdout) and is_terminal(sys.stderr):
            lost = ()
            with suppress(TakifuguError):  # which `advise` raises
                lost = left_out(load(file, window=window, first=True))
        try:
            with watching() as watch:
                advised = advise(file, window=window, watch=watch)
        except (DataError, SpecError):
            for words in lost or ():
                complain(words)
            raise
        documents.append({"file": str(file), **advised.to_dict(), "left_out": lost})
        if as_json:
            continue
        if len(files) > 1:
            heading(str(file))
        lines = list[str]()
        for text, verdict in advised.lines():
            line = visible(text)
            if verdict is not None:
                line = click.style(line, fg=_COLOURS[verdict])
            lines.append(line)
        click.echo("\n".join(lines).rstrip())
        for words in (*advised.notices, *(f"{words}." for words in lost or ())):
            click.echo(f"\n{paragraph(words)}")
    if as_json:
        print_json("advise", only_one(files), {"files": documents})

"""`takifugu advise`: is the table worth reading, and what would make it so?"""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import heading, print_json
from takifugu.cli.progress import watching
from takifugu.core.escaping import visible
from takifugu.releasing.advice.advice import Advice, advise
from takifugu.releasing.advice.worth import Verdict

_COLOURS = {Verdict.GOOD: "green", Verdict.ROUGH: "yellow", Verdict.USELESS: "red"}


def advice(files: tuple[Path, ...], window: str | None, as_json: bool) -> None:
    documents = []
    for file in files:
        with watching() as watch:
            advised = advise(file, window=window, watch=watch)
        documents.append({"file": str(file), **advised.to_dict()})
        if as_json:
            continue
        if len(files) > 1:
            heading(str(file))
        click.echo(_coloured(advised))
    if as_json:
        print_json("advise", files[0] if len(files) == 1 else None, {"files": documents})


def _coloured(advised: Advice) -> str:
    """Return the advice with each verdict in its colour."""
    coloured = []
    for text, verdict in advised.lines():
        line = visible(text)
        coloured.append(line if verdict is None else click.style(line, fg=_COLOURS[verdict]))
    return "\n".join(coloured).rstrip()

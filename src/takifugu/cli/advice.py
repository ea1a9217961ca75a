"""`takifugu advise`: is the table worth reading, and what would make it so?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from takifugu.cli.group import complain
from takifugu.cli.output import heading, print_json, wants_json
from takifugu.cli.progress import watching
from takifugu.cli.terminal import only_seen
from takifugu.core.errors import DataError, SpecError, TakifuguError
from takifugu.core.escaping import visible
from takifugu.core.text.tables import paragraph
from takifugu.releasing.advice.advice import advise
from takifugu.releasing.advice.leaving_out import left_out
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.file.loading import load

_COLOURS = {Verdict.GOOD: "green", Verdict.ROUGH: "yellow", Verdict.USELESS: "red"}


@contextmanager
def counting_what_is_left_out(file: Path, window: str | None) -> Iterator[None]:
    """Say beside an error of the data how many rows each remedy would leave out, on a terminal alone."""
    try:
        yield
    except (DataError, SpecError):
        for words in _lost(file, window) or ():
            complain(words)
        raise


def _lost(file: Path, window: str | None) -> tuple[str, ...] | None:
    """Return how many rows rules leave out, or would, in sentences; None if output may be kept, in a file or a log."""
    if not only_seen():
        return None
    with suppress(TakifuguError):  # which whoever reads the data raises
        rows = left_out(load(file, window=window, first=True))
        return (rows.words,) if rows is not None and rows.dropped else ()
    return ()


def advice(files: tuple[Path, ...], window: str | None) -> None:
    documents = []
    for file in files:
        with counting_what_is_left_out(file, window), watching() as watch:
            advised = advise(file, window=window, watch=watch, is_seen=only_seen())
        lost = _lost(file, window)
        documents.append({"file": str(file), **advised.to_dict(), "left_out": lost})
        if wants_json():
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
        counts = [f"{words}." for words in lost or ()]
        if lost is None and any(table.left_out for table in advised.tables):
            counts.append("How many rows are left out is said on a terminal alone, where nobody else sees it.")
        for words in (*advised.notices, *counts):
            click.echo(f"\n{paragraph(words)}")
    print_json({"files": documents})

"""`takifugu advise`: is the table worth reading, and what would make it so?"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from takifugu.cli.output import heading, print_json, wrapped
from takifugu.cli.picture import bars
from takifugu.cli.progress import watching
from takifugu.core.text.tables import text_table
from takifugu.releasing.advice.advice import MOST_CELLS, REMEDY_HEADER, advise
from takifugu.releasing.advice.advising import TableAdvice
from takifugu.releasing.advice.worth import Verdict

_COLOURS = {Verdict.GOOD: "green", Verdict.ROUGH: "yellow", Verdict.USELESS: "red"}
_LEGEND = (
    "What is expected, from {source}. A published value lies between the ends of ▓ and ░ with probability 95 %, each "
    "by itself."
)


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
        for table in advised.tables:
            _print_table(table)
        if advised.remedies:
            click.echo("What would help, the best first:\n")
            click.echo(text_table(REMEDY_HEADER, advised.remedy_rows))
            click.echo()
        if advised.of_the_belief:
            click.echo(wrapped(advised.of_the_belief))
    if as_json:
        print_json("advise", files[0] if len(files) == 1 else None, {"files": documents})


def _print_table(table: TableAdvice) -> None:
    one = table.worth
    colour = None if one is None else _COLOURS[one.verdict]
    click.echo(f"{click.style(table.name, bold=True)}: {click.style(wrapped(table.sentence), fg=colour)}\n")
    if not table.labels or one is None or one.expectation.cells is None:
        return
    rows, off = [], Fraction(one.cell.width)
    for label, cell in zip(table.labels, one.expectation.cells, strict=True):
        value = Fraction(round(cell, 6))
        rows.append({"cell": label, "value": value, "low": value - off, "high": value + off})
    for line in bars(rows[:MOST_CELLS]):
        click.echo(line)
    if len(rows) > MOST_CELLS:
        click.echo(f"and {len(rows) - MOST_CELLS} more cells")
    click.echo(f"\n{wrapped(_LEGEND.format(source=one.expectation.source))}\n")

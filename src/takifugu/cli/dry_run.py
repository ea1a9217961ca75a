"""`release --dry-run`, and the same block in `calibrate`: what would be published and paid, before it is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import click

from takifugu.cli.group import REFUSED, complain
from takifugu.cli.outlook import print_outlook
from takifugu.cli.output import SCOPES, name_of, print_json, wrapped
from takifugu.cli.progress import watching
from takifugu.core.text.tables import labelled, number, text_table
from takifugu.releasing import steps
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.expected import Blur, Expected
from takifugu.releasing.planning.forecast import Forecast
from takifugu.releasing.planning.notices import spending
from takifugu.releasing.publishing.standing import Choice

_HEADER = ["table", "answers", "± (95 %)", "a cell can be", "± of that", "half exceeds"]
#: How many kinds of answers are shown per table; the JSON has all.
_MOST_NAMED = 6


def dry_run(
    file: Path, output: Path | None, wanted: Choice, new_ledger: bool, anyway: bool, as_json: bool,
    window: str | None = None,
) -> None:  # fmt: skip
    with watching() as watch:
        rehearsed = steps.dry_run(load(file, window=window), output, new_ledger, anyway, watch, wanted)
    foreseen, ahead = rehearsed.forecast, rehearsed.outlook
    if as_json:
        more = {} if ahead is None else {"outlook": ahead.to_dict()}
        print_json("release --dry-run", file, {"forecast": foreseen.to_dict(), "there": list(rehearsed.there), **more})
    else:
        if rehearsed.there:
            click.echo(f"{wrapped(rehearsed.left_alone)}\n")
        print_forecast(foreseen)
        if ahead is not None:
            click.echo("\nIf such windows are published one after the other:\n")
            print_outlook(ahead)
        click.echo("\nThis was a dry run: nothing was paid, drawn or written.")
    refuse(foreseen)


def refuse(foreseen: Forecast) -> None:
    """Say why a release would be refused, and exit with the code for that."""
    for words in foreseen.refusals:
        complain(words)
    if foreseen.refused:
        click.get_current_context().exit(REFUSED)


def print_forecast(foreseen: Forecast) -> None:
    if not foreseen.tables:  # all of them are published
        return
    if rows := [row for table in foreseen.tables for row in _rows(table)]:
        click.echo(text_table(_HEADER, rows))
        click.echo()
        click.echo(wrapped(
            "±: all values of a table lie within it at once with probability 95 %, over the noise alone. A cell can "
            "be: from its smallest to its largest possible value, whatever the data."
        ))  # fmt: skip
    for table in foreseen.tables:
        click.echo(f"\n{wrapped(f'{table.name}: {table.words()}')}")
    click.echo()
    account = foreseen.account
    if account is None:
        click.echo(wrapped("The ledger was not consulted: `takifugu release --dry-run` reads which units there are."))
    else:
        facts = [("ledger", spending(foreseen.source, account))]
        for charge in account.charges:
            whose = "one unit" if charge.units == 1 else f"{charge.units} units"
            facts.append(("charge", f"{charge.charged} for {whose}: {charge.reason}"))
        click.echo(labelled(facts))
    if foreseen.notices:
        click.echo(labelled([("note", words) for words in foreseen.notices]))


def _rows(table: Expected) -> Iterator[list[str]]:
    for blur in table.blurs[:_MOST_NAMED]:
        yield [
            name_of(table.name, 16), _whose(table, blur), *(["-"] * 4 if blur.marks else [
                _number(blur.half_width), _span(*_ends(blur.ranges)) if blur.ranges else "any number",
                _percent(*blur.shares) if blur.ranges else "-", _number(blur.median),
            ]),
        ]  # fmt: skip
    if len(table.blurs) > _MOST_NAMED:
        yield [name_of(table.name, 16), f"{len(table.blurs) - _MOST_NAMED} more kinds", "-", "-", "-", "-"]


def _whose(table: Expected, blur: Blur) -> str:
    if table.scope != "unit":
        return SCOPES[table.scope].removesuffix(" together")
    return name_of(blur.unit or "each unit", 12) if blur.answers == 1 else f"{blur.answers} units"


def _number(value: Fraction) -> str:
    return number(float(value))


def _ends(ranges: tuple[Fraction, ...]) -> tuple[str, str]:
    return _number(min(ranges)), _number(max(ranges))


def _percent(low: float, high: float) -> str:
    return _span(*(f"{number(100 * share, digits=3)} %" for share in (low, high)))


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"

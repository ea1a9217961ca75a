"""`takifugu plan`: what publishing again and again costs, and which epsilon a budget allows."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.cli.progress import watching
from takifugu.releasing.outlook import AHEAD, Outlook, outlook
from takifugu.releasing.two_ledgers import notices_of_ledgers
from takifugu.spec.file import load
from takifugu.tables import number, text_table


def plan(file: Path, releases: int, window: str | None, as_json: bool) -> None:
    with watching() as watch:
        watch("looking ahead", 0, 1)
        read = load(file, window=window)
        found, notices = outlook(read, releases), notices_of_ledgers(read)
    if as_json:
        print_json("plan", file, {**found.to_dict(), **({"notices": list(notices)} if notices else {})})
        return
    print_outlook(found)
    for words in notices:
        click.echo(f"\n{wrapped(words)}")


def print_outlook(found: Outlook) -> None:
    rows = [
        [name, f"{steps:,}", number(float(e)), number(None if b is None else float(b))]
        for name, steps, e, b in found.windows
    ]
    click.echo(text_table(["table", "steps of a window", "epsilon", "scale"], rows))
    click.echo()
    click.echo(text_table(AHEAD, found.shown))
    click.echo()
    click.echo(wrapped(
        "epsilon in all: what all these windows, one after the other, cost each unit together; each step is hidden at "
        "that epsilon. What lasts as long as several windows is not hidden."
    ))  # fmt: skip
    if found.budget is not None:
        click.echo(wrapped(_fit(found)))


def _fit(found: Outlook) -> str:
    last, whole = found.rows[-1].releases, number(float(found.budget or 0))
    if found.fits is None:
        return f"{last:,} windows do not fit the budget of epsilon {whole} at any epsilon"
    fitting = [(name, number(float(epsilon * found.fits))) for name, _, epsilon, _ in found.windows]
    each = ", ".join(f"{name} at epsilon {epsilon}" for name, epsilon in fitting)
    return f"{last:,} windows fit the budget of epsilon {whole} with {each}"

"""`takifugu plan`: what publishing again and again costs, and which epsilon a budget allows."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import print_json, wrapped
from takifugu.cli.progress import watching
from takifugu.core.text.tables import number, text_table
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import AHEAD, Outlook, outlook
from takifugu.releasing.planning.two_ledgers import notices_of_ledgers


def plan(file: Path, releases: int, window: str | None, as_json: bool) -> None:
    with watching() as watch:
        watch("looking ahead", 0, 1)
        read = load(file, window=window)
        ahead, notices = outlook(read, releases), notices_of_ledgers(read)
    if as_json:
        print_json("plan", file, {**ahead.to_dict(), **({"notices": list(notices)} if notices else {})})
        return
    print_outlook(ahead)
    for words in notices:
        click.echo(f"\n{wrapped(words)}")


def print_outlook(ahead: Outlook) -> None:
    rows = [
        [name, f"{steps:,}", number(float(e)), number(None if b is None else float(b))]
        for name, steps, e, b in ahead.windows
    ]
    click.echo(text_table(["table", "steps of a window", "epsilon", "scale"], rows))
    click.echo()
    click.echo(text_table(AHEAD, ahead.rows_as_text))
    click.echo()
    click.echo(wrapped(
        "epsilon in all: what all these windows, one after the other, cost each unit together; each step is hidden at "
        "that epsilon. What lasts as long as several windows is not hidden."
    ))  # fmt: skip
    if ahead.budget is not None:
        click.echo(wrapped(_fit(ahead)))


def _fit(ahead: Outlook) -> str:
    last, whole = ahead.rows[-1].releases, number(float(ahead.budget or 0))
    if ahead.fits is None:
        return f"{last:,} windows do not fit the budget of epsilon {whole} at any epsilon"
    fitting = [(name, number(float(epsilon * ahead.fits))) for name, _, epsilon, _ in ahead.windows]
    each = ", ".join(f"{name} at epsilon {epsilon}" for name, epsilon in fitting)
    return f"{last:,} windows fit the budget of epsilon {whole} with {each}"

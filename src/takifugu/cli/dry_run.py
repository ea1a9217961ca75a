"""`release --dry-run`: what would be published and paid, before it is; and what is refused beforehand."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.group import REFUSED, complain
from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.releasing import steps
from takifugu.releasing.advice.forecast import Forecast
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.standing import Choice


def dry_run(
    file: Path, output: Path | None, wanted: Choice, new_ledger: bool, anyway: bool, as_json: bool,
    window: str | None = None,
) -> None:  # fmt: skip
    with watching() as watch:
        rehearsed = steps.dry_run(load(file, window=window), output, new_ledger, anyway, watch, wanted)
    if as_json:
        print_json("release --dry-run", file, rehearsed.to_dict())
    else:
        click.echo(rehearsed.text)
    refuse(rehearsed.forecast)


def refuse(foreseen: Forecast) -> None:
    """Say why a release would be refused, and exit with the code for that."""
    for words in foreseen.refusals:
        complain(words)
    if foreseen.refused:
        click.get_current_context().exit(REFUSED)

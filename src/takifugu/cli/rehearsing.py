"""`rehearse`: publish a release file on made-up data, and say that it guarantees nothing."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.output import heading, noticed, print_json
from takifugu.cli.progress import watching
from takifugu.cli.releasing import print_files, print_tables, tables_of
from takifugu.core.text.tables import paragraph
from takifugu.releasing.publishing import rehearsing


def rehearse(
    file: Path, seed: int, people: int | None, steps: int | None, only: tuple[str, ...], allow_useless: bool,
    window: str | None,
) -> None:  # fmt: skip
    with watching() as watch, noticed() as notices:
        rehearsal = rehearsing.rehearse(file, seed, people, steps, window, only, allow_useless, watch)
    document = {"rehearsal": rehearsal.words, "seed": seed, "tables": tables_of(rehearsal.tables), "notices": notices}
    if print_json(document):
        return
    heading(rehearsing.NO_GUARANTEE)
    click.echo(f"{paragraph(rehearsal.words)}\n")
    print_tables(rehearsal.tables)
    print_files(rehearsal.tables)
    click.echo(f"\n{paragraph(rehearsal.words)}")

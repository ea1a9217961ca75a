"""`release`, and its --dry-run: what draws is loaded where something is published."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.advice import counting_what_is_left_out
from takifugu.cli.group import refuse
from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.cli.terminal import only_seen
from takifugu.core.errors import InputError
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.choosing import Choice


def release(
    file: Path, output: Path | None, only: tuple[str, ...], replace: tuple[str, ...], idempotency_key: str | None,
    force: bool, new_ledger: bool, dry_run: bool, allow_useless: bool, same_entries: str, other_entries: bool,
    yes: bool, window: str | None,
) -> None:  # fmt: skip
    choice = Choice(only, replace, idempotency_key, force, same_entries, other_entries)
    if dry_run and choice.are_same is not None:
        raise InputError("--dry-run shows what either answer costs", fix="leave the answer out").at("same_entries")
    if not dry_run:
        from takifugu.cli.releasing import publish  # it loads what draws, and makes the report

        publish(file, output, choice, new_ledger, allow_useless, window, yes)
        return
    from takifugu.releasing import steps

    with counting_what_is_left_out(file, window), watching() as watch:
        spec = load(file, window=window)
        rehearsal = steps.foreseen(spec, output, new_ledger, allow_useless, watch, choice, only_seen())
    if not print_json(rehearsal.to_dict(), command="release --dry-run"):
        click.echo(rehearsal.text)
    refuse(rehearsal.refusals)

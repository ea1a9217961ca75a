"""`calibrate` and `release`, its --dry-run here: the noise that would be added, its cost, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from takifugu.cli.advice import counting_what_is_left_out
from takifugu.cli.group import REFUSED, complain
from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.cli.terminal import only_seen
from takifugu.core.errors import InputError
from takifugu.core.plain import Json
from takifugu.numbers.rationals import to_text
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.publishing.choosing import Choice

if TYPE_CHECKING:
    from takifugu.releasing.advice.forecast import Forecast


def calibrate(file: Path, as_json: bool) -> None:
    from takifugu.releasing import steps
    from takifugu.releasing.advice.forecast import forecast_of

    with watching() as watch:
        planned = plan.calibrated(load(file), watch)
    calibrated = steps.Calibrated(steps.calibrated_tables(planned), forecast_of(planned))
    if as_json:
        document = {"tables": list(map(_planned, planned.tables)), "forecast": calibrated.forecast.to_dict()}
        print_json("calibrate", file, document)
    else:
        click.echo(calibrated.text)
    refuse(calibrated.forecast)


def release(
    file: Path, output: Path | None, only: tuple[str, ...], again: tuple[str, ...], once: str | None, force: bool,
    new_ledger: bool, dry_run: bool, anyway: bool, same_entries: str, other_entries: bool, yes: bool,
    window: str | None, as_json: bool,
) -> None:  # fmt: skip
    choice = Choice(only, again, once, force, same_entries, other_entries)
    if dry_run and choice.are_same is not None:
        raise InputError("--dry-run shows what either answer costs", fix="leave the answer out").at("same_entries")
    if not dry_run:
        from takifugu.cli.releasing import publish  # it loads what draws, and makes the report

        publish(file, output, choice, as_json, new_ledger, anyway, window, yes)
        return
    from takifugu.releasing import steps

    with counting_what_is_left_out(file, window), watching() as watch:
        rehearsal = steps.dry_run(load(file, window=window), output, new_ledger, anyway, watch, choice, only_seen())
    if as_json:
        print_json("release --dry-run", file, rehearsal.to_dict())
    else:
        click.echo(rehearsal.text)
    refuse(rehearsal.forecast)


def refuse(forecast: Forecast) -> None:
    """Give the reason of a refusal, and exit with its code."""
    for words in forecast.refusals:
        complain(words)
    if forecast.refused:
        click.get_current_context().exit(REFUSED)


def _planned(table: plan.Table) -> Json:
    answers = list[Json]()
    for question in table.questions:
        calibration = question.calibration
        answers.append({
            "unit": question.unit,
            "mechanism": calibration.mechanism,
            "scale": calibration.exact_scale,
            "expected_error": calibration.error_or_none,
            "epsilon": to_text(calibration.epsilon),
            "delta": to_text(calibration.delta),
            "composition": str(calibration.guarantee.composition),
            "forbids": calibration.forbids,
            "forced_by": calibration.witness.comparison,
        })  # fmt: skip
    return {"name": table.name, "scope": table.scope, "query": table.item.query, "answers": answers}

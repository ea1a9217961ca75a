"""`calibrate`: the noise that would be added, and what it would cost."""

from __future__ import annotations

from pathlib import Path

import click

from takifugu.cli.dry_run import refuse
from takifugu.cli.output import print_json
from takifugu.cli.progress import watching
from takifugu.core.plain import Json
from takifugu.numbers.rationals import to_text
from takifugu.releasing.advice.forecast import forecast_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.steps import Calibrated, calibrated_tables


def calibrate(file: Path, as_json: bool) -> None:
    with watching() as watch:
        planned = plan.calibrated(load(file), watch)
    made = Calibrated(calibrated_tables(planned), forecast_of(planned))
    if as_json:
        document = {"tables": [_planned(t) for t in planned.tables], "forecast": made.forecast.to_dict()}
        print_json("calibrate", file, document)
    else:
        click.echo(made.text)
    refuse(made.forecast)


def _planned(table: plan.Table) -> Json:
    return {
        "name": table.name,
        "scope": table.scope,
        "query": table.item.query,
        "answers": [
            {
                "unit": q.unit,
                "mechanism": q.calibration.mechanism,
                "scale": q.calibration.exact_scale,
                "expected_error": q.calibration.error_or_none,
                "epsilon": to_text(q.calibration.epsilon),
                "delta": to_text(q.calibration.delta),
                "composition": str(q.calibration.guarantee.composition),
                "forbids": q.calibration.forbids,
                "forced_by": q.calibration.witness.comparison,
            }
            for q in table.questions
        ],
    }

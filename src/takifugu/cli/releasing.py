"""`compare`, `calibrate` and `release`: read, run, print."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from takifugu.calibration import Calibration
from takifugu.cli.dry_run import print_forecast, refuse
from takifugu.cli.output import SCOPES, amount, coloured, heading, name_of, noticed, print_json, wrapped
from takifugu.cli.picture import bars
from takifugu.cli.progress import watching
from takifugu.core.errors import ReleaseState
from takifugu.core.escaping import visible
from takifugu.core.text.tables import labelled, number, text_table
from takifugu.numbers.rationals import to_text
from takifugu.releasing.certificates.sent_rows import Rows
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning import plan
from takifugu.releasing.planning.forecast import forecast_of
from takifugu.releasing.planning.layouts import notices_of_layout
from takifugu.releasing.planning.questions import Question
from takifugu.releasing.planning.two_ledgers import notices_of_ledgers
from takifugu.releasing.postprocess.outcomes import already
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.progress import Progress
from takifugu.releasing.publishing.standing import Choice, folder_of, to_plan

LEGEND = (
    "A bar ends at the noisy value. The true value lies between the ends of ▓ and ░ with probability 95 % (all values "
    "of a table at once, over the noise alone; this is not sampling error)."
)
_DRAWN_UNITS, _DRAWN_CELLS = 12, 60
#: Colours in comparisons: what is taken, and what does not keep the promise.
_MARKS = {
    " chosen": {"fg": "green"}, " if the only release": {"fg": "cyan"}, " if others follow": {"fg": "cyan"},
    " promises less": {"fg": "yellow"}, " refused by default": {"fg": "yellow"},
}  # fmt: skip


def calibrate(file: Path, as_json: bool) -> None:
    with watching() as watch:
        planned = plan.calibrated(load(file), watch)
    foreseen = forecast_of(planned)
    if as_json:
        document = {"tables": [_planned(t) for t in planned.tables], "forecast": foreseen.to_dict()}
        print_json("calibrate", file, document)
    else:
        print_calibrations(planned)
        click.echo()
        print_forecast(foreseen)
    refuse(foreseen)


def compare(files: Sequence[Path], as_json: bool) -> None:
    documents = []
    for file in files:
        with watching() as watch:
            read = load(file)
            comparisons, notices = (
                list(plan.compared(read, watch)),
                (*notices_of_layout(read), *notices_of_ledgers(read)),
            )
        tables = [{"name": c.name, "scope": c.scope, "unit": c.unit, **c.rows.to_dict()} for c in comparisons]
        documents.append({"file": str(file), "tables": tables, **({"notices": list(notices)} if notices else {})})
        if not as_json:
            if len(files) > 1:
                heading(str(file))
            print_comparisons(comparisons)
            for words in notices:
                click.echo(f"\n{wrapped(words)}")
    if as_json and len(files) == 1:
        print_json("compare", files[0], {key: value for key, value in documents[0].items() if key != "file"})
    elif as_json:
        print_json("compare", None, {"files": documents})


def release(
    file: Path, output: Path | None, wanted: Choice, as_json: bool, new_ledger: bool = False, anyway: bool = False,
    window: str | None = None,
) -> None:
    progress = Progress()
    with progress.telling():  # to the end: a message that nobody could read does not undo what was published
        with watching(stops=False) as watch:  # whoever interrupts does not want to publish
            spec = load(file, window=window)
            planned = plan.plan(to_plan(spec, folder_of(spec, output), wanted, new_ledger), watch)
        with watching(stops=False) as watch, noticed() as notices:
            watch("paying, drawing and writing", 0, 1)
            publish = partial(run.publish, planned, output, progress=progress, new_ledger=new_ledger)
            outcome = publish(anyway=anyway, wanted=wanted)
        if as_json:
            print_json("release", file, {**outcome_of(outcome), "notices": notices})
            return
        print_outcome(outcome, planned)


def print_comparisons(comparisons: Iterable[plan.Compared]) -> None:
    for i, compared in enumerate(comparisons):
        whose = SCOPES[compared.scope]
        if compared.unit:
            whose = f"{whose}; shown for {compared.unit!r}, who has the most rows"
        click.echo(f"{'' if i == 0 else chr(10)}{wrapped(f'{compared.name}: {whose}')}")
        click.echo(coloured(str(compared.rows), _MARKS))


def print_calibrations(planned: plan.Plan) -> None:
    rows = []
    for table in planned.tables:
        for whose, calibration in _distinct(table):
            rows.append([
                name_of(table.name), name_of(whose, 16), calibration.mechanism, number(calibration.scale_or_none),
                number(calibration.error_or_none), number(float(calibration.epsilon)),
            ])  # fmt: skip
    click.echo(text_table(["table", "answers", "mechanism", "scale", "error", "epsilon"], rows))
    click.echo()
    error_words = dict.fromkeys(c.error_words for table in planned.tables for c in table.calibrations)
    click.echo(wrapped(f"error: {' or '.join(error_words)}"))
    for table in planned.tables:
        worst = max(table.calibrations, key=lambda c: c.scale_or_none or 0)
        facts = [("forced by", worst.witness.comparison), ("because", worst.witness.detail)]
        facts += [("composes", worst.guarantee.composition.answer), ("forbids", worst.forbids)]
        facts += [("condition", condition) for condition in worst.guarantee.conditions]
        requested = worst.requested
        if requested is not None and worst.epsilon > requested[0]:
            facts.append(("NOTE", f"the promise is epsilon {number(float(worst.epsilon))}, not what was requested"))
        click.echo(f"\n{wrapped(f'{table.name}: {worst.query.describe()}, for {SCOPES[table.scope]}')}")
        click.echo(labelled([(label, text) for label, text in facts if text]))


def _distinct(table: plan.Table) -> list[tuple[str, Calibration]]:
    """Return the table's calibrations with whose they are; those of the same noise are one line."""
    groups: dict[tuple[Any, ...], list[Question]] = {}
    for q in table.questions:
        c = q.calibration
        groups.setdefault((c.mechanism, c.scale_or_none, c.epsilon), []).append(q)
    if table.scope != "unit":
        return [(SCOPES[table.scope].removesuffix(" together"), qs[0].calibration) for qs in groups.values()]
    whose = [qs[0].unit or "each unit" if len(qs) == 1 else f"{len(qs)} units" for qs in groups.values()]
    return list(zip(whose, (qs[0].calibration for qs in groups.values()), strict=True))


def print_outcome(outcome: run.Outcome, planned: plan.Plan) -> None:
    if outcome.new:
        _print_tables(outcome.new)
    if outcome.there:
        click.echo(wrapped(f"already published: {already(outcome.there)}"))
    paid = outcome.reservation
    spent = f"the source {paid.source!r} has spent {paid.spent} of {paid.budget.text(up=False)}"
    implied = planned.file.source.budget is None
    click.echo(wrapped(f"{spent}. No budget was declared, so it is what the first release cost" if implied else spent))
    if outcome.completed is not None:
        click.echo(wrapped(completed(outcome.completed)))


def _print_tables(tables: Sequence[run.Published]) -> None:
    for table in tables:
        certificate = table.certificate
        click.echo(wrapped(f"{table.name}: {certificate.statistic}, for {SCOPES[table.scope]}"))
        if isinstance(table.rows, Rows):
            sent = f"{len(table.rows):,} randomised values, in {table.name}.csv"
            click.echo(f"{wrapped(sent)}\n")
            continue
        longest = max((float(row["high"]) for row in table.rows if row["high"] is not None), default=0.0)
        units = list(dict.fromkeys(row.get("unit") for row in table.rows))
        for unit in units[:_DRAWN_UNITS]:
            if unit is not None:
                click.echo(f"\n  {unit}")
            rows = [row for row in table.rows if row.get("unit") == unit]
            click.echo("\n".join(bars(rows[:_DRAWN_CELLS], longest)))
            if len(rows) > _DRAWN_CELLS:
                click.echo(wrapped(f"and {len(rows) - _DRAWN_CELLS:,} more cells, in the table{_counted(rows)}"))
        if len(units) > _DRAWN_UNITS:
            click.echo(f"\n  and {len(units) - _DRAWN_UNITS} more units, in the table")
        click.echo()
    drawn = (table.rows for table in tables if not isinstance(table.rows, Rows))
    if any(row["high"] is not None for rows in drawn for row in rows):
        click.echo(f"{wrapped(LEGEND)}\n")
    files = [path for table in tables for path in table.files]
    click.echo(visible("\n".join([f"written to {files[0].parent}:", *(f"  {path.name}" for path in files)])))
    click.echo()
    click.echo(f"takifugu certificate show {visible(shlex.quote(str(files[1])))}\nsays what is promised.\n")


def _counted(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how often each word was published, where words were: "safe" and the like."""
    counts = Counter(row["value"] for row in rows if isinstance(row["value"], str))
    return f"; of all {len(rows):,}: {', '.join(f'{n:,} {word}' for word, n in counts.items())}" if counts else ""


def completed(since: str) -> str:
    """Say that something was paid for before; the ledger's times are UTC."""
    when = since[:16].replace("T", " ")
    return f"completed the release of {when} UTC, which was paid for then"


def _planned(table: plan.Table) -> dict[str, Any]:
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


def outcome_of(outcome: run.Outcome) -> dict[str, Any]:
    paid = outcome.reservation
    return {
        "source": paid.source,
        "spent": amount(paid.spent),
        "budget": amount(paid.budget),
        "state": str(ReleaseState.DONE),
        "completed": outcome.completed,
        "tables": [
            {
                "name": t.name,
                "scope": t.scope,
                "since": t.since,
                **({"sent": len(t.rows)} if isinstance(t.rows, Rows) else {"rows": [dict(row) for row in t.rows]}),
                "files": [str(path) for path in t.files],
                "certificate": t.certificate.to_dict(),
            }
            for t in outcome.tables
        ],
    }

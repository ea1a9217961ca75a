"""What each command does: read, run, print. Tables fit 80 columns; JSON has stable keys."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from takifugu.calibration import Calibration
from takifugu.cli.picture import bars
from takifugu.laws.rationals import to_text
from takifugu.ledger import Ledger
from takifugu.releasing import planning, run
from takifugu.releasing.publish import Question
from takifugu.releasing.spec import ReleaseFile, json_schema, load
from takifugu.tables import WIDTH, labelled, number, text_table

LEGEND = (
    "A bar ends at the noisy value. The true value lies between the ends of ▓ and ░ with 95 % (all values of a table "
    "at once, over the noise alone; this is not sampling error)."
)
_DRAWN_UNITS = 12
_SCOPES = {"all": "the whole source", "unit": "each unit", "pooled": "all units together"}


def calibrate(file: Path, as_json: bool) -> None:
    planned = planning.plan(load(file))
    if as_json:
        _print_json("calibrate", file, {"tables": [_planned(t) for t in planned.tables]})
        return
    _print_calibrations(planned)


def compare(file: Path, as_json: bool) -> None:
    shown = planning.compared(load(file))
    if as_json:
        tables = [{"name": n, "scope": s, "unit": u, **rows.to_dict()} for n, s, u, rows in shown]
        _print_json("compare", file, {"tables": tables})
        return
    _print_comparisons(shown)


def release(file: Path, output: Path | None, force: bool, as_json: bool) -> None:
    outcome = run.publish(planning.plan(load(file)), output, force)
    _warn_of_other_sources(outcome)
    if as_json:
        _print_json("release", file, _outcome(outcome))
        return
    _print_outcome(outcome)


def ledger_show(where: Path, as_json: bool) -> None:
    book = Ledger.open(where, create=False)
    if as_json:
        _print_json("ledger show", where, {"sources": _sources(book)})
        return
    _print_ledger(book)


def schema() -> None:
    click.echo(json.dumps(json_schema(), indent=2))


def demo(folder: Path | None, as_json: bool) -> None:
    from takifugu.demo import write_demo

    where = folder or Path(tempfile.mkdtemp(prefix="takifugu-demo-"))
    spec = load(write_demo(where))
    if as_json:
        outcome = run.publish(planning.plan(spec))
        book = Ledger.open(spec.inside(spec.spec.ledger))
        _print_json("demo", where, {**_outcome(outcome), "sources": _sources(book)})
        return
    _demo(spec, where)


def _demo(spec: ReleaseFile, where: Path) -> None:
    _heading("1. The data: made up, nobody's life is in it")
    click.echo(labelled([("folder", str(where)), ("sample", spec.spec.source.file), ("release file", spec.path.name)]))
    click.echo()
    click.echo(_wrapped(
        "Six participants, one posture a minute. What anybody did in any one minute must stay hidden from anyone who "
        "believes that postures follow the chain in the release file. Published is how long people rest, stand, walk "
        "and move, for each of them and for all."
    ))  # fmt: skip
    _heading("2. The mechanisms, side by side (takifugu compare)")
    _print_comparisons(t for t in planning.compared(spec) if t[1] == "pooled")
    _heading("3. What would be published (takifugu calibrate)")
    planned = planning.plan(spec)
    _print_calibrations(planned)
    _heading("4. Published (takifugu release)")
    outcome = run.publish(planned)
    _print_outcome(outcome)
    _heading("5. The certificate")
    click.echo(outcome.tables[-1].certificate.text())
    _heading("6. The ledger (takifugu ledger show)")
    _print_ledger(Ledger.open(spec.inside(spec.spec.ledger)))
    click.echo()
    click.echo(_wrapped(f"Everything is in {where}: look at the tables, the certificates and the release file, change "
                        "the file, and run `takifugu release activity.toml` there."))  # fmt: skip


def _print_comparisons(shown: Iterable[Any]) -> None:
    for i, (name, scope, unit, rows) in enumerate(shown):
        whose = f"{_SCOPES[scope]}; shown for {unit!r}, who has the most entries" if unit else _SCOPES[scope]
        click.echo(_wrapped(f"{'' if i == 0 else chr(10)}{name}: {whose}"))
        click.echo(str(rows))


def _print_calibrations(planned: planning.Plan) -> None:
    rows = []
    for table in planned.tables:
        for whose, calibration in _distinct(table):
            rows.append([
                table.name, whose, calibration.mechanism, number(calibration.scale),
                number(calibration.expected_error), number(float(calibration.epsilon)),
            ])  # fmt: skip
    click.echo(text_table(["table", "answers", "mechanism", "scale", "error", "epsilon"], rows))
    click.echo()
    click.echo("error: expected L1 error of one answer, over all its cells")
    for table in planned.tables:
        worst = max(table.calibrations, key=lambda c: c.randomiser.scale)
        facts = [("forced by", worst.witness.comparison), ("because", worst.witness.detail)]
        facts += [("composes", str(worst.guarantee.composition))]
        facts += [("condition", condition) for condition in worst.guarantee.conditions]
        asked = worst.asked
        if asked is not None and worst.epsilon > asked[0]:
            facts.append(("NOTE", f"the promise is epsilon {number(float(worst.epsilon))}, not what was asked"))
        click.echo(f"\n{table.name}: {worst.query.describe()}, for {_SCOPES[table.scope]}")
        click.echo(labelled([(label, text) for label, text in facts if text]))


def _distinct(table: planning.Table) -> list[tuple[str, Calibration]]:
    """Return the table's calibrations with whose they are; those of the same noise are one line."""
    groups: dict[tuple[Any, ...], list[Question]] = {}
    for q in table.questions:
        c = q.calibration
        groups.setdefault((c.mechanism, c.randomiser.scale, c.epsilon), []).append(q)
    if table.scope != "unit":
        return [(_SCOPES[table.scope].removesuffix(" together"), qs[0].calibration) for qs in groups.values()]
    return [(qs[0].unit or "" if len(qs) == 1 else f"{len(qs)} units", qs[0].calibration) for qs in groups.values()]


def _print_outcome(outcome: run.Outcome) -> None:
    for table in outcome.tables:
        certificate = table.certificate
        click.echo(_wrapped(f"{table.name}: {certificate.statistic}, for {_SCOPES[table.scope]}"))
        longest = max(float(row["high"]) for row in table.rows)
        units = list(dict.fromkeys(row.get("unit") for row in table.rows))
        for unit in units[:_DRAWN_UNITS]:
            if unit is not None:
                click.echo(f"\n  {unit}")
            click.echo("\n".join(bars([row for row in table.rows if row.get("unit") == unit], longest)))
        if len(units) > _DRAWN_UNITS:
            click.echo(f"\n  and {len(units) - _DRAWN_UNITS} more units, in the table")
        click.echo()
    click.echo(_wrapped(LEGEND))
    click.echo()
    files = [path for table in outcome.tables for path in table.files]
    click.echo("\n".join([f"written to {files[0].parent}:", *(f"  {path.name}" for path in files)]))
    click.echo()
    paid = outcome.reservation
    limit = "all that it may: no budget was declared" if paid.spent == paid.budget else paid.budget.text(up=False)
    click.echo(_wrapped(f"the source {paid.source!r} has spent {paid.spent} of {limit}"))


def _print_ledger(book: Ledger) -> None:
    rows = book.show()
    if not rows:
        click.echo("the ledger has no sources yet")
        return
    table = [
        [r.name, str(r.spent), "-" if r.budget is None else r.budget.text(up=False), str(r.units), str(r.releases),
         str(r.unpublished)]
        for r in rows
    ]  # fmt: skip
    click.echo(text_table(["source", "spent", "budget", "units", "releases", "unpublished"], table))
    for row in rows:
        click.echo(f"\nreleases about {row.name!r}")
        lines = [
            [e.created[:10], e.name, e.scope, ", ".join(e.kinds), _epsilon(e), e.state] for e in book.history(row.name)
        ]
        click.echo(text_table(["date", "release", "scope", "composes", "epsilon", "state"], lines))


def _epsilon(entry: Any) -> str:
    return number(float(entry.amount.epsilon))


def _warn_of_other_sources(outcome: run.Outcome) -> None:
    for name in outcome.reservation.also_under:
        click.echo(
            f"takifugu: note: the source {name!r} has units of the same names. If they are the same people, what is "
            "published about them adds up: release both under one source",
            err=True,
        )


def _heading(text: str) -> None:
    click.echo(f"\n{text}\n{'─' * min(len(text), WIDTH)}")


def _wrapped(text: str) -> str:
    import textwrap

    lead = "\n" if text.startswith("\n") else ""
    return lead + textwrap.fill(text.strip(), WIDTH)


def _print_json(command: str, file: Path, content: dict[str, Any]) -> None:
    click.echo(json.dumps({"format": "takifugu-cli/1", "command": command, "file": str(file), **content}, indent=2))


def _planned(table: planning.Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "scope": table.scope,
        "query": table.item.query,
        "answers": [
            {
                "unit": q.unit,
                "mechanism": q.calibration.mechanism,
                "scale": to_text(q.calibration.randomiser.scale),
                "expected_error": q.calibration.expected_error,
                "epsilon": to_text(q.calibration.epsilon),
                "delta": to_text(q.calibration.delta),
                "composition": str(q.calibration.guarantee.composition),
                "forced_by": q.calibration.witness.comparison,
            }
            for q in table.questions
        ],
    }


def _outcome(outcome: run.Outcome) -> dict[str, Any]:
    paid = outcome.reservation
    return {
        "source": paid.source,
        "spent": _amount(paid.spent),
        "budget": _amount(paid.budget),
        "tables": [
            {
                "name": t.name,
                "scope": t.scope,
                "rows": [dict(row) for row in t.rows],
                "files": [str(path) for path in t.files],
                "certificate": t.certificate.to_dict(),
            }
            for t in outcome.tables
        ],
    }


def _sources(book: Ledger) -> list[dict[str, Any]]:
    return [
        {
            "name": r.name,
            "id": r.id,
            "spent": _amount(r.spent),
            "budget": None if r.budget is None else _amount(r.budget),
            "budget_is_implied": r.budget_is_implied,
            "units": r.units,
            "unpublished": r.unpublished,
            "releases": _history(book, r.name),
        }
        for r in book.show()
    ]


def _history(book: Ledger, name: str) -> Sequence[dict[str, Any]]:
    return [
        {
            "id": e.id,
            "name": e.name,
            "state": e.state,
            "cost": _amount(e.amount),
            "compositions": list(e.kinds),
            "scope": e.scope,
            "units": e.units,
            "software": e.software,
            "created": e.created,
        }
        for e in book.history(name)
    ]


def _amount(amount: Any) -> dict[str, str]:
    return {"epsilon": to_text(amount.epsilon), "delta": to_text(amount.delta)}

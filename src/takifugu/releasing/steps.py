"""What the steps of a study return, in words and as tables; none of it holds data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu.calibration import Calibration
from takifugu.core.text.markup import folded, html_table, note, text
from takifugu.core.text.tables import labelled, number, text_table
from takifugu.releasing.certificates.files import ENDS
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning.forecast import Forecast, forecast_of
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.outlook import AHEAD, Outlook, outlook
from takifugu.releasing.planning.plan import Compared, Plan, Table, Watch, plan, tables_of, unwatched
from takifugu.releasing.postprocess.outcomes import WHOSE
from takifugu.releasing.publishing.standing import Choice, folder_of, to_plan

#: A dry run looks so many windows ahead.
YEAR = 52
_NOISE = ("answers", "mechanism", "scale", "error", "epsilon")


@dataclass(frozen=True)
class Comparison:
    """Every mechanism side by side, for each table of a release file."""

    tables: tuple[Compared, ...]
    notices: tuple[str, ...] = ()

    def __str__(self) -> str:
        tables = (f"{_head(t.name, t.scope, t.unit)}\n\n{t.rows}" for t in self.tables)
        return "\n\n".join([*tables, *self.notices])

    def _repr_html_(self) -> str:
        tables = (f"{_title(_head(t.name, t.scope, t.unit))}{t.rows._repr_html_()}" for t in self.tables)
        return "".join([*tables, *map(note, self.notices)])


@dataclass(frozen=True, eq=False)
class CalibratedTable:
    """The noise of one table: its calibrations, each with whose answers get it."""

    name: str
    scope: str
    noise: tuple[tuple[str, Calibration], ...]

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(calibration for _, calibration in self.noise)

    @property
    def noisiest(self) -> Calibration:
        return max(self.calibrations, key=lambda c: c.scale_or_none or 0)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [
            (whose, c.mechanism, number(c.scale_or_none), number(c.error_or_none), number(float(c.epsilon)))
            for whose, c in self.noise
        ]


@dataclass(frozen=True)
class Calibrated:
    """The noise of every table of a release file, and how large it is beside what its cells can be."""

    tables: tuple[CalibratedTable, ...]
    forecast: Forecast

    def __str__(self) -> str:
        parts = []
        for table in self.tables:
            facts = labelled(_why(table.noisiest))
            parts.append(f"{_head(table.name, table.scope)}\n\n{text_table(_NOISE, table.rows)}\n\n{facts}")
        return "\n\n".join([*parts, str(self.forecast)])

    def _repr_html_(self) -> str:
        parts = []
        for table in self.tables:
            why = folded("Why this noise, and the other mechanisms", table.noisiest._repr_html_())
            parts.append(_title(_head(table.name, table.scope)) + html_table(_NOISE, table.rows) + why)
        return "".join([*parts, self.forecast._repr_html_()])


@dataclass(frozen=True)
class DryRun:
    """What a release would publish and cost; `outlook` is what such windows would cost one after the other.

    `there` are the tables that are published already, and that a release leaves alone.
    """

    forecast: Forecast
    outlook: Outlook | None
    there: tuple[str, ...] = ()

    @property
    def left_alone(self) -> str:
        return f"already published, and nothing to pay for: {', '.join(self.there)}" if self.there else ""

    def __str__(self) -> str:
        ahead = [] if self.outlook is None else [text_table(AHEAD, self.outlook.rows_as_text)]
        there = [self.left_alone] if self.there else []
        return "\n\n".join([*there, str(self.forecast), *ahead, _DRY])

    def _repr_html_(self) -> str:
        table = "" if self.outlook is None else html_table(AHEAD, self.outlook.rows_as_text)
        there = note(self.left_alone) if self.there else ""
        return there + self.forecast._repr_html_() + folded("If such windows follow each other", table) + note(_DRY)


_DRY = "This was a dry run: nothing was paid, drawn or written."


def dry_run(
    file: ReleaseFile, output: Path | None = None, new_ledger: bool = False, anyway: bool = False,
    watch: Watch = unwatched, wanted: Choice | None = None,
) -> DryRun:
    """Return what publishing a release file into a folder would do; raises what `release_file` raises before it pays.

    A missing ledger is not created.
    """  # fmt: skip
    choice = Choice() if wanted is None else wanted
    new = to_plan(file, folder_of(file, output), choice, new_ledger)
    planned = plan(new, watch)
    refuse_inputs(file, folder_of(file, output), [f"{table.name}{end}" for table in planned.tables for end in ENDS])
    there = tuple(name for item in choice.of(file).items if item not in new.items for name, _ in tables_of(file, item))
    is_regular = any(q.at is not None for table in planned.tables for q in table.questions)
    return DryRun(forecast_of(planned, anyway), outlook(file, YEAR) if is_regular else None, there)


def calibrated_tables(planned: Plan) -> tuple[CalibratedTable, ...]:
    """Return the noise of every table of a plan, answers of the same noise together."""
    return tuple(CalibratedTable(table.name, table.scope, _distinct(table)) for table in planned.tables)


def _distinct(table: Table) -> tuple[tuple[str, Calibration], ...]:
    groups: dict[Any, list[Any]] = {}
    for question in table.questions:
        c = question.calibration
        groups.setdefault((c.mechanism, c.scale_or_none, c.epsilon), []).append(question)
    return tuple(
        (_whose(table.scope, [q.unit for q in questions]), questions[0].calibration) for questions in groups.values()
    )


def _whose(scope: str, units: Sequence[str | None]) -> str:
    if scope != "unit":
        return WHOSE[scope]
    return str(units[0] or WHOSE[scope]) if len(units) == 1 else f"{len(units)} units"


def _head(name: str, scope: str, unit: str | None = None) -> str:
    whose = f"; shown for {unit!r}, who has the most rows" if unit else ""
    return f"{name}: {WHOSE[scope]}{whose}"


def _title(words: str) -> str:
    return f"<h3>{text(words)}</h3>"


def _why(calibration: Calibration) -> list[tuple[str, str]]:
    facts = [
        ("forced by", calibration.witness.comparison),
        ("because", calibration.witness.detail),
        ("composes", calibration.guarantee.composition.answer),
        ("forbids", calibration.forbids),
        *(("condition", words) for words in calibration.guarantee.conditions),
    ]
    return [(label, words) for label, words in facts if words]

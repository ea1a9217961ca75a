"""What the steps of a study return, in words and as tables; none of it holds data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from pathlib import Path

from takifugu.calibration import Calibration
from takifugu.core.commands import command
from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import number
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.core.text.markup import folded, html_table, note, text
from takifugu.core.text.tables import labelled, name_of, paragraph, text_table
from takifugu.releasing.advice.advising import TableAdvice
from takifugu.releasing.advice.forecast import Forecast, forecast_of
from takifugu.releasing.advice.worth import Verdict
from takifugu.releasing.certificates.files import files_of
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.planning.inputs import refuse_inputs
from takifugu.releasing.planning.outlook import Outlook, outlook
from takifugu.releasing.planning.plan import Plan, Watch, plan, table_names, unwatched
from takifugu.releasing.planning.questions import Question
from takifugu.releasing.publishing.choosing import Choice, folder_of, to_plan

#: A dry run looks so many windows ahead.
YEAR = 52
_NOISE = ("table", "answers", "mechanism", "scale", "error", "epsilon")


@dataclass(frozen=True, eq=False)
class CalibratedTable:
    """The noise of one table: its calibrations, each with whose answers get it."""

    name: str
    scope: str
    noise: tuple[tuple[str, Calibration], ...]
    people: People

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(calibration for _, calibration in self.noise)

    @property
    def noisiest(self) -> Calibration:
        return max(self.calibrations, key=lambda c: c.scale_or_none or 0)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        for whose, c in self.noise:
            sizes = map(number, (c.scale_or_none, c.error_or_none, c.epsilon))
            yield (name_of(self.name), name_of(whose.removesuffix(" together"), 16), c.mechanism, *sizes)

    @property
    def title(self) -> str:
        return f"{self.name}: {self.noisiest.query.describe()}, for {self.people.whose(self.scope)}"


@dataclass(frozen=True)
class Calibrated:
    """The noise of every table of a release file, and how large it is beside what its cells can be."""

    tables: tuple[CalibratedTable, ...]
    forecast: Forecast

    @property
    def text(self) -> str:
        """Return everything but the refusal."""
        return f"{self.forecast.text}\n\n{noise_of(self.tables)}".strip()

    def __str__(self) -> str:
        return self.forecast.with_refusals(self.text)

    def _repr_html_(self) -> str:
        parts = [html_table(_NOISE, _rows(self.tables)), note(_error(self.tables))]
        for table in self.tables:
            why = folded("Why this noise, and the other mechanisms", table.noisiest._repr_html_())
            parts.append(f"<h3>{text(table.title)}</h3>{why}")
        return "".join([*parts, self.forecast._repr_html_()])


def noise_of(tables: Sequence[CalibratedTable]) -> str:
    """Return the noise of tables side by side, and each one's cause."""
    parts = [text_table(_NOISE, _rows(tables)), "", paragraph(_error(tables))]
    for table in tables:
        parts += ["", paragraph(table.title), labelled(_why(table.noisiest))]
    return "\n".join(parts)


def _rows(tables: Sequence[CalibratedTable]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(table.rows for table in tables))


def _error(tables: Sequence[CalibratedTable]) -> str:
    words = dict[str, None]()
    for table in tables:
        words |= dict.fromkeys(calibration.error_words for calibration in table.calibrations)
    return f"error: {' or '.join(words)}"


@dataclass(frozen=True)
class DryRun:
    """What a release would publish and cost; `outlook` is what such windows would cost one after the other.

    Where no other window may follow one with this noise, `only_one` says why. `there` are the tables that are published
    already, and that a release leaves alone.
    """

    forecast: Forecast
    outlook: Outlook | None
    there: tuple[str, ...] = ()
    only_one: str = ""

    @property
    def advice(self) -> tuple[TableAdvice, ...]:
        return self.forecast.advice

    @property
    def verdicts(self) -> list[tuple[str, str]]:
        """Return each table's worth in a sentence, and the advising command."""
        judged = [table for table in self.advice if table.worth is not None]
        lines = [("worth", f"{table.name}: {table.sentence}") for table in judged]
        if any(table.verdict is not Verdict.GOOD for table in judged):
            lines.append(("advice", f"{command('advise', self.forecast.path)} says what would help"))
        return lines

    @property
    def left_alone(self) -> str:
        return f"already published, and nothing to pay for: {', '.join(self.there)}"

    @property
    def text(self) -> str:
        """Return everything but the refusal."""
        lines = list[str]()
        if self.there:
            lines.append(f"{paragraph(self.left_alone)}\n")
        if self.forecast.tables:
            lines.append(self.forecast.text)
        if self.verdicts:
            lines += ["", labelled(self.verdicts)]
        if self.outlook is not None:
            lines += [f"\n{_AHEAD}:\n", str(self.outlook)]
        if self.only_one:
            lines.append(f"\n{paragraph(f'{_ONLY_ONE}{self.only_one}')}")
        return "\n".join([*lines, f"\n{paragraph(_DRY)}"])

    def __str__(self) -> str:
        return self.forecast.with_refusals(self.text)

    def _repr_html_(self) -> str:
        parts = list[str]()
        if self.there:
            parts.append(note(self.left_alone))
        parts += [*(note(line) for _, line in self.verdicts), self.forecast._repr_html_()]
        if self.outlook is not None:
            parts.append(folded(_AHEAD, self.outlook._repr_html_()))
        if self.only_one:
            parts.append(note(f"{_ONLY_ONE}{self.only_one}", strong=True))
        return "".join([*parts, note(_DRY)])

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        worth = [table.to_dict() for table in self.advice]
        data: Json = {"forecast": self.forecast.to_dict(), "there": list(self.there), "advice": worth}
        if self.outlook is not None:
            data["outlook"] = self.outlook.to_dict()
        if self.only_one:
            data["only_one"] = self.only_one
        return data


_AHEAD = "If such windows are published one after the other"
_ONLY_ONE = "only one such window can be published: "
_DRY = "This was a dry run: nothing was paid, drawn or written."


def dry_run(
    file: ReleaseFile, output: str | Path | None = None, new_ledger: bool = False, anyway: bool = False,
    watch: Watch = unwatched, choice: Choice | None = None,
) -> DryRun:
    """Rehearse publishing a release file, without creating a missing ledger.

    Raises what `release_file` raises before it pays.
    """
    choice = choice or Choice()
    new = to_plan(file, folder_of(file, output), choice, new_ledger)
    planned = plan(new, watch)
    refuse_inputs(file, folder_of(file, output), files_of(table.name for table in planned.tables))
    left_alone = [item for item in choice.of(file).items if item not in new.items]
    published_before = tuple(table_names(file, left_alone))
    is_regular = any(question.at is not None for question in planned.questions)
    ahead, only_one = None, ""
    if is_regular:
        try:
            ahead = outlook(file, YEAR, is_sought=False)
        except CompositionRefused as error:  # the next window is, and this one is not
            only_one = error.message
    return DryRun(forecast_of(planned, anyway), ahead, published_before, only_one)


def calibrated_tables(planned: Plan) -> tuple[CalibratedTable, ...]:
    """Return the noise of every table, grouping answers of equal noise."""
    tables = []
    for table in planned.tables:
        groups: dict[tuple[str, float | None, Fraction], list[Question]] = {}
        for question in table.questions:
            c = question.calibration
            groups.setdefault((c.mechanism, c.scale_or_none, c.epsilon), []).append(question)
        everybody, noise = table.people.whose(table.scope), list[tuple[str, Calibration]]()
        for first, *others in groups.values():
            whose = everybody
            if table.scope == "unit" and others:
                whose = table.people.counted(1 + len(others))
            elif table.scope == "unit":
                whose = first.unit or everybody
            noise.append((whose, first.calibration))
        tables.append(CalibratedTable(table.name, table.scope, tuple(noise), table.people))
    return tuple(tables)


def _why(calibration: Calibration) -> list[tuple[str, str]]:
    requested, epsilon, promised = calibration.requested, calibration.epsilon, ""
    if requested is not None and epsilon > requested[0]:
        promised = f"the promise is epsilon {number(float(epsilon))}, not what was requested"
    facts = [
        ("forced by", calibration.witness.comparison),
        ("because", calibration.witness.detail),
        ("composes", calibration.guarantee.composition.answer),
        ("forbids", calibration.forbids),
        *product(["condition"], calibration.guarantee.conditions),
        ("NOTE", promised),
    ]
    return [(label, words) for label, words in facts if words]

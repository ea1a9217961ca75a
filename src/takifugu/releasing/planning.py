"""From a release file to calibrated questions: units of public lengths, their beliefs, the noise of each answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from takifugu.beliefs.pieces import IndependentPieces
from takifugu.calibration import Calibration, Comparisons, calibrate, compare
from takifugu.errors import CalibrationRefused, InputError, SpecError
from takifugu.frameworks import Framework, Pufferfish
from takifugu.laws.rationals import Number
from takifugu.queries import Linear, Query
from takifugu.releasing.questions import Question
from takifugu.releasing.truth import Counted
from takifugu.spec.file import ReleaseFile
from takifugu.spec.problems import as_problem
from takifugu.spec.records.checks import RecordFile
from takifugu.spec.records.sections import RecordItemSpec
from takifugu.spec.sections import ChainSpec, EntrySpec, ItemSpec, ReleaseSpec
from takifugu.spec.sequences.build import query_of, secret_of
from takifugu.spec.sequences.units import Unit, sequence_of, units_of

if TYPE_CHECKING:
    from takifugu.releasing.records import RecordPlan

#: Receives what is being done, and how many of how many such things are done.
Watch = Callable[[str, int, int], None]


def unwatched(what: str, done: int, all_of_them: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class Table:
    """One table to publish: the answers of one release to one scope ("all", "unit" or "pooled")."""

    name: str
    scope: str
    item: ItemSpec | RecordItemSpec
    questions: tuple[Question, ...] = field(repr=False)

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        return tuple(q.calibration for q in self.questions)


@dataclass(frozen=True, eq=False)
class Plan:
    """What a release file would publish: calibrated, nothing drawn. It holds the private counts."""

    file: ReleaseFile
    units: tuple[Unit, ...] = field(repr=False)
    tables: tuple[Table, ...]
    assumptions: tuple[str, ...]

    @property
    def spec(self) -> ReleaseSpec:
        return self.file.spec

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(u.name for u in self.units if u.name is not None)


@dataclass(frozen=True, eq=False)
class Compared:
    """Every mechanism side by side for one table; `unit` is the one shown (the longest), None for all together."""

    name: str
    scope: str
    unit: str | None
    rows: Comparisons


@dataclass(frozen=True, eq=False)
class Priced:
    """What one table would cost at one epsilon; `calibration` is None where `reason` says why it is refused.

    `item` is the release as the file has it.
    """

    name: str
    scope: str
    unit: str | None
    item: ItemSpec | RecordItemSpec
    asked: Fraction
    calibration: Calibration | None
    reason: str = ""


def plan(file: ReleaseFile | RecordFile, watch: Watch = unwatched) -> Plan | RecordPlan:
    """Read the data, form sequences and beliefs, and calibrate every answer; nothing is drawn.

    Raises DataError for data that breaks a rule, and CalibrationRefused where no mechanism may be used as asked.
    """
    if isinstance(file, RecordFile):
        from takifugu.releasing.records import plan_records

        return plan_records(file, watch)
    watch("reading the data", 0, 1)
    units = units_of(file)
    asking = _Asking(file, units)
    scopes = [(item, name, scope) for item in file.spec.release for name, scope in _scopes(item, file.spec)]
    work = sum(asking.answers(scope) for _, _, scope in scopes)
    done, tables = 0, []
    for item, name, scope in scopes:
        questions = []
        watch(f"calibrating {name}", done, work)
        for question in asking.questions(item, name, scope):
            questions.append(question)
            done += 1
            watch(f"calibrating {name}", done, work)
        tables.append(Table(name, scope, item, tuple(questions)))
    return Plan(file, units, tuple(tables), tuple(_assumptions(file.spec)))


def calibrated(file: ReleaseFile | RecordFile, watch: Watch = unwatched) -> Plan | RecordPlan:
    """Return the calibrated plan without the data, where the belief does not depend on them; as `plan` otherwise."""
    if isinstance(file, RecordFile):
        from takifugu.releasing.records import plan_records

        return plan_records(file, watch, with_data=False)
    return plan(file, watch)


def compared(file: ReleaseFile | RecordFile, watch: Watch = unwatched) -> Iterator[Compared]:
    """Yield every mechanism side by side for each table."""
    if isinstance(file, RecordFile):
        from takifugu.releasing.records import compare_records

        yield from compare_records(file, watch)
        return
    watch("reading the data", 0, 1)
    units = units_of(file)
    asking, longest = _Asking(file, units), max(units, key=lambda u: sum(u.lengths))
    scopes = [(item, name, scope) for item in file.spec.release for name, scope in _scopes(item, file.spec)]
    for number, (item, name, scope) in enumerate(scopes):
        watch(f"comparing mechanisms for {name}", number, len(scopes))
        unit = longest if scope == "unit" else None
        framework, query = asking.about([unit] if unit else units), asking.query(item)
        rows = compare(framework, query, item.epsilon, item.delta, file.spec.source.only_release)
        yield Compared(name, scope, unit.name if unit else None, rows)


def priced(
    file: ReleaseFile | RecordFile, epsilons: Sequence[Number], watch: Watch = unwatched
) -> Iterator[Priced]:
    """Yield what each table would cost at each epsilon instead of its own; for a table of units, for the longest."""
    if isinstance(file, RecordFile):
        from takifugu.releasing.records import price_records

        yield from price_records(file, epsilons, watch)
        return
    watch("reading the data", 0, 1)
    units = units_of(file)
    longest = max(units, key=lambda u: sum(u.lengths))
    scopes = [(item, name, scope) for item in file.spec.release for name, scope in _scopes(item, file.spec)]
    work, done = len(scopes) * len(epsilons), 0
    for item, name, scope in scopes:
        asking = _Asking(file, (longest,) if scope == "unit" else units)
        for epsilon in epsilons:
            watch(f"pricing {name}", done, work)
            done += 1
            asked = item.model_copy(update={"epsilon": epsilon})
            made, reason = None, ""
            try:
                made = next(asking.questions(asked, name, scope)).calibration
            except CalibrationRefused as refusal:
                reason = str(refusal)
            unit = longest.name if scope == "unit" else None
            yield Priced(name, scope, unit, item, Fraction(epsilon), made, reason)


class _Asking:
    """Questions about units, with frameworks and calibrations made once for all units that share their lengths."""

    def __init__(self, file: ReleaseFile, units: tuple[Unit, ...]) -> None:
        self.file, self.spec, self.units = file, file.spec, units
        self.secret = secret_of(file.spec.hide)
        self.frameworks: dict[tuple[int, ...], Framework] = {}
        self.calibrations: dict[Any, Calibration] = {}

    def answers(self, scope: str) -> int:
        return len(self.units) if scope == "unit" else 1

    def query(self, item: ItemSpec) -> Query:
        return query_of(item, self.spec.belief.states, self.file.folder)

    def questions(self, item: ItemSpec, name: str, scope: str) -> Iterator[Question]:
        """Yield the questions of one table, in the order of the units."""
        query = self.query(item)
        readers = {u.name or "": self.about([u]) for u in self.units}
        written = {u.name or "": u.written or "" for u in self.units}
        if scope == "unit":
            for unit in self.units:
                whose = unit.name or ""
                yield self._ask(name, item, query, [unit], {whose: readers[whose]}, {whose: written[whose]})
        else:
            yield self._ask(name, item, query, self.units, readers, written)

    def about(self, units: Sequence[Unit]) -> Framework:
        lengths = tuple(n for u in units for n in u.lengths)
        if lengths not in self.frameworks:
            chain = self.file.chain.with_length(max(lengths))
            belief = chain if len(lengths) == 1 else IndependentPieces(chain, lengths)
            try:
                self.frameworks[lengths] = Pufferfish(self.secret, belief)
            except InputError as error:
                key = "hide.entry" if isinstance(self.spec.hide, EntrySpec) else "belief"
                raise SpecError([f"{key}: {as_problem(error)}"]) from None
        return self.frameworks[lengths]

    def _ask(
        self,
        name: str,
        item: ItemSpec,
        query: Query,
        units: Sequence[Unit],
        readers: Mapping[str, Framework],
        written: Mapping[str, str],
    ) -> Question:
        """Return one question; it is alone if nothing else in the file reads its data and every entry was observed."""
        framework, gaps = self.about(units), not all(u.complete for u in units)
        data: Any = Counted(tuple(piece for u in units for piece in u.pieces))
        if isinstance(query, Linear):
            _check_weights(query, units[0], item, self.spec)
            data = sequence_of(self.file, units[0])
        if gaps and len(units) == 1:
            query, gaps = _of_observed(query, units[0]), False
        alone = len(self.spec.release) == 1 and item.per != "both" and not gaps
        calibration = self._calibrated(item, query, framework, alone)
        return Question(name, units[0].name if len(readers) == 1 else None, calibration, data, readers, written)

    def _calibrated(self, item: ItemSpec, query: Query, framework: Framework, alone: bool) -> Calibration:
        key = (item.name, item.epsilon, id(framework), query, alone)
        if key not in self.calibrations:
            self.calibrations[key] = self._calibrate(item, query, framework, alone)
        return self.calibrations[key]

    def _calibrate(self, item: ItemSpec, query: Query, framework: Framework, alone: bool) -> Calibration:
        fit = self.spec.belief.fit if isinstance(self.spec.belief, ChainSpec) else None
        private, only = fit is not None and fit.private, self.spec.source.only_release
        return calibrated_beside_others(item, query, framework, alone, only, private)


def calibrated_beside_others(
    item: ItemSpec | RecordItemSpec, query: Query, framework: Framework, alone: bool, only_release: bool, private: bool
) -> Calibration:
    """Return the calibration of one answer; where it is not `alone`, one that composes with others.

    `private` says that a belief estimated from the private data is accepted. Raises CalibrationRefused.
    """
    only = only_release and alone
    found = calibrate(framework, query, item.epsilon, item.delta, item.mechanism, only, item.allow_zero_noise, private)
    if found.is_only_release and not alone and item.mechanism == "auto":
        raise CalibrationRefused(
            f"the release {item.name!r} is one of several answers about the same data, or one about units with "
            "unobserved entries, and no mechanism that may be used composes with others",
            fix='publish it alone, or one table per unit (per = "unit")',
        )
    return found


def _of_observed(query: Query, unit: Unit) -> Query:
    """Return the query about the entries of a unit that were observed; the pattern of gaps is public."""
    if isinstance(query, Linear):
        seen = set(unit.observed)
        weights = [w if i in seen else Fraction(0) for i, w in enumerate(query.weights)]
        return Linear(weights, query.codes, query.grid)
    return replace(query, entries=unit.observed)  # type: ignore[type-var]


def _check_weights(query: Linear, unit: Unit, item: ItemSpec, spec: ReleaseSpec) -> None:
    entries = sum(unit.lengths)
    if len(query.weights) != entries:
        whose = "the sequence" if unit.name is None else f"the sequence of {unit.name!r}"
        raise SpecError([
            f"release[{spec.release.index(item) if item in spec.release else 0}].weights: has {len(query.weights)} "
            f"numbers, and {whose} has {entries} entries; write one number for each entry, 0 to leave one out"
        ])  # fmt: skip


def _scopes(item: ItemSpec, spec: ReleaseSpec) -> list[tuple[str, str]]:
    """Return the names and scopes of the tables of a release."""
    if spec.source.unit is None:
        return [(item.name, "all")]
    if item.per != "both":
        return [(item.name, item.per)]
    return [(f"{item.name}-units", "unit"), (f"{item.name}-pooled", "pooled")]


def _assumptions(spec: ReleaseSpec) -> Iterator[str]:
    if spec.source.unit is not None:
        yield "which units there are, and the lengths of their pieces, are public"
        yield "the units are independent of each other"
    if spec.source.step is not None or spec.source.nulls == "unobserved":
        yield "which entries were observed is public"
    if spec.source.null_keys == "drop" and (spec.source.unit or spec.source.piece):
        yield "rows without a unit or piece were left out, and nothing is promised about them"
    if spec.belief.min_length > 1:
        yield f"pieces of fewer than {spec.belief.min_length} steps are left out, and nothing is promised about them"
    if spec.belief.max_length is not None and spec.belief.longer == "cut":
        yield f"pieces are cut to {spec.belief.max_length} steps; nothing of the rest is published"

"""Who asks the questions of tables about some units: frameworks and noise are made once for all that are alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import attrgetter

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.calibration import Calibration, of_problem, problem_of
from takifugu.core.errors import CalibrationRefused
from takifugu.core.searches import stopping
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Additive, Query
from takifugu.numbers.rationals import Number
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.public import fitted_to_data
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.file.sharing import (
    ITS_EPSILON,
    epsilon_of,
    metric_of,
    sharing,
)
from takifugu.releasing.planning.questions import Question, Reader, about_observed, all_complete, observed_of

#: What the cells of an answer sum to, in blocks of equally many cells; None where that is not public.
Totals = tuple[Fraction | None, ...]
#: Mechanisms with a delta whose promise is that of a profile: steps that were not observed only lower it.
BY_PROFILE = ("influence-gaussian",)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The calibrations of a file: windows whose frameworks have one fingerprint share framework and noise."""

    frameworks: dict[Hashable, Framework] = field(default_factory=dict)
    by_fingerprint: dict[str, Framework] = field(default_factory=dict)
    #: The first problem of each answer: at other epsilons all share the parts that depend on none.
    problems: dict[Hashable, Problem] = field(default_factory=dict)
    single: dict[Hashable, Calibration] = field(default_factory=dict)
    shared: dict[Hashable, tuple[Calibration, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Asking:
    """Questions about the units of a window, with frameworks and calibrations made once for all that are alike."""

    file: ReleaseFile
    units: tuple[Unit, ...]
    is_alone: bool
    already: Calibrated = field(default_factory=Calibrated)
    #: All epsilons that are asked about, where these are several.
    epsilons: tuple[Fraction, ...] = ()

    @property
    def kind(self) -> Kind:
        return self.file.kind

    def answers(self, scope: str) -> int:
        return len(self.units) if scope == "unit" else 1

    def query(self, item: Item) -> Query:
        return self.kind.query_of(self.file, item)

    def about(self, units: Sequence[Unit]) -> Framework:
        frameworks, key = self.already.frameworks, (self.file.places, *map(attrgetter("shape"), units))
        if key not in frameworks:
            framework = self.kind.framework_about(self.file, units)
            frameworks[key] = self.already.by_fingerprint.setdefault(framework.fingerprint(), framework)
        return frameworks[key]

    def questions(self, item: Item, name: str, scope: str) -> Iterator[Question]:
        """Yield the questions of one table, in the order of the units."""
        query = self.query(item)
        if scope != "unit":
            yield self._ask(name, item, query, self.units)
            return
        for unit in self.units:
            yield self._ask(name, item, query, [unit])

    def totals(self, questions: Sequence[Question]) -> tuple[Totals, ...]:
        """Return the public sums of each answer's cells, block by block. A block is, for example, an hour."""
        units_by_name, totals = dict[str | None, Unit](), list[Totals]()
        if any(question.unit for question in questions):
            units_by_name = {unit.name: unit for unit in self.units}
        for question in questions:
            problem, units = question.calibration.problem, self.units
            if question.unit:
                units = (units_by_name[question.unit],)
            parts: Iterable[object] = (problem.answers[0],)
            if problem.query.blocks > 1:
                parts = problem.answers[0].blocks(problem.query.blocks)
            # The sum is public where the query reads a public number of entries.
            is_known = not self.file.hides_gaps and (len(units) == 1 or all_complete(units))
            sums = list[Fraction | None]()
            for part in parts:
                sums.append(part.constant_sum() if is_known and isinstance(part, Additive) else None)
            totals.append(tuple(sums))
        return tuple(totals)

    def _ask(self, name: str, item: Item, query: Query, units: Sequence[Unit]) -> Question:
        """Return one question of a table."""
        calibration: Calibration | None = None
        if item.shares_epsilon:
            calibration = self._shared(item, units)
        requested = self.kind.unit_query(self.file, item, query, units)
        query, units = requested.query, requested.units
        data = self.kind.data(self.file, item, query, units)
        if calibration is None:
            # nothing else in the file reads its data, and every entry was observed
            alone = self.is_alone and (self.file.hides_gaps or len(units) == 1 or all_complete(units))
            calibration = self._calibrated(item, self._observed(query, units), self.about(units), alone)
        if self.file.leaves_by_value and any(answer.shows_missing for answer in calibration.problem.answers):
            raise CalibrationRefused(
                f"{item.name!r} shows how many rows are left out, which depends on the value of each",
                rule="a row that is left out may change a table by no more than another value of it does",
                fix="let a state count nothing, such as the code 0; or leave no rows out by their value",
            )
        alike = {(unit.shape, unit.starts): unit for unit in units}
        reader_of = {key: Reader(self.about([unit]), unit.starts) for key, unit in alike.items()}
        readers = {unit.name or "": reader_of[unit.shape, unit.starts] for unit in units}
        whose = units[0].name if len(units) == 1 else None
        begins = calibration.randomiser.kind == "rounded-normal" and item.begins_series
        observed = None if self.file.may_miss or self._is_about_observed(units) else observed_of(units)
        return Question(
            name, whose, calibration, data, readers, self.file.at, requested.shares, self.file.reading,
            self.file.entries, begins, observed, self.file.may_miss,
        )  # fmt: skip

    def _observed(self, query: Query, units: Sequence[Unit]) -> Query:
        """Return a query of one unit restricted to its observed entries."""
        return about_observed(query, units[0].seen) if self._is_about_observed(units) else query

    def _is_about_observed(self, units: Sequence[Unit]) -> bool:
        return len(units) == 1 and not units[0].complete and not self.file.hides_gaps

    def priced_at(self, item: Item, epsilon: Number) -> tuple[Asking, Item]:
        """Return the asking and the table with another epsilon, in place of the table's own or of the shared one."""
        if item.shares_epsilon:
            spec = self.file.spec.model_copy(update={"joint_epsilon": epsilon})
            return replace(self, file=replace(self.file, spec=spec)), item
        return self, item.model_copy(update={"epsilon": epsilon})

    def _shared(self, item: Item, units: Sequence[Unit]) -> Calibration:
        """Return the noise of a shared epsilon, calibrated for all its tables."""
        tables = sharing(self.file, item)
        requested = [self.kind.unit_query(self.file, table, self.query(table), units) for table in tables]
        frameworks = [self.about(query_of_units.units) for query_of_units in requested]
        for table, framework in zip(tables, frameworks, strict=True):
            if framework is not frameworks[0]:
                raise CalibrationRefused(
                    f"the tables {tables[0].name!r} and {table.name!r} do not read the same steps in the same order",
                    rule="an epsilon is shared by tables about the same data", fix=ITS_EPSILON,
                )  # fmt: skip
        queries = [self._observed(query_of_units.query, query_of_units.units) for query_of_units in requested]
        joint = epsilon_of(self.file, item)
        key = (joint, id(frameworks[0]), tuple(queries))
        if key not in self.already.shared:
            fitted = fitted_to_data(self.file.spec)
            from takifugu.calibration.jointly import calibrate_jointly  # few files share an epsilon

            shared = calibrate_jointly(frameworks[0], queries, joint, allow_private_belief=fitted)
            self.already.shared[key] = shared
        return self.already.shared[key][tables.index(item)]

    def _calibrated(self, item: Item, query: Query, framework: Framework, alone: bool) -> Calibration:
        """Return the calibration of one answer, composable unless `alone`."""
        promised = (item.epsilon, item.delta, item.mechanism, item.allow_zero_noise, item.metric)
        key = (promised, id(framework), query, alone)
        if key in self.already.single:
            return self.already.single[key]
        hidden = self.file.hides_gaps
        only = self.file.source.single_release and alone and not hidden
        fitted = fitted_to_data(self.file.spec)
        with stopping():
            epsilon, metric = epsilon_of(self.file, item), metric_of(item)
            problem = problem_of(framework, query, epsilon, item.delta, metric, self.epsilons)
            alike = (id(framework), query, problem.delta, item.metric, self.epsilons)
            first = self.already.problems.setdefault(alike, problem)
            if first is not problem or self.epsilons:  # it keeps all that depends on no epsilon
                problem = first.at(problem.epsilon)
            calibration = of_problem(problem, item.mechanism, only, item.allow_zero_noise, fitted)
        is_alone = calibration.guarantee.covers is Covers.OUTPUT and calibration.mechanism not in BY_PROFILE
        if hidden and is_alone:
            raise CalibrationRefused(
                f"the mechanism {calibration.mechanism!r} is right for one pattern of observed steps only, and which "
                f"were observed in the window of {item.name!r} is hidden",
                fix='write gaps = "public" under [source] if everybody may know it, or use mechanism = "quilt-exact"',
            )
        if calibration.is_only_release and not alone and item.mechanism == "auto":
            others = f'one table per {self.file.people.one} (per = "unit")'
            if not self.kind.facts.has_lengths:
                others = 'all columns in one [[table]]: attribute = ["...", "..."]'
            raise CalibrationRefused(
                f"the release {item.name!r} is one of several answers about the same data, or one about "
                f"{self.file.people.many} with unobserved values, and no mechanism that may be used composes with "
                "others",
                fix=f"publish it alone, or {others}",
            )
        self.already.single[key] = calibration
        return calibration

"""What publishing again and again will cost, before the first release: nothing is read, drawn or paid.

The cost is that of one unit's ledger if every table of the file is published for so many windows, one after the other,
with the noise that it has now: one whose source is divided into units is asked about one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, islice
from typing import Any

from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.core.errors import CalibrationRefused, CompositionRefused, InputError
from takifugu.core.escaping import at_least, at_most, command, float_at_least, float_at_most, number
from takifugu.core.people import PEOPLE, People
from takifugu.core.plain import Json
from takifugu.core.text.parts import InParts, Part, rows, words
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.matrices_by import ClockChange, change_of_clocks
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.frameworks import Framework
from takifugu.model.queries.sections import IN_ORDER, POLICY
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sharing import epsilon_of
from takifugu.releasing.planning.factors import largest_factor
from takifugu.releasing.planning.plan import Aim, aims_of

#: A plan looks no further ahead.
MOST_RELEASES = 10_000
_WINDOWS = ("table", "steps of a window", "epsilon", "scale")
_AHEAD = ("windows", "epsilon in all", "sum of epsilons")
_COST = "epsilon in all: what all these windows, one after the other, cost"
#: What that epsilon hides, of sequences and of what a policy says of people.
_MEANING = (
    f"{_COST} each {{person}} together; each step is hidden at that epsilon. What lasts as long as several windows is "
    "not hidden."
)
_OF_PEOPLE = f"{_COST} together; all that is hidden of a person, in all of them, is hidden at that epsilon."
#: Why a plan ends where the hours of a zone do.
_ENDS = (
    "The plan ends before clocks in {zone} are changed, about {day}: later windows have other hours, so they need "
    "another calendar, and releases on one side count on the other at the cost of a change of all that they read."
)

#: What to write where a file could have a calendar and has none, by what a row is.
_NO_WINDOWS = {
    IN_ORDER: 'write from and step under [source], and every = "week" under [[table]]',
    POLICY: 'write order, from and step under [source], and every = "hour" under [[table]]',
}


@dataclass(frozen=True)
class Ahead:
    """What so many windows cost together, and what the sum of their epsilons would be."""

    releases: int
    epsilon: Fraction
    added: Fraction


@dataclass(frozen=True)
class Outlook(InParts):
    """The cost of the tables of a file over many windows."""

    #: The tables, each with the steps of its window, its epsilon and its scale.
    windows: tuple[tuple[str, int, Fraction, Fraction | None], ...]
    rows: tuple[Ahead, ...]
    budget: Fraction | None
    #: The factor of every epsilon that the budget allows.
    fits: Fraction | None
    people: People = PEOPLE
    #: False where nobody looked for a fitting factor; `cost --windows` does.
    is_sought: bool = True
    plan: str = ""
    meaning: str = _MEANING
    #: Why there are fewer windows than were asked for.
    ends: str = ""

    @property
    def parts(self) -> Iterator[Part]:
        windows, ahead = list[tuple[str, ...]](), list[tuple[str, ...]]()
        for name, steps, epsilon, scale in self.windows:
            windows.append((name, number(steps), at_most(epsilon), number(scale)))
        for row in self.rows:
            ahead.append((number(row.releases), at_most(row.epsilon), at_most(row.added)))
        yield rows(_WINDOWS, windows)
        yield rows(_AHEAD, ahead)
        meaning = self.meaning.format(person=self.people.one)
        if self.ends:
            yield words(self.ends)
        if self.budget is None:
            yield words(meaning)
            return
        last, budget = self.rows[-1].releases, at_least(self.budget)
        if not self.is_sought:
            fitting = f"{self.plan} looks for epsilons with which {last:,} windows fit the budget of epsilon {budget}"
        elif self.fits is None:
            fitting = f"{last:,} windows do not fit the budget of epsilon {budget} at any epsilon"
        else:
            epsilons = [f"{name} at epsilon {at_least(epsilon * self.fits)}" for name, _, epsilon, _ in self.windows]
            fitting = f"{last:,} windows fit the budget of epsilon {budget} with {', '.join(epsilons)}"
        yield words(meaning, fitting)

    def to_dict(self) -> Json:
        tables, ahead = list[Json](), list[Json]()
        for name, steps, charged, scale in self.windows:
            tables.append({"name": name, "steps": steps, "epsilon": float_at_most(charged), "scale": _float(scale)})
        for row in self.rows:
            epsilon, added = float_at_most(row.epsilon), float_at_most(row.added)
            ahead.append({"releases": row.releases, "epsilon": epsilon, "sum": added})
        budget, fits = _float(self.budget, float_at_least), _float(self.fits, float_at_least)
        return {"tables": tables, "ahead": ahead, "budget": budget, "fits": fits, "is_sought": self.is_sought}


def _float(value: Fraction | None, rounding: Callable[[Fraction], float] = float) -> float | None:
    return None if value is None else rounding(value)


#: The windows of all tables that are published at one time, with the name of each, if it has one.
_Windows = tuple[tuple[str, range], ...]


@dataclass(frozen=True, eq=False)
class _Table:
    """A window of a table and its steps, as charged to one unit."""

    series: str
    item: Any
    framework: Framework
    charge: Charge
    places: range

    @property
    def period(self) -> int:
        """Return after how many steps what is believed repeats."""
        return math.lcm(*(belief.chain.period for belief in self.framework.beliefs if is_recording(belief)))


@dataclass(frozen=True, eq=False)
class _Round:
    """The windows of one time, and the file and aims that ask for windows of these lengths."""

    windows: _Windows
    file: ReleaseFile
    aims: Sequence[Aim]


def outlook(file: ReleaseFile, releases: int, is_sought: bool = True) -> Outlook:
    """Return the costs of 1, 2, 4, ..., `releases` windows per table; InputError for no calendar."""
    if not 1 <= releases <= MOST_RELEASES:
        raise InputError(
            f"the number of windows is {releases}", fix=f"write a whole number from 1 to {MOST_RELEASES:,}"
        ).at("windows")
    aims = aims_of(file)
    tables = _tables(file, aims, Fraction(1))
    if not tables:
        dry = command("release", "--dry-run", file.path)
        again = "each of its releases is paid for again as it is"
        fix = f"{again}, and {dry} says what one costs beside what was published"
        fix = _NO_WINDOWS.get(file.kind.facts.rows, fix)
        raise InputError("the file publishes no windows of a calendar", fix=fix)
    rounds = _rounds(file, aims, tables, releases)
    change, ends = _change_of_hours(file, tables), ""
    if change is not None and len(rounds) < releases:
        releases, ends = len(rounds), _ENDS.format(zone=change.zone, day=change.day)
    once = sum((t.charge.epsilon for t in tables), Fraction(0))
    steps = [*(n for n in (1, 2, 4, 12, 26, 52, 104, 520) if n < releases), releases]
    charged = _charged(rounds, Fraction(1))
    ahead = tuple(Ahead(n, _cost(charged[:n]), n * once) for n in steps)
    most = file.epsilon_budget
    firsts = tuple((t.series, len(t.places), t.charge.epsilon, t.charge.scale) for t in tables)
    # it takes many calibrations; CalibrationRefused and CompositionRefused say that there is no noise, or no bound
    fits = _fitting(rounds, most, ahead[-1].epsilon) if most is not None and is_sought else None
    meaning = _MEANING if file.kind.facts.rows == IN_ORDER else _OF_PEOPLE
    window = ("--window", file.window) if file.window else ()
    planning = command("cost", "--windows", releases, *window, file.path)
    return Outlook(firsts, ahead, most, fits, file.people, is_sought, planning, meaning, ends)


def _change_of_hours(file: ReleaseFile, tables: Sequence[_Table]) -> ClockChange | None:
    """Return the change of clocks after which what is believed of hours or weekdays needs another calendar."""
    source: Any = file.source
    return change_of_clocks(source.calendar) if any(table.period > 1 for table in tables) else None


def _tables(file: ReleaseFile, aims: Sequence[Aim], factor: Fraction) -> list[_Table]:
    """Return the first window of every table, as charged to one unit. Every epsilon is multiplied by `factor`."""
    tables: dict[str, _Table] = {}
    for asking, item, name, scope in aims:
        at = asking.file.at
        scoped = name.removeprefix(item.name)  # the end of a name behind that of its window: which people it is about
        series = (item.name.removesuffix(f"-{item.period}") if item.period else item.name) + scoped
        if at is None or asking.file.places is None or series in tables:
            continue
        epsilon = as_fraction(epsilon_of(file, item), "epsilon") * factor
        part, priced_item = asking.priced_at(item, str(epsilon))
        question = next(part.questions(priced_item, name, scope))
        unit, (framework, _) = next(iter(question.readers.items()))
        share = question.shares.get(unit)
        charge = charge_of(question.calibration, framework, at=at, share=share)
        tables[series] = _Table(series, item, framework, charge, asking.file.places)
    return list(tables.values())


def _following(file: ReleaseFile, tables: Sequence[_Table], releases: int) -> list[_Windows]:
    """Return the next windows of all tables. Periods go by the clocks; other windows are as long as the first."""
    source: Any = file.source
    calendar, columns = source.calendar, list[Iterable[tuple[str, range]]]()
    for table in tables:
        start, length = table.places.start, len(table.places)
        if table.item.period:
            columns.append(calendar.periods_from(table.item.period))
        else:
            columns.append([("", range(start + n * length, start + (n + 1) * length)) for n in range(releases)])
    change = _change_of_hours(file, tables)
    following = list[_Windows]()
    for windows in islice(zip(*columns, strict=False), releases):
        if change is None or all(places.stop <= change.steps for _, places in windows):
            following.append(windows)
    return following


def _rounds(file: ReleaseFile, aims: Sequence[Aim], tables: Sequence[_Table], releases: int) -> list[_Round]:
    """Return the next rounds of windows; those as long as earlier ones are asked for by the same aims."""
    by_lengths: dict[tuple[int, ...], tuple[ReleaseFile, Sequence[Aim]]]
    by_lengths = {tuple(len(table.places) for table in tables): (file, aims)}
    rounds = list[_Round]()
    for windows in _following(file, tables, releases):
        lengths = tuple(len(places) for _, places in windows)
        if lengths not in by_lengths:
            later = _file_of(file, tables, windows)
            by_lengths[lengths] = later, aims_of(later)
        rounds.append(_Round(windows, *by_lengths[lengths]))
    return rounds


def _charged(rounds: Sequence[_Round], factor: Fraction) -> list[list[_Table]]:
    """Return the charges of each round, with every epsilon multiplied by `factor`."""
    tables_of = dict[int, Sequence[_Table]]()
    charged, later = list[list[_Table]](), cache(_later)
    for this in rounds:
        if id(this.aims) not in tables_of:
            tables_of[id(this.aims)] = _tables(this.file, this.aims, factor)
        rows = list[_Table]()
        for table, (_, places) in zip(tables_of[id(this.aims)], this.windows, strict=True):
            steps = places.start - table.places.start
            name, framework = later(table, steps % table.period)
            charge = replace(table.charge, at=(table.charge.at or 0) + steps, framework=name)
            rows.append(replace(table, framework=framework, charge=charge, places=places))
        charged.append(rows)
    return charged


def _file_of(file: ReleaseFile, tables: Sequence[_Table], windows: _Windows) -> ReleaseFile:
    """Return the file of these windows, with a calendar without end."""
    source: Any = file.source
    texts = {table.item.name: text for table, (text, _) in zip(tables, windows, strict=True)}
    of_series = file.only([item for item in file.items if item.name in texts])
    items = list[Any]()
    for item in of_series.items:
        items.append(item.model_copy(update=_keys_of(item, texts[item.name], source)))
    endless = source.model_copy(update={"until": None})
    return replace(of_series, spec=file.spec.model_copy(update={"source": endless, "table": tuple(items)}))


def _keys_of(item: Any, text: str, source: Any) -> Json:
    """Return the keys of a table for another period, else for its window."""
    if not item.period:
        return {} if item.to is not None else {"from_": source.from_, "to": source.until}
    name = item.name
    if name.endswith(f"-{item.period}"):
        name = f"{name.removesuffix(item.period)}{text}"
    return {"name": name, "window": text}


def _cost(charged: Sequence[Sequence[_Table]]) -> Fraction:
    tables = [*chain.from_iterable(zip(*charged, strict=True))]
    frameworks, charges = dict[str, Framework](), list[Charge]()
    for table in tables:
        frameworks[table.charge.framework] = table.framework
        charges.append(table.charge)
    return max(joint(f, charges, name).epsilon for name, f in frameworks.items())


def _later(table: _Table, steps: int) -> tuple[str, Framework]:
    """Return the fingerprint and framework of a window `steps` later."""
    if not steps:
        return table.charge.framework, table.framework
    beliefs = list[Belief]()
    for belief in table.framework.beliefs:
        later: Belief | None = belief
        if is_recording(belief):
            later = belief.chain.from_step(steps, belief.size)
        if later is None:
            return table.charge.framework, table.framework
        beliefs.append(later)
    framework = replace(table.framework, beliefs=tuple(beliefs))
    return framework.fingerprint(), framework


def _fitting(rounds: Sequence[_Round], budget: Fraction, now: Fraction) -> Fraction | None:
    """Return the largest factor of epsilons within a budget, if any."""

    def cost(factor: Fraction) -> Fraction | None:
        try:
            return _cost(_charged(rounds, factor))
        except (CalibrationRefused, CompositionRefused):
            return None

    return largest_factor(cost, budget, now)

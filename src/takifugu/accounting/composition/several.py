"""Releases that differ in their noise or place only, as one charge: a long history as a short one.

Laplace noise of scale b moves the log-likelihood of an output by at most D/b, so releases of one query about the same
entries cost what one of scale 1/sum(1/b) does, in every rule (`Total`). A charge without a declared place, and one that
names its reading, may be anywhere: equal ones are at their worst at the same place. What is at declared places is added
up place by place, as runs of windows that cost the same: a year of weekly tables is one run.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import chain
from typing import NamedTuple

import numpy as np

from takifugu.accounting.composition.totals import Total
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.arrays import IntArray
from takifugu.core.sections import values_of

#: Kinds of promises that cover every change of some entries.
STEADY = (Covers.EVERYTHING, Covers.COMPONENT)
#: The definitions whose joint rules add up noise.
_OURS = ("pufferfish", "attribute")


@dataclass(frozen=True)
class Cost:
    """The sums of releases: their number, loss by one entry, and epsilons."""

    times: int
    rates: Total | None
    promised: Total

    @cached_property
    def text(self) -> str:
        """The sums as a ledger keeps them."""
        rates = "" if self.rates is None else self.rates.text
        return f"{self.times}; {rates}; {self.promised.text}"

    @staticmethod
    @lru_cache(maxsize=65536)
    def of_text(text: str) -> Cost:
        """Return the sums of a text, the same object for equal texts."""
        times, rates_text, promised = text.split("; ")
        rates = Total.of_text(rates_text) if rates_text else None
        return Cost(int(times), rates, Total.of_text(promised))

    def plus(self, other: Cost) -> Cost:
        """Add up two costs."""
        rates = None
        if self.rates is not None and other.rates is not None:
            rates = self.rates + other.rates
        return Cost(self.times + other.times, rates, self.promised + other.promised)


class Run(NamedTuple):
    """Windows of one cost, `step` steps apart."""

    first: int
    step: int
    windows: int
    cost: Cost

    @property
    def places(self) -> range:
        return range(self.first, self.first + self.step * self.windows, self.step)


@dataclass(frozen=True, kw_only=True)
class Several(Charge):
    """Releases of one query about the same entries, as one charge.

    `epsilon` and 1/`scale` are the sums of theirs. `cost` adds them up, and `readings` says in how many readings of
    unknown places: each of them has the same share of all. `saved` is the most by which one of them promises less than
    a change of the whole data costs, None where such a change has no bound. `ratio` is epsilon times scale of each of
    them, where they cover every change. Of windows at several places `runs` say what each of them costs, in their
    order; without runs all read the same entries.
    """

    cost: Cost
    readings: int
    saved: Fraction | None
    ratio: Fraction | None
    runs: tuple[Run, ...] = ()

    __hash__ = Charge.__hash__

    @property
    def times(self) -> int:
        return self.cost.times

    @cached_property
    def places(self) -> IntArray:
        """The starts of the windows, in order; none without a declared place."""
        places: list[int] = []
        for run in self.runs:
            places += run.places
        if not self.runs and self.at is not None:
            places = [self.at]
        return np.array(places, dtype=np.int64)


_SHARED = tuple(f.name for f in fields(Charge))


def ratio_of(charge: Charge) -> Fraction | None:
    """Return epsilon times scale of releases with Laplace noise covering every change."""
    if isinstance(charge, Several):
        return charge.ratio
    if charge.scale is None or charge.covers not in STEADY:
        return None
    return charge.epsilon * charge.scale


def as_one(charge: Charge) -> Charge:
    """Return one release at the cost of all."""
    if isinstance(charge, Several):
        return Charge(**values_of(charge, _SHARED))
    return charge


def several(charge: Charge) -> Several:
    """Return a charge as `Several`, with the sums of one release."""
    if isinstance(charge, Several):
        return charge
    rates = saved = None
    if charge.scale:
        rates = Total.of(entry_of(charge) / charge.scale)
        if charge.change is not None:
            saved = charge.change / charge.scale - charge.epsilon
    return added_up(charge, Cost(1, rates, Total.of(charge.epsilon)), 1, saved)


def added_up(first: Charge, cost: Cost, readings: int, saved: Fraction | None, runs: Iterable[Run] = ()) -> Several:
    """Return a charge of releases like `first` from their sums."""
    values = values_of(first, _SHARED)
    values["epsilon"] = cost.promised.value
    if cost.rates is not None:
        values["scale"] = entry_of(first) / cost.rates.value
    return Several(**values, cost=cost, readings=readings, saved=saved, ratio=ratio_of(first), runs=tuple(runs))


def entry_of(charge: Charge) -> Fraction:
    """Return the largest change by one entry, as the unit of rates.

    With this unit 2^-60 is little for any grid.
    """
    return charge.entry_change or Fraction(1)


def alike(charge: Charge) -> Charge:
    """Return an equal key for charges with the same query and reading."""
    values = values_of(charge, _SHARED)
    values |= {"epsilon": Fraction(0), "release": ""}
    if charge.at is not None:
        values |= {"reading": "", "at": 0}  # the place says which entries are the same
    if charge.scale is not None:
        values |= {"scale": Fraction(charge.scale != 0), "randomiser": {}}
    return Charge(**values)


def places_of(charges: Iterable[Charge]) -> set[int]:
    """Return the declared places of all windows."""
    return set(chain.from_iterable(several(charge).places.tolist() for charge in charges))


def each_window(charge: Charge) -> list[Charge]:
    """Return a charge window by window."""
    if not isinstance(charge, Several) or not charge.runs:
        return [charge]
    windows: list[Charge] = []
    for run in charge.runs:
        windows += [added_up(replace(charge, at=place), run.cost, 1, None) for place in run.places]
    return windows


def in_runs(costs: Mapping[int, Cost]) -> tuple[Run, ...]:
    """Return windows by their places as runs.

    A window one distance behind a run belongs to it.

    >>> one = Cost(1, None, Total.of(Fraction(1)))
    >>> [run[:3] for run in in_runs(dict.fromkeys([30, 14, 7, 0], one))]
    [(0, 7, 3), (30, 1, 1)]
    """
    runs: list[Run] = []
    for place in sorted(costs):
        cost = costs[place]
        if runs and runs[-1].cost.text == cost.text:  # which is kept, and compared sooner than the sums
            last = runs[-1]
            if last.windows == 1:
                runs[-1] = Run(last.first, place - last.first, 2, cost)
                continue
            if place == last.first + last.step * last.windows:
                runs[-1] = last._replace(windows=last.windows + 1)
                continue
        runs.append(Run(place, 1, 1, cost))
    return tuple(runs)


def adds_up(charge: Charge) -> bool:
    """Return whether a charge's noise adds up with others in any order."""
    return charge.definition in _OURS and charge.delta == 0 and charge.covers is not Covers.OUTPUT


def merged(charges: Sequence[Charge]) -> list[Several]:
    """Merge charges of equal query and reading at the first one's place.

    None passes a charge with a delta, or a promise about one output's distribution, where the order counts.
    """
    stretches = in_turns(charges)
    readings = whole_readings(stretches)
    terms: list[Several] = []
    for stretch in stretches:
        terms += _merged(stretch, readings)
    return terms


def in_turns(charges: Sequence[Charge]) -> list[list[Charge]]:
    """Split charges into stretches without order; others stand alone."""
    stretches: list[list[Charge]] = [[]]
    for charge in charges:
        if adds_up(charge):
            stretches[-1].append(charge)
        else:
            stretches += [[charge], []]
    return stretches


def whole_readings(stretches: Sequence[Sequence[Charge]]) -> set[str]:
    """Return the readings inside one stretch of charges to be added up.

    Equal charges of such a reading are worst at one place.
    """
    readings: set[str] = set()
    elsewhere: set[str] = set()
    for stretch in stretches:
        of_stretch: set[str] = set()
        for charge in stretch:
            if charge.at is None and charge.reading:
                of_stretch.add(charge.reading)
            if not adds_up(charge):
                elsewhere.add(charge.reading)
        elsewhere |= of_stretch & readings
        readings |= of_stretch
    return readings - elsewhere


def _merged(charges: Sequence[Charge], whole_readings: set[str]) -> Iterator[Several]:
    """Yield a stretch's charges, merged."""
    terms: dict[Hashable, list[Charge]] = {}
    readings: dict[str, dict[Hashable, list[Charge]]] = {}
    for charge in charges:
        group = terms
        if charge.at is None and charge.reading:
            group = readings.setdefault(charge.reading, {})
        group.setdefault(kind_of(charge), []).append(charge)
    for name, kinds in readings.items():
        merged_kinds = list(map(together, kinds.values()))
        equal = frozenset(map(_share, merged_kinds)) if name in whole_readings else name
        for charge in merged_kinds:
            terms.setdefault((equal, _share(charge)), []).append(charge)
    yield from map(together, terms.values())


def kind_of(charge: Charge) -> Hashable:
    """Return an equal key for charges with a common sum.

    A promise that covers every change costs the larger of its epsilon and D/b: charges add up where the same of the two
    is larger.
    """
    return alike(charge), ratio_of(charge)


def _share(charge: Charge) -> Hashable:
    """Return a charge's cost in one reading, with its way of reading."""
    term = several(charge)
    rate = None
    if term.cost.rates is not None:
        rate = term.cost.rates.value / term.readings
    return replace(alike(charge), reading=""), Fraction(term.times, term.readings), rate, term.epsilon / term.readings


def together(charges: Sequence[Charge]) -> Several:
    """Merge charges of different noise or place into one."""
    terms = list(map(several, charges))
    if len(terms) == 1:
        return terms[0]
    cost = reduce(Cost.plus, [term.cost for term in terms])
    saved = max((term.saved for term in terms if term.saved is not None), default=None)
    if charges[0].at is not None:
        runs = in_runs(_by_place(terms))
        first = replace(charges[0], at=runs[0].first)
        if len(runs) == runs[0].windows == 1:
            runs = ()
        return added_up(first, cost, 1, saved, runs)
    readings = [term.readings for term in terms]
    is_one_place = charges[0].reading != "" and len({term.reading for term in terms}) == 1
    return added_up(charges[0], cost, max(readings) if is_one_place else sum(readings), saved)


def _by_place(charges: Iterable[Several]) -> dict[int, Cost]:
    costs: dict[int, Cost] = {}
    for charge in charges:
        for run in charge.runs or [Run(charge.at or 0, 1, 1, charge.cost)]:
            for place in run.places:
                cost = run.cost
                if place in costs:
                    cost = costs[place].plus(cost)
                costs[place] = cost
    return costs

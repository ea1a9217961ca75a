"""Releases that differ in their noise or place only, as one charge: a long history as a short one.

Laplace noise of scale b moves the log-likelihood of an output by at most D/b, so releases of one query about the same
entries cost what one of scale 1/sum(1/b) does, in every rule (`Total`). What is at declared places is added up place by
place, as runs of windows that cost the same: a year of weekly tables is one run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
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
_OF_NOISE = ("pufferfish", "attribute")


@dataclass(frozen=True)
class Cost:
    """The sums of releases: their number, loss by one entry, and epsilons."""

    times: int
    rates: Total | None
    promised: Total

    @staticmethod
    def of_all(costs: Sequence[Cost]) -> Cost:
        """Add up costs."""
        if len(costs) == 1:
            return costs[0]
        rates = [cost.rates for cost in costs if cost.rates is not None]
        return Cost(
            sum(cost.times for cost in costs), Total.of_all(rates) if len(rates) == len(costs) else None,
            Total.of_all([cost.promised for cost in costs]),
        )  # fmt: skip

    def repeated(self, count: int) -> Cost:
        """Return the cost of so many such releases."""
        if count == 1:
            return self
        rates = None if self.rates is None else self.rates.times(count)
        return Cost(self.times * count, rates, self.promised.times(count))


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

    `epsilon` and 1/`scale` are the sums of theirs, and `cost` adds them up. `ratio` is epsilon times scale of each of
    them, where they cover every change. Of windows at several places `runs` say what each of them costs, in their
    order; without runs all read the same entries.
    """

    cost: Cost
    ratio: Fraction | None
    runs: tuple[Run, ...] = ()

    __hash__ = Charge.__hash__

    @property
    def windows(self) -> Iterator[tuple[int, Cost]]:
        """The declared place and cost of each window, in order; none without a declared place."""
        if not self.runs and self.at is not None:
            yield self.at, self.cost
        for run in self.runs:
            for place in run.places:
                yield place, run.cost

    @cached_property
    def places(self) -> IntArray:
        """The starts of the windows, in order; none without a declared place."""
        places = [self.at] if self.at is not None and not self.runs else list[int]()
        return np.array([*places, *chain.from_iterable(run.places for run in self.runs)], dtype=np.int64)


_SHARED = tuple(f.name for f in fields(Charge))


def changed(charge: Charge, **values: object) -> Charge:
    """Return a charge with other values, none of which has to be checked: they are of other charges, or their sums."""
    like = object.__new__(Charge)
    vars(like).update(values_of(charge, _SHARED), **values)
    return like


def ratio_of(charge: Charge) -> Fraction | None:
    """Return epsilon times scale of releases with Laplace noise covering every change."""
    if isinstance(charge, Several):
        return charge.ratio
    if charge.scale is None or charge.covers not in STEADY:
        return None
    return charge.epsilon * charge.scale


def several(charge: Charge) -> Several:
    """Return a charge as `Several`, with the sums of one release."""
    if isinstance(charge, Several):
        return charge
    return added_up(charge, cost_of(charge))


def cost_of(charge: Charge) -> Cost:
    """Return the sums of a charge's releases: of one, or of several."""
    if isinstance(charge, Several):
        return charge.cost
    rates = Total.of(entry_of(charge) / charge.scale) if charge.scale else None
    return Cost(1, rates, Total.of(charge.epsilon))


def added_up(first: Charge, cost: Cost, runs: Iterable[Run] = ()) -> Several:
    """Return a charge of releases like `first` from their sums."""
    sums = object.__new__(Several)  # of what was checked
    vars(sums).update(
        values_of(first, _SHARED), epsilon=cost.promised.value, cost=cost, ratio=ratio_of(first), runs=tuple(runs)
    )
    if cost.rates is not None:
        vars(sums)["scale"] = entry_of(first) / cost.rates.value
    return sums


def entry_of(charge: Charge) -> Fraction:
    """Return the largest change by one entry, as the unit of rates.

    With this unit 2^-60 is little for any grid.
    """
    return charge.entry_change or Fraction(1)


def alike(charge: Charge) -> Charge:
    """Return an equal key for charges with the same query and reading."""
    values: dict[str, object] = {"epsilon": Fraction(0), "at": None if charge.at is None else 0}
    if charge.scale is not None:
        values |= {"scale": Fraction(charge.scale != 0), "randomiser": {}}
    return changed(charge, **values)


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
        if runs and (runs[-1].cost is cost or runs[-1].cost == cost):  # mostly the same one, in a long history
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
    return charge.definition in _OF_NOISE and charge.delta == 0 and charge.covers is not Covers.OUTPUT


def placed(charge: Charge, at: int | None, entries: str) -> Charge:
    """Return a charge as one about entries of a name: at a step of their calendar, or (None) about all of them."""
    return changed(charge, at=at, reading="" if at is not None else entries)


def summed(lines: Iterable[tuple[Charge, int | None, str]]) -> list[Charge]:
    """Return charges with the steps and entries that they are about (`placed`), those that add up as one.

    It is what `merged` makes of them, with no charge made of each: the lines of a long history are as many charges.
    """
    steps_of, terms, sums = dict[tuple[Charge, str], list[int | None]](), list[Charge](), dict[Hashable, _Sum]()
    for charge, at, entries in lines:
        steps_of.setdefault((charge, entries), []).append(at)
    for (charge, entries), steps in steps_of.items():
        if not adds_up(charge):
            terms += [*(held.charge for held in sums.values()), *(placed(charge, at, entries) for at in steps)]
            sums = {}
            continue
        kind, one = _kind_and_cost(charge)
        key = kind, entries if steps[0] is None else ""
        if key not in sums:
            sums[key] = _Sum(placed(charge, steps[0], entries))
        sums[key].add(one, steps)
    return [*terms, *(held.charge for held in sums.values())]


class _Sum:
    """Charges of one kind while they are added up: the first, and what all and those at each place cost."""

    def __init__(self, first: Charge) -> None:
        self.first = first
        self.costs = list[Cost]()
        self.places = dict[int, Cost]()

    def add(self, one: Cost, steps: Sequence[int | None]) -> None:
        """Add releases of one cost at steps (None: about the same entries)."""
        self.costs.append(one.repeated(len(steps)))
        counts = Counter(steps) if len(steps) > 1 else {steps[0]: 1}
        for at, count in counts.items():
            if at is not None:
                self.put(at, one.repeated(count))

    def put(self, at: int, cost: Cost) -> None:
        """Add a cost to those at a place, but not to the cost of all."""
        self.places[at] = Cost.of_all([self.places[at], cost]) if at in self.places else cost

    @property
    def charge(self) -> Several:
        """All of them as one."""
        cost, runs = Cost.of_all(self.costs), in_runs(self.places)
        if not runs:
            return added_up(self.first, cost)
        return added_up(changed(self.first, at=runs[0].first), cost, () if len(self.places) == 1 else runs)


@lru_cache(maxsize=65536)
def _kind_and_cost(charge: Charge) -> tuple[Hashable, Cost]:
    return _same_kind(kind_of(charge)), cost_of(charge)


@lru_cache(maxsize=1024)
def _same_kind(kind: Hashable) -> Hashable:
    """Return the first of equal kinds: what is the same is equal without looking at it."""
    return kind


def merged(charges: Sequence[Charge]) -> list[Several]:
    """Merge charges of equal query and reading at the first one's place.

    None passes a charge with a delta, or a promise about one output's distribution, where the order counts.
    """
    terms, kinds = list[Several](), dict[Hashable, list[Charge]]()
    for charge in charges:
        if adds_up(charge):
            kinds.setdefault(kind_of(charge), []).append(charge)
            continue
        terms += [*map(together, kinds.values()), several(charge)]
        kinds = {}
    return [*terms, *map(together, kinds.values())]


def kind_of(charge: Charge) -> Hashable:
    """Return an equal key for charges with a common sum.

    A promise that covers every change costs the larger of its epsilon and D/b: charges add up where the same of the two
    is larger.
    """
    return alike(charge), ratio_of(charge)


def together(charges: Sequence[Charge]) -> Several:
    """Merge charges of different noise or place into one."""
    terms = list(map(several, charges))
    if len(terms) == 1:
        return terms[0]
    sums = _Sum(terms[0])
    for term in terms:
        sums.costs.append(term.cost)
        for place, cost in term.windows:
            sums.put(place, cost)
    return sums.charge

"""Releases that differ in their noise or place only, as one charge: a long history as a short one.

Laplace noise of scale b moves the log-likelihood of an output by at most D/b, so releases of one query about the same
entries cost what one of scale 1/sum(1/b) does, in every rule (`Total`). What is at declared places is added up place by
place. Sums do not depend on the order of their terms: they are exact while the common denominator is short, then
rounded up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.arrays import IntArray
from takifugu.core.sections import values_of

#: Kinds of promises that cover every change of some entries.
STEADY = (Covers.EVERYTHING, Covers.COMPONENT)
#: The definitions whose joint rules add up noise.
_OF_NOISE = ("pufferfish", "attribute")
#: Terms of sums that are not exact are rounded up to multiples of 2 to minus this power.
BITS = 60
#: Sums are exact up to this common denominator of their terms.
LONGEST = 2**256


@dataclass(frozen=True)
class Total:
    """A sum in any order of terms, `exact` or else `rounded` up; another term never makes it smaller."""

    #: In units of 2^-60.
    rounded: int  # the first: of unlike sums it differs
    #: The least common one of all terms, 0 from the first one on that makes it too long.
    denominator: int
    exact: Fraction

    @staticmethod
    def of(term: Fraction) -> Total:
        rounded = math.ceil(term * 2**BITS)
        if term.denominator <= LONGEST:
            return Total(rounded, term.denominator, term)
        return Total(rounded, 0, Fraction(0))

    @staticmethod
    def of_all(terms: Sequence[Total]) -> Total:
        """Return the sum of sums."""
        common, rounded = 1, sum(term.rounded for term in terms)
        for term in terms:
            common = math.lcm(common, term.denominator)  # 0 where one of them is
            if not 0 < common <= LONGEST:
                return Total(rounded, 0, Fraction(0))
        units = sum(term.exact.numerator * (common // term.exact.denominator) for term in terms)
        return Total(rounded, common, Fraction(units, common))

    def times(self, count: int) -> Total:
        """Return the sum of so many such sums."""
        return Total(self.rounded * count, self.denominator, self.exact * count)

    @property
    def value(self) -> Fraction:
        return self.exact if self.denominator else Fraction(self.rounded, 2**BITS)


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


@dataclass(frozen=True, kw_only=True)
class Several(Charge):
    """Releases of one query about the same entries, as one charge: `epsilon` and 1/`scale` are their sums."""

    cost: Cost
    #: The declared places, in order, with what the releases at each cost; none: all read the same entries.
    windows: tuple[tuple[int, Cost], ...] = ()

    __hash__ = Charge.__hash__

    @cached_property
    def places(self) -> IntArray:
        """The starts of the windows, in order; none without a declared place."""
        return np.array([place for place, _ in self.windows], dtype=np.int64)


_SHARED = tuple(f.name for f in fields(Charge))


def changed(charge: Charge, **values: object) -> Charge:
    """Return a charge with other values, none of which has to be checked: they are of other charges, or their sums."""
    like = object.__new__(Charge)
    vars(like).update(values_of(charge, _SHARED), **values)
    return like


def several(charge: Charge) -> Several:
    """Return a charge as `Several`, with the sums of one release."""
    if isinstance(charge, Several):
        return charge
    cost = cost_of(charge)
    return added_up(charge, cost, {} if charge.at is None else {charge.at: cost})


@lru_cache(maxsize=65536)
def cost_of(charge: Charge) -> Cost:
    """Return the sums of one release."""
    rates = Total.of(entry_of(charge) / charge.scale) if charge.scale else None
    return Cost(1, rates, Total.of(charge.epsilon))


def added_up(first: Charge, cost: Cost, windows: Mapping[int, Cost]) -> Several:
    """Return a charge of releases like `first` from their sums, and from those at each place."""
    sums = object.__new__(Several)  # of what was checked
    vars(sums).update(
        values_of(first, _SHARED), at=min(windows, default=None), epsilon=cost.promised.value, cost=cost,
        windows=tuple(sorted(windows.items())),
    )  # fmt: skip
    if cost.rates is not None:
        vars(sums)["scale"] = entry_of(first) / cost.rates.value
    return sums


def entry_of(charge: Charge) -> Fraction:
    """Return the largest change by one entry, the unit of rates: in it 2^-60 is little for any grid."""
    return charge.entry_change or Fraction(1)


def alike(charge: Charge) -> Charge:
    """Return an equal key for charges with the same query and reading."""
    values: dict[str, object] = {"epsilon": Fraction(0), "at": None if charge.at is None else 0}
    if charge.scale is not None:
        values |= {"scale": Fraction(charge.scale != 0), "randomiser": {}}
    return changed(charge, **values)


def adds_up(charge: Charge) -> bool:
    """Return whether a charge's noise adds up with others in any order."""
    return charge.definition in _OF_NOISE and charge.delta == 0 and charge.covers is not Covers.OUTPUT


def placed(charge: Charge, at: int | None, entries: str) -> Charge:
    """Return a charge as one about entries of a name: at a step of their calendar, or (None) about all of them."""
    return changed(charge, at=at, reading=entries)


def merged(charges: Iterable[Charge]) -> list[Several]:
    """Return charges, those that add up as one (`summed`); what was added up before stays as it is."""
    return summed((charge, charge.at, charge.reading) for charge in charges)


def summed(lines: Iterable[tuple[Charge, int | None, str]]) -> list[Several]:
    """Return charges with their steps and entries (`placed`), those that add up as one."""
    terms, steps_of = list[Several](), dict[tuple[Charge, str], list[int | None]]()
    for charge, at, entries in lines:
        if adds_up(charge) and not isinstance(charge, Several):
            steps_of.setdefault((charge, entries), []).append(at)
            continue
        # none is added up across one with a delta, or about one output's distribution, where the order counts
        terms += _sums(steps_of)
        terms.append(several(charge if isinstance(charge, Several) else placed(charge, at, entries)))
        steps_of = {}
    return [*terms, *_sums(steps_of)]


def _sums(steps_of: Mapping[tuple[Charge, str], Sequence[int | None]]) -> Iterator[Several]:
    """Yield one charge for all of one kind about entries of a name, or at steps of a calendar, from all their steps."""
    kinds = dict[Hashable, list[tuple[Charge, str]]]()
    for (charge, entries), steps in steps_of.items():
        kinds.setdefault((kind_of(charge), entries, steps[0] is None), []).append((charge, entries))
    for lines in kinds.values():
        costs, windows = list[Cost](), dict[int, Cost]()
        for line in lines:
            one, steps = cost_of(line[0]), steps_of[line]
            costs.append(one.repeated(len(steps)))
            for at, count in Counter(at for at in steps if at is not None).items():
                here = one.repeated(count)
                windows[at] = Cost.of_all([windows[at], here]) if at in windows else here
        yield added_up(placed(lines[0][0], None, lines[0][1]), Cost.of_all(costs), windows)


@lru_cache(maxsize=65536)
def kind_of(charge: Charge) -> Hashable:
    """Return an equal key for charges with a common sum."""
    ratio = None
    if charge.scale is not None and charge.covers in STEADY:
        # what covers every change costs the larger of epsilon and D/b: of a sum always the same of the two
        ratio = charge.epsilon * charge.scale
    return _same_kind((alike(charge), ratio))


@lru_cache(maxsize=1024)
def _same_kind(kind: Hashable) -> Hashable:
    """Return the first of equal kinds: what is the same is equal without looking at it."""
    return kind

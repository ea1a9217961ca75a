"""Windows of one recording at known places that cost the same, as one charge: a year of weekly tables is one series.

A series is the windows that start at first, first + step, ...
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain

import numpy as np

from takifugu.accounting.composition.several import Several, added_up, costliest, kind_of, several, together
from takifugu.accounting.composition.windows import FEW, Part, Row, Windows, are_few, in_rows, row_of, with_rows
from takifugu.analysis.guarantee import Charge
from takifugu.model.queries import IntArray


@dataclass(eq=False)
class Groups:
    """Windows of one kind that cost the same, by what they cost, and the cost at each place that has one."""

    by_cost: dict[Hashable, Charge] = field(default_factory=dict)
    cost_at: dict[int, Hashable] = field(default_factory=dict)

    def add(self, new: Charge) -> None:
        """Add windows to those that are known: where both have one, it costs both from then on."""
        places, after = places_of(new), list[Charge]()
        for cost in list(dict.fromkeys(self.cost_at[place] for place in places.tolist() if place in self.cost_at)):
            known = self.by_cost.pop(cost)
            mine = places_of(known)
            both = np.intersect1d(mine, places)
            rest = np.setdiff1d(mine, both)
            after += [at_places(known, rest)] if len(rest) else []
            after.append(_at_same_places(known, new, both))
            places = np.setdiff1d(places, both)
        if len(places):
            after.append(at_places(new, places))
        for charge in after:
            cost, where = _cost(charge), places_of(charge)
            self.cost_at.update(dict.fromkeys(where.tolist(), cost))
            if cost in self.by_cost:
                known = self.by_cost[cost]
                charge = at_places(known, np.union1d(places_of(known), where))
            self.by_cost[cost] = charge



def places_of(charge: Charge) -> IntArray:
    """Return where the windows of a charge start, in order; of a charge without declared places none."""
    if isinstance(charge, Windows):
        return charge.places
    if isinstance(charge, Several) and charge.series:
        return places_in(charge.series)
    return np.array([] if charge.at is None else [charge.at], dtype=np.int64)


def places_in(series: Iterable[tuple[int, int, int]]) -> IntArray:
    """Return the places of series in order.

    >>> places_in(((3, 7, 3), (5, 1, 1))).tolist()
    [3, 5, 10, 17]
    """
    return np.sort(np.concatenate([first + step * np.arange(times, dtype=np.int64) for first, step, times in series]))


def series_of(places: IntArray) -> tuple[tuple[int, int, int], ...]:
    """Return places in order as series: first, step, and how many.

    >>> series_of(np.array([0, 7, 14, 30]))
    ((0, 7, 3), (30, 1, 1))
    """
    series: list[tuple[int, int, int]] = []
    steps = np.diff(places)
    ends = np.flatnonzero(np.append(steps[1:] != steps[:-1], True)) + 1  # the last places of runs of equal steps
    at = 0
    while at < len(places) - 1:
        last = int(ends[np.searchsorted(ends, at, side="right")])
        series.append((int(places[at]), int(steps[at]), last - at + 1))
        at = last + 1
    return (*series, (int(places[at]), 1, 1)) if at < len(places) else tuple(series)


def at_places(charge: Charge, places: IntArray) -> Charge:
    """Return what windows like those of a charge cost at some places."""
    one, before, times = several(charge), len(places_of(charge)), len(places)
    first = replace(one, at=int(places[0]))
    number = one.times // before * times
    if number == 1:
        return costliest(first)
    rates = None if one.rates is None else one.rates.share(before).often(times)
    promised = one.promised.share(before).often(times)
    summed = added_up(first, number, 1, rates, promised, one.largest, one.least)
    return replace(summed, series=series_of(places)) if times > 1 else summed


def each_window(charge: Charge) -> list[Charge]:
    """Return a charge window by window."""
    if isinstance(charge, Windows):
        return list(charge.each())
    places = places_of(charge)
    return [charge] if len(places) < 2 else [at_places(charge, places[n : n + 1]) for n in range(len(places))]


def in_series(charges: Sequence[Charge]) -> list[Charge]:
    """Return charges at declared places, added up: windows at one place, and then those that cost the same.

    Those of one kind that have more than a few different costs are one charge with a row for each place.
    """
    kinds: dict[Hashable, list[Charge]] = {}
    for charge in charges:
        kinds.setdefault(_read(charge), []).append(charge)
    return [charge for mine in kinds.values() for charge in _of_one_kind(mine)]


def _of_one_kind(charges: Sequence[Charge]) -> Iterable[Charge]:
    are_rows = any(isinstance(charge, Windows) for charge in charges)
    if (are_rows and len(charges) == 1) or several(charges[0]).rates is None:
        return charges if are_rows else _by_cost(charges)
    if are_rows or len(charges) >= FEW.bit_length():  # m charges have less than 2^m different sums
        parts = _parts(charges)
        if not are_few(chain.from_iterable(part.rows for part in parts)):
            return [in_rows(charges[0], parts, [several(charge) for charge in charges])]
    return _by_cost([one for charge in charges for one in _in_parts(charge)])


def _in_parts(charge: Charge) -> Iterable[Charge]:
    return charge.each() if isinstance(charge, Windows) else [charge]


def _parts(charges: Sequence[Charge]) -> list[Part]:
    """Return what windows of one kind add up to at each place."""
    longest = max(charges, key=lambda charge: len(charge.parts) if isinstance(charge, Windows) else 0)
    known = longest.parts if isinstance(longest, Windows) else ()
    others = (charge for charge in charges if charge is not longest or not known)
    return with_rows(known, chain.from_iterable(map(_rows, others)))


def _rows(charge: Charge) -> Iterable[Row]:
    """Return what the windows of a charge add up to, each by itself."""
    if isinstance(charge, Windows):
        return charge.rows
    one, places = several(charge), places_of(charge).tolist()
    return (row_of(place, one, len(places)) for place in places)


def _read(charge: Charge) -> Hashable:
    """Return what windows have in common that can be in one series: all but where they are and what they cost."""
    return kind_of(replace(charge, at=0))


def _cost(charge: Charge) -> Hashable:
    """Return what one window costs, and how."""
    one, windows = several(charge), len(places_of(charge))
    rates = None if one.rates is None else one.rates.share(windows)
    return Fraction(one.times, windows), rates, one.promised.share(windows), one.largest, one.least


def _by_cost(charges: Sequence[Charge]) -> Iterable[Charge]:
    """Return windows of one kind as a charge for each cost, with those of one place added up."""
    groups, placed = Groups(), dict[int | None, Charge]()
    for charge in charges:
        if len(places_of(charge)) > 1:
            groups.add(charge)
        else:
            placed[charge.at] = together(placed[charge.at], charge) if charge.at in placed else charge
    equal: dict[Hashable, list[Charge]] = {}
    for charge in placed.values():
        equal.setdefault(_cost(charge), []).append(charge)
    for same in equal.values():
        places = np.unique(np.concatenate([places_of(charge) for charge in same]))
        groups.add(at_places(same[0], places) if len(same) > 1 else same[0])
    return groups.by_cost.values()


def _at_same_places(one: Charge, other: Charge, places: IntArray) -> Charge:
    """Return what two charges cost together at some places that both have."""
    window = together(at_places(one, places[:1]), at_places(other, places[:1]))
    return at_places(window, places)

"""A long list of charges of different queries as a short one: what they cost, entry by entry (`by_entry`).

Added up are Laplace releases that every framework in question reads value by value: those at one declared place, those
of one reading, and those that may have read any steps, of which the most that n steps in a row cost adds up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TypeVar

import numpy as np

from takifugu.accounting.composition.alignment import Item, laid_out
from takifugu.accounting.composition.by_entry import ByEntry, Costs, Rates, in_one, in_stretches, rates_of_answer
from takifugu.accounting.composition.losses import any_change, by_component, steady_cost, whole_cost
from takifugu.accounting.composition.several import STEADY, in_turns, several, whole_readings
from takifugu.accounting.composition.totals import Total
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.model.beliefs import separate
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.frameworks import Framework

#: So many charges of one kind are kept one by one, exactly.
FEW = 8
#: Runs of more steps in a row are not searched for the most that they cost, unless one stretch of them costs anything.
LONG = 2_000
#: More rates than this are not added up: stretches times cuts times values.
MOST = 10**6

#: Charges of equal standing: those of one place, or one reading, or of unknown places.
Group = list[Charge]
One = TypeVar("One", bound=Charge)


def folded(frameworks: Mapping[str, Framework], charges: Sequence[Charge]) -> list[Charge]:
    """Return charges in which long lists of different queries are one charge, as some frameworks read them.

    They cost under each framework what they cost one by one, up to the rounding, which is upwards.
    """
    listed = list(charges)
    is_read = all(f.definition == "pufferfish" and not f.is_pair for f in frameworks.values())
    if not frameworks or not _is_long(listed) or not is_read:
        return listed
    views = [View(framework, fingerprint) for fingerprint, framework in frameworks.items()]
    stretches = in_turns(listed)
    whole = whole_readings(stretches)
    return [term for stretch in stretches for term in _folded(views, stretch, whole)]


def _folded(views: Sequence[View], charges: Sequence[Charge], whole: set[str]) -> Iterator[Charge]:
    """Yield the charges of a stretch in which the order does not count."""
    groups: dict[Hashable, Group] = {}
    for charge in charges:
        groups.setdefault(_standing(charge, whole), []).append(charge)
    for key, mine in groups.items():
        if key is None:
            yield from mine
            continue
        readings = [mine] if mine[0].at is not None else _by_reading(mine)
        if len(readings) > FEW or any(isinstance(charge, ByEntry) and charge.is_apart for charge in mine):
            yield from _apart(views, readings)
            continue
        for reading in readings:
            for group in _by_promise(reading):
                yield from _added(views, group) if _is_long(group) else group


def _by_reading(charges: Sequence[Charge]) -> list[Group]:
    readings: dict[Hashable, Group] = {}
    for number, charge in enumerate(charges):
        readings.setdefault(charge.reading or number, []).append(charge)
    return list(readings.values())


def _by_promise(charges: Iterable[One]) -> list[list[One]]:
    """Return charges of each kind of promise: what these add up to is of one kind."""
    groups: dict[Covers, list[One]] = {}
    for charge in charges:
        groups.setdefault(charge.covers, []).append(charge)
    return list(groups.values())


def _is_long(charges: Sequence[Charge]) -> bool:
    return len(charges) > FEW or any(isinstance(charge, ByEntry) for charge in charges)


def _standing(charge: Charge, whole: set[str]) -> Hashable:
    """Return what charges have in common that are folded together; None for one that stays as it is."""
    if not charge.scale or charge.definition != "pufferfish" or charge.fixed_in_advance or not charge.entries:
        return None
    if charge.at is None and charge.reading and charge.reading not in whole:
        return None
    if len(several(charge).places) > 1:
        return None
    return (
        charge.framework, charge.scope, charge.names, charge.lengths, charge.entries, charge.layout, charge.calendar,
        charge.phases, charge.at,
    )  # fmt: skip


def _added(views: Sequence[View], charges: Iterable[Charge]) -> Iterator[Charge]:
    """Yield releases about the same entries as one charge, and those that some view does not read by value."""
    added: list[ByEntry] = []
    for charge in charges:
        one = _of_release(views, charge)
        if one is None:
            yield charge
        else:
            added.append(one)
    if added:
        yield reduce(_sum, added)


def _apart(views: Sequence[View], readings: Iterable[Group]) -> Iterator[Charge]:
    """Yield readings of any steps as one charge for each promise, and those that some view does not read by value."""
    added: list[ByEntry] = []
    for reading in readings:
        made = _of_reading(views, reading)
        yield from reading if made is None else ()
        added += made or ()
    yield from (reduce(_sum, group) for group in _by_promise(added))


def _of_reading(views: Sequence[View], reading: Group) -> list[ByEntry] | None:
    """Return a reading as one charge for each promise; None where some framework does not read it value by value.

    What its steps cost they cost together, so that counts as the first one's, and the others' promises beside it.
    """
    made = [one for charge in reading if (one := _of_release(views, charge)) is not None]
    if len(made) < len(reading):
        return None
    if any(one.is_apart for one in made):
        return made
    first, *others = [replace(reduce(_sum, group), is_apart=True, reading="") for group in _by_promise(made)]
    under = {}
    for view in views:
        rates = [_anywhere(view, number, reading, made) for number in range(len(view.framework.beliefs))]
        known = tuple(one for one in rates if one is not None)
        if len(known) < len(rates):
            return None
        under[view.fingerprint] = known
    of_all = {name: replace(costs, rates=under[name]) for name, costs in first.under.items()}
    return [replace(first, under=of_all), *map(_without_rates, others)]


def _without_rates(one: ByEntry) -> ByEntry:
    nothing = {
        name: replace(costs, rates=tuple(Rates((rates.size,), (0,), None if rates.cuts is None else {})
                                         for rates in costs.rates))
        for name, costs in one.under.items()
    }  # fmt: skip
    return replace(one, under=nothing)


def _of_release(views: Sequence[View], charge: Charge) -> ByEntry | None:
    """Return a charge of one query by entry; None where a belief does not read it value by value."""
    if isinstance(charge, ByEntry):
        return charge
    any_layout, under = any_change(charge), {view.fingerprint: _costs(view, charge) for view in views}
    known = {fingerprint: costs for fingerprint, costs in under.items() if costs is not None}
    if any_layout is None or not known or len(known) < len(under):
        return None
    assert charge.scale, "what has no such noise is of no standing"
    one, change = several(charge), (charge.change or Fraction(0)) / charge.scale
    return in_one(
        charge, one.cost, one.readings, one.saved, change, under=known, is_apart=False,
        any_layout=Total.of(max(any_layout, charge.epsilon)),
    )  # fmt: skip


def _costs(view: View, charge: Charge) -> Costs | None:
    """Return what a release costs as one framework reads it; None where a belief does not, value by value."""
    assert charge.scale, "what has no such noise is of no standing"
    rates = []
    for belief in view.framework.beliefs:
        read = view.read(belief, charge)
        if read is None or read.answer is None or read.is_blind or read.together is not None:
            return None
        if read.total != int(read.changes.sum()) * read.grid:
            return None
        by_value = None if separate(belief) else read.answer
        rates.append(rates_of_answer(read.changes, by_value, read.grid, charge.scale))
        states = len(belief.alphabet(0)) if belief.size else 0
        if len(rates[-1].ends) * len(rates[-1].cuts or ()) * states > MOST:
            return None
    places = (True, False) if charge.covers in STEADY else ()
    try:
        here, elsewhere = [steady_cost(view, charge, is_placed) for is_placed in places] or [Fraction(0), Fraction(0)]
        return Costs(tuple(rates), Total.of(here), Total.of(elsewhere), Total.of(whole_cost(view, charge)))
    except CompositionRefused:
        return None


def _sum(one: ByEntry, two: ByEntry) -> ByEntry:
    """Return charges of equal standing as one."""
    cost = one.cost.plus(two.cost)
    change = (one.change or Fraction(0)) + (two.change or Fraction(0))
    saved = max((each.saved for each in (one, two) if each.saved is not None), default=None)
    return replace(
        one, epsilon=cost.promised.value, cost=cost, change=change, entry_change=change,
        readings=one.readings + two.readings if one.is_apart else max(one.readings, two.readings), saved=saved,
        under={name: costs + two.under[name] for name, costs in one.under.items() if name in two.under},
        any_layout=one.any_layout + two.any_layout,
    )  # fmt: skip


def _anywhere(view: View, number: int, charges: Sequence[Charge], made: Sequence[ByEntry]) -> Rates | None:
    """Return rates of which the first n add up to the most that n steps in a row of one reading cost.

    The rates of entries with names are those of the entries, and without names one component may be any other. None
    where the steps in a row are too many to be looked at.
    """
    belief, each = view.framework.beliefs[number], [one.under[view.fingerprint].rates[number] for one in made]
    together = reduce(Rates.__add__, each)
    if not is_recording(belief):
        if belief.names is not None:
            return together
        changes = np.array(together.each(), dtype=object)
        most = int(by_component(belief, changes).max())
        return Rates((1, belief.size), (most, 0)) if belief.size > 1 else Rates((1,), (most,))
    items = []
    for charge in charges:
        read = view.read(belief, charge)
        assert read is not None
        items.append(Item(charge, read))
    is_joint = len(items) == 1 or laid_out(view, belief, items) is not None
    parts = [together] if is_joint else each
    runs = view.runs(belief, charges[0])
    rates_of_parts = [in_a_row(part, runs) for part in parts]
    known = [rates for rates in rates_of_parts if rates is not None]
    return reduce(Rates.__add__, known) if len(known) == len(rates_of_parts) else None


def in_a_row(rates: Rates, runs: Sequence[range] | None) -> Rates | None:
    """Return rates of which the first n add up to the most that n steps in a row of any of some runs cost.

    Without runs the steps may stand in any order. None where too many would have to be looked at. No n steps in a row
    of what is returned cost less than the first n, so that the most of them is never too little.

    >>> in_a_row(Rates((1, 3, 5), (0, 2, 1)), [range(5)])
    Rates(ends=(2, 4, 5), largest=(2, 1, 0), cuts=None)
    """
    moving = [n for n, rate in enumerate(rates.largest) if rate]
    if not moving:
        return Rates((rates.size,), (0,))
    if runs is None:
        lengths = np.diff(rates.ends, prepend=0).tolist()
        order = sorted(range(len(lengths)), key=lambda n: -rates.largest[n])
        return in_stretches(np.cumsum([lengths[n] for n in order]).tolist(), [rates.largest[n] for n in order], None)
    starts = (0, *rates.ends)
    size = max(map(len, runs))
    if len(moving) == 1:
        (only,) = moving
        low, high = starts[only], rates.ends[only]
        steps = max(len(range(max(low, run.start), min(high, run.stop))) for run in runs)
        if 0 < steps < size:
            return Rates((steps, size), (rates.largest[only], 0))
        return Rates((size,), (rates.largest[only] if steps else 0,))
    if size > LONG:
        return None
    each = rates.each()
    dtype = np.int64 if sum(each) < 2**62 else object
    most = np.zeros(size + 1, dtype=dtype)
    for row in {tuple(each[run.start : run.stop]) for run in runs}:
        sums = np.concatenate([np.zeros(1, dtype=dtype), np.cumsum(np.array(row, dtype=dtype))])
        for length in range(1, size + 1):
            reach = min(length, len(row))
            most[length] = max(most[length], (sums[reach:] - sums[: len(sums) - reach]).max())
    steps_up = [int(after - before) for before, after in pairwise(most.tolist())]
    return in_stretches(range(1, size + 1), steps_up, None)

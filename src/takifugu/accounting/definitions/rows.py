"""What releases about rows of one person cost together (docs/theory/distributions.md, Theorems 4 and 7).

Releases that are known to read the same rows of one column are a *reading*. Rows that are independent given the
population multiply, and what several releases send of a row is counted exactly, where its outputs can be together, one
way and then the other between every two populations. Else a row costs at most the least of three: what all of them tell
of its value, what one of them promises and the others tell of the value, and what the value itself tells.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import cast

from takifugu.accounting.composition.losses import raised
from takifugu.accounting.composition.views import View
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.cache import cached
from takifugu.core.names import budget_name
from takifugu.mechanisms.local.measuring import lifted_loss, loss_per_distance
from takifugu.mechanisms.local.over_classes import value_loss
from takifugu.mechanisms.local.populations import populations_of
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending, joint_losses
from takifugu.mechanisms.local.together import RowLosses, row_losses
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.queries import LocalValue

#: A loss that may be infinite.
Loss = Fraction | float

_SENT = "each-value"


@dataclass(frozen=True, eq=False)
class Reading:
    """Releases about the same rows of one column."""

    columns: tuple[str, ...]
    #: Of a batch: rows of two batches with names are known to be distinct.
    has_name: bool
    charges: Sequence[Charge]

    @cached_property
    def noises(self) -> list[Sending]:
        """The noise of each release."""
        return list(map(_noise, self.charges))

    @property
    def senders(self) -> tuple[Sender, ...]:
        """Return the sender of each release's rows."""
        return tuple(noise.sender for noise in self.noises)

    @property
    def values(self) -> set[tuple[Hashable, ...]]:
        """Return the different alphabets of the releases."""
        return {sender.values for sender in self.senders}

    @property
    def rows(self) -> int:
        """Return the largest number of rows of a release."""
        return max(noise.rows for noise in self.noises)


@dataclass(frozen=True)
class _Cost:
    """A reading's cost by λ, capped by row, and by its promises."""

    local: Loss
    capped: Loss
    least: Loss


@dataclass(frozen=True)
class _Between:
    """A belief's loss from one population to another."""

    view: View
    belief: FromPopulations
    pair: tuple[str, str]
    #: Of the two: a native promise is per unit of it.
    distance: Fraction
    #: Ids of the charges whose promise counts for nothing.
    late: Set[int]

    def promised(self, charge: Charge) -> Fraction:
        return charge.epsilon * self.distance


def is_sent(charge: Charge) -> bool:
    """Return whether a charge is of sent rows."""
    return charge.query.get("kind") == _SENT


def readings_of(charges: Iterable[Charge]) -> list[Reading]:
    """Return releases of rows by known common rows."""
    groups: dict[tuple[tuple[str, ...], bool, Hashable], list[Charge]] = {}
    for number, charge in enumerate(charges):
        query = LocalValue.from_dict(charge.query)
        batch = budget_name(query.batch)  # another spelling is no other batch
        rows = batch or charge.reading or number
        groups.setdefault((query.columns, bool(batch), rows), []).append(charge)
    return [Reading(columns, has_name, group) for (columns, has_name, _), group in groups.items()]


def loss_of_pair(
    view: View, belief: FromPopulations, pair: tuple[str, str], charges: Sequence[Charge], distance: Fraction
) -> Loss:
    """Return the least proven loss of sent rows between two populations, epsilon per unit of `distance`."""
    sent = list(filter(is_sent, charges))
    late = set[int]()
    for number, charge in enumerate(charges):
        has_delta = any(earlier.delta for earlier in _before(charges, number))
        if has_delta and charge.covers is not Covers.EVERYTHING:  # what has a delta may have betrayed the rows
            late.add(id(charge))
    losses = list[Loss]()
    for left, right in permutations(pair):
        between = _Between(view, belief.only(pair), (left, right), distance, late)
        # all releases lose at least what one of them is charged
        losses += [_loss_of_readings(between, readings_of([charge])) for charge in sent]
        losses.append(_loss_of_readings(between, readings_of(sent), len(sent) > 1))
    return max(losses)


def loss_of_values(view: View, belief: FromPopulations, reading: Reading) -> Loss:
    """Return the loss of a reading's rows per unit of distance of values; infinite for others than the belief's."""
    if not any(map(view.is_native, reading.charges)) or reading.values != {belief.values}:
        return math.inf
    per_unit = loss_per_distance(joint_losses(reading.noises), populations_of(belief).distances)
    return max(belief.rows, reading.rows) * _exact(per_unit)


def delta_of_rows(charges: Sequence[Charge]) -> Fraction:
    """Return the sum of all deltas, raised after releases of other definitions."""
    total = Fraction(0)
    for number, charge in enumerate(charges):
        delta = charge.delta
        if is_sent(charge) and charge.covers is not Covers.EVERYTHING:
            # a promise about the population may have been chosen after their outputs
            earlier_loss = sum((earlier.epsilon for earlier in _before(charges, number)), Fraction(0))
            delta = raised(delta, earlier_loss)
        total += delta
    return total


def _before(charges: Sequence[Charge], number: int) -> list[Charge]:
    """Return the earlier releases of other definitions."""
    return [charge for charge in charges[:number] if not is_sent(charge)]


def _loss_of_readings(between: _Between, readings: Sequence[Reading], is_counted: bool = False) -> Loss:
    """Return the loss of readings, by the exact one of each if it is counted."""
    belief = between.belief
    columns = dict.fromkeys(reading.columns for reading in readings)
    is_apart = belief.independent and len(columns) == 1 and all(reading.has_name for reading in readings)
    native = set[tuple[str, ...]]()
    for reading in readings:
        if any(map(between.view.is_native, reading.charges)):
            native.add(reading.columns)
    if not native and len(columns) == 1:
        native = set(columns)
    costs, all_local, all_least = [], list[Loss](), list[Loss]()
    for reading in readings:
        if reading.columns in native:
            cost = _cost(between, reading, is_apart or len(readings) == 1, is_counted)
        else:  # of another column the belief says nothing
            local = _local(reading)
            cost = _Cost(local, local, local)
        costs.append(cost)
        all_local.append(cost.local)
        all_least.append(cost.least)
    dependent = _all_but_one(all_local, all_least)
    if not belief.independent:
        return dependent
    losses = [dependent]
    for column in columns:
        outside, capped, least, distinct = list[Loss](), list[Loss](), list[Loss](), list[Loss]()
        for reading, cost in zip(readings, costs, strict=True):
            if reading.columns != column:
                outside.append(cost.local)
                continue
            capped.append(cost.capped)
            least.append(cost.least)
            distinct.append(cost.least if reading.has_name else cost.capped)
        losses += [_sum([*outside, *distinct]), _sum(outside) + _all_but_one(capped, least)]
    return min(losses)


def _all_but_one(costs: Sequence[Loss], least: Sequence[Loss]) -> Loss:
    """Return the least sum with at most one cost at its least."""
    saved: Loss = Fraction(0)
    for number, (cost, low) in enumerate(zip(costs, least, strict=True)):
        if math.isinf(cost):
            return _sum([*costs[:number], low, *costs[number + 1 :]])
        saved = max(saved, cost - low)
    return _sum(costs) - saved


def _sum(losses: Iterable[Loss]) -> Loss:
    return sum(losses, Fraction(0))


def _cost(between: _Between, reading: Reading, is_apart: bool, is_counted: bool) -> _Cost:
    """Return the costs of a reading of the belief's column."""
    view, belief, local = between.view, between.belief, _local(reading)
    rows = max(belief.rows, reading.rows)
    reads_alike = belief.adds_up and reading.values == {belief.values}
    losses, least = list[Loss](), list[Loss]()
    for charge, noise in zip(reading.charges, reading.noises, strict=True):
        loss: Loss = noise.rows * _exact(noise.local_loss())
        losses.append(loss)
        if id(charge) not in between.late:
            loss = min(loss, _promise(between, charge, rows))
        least.append(loss)
    capped = local
    if reads_alike:
        capped = min(local, cap(belief, rows))
    bounds = [capped, _all_but_one(losses, least)]
    if is_counted and reads_alike:
        bounds.append(rows * _together(between, reading))
    first = reading.charges[0]
    if len(reading.charges) == 1 and is_apart and id(first) not in between.late and view.is_native(first):
        bounds.append(between.promised(first))  # with its delta
    return _Cost(local, capped, min(bounds))


def _local(reading: Reading) -> Loss:
    """Return what a reading tells of its rows, whatever their values."""
    noises = reading.noises
    total = _sum(noise.rows * _exact(noise.local_loss()) for noise in noises)
    if len(noises) == 1 or len(reading.values) > 1:
        return total
    return min(total, reading.rows * _exact(float(joint_losses(noises).max())))


def _together(between: _Between, reading: Reading) -> Loss:
    """Return what a reading tells of one row's population: exactly, or by the least bound."""
    belief, senders = between.belief, reading.senders
    # not exact where outputs are too many, or a promise would count for nothing
    together = RowLosses({}, is_exact=False)
    if between.late.isdisjoint(map(id, reading.charges)):
        together = cached(belief, (row_losses, senders), lambda: row_losses(senders, populations_of(belief)))
    loss = _exact(together.losses.get(between.pair, math.inf))
    if together.is_exact or belief.regions is not None:  # how the populations of a class couple is unknown
        return loss
    coupled = cached(belief, (lifted_loss, senders), lambda: lifted_loss(belief.laws, joint_losses(reading.noises)))
    return min(loss, _exact(coupled))


def _promise(between: _Between, charge: Charge, rows: int) -> Loss:
    """Return a release's promised or measured loss about the population."""
    if between.view.is_native(charge) and not charge.delta:
        return between.promised(charge)
    sender, belief = _noise(charge).sender, between.belief
    if not belief.adds_up or sender.values != belief.values:
        return math.inf
    return rows * _exact(sender.epsilon(populations_of(belief)))


def cap(belief: FromPopulations, rows: int) -> Loss:
    """Return the largest loss about the population of so many rows, however often sent; infinite for dependent ones."""
    if not belief.adds_up:
        return math.inf
    return rows * _exact(cached(belief, cap, lambda: value_loss(populations_of(belief))))


def _exact(loss: Loss) -> Loss:
    return loss if math.isinf(loss) else Fraction(loss)


def _noise(charge: Charge) -> Sending:
    return cached(charge, _noise, lambda: cast(Sending, randomisers.from_dict(charge.randomiser)))

"""What releases about rows of one person cost together (docs/theory/distributions.md, Theorem 4).

Releases that are known to read the same rows of one column are a *reading*. Rows that are independent given the
population multiply, and a row that several releases read costs at most the least of three: what all of them tell of its
value, what one of them promises and the others tell of the value, and what the value itself tells of the population.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
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
from takifugu.mechanisms.local.sent import Sending, joint_losses
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.model.queries import EachValue

#: A loss that may be infinite.
Loss = Fraction | float

_SENT = "each-value"


@dataclass(frozen=True, eq=False)
class Reading:
    """Releases about the same rows of one column.

    Rows of two batches with names are known to be distinct.
    """

    columns: tuple[str, ...]
    has_name: bool
    charges: Sequence[Charge]


@dataclass(frozen=True)
class _Cost:
    """A reading's cost by λ, capped by row, and by its promises."""

    local: Loss
    capped: Loss
    least: Loss


@dataclass(frozen=True)
class _Priced:
    """A view in which a native promise is per unit of a distance."""

    view: View
    distance: Fraction

    def is_native(self, charge: Charge) -> bool:
        return self.view.is_native(charge)

    def promised(self, charge: Charge) -> Fraction:
        return charge.epsilon * self.distance


def is_sent(charge: Charge) -> bool:
    """Return whether a charge is of sent rows."""
    return charge.query.get("kind") == _SENT


def readings_of(charges: Iterable[Charge]) -> list[Reading]:
    """Return releases of rows by known common rows."""
    groups: dict[tuple[tuple[str, ...], bool, Hashable], list[Charge]] = {}
    for number, charge in enumerate(charges):
        query = EachValue.from_dict(charge.query)
        batch = budget_name(query.batch)  # another spelling is no other batch
        rows = batch or charge.reading or number
        groups.setdefault((query.columns, bool(batch), rows), []).append(charge)
    return [Reading(columns, has_name, group) for (columns, has_name, _), group in groups.items()]


def loss_of_rows(view: View, charges: Sequence[Charge]) -> Loss:
    """Return the least proven loss, maybe infinite, of a person's sent rows."""
    beliefs = cast(Sequence[FromPopulations], view.framework.beliefs)
    return max(loss_of_pair(view, belief, charges) for belief in beliefs)


def loss_of_pair(
    view: View, belief: FromPopulations, charges: Sequence[Charge], distance: Fraction = Fraction(1)
) -> Loss:
    """Return the least proven loss of sent rows under one belief.

    `distance` is that of its two populations, where epsilon is per unit of it.
    """
    readings = readings_of(filter(is_sent, charges))
    late = {id(charge) for number, charge in enumerate(charges) if _is_late(charges, number)}
    return _loss_under(_Priced(view, distance), belief, readings, late)


def loss_of_values(view: View, belief: FromPopulations, reading: Reading) -> Loss:
    """Return the loss of a reading's rows per unit of distance of values.

    Infinite where it is of other values than the belief's.
    """
    noises = list(map(_noise, reading.charges))
    is_about = any(map(view.is_native, reading.charges))
    if not is_about or any(noise.sender.values != belief.values for noise in noises):
        return math.inf
    per_unit = loss_per_distance(joint_losses(noises), populations_of(belief).distances)
    return max([belief.rows, *(noise.rows for noise in noises)]) * _exact(per_unit)


def most_of_rows(beliefs: Iterable[FromPopulations]) -> Loss:
    """Return the loss of all a person's rows, however often sent.

    The loss is about the population, and may be infinite.
    """
    return max((_cap(belief, belief.rows) for belief in beliefs), default=math.inf)


def delta_of_rows(charges: Sequence[Charge]) -> Fraction:
    """Return the sum of all deltas, raised after releases of other definitions.

    A promise about the population may have been chosen after their outputs.
    """
    return sum((_delta(charges, number) for number in range(len(charges))), Fraction(0))


def _delta(charges: Sequence[Charge], number: int) -> Fraction:
    charge = charges[number]
    if not charge.delta or not is_sent(charge) or charge.covers is Covers.EVERYTHING:
        return charge.delta
    return raised(charge.delta, sum((earlier.epsilon for earlier in _before(charges, number)), Fraction(0)))


def _before(charges: Sequence[Charge], number: int) -> list[Charge]:
    """Return the earlier releases of other definitions, unless fixed in advance.

    A release may have been chosen after their outputs.
    """
    earlier = () if charges[number].fixed_in_advance else charges[:number]
    return [charge for charge in earlier if not is_sent(charge)]


def _is_late(charges: Sequence[Charge], number: int) -> bool:
    """Return whether a promise may follow a release with a delta.

    The promise about the population may then be about what that release betrayed of the rows.
    """
    has_delta = any(earlier.delta for earlier in _before(charges, number))
    return has_delta and charges[number].covers is not Covers.EVERYTHING


def _loss_under(view: _Priced, belief: FromPopulations, readings: Sequence[Reading], late: Set[int]) -> Loss:
    columns = dict.fromkeys(reading.columns for reading in readings)
    is_apart = all(reading.has_name for reading in readings) and belief.independent and len(columns) == 1
    native = {reading.columns for reading in readings if any(map(view.is_native, reading.charges))}
    if not native and len(columns) == 1:
        native = set(columns)
    costs = []
    for reading in readings:
        is_about = reading.columns in native  # of another column the belief says nothing
        costs.append(_cost(view, belief if is_about else None, reading, late, is_apart or len(readings) == 1))
    everything = [cost.local for cost in costs]
    losses = [_all_but_one(everything, [cost.least for cost in costs])]
    for column in columns if belief.independent else ():
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
    infinite = [number for number, cost in enumerate(costs) if math.isinf(cost)]
    if infinite:
        first = infinite[0]
        return _sum([*costs[:first], least[first], *costs[first + 1 :]])
    saved = max((cost - low for cost, low in zip(costs, least, strict=True)), default=Fraction(0))
    return _sum(costs) - saved


def _sum(losses: Iterable[Loss]) -> Loss:
    return sum(losses, Fraction(0))


def _cost(view: _Priced, belief: FromPopulations | None, reading: Reading, late: Set[int], is_apart: bool) -> _Cost:
    """Return a reading's costs; by λ alone without its column's belief."""
    noises = list(map(_noise, reading.charges))
    losses = [_exact(noise.loss(Fraction(1))) for noise in noises]
    local = _sum(losses)
    if belief is None:
        return _Cost(local, local, local)
    rows = max([belief.rows, *(noise.rows for noise in noises)])
    reads_alike = belief.adds_up and all(noise.sender.values == belief.values for noise in noises)
    capped = min(local, _cap(belief, rows)) if reads_alike else local
    least = list(losses)
    for number, charge in enumerate(reading.charges):
        if id(charge) not in late:
            least[number] = min(losses[number], _promise(view, belief, charge, rows))
    bounds = [capped, _all_but_one(losses, least)]
    if len(noises) > 1 and reads_alike and belief.regions is None:  # how the populations of a class couple is unknown
        bounds.append(rows * _exact(lifted_loss(belief.laws, joint_losses(noises))))
    first = reading.charges[0]
    if len(noises) == 1 and is_apart and id(first) not in late and view.is_native(first):
        bounds.append(view.promised(first))  # with its delta
    return _Cost(local, capped, min(bounds))


def _promise(view: _Priced, belief: FromPopulations, charge: Charge, rows: int) -> Loss:
    """Return a release's loss about the population without a delta.

    The loss is as promised for this framework, or measured.
    """
    if view.is_native(charge) and not charge.delta:
        return view.promised(charge)
    sender = _noise(charge).sender
    if not belief.adds_up or sender.values != belief.values:
        return math.inf
    return rows * _exact(sender.epsilon(populations_of(belief)))


def _cap(belief: FromPopulations, rows: int) -> Loss:
    """Return the largest loss of so many rows about the population.

    The loss is infinite where their values may depend on each other.
    """
    if not belief.adds_up:
        return math.inf
    return rows * _exact(cached(belief, _cap, lambda: value_loss(populations_of(belief))))


def _exact(loss: Loss) -> Loss:
    return loss if math.isinf(loss) else Fraction(loss)


def _noise(charge: Charge) -> Sending:
    return cached(charge, _noise, lambda: cast(Sending, randomisers.from_dict(charge.randomiser)))

"""What hiding values gives to populations (Kawamoto19 Theorems 1 and 2, Proposition 1), without the factor |Phi|.

If a coupling of p and q has its support in a relation Phi, and a channel A keeps (epsilon, delta) for each pair in it,

    A#(p)[R] = sum gamma(x, x') A(x)[R] <= sum gamma(x, x') (e^epsilon A(x')[R] + delta) = e^epsilon A#(q)[R] + delta:

the weights of a coupling add up to 1, so that delta is not multiplied by |Phi| as printed (errata E9b).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from kawamoto.composing import PairPromise, fresh_input
from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.mechanisms.local.measuring import excess, metric_loss
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.bottleneck import Metric, Population, Related, least_largest, w_infinity

from .liftings import Distances, distances, is_lifted, is_nearest_lifted


def from_local(promise: PairPromise, p: Population, q: Population, related: Related) -> PairPromise:
    """Return what is kept of two populations when `promise` holds for every pair of values in a relation (Theorem 1).

    It is the same. Raises CalibrationRefused where the populations are not in the lifting of the relation.

    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> print(from_local(PairPromise(1, "0.001"), half, {0: 1}, lambda x, y: True))
    epsilon 1, delta 0.001
    """
    if not is_lifted(p, q, related):
        raise CalibrationRefused(
            "the populations are in no lifting of the relation", rule="no coupling moves only between related values"
        ).at("related")
    return promise


def shared_input(
    local: Iterable[PairPromise], pairs: Iterable[tuple[Population, Population]], related: Related
) -> PairPromise:
    """Return what channels keep together on *one* value, for pairs of populations in the lifting of a relation.

    `local` is what each channel keeps for every pair of values in the relation (`measured.relation_loss`, or its local
    privacy). Raises CalibrationRefused where a pair of populations is not in the lifting (errata E9a).

    >>> half = {0: Fraction(1, 2), 1: Fraction(1, 2)}
    >>> print(shared_input([PairPromise(1), PairPromise(1)], [(half, {0: 1})], lambda x, y: True))
    epsilon 2
    """
    if not all(is_lifted(p, q, related) for p, q in pairs):
        raise CalibrationRefused(
            "two populations are in no lifting of the relation, and channels on one value would not add up",
            rule="each of two bits can hide what both tell",
            fix="use a relation that couples them, values of their own, or what is measured of both (on_one_value)",
        ).at("pairs")
    return fresh_input(local)


@dataclass(frozen=True)
class Moved:
    """What is kept of two populations because values close to each other are hidden: by W-infinity, as Theorem 2 says.

    `by_diameter` is what it would be without a plan of moves.
    """

    promise: PairPromise
    by_diameter: PairPromise
    distances: Distances

    def __str__(self) -> str:
        return f"{self.promise} by {self.distances}; by the diameter {self.by_diameter}"


def from_metric(
    per_unit: PairPromise, p: Population, q: Population, metric: Metric, related: Related | None = None
) -> Moved:
    """Return what is kept of two populations when A(x)[R] <= e^(epsilon d(x, x')) A(x')[R] + delta (Theorem 2).

    epsilon W-infinity, and the same delta. With a relation, where the inequality holds for its pairs only, raises
    CalibrationRefused unless some plan with no move above W-infinity stays in it.

    >>> spread = {0: Fraction(1, 2), 10: Fraction(1, 2)}
    >>> print(from_metric(PairPromise(1), spread, {1: Fraction(1, 2), 11: Fraction(1, 2)}, lambda x, y: abs(x - y)))
    epsilon 1 by W-infinity 1 (diameter 11; mean move 1, which bounds nothing); by the diameter epsilon 11
    """
    if related is not None and not is_nearest_lifted(p, q, related, metric):
        raise CalibrationRefused(
            "the populations are in no lifting of the relation for W-infinity",
            rule="no plan with its longest move as short as possible moves only between related values",
        ).at("related")
    apart = distances(p, q, metric)
    reaches = (Fraction(w_infinity(p, q, metric)), Fraction(apart.diameter))
    promise, far = (PairPromise(per_unit.epsilon * reach, per_unit.delta) for reach in reaches)
    return Moved(promise, far, apart)


def bound_by_moves(loss_per_distance: float, p: Population, q: Population, metric: Metric) -> float:
    """Return epsilon W-infinity, rounded up; infinite where the loss is and something moves (Theorem 2)."""
    farthest = float(w_infinity(p, q, metric))
    return 0.0 if not farthest else loss_per_distance * farthest * (1 + 2.0**-50)


def bound_by_coupling(channel: Channel, p: Population, q: Population) -> float:
    """Return the least epsilon that Theorem 1 gives for two populations, both ways, over all relations.

    With c(x, x') the largest log A(x)[y]/A(x')[y], the relation {c <= epsilon} is the largest that a channel keeps
    epsilon for; the least epsilon whose relation has a coupling is W-infinity with c in the place of a metric. Never
    above local privacy, nor above metric privacy times W-infinity.

    >>> flip = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> bound_by_coupling(flip, {0: 1}, {0: 1})
    0.0
    """

    def loss(x: object, z: object) -> float:
        return largest_log_ratio(channel.row(x), channel.row(z))

    return max(least_largest(p, q, loss)[0], least_largest(q, p, loss)[0])


def delta_by_coupling(channel: Channel, p: Population, q: Population, epsilon: Number) -> float:
    """Return a delta at epsilon that couplings give, both ways, rounded up: the mean over a plan of its pairs' deltas.

    At most the largest of them, which is Theorem 1; the plan is one with this largest as small as possible.
    """
    budget = as_fraction(epsilon, "epsilon", "epsilon")

    def lost(x: object, z: object) -> float:
        return excess(channel.row(x), channel.row(z), budget)

    means = []
    for one, two in ((p, q), (q, p)):
        _, plan = least_largest(one, two, lost)
        means.append(math.fsum(float(mass) * lost(x, z) for (x, z), mass in plan.items()) * (1 + 2.0**-50))
    return min(max(means), 1.0)


def close_beliefs(channel: Channel, p: Population, q: Population, closeness: Number, metric: Metric) -> PairPromise:
    """Return what is kept of any two beliefs within W-infinity `closeness` of p and of q (Proposition 1).

    epsilon (W-infinity(p, q) + 2 c), epsilon the channel's privacy per unit of distance between *values*. Privacy of
    these two populations alone would prove nothing about their neighbours (errata E9d): raises CalibrationRefused for a
    channel without metric privacy, and InputError for a negative closeness.

    >>> flip = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> print(close_beliefs(flip, {0: 1}, {0: 1}, "1/2", lambda x, y: abs(x - y)))
    epsilon 1.09862
    """
    within = as_fraction(closeness, "closeness", "closeness")
    if within < 0:
        raise InputError(f"closeness is {closeness!r}", rule="it must not be negative").at("closeness")
    rate = metric_loss(channel, metric)
    if math.isinf(rate):
        raise CalibrationRefused(
            "the channel has no metric privacy, and hides nothing from beliefs that are only close to these",
            rule="what holds for two populations need not hold near them",
            fix="use a channel that hides values, such as the exponential mechanism",
        ).at("channel")
    return PairPromise(Fraction(rate) * (Fraction(w_infinity(p, q, metric)) + 2 * within))

"""Kawamoto19's Table 1 and Theorems 1 to 3 as printed for what is sent of one row, beside what holds of it.

With epsilon and delta those that the sender keeps for the populations, as measured, X their values:

* Theorem 1: its local privacy; Theorem 2: its privacy per unit of distance, times W-infinity;
* Theorem 3: the delta of a tuple, from the largest mass of an output;
* Table 1: twice on one row (2 epsilon, 2 delta |X|^2), on two rows (2 epsilon, 2 delta), whatever is made of it
  (epsilon, delta), and after a 2-stable map of populations (2 epsilon, delta).

What holds is counted: of one row by all outputs together (Theorem 7 of docs/theory/distributions.md), or all pairs of
them where there is a delta. The map may take the populations to any two that are two steps of theirs apart (E9c).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from kawamoto.composing import PairPromise, after_stable, fresh_input, on_one_value
from takifugu.core.escaping import at_most, number
from takifugu.mechanisms.local.choosing import measured_loss, per_distance
from takifugu.mechanisms.local.measuring import excess, loss_per_distance
from takifugu.mechanisms.local.over_classes import largest_mass_over
from takifugu.mechanisms.local.populations import Populations
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.together import row_losses
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.transport.bottleneck import Population, w_infinity

#: Most products of masses that are added up for what two outputs tell together.
MOST_PRODUCTS = 2**17
#: Most values of which W-infinity is looked for: its flows grow with their square.
_MOST_VALUES = 100
#: What holds is rounded up; a printed promise that is less by no more is not called too small.
_CLEARLY = 1 + Fraction(1, 10**9)


@dataclass(frozen=True)
class PrintedSum:
    """A promise as the paper prints it, and one that holds: the least, if `is_exact`, else a bound.

    None for a promise without a bound.
    """

    words: str
    printed: PairPromise | None
    holds: PairPromise | None
    is_exact: bool

    @property
    def is_too_little(self) -> bool:
        """Return whether the printed promise fails, by more than rounding."""
        if self.printed is None or not self.is_exact:
            return False
        if self.holds is None:
            return True
        more_epsilon = self.holds.epsilon > self.printed.epsilon * _CLEARLY
        more_delta = self.holds.delta > self.printed.delta * _CLEARLY
        if more_epsilon:
            return self.holds.delta >= self.printed.delta
        return more_delta and self.holds.epsilon >= self.printed.epsilon

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the row of a table for people."""
        kind = "exact" if self.is_exact else "a bound"
        if self.is_too_little:
            kind = "printed too small"
        return (self.words, _words(self.printed), _words(self.holds), kind)


def printed_sums(
    sender: Sender, populations: Populations, epsilon: Fraction, delta: Fraction, rows_independent: bool = True
) -> Iterator[PrintedSum]:
    """Yield the paper's promises for a sender that keeps (epsilon, delta) for one row.

    Where epsilon is per unit of distance (`apart`), so is every epsilon. Of rows that may depend on each other two tell
    what they tell of their values.
    """
    if not populations.are_known:  # what is kept of values at their distance holds for any two
        one = _promise(loss_per_distance(sender.pointwise(), populations.distances))
    elif delta:
        one = PairPromise(epsilon, Fraction(measured_loss(sender, populations, epsilon, delta)))
    else:
        one = _promise(measured_loss(sender, populations, epsilon, delta))
    is_exact = not delta or populations.regions is None
    yield from _of_values(sender, populations, one, is_exact)
    if sender.dummies:
        words = f"Theorem 3, {number(sender.dummies)} dummies"
        yield PrintedSum(words, _theorem3(sender, populations, epsilon), one, is_exact)
    twice = None if one is None else fresh_input([one, one])
    yield _same_row(sender, populations, twice)
    yield _two_rows(sender, populations, twice, rows_independent)
    yield PrintedSum("Table 1, made of what was sent", one, one, is_exact)
    mapped, holds = None, None
    if one is not None:
        mapped, holds = PairPromise(2 * one.epsilon, one.delta), after_stable(one, 2)
    yield PrintedSum("Table 1, after a 2-stable map", mapped, holds, is_exact=False)


def _of_values(
    sender: Sender, populations: Populations, one: PairPromise | None, is_exact: bool
) -> Iterator[PrintedSum]:
    """Yield Theorems 1 and 2, for privacy of values without a delta."""
    nearest = min(populations.distances_apart.values())
    by_value = _promise(per_distance(sender.local_epsilon(), nearest))
    yield PrintedSum("Theorem 1, by values", by_value, one, is_exact)
    rate, moves, how = loss_per_distance(sender.pointwise(), populations.distances), Fraction(1), "distance"
    if populations.are_known:
        moves, how = _largest_moves(populations)
    by_moves = 0.0 if not rate or not moves else rate * float(moves) * (1 + 2.0**-50)
    yield PrintedSum(f"Theorem 2, by {how}", _promise(by_moves), one, is_exact)


def _largest_moves(populations: Populations) -> tuple[Fraction, str]:
    """Return the largest W-infinity per unit of distance, or of the diameter."""
    if populations.regions is not None or len(populations.values) > _MOST_VALUES:
        diameter = Fraction(float(populations.distances.max()))
        return diameter / min(populations.distances_apart.values()), "the diameter"
    laws, moves = populations.laws, [Fraction(0)]
    for (a, b), distance in populations.distances_apart.items():
        moves.append(Fraction(w_infinity(laws[a], laws[b], populations.distance)) / distance)
    return max(moves), "distance"


def theorem3_delta(dummies: int, outputs: int, beta: Fraction, epsilon: Fraction) -> float:
    """Return delta of Theorem 3, rounded up, for `dummies` uniform ones and eta = 0: see errata X2."""
    most, growth = float(beta), math.expm1(epsilon)
    alpha = (dummies * growth - most * outputs) / (outputs * (2 + growth))
    if alpha <= 0:
        return 1.0
    return min(1.0, 2 * math.exp(-2 * alpha**2 / (dummies * most**2)) * (1 + 2.0**-40))


def _theorem3(sender: Sender, populations: Populations, epsilon: Fraction) -> PairPromise:
    """Return Theorem 3 at epsilon, eta = 0."""
    channel, nearest = sender.channel, min(populations.distances_apart.values())
    if populations.regions is None:
        most = max(max(channel.lift(law).values()) for law in populations.laws.values())
    else:
        most = largest_mass_over(channel, populations.regions)
    beta = min(Fraction(most), Fraction(1))
    return PairPromise(epsilon, theorem3_delta(sender.dummies, len(channel.outputs), beta, epsilon * nearest))


def _same_row(sender: Sender, populations: Populations, twice: PairPromise | None) -> PrintedSum:
    """Return Table 1, ⊙: two outputs of one value, independent given it."""
    words, has_delta = "Table 1, the same row twice", twice is not None and bool(twice.delta)
    printed = None if twice is None else PairPromise(twice.epsilon, twice.delta * len(sender.values) ** 2)
    if not populations.are_known:
        return PrintedSum(words, printed, twice, is_exact=True)
    if twice is not None and has_delta:
        listed = _listed(sender, populations)
        if listed is not None:
            both = on_one_value(listed, listed)
            sent = {name: both.lift(law) for name, law in populations.laws.items()}
            holds = PairPromise(twice.epsilon, _delta(sent, populations, twice.epsilon))
            return PrintedSum(words, printed, holds, is_exact=True)
    together, losses = row_losses([sender, sender], populations), []
    for (a, b), distance in populations.distances_apart.items():
        for pair in ((a, b), (b, a)):
            losses.append(per_distance(together.losses.get(pair, math.inf), distance))
    return PrintedSum(words, printed, _promise(max(losses)), together.is_exact and not has_delta)


def _two_rows(
    sender: Sender, populations: Populations, twice: PairPromise | None, rows_independent: bool
) -> PrintedSum:
    """Return Table 1, •: outputs of two independent rows."""
    words = "Table 1, two rows"
    if not rows_independent:
        nearest = min(populations.distances_apart.values())
        return PrintedSum(words, twice, _promise(2 * per_distance(sender.local_epsilon(), nearest)), False)
    if twice is None or not twice.delta:
        return PrintedSum(words, twice, twice, is_exact=True)
    listed = _listed(sender, populations)
    if listed is None:
        return PrintedSum(words, twice, twice, is_exact=False)
    sent: dict[str, Population] = {}
    for name, law in populations.laws.items():
        one = listed.lift(law)
        sent[name] = {(y, z): one[y] * one[z] for y, z in product(one, repeat=2)}
    return PrintedSum(words, twice, PairPromise(twice.epsilon, _delta(sent, populations, twice.epsilon)), is_exact=True)


def _listed(sender: Sender, populations: Populations) -> Channel | None:
    """Return a sender with all its outputs, None for too many pairs or a class."""
    if populations.regions is not None:
        return None
    count = len(sender.channel.outputs) ** (sender.dummies + 1)
    if count**2 * len(sender.values) > MOST_PRODUCTS:
        return None
    rows = [[sender.mass(place, y) for y in sender.outputs] for place in range(len(sender.values))]
    return Channel.of(sender.values, list(sender.outputs), rows)


def _delta(sent: Mapping[str, Population], populations: Populations, epsilon: Fraction) -> Fraction:
    """Return the largest delta at epsilon between laws of outputs."""
    deltas = []
    for (a, b), distance in populations.distances_apart.items():
        deltas += [excess(sent[a], sent[b], epsilon * distance), excess(sent[b], sent[a], epsilon * distance)]
    return Fraction(max(deltas))


def _promise(epsilon: float) -> PairPromise | None:
    return None if math.isinf(epsilon) else PairPromise(Fraction(epsilon))


def _words(promise: PairPromise | None) -> str:
    if promise is None:
        return "no bound"
    share = f", delta {at_most(promise.delta, digits=4)}" if promise.delta else ""
    return f"epsilon {at_most(promise.epsilon, digits=4)}{share}"

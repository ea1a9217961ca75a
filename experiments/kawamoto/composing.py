"""What several channels keep together, and one channel before or after others (Kawamoto19 Table 1, corrected).

* shared input: promises about named pairs of *populations* do not add up (errata E9a): each bit of two hides parity,
  both tell it. What both really tell is that of one channel, `on_one_value`.
* fresh input: promises about populations add up where every channel has a value of its own, drawn independently.
* post-processing costs nothing; pre-processing by a c-stable map costs c epsilon and delta (1 + e^epsilon + ... +
  e^((c - 1) epsilon)), as for groups of c people (errata E9c: the printed delta alone is unsound).

`printed_sums` has what is printed of all that, beside what holds of one file.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from takifugu.core.errors import InputError
from takifugu.core.escaping import at_most
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.distributions.divergence import BITS, power_bounds
from takifugu.numbers.distributions.positive_part import Enclosure
from takifugu.numbers.rationals import Number, as_non_negative, float_above, float_below


@dataclass(frozen=True)
class PairPromise:
    """A promise for some pairs of values, or of populations.

    P(R | a) <= e^epsilon P(R | b) + delta for every set R of outputs. Raises InputError for a negative number. A delta
    of 1 or more says nothing and is 1.

    >>> print(PairPromise(1, "0.01"))
    epsilon 1, delta 0.01
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            number = as_non_negative(value, name, name)
            object.__setattr__(self, name, min(number, Fraction(1)) if name == "delta" else number)

    def __str__(self) -> str:
        share = f", delta {at_most(self.delta)}" if self.delta else ""
        return f"epsilon {at_most(self.epsilon)}{share}"


def fresh_input(promises: Iterable[PairPromise]) -> PairPromise:
    """Return the promise of channels on independent values.

    >>> print(fresh_input([PairPromise(1), PairPromise(2, "0.01")]))
    epsilon 3, delta 0.01
    """
    epsilon = delta = Fraction(0)
    for promise in promises:
        epsilon, delta = epsilon + promise.epsilon, delta + promise.delta
    return PairPromise(epsilon, delta)


def on_one_value(first: Channel, second: Channel) -> Channel:
    """Return two channels on one value as one (Table 1, ⊙).

    Outputs are pairs. What each keeps adds up for pairs of *values*; of populations see errata E9a. Raises InputError
    unless both know the same inputs.

    >>> flip = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> on_one_value(flip, flip).row(0)[1, 1]
    Fraction(1, 16)
    """
    if set(first.inputs) != set(second.inputs):
        raise InputError("the channels have different inputs", fix="make both for one list of values").at("second")
    masses_of = dict(zip(second.inputs, second.masses, strict=True))
    outputs = tuple(itertools.product(first.outputs, second.outputs))
    rows = []
    for value, masses in zip(first.inputs, first.masses, strict=True):
        rows.append(tuple(itertools.starmap(mul, itertools.product(masses, masses_of[value]))))
    return Channel(first.inputs, outputs, tuple(rows), first.total * second.total)


def after_stable(promise: PairPromise, steps: int) -> PairPromise:
    """Return the promise of a channel after a `steps`-stable map.

    c epsilon, and delta times 1 + e^epsilon + ... + e^((c - 1) epsilon), rounded up (errata E9c). Raises InputError
    unless `steps` is a whole number from 0.

    >>> print(after_stable(PairPromise(1, "0.01"), 2))
    epsilon 2, delta 0.0371829
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise InputError(f"the steps are {steps!r}", rule="they are a whole number from 0").at("steps")
    if not promise.delta:
        return PairPromise(steps * promise.epsilon)
    factor = sum_of_powers(promise.epsilon, steps).high
    if math.isinf(factor):
        return PairPromise(steps * promise.epsilon, 1)
    return PairPromise(steps * promise.epsilon, promise.delta * Fraction(factor))


def sum_of_powers(epsilon: Fraction, count: int) -> Enclosure:
    """Enclose 1 + e^epsilon + ... + e^((count - 1) epsilon).

    >>> sum_of_powers(Fraction(0), 3).high
    3.0
    """
    if (count - 1) * epsilon > 700:
        return Enclosure(0.0, math.inf)
    ends = []
    for bound in power_bounds(epsilon):
        power = Fraction(bound, 2**BITS)
        ends.append(sum((power**k for k in range(count)), Fraction(0)))
    low, high = ends
    return Enclosure(float_below(low), float_above(high))

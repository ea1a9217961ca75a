"""What several channels keep together, and one channel before or after others (Kawamoto19 Table 1, corrected).

* shared input: the promises of the channels about pairs of *values* in a relation Phi add up, and then hold for every
  pair of populations in the lifting of Phi (`shared_input`). Promises about named pairs of *populations* do not add up
  (errata E9a): each bit of two hides parity, both tell it. `joint_loss` measures what several channels really tell.
* fresh input: promises about populations add up where every channel has a value of its own, drawn independently.
* post-processing costs nothing; pre-processing by a c-stable map costs c epsilon and delta (1 + e^epsilon + ... +
  e^((c - 1) epsilon)), as for groups of c people (errata E9c: the printed delta alone is unsound).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from takifugu.core.errors import CalibrationRefused, InputError
from takifugu.mechanisms.local.measuring import distribution_loss
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.distributions.divergence import sum_of_powers
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.numbers.transport.couplings import Population, Related

from .liftings import is_lifted


@dataclass(frozen=True)
class PairPromise:
    """What is kept for some pairs of values, or of populations: P(R | a) <= e^epsilon P(R | b) + delta for every R.

    Raises InputError for a negative number. A delta of 1 or more says nothing and is 1.

    >>> print(PairPromise(1, "0.01"))
    epsilon 1, delta 0.01
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        for name, given in (("epsilon", epsilon), ("delta", delta)):
            number = as_fraction(given, name, name)
            if number < 0:
                raise InputError(f"{name} is {given!r}", rule="it must not be negative").at(name)
            object.__setattr__(self, name, min(number, Fraction(1)) if name == "delta" else number)

    def __str__(self) -> str:
        return f"epsilon {float(self.epsilon):g}" + (f", delta {float(self.delta):g}" if self.delta else "")


def fresh_input(promises: Iterable[PairPromise]) -> PairPromise:
    """Return what channels keep together, each on a value of its own that is independent of the others.

    >>> print(fresh_input([PairPromise(1), PairPromise(2, "0.01")]))
    epsilon 3, delta 0.01
    """
    listed = list(promises)
    return PairPromise(sum((k.epsilon for k in listed), Fraction(0)), sum((k.delta for k in listed), Fraction(0)))


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
            fix="use a relation that couples them, values of their own, or what is measured of both (joint_loss)",
        ).at("pairs")
    return fresh_input(local)


def on_one_value(first: Channel, second: Channel) -> Channel:
    """Return both channels used on one value, independently: outputs are pairs (Table 1, a dotted circle).

    What each keeps adds up for pairs of *values*; of populations see errata E9a. Raises InputError unless both know the
    same inputs.

    >>> flip = Channel.of([0, 1], [0, 1], [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    >>> on_one_value(flip, flip).row(0)[1, 1]
    Fraction(1, 16)
    """
    if set(first.inputs) != set(second.inputs):
        raise InputError("the channels have different inputs", fix="make both for one list of values").at("second")
    masses_of = dict(zip(second.inputs, second.masses, strict=True))
    outputs = tuple(itertools.product(first.outputs, second.outputs))
    rows = tuple(
        tuple(one * two for one, two in itertools.product(masses, masses_of[value]))
        for value, masses in zip(first.inputs, first.masses, strict=True)
    )
    return Channel(first.inputs, outputs, rows, first.total * second.total)


def joint_loss(channels: Sequence[Channel], p: Population, q: Population) -> float:
    """Return the epsilon of distribution privacy of several channels on one value together, both ways: measured.

    >>> bits = [Channel.of([0, 1, 2, 3], [0, 1], [[1, 0], [b, 1 - b], [1 - b, b], [0, 1]]) for b in (0, 1)]
    >>> joint_loss(bits, {0: Fraction(1, 2), 3: Fraction(1, 2)}, {1: Fraction(1, 2), 2: Fraction(1, 2)})
    inf
    """
    return distribution_loss(reduce(on_one_value, channels), p, q)


def after_stable(promise: PairPromise, steps: int) -> PairPromise:
    """Return what a channel keeps after a transformation that is `steps`-stable over the pairs that it keeps for.

    c epsilon, and delta times 1 + e^epsilon + ... + e^((c - 1) epsilon), rounded up (errata E9c). Raises InputError
    unless `steps` is a whole number from 0.

    >>> print(after_stable(PairPromise(1, "0.01"), 2))
    epsilon 2, delta 0.0371828
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise InputError(f"the steps are {steps!r}", rule="they are a whole number from 0").at("steps")
    if not promise.delta:
        return PairPromise(steps * promise.epsilon)
    factor = sum_of_powers(promise.epsilon, steps).high
    return PairPromise(steps * promise.epsilon, 1 if math.isinf(factor) else promise.delta * Fraction(factor))

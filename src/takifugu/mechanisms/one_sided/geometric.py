"""The geometric law on one side of a count, cut off at a public end (Takagi21 Definition VIII.1: AGeo)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from takifugu.analysis.randomisers.base import Direction
from takifugu.core.errors import InputError
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction


def geometric_law(
    count: int, maximum: int, epsilon: Number, sensitivity: Number = 1, direction: Direction = Direction.DOWN
) -> Pmf:
    """Return the law of min(count + K, maximum), K geometric.

    P(K >= k) = e^(-k epsilon / sensitivity). For a count that allowed moves take DOWN; max(count - K, 0) for one that
    they take UP. `sensitivity` is the total L1 change of all cells that are published together. P(z | x) <= e^epsilon
    P(z | x') for every allowed change of x to x', and below the count (DOWN) no output is possible at all, so that "z
    <= t" is never false: alpha = 0 (Takagi21 Theorem VIII.2; errata E5). Raises InputError unless 0 <= count <= maximum
    are whole numbers, maximum is above 0, and for a direction that is neither.

    >>> law = dict(geometric_law(5, 10, 1).items())
    >>> [round(law[z], 6) for z in (5, 6, 10)], 4 in law
    ([0.632121, 0.232544, 0.006738], False)
    """
    if isinstance(maximum, bool) or not isinstance(maximum, int) or maximum < 1:
        raise InputError(f"the maximum is {maximum!r}", rule="it is a whole number above 0").at("maximum")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= maximum:
        raise InputError("the count is not a whole number from 0 to the maximum").at("count")
    if direction not in (Direction.DOWN, Direction.UP):
        raise InputError("a count that moves either way has two-sided noise", fix="use discrete Laplace noise").at(
            "direction"
        )
    step = float(as_epsilon(epsilon) / positive_sensitivity(sensitivity))
    room = maximum - count if direction is Direction.DOWN else count
    masses = np.exp(-step * np.arange(room + 1.0))
    masses[:-1] *= -math.expm1(-step)
    is_possible = masses > 0
    step_to_next = 1 if direction is Direction.DOWN else -1
    values = count + np.arange(room + 1) * step_to_next
    return Pmf(values[is_possible], masses[is_possible])


def positive_sensitivity(value: Number) -> Fraction:
    """Return a sensitivity as a Fraction; InputError unless positive and finite."""
    sensitivity = as_fraction(value, "sensitivity", "sensitivity")
    if sensitivity <= 0:
        raise InputError(f"the sensitivity is {value!r}", rule="it must be above 0").at("sensitivity")
    return sensitivity

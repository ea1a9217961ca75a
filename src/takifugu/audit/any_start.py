"""The largest ratio at one output over every initial law of a chain.

For start state u let n_u = P(y, X_i = a | u), m_u = P(X_i = a | u), and n'_u, m'_u the same for b. Under the initial
law pi the ratio is [sum pi n / sum pi m] [sum pi m' / sum pi n']. With sum pi m / sum pi m' held fixed, a linear
condition on pi, it is a ratio of two linear functions of pi, so a largest value has at most two start states. For two
of them with odds t it is a product of two ratios of linear functions of t; its derivative is zero where a quadratic is.

A delta is convex in the two laws of the start, given a and given b: pairs of start states bound it. Those of `is_limit`
are limits of both laws (Theorem 2 of docs/theory/audit.md).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from mpmath import mp, mpf


@dataclass(frozen=True, eq=False)
class Side:
    """One hypothesis: for each start state its masses at all outputs, jointly with the hypothesis, and its mass."""

    outputs: Sequence[npt.NDArray[np.object_]]
    masses: Sequence[mpf]

    def at(self, start: int, place: int) -> tuple[mpf, mpf]:
        return self.outputs[start][place], self.masses[start]


def largest_ratio(left: Side, right: Side, place: int) -> mpf:
    """Return the supremum over initial laws of the ratio at `place`."""
    starts = range(len(left.masses))
    ratios = [_ratio(left.at(u, place), right.at(u, place)) for u in starts]
    for u, v in itertools.combinations(starts, 2):
        ratios += _on_edge(left.at(u, place), left.at(v, place), right.at(u, place), right.at(v, place))
    return max(ratios)


def is_limit(i: int, j: int, left: Any, right: Any) -> bool:
    """Return whether laws of the start come as near as one likes to i given one hypothesis and j given the other."""
    # `left` and `right` are the hypotheses' masses by start; i leads to the first and j to the second.
    return bool(i == j or not left[j] or not right[i])


Pair = tuple[mpf, mpf]


def _ratio(left: Pair, right: Pair) -> mpf:
    """Return (n/m) / (n'/m'), or 0 for an impossible side."""
    (n, m), (other_n, other_m) = left, right
    if not m or not other_m or not n:
        return mp.mpf(0)
    if not other_n:
        return mp.inf
    return mp.mpf(n) / m * other_m / other_n


def _on_edge(u: Pair, v: Pair, other_u: Pair, other_v: Pair) -> list[mpf]:
    """Return the ratio at stationary points and limits of two starts' odds."""
    # `u` and `v` are (n, m) of the two starts, `other_u` and `other_v` the same for b.
    (n, m), (n2, m2), (k, q), (k2, q2) = u, v, other_u, other_v
    # At a limit a hypothesis that one start cannot reach keeps the law that the other start gives it.
    at_u, at_v = u if m else v, v if m2 else u
    other_at_u, other_at_v = other_u if q else other_v, other_v if q2 else other_u
    ratios = [_ratio(at_u, other_at_u), _ratio(at_v, other_at_v)]
    first, second = n * m2 - m * n2, q * k2 - k * q2
    square = first * q * k + second * n * m
    linear = first * (q * k2 + q2 * k) + second * (n * m2 + n2 * m)
    constant = first * q2 * k2 + second * n2 * m2
    for root in _roots(square, linear, constant):
        if root > 0:
            ratios.append(_ratio((n * root + n2, m * root + m2), (k * root + k2, q * root + q2)))
    return ratios


def _roots(square: mpf, linear: mpf, constant: mpf) -> list[mpf]:
    if not square and not linear:
        return []
    if not square:
        return [-mp.mpf(constant) / linear]
    discriminant = mp.mpf(linear) ** 2 - 4 * mp.mpf(square) * constant
    if discriminant < 0:
        return []
    # The larger root without cancellation, the other from their product.
    sign = 1 if linear >= 0 else -1
    sum_of_two = -(linear + sign * mp.sqrt(discriminant)) / 2
    if sum_of_two:
        return [sum_of_two / square, constant / sum_of_two]
    return [mp.mpf(0)]

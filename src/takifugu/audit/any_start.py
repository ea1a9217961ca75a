"""The largest ratio at one output over every initial law of a chain.

For start state u let n_u = P(y, X_i = a | u), m_u = P(X_i = a | u), and n'_u, m'_u the same for b. Under the initial
law pi the ratio is [sum pi n / sum pi m] [sum pi m' / sum pi n']. With sum pi m / sum pi m' held fixed, a linear
condition on pi, it is a ratio of two linear functions of pi, so a largest value has at most two start states. For two
of them with odds t it is a product of two ratios of linear functions of t; its derivative is zero where a quadratic is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

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
    """Return sup over initial laws of P(y | a) / P(y | b) at output number `place`; 0 where y is impossible given a."""
    starts = range(len(left.masses))
    ratios = [_ratio(left.at(u, place), right.at(u, place)) for u in starts]
    for u, v in itertools.combinations(starts, 2):
        ratios += _on_edge(left.at(u, place), left.at(v, place), right.at(u, place), right.at(v, place))
    return max(ratios)


def _ratio(left: tuple[mpf, mpf], right: tuple[mpf, mpf]) -> mpf:
    """Return (n/m) / (n'/m'); 0 where a hypothesis or the output given a is impossible."""
    (n, m), (other_n, other_m) = left, right
    if not m or not other_m or not n:
        return mp.mpf(0)
    return mp.inf if not other_n else mp.mpf(n) / m * other_m / other_n


def _on_edge(one: tuple[mpf, mpf], two: tuple[mpf, mpf], three: tuple[mpf, mpf], four: tuple[mpf, mpf]) -> list[mpf]:
    """Return the ratio at the stationary points and at the limits of odds t for start u against start v.

    `one`, `two` are (n, m) of u and v, `three`, `four` the same for b.
    """
    (n, m), (n2, m2), (k, q), (k2, q2) = one, two, three, four

    def mixed(t: mpf) -> mpf:
        return _ratio((n * t + n2, m * t + m2), (k * t + k2, q * t + q2))

    # At a limit a hypothesis that one start cannot reach keeps the law that the other start gives it.
    ratios = [_ratio(one if m else two, three if q else four), _ratio(two if m2 else one, four if q2 else three)]
    first, second = n * m2 - m * n2, q * k2 - k * q2
    square = first * q * k + second * n * m
    linear = first * (q * k2 + q2 * k) + second * (n * m2 + n2 * m)
    constant = first * q2 * k2 + second * n2 * m2
    for root in _roots(square, linear, constant):
        if root > 0:
            ratios.append(mixed(root))
    return ratios


def _roots(square: mpf, linear: mpf, constant: mpf) -> list[mpf]:
    if not square:
        return [-mp.mpf(constant) / linear] if linear else []
    inside = mp.mpf(linear) ** 2 - 4 * mp.mpf(square) * constant
    if inside < 0:
        return []
    # The larger root without cancellation, the other from their product.
    sum_of_two = -(linear + mp.sqrt(inside) * (1 if linear >= 0 else -1)) / 2
    return [sum_of_two / square, constant / sum_of_two] if sum_of_two else [mp.mpf(0)]

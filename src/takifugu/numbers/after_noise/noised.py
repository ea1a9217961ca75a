"""Two laws after Laplace noise: their exact largest log-ratio, and the smallest scale that bounds it.

Let A(y) = sum_j p_j e^{-|y - x_j| / b}, proportional to the density of p * Lap(b), and B the same for q. Between
neighbouring atoms of the two laws A and B are combinations of e^{y/b} and e^{-y/b}, so A/B is a Moebius function of
e^{2y/b}, hence monotone; beyond the last atom it is constant. So its extremes are at atoms. On the integers discrete
Laplace noise has the same masses up to a factor, so the same numbers hold for it. The ratio falls when b grows,
because Lap(b') is Lap(b) plus independent noise for b' > b (docs/decisions.md#exact-laplace-scale).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.laplace_pair import Pair, above, below, smallest_scale
from takifugu.numbers.atoms import Atom, same_type
from takifugu.numbers.distributions.exact_ratio import log_masses, masses_need_noise
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_epsilon, round_up
from takifugu.numbers.search import SCALE_TOLERANCE
from takifugu.numbers.transport.on_the_line import w_infinity, w_infinity_candidates

#: Below the first the scale is W-infinity/epsilon without a search; above the second budgets count as the second.
_LEAST_BUDGET, _LARGEST_BUDGET = Fraction(1, 10**12), Fraction(10**6)


def laplace_log_ratio(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of |log (p*Lap)(y)/(q*Lap)(y)|, to the nearest float.

    The Laplace noise has density proportional to e^{-|x|/scale}. Scale 0 means no noise: the largest log-ratio of the
    masses, infinite when the supports differ. `laplace_log_ratio_bounds` encloses the value
    (docs/decisions.md#exact-laplace-scale).

    Raises InputError when the scale is negative or not finite.

    >>> round(laplace_log_ratio(Pmf([0], [1]), Pmf([2], [1]), 4.0), 12)
    0.5
    """
    checked = _checked(scale)
    if checked:
        return max(Pair.of(p, q).log_ratios(checked))
    return max(laplace_log_ratio_directed(p, q, 0), laplace_log_ratio_directed(q, p, 0))


def laplace_log_ratio_directed(p: Pmf, q: Pmf, scale: Number) -> float:
    """Return sup over y of log (p*Lap)(y)/(q*Lap)(y); scale 0: no noise.

    >>> round(laplace_log_ratio_directed(Pmf([0], [1]), Pmf([0, 1], [0.5, 0.5]), 0), 9)
    0.693147181
    >>> laplace_log_ratio_directed(Pmf([0, 1], [0.5, 0.5]), Pmf([0], [1]), 0)
    inf
    """
    checked = _checked(scale)
    if checked:
        return Pair.of(p, q).log_ratios(checked)[0]
    x, y = same_type(p.values, q.values)
    place = np.minimum(np.searchsorted(y, x), len(y) - 1)
    if not np.array_equal(y[place], x):
        return math.inf
    return float((log_masses(p) - log_masses(q)[place]).max())


def laplace_log_ratio_bounds(p: Pmf, q: Pmf, scale: float) -> tuple[float, float]:
    """Enclose sup |log (p*Lap)/(q*Lap)| for a positive scale.

    >>> low, high = laplace_log_ratio_bounds(Pmf([0], [1]), Pmf([2], [1]), 4.0)
    >>> low <= 0.5 <= high < low + 1e-12
    True
    """
    return Pair.of(p, q).bounds(_checked(scale))


def exact_laplace_scale(p: Pmf, q: Pmf, epsilon: Number) -> float:
    """Return the least Laplace scale with both ways' log-ratios within epsilon.

    Rounded up by at most 2**-36 relative (above 4,000 atoms: plus what float64 cannot decide; below epsilon = 1e-12:
    W-infinity/epsilon). 0.0 when the masses themselves satisfy it, decided exactly. Float masses count as the binary
    fractions that they are.

    Raises InputError unless epsilon is finite and above zero.

    >>> from fractions import Fraction
    >>> p = Pmf([1, 2, 3, 4], [Fraction(1, 5), Fraction(9, 40), Fraction(1, 2), Fraction(3, 40)])
    >>> q = Pmf([2, 3, 4, 5], [Fraction(3, 40), Fraction(1, 2), Fraction(9, 40), Fraction(1, 5)])
    >>> round(exact_laplace_scale(p, q, 1), 9)
    1.154526559
    """
    budget = _budget(epsilon)
    if not masses_need_noise(p, q, budget):
        return 0.0
    pair = Pair.of(p, q)
    upper = above(Fraction(w_infinity_candidates(p, q)[-1]) / budget)
    if budget < _LEAST_BUDGET:
        return upper
    if not (p.exact and q.exact):
        slack = SCALE_TOLERANCE
        while not pair.verdict(upper, budget, digits=False)[1]:
            upper, slack = upper * (1 + slack), 2 * slack
    return smallest_scale(pair, upper, budget)


def wasserstein_scale(p: Pmf, q: Pmf, epsilon: Number) -> tuple[Atom, Fraction]:
    """Return W-infinity w of p and q, and the scale w/epsilon.

    Source: Song17 Algorithm 1. Exact laws: w is exact and the scale is rounded up only if long. Float masses: the first
    of `w_infinity_candidates` whose largest log-ratio at the returned scale, w/epsilon rounded up by at most 2**-34, is
    at most epsilon; the last candidate needs no check (docs/decisions.md#numbers).

    Raises InputError unless epsilon is finite and above zero.

    >>> wasserstein_scale(Pmf([0], [1]), Pmf([3], [1]), 0.5)
    (3, Fraction(6, 1))
    """
    budget = _budget(epsilon)
    if p.exact and q.exact:
        distance = w_infinity(p, q)
        return distance, round_up(Fraction(distance) / budget)
    candidates = w_infinity_candidates(p, q)
    pair = Pair.of(p, q)
    for distance in candidates:
        scale = round_up(Fraction(distance) / budget * (1 + Fraction(SCALE_TOLERANCE)))
        if not distance and not masses_need_noise(p, q, budget):
            return distance, scale
        if distance and (distance == candidates[-1] or pair.verdict(below(scale), budget, digits=True)[1]):
            return distance, scale
    return candidates[-1], Fraction(0)


def _budget(epsilon: Number) -> Fraction:
    """Read epsilon, replaced by a stricter one beyond exponentials' range."""
    return min(as_epsilon(epsilon), _LARGEST_BUDGET)


def _checked(scale: Number) -> float:
    value = float(scale)
    if not math.isfinite(value) or value < 0:
        raise InputError(f"scale is {scale!r}", rule="it must be a finite number, 0 (no noise) or above").at("scale")
    return value

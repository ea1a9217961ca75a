"""The hockey-stick divergence hs(p, q) = sum or integral of (p - e^epsilon q)_+ of laws, bare and after normal noise.

hs <= delta is the exact meaning of "(epsilon, delta), from p to q"; and the least normal noise that keeps it both ways.
"""

from __future__ import annotations

import math
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma, positive_delta
from takifugu.numbers.after_noise.gaussian_pair import GaussianPair
from takifugu.numbers.after_noise.laplace_pair import above
from takifugu.numbers.distributions.exact_ratio import exact_excess, ratio_exceeds
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_epsilon
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

#: More than the mass beyond the cells, and than all that underflow can lose.
_REST = 1e-300
#: Beyond this e^epsilon leaves float64.
LARGEST_EPSILON = Fraction(600)


def masses_within(p: Pmf, q: Pmf, epsilon: Number, delta: Fraction) -> bool:
    """Decide sum of (p - e^epsilon q)_+ <= delta exactly."""
    budget = as_epsilon(epsilon)
    left, right = exact_excess(p, q, budget)
    if not right:
        return left <= delta
    return left <= delta or not ratio_exceeds((left - delta) / right, budget)


def gaussian_hockey_stick(p: Pmf, q: Pmf, sigma: Number, epsilon: Number) -> tuple[float, float]:
    """Enclose the divergence of p from q after normal noise of deviation sigma, for epsilon up to 600."""
    width, budget = float(sigma), as_epsilon(epsilon)
    if not math.isfinite(width) or width < 0:
        raise InputError(f"sigma is {sigma!r}", rule="it must be a finite number above 0").at("sigma")
    if not width:
        raise InputError("sigma is 0", rule="without noise compare the masses (masses_within)").at("sigma")
    if budget > LARGEST_EPSILON:
        raise InputError(
            f"epsilon is {epsilon!r}", rule="e^epsilon leaves float64", fix=f"use at most {LARGEST_EPSILON}"
        ).at("epsilon")
    pair = GaussianPair(p, q, width, above(budget))
    # The signs change at most as often as those of p - e^epsilon q (Descartes), so few cells stay doubtful.
    starts, ends, charge = pair.positive_intervals()
    low, high = pair.integral(starts, ends)
    # Doubtful cells are charged in full above, and with nothing below: mostly 1e-10 apart or less.
    return low, high + charge + _REST


def gaussian_exact_sigma(p: Pmf, q: Pmf, epsilon: Number, delta: Number) -> float:
    """Return the least sigma for (epsilon, delta) both ways, at most 2**-36 above; 0.0 where the masses keep it."""
    budget, failure = min(as_epsilon(epsilon), LARGEST_EPSILON), positive_delta(delta)
    if masses_within(p, q, budget, failure) and masses_within(q, p, budget, failure):
        return 0.0

    def excess(sigma: float) -> float:
        return max(gaussian_hockey_stick(p, q, sigma, budget)[1], gaussian_hockey_stick(q, p, sigma, budget)[1])

    # Never above that of W-infinity by more than rounding (errata E1).
    start = gaussian_analytic_sigma(Fraction(w_infinity_candidates(p, q)[-1]), budget, failure)
    slack = SCALE_TOLERANCE / 4
    while excess(start) > failure:
        start, slack = start * (1 + slack), 2 * slack
    return smallest_safe(excess, start, failure)

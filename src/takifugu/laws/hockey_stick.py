"""The hockey-stick divergence hs(p, q) = sum or integral of (p - e^epsilon q)_+ of two laws, bare and after noise.

hs <= delta is the exact meaning of "(epsilon, delta), from p to q".
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from takifugu.errors import InputError
from takifugu.laws.exact_ratio import BITS, exact_excess, merged_masses, passes, ratio_exceeds
from takifugu.laws.gaussian_pair import GaussianPair
from takifugu.laws.laplace_pair import above
from takifugu.laws.pmf import Pmf
from takifugu.laws.rationals import Number, as_epsilon

#: More than the mass beyond the cells, and than all that underflow can lose.
_REST = 1e-300
#: Beyond this e^epsilon leaves float64.
LARGEST_EPSILON = Fraction(600)


def masses_within(p: Pmf, q: Pmf, epsilon: Number, delta: Fraction) -> bool:
    """Decide sum of (p - e^epsilon q)_+ <= delta exactly; float masses count as the binary fractions that they are.

    >>> masses_within(Pmf([0], [1]), Pmf.from_counts([0, 1], [1, 9]), 1, Fraction(73, 100))
    True
    """
    budget = as_epsilon(epsilon)
    left, right = exact_excess(p, q, budget)
    return left <= delta if not right else left <= delta or not ratio_exceeds((left - delta) / right, budget)


def laplace_hockey_stick(p: Pmf, q: Pmf, scale: Number, epsilon: Number) -> float:
    """Return the divergence of p from q after Laplace noise of this scale, to the last digits; scale 0 is no noise.

    Between neighbouring atoms p*Lap - e^epsilon q*Lap is c e^{-t/b} + d e^{t/b}, with one sign change at most, so its
    positive part integrates in closed form; many digits leave no rounding.

    Raises InputError when the scale is negative or not finite, or epsilon is not above zero.

    >>> p, q = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])
    >>> round(laplace_hockey_stick(p, q, 1, 1), 4)
    0.1152
    """
    width, budget = _checked(scale, "scale"), as_epsilon(epsilon)
    from mpmath import mp

    with mp.workprec(BITS):
        factor = mp.exp(mp.mpf(budget.numerator) / budget.denominator)
        gaps, masses = merged_masses(p, q)
        signed = [a - factor * b for a, b in masses]
        if not width:
            return float(sum(max(c, 0) for c in signed))
        forward, backward, steps = passes(signed, gaps, width)
        total = max(backward[0], 0) + max(forward[-1], 0)
        for c, d, step in zip(forward, backward[1:], steps, strict=False):
            total += _positive_part(c, d, step)
        return float(total / 2)


def _positive_part(c: Any, d: Any, step: Any) -> Any:
    """Integrate (c e^{-t} + d e^{-(g - t)})_+ over 0 < t < g, where step = e^{-g}."""
    if c <= 0 and d <= 0:
        return 0
    whole = (c + d) * (1 - step)
    if c >= 0 and d >= 0:
        return whole
    from mpmath import mp

    near = mp.sqrt(-d * step / c)
    if not step < near < 1:
        return max(whole, 0)
    far = step / near
    return c * (1 - near) + d * (far - step) if c > 0 else c * (near - step) + d * (1 - far)


def gaussian_hockey_stick(p: Pmf, q: Pmf, sigma: Number, epsilon: Number) -> tuple[float, float]:
    """Return numbers below and above the divergence of p from q after Gaussian noise of deviation sigma > 0.

    The line is cut into cells until on each the sign of p*N - e^epsilon q*N is certain, or nothing that matters is
    left; positive cells are joined and integrated by normal tails; doubtful ones are charged in full above and with
    nothing below. The signs change at most as often as those of p - e^epsilon q over the atoms (Descartes' rule for
    sums of exponentials), so few cells stay doubtful. Above about 1e-290 the bounds are usually 1e-10 apart or less.

    Raises InputError when sigma is not above zero, or epsilon is not above zero and at most 600.

    >>> low, high = gaussian_hockey_stick(Pmf([0], [1]), Pmf([1], [1]), 3.730631634, 1)
    >>> round(low, 13), high - low < 1e-15
    (1e-05, True)
    """
    width, budget = _checked(sigma, "sigma"), as_epsilon(epsilon)
    if not width:
        raise InputError("sigma is 0: without noise compare the masses (masses_within)")
    if budget > LARGEST_EPSILON:
        raise InputError(f"epsilon is {epsilon!r}: e^epsilon leaves float64; use at most {LARGEST_EPSILON}")
    pair = GaussianPair(p, q, width, above(budget))
    starts, ends, charge = pair.positive_intervals()
    low, high = pair.integral(starts, ends)
    return low, high + charge + _REST


def _checked(value: Number, name: str) -> float:
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise InputError(f"{name} is {value!r}: it must be a finite number, 0 or above")
    return number

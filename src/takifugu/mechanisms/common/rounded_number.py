"""Normal noise for a number that is rounded before it is noised: the least for the number itself, and a little more.

e2 is the least share of epsilon at which the noise for the number itself hides the move by the rounding, too. Source:
docs/theory/attributes.md#attributes-read.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from takifugu.numbers.after_noise.gaussian import deviation_per_shift
from takifugu.numbers.outward_rounding import exp_up

#: The share of delta for the rounding, and the largest and the least share of epsilon.
_SHARE, _LARGEST, _LEAST = Fraction(1, 2**20), 3, 30

Least = Callable[[Fraction, Fraction], Fraction]


def least_for_read(least: Least, rounding: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a deviation for a number that is read within `rounding`; `least` is that for the number itself."""
    if not rounding:
        return least(epsilon, delta)
    epsilon = min(epsilon, Fraction(600))  # more would be no weaker a promise, and e^epsilon leaves float64
    first, factor = least(epsilon, delta), exp_up(epsilon)
    of_rounding = delta * _SHARE / (1 + factor)
    for part in range(_LEAST, _LARGEST - 1, -1):
        spent = epsilon / 2**part
        hidden = rounding * deviation_per_shift(spent, of_rounding)
        if hidden <= first:
            break
    share = (delta - of_rounding * (1 + factor)) / exp_up(spent)
    return max(least(epsilon - 2 * spent, share), hidden)

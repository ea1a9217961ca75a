"""Normal noise for a number that is rounded before it is noised: the least for the number itself, and a little more.

Let what is read, Y', lie within r of a number Y, and let noise N make Y + N (e, d)-indistinguishable. Given Y and Y'
the outputs Y + N and Y' + N are two normal laws at most r apart, so they are (e2, d2)-indistinguishable where N hides a
move by r, and so are their mixtures. Hence

    P'_a <= e^e2 P_a + d2 <= e^e2 (e^e P_b + d) + d2 <= e^(e + 2 e2) P'_b + e^e2 d + d2 (1 + e^(e + e2)).

e2 is the least share of epsilon at which the noise for the number itself hides the move by r, too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from takifugu.analysis.questions.normal_law import deviation_up
from takifugu.numbers.normal.pair import variance_per_shift
from takifugu.numbers.outward_rounding import exp_up

#: The share of delta for the rounding, and the largest and the least share of epsilon.
_SHARE, _LARGEST, _LEAST = Fraction(1, 2**20), 3, 30

Least = Callable[[Fraction, Fraction], Fraction]


def least_for_read(least: Least, rounding: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a deviation for a number that is read within `rounding`.

    `least` is that for the number itself.
    """
    if not rounding:
        return least(epsilon, delta)
    epsilon = min(epsilon, Fraction(600))  # more would be no weaker a promise, and e^epsilon leaves float64
    first, factor = least(epsilon, delta), exp_up(epsilon)
    of_rounding = delta * _SHARE / (1 + factor)
    for part in range(_LEAST, _LARGEST - 1, -1):
        spent = epsilon / 2**part
        hidden = rounding * deviation_up(variance_per_shift(spent, of_rounding))
        if hidden <= first or part == _LARGEST:
            break
    share = (delta - of_rounding * (1 + factor)) / exp_up(spent)
    return max(least(epsilon - 2 * spent, share), hidden)

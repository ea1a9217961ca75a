"""What several randomised columns tell about one person together (Kawamoto19 Table 1; errata E9a).

On independent rows losses add up. On the same rows they do not: x uniform on {00, 11} or on {01, 10}, two channels that
send one bit each tell nothing alone and all together. What holds there: let L(x, x') be the sum of what each channel
loses between two values. If the pairs with L <= t have a coupling of both populations on them, the joint release loses
at most t per row: on these pairs it keeps t, and mixing along the coupling keeps it (Theorem 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from takifugu.numbers.transport.couplings import Population, least_largest

if TYPE_CHECKING:
    from takifugu.mechanisms.local.sent import Sending

Floats = npt.NDArray[np.float64]


def lifted_loss(laws: Sequence[Sequence[Fraction]], losses: Floats) -> float:
    """Return the least t such that every two populations have a coupling on the pairs of values that lose at most t.

    `laws` are exact masses over the same values, `losses` has shape (values, values). It may be infinite.

    >>> half = Fraction(1, 2)
    >>> lifted_loss([[half, half, 0], [0, half, half]], np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0.0]]))
    1.0
    """
    places: list[Population] = [dict(enumerate(law)) for law in laws]
    losses_of_pairs = (
        least_largest(one, other, lambda x, y: losses[x, y])[0] for one, other in combinations(places, 2)
    )
    return max(losses_of_pairs, default=0.0)


def joint_losses(randomisers: Sequence[Sending]) -> Floats:
    """Return what several channels on one value lose between each two values: the sum of what each loses."""
    total: Floats = np.sum([noise.sender.pointwise() for noise in randomisers], axis=0)
    return total * (1 + 2.0**-50)

"""Exact one-sided noise: geometric on the integers, and exponential added to any rational number and rounded up once.

An exponential law has no memory, so the second needs no quantile: with c = centre / grid, b = scale / grid, m =
ceil(c) and r = m - c, the noisy c + E, E exponential of scale b, stays at or below m with probability 1 - exp(-r/b);
given that it does not, what it is beyond m is exponential again, and rounded up it is 1 + K with K geometric of scale
b. So ceil(c + E) is m, or m + 1 + K with probability exp(-r/b): a coin and an integer, no float anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from takifugu.numbers.atoms import Array
from takifugu.numbers.noise.entropy import Entropy
from takifugu.numbers.noise.integers import (
    Integers,
    accepted,
    bernoulli_exp,
    geometric_round,
    places_of,
    positive,
    total,
    whole_number,
)
from takifugu.numbers.noise.rounded import Center, split


def geometric(scale: Fraction | int, size: int, entropy: Entropy) -> Integers:
    """Draw `size` independent geometric integers, exactly: P(K >= k) = exp(-k / scale)."""
    # Canonne, Kamath and Steinke 2020, Algorithm 2 without its sign.
    t, s = positive("the scale", scale).as_integer_ratio()
    return accepted(lambda tries: geometric_round(t, s, tries, entropy), whole_number("the size", size, least=0))


def rounded_up_exponential(
    center: Center | Sequence[Center] | Array, scale: Fraction | int, grid: Fraction | int, size: int, entropy: Entropy
) -> Integers:
    """Draw `size` independent integers ceil((centre + E) / grid), E exponential of mean `scale`."""
    # Rounded up, no output lies below the centre; for noise that is subtracted, negate the centre and the result.
    scale, grid = positive("the scale", scale), positive("the grid", grid)
    nearest, offsets = split(center, grid, whole_number("the size", size, least=0))
    above, beyond = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    for offset, places in places_of(offsets.tolist()).items():
        above[places] = ceil(offset)
        missing = (ceil(offset) - offset) * grid / scale
        beyond[places] = bernoulli_exp(missing.numerator, missing.denominator, len(places), entropy)
    more = geometric(scale / grid, int(beyond.sum()), entropy)
    noise = np.zeros(size, dtype=more.dtype)
    noise[beyond] = total(more, np.ones(more.size, dtype=np.int64))
    return total(total(nearest, above), noise)

"""How far a density reaches: ends beyond which next to nothing lies, also of what e^(x/b) weighs."""

from __future__ import annotations

import math

from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.densities.truncated import Truncated

#: How many deviations beyond the middle of a normal tail weighted by e^(x/b) the ends are.
_BEYOND = 8.0


def ends_of(law: Continuous, scale: float = math.inf) -> tuple[float, float]:
    """Return ends beyond which next to nothing counts, with Laplace noise, or nothing is."""
    low, high = law.range
    lows, highs = list[float](), list[float]()
    for _, part in _normals(law):
        reach = _BEYOND * part.deviation + part.deviation * (part.deviation / scale)
        lows.append(part.mean - reach)
        highs.append(part.mean + reach)
    return max(low, min(lows, default=low)), min(high, max(highs, default=high))


def weight_beyond(law: Continuous, end: float, scale: float, sign: int) -> float:
    """Bound E[e^(|X - end|/scale)] over what lies beyond, to one side."""
    from scipy.special import erfcx

    if sign * end >= sign * law.range[0 if sign < 0 else 1]:
        return 0.0
    total = 0.0
    for weight, part in _normals(law):
        u = sign * (end - part.mean) / part.deviation
        total += weight * math.exp(-u * u / 2) * float(erfcx((u - part.deviation / scale) / math.sqrt(2))) / 2
    return total * (1 + 2.0**-40)


def _normals(law: Continuous) -> list[tuple[float, Normal]]:
    """Return the normals that bound a density, each with at least its weight; none where it has no tails."""
    match law:
        case Normal() | NormalMixture():
            return list(law.parts)
        case Truncated():
            return [(weight / law.share[0], part) for weight, part in _normals(law.whole)]
        case _:
            return []

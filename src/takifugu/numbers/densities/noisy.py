"""Normal noise on densities that are normal or mixtures of normals: the least that keeps (epsilon, delta), both ways.

With N(0, s^2) added each part of a mixture has the variance d^2 + s^2, so the divergence of the noisy densities is
enclosed as that of any two (`excess`). Its root is rounded by 2^-52 relative, which the bounds of a normal density
allow for many times over. The divergence falls when s grows, as more noise is post-processing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from takifugu.core.errors import Unsupported
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.excess import LARGEST, density_hockey_stick
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe

#: Doublings of the noise before the search gives up.
_DOUBLINGS = 200


def with_normal_noise(law: Continuous, sigma: float) -> Normal | NormalMixture:
    """Return the density with normal noise added.

    Raises Unsupported unless it is normal or a mixture of normals.

    >>> with_normal_noise(Normal(1, 3), 4)
    Normal(mean=1.0, deviation=5.0)
    """
    if isinstance(law, Normal):
        return Normal(law.mean, math.hypot(law.deviation, sigma))
    if isinstance(law, NormalMixture):
        deviations = [math.hypot(deviation, sigma) for deviation in law.deviations]
        return NormalMixture(law.weights, law.means, deviations)
    raise Unsupported(
        f"the density with normal noise is computed for normals and their mixtures, and one is {law.describe()}: use "
        'mechanism="gaussian-analytic" or "attribute-gaussian-approx"'
    )


def noisy_delta(p: Continuous, q: Continuous, sigma: float, epsilon: float) -> float:
    """Bound both divergences of the noisy densities from above, nearly.

    Raises Unsupported as `with_normal_noise`.
    """
    first, second = with_normal_noise(p, sigma), with_normal_noise(q, sigma)
    budget = min(epsilon, LARGEST)
    return max(density_hockey_stick(first, second, budget), density_hockey_stick(second, first, budget))


def least_normal_noise(p: Continuous, q: Continuous, epsilon: Fraction, delta: Fraction) -> float:
    """Return the least deviation that keeps (epsilon, delta), rounded up; 0 where none is needed.

    Raises Unsupported as `with_normal_noise`.

    >>> round(least_normal_noise(Normal(0, 1), Normal(1, 2), Fraction(1), Fraction(1, 10**5)), 4)
    6.6455
    """
    budget = float(epsilon) * (1 - 2.0**-52)  # a float below it

    def judge(sigma: float) -> tuple[float, bool]:
        delta_of = noisy_delta(p, q, sigma, budget)
        return delta_of, delta_of <= delta

    if judge(0.0)[1]:
        return 0.0
    safe = max(p.deviation, q.deviation, abs(p.mean - q.mean))
    for _ in range(_DOUBLINGS):
        if judge(safe)[1]:
            return smallest_safe(judge, safe, float(delta), SCALE_TOLERANCE)
        safe *= 2
    raise Unsupported("no normal noise up to 2^200 deviations keeps so small a delta")

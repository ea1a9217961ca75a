"""Normal noise on densities: the least that keeps (epsilon, delta), both ways.

With N(0, s^2) added each part of a mixture of normals has the variance d^2 + s^2, so the divergence of the noisy
densities is enclosed as that of any two (`excess`). Its root is rounded by 2^-52 relative, which the bounds of a normal
density allow for many times over. Any other density is taken as point masses within t of it (`nodes`), in total
variation after the noise, and delta is that of the point masses and t_p + e^epsilon t_q more. The divergence falls when
s grows, as more noise is post-processing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.numbers.after_noise.hockey_stick import gaussian_hockey_stick
from takifugu.numbers.after_noise.nodes import point_masses
from takifugu.numbers.densities import Continuous
from takifugu.numbers.densities.excess import LARGEST, density_hockey_stick
from takifugu.numbers.densities.normal import Normal, NormalMixture
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.search import SCALE_TOLERANCE, smallest_safe

#: Doublings of the noise before the search gives up.
_DOUBLINGS = 200


def _with_normal_noise(law: Continuous, sigma: float) -> Normal | NormalMixture | None:
    """Return the density with normal noise; None unless it is normal or a mixture."""
    if isinstance(law, Normal):
        return Normal(law.mean, math.hypot(law.deviation, sigma))
    if isinstance(law, NormalMixture):
        deviations = [math.hypot(deviation, sigma) for deviation in law.deviations]
        return NormalMixture(law.weights, law.means, deviations)
    return None


def noisy_delta(p: Continuous, q: Continuous, sigma: float, epsilon: float) -> float:
    """Bound both divergences of the noisy densities from above, nearly.

    It is 1 where the noise is too small beside the densities. Raises Unsupported for a density of no kind known.
    """
    budget = min(epsilon, LARGEST)
    if not sigma:
        return max(density_hockey_stick(p, q, budget), density_hockey_stick(q, p, budget))
    first, second = _with_normal_noise(p, sigma), _with_normal_noise(q, sigma)
    if first is not None and second is not None:
        return max(density_hockey_stick(first, second, budget), density_hockey_stick(second, first, budget))
    left, right = point_masses(p, sigma), point_masses(q, sigma)
    if left is None or right is None:
        return 1.0
    return max(_of_masses(left, right, sigma, budget), _of_masses(right, left, sigma, budget))


def _of_masses(p: tuple[Pmf, float], q: tuple[Pmf, float], sigma: float, epsilon: float) -> float:
    """Return the divergence of point masses, and what they may be off."""
    missed = p[1] + math.exp(epsilon) * q[1]
    return (gaussian_hockey_stick(p[0], q[0], sigma, epsilon)[1] + missed) * (1 + 2.0**-50)


def least_normal_noise(p: Continuous, q: Continuous, epsilon: Fraction, delta: Fraction) -> float:
    """Return the least deviation that keeps (epsilon, delta), rounded up; 0 where none is needed.

    Raises Unsupported for a density of no kind known, and where no noise is seen to keep so small a delta.

    >>> from takifugu.numbers.densities.tabulated import Tabulated
    >>> triangle, box = Tabulated([0, 1, 2], [0, 1, 0]), Tabulated([0, 2], [0.5, 0.5])
    >>> round(least_normal_noise(triangle, box, Fraction(1, 10), Fraction(1, 100)), 4)
    1.1034
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
    raise Unsupported(f"no normal noise is seen to keep a delta of {at_least(delta)}: give a larger one")

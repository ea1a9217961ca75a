"""Normal noise, any epsilon: sigma = W-infinity/epsilon (k + sqrt(k^2 + epsilon/2)) (Ding22 Theorem 3b).

k = 0.41866 / delta^(1/3), the constant that the proof gives. With the printed 0.41 a step of the proof fails, although
the claim holds (errata E1); the witness shows that sigma too. A baseline: the analytic rule needs far less.

>>> from fractions import Fraction
>>> from takifugu.frameworks import between
>>> from takifugu.laws.pmf import Pmf
>>> from takifugu.problem import Problem
>>> from takifugu.queries import Identity
>>> pair = between(Pmf([0], [1]), Pmf([2], [1]))
>>> bound = MECHANISM.bound(Problem(pair, Identity(), Fraction(1), Fraction(1, 10**5)))
>>> [(name, round(value, 4)) for name, value in bound.witness.numbers]
[('w_infinity', 2.0), ('sigma', 77.7556), ('printed_sigma', 76.1483)]
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.laws.gaussian import gaussian_printed_b
from takifugu.mechanisms.normal_noise import NormalByRule

#: Half of the 0.83732 that the proof of Ding22 Appendix H needs (errata E1).
PROVED_CONSTANT = 0.41866


def _proved(move: Fraction, epsilon: Fraction, delta: Fraction) -> float:
    return gaussian_printed_b(move, epsilon, delta, PROVED_CONSTANT)


MECHANISM = NormalByRule(
    "kantorovich-gaussian-b",
    "Ding 2022, Theorem 3(b) with the constant 0.41866 of its proof",
    _proved,
    "the monotone plan moves mass farthest between these two",
    gaussian_printed_b,
)

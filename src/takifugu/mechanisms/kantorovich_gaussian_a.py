"""Normal noise by the classical rule: sigma = sqrt(2 log(1.25/delta)) W-infinity / epsilon (Ding22 Theorem 3a).

Proved for epsilon at most 1; above it the rule can fail (errata E8a), so it is refused there. A baseline: the analytic
rule needs less.

>>> from fractions import Fraction
>>> from takifugu.frameworks import between
>>> from takifugu.laws.pmf import Pmf
>>> from takifugu.problem import Problem
>>> from takifugu.queries import Identity
>>> pair = between(Pmf([0], [1]), Pmf([2], [1]))
>>> bound = MECHANISM.bound(Problem(pair, Identity(), Fraction(1), Fraction(1, 10**5)))
>>> round(float(bound.randomiser.scale), 6)
9.689611
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.laws.gaussian import gaussian_printed_a
from takifugu.mechanisms.normal_noise import NormalByRule

MECHANISM = NormalByRule(
    "kantorovich-gaussian-a",
    "Ding 2022, Theorem 3(a)",
    gaussian_printed_a,
    "the monotone plan moves mass farthest between these two",
    largest_epsilon=Fraction(1),
)

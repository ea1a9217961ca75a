"""Normal noise that hides a shift by W-infinity, no more: the analytic Gaussian mechanism (Balle and Wang 2018).

If mass can be moved from mu to nu with no move longer than w, then mu*N and nu*N are one mixture of pairs of normal
laws at most w apart; the hockey-stick divergence is convex and grows with the distance, so it is at most that of one
shift by w. sigma is the least for which that is delta.

>>> from fractions import Fraction
>>> from takifugu.frameworks import between
>>> from takifugu.laws.pmf import Pmf
>>> from takifugu.problem import Problem
>>> from takifugu.queries import Identity
>>> pair = between(Pmf([0], [1]), Pmf([2], [1]))
>>> bound = MECHANISM.bound(Problem(pair, Identity(), Fraction(1), Fraction(1, 10**5)))
>>> round(float(bound.randomiser.scale), 8)
7.46126327
"""

from __future__ import annotations

from takifugu.laws.gaussian import gaussian_analytic_sigma
from takifugu.mechanisms.normal_noise import NormalByRule

MECHANISM = NormalByRule(
    "gaussian-analytic",
    "Balle and Wang 2018, Theorem 8, on W-infinity (Ding 2022, Lemma 1)",
    gaussian_analytic_sigma,
    "the answer must move farthest between these two",
)

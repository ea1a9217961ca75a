"""The smallest normal noise: the least sigma at which no comparison's hockey-stick divergence exceeds delta.

For laws mu, nu of the answer the divergence at epsilon of mu*N from nu*N is enclosed from above
(`after_noise.hockey_stick`), both ways. It falls when sigma grows, so the least sigma is found by search, comparison by
comparison, rounded up by at most 1e-10 relative; the sigma found so far is tried first. Never above the analytic sigma
of W-infinity. Where the laws keep (epsilon, delta) themselves, no noise is needed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared, TwoLaws
from takifugu.mechanisms.common.answer_families import Located
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.continuous import OF_NOISE, ComparedDensities
from takifugu.mechanisms.common.largest_need import of_each
from takifugu.mechanisms.common.noise_by_laws import NoiseByLaws, OfDensities
from takifugu.mechanisms.common.rounded_number import least_for_read
from takifugu.mechanisms.normal_by_rule import refusal
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma
from takifugu.numbers.after_noise.hockey_stick import (
    LARGEST_EPSILON,
    gaussian_exact_sigma,
    gaussian_hockey_stick,
    masses_within,
)
from takifugu.numbers.after_noise.laplace_pair import below
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.search import halved, mean

#: How far the epsilon against someone who knows all other components may lie above the least, relatively.
PRECISION = 5e-4


def _needed(compared: Compared, sigma: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a sigma for the comparison: `sigma` itself if it serves."""
    laws = compared.laws()
    p, q, budget, share = laws.p, laws.q, laws.budget(epsilon), laws.share(delta)
    if budget <= 0:
        return Fraction(gaussian_analytic_sigma(Fraction(compared.moves()[-1]), epsilon, delta))
    if sigma and _is_within(p, q, sigma, min(budget, LARGEST_EPSILON), share):
        return sigma
    return Fraction(gaussian_exact_sigma(p, q, budget, share))


def _needed_of_densities(problem: Problem, compared: ComparedDensities) -> Fraction:
    from takifugu.numbers.after_noise.noisy_densities import least_normal_noise

    def least(epsilon: Fraction, delta: Fraction) -> Fraction:
        return Fraction(least_normal_noise(compared.p, compared.q, epsilon, delta))

    return least_for_read(least, compared.rounding, problem.epsilon, problem.delta)


def _loss(located: Located, enough: float, sigma: Fraction, delta: Fraction) -> float:
    """Return an epsilon for every comparison at this sigma and delta."""
    for laws in (compared.laws() for compared in located.family.compared):
        if not _keeps(laws, sigma, enough, delta):
            low, enough = enough, 1.5 * enough
            while not _keeps(laws, sigma, enough, delta):
                low, enough = enough, 1.5 * enough
                if enough > LARGEST_EPSILON:
                    return math.inf
            keeps = partial(_keeps, laws, sigma, delta=delta)
            enough = halved(keeps, enough, low, lambda good, bad: good <= bad * (1 + PRECISION), mean)
    return enough


def _keeps(laws: TwoLaws, sigma: Fraction, epsilon: float, delta: Fraction) -> bool:
    p, q, budget, share = laws.p, laws.q, laws.budget(Fraction(epsilon)), laws.share(delta)
    if budget <= 0:
        return False
    if not sigma:
        return masses_within(p, q, budget, share) and masses_within(q, p, budget, share)
    return budget <= LARGEST_EPSILON and _is_within(p, q, sigma, budget, share)


def _is_within(p: Pmf, q: Pmf, sigma: Fraction, epsilon: Fraction | float, delta: Fraction) -> bool:
    """Whether the divergence after noise is at most delta, both ways."""
    for left, right in ((p, q), (q, p)):
        if gaussian_hockey_stick(left, right, float(sigma), epsilon)[1] > below(delta):
            return False
    return True


MECHANISM = NoiseByLaws(
    "gaussian-exact",
    "enclosed hockey-stick divergence after normal noise; never above Balle and Wang 2018",
    normal_noise, lambda problem: of_each(partial(_needed, epsilon=problem.epsilon, delta=problem.delta)),
    scans=100_000.0,
    nothing="no comparison: the distributions keep epsilon and delta without noise",
    detail="the divergence reaches delta here first", size="sigma", lines=False,
    densities=OfDensities(
        _needed_of_densities, OF_NOISE, "the divergence of the noisy densities reaches delta here first",
    ),
    refused=refusal, lost=lambda problem, sigma: partial(_loss, sigma=sigma, delta=problem.delta),
)  # fmt: skip

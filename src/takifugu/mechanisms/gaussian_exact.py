"""The smallest normal noise: the least sigma at which no comparison's hockey-stick divergence exceeds delta.

For laws mu, nu of the answer the divergence at epsilon of mu*N from nu*N is enclosed from above
(`laws.hockey_stick`), both ways. It falls when sigma grows, so the least sigma is found by search, comparison by
comparison; the sigma found so far is tried first. Never above the analytic sigma of W-infinity. Where the laws keep
(epsilon, delta) themselves, no noise is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.errors import Unsupported
from takifugu.guarantee import Composition
from takifugu.laws.gaussian import gaussian_analytic_sigma, gaussian_exact_sigma
from takifugu.laws.hockey_stick import LARGEST_EPSILON, gaussian_hockey_stick
from takifugu.laws.laplace_pair import below
from takifugu.mechanisms.answer_families import predicted
from takifugu.mechanisms.compared_laws import Comparison, compared_laws
from takifugu.mechanisms.normal_noise import normal_noise, refusal
from takifugu.mechanisms.shares import ALONE, stands_alone
from takifugu.problem import Bound, Cost, Problem, Refusal, Witness


@dataclass(frozen=True)
class GaussianExact:
    """The least sigma for a scalar additive query, rounded up by at most 1e-10 relative."""

    name: str = "gaussian-exact"
    source: str = "enclosed hockey-stick divergence after normal noise; never above Balle and Wang 2018"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws once, and about 100,000 operations per atom for every comparison."""
        return predicted(problem, 100_000.0)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the least rounded normal noise that keeps every comparison within (epsilon, delta).

        >>> from takifugu.frameworks import between
        >>> from takifugu.laws.pmf import Pmf
        >>> from takifugu.queries import Identity
        >>> flu = between(Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1]))
        >>> bound = MECHANISM.bound(Problem(flu, Identity(), Fraction(1), Fraction(1, 10**5)))
        >>> round(float(bound.randomiser.scale), 8)
        5.38222026
        """
        refused = refusal(problem)
        if refused:
            return refused
        sigma, worst = 0.0, "no comparison: the distributions keep epsilon and delta without noise"
        try:
            for comparison in compared_laws(problem):
                needed = _needed(comparison, problem.epsilon, problem.delta, sigma)
                if needed > sigma:
                    sigma, worst = needed, comparison.describe()
            noise = normal_noise(problem, Fraction(sigma))
        except Unsupported as reason:
            return Refusal(str(reason))
        detail = "the divergence reaches delta here first" + (ALONE if stands_alone(problem) else "")
        witness = Witness(worst, detail, (("sigma", float(noise.scale)),))
        return Bound(noise, problem.epsilon, problem.delta, Composition.SINGLE, witness)


MECHANISM = GaussianExact()


def _needed(comparison: Comparison, epsilon: Fraction, delta: Fraction, sigma: float) -> float:
    """Return a sigma that serves the comparison: `sigma` itself where it does."""
    p, q, budget, share = comparison.p, comparison.q, comparison.budget(epsilon), comparison.share(delta)
    if budget <= 0:
        return gaussian_analytic_sigma(comparison.certain_move(), epsilon, delta)
    if sigma:
        capped = min(budget, LARGEST_EPSILON)
        found = (gaussian_hockey_stick(one, other, sigma, capped)[1] for one, other in ((p, q), (q, p)))
        if all(value <= below(share) for value in found):
            return sigma
    return gaussian_exact_sigma(p, q, budget, share)

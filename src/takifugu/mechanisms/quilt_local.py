"""Quilts with the laws of their near sets: never more noise than the same quilts with D(N).

Let the answer be F(X) = sum over entries of f_j(X_j), Q a set of nodes without X_i, N the nodes near X_i (X_i
included) and R the rest, with (X_i, X_N) independent of X_R given X_Q. For an ordered pair a -> b and a value x_Q with
P(x_Q | a) > 0 let r(x_Q) = log P(x_Q | a)/P(x_Q | b), and let mu_a, mu_b be the laws of the near sum
sum over j in N of f_j(X_j) given (X_i = a, X_Q = x_Q) and given (X_i = b, X_Q = x_Q).

Claim. Laplace noise Z of scale s hides a against b up to max over x_Q of r(x_Q) + loss(x_Q), where loss(x_Q) is the
supremum of the log-ratio of the densities of mu_a and mu_b after noise Z.

Proof. Given X_i = a and X_Q = x_Q the answer is the near sum plus the constant sum over Q of f_j(x_j) plus the remote
sum. The remote sum is independent of the near sum and of X_i given x_Q, and its law rho is the same given a and given
b: this is what (X_i, X_N) _||_ X_R | X_Q says, and what X_i _||_ X_R | X_Q alone does not. So the noised answer has
density sum over x_Q of P(x_Q | a) (mu_a * Z * rho_{x_Q})(y - f(x_Q)). Here P(x_Q | a) = e^{r(x_Q)} P(x_Q | b), with
both masses above zero wherever r is finite, and mu_a * Z <= e^{loss(x_Q)} mu_b * Z pointwise; convolving with the same
law rho and shifting by the same constant keeps the second inequality. Every term is at most e^{max(r + loss)} times
the same term given b, and so is the sum. QED

What Q itself contributes is the same on both sides and cancels, so it is left out of the near sum. The quilt requires
the least s with r(x_Q) + loss(x_Q) <= epsilon for every x_Q; r(x_Q) = epsilon is enough where the near laws are one
point, and a quilt with an x_Q of r(x_Q) > epsilon is inadmissible: no noise on the near sum makes up for it.

The same quilt in `quilt-exact` requires D(N)/(epsilon - e(Q)), and loss(x_Q) <= D(N)/s, r(x_Q) <= e(Q). The trivial
quilt has no x_Q, and its near law is the law of the answer: that is `laplace-exact`, and no quilt requires less
where it is known. So quilts are searched where that law is out of reach (benchmarks/near_laws.py says what it gains).
Each ordered pair takes its own best quilt. The independence holds where removing Q from the moral graph leaves no path
from X_i to R: N is all that such paths reach.

The promise is about the law of this one number. The near nodes hide the secret by their own randomness, which a second
release may remove (x1, x2 fair bits: x1 xor x2 says nothing about x1, and nor does x2, but both give x1 away), so it
is alone. Source: docs/decisions.md#local-law-quilts.
"""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search, quilts
from takifugu.mechanisms.common.quilt_noise import quilt_bound, search_cost


@dataclass(frozen=True)
class QuiltLocal:
    """Laplace noise of the scale that the worst pair's best quilt requires, from the laws of its near set.

    For scalar additive queries on chains of a stationary or given start and on Bayesian networks. Never more than
    `quilt-exact`, whose bound is one of the candidates.
    """

    name: str = "quilt-local-exact"
    source: str = (
        "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Algorithm 2, with the exact loss of the distributions of "
        "near sets"
    )

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: every quilt that is searched, for each pair and value, and the laws of the answer."""
        return search_cost(problem, self._search)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return enough noise for every part.

        >>> from takifugu import Count, MarkovChain, Pufferfish, every_entry
        >>> from fractions import Fraction
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.8, 0.2], [0.2, 0.8]], length=30))
        >>> bound = MECHANISM.bound(Problem(framework, Count(1), Fraction(2)))
        >>> round(float(bound.randomiser.scale), 2), str(bound.covers)
        (1.73, 'output')
        """
        return quilt_bound(problem, self._search, Covers.OUTPUT)

    def _search(self, part: Part) -> Search:
        return quilts(part.belief).local(part)


MECHANISM = QuiltLocal()

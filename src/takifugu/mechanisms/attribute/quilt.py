"""The attribute-private Markov quilt mechanism: noise for the columns near a sensitive parameter (Zhang22 Algorithm 3).

For every sensitive parameter phi_i the scale is the least over quilts Q of D(N)/(epsilon - e(Q)): D(N) is how far the
answer moves when the whole columns near phi_i change, e(Q) the largest log-ratio of the distribution of phi_Q given two
values of phi_i. The trivial quilt, D(everything)/epsilon, is always a candidate. Where D(N) = 0 and e(Q) <= epsilon no
noise is needed; else e(Q) < epsilon is required (errata E14: the printed algorithm divides by zero). The promise is
Theorem 4 for each two values, hence for each two sets of them (joint convexity). The proof holds at each output, so
releases together cost the least over quilts of e(Q) + sum_k D_k(N)/b_k (`network.columns`).
"""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.analysis.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search, about_columns, quilts
from takifugu.mechanisms.common.quilt_noise import quilt_bound, search_cost


@dataclass(frozen=True)
class AttributeQuilt:
    """Laplace noise of scale max over sensitive parameters of min over quilts of D(N)/(epsilon - e(Q)), e(Q) exact."""

    name: str = "attribute-quilt"
    source: str = "Zhang, Ohrimenko and Cummings 2022, Algorithm 3 and Theorem 4, corrected where e(Q) = epsilon"

    def cost(self, problem: Problem) -> Cost:
        return search_cost(problem, _search)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return enough noise for every sensitive parameter, or why there is none.

        >>> from fractions import Fraction
        >>> import takifugu as tf
        >>> coins = {"low": {1: "0.4", 0: "0.6"}, "high": {1: "0.6", 0: "0.4"}}
        >>> net = tf.BayesianNetwork([("h", ["low", "high"], [], [0.5, 0.5]),
        ...                           ("i", ["low", "high"], ["h"], [[0.6, 0.4], [0.4, 0.6]])])
        >>> belief = tf.Parameters(net, {"h": coins, "i": coins}, records=500)
        >>> framework = tf.Pufferfish(tf.distribution_parameter("i"), belief)
        >>> bound = MECHANISM.bound(Problem(framework, tf.Count(1, entries=["i"]), Fraction(1)))
        >>> float(bound.randomiser.scale), MECHANISM.bound(Problem(framework, tf.Sum("h"), Fraction(1))).randomiser.kind
        (500.0, 'none')
        """
        return quilt_bound(problem, _search)


def _search(part: Part) -> Search:
    known = quilts(part.belief)
    return known.exact(part) if known.of_columns else about_columns(part)


MECHANISM = AttributeQuilt()

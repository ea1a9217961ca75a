"""Markov quilts: noise of the scale that the worst secret needs with its best quilt, for entries and for columns.

Of columns (Zhang22 Algorithm 3), for every sensitive parameter phi_i the scale is the least over quilts Q of
D(N)/(epsilon - e(Q)): D(N) is how far the answer moves when the whole columns near phi_i change, e(Q) the largest
log-ratio of the distribution of phi_Q given two values of phi_i. The trivial quilt, D(everything)/epsilon, is always a
candidate. Where D(N) = 0 and e(Q) <= epsilon no noise is needed; else e(Q) < epsilon is required (errata E14: the
printed algorithm divides by zero). The promise is Theorem 4 for each two values, hence for each two sets of them (joint
convexity). The proof holds at each output, so releases together cost the least over quilts of e(Q) + sum_k D_k(N)/b_k
(`network.columns`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import Search, about_columns, quilts
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_noise import covering

_NO_ENTRIES = (
    'two distributions of an answer have no values, so no quilts: use mechanism="wasserstein" or "laplace-exact"'
)


@dataclass(frozen=True)
class Quilts:
    """Laplace noise of scale max over secrets of min over quilts of D(N)/(epsilon - e(Q))."""

    name: str
    source: str
    search: Callable[[Part], Search]  # for the quilts of one part

    def cost(self, problem: Problem) -> Cost:
        """Predict the searches of all parts; none if one certainly fails."""
        operations = memory = 0.0
        for part in problem.parts:
            search = self.search(part)
            if search.reason:
                return Cost(0.0)
            cost = search.cost(problem.epsilon)
            operations, memory = operations + cost.operations, max(memory, cost.memory)
        return Cost(operations, memory)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the noise for the worst part, or the first refusal."""
        if problem.is_pair:
            return Refusal(_NO_ENTRIES)
        problem.check_single()
        searches = list(map(self.search, problem.parts))
        reasons = [search.reason for search in searches if search.reason]
        if reasons:
            return Refusal(reasons[0])
        try:
            worst_of_parts = [search.worst(problem.epsilon) for search in searches]
        except Unsupported as error:
            return Refusal(error.message)
        worst = max(worst_of_parts, key=lambda secret: secret.scale)
        # Vector answers get the same scale in every cell: D(N) is an L1 change (Song17 Appendix B.2).
        noise, witness = covering(problem, worst.scale), worst.witness()
        witness = replace(witness, numbers=witness.numbers or (("scale", float(noise.scale)),))
        notes = [secret.note for secret in worst_of_parts if secret.note]
        if notes:
            witness = replace(witness, detail=f"{witness.detail}; {notes[0]}")
        return Bound(noise, problem.epsilon, Fraction(0), Covers.ENTRIES, witness)


def _of_columns(part: Part) -> Search:
    in_belief = quilts(part.belief)
    return in_belief.exact(part) if in_belief.of_columns else about_columns(part)


_SONG = "Song, Wang and Chaudhuri (arXiv 1603.03977v1)"
#: For chains with a stationary, a given or any initial distribution, and for Bayesian networks. Never more noise than
#: group-dp, whose quilt is the trivial one (influence/quilts/mqm_exact).
EXACT = Quilts(
    "quilt-exact", f"{_SONG}, Algorithms 2 and 3, with exact max-influence",
    lambda part: quilts(part.belief).exact(part),
)  # fmt: skip
#: e(Q) is bounded by Lemma B.4 for the class of all reversible chains with stationary masses >= pi and eigengap >= g
#: with any initial distribution, or for one such chain with its own constants. Corrected by errata E3: the bound
#: requires real nodes to be farther than log(1/pi)/g, the node after an entry is missing where i + b = T + 1, and
#: e = epsilon is not enough. By contraction for a region of transition matrices (region_influence), and exactly for all
#: binary chains with stays in an interval (interval_influence); else the trivial quilt remains, as for group-dp.
APPROX = Quilts(
    "quilt-approx", f"{_SONG}, Algorithms 3 to 5 and Lemma B.4, corrected; docs/theory/chain-classes",
    lambda part: quilts(part.belief).bounded(part),
)  # fmt: skip
#: The secrets are sensitive parameters, the near sets columns, e(Q) exact.
OF_COLUMNS = Quilts(
    "attribute-quilt",
    "Zhang, Ohrimenko and Cummings 2022, Algorithm 3 and Theorem 4, corrected where e(Q) = epsilon",
    _of_columns,
)

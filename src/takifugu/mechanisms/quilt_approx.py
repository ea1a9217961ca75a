"""Markov quilts of a chain with a proved influence bound, for classes of chains (Song17 Algorithms 3 to 5)."""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.analysis.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search, quilts
from takifugu.mechanisms.common.quilt_noise import quilt_bound, search_cost


@dataclass(frozen=True)
class QuiltApprox:
    """Laplace noise of scale max over entries of min over quilts of D(N)/(epsilon - e(Q)), e(Q) bounded.

    By Lemma B.4 for the class of all reversible chains with stationary masses >= pi and eigengap >= g with any initial
    distribution, or for one such chain with its own constants. Corrected by errata E3: the bound requires real nodes to
    be farther than log(1/pi)/g, the node after an entry is missing where i + b = T + 1, and e = epsilon is not enough.
    By contraction for a region of transition matrices (region_influence), and exactly for all binary chains with stays
    in an interval (interval_influence); where nothing contracts the trivial quilt remains, as for group.
    """

    name: str = "quilt-approx"
    source: str = (
        "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Algorithms 3 to 5 and Lemma B.4, corrected; "
        "docs/theory/chain-classes"
    )

    def cost(self, problem: Problem) -> Cost:
        return search_cost(problem, _search)

    def bound(self, problem: Problem) -> Bound | Refusal:
        return quilt_bound(problem, _search)


def _search(part: Part) -> Search:
    return quilts(part.belief).bounded(part)


MECHANISM = QuiltApprox()

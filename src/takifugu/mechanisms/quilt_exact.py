"""Markov quilts of chains and networks with exact max-influence (Song17 Algorithms 2 and 3)."""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.analysis.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search, quilts
from takifugu.mechanisms.common.quilt_noise import quilt_bound, search_cost


@dataclass(frozen=True)
class QuiltExact:
    """Laplace noise of scale max over entries of min over quilts of D(N)/(epsilon - e(Q)), e(Q) exact.

    For chains with a stationary, a given or any initial distribution, and for Bayesian networks. Never more than group
    noise, whose quilt is the trivial one. Source: docs/decisions.md#exact-max-influence.
    """

    name: str = "quilt-exact"
    source: str = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Algorithms 2 and 3, with exact max-influence"

    def cost(self, problem: Problem) -> Cost:
        return search_cost(problem, _search)

    def bound(self, problem: Problem) -> Bound | Refusal:
        return quilt_bound(problem, _search)


def _search(part: Part) -> Search:
    return quilts(part.belief).exact(part)


MECHANISM = QuiltExact()

"""Differential privacy of a group: noise for all changes of a component (Song17 Appendix A.2, Theorem A.5)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.sensitivity import component_change
from takifugu.mechanisms.common.answer_noise import covering


@dataclass(frozen=True)
class GroupDP:
    """Laplace noise of scale D/epsilon, D the largest L1 change of the answer when one component changes at will."""

    name: str = "group-dp"
    source: str = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Appendix A.2, Theorem A.5"

    def cost(self, problem: Problem) -> Cost:
        return Cost(1.0 + sum(part.belief.size for part in problem.parts))

    def bound(self, problem: Problem) -> Bound | Refusal:
        # The answer is differentially private to whole components: so for every belief with these, classes included.
        change = component_change(problem)
        noise = covering(problem, change.size / problem.unit / problem.epsilon)
        return Bound(noise, problem.epsilon, Fraction(0), change.covers, change.witness)


MECHANISM = GroupDP()

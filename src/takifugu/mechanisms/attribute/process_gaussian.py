"""Normal noise for the values of a Gaussian process: it hides the moves of each, which add up by their squares.

The moves are bounded whatever is left of the other values beside a hidden one, with no credit for the belief's own
randomness (docs/theory/attributes.md, Theorem 16). So each release is as one normal release with a known shift, and
later ones may be chosen after its output (`accounting.composition.processes`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from takifugu.analysis.bounds import Bound, Cost, Refusal
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.mechanisms.attribute.gaussian import are_processes, predicted
from takifugu.mechanisms.attribute.gaussian_exact import least_noise
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.mechanisms.normal_by_rule import refusal

#: What it composes with.
ADDS_UP = "it adds up with other normal noise about the same values, and with no other noise"


@dataclass(frozen=True)
class ProcessGaussian:
    """The least normal noise that hides every move of a value, its deviation rounded up by at most 1e-10 relative."""

    name: str = "process-gaussian"
    source: str = "docs/theory/attributes.md, Theorem 16, with the exact delta of Balle and Wang 2018, Theorem 8"

    def cost(self, problem: Problem) -> Cost:
        return predicted(problem)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        if refused := refusal(problem):
            return refused
        if problem.is_pair or not are_processes(problem):
            return Refusal("it hides values of one Gaussian process, and the belief is none")
        return replace(least_noise(problem, Covers.ENTRIES), conditions=(ADDS_UP,))


MECHANISM = ProcessGaussian()

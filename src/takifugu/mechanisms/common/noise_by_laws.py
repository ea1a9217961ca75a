"""Mechanisms that look at laws of the answer: noise of the largest scale that a comparison of two of them needs.

A mechanism is a row: what a comparison of laws of finitely many answers needs, and what one of densities needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser
from takifugu.mechanisms.common.answer_families import Loss, knowledge_conditions, predicted
from takifugu.mechanisms.common.continuous import (
    ComparedDensities,
    compared_densities,
    density_cost,
    largest_of_densities,
)
from takifugu.mechanisms.common.largest_need import Needs, largest_need, refusing
from takifugu.mechanisms.common.shares import alone


@dataclass(frozen=True)
class OfDensities:
    """What a comparison of densities needs, in answer units, the operations for it, and the words of the witness."""

    need: Callable[[Problem, ComparedDensities], Fraction]
    operations: float
    detail: str


@dataclass(frozen=True)
class NoiseByLaws:
    """Noise of the largest scale that a comparison needs, by what each one needs at the problem's epsilon and delta."""

    name: str
    source: str
    noise: Callable[[Problem, Fraction], Randomiser]
    needs: Callable[[Problem], Needs]
    scans: float  # passes over the laws, for the predicted work
    nothing: str  # the comparison's words where no comparison needs noise
    detail: str
    size: str = "scale"  # what the witness calls the scale, or the scale times epsilon, a move
    is_move: bool = False
    lines: bool = True  # whether an answer of several cells that moves along one line counts as one number
    #: Where losses of Laplace noise are enough, without laws: a scale to begin with.
    start: Callable[[Problem], Fraction] | None = None
    densities: OfDensities | None = None
    #: Why a delta rules it out; None where it takes no delta.
    refused: Callable[[Problem], Refusal | None] | None = None
    #: What the scale loses against someone who knows all other components; None where it says nothing of them.
    lost: Callable[[Problem, Fraction], Loss] | None = None

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: on all densities that are compared, or all laws."""
        of_densities = self.densities and density_cost(problem, self.densities.operations)
        return of_densities or predicted(problem, self.scans, laplace=self.start is not None, lines=self.lines)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the noise with the comparison that needs it, or a refusal."""
        if self.refused and (refused := self.refused(problem)):
            return refused
        detail, conditions = self.detail, tuple[str, ...]()
        if self.densities and (comparisons := compared_densities(problem)) is not None:
            need, detail = partial(self.densities.need, problem), self.densities.detail
            size, worst = largest_of_densities(comparisons, need, self.nothing)
            noise = self.noise(problem, size / problem.unit)
        else:
            start, serves = Fraction(0), None
            if self.start:
                start, serves = self.start(problem), lambda stack, enough: stack.keeps(problem.epsilon, enough)
            scale, worst = largest_need(problem, self.needs(problem), self.nothing, self.lines, serves, start)
            noise = self.noise(problem, scale)
            if self.lost:
                detail += alone(problem, self.lines)
                conditions = knowledge_conditions(problem, self.lost(problem, scale), self.lines)
        delta = problem.delta if self.refused else Fraction(0)
        shown = noise.scale * problem.epsilon if self.is_move else noise.scale
        witness = Witness(worst, detail, ((self.size, float(shown)),))
        return Bound(noise, problem.epsilon, delta, Covers.OUTPUT, witness, conditions)

"""The Wasserstein mechanism: Laplace noise of scale W / epsilon, W the largest W-infinity of a comparison.

Let mu and nu be the laws of the answer F(X) given the two sides of a comparison. If mass can be moved from mu to nu
with no move longer than W, then noise that hides a change of W hides which law the answer came from:
log-ratio <= W / b for Laplace noise of scale b (Song17 Algorithm 1 and Theorem 3.2). W is at most the group sensitivity
(Song17 Theorem 3.3). An answer of several cells that moves along one line, such as a histogram over two states, counts
as one number (`lines`). The plan of Ding22 Lemma 1 is the monotone one, whose joint distribution function is min(F, G):
among the plans of least mean |x - x'| its largest move is W, while others may move twice as far (errata E13). So
`kantorovich` is another name of this mechanism. It is a promise about the law of this one answer, and does not compose
(errata E12).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_families import Located, predicted
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.continuous import OF_MOVE, density_cost, farthest_of_densities
from takifugu.mechanisms.common.largest_need import Bools, Stack, largest_need, refusing


@dataclass(frozen=True)
class Wasserstein:
    """Song17 Algorithm 1, for every belief with a law of the answer and every answer of one number or on one line."""

    name: str = "wasserstein"
    source: str = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Algorithm 1 and Theorem 3.2"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws, and 400 operations per atom and comparison."""
        return density_cost(problem, OF_MOVE) or predicted(problem, 400.0, laplace=True, lines=True)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the noise of scale max W-infinity / epsilon over all comparisons."""
        if (of_densities := farthest_of_densities(problem)) is not None:
            move, words = of_densities
            return self._noise(problem, move / (problem.unit * problem.epsilon), words, float(move))
        farthest = Fraction(0)

        def needs(located: Located, scale: Fraction) -> Iterator[tuple[Fraction, Compared]]:
            nonlocal farthest
            for compared, loss in zip(located.family.compared, located.family.losses(scale), strict=True):
                if compared.moves()[0] <= farthest and loss <= problem.epsilon:
                    continue
                move, needed = compared.wasserstein(problem.epsilon)
                if move > farthest or needed > scale:
                    farthest, scale = max(farthest, Fraction(move)), max(scale, needed)
                    yield scale, compared

        def serves(stack: Stack, scale: Fraction) -> Bools:
            return stack.keeps(problem.epsilon, scale) & ~stack.may_move_beyond(farthest)

        nothing = "no comparison: no answer has to move"
        scale, worst = largest_need(problem, needs, nothing, lines=True, serves=serves)
        return self._noise(problem, scale, worst, float(farthest * problem.unit))

    def _noise(self, problem: Problem, scale: Fraction, worst: str, move: float) -> Bound:
        noise = laplace_noise(problem, scale)
        witness = Witness(worst, "the answer must move farthest between these two", (("w_infinity", move),))
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, witness)


MECHANISM = Wasserstein()

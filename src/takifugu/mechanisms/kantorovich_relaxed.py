"""The relaxed Kantorovich mechanism: the scale at which the monotone plan's mean cost is bounded (Ding22 Theorem 2).

The smallest theta with sum_x e^{|x - x'|/theta} pi(x, x') <= e^epsilon p(x' | s_j) for all x', and the same with the
two sides exchanged: inequalities and a smallest theta, where Theorem 2 prints equalities and a largest one (errata N1);
single sums, where (16a) and (16b) print double ones (errata X7). It lies between the exact Laplace scale and W-infinity
/ epsilon. Laplace noise on the grid obeys the same inequality P(y - x) <= e^{|x - x'|/theta} P(y - x').
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_families import predicted
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.largest_need import largest_need, of_each, refusing
from takifugu.numbers.after_noise.noised import RelaxedPair


@dataclass(frozen=True)
class KantorovichRelaxed:
    """Ding22 Theorem 2 as corrected in errata N1, for beliefs with a law of the answer, one number or one line."""

    name: str = "kantorovich-relaxed"
    source: str = "Ding 2022, Theorem 2 with inequalities"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws, and 40,000 operations per atom and comparison."""
        return predicted(problem, 40_000.0, lines=True)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return noise of the largest scale any comparison needs."""
        needs = of_each(partial(_needed, epsilon=problem.epsilon))
        scale, worst = largest_need(problem, needs, "no comparison: no answer has to move", lines=True)
        noise = laplace_noise(problem, scale)
        detail = "the mean cost of the plan's moves is largest between these two"
        witness = Witness(worst, detail, (("theta", float(noise.scale)),))
        return Bound(noise, problem.epsilon, Fraction(0), Covers.OUTPUT, witness)


MECHANISM = KantorovichRelaxed()


def _needed(compared: Compared, scale: Fraction, epsilon: Fraction) -> Fraction:
    """Return a scale for the comparison: `scale` itself if it serves."""
    laws, (_, strict) = compared.laws(), compared.wasserstein(epsilon)
    budget = laws.budget(epsilon)
    if strict <= scale:
        return scale
    if budget <= 0:
        return strict
    pair = RelaxedPair.of(laws.p, laws.q)
    if pair.holds(scale, budget):
        return scale
    return min(Fraction(pair.smallest(budget)), strict)

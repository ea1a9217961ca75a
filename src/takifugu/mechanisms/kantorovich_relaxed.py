"""The relaxed Kantorovich mechanism: the scale at which the monotone plan's mean cost is bounded (Ding22 Theorem 2).

The smallest theta with sum_x e^{|x - x'|/theta} pi(x, x') <= e^epsilon p(x' | s_j) for all x', and the same with the
two sides exchanged: inequalities and a smallest theta, where Theorem 2 prints equalities and a largest one (errata N1);
single sums, where (16a) and (16b) print double ones (errata X7). It lies between the exact Laplace scale and W-infinity
/ epsilon. Laplace noise on the grid obeys the same inequality P(y - x) <= e^{|x - x'|/theta} P(y - x').
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.largest_need import of_each
from takifugu.mechanisms.common.noise_by_laws import NoiseByLaws
from takifugu.numbers.after_noise.noised import RelaxedPair


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


MECHANISM = NoiseByLaws(
    "kantorovich-relaxed",
    "Ding 2022, Theorem 2 with inequalities",
    laplace_noise, lambda problem: of_each(partial(_needed, epsilon=problem.epsilon)), scans=40_000.0,
    nothing="no comparison: no answer has to move",
    detail="the mean cost of the plan's moves is largest between these two", size="theta",
)  # fmt: skip

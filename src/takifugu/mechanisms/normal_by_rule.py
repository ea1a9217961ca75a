"""Normal noise whose deviation is a rule of W-infinity: the analytic one and two of Ding22.

`gaussian-analytic` (Balle and Wang 2018): if mass can be moved from mu to nu with no move longer than w, then mu*N and
nu*N are one mixture of pairs of normal laws at most w apart; the hockey-stick divergence is convex and grows with the
distance, so it is at most that of one shift by w. sigma is the least for which that is delta.

`kantorovich-gaussian-a` (Ding22 Theorem 3a): sigma = sqrt(2 log(1.25/delta)) W-infinity / epsilon, the classical rule.
Proved for epsilon at most 1; above it the rule can fail (errata E8a), so it is refused there.

`kantorovich-gaussian-b` (Ding22 Theorem 3b): sigma = W-infinity/epsilon (k + sqrt(k^2 + epsilon/2)), any epsilon.
k = 0.41866 / delta^(1/3), the constant that the proof gives: this is the corrected rule, not the printed one. With the
printed 0.41 a step of the proof fails, although the claim holds (errata E1); the witness shows that sigma beside it.
Both rules are for comparison: the analytic one needs less.

>>> from takifugu import Identity, distribution_pair
>>> from takifugu.numbers import Pmf
>>> pair = Problem(distribution_pair(Pmf([0], [1]), Pmf([2], [1])), Identity(), Fraction(1), Fraction(1, 10**5))
>>> [round(float(rule.bound(pair).randomiser.scale), 6) for rule in (ANALYTIC, RULE_A, RULE_B)]
[7.461263, 9.689611, 77.755625]
>>> RULE_B.bound(pair).witness.numbers[2]  # doctest: +ELLIPSIS
('printed_sigma', 76.14...)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.core.cache import memoised
from takifugu.mechanisms.common.answer_families import predicted
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.continuous import OF_MOVE, density_cost, farthest_of_densities
from takifugu.mechanisms.common.largest_need import largest_need, of_each, refusing
from takifugu.numbers.after_noise.gaussian import (
    PRINTED_CONSTANT,
    gaussian_analytic_sigma,
    gaussian_rule_a,
    gaussian_rule_b,
)
from takifugu.numbers.transport.on_the_line import w_infinity

#: Normal tails are computed down to this delta.
LEAST_DELTA = Fraction(1, 10**249)
#: The share of delta that may pay for mass whose place is in doubt because masses are rounded.
SPARE = Fraction(1, 2**20)
NO_DELTA = (
    "delta is 0: the log-ratio of normal noise has no bound, so it cannot keep a pure promise; "
    "give a delta above 0, for example 1e-6"
)

Rule = Callable[[Fraction, Fraction, Fraction], float]


@dataclass(frozen=True)
class Move:
    """The largest move of any comparison, in the units of the answer families, when mass `spare` may stay unmatched."""

    size: Fraction
    spare: Fraction
    worst: str


def refusal(problem: Problem) -> Refusal | None:
    """Return why a delta rules normal noise out."""
    if not problem.delta:
        return Refusal(NO_DELTA)
    if problem.delta < LEAST_DELTA:
        return Refusal("delta is below 1e-249, where normal tails are not computed: use Laplace noise, delta=0")
    return None


@memoised
def largest_move(problem: Problem) -> Move:
    """Return W-infinity of the comparison with the farthest move, exact without spare mass for exact laws."""
    if (of_densities := farthest_of_densities(problem)) is not None:
        return Move(of_densities[0] / problem.unit, Fraction(0), of_densities[1])
    # Rounded masses leave in doubt where a little mass goes: a share of delta pays for it, or the move is larger.
    spare = Fraction(0)

    def need(compared: Compared, enough: Fraction) -> Fraction:
        nonlocal spare
        move, unmatched = _move(compared, problem.delta)
        spare = max(spare, unmatched)
        return max(move, enough)

    size, worst = largest_need(problem, of_each(need), "no comparison: no answer has to move")
    return Move(size, spare, worst)


def _move(compared: Compared, delta: Fraction) -> tuple[Fraction, Fraction]:
    laws = compared.laws()
    if not laws.error:
        return Fraction(w_infinity(laws.p, laws.q)), Fraction(0)
    error, certain = Fraction(laws.error), Fraction(compared.moves()[-1])
    spare = max(delta * SPARE, 4 * error)
    if spare > delta / 4:
        return certain, Fraction(0)
    return min(Fraction(w_infinity(laws.p, laws.q, spare - 2 * error)), certain), spare


@dataclass(frozen=True)
class NormalByRule:
    """Normal noise by a rule of (W-infinity, epsilon, delta), proved up to `largest_epsilon` if one is set."""

    name: str
    source: str
    rule: Rule
    detail: str
    printed: Rule | None = None  # as the paper prints it, where that is another one: shown beside it
    largest_epsilon: Fraction | None = None

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws, and 3,000 operations per atom and comparison."""
        return density_cost(problem, OF_MOVE) or predicted(problem, 3_000.0)

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise, or a refusal."""
        if self.largest_epsilon is not None and problem.epsilon > self.largest_epsilon:
            return Refusal(
                f"this rule is proved for epsilon at most {self.largest_epsilon}, and can fail above: use "
                'mechanism="gaussian-exact" or "kantorovich-gaussian-b"'
            )
        refused = refusal(problem)
        if refused:
            return refused
        move = largest_move(problem)
        noise = normal_noise(problem, Fraction(self.rule(move.size, problem.epsilon, problem.delta - move.spare)))
        size = move.size * problem.unit
        numbers = [("w_infinity", float(size)), ("sigma", float(noise.scale))]
        if self.printed:
            numbers.append(("printed_sigma", self.printed(size, problem.epsilon, problem.delta)))
        witness = Witness(move.worst, self.detail, tuple(numbers))
        return Bound(noise, problem.epsilon, problem.delta, Covers.OUTPUT, witness)


ANALYTIC = NormalByRule(
    "gaussian-analytic",
    "Balle and Wang 2018, Theorem 8, on W-infinity (Ding 2022, Lemma 1)",
    gaussian_analytic_sigma,
    "the answer must move farthest between these two",
)
RULE_A = NormalByRule(
    "kantorovich-gaussian-a",
    "Ding 2022, Theorem 3(a)",
    gaussian_rule_a,
    "the monotone plan moves mass farthest between these two",
    largest_epsilon=Fraction(1),
)
RULE_B = NormalByRule(
    "kantorovich-gaussian-b",
    "Ding 2022, Theorem 3(b) with the constant 0.41866 of its proof",
    gaussian_rule_b,
    "the monotone plan moves mass farthest between these two",
    lambda move, epsilon, delta: gaussian_rule_b(move, epsilon, delta, PRINTED_CONSTANT),
)

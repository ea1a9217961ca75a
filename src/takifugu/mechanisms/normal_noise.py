"""What the mechanisms with normal noise share: the noise, when there is none, and the largest move behind sigma."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from takifugu.errors import Unsupported
from takifugu.guarantee import Composition
from takifugu.laws.rationals import round_up
from takifugu.laws.transport import w_infinity
from takifugu.mechanisms.answer_families import predicted
from takifugu.mechanisms.compared_laws import Comparison, compared_laws
from takifugu.problem import Bound, Cost, Problem, Refusal, Witness, is_on_grid
from takifugu.randomisers import Exact, RoundedNormal

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


def normal_noise(problem: Problem, sigma: Fraction) -> Exact | RoundedNormal:
    """Return normal noise of a deviation in the units of the answer families, rounded once to the answer's grid.

    Rounding is post-processing, so what is proved for the continuous noise holds. No noise for sigma 0.

    Raises Unsupported when two laws are compared and the query is not Identity().
    """
    on_grid = is_on_grid(problem)
    if not sigma:
        return Exact(problem.grid, 1, on_grid)
    return RoundedNormal(round_up(sigma if problem.is_pair else sigma * problem.grid), problem.grid, 1, on_grid)


def largest_move(problem: Problem) -> Move:
    """Return W-infinity of the comparison that needs the farthest move; exact, with no spare mass, for exact laws.

    Rounded masses leave in doubt where a little of the mass goes: a share of delta pays for it, or else the move is
    the largest that is possible.
    """
    return problem.kept(Move, lambda: _largest_move(problem))  # three mechanisms need it


def _largest_move(problem: Problem) -> Move:
    size, spare, worst = Fraction(0), Fraction(0), "no comparison: no answer has to move"
    for comparison in compared_laws(problem):
        move, unmatched = _move(comparison, problem.delta)
        spare = max(spare, unmatched)
        if move > size:
            size, worst = move, comparison.describe()
    return Move(size, spare, worst)


def _move(comparison: Comparison, delta: Fraction) -> tuple[Fraction, Fraction]:
    if not comparison.error:
        return Fraction(w_infinity(comparison.p, comparison.q)), Fraction(0)
    error = Fraction(comparison.error)
    spare = max(delta * SPARE, 4 * error)
    if spare > delta / 4:
        return comparison.certain_move(), Fraction(0)
    near = Fraction(w_infinity(comparison.p, comparison.q, spare - 2 * error))
    return min(near, comparison.certain_move()), spare


@dataclass(frozen=True)
class NormalByRule:
    """Normal noise whose sigma is a rule of (W-infinity, epsilon, delta), proved up to `largest_epsilon` if one is set.

    The least W-infinity that serves every comparison is taken. `printed` is another rule, shown beside it.
    """

    name: str
    source: str
    rule: Rule
    detail: str
    printed: Rule | None = None
    largest_epsilon: Fraction | None = None

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: all laws once, and about 3,000 operations per atom for every comparison."""
        return predicted(problem, 3_000.0)

    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the rounded normal noise; a refusal for delta 0, and where the rule is not proved."""
        if self.largest_epsilon is not None and problem.epsilon > self.largest_epsilon:
            return Refusal(
                f"this rule is proved for epsilon at most {self.largest_epsilon}, and can fail above: use "
                'mechanism="gaussian-exact" or "kantorovich-gaussian-b"'
            )
        refused = refusal(problem)
        if refused:
            return refused
        try:
            move = largest_move(problem)
            sigma = self.rule(move.size, problem.epsilon, problem.delta - move.spare)
            noise = normal_noise(problem, Fraction(sigma))
        except Unsupported as reason:
            return Refusal(str(reason))
        unit = Fraction(1) if problem.is_pair else problem.grid
        numbers = [("w_infinity", float(move.size * unit)), ("sigma", float(noise.scale))]
        if self.printed:
            numbers.append(("printed_sigma", self.printed(move.size * unit, problem.epsilon, problem.delta)))
        witness = Witness(move.worst, self.detail, tuple(numbers))
        return Bound(noise, problem.epsilon, problem.delta, Composition.SINGLE, witness)

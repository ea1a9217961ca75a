"""What a search for the least scale by curves takes, and which problems have none: for noise of every law."""

from __future__ import annotations

from fractions import Fraction

from takifugu.analysis.problem import Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search
from takifugu.analysis.questions.influence import quilts as quilts_of
from takifugu.influence.curves import CURVES, is_least
from takifugu.influence.profiles.patience import EVALUATIONS, MOST_SEARCHED, SEARCHED
from takifugu.model.queries import Additive


def unknown(problem: Problem) -> Refusal | None:
    """Return why no curve is known for a problem."""
    if problem.is_pair:
        return Refusal("two distributions of an answer have no values: use wasserstein or laplace-exact")
    for part in problem.parts:
        if CURVES.of(part.belief) is None or not isinstance(part.answer, Additive):
            return Refusal(
                f"no influence curve is known for {part.belief.describe()}: use quilt-exact, quilt-approx or group"
            )
    return None


def predicted(problem: Problem, searches: float = 1.0) -> Cost:
    """Predict the work: evaluations of the loss, and searches for quilts."""
    losses = memory = 0.0
    for part in problem.parts:
        curve, quilts = CURVES.of(part.belief), quilts_tried(part, problem.epsilon)
        if curve is not None:
            losses += EVALUATIONS * curve.work(part.belief)
        if curve is not None and quilts is not None:
            searched = quilts.cost(problem.epsilon)
            losses, memory = losses + searches * SEARCHED * searched.operations, max(memory, searched.memory)
    return Cost(losses, memory)


def quilts_tried(part: Part, epsilon: Fraction) -> Search | None:
    """Return a part's search for quilts, if it can help."""
    if is_least(part.belief):
        return None
    of_belief = quilts_of(part.belief)
    for search in (of_belief.exact(part), of_belief.bounded(part)):
        if not search.reason and search.cost(epsilon).operations <= MOST_SEARCHED:
            return search
    return None

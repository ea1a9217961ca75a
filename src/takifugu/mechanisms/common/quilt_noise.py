"""What the mechanisms of quilts share: noise of the scale that the worst secret needs with its best quilt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Bound, Cost, Part, Problem, Refusal
from takifugu.analysis.questions.influence import Search
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_noise import covering

_NO_ENTRIES = "two distributions of an answer have no values, so no quilts: use wasserstein or laplace-exact"


def search_cost(problem: Problem, search: Callable[[Part], Search]) -> Cost:
    """Predict the searches of all parts; nothing is searched where one of them is known to find none."""
    searches = [search(part) for part in problem.parts]
    costs = [] if any(one.reason for one in searches) else [one.cost(problem.epsilon) for one in searches]
    return Cost(sum(cost.operations for cost in costs), max((cost.memory for cost in costs), default=0.0))


def quilt_bound(problem: Problem, search: Callable[[Part], Search]) -> Bound | Refusal:
    """Return Laplace noise of the scale that the worst part needs, or the first reason why one has no quilts.

    Vector answers get the same scale in every cell: D(N) is an L1 change (Song17 Appendix B.2).
    """
    if problem.is_pair:
        return Refusal(_NO_ENTRIES)
    searches = [search(part) for part in problem.parts]
    if reason := next((one.reason for one in searches if one.reason), ""):
        return Refusal(reason)
    try:
        worst_of_each = [one.worst(problem.epsilon) for one in searches]
    except Unsupported as error:
        return Refusal(error.message)
    worst = max(worst_of_each, key=lambda one: one.scale)
    noise = covering(problem, worst.scale)
    witness, note = worst.witness(), next((one.note for one in worst_of_each if one.note), "")
    witness_of_all = replace(
        witness,
        detail=f"{witness.detail}; {note}" if note else witness.detail,
        numbers=witness.numbers or (("scale", float(noise.scale)),),
    )
    return Bound(noise, problem.epsilon, Fraction(0), Covers.ENTRIES, witness_of_all)

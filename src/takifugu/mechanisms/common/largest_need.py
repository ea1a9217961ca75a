"""The largest need over comparisons: what the mechanisms that look at the law of the answer have in common.

One amount (a scale, a deviation, a move) must serve every comparison of two laws, so it is the largest that one of them
needs. `largest_need` goes through them in order and tells each what is enough so far, because checking that an amount
serves costs less than finding the least that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import wraps
from typing import TypeVar

from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.mechanisms.common.stacks import Bools, Stack, needing_more

#: (located family, enough so far) -> (amount, comparison) for every comparison that needs more than all before it.
Needs = Callable[[Located, Fraction], Iterator[tuple[Fraction, Compared]]]
#: (families, enough so far) -> whether each comparison is certainly served by that.
Serves = Callable[[Stack, Fraction], Bools]
Answered = TypeVar("Answered")


def largest_need(
    problem: Problem,
    needs: Needs,
    nothing: str,
    lines: bool = False,
    serves: Serves | None = None,
    start: Fraction = Fraction(0),
) -> tuple[Fraction, str]:
    """Return the largest amount any comparison needs, and this comparison.

    The comparison is `nothing` where none needs more than `start`. Families that `serves` says are served are passed
    over; `start` is an amount that one of the others exceeds. For `lines` see `located_families`. Raises Unsupported
    where a belief or the query has no law of the answer.
    """
    enough, worst = start, nothing
    families = located_families(problem, lines)
    if serves is not None:
        families = needing_more(families, lambda stack: serves(stack, enough))
    for located in families:
        for amount, compared in needs(located, enough):
            enough, worst = amount, located.describe(compared)
    return enough, worst


def of_each(need: Callable[[Compared, Fraction], Fraction]) -> Needs:
    """Return the needs of each comparison by itself."""

    def needs(located: Located, enough: Fraction) -> Iterator[tuple[Fraction, Compared]]:
        for compared in located.family.compared:
            needed = need(compared, enough)
            if needed > enough:
                enough = needed
                yield enough, compared

    return needs


def refusing(bound: Callable[[Answered, Problem], Bound | Refusal]) -> Callable[[Answered, Problem], Bound | Refusal]:
    """Turn Unsupported into a mechanism's refusal, for the same reason."""

    @wraps(bound)
    def refuse(mechanism: Answered, problem: Problem) -> Bound | Refusal:
        try:
            return bound(mechanism, problem)
        except Unsupported as reason:
            return Refusal(str(reason))

    return refuse

"""The largest need over comparisons: what the mechanisms that look at the law of the answer have in common.

One amount (a scale, a deviation, a move) must serve every comparison of two laws, so it is the largest that one of them
needs. `largest_need` goes through them in order and tells each what is enough so far, because checking that an amount
serves costs less than finding the least that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import TypeVar

from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.answer_law import AnswerFamily, Compared
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.mechanisms.common.stacks import Bools, Stack, needing_more
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import level_tolerance


@dataclass(frozen=True, eq=False)
class Comparison:
    """The laws p and q of the answer given the two sides, in the units of the answer families.

    Both orders are meant. The true masses lie within a factor 1 +- `error` of those of p and q; 0 for exact laws.
    """

    p: Pmf
    q: Pmf
    error: float
    located: Located
    index: int

    @property
    def family(self) -> AnswerFamily:
        return self.located.family

    def describe(self) -> str:
        """Name the two sides."""
        return self.located.describe(self.family.compared[self.index])

    def budget(self, epsilon: Fraction) -> Fraction:
        """Return the epsilon left for p and q; it may be negative."""
        return epsilon - 2 * Fraction(self.error) * (1 + Fraction(self.error))

    def share(self, delta: Fraction) -> Fraction:
        """Return the delta left for p and q at `budget(epsilon)`.

        (1 + r) A - e^epsilon (1 - r) B is at most (1 + r) (A - e^budget B).
        """
        return delta / (1 + Fraction(self.error))

    def certain_move(self) -> Fraction:
        """Return a number no move between the true laws has to exceed."""
        return Fraction(self.family.moves(self.index)[-1])

    def pure_scale(self, epsilon: Fraction) -> Fraction:
        """Return the Wasserstein mechanism's scale W-infinity / epsilon, verified for rounded masses."""
        return self.family.wasserstein(self.index, epsilon)[1]


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


def of_each(need: Callable[[Comparison, Fraction], Fraction]) -> Needs:
    """Return the needs of each comparison by itself."""

    def needs(located: Located, enough: Fraction) -> Iterator[tuple[Fraction, Compared]]:
        for comparison in comparisons_of(located):
            needed = need(comparison, enough)
            if needed > enough:
                enough = needed
                yield enough, located.family.compared[comparison.index]

    return needs


def compared_laws(problem: Problem) -> Iterator[Comparison]:
    """Yield every comparison of a problem, in order and lazily.

    Raises Unsupported where a belief or the query has no law of the answer.
    """
    for located in located_families(problem):
        yield from comparisons_of(located)


def comparisons_of(located: Located) -> Iterator[Comparison]:
    family = located.family
    for index, (a, i, b, j) in enumerate(family.compared):
        p, q = family.hulls[a][i], family.hulls[b][j]
        error = 0.0
        if family.relative_error or not (p.exact and q.exact):
            error = 2 * family.relative_error + level_tolerance(p, q)
        yield Comparison(p, q, error, located, index)


def refusing(bound: Callable[[Answered, Problem], Bound | Refusal]) -> Callable[[Answered, Problem], Bound | Refusal]:
    """Turn Unsupported into a mechanism's refusal, for the same reason."""

    @wraps(bound)
    def refuse(mechanism: Answered, problem: Problem) -> Bound | Refusal:
        try:
            return bound(mechanism, problem)
        except Unsupported as reason:
            return Refusal(str(reason))

    return refuse

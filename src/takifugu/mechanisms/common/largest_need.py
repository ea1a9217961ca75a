"""The largest need over comparisons: what the mechanisms that look at the law of the answer have in common.

One amount (a scale, a deviation, a move) must serve every comparison of two laws, so it is the largest that one of them
needs. `largest_need` goes through them in order and tells each what is enough so far, because checking that an amount
serves costs less than finding the least that does.

Families are looked at together, too: most are served by what the others need, and one pass tells which. The laws of a
chain's steps are rows of one width, so that a few operations on all of them say what each comparison loses at a scale,
instead of a hundred operations for each. What is said there only sorts families out: a family that is left is looked at
by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, wraps
from itertools import compress, count, repeat
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from takifugu.analysis.answer_laws.dense import DenseFamily, in_floats
from takifugu.analysis.bounds import Bound, Refusal
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.answer_families import Located, located_families
from takifugu.numbers.extended.floats import Wide, stack
from takifugu.numbers.extended.laplace_smoothing import losses_between
from takifugu.numbers.rationals import float_above
from takifugu.numbers.transport.on_the_line import WIDE_TOLERANCE

Bools = npt.NDArray[np.bool_]
#: Weights of one stack, at most.
_MOST = 2**18


@dataclass(frozen=True, eq=False)
class Stack:
    """Families whose laws are rows of one width and step."""

    families: tuple[DenseFamily, ...]

    def losses(self, scale: Fraction) -> FloatArray:
        """Return the bounds of `DenseFamily.losses` for all families' comparisons, in order."""
        margin = max(family.margin for family in self.families)
        return losses_between(self.laws, self.sides, self.families[0].decay(scale), margin)

    def keeps(self, epsilon: Fraction, scale: Fraction) -> Bools:
        """Return for each comparison whether it certainly loses at most epsilon."""
        return self.losses(scale) <= -float_above(-epsilon)

    def may_move_beyond(self, distance: Fraction) -> Bools:
        """Return for each comparison whether its least move (`DenseFamily.moves`) may exceed a distance."""
        # Nothing moves farther than w places if F(x) <= G(x + w), G(x) <= F(x + w), on both sides of the middle.
        places = int(distance / self.families[0].step)
        rows, beyond = in_floats(self.laws), np.zeros(len(self.sides), dtype=bool)
        for masses in (rows, rows[:, ::-1]):
            levels = masses.cumsum(axis=1)
            near, far = np.minimum(levels[:, : levels.shape[1] - places], 0.5), levels[:, places:]
            for first, second in (self.sides.T, self.sides.T[::-1]):
                # Levels half of WIDE_TOLERANCE apart are equal: the least proposal ignores more than that.
                beyond |= (near[first] > far[second] * (1 + WIDE_TOLERANCE / 2)).any(axis=1)
        return beyond

    def of_each(self, comparisons: Bools) -> Bools:
        """Return for each family whether something holds of one of its comparisons."""
        owners = np.repeat(np.arange(len(self.families)), [len(family.sides) for family in self.families])
        return np.bincount(owners[comparisons], minlength=len(self.families)) > 0

    @cached_property
    def laws(self) -> Wide:
        return stack([family.laws for family in self.families], np.concatenate)

    @cached_property
    def sides(self) -> IntArray:
        sizes = [len(family.laws) for family in self.families]
        starts = np.cumsum([0, *sizes[:-1]])
        return np.concatenate([family.sides + start for family, start in zip(self.families, starts, strict=True)])


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
    """Return the largest amount any comparison needs, and this comparison."""
    # `start` is an amount that a family exceeds which `serves` does not pass over; the comparison is else `nothing`.
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


def needing_more(families: Iterable[Located], serves: Callable[[Stack], Bools]) -> Iterator[Located]:
    """Yield, in order, the families in need of more; what is enough may grow before their turn comes."""
    # Stacks hold 1, 2, 4, ... families, because what is enough grows with the first ones most of all.
    for run in _runs(families, (2**i for i in count())):
        dense = _dense(run)
        if dense is None or len(run) == 1:
            yield from run
        else:
            stack = Stack(dense)
            yield from compress(run, stack.of_each(~serves(stack)))


def stacked(families: Iterable[Located]) -> list[Stack]:
    """Return stacks of all families, in order, or nothing."""
    stacks = []
    for run in _runs(families, repeat(_MOST)):
        dense = _dense(run)
        if dense is None:
            return []
        stacks.append(Stack(dense))
    return stacks


def _runs(families: Iterable[Located], most: Iterator[int]) -> Iterator[list[Located]]:
    """Yield runs of neighbouring families for one stack, others by themselves."""
    run, longest = list[Located](), next(most)
    for located in families:
        if run and not (len(run) < longest and _fit(run, located)):
            yield run
            run, longest = [], next(most)
        run.append(located)
    if run:
        yield run


def _fit(run: Sequence[Located], located: Located) -> bool:
    first, second = run[0].family, located.family
    return (
        isinstance(first, DenseFamily)
        and isinstance(second, DenseFamily)
        and (first.step, first.weights.shape[1]) == (second.step, second.weights.shape[1])
        and (len(run) + 1) * second.weights.mantissas.size <= _MOST
    )


def _dense(run: Sequence[Located]) -> tuple[DenseFamily, ...] | None:
    families = tuple(located.family for located in run if isinstance(located.family, DenseFamily))
    return families if len(families) == len(run) else None

"""An answer given one parameter of a box: bounds over all numbers of the box, proved and not on a grid (`draws`).

Given its parameters an answer that counts records is a sum of independent yes-or-no draws, n for each column that it
reads. Compared are any two numbers of the sensitive parameter's interval, while all other parameters lie somewhere in
theirs, the same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from takifugu.analysis.questions.answer_law import AnswerLaw, Compared
from takifugu.core.errors import Unsupported
from takifugu.model.beliefs.records.parameter_box import Affine, BoxView
from takifugu.model.queries.columns import ColumnAnswer
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import round_up
from takifugu.numbers.search import smallest_noise
from takifugu.numbers.transport.draws import EXACT, MOST_MOVES, Cell, Draws, Interval, farthest_move, largest_loss

#: Laplace scales this far below the reach over epsilon are not looked for.
_LEAST = Fraction(1, 2**30)
#: Operations that the bound on moves may take, of one cell and of all: many draws allow fewer cells, not fewer numbers.
MOST_OF_A_CELL, MOST_WORK = 3e9, 1e9

_NO_DRAWS = (
    "over a box of parameters bounds are proved for counts of records, to which every column that is read adds the "
    'same step: publish a count of one state, or use mechanism="group"'
)
_NO_LAWS = "a box of parameters has no finite set of distributions of the answer"


@dataclass(frozen=True, eq=False)
class BoxFamily:
    """Two numbers of one parameter's interval, as one comparison; moves and scales in grid units."""

    view: BoxView
    step: int
    read: tuple[tuple[Affine, bool], ...]  # the chance of a draw of each column, or of its opposite

    entry = 0
    pairs = ((0, 1), (1, 0))
    compared: tuple[Compared, ...] = ((0, 0, 1, 0),)
    relative_error = 0.0

    whole = True

    @property
    def hulls(self) -> Mapping[int, tuple[Pmf, ...]]:
        raise _no_laws()

    @property
    def cell(self) -> Cell:
        """Return the numbers of both sides, and the other parameters' intervals."""
        return (self.view.ends, self.view.ends, *self._others.values())

    @property
    def _others(self) -> dict[str, Interval]:
        others = dict(self.view.whole.intervals)
        del others[self._name]
        return others

    def sides(self, cell: Cell) -> list[Draws]:
        """Return the draws of all columns within a cell of parameters."""
        box = dict(zip(self._others, cell[2:], strict=True))
        draws = []
        for chance, is_opposite in self.read:
            left, right = (chance.between({**box, self._name: value}) for value in cell[:2])
            if is_opposite:
                left, right = (1 - left[1], 1 - left[0]), (1 - right[1], 1 - right[0])
            draws.append(Draws(self.view.whole.records, left, right, same=not chance.reads(self._name)))
        return draws

    @property
    def _name(self) -> str:
        return str(self.view.whole.names[self.view.entry])

    def reach(self, index: int) -> int:
        """Return the largest distance between two answers: no move is longer."""
        moving = sum(chance.reads(self._name) for chance, _ in self.read)
        return self.step * self.view.whole.records * moving

    @cached_property
    def farthest(self) -> int:
        """The bound on W-infinity over the box."""
        work = work_of_a_move(self.view.whole.records, len(self.read))
        if not self.reach(0) or work > MOST_OF_A_CELL:
            return self.reach(0)
        cells = int(MOST_WORK / (4 * work)) - 2 ** len(self.cell)
        return self.step * min(farthest_move(self.sides, self.cell, max(0, min(MOST_MOVES, cells))), self.reach(0))

    def moves(self, index: int) -> tuple[int, ...]:
        return (self.farthest,)

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[int, Fraction]:
        return self.farthest, round_up(self.farthest / epsilon)

    def losses(self, scale: Fraction) -> list[float]:
        """Bound the largest log-ratio over the box, 0 for independent answers."""
        if self.reach(0):
            return [largest_loss(self.sides, self.cell, scale / self.step)]
        return [0.0]

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return nearly the least scale for epsilon, never above the moves'."""
        proven = Fraction(self.farthest) / epsilon
        if not proven:
            return proven
        return smallest_noise(lambda scale: self.losses(scale)[0], epsilon, proven, proven * _LEAST)


class BoxLaw(AnswerLaw[BoxView]):
    """The comparisons of one parameter of a box, for counts of records."""

    @cached_property
    def box_family(self) -> BoxFamily | None:
        answer = self.answer
        assert isinstance(answer, ColumnAnswer)
        box, read, steps = self.belief.whole, [], set()
        for term in answer.terms:
            if len(term.columns) > 1:
                return None
            first, other = map(int, term.table[:, 0])
            if first != other:
                steps.add(abs(first - other))
                read.append((box.described[term.columns[0]].chance, first < other))
        if len(steps) > 1:
            return None
        return BoxFamily(self.belief, steps.pop() if steps else 1, tuple(read))

    def families(self) -> Iterator[BoxFamily]:
        if self.box_family is None:
            raise Unsupported(_NO_DRAWS)
        yield self.box_family

    def work(self, laplace: bool = False) -> tuple[float, float]:
        if self.box_family is None:
            return 1.0, 1.0
        if not laplace:
            raise _no_laws()
        work = work_of_a_move(self.belief.whole.records, len(self.box_family.read))
        moves = min(max(work, min(work * 4 * MOST_MOVES, MOST_WORK)), MOST_OF_A_CELL)
        return 3e8 + moves, 1e2 * self.belief.whole.records * len(self.box_family.read)

    def atoms(self) -> float:
        if self.box_family is None:
            return 1.0
        return 1.0 + self.belief.whole.records * len(self.box_family.read)


def _no_laws() -> Unsupported:
    return Unsupported(_NO_LAWS, fix="list the values that the parameters take, in Parameters(...)")


def work_of_a_move(records: int, columns: int) -> float:
    """Return about how many operations the bound of one cell takes."""
    draws = float(records * columns)
    return 5e4 + 2e3 * draws if draws <= EXACT else 3e6 + 2 * draws**2

"""Noise on one side of the answer, away from the danger (Takagi21 Definitions V.3 and VIII.1; errata E5, N5).

`moves` says, for all cells or for each, which way an allowed move from a data set X to X' takes the answer. Where it
takes it DOWN (a count under "not c") the noise is at least 0: whatever X' can publish above its own answer, X can, and
every output of X is one of X'. Where it takes it UP the noise is at most 0. Where it goes EITHER way noise on one side
would rule out outputs, so that noise is two-sided. Errors are about the answer, and their distribution is not centred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.additive import DiscreteLaplace, check_scale, check_shape
from takifugu.analysis.randomisers.base import (
    NUMBER,
    Answer,
    Base,
    Column,
    Direction,
    Kind,
    Loss,
    are_whole,
    check_cells,
    level_of_cell,
    steps_of,
    whole_steps,
)
from takifugu.core.errors import DataError, InputError
from takifugu.core.lists import take
from takifugu.core.plain import form
from takifugu.numbers import noise_laws
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_laws import Moments
from takifugu.numbers.rationals import exact, is_whole

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

Moves = tuple[Direction, ...]
DOWN = (Direction.DOWN,)


#: How the directions of cells are written.
MOVES = form(read=lambda moves: tuple(map(Direction, moves)))


class OneSided(Base):
    """What follows from the law of one cell: everything but the law, its moments and its draw."""

    units: Fraction
    grid: Fraction
    cells: int
    moves: Moves
    output = NUMBER

    @property
    def directions(self) -> Moves:  # type: ignore[override]
        return self.moves

    def __post_init__(self) -> None:
        check_scale(self.units)
        check_shape(self.grid, self.cells)
        if len(self.moves) not in (1, self.cells) or not all(isinstance(move, Direction) for move in self.moves):
            raise InputError(
                f"{len(self.moves)} directions for {self.cells} cells", fix="give one for all cells, or one for each"
            ).at("moves")

    @cached_property
    def scale(self) -> Fraction:
        """Return the scale in answer units, the change of cost 1."""
        return self.units * self.grid

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Fraction, ...]:
        """Return the answer (grid units) with noise, in answer units."""
        check_cells(answer, self.cells)
        values = [Fraction(0)] * self.cells
        for move in dict.fromkeys(self.moves):
            places = [cell for cell, other in enumerate(self._each) if other is move]
            steps = self._steps(take(answer, places), move, entropy)
            for cell, step in zip(places, steps, strict=True):
                values[cell] = int(step) * self.grid
        return tuple(values)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        """Randomise a column of whole answers, in steps of the grid.

        The column has any length, whatever `cells` says. Raises InputError where the cells move in different
        directions.
        """
        steps = whole_steps(answers)
        if len(set(self.moves)) > 1:
            raise InputError("a column is of one kind: its answers all move one way", fix="draw the cells one by one")
        return self._steps(steps, self.moves[0], entropy)

    def log_density(self, answer: Answer, output: Sequence[Fraction]) -> float:
        """Return log P(output given answer).

        The answer is in grid units, the output in answer units; -inf off the grid.
        """
        check_cells(answer, self.cells)
        steps = steps_of(output, self.grid)
        if not are_whole(steps):
            return -math.inf
        cells = zip(answer, steps, self._each, strict=True)
        return math.fsum(self.log_mass(Fraction(x), int(y), move) for x, y, move in cells)

    def log_mass(self, answer: Fraction, output: int, move: Direction) -> float:
        """Return log P(output given answer) of a moving cell, in grid units."""
        raise NotImplementedError

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the largest log-ratio for answers `change` apart in one direction.

        The change is in L1 and answer units. The loss is infinite against the direction in which some cell moves: an
        output is ruled out there.
        """
        if change == 0:
            return Fraction(0)
        covered = {Direction.EITHER, direction}.issuperset(self.moves)
        return change / self.scale if covered else math.inf

    def expected_error(self) -> float:
        """Return the expected L1 error of all cells, in answer units."""
        copies = self.cells if len(self.moves) == 1 else 1
        return copies * math.fsum(self._moments(move).absolute for move in self.moves)

    def variance(self) -> float:
        """Return a cell's largest expected squared error, in squared answer units."""
        return max(self._moments(move).square for move in self.moves)

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        """Return the least w with P(abs(output - answer) <= w) >= level.

        The event is that of all `cells` cells; w is a multiple of the grid, in answer units. Where cells move in
        different directions, w is that of the widest. Raises InputError unless 0 < level < 1.
        """
        level_of_each = level_of_cell(level, self.cells if cells is None else cells)
        return max(self._steps_within(level_of_each, move) for move in set(self.moves)) * self.grid

    def cell(self, place: int) -> OneSided:
        """Return the noise of one cell."""
        return replace(self, cells=1, moves=(self._each[place],))  # type: ignore[type-var]

    def _steps(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        """Return a noisy answer for each answer, in steps of the grid."""
        raise NotImplementedError

    def _moments(self, move: Direction) -> Moments:
        raise NotImplementedError

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        raise NotImplementedError

    @cached_property
    def _each(self) -> Moves:
        if len(self.moves) == self.cells:
            return self.moves
        return self.moves * self.cells


@dataclass(frozen=True)
class OneSidedGeometric(OneSided, kind="one-sided-geometric"):
    """Integer noise K in grid units, P(K >= k) = a^k, a = exp(-1/units), added (DOWN) or subtracted (UP).

    Discrete Laplace noise of the same scale where a cell moves EITHER way. `units` is the total L1 change along an
    allowed move, in grid units, divided by epsilon. Along the moves it hides what continuous noise of this scale does.
    Source: Takagi21 Definition VIII.1 without its last value n, as corrected by errata E5 and N5.

    >>> noise = OneSidedGeometric(Fraction(1), Fraction(1))
    >>> round(noise.expected_error(), 6), noise.half_width(0.95), noise.loss(Fraction(1), Direction.DOWN)
    (0.581977, Fraction(2, 1), Fraction(1, 1))
    """

    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    moves: Moves = field(default=DOWN, metadata=MOVES)

    def log_mass(self, answer: Fraction, output: int, move: Direction) -> float:
        return _log_geometric(output - answer, self.units, move)

    def _steps(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        return _with_geometric(_whole(answers), self.units, move, entropy)

    def _moments(self, move: Direction) -> Moments:
        either = move is Direction.EITHER
        moments = (noise_laws.discrete_laplace_moments if either else noise_laws.geometric_moments)(self.units)
        return Moments(moments.absolute * float(self.grid), moments.square * float(self.grid) ** 2)

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        either = move is Direction.EITHER
        if either:
            return noise_laws.discrete_laplace_half_width(self.units, level)
        return noise_laws.geometric_half_width(self.units, level)


@dataclass(frozen=True)
class OneSidedTruncated(OneSided, kind="one-sided-truncated"):
    """Geometric noise, cut off at a public end: min(x + K, most) where a cell moves DOWN, max(x - K, 0) where UP.

    No answer exceeds `most`, in grid units; one that does is refused. Errors are those of the answer for which they are
    largest, the one furthest from the cut. Source: Takagi21 Definition VIII.1 (AGeo, n = most).

    >>> noise = OneSidedTruncated(Fraction(1), Fraction(1), 1, DOWN, 10)
    >>> round(noise.expected_error(), 6), round(math.exp(noise.log_density([5], [10])), 6)
    (0.58195, 0.006738)
    """

    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int
    moves: Moves = field(metadata=MOVES)
    most: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.most, 1):
            raise InputError(f"the largest answer is {self.most!r}", rule="it is a whole number above 0").at("most")
        if Direction.EITHER in self.moves:
            raise InputError(
                "a cell that moves either way has two-sided noise, which is not cut off", fix="use OneSidedGeometric"
            ).at("moves")

    def log_mass(self, answer: Fraction, output: int, move: Direction) -> float:
        if not 0 <= output <= self.most:
            return -math.inf
        if output == (self.most if move is Direction.DOWN else 0):
            return -float(abs(output - answer) / self.units)
        return _log_geometric(output - answer, self.units, move)

    def _steps(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        steps = _whole(answers)
        if steps.size and not 0 <= steps.min() <= steps.max() <= self.most:
            raise DataError(
                "an answer lies outside its public range", rule=f"it is at least 0 and at most {self.most}",
                fix="correct the range, which no data may decide",
            )  # fmt: skip
        return np.clip(_with_geometric(steps, self.units, move, entropy), 0, self.most)

    def _moments(self, move: Direction) -> Moments:
        steps = np.arange(1.0, min(self.most, math.ceil(800 * self.units)) + 1)
        tails, grid = np.exp(-steps / float(self.units)), float(self.grid)
        return Moments(grid * float(tails.sum()), grid * grid * float(((2 * steps - 1) * tails).sum()))

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        return min(noise_laws.geometric_half_width(self.units, level), self.most)


def _log_geometric(difference: Fraction, units: Fraction, move: Direction) -> float:
    """Return log P(noise = difference) in grid units, for a move's noise."""
    if move is Direction.EITHER:
        return DiscreteLaplace(units, Fraction(1)).log_mass(difference)
    steps = difference if move is Direction.DOWN else -difference
    if steps < 0 or steps.denominator != 1:
        return -math.inf
    return math.log(-math.expm1(-1 / units)) - float(steps / units)


def _with_geometric(steps: Array, units: Fraction, move: Direction, entropy: Entropy) -> Array:
    from takifugu.numbers.noise import discrete_laplace, geometric, total

    if move is Direction.EITHER:
        return total(steps, discrete_laplace(units, len(steps), entropy))
    noise = geometric(units, len(steps), entropy)
    return total(steps, noise if move is Direction.DOWN else -noise)


def _whole(answers: Column) -> Array:
    """Return whole answers as an array of integers."""
    from takifugu.numbers.noise import narrowed

    if isinstance(answers, np.ndarray) and answers.dtype.kind in "iu":
        return answers
    if not are_whole(answers):
        raise InputError("the answer is not a multiple of the grid, as this noise needs", fix="round it first")
    return narrowed(list(map(int, answers)))


GEOMETRIC = Kind(
    OneSidedGeometric.from_dict, "one-sided geometric noise",
    "geometric noise on one side, drawn exactly from the operating system's randomness",
)  # fmt: skip
TRUNCATED = Kind(
    OneSidedTruncated.from_dict, "one-sided geometric noise, cut off",
    "geometric noise on one side, drawn exactly from the operating system's randomness and cut off at a public end",
)  # fmt: skip

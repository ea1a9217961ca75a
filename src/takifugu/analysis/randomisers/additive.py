"""Additive noise, independent in each cell, and no noise: their laws, losses, quantiles and draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.base import (
    Answer,
    Column,
    Common,
    Direction,
    Kind,
    Loss,
    Moments,
    Moves,
    are_whole,
    check_cells,
    level_of_cell,
    steps_of,
    whole_steps,
)
from takifugu.core.errors import InputError
from takifugu.core.plain import LEFT_OUT
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_quantiles import BITS, exceeds, first_not_exceeded, laplace_survival, missed
from takifugu.numbers.rationals import exact, is_whole

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


class CellNoise(Common):
    """Additive noise, independent in each cell: what follows from the law of a cell that moves one way, or EITHER."""

    grid: Fraction
    cells: int
    #: The directions of allowed moves, for all cells or for each.
    moves: Moves = (Direction.EITHER,)

    @property
    def two_sided(self) -> Noise:
        """Return the noise of one cell that moves EITHER way."""
        raise NotImplementedError

    @property
    def _takes_whole(self) -> bool:
        """Return whether answers are multiples of the grid."""
        return False

    @cached_property
    def _each(self) -> Moves:
        return self.moves if len(self.moves) == self.cells else self.moves * self.cells

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[Fraction, ...]:
        """Return the answer, in grid units (whole where the noise needs it), with noise, in answer units."""
        check_cells(answer, self.cells)
        self._check_whole(answer)
        values = [Fraction(0)] * self.cells
        for move in dict.fromkeys(self.moves):
            places = [cell for cell, other in enumerate(self._each) if other is move]
            moving = answer if len(places) == self.cells else [answer[place] for place in places]
            for cell, step in zip(places, self._drawn(moving, move, entropy), strict=True):
                values[cell] = int(step) * self.grid
        return tuple(values)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        """Randomise a column of whole answers of any length, in grid steps, without a step of Python for each."""
        steps = whole_steps(answers)
        self._check_whole(steps)
        if len(set(self.moves)) > 1:
            raise InputError("a column is of one kind: its answers all move one way", fix="draw the cells one by one")
        return self._drawn(steps, self.moves[0], entropy)

    def _check_whole(self, answers: Column) -> None:
        is_integers = isinstance(answers, np.ndarray) and answers.dtype.kind in "iu"
        if self._takes_whole and not is_integers and not are_whole(answers):
            raise InputError("the answer is not a multiple of the grid, as this noise needs", fix="round it first")

    def log_density(self, answer: Answer, output: Sequence[Fraction]) -> float:
        """Return log P(output given answer), in answer and grid units; -inf off the grid."""
        check_cells(answer, self.cells)
        steps = steps_of(output, self.grid)
        if not are_whole(steps):
            return -math.inf
        cells = zip(answer, steps, self._each, strict=True)
        return math.fsum(self.log_mass_of(Fraction(x), int(y), move) for x, y, move in cells)

    def expected_error(self) -> float:
        """Return the expected L1 error of all cells, in answer units."""
        copies = self.cells if len(self.moves) == 1 else 1
        return copies * math.fsum(self._moments(move).absolute for move in self.moves)

    def variance(self) -> float:
        """Return a cell's largest expected squared error, in squared answer units."""
        return max(self._moments(move).square for move in self.moves)

    def half_width(self, level: float, cells: int | None = None) -> Fraction:
        """Return the least w with P(|noise| <= w in all cells) >= level, of the widest direction."""
        # the randomiser's own cells, unless more are published together
        level_of_each = level_of_cell(level, self.cells if cells is None else cells)
        return max(self._steps_within(level_of_each, move) for move in set(self.moves)) * self.grid

    def _drawn(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        """Return a noisy answer for each answer, in steps of the grid."""
        return self.two_sided.added(as_array(answers), entropy)

    def log_mass_of(self, answer: Fraction, output: int, move: Direction) -> float:
        """Return log P(output given answer) of a moving cell, in grid units."""
        return self.two_sided.log_mass(output - answer)

    def _moments(self, move: Direction) -> Moments:
        return self.two_sided.moments()

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        return self.two_sided.steps_within(level)


class Noise(CellNoise):
    """Unbounded two-sided noise (or none): its law is that of the difference between output and answer."""

    #: Whether it is noise for answers that are multiples of the grid.
    on_grid: bool

    @property
    def two_sided(self) -> Noise:
        return self

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the largest log-ratio for an L1 change, both ways; infinite for noise without a pure loss."""
        if change == 0:
            return Fraction(0)
        scale = self.laplace_scale
        return change / scale if scale else math.inf

    def added(self, answers: Array, entropy: Entropy) -> Array:
        """Return a noisy answer for each answer, in steps of the grid."""
        raise NotImplementedError

    def log_mass(self, difference: int | Fraction) -> float:
        raise NotImplementedError

    def log_reach(self, distance: Fraction) -> float:
        """Return log P(|noise| >= distance) of one cell before rounding, in answer units."""
        raise NotImplementedError

    def moments(self) -> Moments:
        """Return the moments of one cell's noise: off the grid, averages over the place between two multiples."""
        raise NotImplementedError

    def steps_within(self, level: Fraction) -> int:
        """Return the least h with P(abs noise <= h steps) >= level."""
        raise NotImplementedError


@dataclass(frozen=True)
class Exact(Noise, kind="none"):
    """No noise: the answer itself, rounded to the grid (half to even)."""

    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        check_shape(self.grid, self.cells)

    @property
    def scale(self) -> Fraction:
        return Fraction(0)

    laplace_scale = scale

    @property
    def _takes_whole(self) -> bool:
        return self.on_grid

    def added(self, answers: Array, entropy: Entropy) -> Array:
        if answers.dtype != object:
            return answers.copy()
        return as_array(list(map(round, answers)))

    def log_density(self, answer: Answer, output: Sequence[Fraction]) -> float:
        """Return log P(output given answer), in answer and grid units; -inf off the grid."""
        return super().log_density(list(map(round, answer)), output)

    def log_mass(self, difference: int | Fraction) -> float:
        """Return 0 for no difference, else -inf, as nothing is added."""
        return 0.0 if difference == 0 else -math.inf

    def unseen(self, change: Fraction) -> Fraction:
        """Return 0, unless nothing changes: the answer itself is published."""
        return Fraction(change <= 0)

    def log_reach(self, distance: Fraction) -> float:
        """Return 0 for distance 0, else -inf, as nothing is added."""
        return 0.0 if distance <= 0 else -math.inf

    def moments(self) -> Moments:
        """Return those of the rounding: 0 on the grid."""
        grid = float(self.grid)
        return Moments(0.0, 0.0) if self.on_grid else Moments(grid / 4, grid * grid / 12)

    def steps_within(self, level: Fraction) -> int:
        return 0 if self.on_grid else 1


@dataclass(frozen=True)
class DiscreteLaplace(Noise, kind="discrete-laplace"):
    """Integer noise K in grid units with P(K = k) = (1 - a)/(1 + a) a^|k|, a = exp(-1/units)."""

    # Ghosh, Roughgarden and Sundararajan 2009; Canonne, Kamath and Steinke 2020.
    #: Laplace's scale in grid units: for whole answers it hides what continuous noise of that scale does.
    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    on_grid = True

    def __post_init__(self) -> None:
        check_scale(self.units)
        check_shape(self.grid, self.cells)

    @cached_property
    def scale(self) -> Fraction:
        return self.units * self.grid

    @property
    def laplace_scale(self) -> Fraction:
        return self.scale

    @property
    def _takes_whole(self) -> bool:
        return True

    def added(self, answers: Array, entropy: Entropy) -> Array:
        from takifugu.numbers.noise import discrete_laplace, total

        return total(answers, discrete_laplace(self.units, len(answers), entropy))

    def of_scale(self, scale: Fraction) -> DiscreteLaplace:
        return replace(self, units=scale / self.grid)

    def log_mass(self, difference: int | Fraction) -> float:
        """Return log P(K = difference), in grid units; -inf off the integers."""
        if Fraction(difference).denominator != 1:
            return -math.inf
        half = float(1 / (2 * self.units))
        log_tanh = math.log(-math.expm1(-2 * half)) - math.log1p(math.exp(-2 * half))
        return log_tanh - float(abs(Fraction(difference)) / self.units)

    def unseen(self, change: Fraction) -> Fraction:
        """Return 2a^m/(1 + a) from below, m = ceil(change/(2 grid)) >= 1."""
        steps = math.ceil(change / (2 * self.grid))
        if steps <= 0:
            return Fraction(1)
        (low, _), (_, high) = laplace_survival(steps / self.units, BITS), laplace_survival(1 / self.units, BITS)
        return Fraction(2 * low, (1 << BITS) + high)

    def log_reach(self, distance: Fraction) -> float:
        """Return one cell's log 2a^m/(1 + a), m = ceil(distance/grid) >= 1."""
        steps = math.ceil(distance / self.grid)
        if steps <= 0:
            return 0.0
        return math.log(2) - math.log1p(math.exp(-1 / self.units)) - float(steps / self.units)

    def moments(self) -> Moments:
        """Return grid * 2a/(1 - a^2) and grid^2 * 2a/(1 - a)^2."""
        inverse, grid = float(1 / self.units), float(self.grid)
        a = math.exp(-inverse)
        return Moments(2 * a / -math.expm1(-2 * inverse) * grid, 2 * a / math.expm1(-inverse) ** 2 * (grid * grid))

    def steps_within(self, level: Fraction) -> int:
        """Return the least h with P(|K| <= h) >= level."""
        return _steps_within(self.units, level)


@lru_cache(maxsize=256)
def _steps_within(units: Fraction, level: Fraction) -> int:
    miss, depth = missed(level)

    def is_exceeded(h: int) -> bool:  # P(|K| > h) = 2 a^(h+1) / (1 + a) > miss
        return h < 0 or exceeds(laplace_survival, [(2, (h + 1) / units), (-miss, 1 / units)], miss)

    return first_not_exceeded(is_exceeded, round(units * Fraction(depth)))


NONE = Kind(Exact.from_dict, "no noise", "no noise")
DISCRETE_LAPLACE = Kind(
    DiscreteLaplace.from_dict, "discrete Laplace noise",
    "discrete Laplace noise, drawn exactly from the operating system's randomness",
)  # fmt: skip


def laplace_or_exact(units: Fraction, grid: Fraction, cells: int) -> Exact | DiscreteLaplace:
    """Return discrete Laplace noise, or none for scale 0.

    `units` is the scale in grid units.

    >>> laplace_or_exact(Fraction(0), Fraction(1), 1).kind
    'none'
    """
    return DiscreteLaplace(units, grid, cells) if units else Exact(grid, cells)


def as_array(answer: Column) -> Array:
    """Return whole numbers as 64-bit words, anything else as objects."""
    from takifugu.numbers.noise import narrowed

    if isinstance(answer, np.ndarray):
        return answer
    if all(isinstance(x, int) for x in answer):
        return narrowed(list(map(int, answer)))
    array = np.empty(len(answer), dtype=object)
    array[:] = answer
    return array


def check_shape(grid: Fraction, cells: int) -> None:
    if grid <= 0:
        raise InputError(f"the grid is {grid}", rule="it must be above 0").at("grid")
    if not is_whole(cells, 1):
        raise InputError(f"the number of cells is {cells!r}", rule="it must be a whole number above 0").at("cells")


def check_scale(scale: Fraction) -> None:
    if scale <= 0:
        raise InputError(
            f"the scale of the noise is {scale}", rule="it must be above 0", fix="no noise is Exact(grid, cells)"
        ).at("scale")

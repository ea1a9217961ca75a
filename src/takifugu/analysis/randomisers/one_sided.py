"""Noise on one side of the answer, away from the danger (Takagi21 Definitions V.3 and VIII.1; errata E5, N5).

`moves` says, for all cells or for each, which way an allowed move from a data set X to X' takes the answer. Where it
takes it DOWN (a count under "not c") the noise is at least 0: whatever X' can publish above its own answer, X can, and
every output of X is one of X'. Where it takes it UP the noise is at most 0. Where it goes EITHER way noise on one side
would rule out outputs, so that noise is two-sided. Errors are about the answer, and their distribution is not centred.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.additive import CellNoise, DiscreteLaplace, as_array, check_scale, check_shape
from takifugu.analysis.randomisers.base import Base, Column, Direction, Kind, Loss, Moments, Moves
from takifugu.core.errors import DataError, InputError
from takifugu.core.plain import form
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_quantiles import exceeds, first_not_exceeded, laplace_survival, missed
from takifugu.numbers.rationals import exact, is_whole

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy

DOWN = (Direction.DOWN,)
#: What certificates say of all noise but that which is cut off.
OR_BOTH = "(on both of a value that may rise and fall)"
#: How the directions of cells are written.
MOVES = form(read=lambda moves: tuple(map(Direction, moves)))


class OneSided(CellNoise, Base):
    """Noise that lies on the side of a cell's move; a cell that moves EITHER way has noise on both."""

    units: Fraction

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

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return the largest log-ratio for answers `change` apart, infinite against the way a cell moves."""
        if change == 0:
            return Fraction(0)
        covered = {Direction.EITHER, direction}.issuperset(self.moves)
        return change / self.scale if covered else math.inf

    def cell(self, place: int) -> OneSided:
        """Return the noise of one cell."""
        return replace(self, cells=1, moves=(self._each[place],))  # type: ignore[type-var]

    def _log_beyond(self, steps: Fraction) -> float:
        """Return log P(an output lies so many steps beyond its answer)."""
        raise NotImplementedError

    def _raised(self, answers: Column, entropy: Entropy) -> Array:
        """Return answers with noise that is at least 0, in steps of the grid."""
        raise NotImplementedError

    def _moments_beyond(self) -> Moments:
        """Return the moments of noise on one side."""
        raise NotImplementedError

    def _steps_beyond(self, level: Fraction) -> int:
        """Return the least h with P(noise <= h steps) >= level, on one side."""
        raise NotImplementedError

    def _drawn(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        from takifugu.numbers.noise import narrowed

        if move is Direction.EITHER:
            return super()._drawn(answers, move, entropy)
        if move is Direction.DOWN:
            return self._raised(answers, entropy)
        mirrored = [-x for x in (answers.tolist() if isinstance(answers, np.ndarray) else answers)]
        return narrowed([-y for y in self._raised(mirrored, entropy).tolist()])  # Python's numbers are safe to negate

    def log_mass_of(self, answer: Fraction, output: int, move: Direction) -> float:
        if move is Direction.EITHER:
            return super().log_mass_of(answer, output, move)
        return self._log_beyond(output - answer if move is Direction.DOWN else answer - output)

    def _moments(self, move: Direction) -> Moments:
        return super()._moments(move) if move is Direction.EITHER else self._moments_beyond()

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        return super()._steps_within(level, move) if move is Direction.EITHER else self._steps_beyond(level)


class Whole(OneSided):
    """Noise on whole answers, geometric before it is cut off."""

    @cached_property
    def two_sided(self) -> DiscreteLaplace:
        return DiscreteLaplace(self.units, self.grid)

    def _log_beyond(self, steps: Fraction) -> float:
        if steps < 0 or steps.denominator != 1:
            return -math.inf
        return math.log(-math.expm1(-1 / self.units)) - float(steps / self.units)

    @property
    def _takes_whole(self) -> bool:
        return True

    def _raised(self, answers: Column, entropy: Entropy) -> Array:
        from takifugu.numbers.noise import geometric, total

        return total(as_array(answers), geometric(self.units, len(answers), entropy))

    def _steps_beyond(self, level: Fraction) -> int:
        return steps_of_exponential(self.units, level, 0) - 1  # an exponential number, rounded up, is K + 1


def steps_of_exponential(units: Fraction, level: Fraction, first: int) -> int:
    """Return the least h above `first` with exp(-(h - first)/units) <= 1 - level."""
    miss, depth = missed(level)

    def is_exceeded(h: int) -> bool:
        return h <= first or exceeds(laplace_survival, [(1, (h - first) / units)], miss)

    return first_not_exceeded(is_exceeded, round(units * Fraction(depth)) + first)


@dataclass(frozen=True)
class OneSidedGeometric(Whole, kind="one-sided-geometric"):
    """Integer noise K in grid units, P(K >= k) = a^k, a = exp(-1/units), added (DOWN) or subtracted (UP)."""

    # Takagi21 Definition VIII.1 without its last value n (errata E5, N5).
    #: The total L1 change along an allowed move, in grid units, divided by epsilon.
    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    moves: Moves = field(default=DOWN, metadata=MOVES)

    def _moments_beyond(self) -> Moments:
        """Return a/(1 - a) and a (1 + a)/(1 - a)^2, times the grid and its square."""
        inverse, grid = float(1 / self.units), float(self.grid)
        a, complement = math.exp(-inverse), -math.expm1(-inverse)
        return Moments(a / complement * grid, a * (1 + a) / complement**2 * (grid * grid))


@dataclass(frozen=True)
class OneSidedTruncated(Whole, kind="one-sided-truncated"):
    """Geometric noise, cut off at a public end: min(x + K, most) where a cell moves DOWN, max(x - K, 0) where UP."""

    # Takagi21 Definition VIII.1 (AGeo, n = most). Errors are those of the answer furthest from the cut.
    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int
    moves: Moves = field(metadata=MOVES)
    #: In grid units; an answer beyond it is refused.
    most: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.most, 1):
            raise InputError(f"the largest answer is {self.most!r}", rule="it is a whole number above 0").at("most")
        if Direction.EITHER in self.moves:
            raise InputError(
                "a cell that moves either way has two-sided noise, which is not cut off", fix="use OneSidedGeometric"
            ).at("moves")

    def log_mass_of(self, answer: Fraction, output: int, move: Direction) -> float:
        if not 0 <= output <= self.most:
            return -math.inf
        if output == (self.most if move is Direction.DOWN else 0):
            return -float(abs(output - answer) / self.units)
        return super().log_mass_of(answer, output, move)

    def _drawn(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        if len(answers) and not 0 <= min(answers) <= max(answers) <= self.most:
            raise DataError(
                "an answer lies outside its public range", rule=f"it is at least 0 and at most {self.most}",
                fix="correct the range, which no data may decide",
            )  # fmt: skip
        return np.clip(super()._drawn(answers, move, entropy), 0, self.most)

    def _moments_beyond(self) -> Moments:
        steps = np.arange(1.0, min(self.most, math.ceil(800 * self.units)) + 1)
        tails, grid = np.exp(-steps / float(self.units)), float(self.grid)
        return Moments(grid * float(tails.sum()), grid * grid * float(((2 * steps - 1) * tails).sum()))

    def _steps_beyond(self, level: Fraction) -> int:
        return min(super()._steps_beyond(level), self.most)


GEOMETRIC = Kind(
    OneSidedGeometric.from_dict, "one-sided geometric noise",
    f"geometric noise on one side {OR_BOTH}, drawn exactly from the operating system's randomness",
)  # fmt: skip
TRUNCATED = Kind(
    OneSidedTruncated.from_dict, "one-sided geometric noise, cut off",
    "geometric noise on one side, drawn exactly from the operating system's randomness and cut off at a public end",
)  # fmt: skip

"""Exponential noise on one side of any rational answer, rounded once, away from the danger (Takagi21, ALap)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.base import Column, Direction, Kind
from takifugu.analysis.randomisers.one_sided import DOWN, MOVES, Moves, OneSided
from takifugu.analysis.randomisers.rounded import RoundedLaplace
from takifugu.core.plain import LEFT_OUT
from takifugu.numbers import noise_laws
from takifugu.numbers.atoms import Array
from takifugu.numbers.noise_laws import Moments
from takifugu.numbers.rationals import exact

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


@dataclass(frozen=True)
class OneSidedExponential(OneSided, kind="one-sided-exponential"):
    """Exponential noise of mean `scale`: added and rounded up (DOWN), or subtracted and rounded down (UP).

    Rounded once, away from the danger: to the multiple of the grid beyond the exact answer plus noise, as 5.4 rounded
    to 5 would say "at most 5". Where a cell moves EITHER way, Laplace noise rounded to the nearest multiple. Answers
    are any rationals; for answers on the grid `OneSidedGeometric` loses the same, and is a step nearer. Source:
    Takagi21 Definition V.3 with the signs of erratum E5; Theorem V.4; Corollary V.5.

    >>> noise = OneSidedExponential(Fraction(200), Fraction(1, 100), on_grid=False)
    >>> round(noise.expected_error(), 6), float(noise.half_width(0.95))
    (2.005, 6.01)
    """

    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    moves: Moves = field(default=DOWN, metadata=MOVES)
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    def log_mass(self, answer: Fraction, output: int, move: Direction) -> float:
        if move is Direction.EITHER:
            return self._two_sided.log_mass(output - answer)
        above = output - answer if move is Direction.DOWN else answer - output
        if above < 0:
            return -math.inf
        if above < 1:  # the first multiple: 0 < E <= above
            if above:
                return math.log(-math.expm1(-above / self.units))
            return -math.inf
        return math.log(-math.expm1(-1 / self.units)) - float((above - 1) / self.units)

    def _steps(self, answers: Column, move: Direction, entropy: Entropy) -> Array:
        from takifugu.numbers.noise import rounded_laplace, rounded_up_exponential

        draw = rounded_laplace if move is Direction.EITHER else rounded_up_exponential
        if move is Direction.UP:
            numbers = answers.tolist() if isinstance(answers, np.ndarray) else answers  # Python's are safe to negate
            return -draw([-x for x in numbers], self.units, 1, len(answers), entropy)
        return draw(answers, self.units, 1, len(answers), entropy)

    def _moments(self, move: Direction) -> Moments:
        if move is Direction.EITHER:
            return Moments(self._two_sided.expected_error(), self._two_sided.variance())
        return noise_laws.rounded_up_exponential_moments(self.scale, self.grid, on_grid=self.on_grid)

    def _steps_within(self, level: Fraction, move: Direction) -> int:
        either = move is Direction.EITHER
        if either:
            width = noise_laws.rounded_laplace_half_width
        else:
            width = noise_laws.rounded_up_exponential_half_width
        return width(self.scale, self.grid, level, on_grid=self.on_grid)

    @cached_property
    def _two_sided(self) -> RoundedLaplace:
        return RoundedLaplace(self.scale, self.grid, 1, self.on_grid)


EXPONENTIAL = Kind(
    OneSidedExponential.from_dict, "one-sided exponential noise",
    "exponential noise on one side, the noisy value rounded exactly once, away from the answer",
)  # fmt: skip

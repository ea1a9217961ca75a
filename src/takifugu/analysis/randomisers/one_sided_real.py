"""Exponential noise on one side of any rational answer, rounded once, away from the danger (Takagi21, ALap)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from takifugu.analysis.randomisers.base import Column, Kind, Moments, Moves
from takifugu.analysis.randomisers.one_sided import DOWN, MOVES, OR_BOTH, OneSided, steps_of_exponential
from takifugu.analysis.randomisers.rounded import RoundedLaplace
from takifugu.core.plain import LEFT_OUT
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import exact

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


@dataclass(frozen=True)
class OneSidedExponential(OneSided, kind="one-sided-exponential"):
    """Exponential noise of mean `scale`: added and rounded up (DOWN), or subtracted and rounded down (UP)."""

    # Takagi21 Definition V.3 with the signs of erratum E5, Theorem V.4, Corollary V.5. Rounded once, away from the
    # danger: 5.4 rounded to 5 would say "at most 5". On the grid `OneSidedGeometric` loses the same, a step nearer.
    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int = 1
    moves: Moves = field(default=DOWN, metadata=MOVES)
    on_grid: bool = field(default=True, metadata=LEFT_OUT)

    @cached_property
    def two_sided(self) -> RoundedLaplace:
        return RoundedLaplace(self.scale, self.grid, 1, self.on_grid)

    def _log_beyond(self, steps: Fraction) -> float:
        if steps <= 0:
            return -math.inf
        if steps < 1:  # the first multiple: 0 < E <= steps
            return math.log(-math.expm1(-steps / self.units))
        return math.log(-math.expm1(-1 / self.units)) - float((steps - 1) / self.units)

    def _raised(self, answers: Column, entropy: Entropy) -> Array:
        from takifugu.numbers.noise import rounded_up_exponential

        return rounded_up_exponential(answers, self.units, 1, len(answers), entropy)

    def _moments_beyond(self) -> Moments:
        """Return those of a step more than geometric noise, or off the grid of E plus a uniform part of a step."""
        b, g = float(self.scale), float(self.grid)
        if self.on_grid:
            a, complement = math.exp(-g / b), -math.expm1(-g / b)
            return Moments(g / complement, g * g * (1 + a) / complement**2)
        return Moments(b + g / 2, 2 * b * b + b * g + g * g / 3)

    def _steps_beyond(self, level: Fraction) -> int:
        """Return the quantile in steps; off the grid it holds just below a multiple, too."""
        return steps_of_exponential(self.units, level, 0 if self.on_grid else 1)


EXPONENTIAL = Kind(
    OneSidedExponential.from_dict, "one-sided exponential noise",
    f"exponential noise on one side {OR_BOTH}, the noisy value rounded exactly once, away from the answer",
)  # fmt: skip

"""The law of one-sided noise around an answer, from tails: what the output reaches with which probability."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath import mp, mpf

from takifugu.analysis.randomisers import DiscreteLaplace, RoundedLaplace
from takifugu.analysis.randomisers.base import Direction
from takifugu.analysis.randomisers.one_sided import OneSided, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential


def two_sided(noise: OneSided) -> DiscreteLaplace | RoundedLaplace | None:
    """Return the noise of a cell whose answer moves either way; None for one-sided noise."""
    if noise.moves != (Direction.EITHER,):
        return None
    if isinstance(noise, OneSidedExponential):
        return RoundedLaplace(noise.scale, noise.grid, 1, noise.on_grid)
    return DiscreteLaplace(noise.units, noise.grid)


def one_sided_mass(noise: OneSided) -> Callable[[int, Fraction], mpf]:
    """Return P(output | answer) of a cell as a function of both, in grid units: P(output >= y) - P(output >= y + 1)."""
    most = noise.most if isinstance(noise, OneSidedTruncated) else None
    missing = 1 if isinstance(noise, OneSidedExponential) else 0  # ceil(x + E) >= y means x + E > y - 1

    def tail(y: int, x: Fraction) -> mpf:
        if most is not None and y > most:
            return mp.mpf(0)
        beyond = Fraction(y - missing - x) / noise.units
        return mp.exp(-mp.mpf(beyond.numerator) / beyond.denominator) if beyond > 0 else mp.mpf(1)

    if noise.moves == (Direction.DOWN,):
        return lambda y, x: tail(y, x) - tail(y + 1, x)
    turned = most or 0  # subtracted noise is added noise in a mirror
    return lambda y, x: tail(turned - y, turned - x) - tail(turned - y + 1, turned - x)

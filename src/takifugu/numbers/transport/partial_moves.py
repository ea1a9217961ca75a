"""How far all but mass delta of one density must move into another, from above.

Both are read in cells of width w, each mass at its cell's middle. If all but mass s of the read laws can be moved
within d, then all but s + e of the densities can within d + w, where e is the mass that is outside the cells or in
doubt: each bit of mass lies within w/2 of its cell's middle.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.numbers.densities import Continuous, cell_masses
from takifugu.numbers.densities.moves import farthest_move
from takifugu.numbers.densities.tails import ends_of
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import w_infinity

#: Cells, and more than a relative error of their ends.
CELLS, _ROUNDING = 4096, 2.0**-40


def farthest_but(p: Continuous, q: Continuous, delta: Fraction) -> float:
    """Return a distance, at most W-infinity, within which all but delta of p can be moved into q."""
    (p_low, p_high), (q_low, q_high) = ends_of(p), ends_of(q)
    first, last = min(p_low, q_low), max(p_high, q_high)
    (left, left_doubt), (right, right_doubt) = _read(p, first, last), _read(q, first, last)
    share = delta - Fraction(left_doubt) - Fraction(right_doubt)
    if share <= 0:
        least = at_least(delta)
        raise Unsupported(f"a delta of {least} is less than what is in doubt of the masses: give a larger one")
    # The least up to two cells.
    cells = int(w_infinity(left, right, share)) + 1
    distance = (last - first) / CELLS * cells * (1 + _ROUNDING) + _ROUNDING * max(abs(first), abs(last))
    try:
        return min(distance, farthest_move(p, q))
    except Unsupported:  # W-infinity is infinite
        return distance


def _read(law: Continuous, first: float, last: float) -> tuple[Pmf, float]:
    """Return the law by cell, and the mass that is in doubt."""
    least, _ = cell_masses(law, first, last, CELLS)  # type: ignore[arg-type]  # every kind is frozen
    total = float(least.sum())
    return Pmf(np.arange(CELLS), least / total), 2 * abs(1 - total) + 2.0**-44

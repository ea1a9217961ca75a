"""How far an answer may lie from what a belief expects, from its moments: public, and known before anything is read.

H. Chernoff, Ann. Math. Stat. 23 (1952): P(N >= x) <= E exp(tilt * (N - x)) for each tilt above 0, and likewise below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu.core.arrays import FloatArray
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import shares
from takifugu.model.queries.answer import Additive

if TYPE_CHECKING:
    from takifugu.model.queries.resolving.columns import ColumnAnswer
    from takifugu.model.queries.resolving.real_columns import ColumnSums

#: Each gives a bound, and the best of these is near the best of all.
TILTS = 2.0 ** (np.arange(-48, 9) / 2)
#: Those of answers whose entries may add anything.
WIDE_TILTS = 2.0 ** (np.arange(-160, 161) / 2)
#: What floats may lose of a bound, as a share of it.
_ROUNDING = 1e-9

#: A bound on log E exp(tilt * N) for each tilt of either sign, of a number N in grid units, an answer of one cell;
#: infinite where it is not known.
LogMoments = Callable[[Belief, Any, FloatArray], FloatArray]


def log_chance_of_reaching(belief: Belief, count: Additive, cell: int, value: float) -> float:
    """Bound log P(N >= value) of a cell N; 0 where unknown."""
    return min(0.0, float((log_moments(belief, count.of_cell(cell), TILTS) - TILTS * value).min()))


def likely_range(
    belief: Belief, answer: Additive | ColumnAnswer | ColumnSums, miss: float
) -> tuple[FloatArray, FloatArray]:
    """Return ends that some cell passes with probability `miss` at most, in answer units; infinite if unknown."""
    room, lows, highs = math.log(2 * answer.cells / miss), list[float](), list[float]()
    for number in range(answer.cells):
        cell = answer.of_cell(number)
        tilts = WIDE_TILTS if not isinstance(cell, Additive) else TILTS / _largest_addend(cell)
        up, down = np.split(log_moments(belief, cell, np.concatenate([tilts, -tilts])), 2)
        high, low = float(((up + room) / tilts).min()), float((-(down + room) / tilts).max())
        highs.append(high + _ROUNDING * abs(high))
        lows.append(low - _ROUNDING * abs(low))
    grid = float(answer.grid)
    return np.array(lows) * grid, np.array(highs) * grid


def _largest_addend(cell: Additive) -> float:
    """Return the most that one entry moves a cell, 1 for a cell that nothing moves."""
    weights, tables = cell.total_kinds[0]
    largest = np.array([float(np.abs(table).max(initial=0)) for table in cell.tables])
    return float((np.abs(weights) * largest[tables]).max(initial=0.0)) or 1.0


def log_moments(belief: Belief, count: Any, tilts: FloatArray) -> FloatArray:
    """Bound log moments, adding up those of independent components."""
    moments = LOG_MOMENTS.of(belief)
    if moments is not unknown or not isinstance(count, Additive):
        return moments(belief, count, tilts)
    return of_components(belief, count, tilts)


def of_components(belief: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Add up the log moments of independent components, each class of them once."""
    total = np.zeros(len(tilts))
    for times, piece, share in shares(belief, count):
        total += times * LOG_MOMENTS.of(piece)(piece, share, tilts)
    return total


def of_each_piece(chain: object, pieces: Belief, count: Additive, tilts: FloatArray) -> FloatArray:
    """Add up the moments of pieces, whatever each of them is."""
    return of_components(pieces, count, tilts)


def unknown(belief: Belief, count: object, tilts: FloatArray) -> FloatArray:
    """Return infinity: of this belief no moment is known."""
    return np.full(len(tilts), np.inf)


LOG_MOMENTS: Question[LogMoments] = Question("the moments of a count", unknown)

#: The same of independent pieces of a belief, which comes first.
LOG_MOMENTS_OF_PIECES: Question[Callable[[Any, Belief, Any, FloatArray], FloatArray]] = Question(
    "the moments of a count over pieces", of_each_piece
)

"""The distribution of one cell of an answer under a belief, in floats: what is known of it before anything is read.

Components are independent: the characteristic function E exp(i t N) of a cell is the product of theirs, and at the
numbers t = 2 pi j / places it is the discrete Fourier transform of the masses, wrapped around the places. These are all
that the cell can have, or so many that it lies outside them with probability `MISSED` at most. No promise rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.analysis.questions.likely_range import likely_range
from takifugu.core.arrays import FloatArray
from takifugu.core.errors import Unsupported
from takifugu.core.registry import Question
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.alike import shares
from takifugu.model.queries.answer import Additive

ComplexArray = npt.NDArray[np.complex128]
#: E exp(-i t N) for each number t, of an answer of one cell in grid units.
Characteristic = Callable[[Any, Additive, FloatArray], ComplexArray]

#: Cells of more places than the first are looked at where they are likely; more places than the second are too many.
WHOLE, MOST_PLACES = 2**9, 2**17
#: More runs of entries that count alike are not looked at.
MOST_RUNS = 20_000
#: How likely a cell lies outside of the places that are looked at.
MISSED = 1e-9
#: The most products that the laws of a table may take: some seconds.
MOST_WORK = 1e8
#: A table of more values than these is taken for one of rows, which no matrix has.
_TALL = 40


@dataclass(frozen=True, eq=False)
class CellLaw:
    """P(N = start + n) = masses[n] of a number N in grid units; all masses together are off by `error` at most."""

    start: int
    masses: FloatArray
    error: float

    @property
    def mean(self) -> float:
        return self.start + float(self.masses @ np.arange(len(self.masses)))


def law_of_cell(belief: Belief, answer: Additive, cell: int, most: float = MOST_WORK) -> CellLaw:
    """Return the distribution of one cell in grid units; raises Unsupported without one, or above the work."""
    one = answer.of_cell(cell)
    if len(one.turn[1]) > MOST_RUNS:
        raise Unsupported("the entries count in too many ways")
    low, high, missed = _places(belief, one)
    size = 1 << max(1, (high - low).bit_length())
    numbers: FloatArray = 2 * math.pi / size * np.arange(size // 2 + 1, dtype=np.float64)
    transform = characteristic(belief, one, numbers, most) * np.exp(1j * numbers * low)
    masses = np.fft.irfft(transform, size)
    lost = float(np.abs(masses[high - low + 1 :]).sum() - np.minimum(masses, 0).sum())
    masses = np.maximum(masses[: high - low + 1], 0.0)
    total = float(masses.sum())
    return CellLaw(low, np.asarray(masses / total), missed + lost + abs(1 - total))


def _places(belief: Belief, one: Additive) -> tuple[int, int, float]:
    """Return the first and last place that is looked at, and the probability of all others."""
    (low,), (high,) = (end.tolist() for end in one.cell_bounds())
    missed = 0.0
    if high - low >= WHOLE:
        first, last = (float(end[0]) / float(one.grid) for end in likely_range(belief, one, MISSED))
        low, high, missed = max(low, _whole(first, low)), min(high, _whole(last, high)), MISSED
    if high - low >= MOST_PLACES:
        raise Unsupported(f"a cell has more than {MOST_PLACES:,} likely values")
    return low, high, missed


def _whole(end: float, otherwise: int) -> int:
    return math.floor(end) if math.isfinite(end) else otherwise


def characteristic(belief: Belief, one: Additive, numbers: FloatArray, most: float = MOST_WORK) -> ComplexArray:
    """Return E exp(-i t N) of an answer of one cell for each t, or raise Unsupported as `law_of_cell`."""
    total, work = np.ones(len(numbers), dtype=np.complex128), 0.0
    classes = list(shares(belief, one)) if CHARACTERISTIC.of(belief) is no_law else [(1, belief, one)]
    for _, _, share in classes:
        height = min(_TALL, max(map(len, share.tables)))
        work += len(numbers) * len(share.turn[1]) * height**3 * (1 + math.log2(share.size))
    if work > most:
        raise Unsupported("the distributions of the cells would take too long")
    for count, piece, share in classes:
        total *= CHARACTERISTIC.of(piece)(piece, share, numbers) ** count
    return total


def no_law(belief: Belief, answer: Additive, numbers: FloatArray) -> ComplexArray:
    """Raise Unsupported: nothing is known of the distribution of a cell."""
    raise Unsupported(f"no distribution of a count is known under {belief.describe()}")


CHARACTERISTIC: Question[Characteristic] = Question("the distribution of a cell", no_law)

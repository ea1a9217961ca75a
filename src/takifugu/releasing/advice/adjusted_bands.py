"""How far adjusted cells lie from the true ones: by seeded draws, because what adjusting does depends on the cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np

from takifugu.analysis.randomisers import Noise
from takifugu.analysis.randomisers.additive import Exact
from takifugu.core.arrays import FloatArray
from takifugu.releasing.advice.bands import Band, masses
from takifugu.releasing.postprocess.readable import LEVEL

#: How many tables are drawn; fewer where they have so many cells that all draws have more numbers than this.
DRAWS, MOST_NUMBERS = 10_000, 4_000_000
SEED = 2026
#: Of more cells only neighbours are compared, and not each with each.
MOST_COMPARED = 12


def adjusted_bands(
    noise: Noise, cells: Sequence[float], totals: Sequence[Fraction | None]
) -> tuple[Band, Band | None]:
    """Return the 95 % bands of the worst adjusted cell and difference.

    `cells` are the true ones, as they are expected; they lie in as many blocks as there are `totals`, each of which is
    what its block sums to where that is public. Adjusted values are nonnegative and add up. Adjusting moves cells near
    0 up and others down, so each has a band of its own: every cell is off by at most the first with probability 95 %.

    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> cell, difference = adjusted_bands(DiscreteLaplace(Fraction(100), Fraction(1), 2), (450, 150), (Fraction(600),))
    >>> cell.width < 300, difference.width < 411
    (True, True)
    """
    true = np.asarray(cells, dtype=np.float64)
    if isinstance(noise, Exact):
        difference = None if len(true) == 1 else Band(0.0, 1.0)
        return Band(0.0, 1.0), difference
    drawn = true + _drawn(noise, len(true))
    adjusted = list[FloatArray]()
    blocks = zip(np.split(drawn, len(totals), axis=1), np.split(true, len(totals)), totals, strict=True)
    for block, expected, total in blocks:
        sum_of_block = None if total is None else float(expected.sum())
        adjusted.append(_nearest(block, sum_of_block))
    errors = np.concatenate(adjusted, axis=1) - true
    cell = _worst(errors, noise.grid)
    if len(true) == 1:
        return cell, None
    numbers = range(len(true))
    pairs = [*combinations(numbers, 2)] if len(true) <= MOST_COMPARED else [*pairwise(numbers)]
    first, second = np.transpose(pairs)
    return cell, _worst(errors[:, first] - errors[:, second], noise.grid)


def _drawn(noise: Noise, cells: int) -> FloatArray:
    """Return the noise of many tables, one a row, always the same.

    None of it is ever published. Each cell has each of as many equally likely slices of the law once (a Latin square),
    so that few draws are enough.
    """
    law, step = masses(noise)
    number = max(1, min(DRAWS, MOST_NUMBERS // cells))
    # Distinct numbers (SplitMix64 of a counter), which are never used as noise.
    mixed = (np.arange(1, number * cells + 1, dtype=np.uint64) + np.uint64(SEED)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    orders = np.argsort((mixed ^ (mixed >> np.uint64(31))).reshape(number, cells), axis=0)
    draws = (orders + 0.5) / number
    places = np.searchsorted(np.cumsum(law), draws).clip(0, len(law) - 1)
    noises: FloatArray = (places - len(law) // 2) * float(step)
    return noises


def _nearest(values: FloatArray, total: float | None) -> FloatArray:
    """Return the nearest nonnegative rows, summing to any total.

    A row is max(0, v - m) at the m with that sum, found among the largest k values for each k at once.
    """
    if total is None:
        return np.maximum(values, 0.0)
    falling = -np.sort(-values, axis=1)
    shifts = (np.cumsum(falling, axis=1) - total) / np.arange(1, values.shape[1] + 1)
    positive = np.maximum((falling > shifts).sum(axis=1), 1)
    shift = np.take_along_axis(shifts, positive[:, None] - 1, axis=1)
    return np.maximum(values - shift, 0.0)


def _worst(errors: FloatArray, grid: Fraction) -> Band:
    """Return the band of the largest errors' column, in whole grid steps."""
    sizes = np.sort(np.abs(errors), axis=0)
    rank = math.ceil(LEVEL * len(sizes)) - 1
    column = sizes[:, int(np.argmax(sizes[rank]))]
    step, rounding = float(grid), 1e-6 * float(grid)  # floats near a multiple of the grid are that multiple
    width = math.ceil((column[rank] - rounding) / step) * step
    return Band(width, float(np.mean(column <= width + rounding)))

"""How far a published cell lies from the true one, two cells from their true difference, and all cells at once.

All of it is the noise's own law; the ± of all cells is the one that a release prints. What adjusting does depends on
the cells, so the bands of adjusted ones are found by seeded draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from takifugu.analysis.randomisers import Noise
from takifugu.analysis.randomisers.additive import Exact
from takifugu.calibration import Calibration
from takifugu.core.arrays import FloatArray
from takifugu.core.escaping import plus_minus
from takifugu.core.plain import Json
from takifugu.numbers.rationals import to_text
from takifugu.releasing.planning.expected import half_width, values_of
from takifugu.releasing.planning.plan import Table
from takifugu.releasing.postprocess.intervals import LEVEL, measured

#: A law on more steps than this is counted in blocks of steps, which moves a band by a thousandth of itself at most.
_MOST_STEPS = 10_000
#: What lies beyond the counted steps, in either direction.
_BEYOND = 1e-9
#: How many tables are drawn; fewer where they have so many cells that all draws have more numbers than this.
DRAWS, MOST_NUMBERS = 10_000, 4_000_000
SEED = 2026
#: Of more cells only neighbours are compared, and not each with each.
MOST_COMPARED = 12


@dataclass(frozen=True)
class Band:
    """The error lies within `width`, in answer units, with probability `coverage`: the level, or more on a grid."""

    width: float
    coverage: float


def cell_band(noise: Noise) -> Band:
    """Return the 95 % band of one cell's |error|: of Laplace noise of scale b, 2.996 b."""
    width = noise.half_width(LEVEL, 1)
    return Band(float(width), coverage(noise, width))


def coverage(noise: Noise, width: Fraction, values: int = 1) -> float:
    """Return P(|noise| <= width in all values), for widths on the grid."""
    if isinstance(noise, Exact):
        return 1.0
    beyond = math.exp(noise.log_reach(width + noise.grid / 2))  # what is nearer is rounded to the width, or below it
    return math.exp(values * math.log1p(-beyond))


def difference_band(noise: Noise, other: Noise | None = None) -> Band:
    """Return the 95 % band of the error of two cells' difference: of Laplace noise of scale b, 4.113 b."""
    # the noises are independent, and mostly of one distribution
    other = other or noise
    if isinstance(noise, Exact) and isinstance(other, Exact):
        return Band(0.0, 1.0)
    step = _step(noise, other)
    first, second = masses(noise, step)[0], masses(other, step)[0]
    steps = len(first) + len(second) - 1
    size = 1 << steps.bit_length()
    law = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)[:steps]
    law = np.maximum(law, 0.0)
    middle = len(law) // 2
    within = law[middle] + 2 * np.concatenate([[0.0], np.cumsum(law[middle + 1 :])])
    reach = int(np.searchsorted(within, LEVEL))
    return Band(float(reach * step), float(within[reach]))


def _step(*noises: Noise) -> Fraction:
    """Return the common step of laws, in blocks for many grid points."""
    grids = [noise.grid for noise in noises]
    shared = math.lcm(*(grid.denominator for grid in grids))
    step = Fraction(math.gcd(*(int(grid * shared) for grid in grids)), shared)
    block = -(-math.ceil(max(map(_reach, noises)) / step) // _MOST_STEPS)
    return step * (block + 1 - block % 2)  # an odd number of steps lies around its middle


def _reach(noise: Noise) -> Fraction:
    return noise.half_width(1 - _BEYOND, 1)


@lru_cache(maxsize=16)  # both sides of a difference have one law mostly, and so have the tables of one promise
def masses(noise: Noise, step: Fraction | None = None) -> tuple[FloatArray, Fraction]:
    """Return a cell's noise law around 0, and its answer-unit step."""
    step = step or _step(noise)
    count = 0 if isinstance(noise, Exact) else math.ceil(_reach(noise) / step)
    ends = [math.exp(noise.log_reach((n + Fraction(1, 2)) * step)) for n in range(count + 1)]
    one_side = -np.diff(ends) / 2
    law: FloatArray = np.concatenate([one_side[::-1], [1 - ends[0]], one_side])
    law.flags.writeable = False  # whoever asks next gets it, too
    return law, step


@dataclass(frozen=True)
class Joint:
    """All values of a table lie within their ± at once with probability `coverage`: the level, or more on a grid."""

    #: The ± of the answers that the advice is about.
    half_width: Fraction
    values: int
    coverage: float
    #: Whether it is the ± of the noisy values, before they are adjusted.
    is_adjusted: bool = False

    def sentence(self, unit: str) -> str:
        """Explain the ± of values measured in `unit`."""
        within = f"within ± {measured(float(self.half_width), unit)}"
        words = f"all values lie {within} at once"
        if self.values == 1:
            words = f"the value lies {within}"
        if self.is_adjusted:
            words = f"before adjusting, {words}"
        return f"{words} with probability 95 %"

    def __str__(self) -> str:
        return plus_minus(self.half_width)


def json_of(joint: Joint | None) -> Json:
    """Return the ± and its probability for a dry run's JSON."""
    if joint is None:
        return {"half_width": None, "coverage": None}
    return {"half_width": to_text(joint.half_width), "coverage": joint.coverage}


def joint_of(table: Table, people: int | None = 1, of: Calibration | None = None) -> Joint | None:
    """Return the ± of one calibration's answers, by default the noisiest's; None where any has none."""
    # how many there are, where one of the plan stands for each; None where nobody knows
    if people is None:
        return None
    answers, half_widths = Counter(map(id, table.calibrations)), dict[int, Fraction]()
    noises = {id(calibration): calibration.randomiser for calibration in table.calibrations}
    values = values_of(table) * people
    for key, noise in noises.items():
        width = half_width(noise, values)
        if width is None:
            return None
        half_widths[key] = width
    widest = max(half_widths.values()) if of is None else half_widths[id(of)]
    chance_inside = 1.0
    for key, noise in noises.items():
        count = noise.cells * answers[key] * people
        if isinstance(noise, Noise):
            chance_inside *= coverage(noise, half_widths[key], count)
        else:
            chance_inside *= LEVEL ** (count / values)
    return Joint(widest, values, chance_inside, table.totals is not None)


def adjusted_bands(
    noise: Noise, cells: Sequence[float], totals: Sequence[Fraction | None]
) -> tuple[Band, Band | None]:
    """Return the 95 % bands of the worst adjusted cell and difference, around expected `cells`."""
    # as many blocks as `totals`, each the public sum of its block; adjusted values are nonnegative and add up
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
    # cells near 0 move up and others down, so each has a band: every cell is off by at most the widest
    cell = _worst(errors, noise.grid)
    if len(true) == 1:
        return cell, None
    numbers = range(len(true))
    pairs = [*combinations(numbers, 2)] if len(true) <= MOST_COMPARED else [*pairwise(numbers)]
    first, second = np.transpose(pairs)
    return cell, _worst(errors[:, first] - errors[:, second], noise.grid)


def _drawn(noise: Noise, cells: int) -> FloatArray:
    """Return the noise of many tables, one a row, always the same; none of it is ever published."""
    law, step = masses(noise)
    number = max(1, min(DRAWS, MOST_NUMBERS // cells))
    # Distinct numbers (SplitMix64 of a counter), which are never used as noise.
    mixed = (np.arange(1, number * cells + 1, dtype=np.uint64) + np.uint64(SEED)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # each cell has each of equally likely slices once (a Latin square), so that few draws are enough
    orders = np.argsort((mixed ^ (mixed >> np.uint64(31))).reshape(number, cells), axis=0)
    draws = (orders + 0.5) / number
    places = np.searchsorted(np.cumsum(law), draws).clip(0, len(law) - 1)
    noises: FloatArray = (places - len(law) // 2) * float(step)
    return noises


def _nearest(values: FloatArray, total: float | None) -> FloatArray:
    """Return the nearest nonnegative rows, summing to any total."""
    if total is None:
        return np.maximum(values, 0.0)
    # a row is max(0, v - m) at the m with that sum, found among the largest k values for each k at once
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

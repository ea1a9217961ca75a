"""How far a published cell lies from the true one, two cells from their true difference, and all cells at once.

All of it is the noise's own law; the ± of all cells is the one that a release prints.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from takifugu.analysis.randomisers import Noise
from takifugu.analysis.randomisers.additive import Exact
from takifugu.calibration import Calibration
from takifugu.core.arrays import FloatArray
from takifugu.core.escaping import number
from takifugu.core.plain import Json
from takifugu.numbers.rationals import to_text
from takifugu.releasing.planning.expected import half_width, values_of
from takifugu.releasing.planning.plan import Table
from takifugu.releasing.postprocess.readable import LEVEL, measured

#: A law on more steps than this is counted in blocks of steps, which moves a band by a thousandth of itself at most.
_MOST_STEPS = 10_000
#: What lies beyond the counted steps, in either direction.
_BEYOND = 1e-9


@dataclass(frozen=True)
class Band:
    """The error lies within `width`, in answer units, with probability `coverage`: the level, or more on a grid."""

    width: float
    coverage: float


def cell_band(noise: Noise) -> Band:
    """Return the 95 % band of one cell's |error|.

    For Laplace noise of scale b its width is 2.996 b.

    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> band = cell_band(DiscreteLaplace(Fraction(100), Fraction(1)))
    >>> band.width, round(band.coverage, 4)
    (300.0, 0.9505)
    """
    width = noise.half_width(LEVEL, 1)
    return Band(float(width), coverage(noise, width))


def coverage(noise: Noise, width: Fraction, values: int = 1) -> float:
    """Return P(|noise| <= width in all values), for widths on the grid.

    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> noise = DiscreteLaplace(Fraction(100), Fraction(1))
    >>> round(coverage(noise, noise.half_width(0.95, 3), 3), 4)
    0.9504
    """
    if isinstance(noise, Exact):
        return 1.0
    beyond = math.exp(noise.log_reach(width + noise.grid / 2))  # what is nearer is rounded to the width, or below it
    return math.exp(values * math.log1p(-beyond))


def difference_band(noise: Noise, other: Noise | None = None) -> Band:
    """Return the 95 % band of the error of two cells' difference.

    For Laplace noise of scale b its width is 4.113 b. The cells have independent noises; that of the second one is
    `other`, by default the same law.

    >>> from takifugu.analysis.randomisers import DiscreteLaplace
    >>> band = difference_band(DiscreteLaplace(Fraction(100), Fraction(1)))
    >>> band.width, round(band.coverage, 4)
    (411.0, 0.9501)
    """
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
    """All values of a table lie within their ± at once with probability `coverage`: the level, or more on a grid.

    `half_width` is that ± of the answers that the advice is about; where it `is_adjusted`, it is that of the noisy
    values, before they are adjusted.
    """

    half_width: Fraction
    values: int
    coverage: float
    is_adjusted: bool = False

    def sentence(self, unit: str) -> str:
        """Explain the ± of values measured in `unit`.

        >>> Joint(Fraction(7), 3, 0.951).sentence("rows")
        'all values lie within ± 7 rows at once with probability 95 %'
        """
        within = f"within ± {measured(float(self.half_width), unit)}"
        words = f"all values lie {within} at once"
        if self.values == 1:
            words = f"the value lies {within}"
        if self.is_adjusted:
            words = f"before adjusting, {words}"
        return f"{words} with probability 95 %"

    def __str__(self) -> str:
        return number(float(self.half_width))


def json_of(joint: Joint | None) -> Json:
    """Return the ± and its probability for a dry run's JSON."""
    if joint is None:
        return {"half_width": None, "coverage": None}
    return {"half_width": to_text(joint.half_width), "coverage": joint.coverage}


def joint_of(table: Table, people: int | None = 1, of: Calibration | None = None) -> Joint | None:
    """Return the ± of one calibration's answers, by default the noisiest's.

    None where any has none. `people` is how many there are, where the plan has one that stands for each; None where
    nobody knows.
    """
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

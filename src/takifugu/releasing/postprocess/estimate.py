"""A reading of the noise: what a reader who takes the belief for true concludes of a cell from what was published.

By Bayes' rule P(N = n | published) is proportional to P(N = n) P(published | N = n): the first is the belief's law of
the cell, the second the law of the noise. Where some cells add up to a public constant C, the sum of the others tells
of the cell, too: it is C - n with the noise of all of them. Everything that enters is public: the certificate's belief,
query and noise, and the published values. So it costs nothing, and it is as right as the belief.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from takifugu.analysis.questions.law_of_cell import MOST_WORK, CellLaw, law_of_cell
from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least, at_most, number
from takifugu.core.plain import Json, Row
from takifugu.model import queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Additive, Query, key_of, resolved
from takifugu.releasing.certificates.cells import ESTIMATED
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.content import Answer
from takifugu.releasing.postprocess.intervals import measured

#: How likely the exact value lies in the interval, if the belief is true.
LEVEL = 0.95
#: A published value that is this improbable under the belief contradicts it.
CONTRADICTS = 0.001
#: What lies beyond the noise that is looked at, and the most steps of it.
_BEYOND, _MOST_STEPS = 1e-12, 2**17
#: The farthest place of a value, so that distances to it are whole numbers of a machine.
_MOST_FAR = 2**62
#: What floats lose of a sum of noises.
_ROUNDED = 1e-13
#: An interval allows for so much that is not known of the laws.
_UNSURE = 1e-3

NO_ESTIMATE = "there is no estimate"
CONTRADICTED = "the belief contradicts the published value, so there is no estimate"


@dataclass(frozen=True)
class Estimate:
    """The mean and 95 % interval of one cell's exact value, given what was published and the belief."""

    #: All three are None where the belief contradicts the published value.
    mean: float | None
    low: float | int | None
    high: float | int | None
    #: The mean and 95 % interval by the belief alone, before anything was published.
    expected: tuple[float, float | int, float | int]

    @property
    def contradicts(self) -> bool:
        """Return whether the belief contradicts the published value."""
        return self.mean is None

    @property
    def columns(self) -> Json:
        """Return its columns of a published table."""
        return dict(zip(ESTIMATED, (self.mean, self.low, self.high), strict=True))

    def __str__(self) -> str:
        if self.mean is None or self.low is None or self.high is None:
            return CONTRADICTED
        ends = f"{at_least(self.low)} to {at_most(self.high)}"
        return f"about {number(self.mean)} ({ends} with probability 95 % if the belief is true)"


@dataclass(frozen=True, eq=False)
class Prior:
    """One belief on the cells of an answer: their distributions, and how cells add up."""

    grid: Fraction
    laws: tuple[CellLaw, ...]
    #: Cells whose sum is public, and that sum in grid units.
    blocks: tuple[tuple[range, int], ...]


def estimates_of_answer(
    certificate: Certificate, answer: Answer, noise: Randomiser, values: Sequence[Fraction]
) -> tuple[Estimate, ...]:
    """Return the estimates of one answer of a certificate, from it alone; Unsupported, with the reason."""
    if answer.complete is False:
        raise Unsupported(f"{NO_ESTIMATE}: which values are missing is not on the certificate")
    framework = Framework.from_dict(certificate.frameworks[answer.framework])
    try:
        return estimates_of(priors_of(framework, queries.from_dict(answer.query)), noise, values)
    except Unsupported as reason:
        raise Unsupported(f"{NO_ESTIMATE}: {reason.message}") from None


def priors_of(framework: Framework, query: Query, most: float = MOST_WORK) -> tuple[Prior, ...]:
    """Return the prior of an answer by each belief, computed once; Unsupported above the work `most`."""
    return cached(framework, (priors_of, key_of(query), most), lambda: _priors(framework, query, most))


def _priors(framework: Framework, query: Query, most: float) -> tuple[Prior, ...]:
    if framework.is_pair or not framework.beliefs:
        raise Unsupported("there is no belief about the values that are counted")
    priors = list[Prior]()
    for belief in framework.beliefs:
        answer = resolved(query, belief)
        if not isinstance(answer, Additive) or answer.is_chosen_from:
            raise Unsupported(f"{query.describe()} is no sum over single values")
        share = most / (len(framework.beliefs) * answer.cells)
        laws = tuple(law_of_cell(belief, answer, cell, share) for cell in range(answer.cells))
        priors.append(Prior(answer.grid, laws, tuple(_blocks(answer, query))))
    return tuple(priors)


def _blocks(answer: Additive, query: Query) -> list[tuple[range, int]]:
    """Return the cells that add up to a public sum, block by block, such as an hour."""
    size, blocks = answer.cells // query.blocks, list[tuple[range, int]]()
    for number_of_block, part in enumerate(answer.blocks(query.blocks)):
        total = part.constant_sum()
        if total is not None and size > 1:
            cells = range(number_of_block * size, (number_of_block + 1) * size)
            blocks.append((cells, int(total / answer.grid)))
    return blocks


def chances_of(priors: Sequence[Prior], noise: Noise, values: Sequence[Fraction]) -> list[float]:
    """Return how probable a value at least as far out as each one is, by the prior that explains it best."""
    published = _steps(priors, noise, values)
    return [max(_chance(prior.laws[cell], noise, step) for prior in priors) for cell, step in enumerate(published)]


def _steps(priors: Sequence[Prior], noise: Noise, values: Sequence[Fraction]) -> list[int]:
    """Return published values in steps of the grid that noise and answer share; Unsupported without one."""
    steps = [Fraction(value) / noise.grid for value in values]
    if any(step.denominator != 1 for step in steps) or any(prior.grid != noise.grid for prior in priors):
        raise Unsupported("the published values are not on the grid of the answer")
    if any(abs(step) > _MOST_FAR for step in steps):
        raise Unsupported("the published values are beyond what is counted with")
    return list(map(int, steps))


def estimates_of(priors: Sequence[Prior], noise: Randomiser, values: Sequence[Fraction]) -> tuple[Estimate, ...]:
    """Return the estimate of each cell, from its published value and its block's; Unsupported, with the reason."""
    if not isinstance(noise, Noise) or not noise.output.is_number:
        raise Unsupported("what was published is no number with additive noise")
    published = _steps(priors, noise, values)
    estimates = list[Estimate]()
    for cell in range(len(published)):
        expected = _summary([prior.laws[cell] for prior in priors], noise.grid)
        readings = [reading(prior, noise, published, cell) for prior in priors]
        believable = [law for law in readings if law is not None]
        # the mean is that of the first belief, and the interval covers all beliefs'
        if believable:
            estimates.append(Estimate(*_summary(believable, noise.grid), expected))
        else:
            estimates.append(Estimate(None, None, None, expected))
    return tuple(estimates)


def _summary(laws: Sequence[CellLaw], grid: Fraction) -> tuple[float, float | int, float | int]:
    """Return the first law's mean, rounded to a hundredth of the interval, and an interval for all laws."""
    ends = list(map(_interval, laws))
    low, high = min(low for low, _ in ends) * grid, max(high for _, high in ends) * grid
    mean, width = laws[0].mean * float(grid), float(high - low)
    if width:
        mean = round(mean, 2 - math.floor(math.log10(width)))
    return mean, _number(low), _number(high)


def _number(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _interval(law: CellLaw) -> tuple[int, int]:
    """Return the places that leave out at most 2.5 % on either side."""
    outside = (1 - LEVEL) / 2 - law.error
    below, above = np.cumsum(law.masses), np.cumsum(law.masses[::-1])
    low = int(np.searchsorted(below, outside, side="right"))
    high = len(law.masses) - 1 - int(np.searchsorted(above, outside, side="right"))
    return law.start + low, law.start + high


def reading(prior: Prior, noise: Noise, published: Sequence[int], cell: int) -> CellLaw | None:
    """Return the law of a cell given what was published, None where the belief contradicts its value."""
    law = prior.laws[cell]
    places: IntArray = law.start + np.arange(len(law.masses), dtype=np.int64)
    distances = published[cell] - places
    if _chance(law, noise, published[cell]) < CONTRADICTS:
        return None
    masses = noise_masses(noise)
    alone = _at(masses, distances)
    beyond = math.exp(noise.log_mass(len(masses) // 2 + 1))  # the largest likelihood that is left out
    for cells, total in prior.blocks:
        if cell in cells:
            others = sum(published[other] for other in cells if other != cell)
            of_others = _at(sum_masses(noise, len(cells) - 1), others - total + places)
            missed = beyond * float(of_others.max() + (len(cells) - 1) * alone.max())
            together = _given(law, alone * of_others, _ROUNDED + missed)
            if together is not None:
                return together
    return _given(law, alone, beyond)


def _given(law: CellLaw, likelihood: FloatArray, missed: float) -> CellLaw | None:
    """Return a law given something of this likelihood, None where what is missed of it may matter."""
    # `missed` is what floats lose of a likelihood at most, or what noise has beyond the places that are looked at.
    masses = law.masses * likelihood
    total = float(masses.sum())
    lost = law.error * float(likelihood.max(initial=0.0)) + missed
    if lost >= total * _UNSURE:
        return None
    return CellLaw(law.start, np.asarray(masses / total), lost / total)


def _chance(law: CellLaw, noise: Noise, published: int) -> float:
    """Return how probable a value at least as far out is, on the side where it is less so, and doubled."""
    middle, distances = noise_masses(noise), published - law.start - np.arange(len(law.masses), dtype=np.int64)
    above = np.cumsum(middle[::-1])[::-1]  # P(noise >= d), from the least to the largest d
    reach = len(middle) // 2
    at_least = above[np.clip(distances + reach, 0, len(above) - 1)] * (distances <= reach)
    at_most = above[np.clip(reach - distances, 0, len(above) - 1)] * (-distances <= reach)
    return 2 * float(min(law.masses @ at_least, law.masses @ at_most)) + law.error


def _at(masses: FloatArray, distances: IntArray) -> FloatArray:
    """Return the masses of a noise at some distances from 0."""
    reach = len(masses) // 2
    return np.where(np.abs(distances) <= reach, masses[np.clip(distances + reach, 0, len(masses) - 1)], 0.0)


@lru_cache(maxsize=64)
def noise_masses(noise: Noise) -> FloatArray:
    """Return P(noise = d) of one cell for d = -reach, ..., reach, in grid units; Unsupported for many steps."""
    reach = int(noise.half_width(1 - _BEYOND, 1) / noise.grid)
    if reach > _MOST_STEPS:
        raise Unsupported("the noise goes over too many steps of the grid")
    one_side = np.exp([noise.log_mass(distance) for distance in range(reach + 1)])
    masses = np.concatenate([one_side[:0:-1], one_side])
    masses.flags.writeable = False  # whoever asks next gets it, too
    return masses


@lru_cache(maxsize=64)
def sum_masses(noise: Noise, cells: int) -> FloatArray:
    """Return the same of the sum of several cells' independent noises; no masses where there are too many steps."""
    one = noise_masses(noise)
    reach = len(one) // 2 * cells
    if cells == 1:
        return one
    if reach > 4 * _MOST_STEPS:
        return np.zeros(1)
    size = 1 << (2 * reach + 1).bit_length()
    masses = np.fft.irfft(np.fft.rfft(one, size) ** cells, size)[: 2 * reach + 1]
    masses = np.maximum(masses, 0.0)
    masses.flags.writeable = False
    return masses



def narrowing(rows: Sequence[Row], noises: Iterable[tuple[Randomiser, int]], unit: str) -> str:
    """Say how near a table's estimates are, where they halve the ± of one value, or which miss; else ""."""
    middle, low, high = ESTIMATED
    if not rows or middle not in rows[0]:
        return ""
    if without := sum(row[middle] is None for row in rows):
        few = "the published value" if len(rows) == 1 else f"{without:,} of {len(rows):,} published values"
        have = "it has" if without == 1 else "they have"
        return f"The belief makes {few} less likely than 1 in {1 / CONTRADICTS:,.0f}, so {have} no estimate"
    widths = [float(row[high]) - float(row[low]) for row in rows]
    # `noises` are those of its answers, each with its number of values
    by_noise = [float(noise.half_width(LEVEL, 1)) * values for noise, values in noises]
    average, alone = math.fsum(widths) / 2 / len(rows), math.fsum(by_noise) / len(rows)
    if not alone or 2 * average > alone:
        return ""
    near, far = (measured(float(f"{size:.2g}"), unit) for size in (average, alone))
    return (
        f"If the belief is true, an estimate is within ±{near} of the exact value on average (95 %, each by itself), "
        f"and a value within ±{far}"
    )

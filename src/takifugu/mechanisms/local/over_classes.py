"""What is sent, over all populations of a class: each lies somewhere in its region (`beliefs.population_region`).

With M_y the largest and m_y the least <p, K_y> over a region, an output is at most max M_y / m'_y times as likely from
one population as from the other. For delta, (P - e^epsilon Q)_+ grows with P and falls with Q, output by output, and so
do the sums of them that tuples lead to: the ends M_y and m'_y bound both. Exact for epsilon of a channel; for delta an
upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import accumulate, permutations

import numpy as np

from takifugu.core.cache import memoised
from takifugu.mechanisms.local.populations import Populations
from takifugu.model.beliefs.population_region import WHOLE, Region, Regions
from takifugu.numbers.atoms import Floats
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio
from takifugu.numbers.distributions.divergence import divergence
from takifugu.numbers.distributions.positive_part import LARGEST_EPSILON, mean_positive_part

Masses = dict[Hashable, Fraction]
Ends = dict[str, tuple[Masses, Masses]]


@memoised
def ends_of(channel: Channel, regions: Regions) -> Ends:
    """Return the least and largest probability of each output by population."""
    columns = list(zip(*channel.masses, strict=True))
    ends: Ends = {}
    for name, region in regions.by_name.items():
        low, high = ([end / channel.total for end in of(*columns)] for of in (region.least, region.largest))
        ends[name] = dict(enumerate(low)), dict(enumerate(high))
    return ends


def largest_mass_over(channel: Channel, regions: Regions) -> Fraction:
    """Return the largest probability of any output by any population."""
    return max(max(high.values()) for _, high in ends_of(channel, regions).values())


def loss_over(channel: Channel, regions: Regions) -> float:
    """Return the least epsilon for all populations of the class, rounded up."""
    return _largest_loss(ends_of(channel, regions).values())


def _largest_loss(ends: Iterable[tuple[Mapping[Hashable, Fraction], Mapping[Hashable, Fraction]]]) -> float:
    """Return the largest log-ratio of one population's most to another's least."""
    losses = []
    for (_, most), (least, _) in permutations(ends, 2):
        losses.append(largest_log_ratio(most, least))
    return max(losses)


def value_loss(populations: Populations) -> float:
    """Return the value's epsilon over the class, rounded up; infinite where one may lack another's value."""
    regions = populations.regions
    if regions is None:
        laws = populations.laws.values()
        return _largest_loss(zip(laws, laws, strict=True))
    return _largest_loss(map(masses_of_values, regions.by_name.values()))


def masses_of_values(region: Region) -> tuple[Masses, Masses]:
    """Return the least and largest mass of each value in a region."""
    blocks, low, high = region.tree.all, list(region.low), list(region.high)

    def total(masses: list[int], numbers: Iterable[int]) -> int:
        return sum(masses[number] for number in numbers)

    parts: dict[int, list[int]] = {}
    for number, block in enumerate(blocks):  # each block stands before its parts
        sizes = [len(part.all) for part in block.parts]
        if sizes:
            parts[number] = list(accumulate(sizes[:-1], initial=number + 1))
    # What a block may have its parts bound, from the leaves up.
    for number in reversed(parts):
        low[number] = max(low[number], total(low, parts[number]))
        high[number] = min(high[number], total(high, parts[number]))
    # What a part may have its block and the other parts bound, from the root down.
    for number, of in parts.items():
        least, most = total(low, of), total(high, of)
        for part in of:
            at_least, at_most = low[number] - most + high[part], high[number] - least + low[part]
            low[part], high[part] = max(low[part], at_least), min(high[part], at_most)
    least_of: Masses = {}
    most_of: Masses = {}
    for number, block in enumerate(blocks):
        if not block.parts:
            least_of[block.values[0]] = Fraction(low[number], WHOLE)
            most_of[block.values[0]] = Fraction(high[number], WHOLE)
    return least_of, most_of


def delta_over(channel: Channel, regions: Regions, epsilon: Fraction, dummies: int = 0) -> float:
    """Return a delta of output and dummies over the class, rounded up."""
    worst = 0.0
    for (_, high), (low, _) in permutations(ends_of(channel, regions).values(), 2):
        if dummies:
            delta = _among(dummies, high, low, epsilon)
        else:
            delta = divergence(zip(high.values(), low.values(), strict=True), epsilon).high
        worst = max(worst, delta)
    return min(1.0, worst)


def _among(dummies: int, high: Masses, low: Masses, epsilon: Fraction) -> float:
    """Return a delta of two populations' output among dummies, rounded up."""
    if epsilon >= LARGEST_EPSILON:
        return 1.0
    factor, count, sent = math.exp(float(epsilon)), len(high), dummies + 1
    gaps = np.array([float(high[y]) - factor * float(low[y]) for y in high]) * count
    positive_part = mean_positive_part(gaps, np.full(count, 1 / count), sent).high / sent
    total = float(sum(high.values())) + factor
    return positive_part * (1 + sent * 2.0**-48) + 2.0**-50 * (1 + total)


def about_ends(rows: Floats, regions: Regions) -> dict[str, tuple[Floats, Floats]]:
    """Return about the least and largest probability of each output, by population."""
    return {name: (region.about(rows, -1), region.about(rows)) for name, region in regions.by_name.items()}

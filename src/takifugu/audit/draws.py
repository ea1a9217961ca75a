"""Whether what is drawn follows the declared law: a G-test of how often outputs occur, rare ones pooled.

The declared law is that of the audit (`noise_masses`); outputs come from wherever they are drawn. G is the sum of
2 O log(O/E) over pooled outputs, O observed and E expected, about chi-squared under the law; answers that differ are
tested apart, and their statistics add up.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp

from takifugu.analysis.randomisers import Randomiser
from takifugu.analysis.randomisers.base import NOT_ANSWERED
from takifugu.audit.noise_masses import DIGITS, cell_mass, cell_tail, is_joint, outputs_of, parts_of, places_of_mass
from takifugu.audit.sparse_masses import is_sparse

#: Draws that a pooled output expects at least: at 5, G would be 5 % above chi-squared. An output of additive noise is
#: pooled in steps of 1/8 of the scale.
LEAST, LADDER = 20, [Fraction(step, 8) for step in range(-64, 65)]


@dataclass(frozen=True)
class Fit:
    """The fit of outputs to the declared distribution, with its p-value."""

    draws: int
    pooled: int
    statistic: float
    #: How likely the distribution itself gives a G as large; 0 for an impossible output.
    p: float


def fit(noise: Randomiser, answer: Sequence[int | Fraction], drawn: Iterable[Sequence[Hashable]]) -> Fit:
    """Return the fit of outputs to a randomiser's distribution at an answer, a number of grid units for each cell."""
    # Each of `drawn` is what `Randomiser.draw` returns for the answer.
    counts: dict[tuple[Randomiser, Any], Counter[Hashable]] = {}
    parts, count = parts_of(noise), 0
    answers: list[Any] = list(map(Fraction, answer))
    if is_joint(noise):
        answers = [tuple(answers)]
    for outputs in drawn:
        count += 1
        row: list[Any] = [_unit(y, noise) for y in outputs]
        if is_joint(noise):
            row = [tuple(row)]
        for part, x, y in zip(parts, answers, row, strict=True):
            counts.setdefault((part, x), Counter())[y] += 1
    statistic, pooled, free = 0.0, 0, 0
    with mp.workdps(DIGITS):
        for (part, x), observed in counts.items():
            cells = list(_pooled(_expected(part, x, observed)))
            pooled, free = pooled + len(cells), free + len(cells) - 1
            excess = 0.0
            for seldom, mass in cells:
                if seldom:
                    excess += 2 * seldom * math.log(seldom / mass) if mass else math.inf
            statistic += excess
    return Fit(count, pooled, statistic, _chance(statistic, free))


def _unit(output: Any, noise: Randomiser) -> Any:
    """Return a numeric output in grid units, others as they are."""
    if output == NOT_ANSWERED:
        return None
    is_number = noise.output.is_number or is_sparse(noise)
    if isinstance(output, str | tuple) or not is_number:
        return output
    return Fraction(output) / noise.grid


def _expected(part: Randomiser, x: Any, observed: Counter[Hashable]) -> Iterator[tuple[float, float]]:
    """Yield each output's observed and expected number, the rest last."""
    total = observed.total()
    if outputs_of(part) is not None or is_sparse(part):
        mass = cell_mass(part)
        masses = sorted((float(mass(y, x)), repr(y), y) for y in places_of_mass(part, [x]))
        for chance, _, y in masses:
            yield observed.pop(y, 0), total * chance
        yield observed.total(), 0.0
        return
    tail, spread = cell_tail(part), part.scale / part.grid
    ends = sorted({*range(math.floor(x) - 1, math.floor(x) + 3), *(round(x + spread * step) for step in LADDER)})
    above = [1.0, *(float(tail(end, x)) for end in ends), 0.0]
    places = Counter(bisect.bisect_right(ends, y) for y in observed.elements())
    for place, (upper, lower) in enumerate(itertools.pairwise(above)):
        yield places[place], total * (upper - lower)


def _pooled(cells: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield neighbouring cells joined to LEAST draws, impossible ones apart."""
    pending = (0.0, 0.0)
    joined: list[tuple[float, float]] = []
    for observed, expected in cells:
        if observed and not expected:
            yield observed, expected
            continue
        pending = pending[0] + observed, pending[1] + expected
        if pending[1] >= LEAST:
            joined.append(pending)
            pending = (0.0, 0.0)
    if joined:
        joined[-1] = joined[-1][0] + pending[0], joined[-1][1] + pending[1]
    yield from joined or [pending]


def _chance(statistic: float, free: int) -> float:
    from scipy.special import chdtrc

    if math.isinf(statistic):
        return 0.0
    if not free:
        return 1.0
    return float(chdtrc(free, max(statistic, 0.0)))

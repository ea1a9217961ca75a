"""What one secret entry of a network has found so far, and whether a quilt could do better: a scale, or costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from takifugu.analysis.problem import Part
from takifugu.core.arrays import BoolArray, FloatArray
from takifugu.influence.quilts.network.candidates import Candidate
from takifugu.influence.quilts.network.near import BLOCKED
from takifugu.numbers.outward_rounding import NEVER

#: Quilts no better than what was found, up to rounding, are left out.
SLACK = 1 + 1e-12

Pair = tuple[int, int]


class BestScale:
    """One quilt for all pairs, of least scale D(N)/(epsilon - e(Q))."""

    def __init__(self, quilt: Candidate, pairs: Sequence[Pair], epsilon: Fraction) -> None:
        self.costliest, self.pairs, self._epsilon = quilt, pairs, epsilon

    @property
    def below(self) -> float:
        """How many steps D(N) must stay below."""
        return float(self.costliest.value * self._epsilon)

    def hopes(self, steps: int, influence: FloatArray) -> FloatArray:
        """Score quilts from lower bounds on D(N) and influence, whose last axis is the pairs."""
        room = float(self._epsilon) * SLACK - np.asarray(influence.max(axis=-1))
        scales = np.divide(steps, room, out=np.full(room.shape, np.inf), where=room > 0)
        return np.where(scales < float(self.costliest.value), scales, np.inf)

    def take(self, nodes: tuple[int, ...], steps: int, influence: FloatArray) -> None:
        """Keep a quilt with this D(N) and influence if it is better."""
        worst = int(np.argmax(influence))
        room = self._epsilon - Fraction(float(influence[worst]))
        if room < 0 or (room == 0 and steps):
            return
        scale = Fraction(steps) / room if steps else Fraction(0)
        if scale < self.costliest.value:
            entry, pair, e = self.costliest.entry, self.pairs[worst], float(influence[worst])
            self.costliest = Candidate(scale, entry, pair, tuple(sorted(nodes)), steps, e)


class BestCosts:
    """Each pair's quilt of least cost e(Q) + D(N) * unit."""

    def __init__(self, candidates: Sequence[Candidate], unit: Fraction) -> None:
        self._each, self._unit = list(candidates), unit
        self.pairs = [quilt.pair for quilt in candidates]
        self._costs = np.array([float(quilt.value) for quilt in candidates])

    @property
    def costliest(self) -> Candidate:
        return max(self._each, key=lambda quilt: quilt.value)

    @property
    def below(self) -> float:
        return min(float(self._costs.max() / float(self._unit)) * SLACK, float(BLOCKED))

    def hopes(self, steps: int, influence: FloatArray) -> FloatArray:
        cost = influence + steps * float(self._unit)
        better: BoolArray = (cost < self._costs * SLACK) & (influence < NEVER / 2)
        return np.where(better.any(axis=-1), np.where(better, cost, np.inf).min(axis=-1), np.inf)

    def take(self, nodes: tuple[int, ...], steps: int, influence: FloatArray) -> None:
        for number, e in enumerate(influence.tolist()):
            if e < NEVER / 2:
                cost, best = Fraction(e) + steps * self._unit, self._each[number]
                if cost < best.value:
                    self._each[number] = Candidate(cost, best.entry, best.pair, tuple(sorted(nodes)), steps, e)
                    self._costs[number] = float(cost)


#: The best quilts of one secret entry, for one scale or as costs of its pairs.
Best = BestScale | BestCosts


def trivial_scales(part: Part, steps: int, epsilon: Fraction, budget: Fraction) -> list[BestScale]:
    """Return the trivial quilt's scale D/epsilon for each entry; others may use `budget`."""
    trivial = _trivial(part, Fraction(steps) / epsilon, steps)
    return [BestScale(each[0], [candidate.pair for candidate in each], budget) for each in trivial]


def trivial_costs(part: Part, cost: Fraction | float, steps: int, unit: Fraction) -> list[BestCosts]:
    """Return the trivial quilt's costs for every pair of each entry."""
    return [BestCosts(candidates, unit) for candidates in _trivial(part, cost, steps)]


def _trivial(part: Part, value: Fraction | float, steps: int) -> Iterator[list[Candidate]]:
    """Yield the trivial quilt for every pair of each secret entry."""
    for entry in part.family.entries:
        if pairs := part.family.value_pairs(part.belief, entry):
            yield [Candidate(value, entry, pair, None, steps) for pair in pairs]

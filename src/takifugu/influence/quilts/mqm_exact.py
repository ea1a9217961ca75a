"""MQMExact: the max-influence of quilts of one chain, exactly (Song17 Definition 4.1, Algorithm 3).

A quilt {X_{i-a}, X_{i+b}} has the influence right + left of docs/theory/chain-classes.md#chain-classes-3. With
initial="any" it falls as i grows, and from some i on that of a nearer node stands for it.

Floats: the relative error of a sum of products of positive terms grows linearly with their number. It is bounded
(`product_error`) and charged in both logs of every ratio.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from takifugu.analysis.bounds import Cost
from takifugu.analysis.questions.influence import Search, Worst
from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.influence.quilts.sequences import needed
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.numbers.outward_rounding import (
    DEAD,
    NEVER,
    UNIT,
    clip,
    largest_differences,
    log_bounds,
    log_rounding,
    product_error,
)

#: Nodes are searched up to this distance, or as far as products of so many numbers are held.
FARTHEST, MOST_HELD = 2**13, 2**24
#: A start is followed until the terms of all starts differ by less.
SETTLED = 1e-12
#: Entries that are looked at together.
BLOCK = 2**12
#: Operations for each entry and distance searched.
PER_ENTRY = 400.0


class ChainInfluence:
    """Influences of an entry of a chain on nodes before and after it; `pairs` hold both orders."""

    def __init__(self, chain: PeriodicChain, pairs: Iterable[tuple[int, int]] | None = None) -> None:
        states = len(chain.states)
        one_way = set(permutations(range(states), 2) if pairs is None else pairs)
        self.pairs: tuple[tuple[int, int], ...] = tuple(sorted(one_way | {(b, a) for a, b in one_way}))
        self.first, self.second = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        self._steps, self._start, self._length = chain.step_matrices, chain.initial, chain.length
        self._chain, self.period, self.supports = chain, len(chain.step_matrices), chain.supports
        self.farthest = max(1, min(FARTHEST, chain.length, MOST_HELD // (self.period * states**2)))
        self._common = self.supports.by_phase(self.period, self.supports.first)
        early = range(self.supports.first)
        self._early = [t for t in early if (self.supports.at(t) != self._common[t % self.period]).any()]
        used = zip(self._steps, self.supports.by_phase(self.period), strict=True)
        self._independent = all((rows[met] == rows[met][0]).all() for rows, met in used)
        self._product, self._pattern = np.eye(states), np.eye(states, dtype=bool)
        self._logs: list[tuple[FloatArray, FloatArray, float]] = []  # by the phase of the first entry
        self._after: list[FloatArray] = []  # (period, pairs) by distance, as are the next two
        self._before: list[FloatArray] = []  # of values that a node has late in the sequence
        self._entrance: list[FloatArray] = []  # of all values

    def alive(self, entries: IntArray) -> BoolArray:
        """Return which pairs have two possible values, (entries, pairs)."""
        return np.asarray(self.supports.pairs(entries, self.first, self.second))

    def after(self, entry: int, count: int) -> FloatArray:
        """Return right_{entry,b} for b up to count, (count, pairs)."""
        self._extend(count)
        return np.array([rows[entry % self.period] for rows in self._after[:count]]).reshape(count, len(self.pairs))

    def before(self, entry: int, count: int) -> FloatArray:
        """Return left_{entry,a} for a up to count, (count, pairs)."""
        self._extend(count)
        if self._independent:
            return np.zeros((count, len(self.pairs)))
        rows = np.array([rows[entry % self.period] for rows in self._before[:count]]).reshape(count, len(self.pairs))
        for node in self._early:
            if entry - count <= node < entry:
                upper, lower, error = self._logs[entry - node - 1]
                values = self.supports.at(node)
                ratios = largest_differences(upper[node % self.period][values].T, lower[node % self.period][values].T)
                rows[entry - node - 1] = ratios[self.first, self.second] + error
        return clip(rows + self._prior(np.array([entry])))

    def largest(self, entries: IntArray, left: int | None, right: int | None) -> FloatArray:
        """Bound e over the pairs alive, for nodes at these distances from each entry."""
        self._extend(max(left or 1, right or 1))
        result = np.empty(len(entries))
        for low in range(0, len(entries), BLOCK):
            some = entries[low : low + BLOCK]
            total, phases = np.zeros((len(some), len(self.pairs))), some % self.period
            if right is not None:
                total += self._after[right - 1][phases]
            if left is not None and not self._independent:
                total += self._before[left - 1][phases] + self._prior(some)
                total[np.isin(some - left, self._early)] = NEVER
            result[low : low + BLOCK] = np.where(self.alive(some), total, DEAD).max(axis=1, initial=DEAD)
        return clip(result)

    def _prior(self, entries: IntArray) -> FloatArray:
        """Return log P(X_i = s')/P(X_i = s), or its supremum over starts, (entries, pairs)."""
        if self._start == "stationary":
            return np.asarray(self._stationary[entries % self.period])
        if self._start == "any":
            return self._of_any_start(entries)
        upper, lower, error = self._marginals
        early = np.minimum(entries, len(upper) - 1)
        terms = clip(upper[early][:, self.second] - lower[early][:, self.first]) + error[early]
        late = entries >= len(upper)
        if late.any():
            terms[late] = self._of_any_start(entries[late])
        return np.asarray(terms)

    def _of_any_start(self, entries: IntArray) -> FloatArray:
        distances = np.minimum(entries, self._settled or self.farthest) - 1
        table = np.array(self._entrance[: int(distances.max(initial=0)) + 1])
        return np.asarray(table[distances, entries % self.period][:, self._swapped])

    @cached_property
    def _swapped(self) -> IntArray:
        """The place of (b, a) where (a, b) is."""
        return np.lexsort((self.first, self.second))

    @cached_property
    def _settled(self) -> int | None:
        """Return from which entry on all starts are alike: every law there mixes the rows of one product."""
        for distance in range(1, self.farthest + 1):
            self._extend(distance)
            rows = self._entrance[distance - 1]
            if distance >= self.period and float(np.abs(rows + rows[:, self._swapped]).max(initial=0.0)) <= SETTLED:
                return distance
        return None

    @cached_property
    def _stationary(self) -> FloatArray:
        """Return log P(X_t = s')/P(X_t = s) by phase."""
        logs = np.array([law.logs for law in self._chain.stationary_laws])
        k, possible = logs.shape[1], np.isfinite(logs)
        upper, lower = np.where(possible, logs, DEAD), np.where(possible, logs, -NEVER)
        # Rates of a period of several steps are products, each off by what `product_error` says of it, halved.
        rates = (k - 1) * float(product_error(np.array(self.period), k)) if self.period > 1 else 0.0
        term = clip(upper[:, self.second] - lower[:, self.first])
        # k^3 + 15 k^2 + 10 units cover elimination without subtraction (docs/theory/rounding.md; O'Cinneide 1993).
        return np.asarray(term + ((k**3 + 15 * k**2 + 10) * UNIT + rates + log_rounding(upper)))

    @cached_property
    def _marginals(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return logs of the masses of every entry before all starts are alike, upper and lower, and their error."""
        length = min(self._length, self._settled or self._length)
        laws = np.empty((length, self._steps.shape[1]))
        laws[0] = self._start
        for t in range(1, length):
            laws[t] = laws[t - 1] @ self._steps[(t - 1) % self.period]
        times, values = np.arange(length), np.arange(laws.shape[1])
        upper, lower = log_bounds(laws, np.asarray(self.supports.pairs(times, values, values)))
        return upper, lower, (product_error(times + 1, laws.shape[1]) + log_rounding(upper, lower))[:, None]

    def _extend(self, distance: int) -> None:
        """Fill the tables up to a distance; none of their rows is above the one before."""
        while len(self._after) < distance:
            count, states = len(self._after) + 1, self._steps.shape[1]
            following = np.roll(self._steps, 1 - count, axis=0)
            self._product = self._product @ following
            self._pattern = (self._pattern.astype(np.float32) @ (following > 0)) > 0
            upper, lower = log_bounds(self._product, self._pattern)
            error = float(product_error(np.array(count), states)) + log_rounding(upper, lower)
            self._logs.append((upper, lower, error))
            self._add(self._after, upper, lower, error)
            starts = (np.arange(self.period) - count) % self.period  # of products that end at each phase
            upper, lower = np.swapaxes(upper[starts], 1, 2), np.swapaxes(lower[starts], 1, 2)
            self._add(self._entrance, upper, lower, error)
            met = self._common[starts][:, None, :]  # a value that X does not take there is never the largest
            self._add(self._before, np.where(met, upper, DEAD), np.where(met, lower, 0.0), error)

    def _add(self, rows: list[FloatArray], upper: FloatArray, lower: FloatArray, error: float) -> None:
        new = clip(largest_differences(upper, lower)[:, self.first, self.second] + error)
        if self._independent:
            new = np.zeros_like(new)
        rows.append(np.minimum(new, rows[-1]) if rows else new)


@dataclass(frozen=True, eq=False)
class ExactSearch(Search):
    """Quilts of a chain of a stationary, given or unknown initial distribution, with exact influence."""

    def cost(self, epsilon: Fraction) -> Cost:
        """Predict the work: products up to the widest useful quilt, and entries by distances."""
        chain: Any = self.part.belief
        pairs = float(len(chain.states)) ** 2
        distance = _distance(chain, float(epsilon))
        tabled = distance * len(chain.step_matrices)
        operations = tabled * (6 * pairs**1.5 + 40 * pairs) + distance**2 * pairs + PER_ENTRY * chain.length
        return Cost(operations, 40 * tabled * pairs + 80 * chain.length)

    def worst(self, epsilon: Fraction) -> Worst:
        chain: Any = self.part.belief
        return needed(self.part, ChainInfluence(chain, self.part.family.pairs), epsilon)


@dataclass(frozen=True, eq=False)
class IntervalSearch(Search):
    """Quilts of all binary chains with stays in an interval: theirs is the influence of the worst one (any start)."""

    def cost(self, epsilon: Fraction) -> Cost:
        return ExactSearch(_of_worst(self.part)).cost(epsilon)

    def worst(self, epsilon: Fraction) -> Worst:
        return ExactSearch(_of_worst(self.part)).worst(epsilon)


def _of_worst(part: Any) -> Any:
    """Return a part of a class of chains as one of its worst chain."""
    return type(part)(part.belief.worst, part.answer, part.family, part.start)


def _distance(chain: PeriodicChain, epsilon: float) -> float:
    """Guess the farthest searched node from the second eigenvalue."""
    k, period, product = len(chain.states), len(chain.step_matrices), chain.step_matrices[0]
    for matrix in chain.step_matrices[1:]:
        product = product @ matrix
    slowest = float(np.sort(np.abs(np.linalg.eigvals(product)))[-2] ** (1 / period)) if k > 1 else 0.0
    start = 0.0 if chain.initial == "stationary" else np.log(1e12)
    distance = 2 * (np.log(16 * k / min(epsilon, 1.0)) + start) / max(-np.log(max(slowest, 1e-3)), 1e-12)
    return float(min(32 + distance, chain.length, FARTHEST))

"""Where a chain may be at each time: supports, and the log-ratio of the marginal masses of two values.

In the influence of an entry on a node to its left the initial law enters only as log P(X_i = s')/P(X_i = s).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.beliefs.chain import MarkovChain
from takifugu.laws.log_ratios import (
    DEAD,
    NEVER,
    UNIT,
    BoolArray,
    FloatArray,
    clip,
    log_bounds,
    log_rounding,
    product_error,
    stack_power,
)
from takifugu.queries import IntArray

#: How many marginal laws are computed and held at once.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Supports:
    """The values that X_t can take: `found[t]` up to the first repetition, then the cycle found[first:] forever."""

    found: tuple[BoolArray, ...]
    first: int

    def at(self, time: int) -> BoolArray:
        """Return which values X_time can take."""
        if time < len(self.found):
            return self.found[time]
        return self.found[self.first + (time - self.first) % (len(self.found) - self.first)]

    @cached_property
    def late(self) -> BoolArray:
        """Return the values that are possible at some time of the cycle."""
        return np.asarray(np.logical_or.reduce(self.found[self.first :]))

    def numbers(self, times: IntArray) -> IntArray:
        """Return which element of `found` is the support at each time."""
        cycle = len(self.found) - self.first
        return np.where(times < len(self.found), times, self.first + (times - self.first) % cycle)

    def pairs(self, times: IntArray, first: IntArray, second: IntArray) -> BoolArray:
        """Return which pairs of values (first, second) are both possible at each time, shape (times, pairs)."""
        found = np.array(self.found)
        return np.logical_and(found[:, first], found[:, second])[self.numbers(times)]


def supports(chain: MarkovChain) -> Supports:
    """Return the supports of X_0, X_1, ... of a chain of any length (exact: zero patterns, not rounded masses).

    >>> supports(MarkovChain([[0, 1], [0.5, 0.5]], 9, initial=[1, 0])).first
    2
    """
    steps = chain.matrix > 0
    if chain.initial == "stationary":
        return Supports((chain.wide_stationary.support,), 0)
    now: BoolArray = np.ones(len(steps), dtype=bool)
    if chain.initial != "any":
        now = np.array(chain.initial) > 0
    seen: dict[bytes, int] = {}
    found: list[BoolArray] = []
    while now.tobytes() not in seen:
        seen[now.tobytes()] = len(found)
        found.append(now)
        now = np.asarray((now[:, None] & steps).any(axis=0))
    return Supports(tuple(found), seen[now.tobytes()])


def stationary_term(chain: MarkovChain, first: IntArray, second: IntArray) -> FloatArray:
    """Return log pi(s')/pi(s) for the pairs (s, s') = (first, second), rounded up.

    Elimination without subtraction is stable entry by entry: by the Markov chain tree theorem a relative change d of
    the rates moves pi(s')/pi(s) by at most 2 (k - 1) d, and stage n of the elimination rounds its rates by at most
    (n + 5) units, so together with the rates' own error k^3 + 15 k^2 + 10 units cover it (O'Cinneide 1993).
    """
    logs = chain.wide_stationary.logs
    k, possible = len(logs), np.isfinite(logs)
    upper, lower = np.where(possible, logs, DEAD), np.where(possible, logs, -NEVER)
    return clip(upper[second] - lower[first]) + (k**3 + 15 * k**2 + 10) * UNIT + log_rounding(upper)


class Marginals:
    """The laws of X_0, X_1, ... from a given initial law, block by block: memory does not grow with the length."""

    def __init__(self, chain: MarkovChain, where: Supports, first: IntArray, second: IntArray) -> None:
        self._matrix = chain.matrix
        self._supports = where
        self._first, self._second = first, second
        self._heads = [np.array(chain.initial, dtype=np.float64)]
        self._number, self._block = -1, self._heads[0]

    def term(self, entries: IntArray) -> FloatArray:
        """Return log P(X_i = s')/P(X_i = s) for sorted entries i, shape (entries, pairs), rounded up.

        The relative error of a mass grows with every step as that of powers does: every term of every sum is positive.
        """
        rows = np.empty((len(entries), len(self._first)))
        k = len(self._matrix)
        for number in np.unique(entries // BLOCK):
            mine = entries // BLOCK == number
            times = entries[mine]
            laws = self._laws(int(number))[times % BLOCK]
            every = np.arange(k)
            positive = self._supports.pairs(times, every, every)
            upper, lower = log_bounds(laws, positive)
            error = product_error(times + 1, k) + log_rounding(upper, lower)
            difference = clip(upper[:, self._second] - lower[:, self._first]) + error[:, None]
            rows[mine] = np.where(positive[:, self._first] & positive[:, self._second], difference, DEAD)
        return rows

    def _laws(self, block: int) -> FloatArray:
        while len(self._heads) <= block:
            last = stack_power(self._matrix, self._heads[-1], BLOCK)[-1]
            self._heads.append(last @ self._matrix)
        if self._number != block:
            self._number, self._block = block, stack_power(self._matrix, self._heads[block], BLOCK)
        return self._block

"""Where a chain may be at each time: the log-ratio of the marginal masses of two values.

In the influence of an entry on a node to its left the initial law enters only as log P(X_i = s')/P(X_i = s).
"""

from __future__ import annotations

import numpy as np

from takifugu.core.arrays import FloatArray, IntArray
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.one_sequence import Supports
from takifugu.numbers.outward_rounding import (
    DEAD,
    NEVER,
    UNIT,
    clip,
    log_bounds,
    log_rounding,
    product_error,
    stack_power,
)

#: How many marginal laws are computed and held at once.
BLOCK = 1024


def stationary_term(chain: PeriodicChain, first: IntArray, second: IntArray) -> FloatArray:
    """Return log P(X_t = s')/P(X_t = s), rounded up, (period, pairs).

    The pairs (s, s') are (first, second). Elimination without subtraction is stable entry by entry: by the Markov chain
    tree theorem a relative change d of the rates moves pi(s')/pi(s) by at most 2 (k - 1) d, and stage n of the
    elimination rounds its rates by at most (n + 5) units, so together with the rates' own error k^3 + 15 k^2 + 10 units
    cover it (O'Cinneide 1993). The rates of a period of several steps are products, each off by what `product_error`
    says of it, halved.
    """
    logs = np.array([law.logs for law in chain.stationary_laws])
    k, possible, period = len(chain.states), np.isfinite(logs), len(logs)
    upper, lower = np.where(possible, logs, DEAD), np.where(possible, logs, -NEVER)
    rates = (k - 1) * float(product_error(np.array(period), k)) if period > 1 else 0.0
    term = clip(upper[:, second] - lower[:, first])
    return term + ((k**3 + 15 * k**2 + 10) * UNIT + rates + log_rounding(upper))


class Marginals:
    """The laws of X_0, X_1, ... from a given initial law, block by block: memory does not grow with the length."""

    def __init__(self, chain: PeriodicChain, supports: Supports, first: IntArray, second: IntArray) -> None:
        self._steps = chain.step_matrices
        self._supports = supports
        self._first, self._second = first, second
        self._heads = [np.array(chain.initial, dtype=np.float64)]
        self._number, self._block = -1, self._heads[0]

    def term(self, entries: IntArray) -> FloatArray:
        """Return log P(X_i = s')/P(X_i = s), rounded up, (entries, pairs).

        The entries are sorted. The relative error of a mass grows with every step as that of powers does: every term of
        every sum is positive.
        """
        rows = np.empty((len(entries), len(self._first)))
        k = self._steps.shape[1]
        for number in np.unique(entries // BLOCK):
            in_block = entries // BLOCK == number
            times = entries[in_block]
            laws = self._laws(int(number))[times % BLOCK]
            every = np.arange(k)
            positive = self._supports.pairs(times, every, every)
            upper, lower = log_bounds(laws, positive)
            error = product_error(times + 1, k) + log_rounding(upper, lower)
            difference = clip(upper[:, self._second] - lower[:, self._first]) + error[:, None]
            rows[in_block] = np.where(positive[:, self._first] & positive[:, self._second], difference, DEAD)
        return rows

    def _laws(self, block: int) -> FloatArray:
        while len(self._heads) <= block:
            number = len(self._heads) - 1
            self._heads.append(self._after(self._block_of(number)[-1], (number + 1) * BLOCK - 1))
        if self._number != block:
            self._number, self._block = block, self._block_of(block)
        return self._block

    def _block_of(self, number: int) -> FloatArray:
        if len(self._steps) == 1:
            return stack_power(self._steps[0], self._heads[number], BLOCK)
        laws = np.empty((BLOCK, self._steps.shape[1]))
        laws[0] = self._heads[number]
        for place in range(1, BLOCK):
            laws[place] = self._after(laws[place - 1], number * BLOCK + place - 1)
        return laws

    def _after(self, law: FloatArray, time: int) -> FloatArray:
        """Return the law one step later."""
        return np.asarray(law @ self._steps[time % len(self._steps)])

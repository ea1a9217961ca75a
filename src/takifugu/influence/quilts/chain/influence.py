"""Exact max-influence of one entry of a Markov chain on the nodes of a quilt (Song17 Definition 4.1).

For an entry i, a quilt {X_{i-a}, X_{i+b}} and an ordered pair of values s, s', with P_i^b = M_i M_{i+1} ... M_{i+b-1}
the product of the b step matrices from X_i on (P^b where all steps have one matrix),

    e_{s,s'} = right_{i,b}(s, s') + left_{i,a}(s, s'),
    right_{i,b}(s, s') = max over y of log P_i^b(s, y)/P_i^b(s', y),
    left_{i,a}(s, s')  = max over x of log P_{i-a}^a(x, s)/P_{i-a}^a(x, s') + log P(X_i = s')/P(X_i = s),

x with P(X_{i-a} = x) > 0, because X_{i-a} and X_{i+b} are independent given X_i; a missing node contributes 0. With
initial="any" the supremum over initial laws is exact too: log P(X_i = s')/P(X_i = s) is a ratio of linear functions of
the initial law, so its supremum is the maximum over start states u of log P_0^i(u, s')/P_0^i(u, s), and an initial law
that puts almost all mass on that u and the rest where X_{i-a} = x is reached comes as near to both maxima at once as
one likes.

Where matrices repeat after a period (PeriodicChain) products depend on i through its phase, i modulo the period, so
there is one table for each phase; a chain with one matrix has one phase. Proof: docs/theory/chain-classes.md.

Both terms fall with the distance (data processing). The start term is computed exactly until it has settled: from the
first n at which max over x, x' of |log P^n(x, s')/P^n(x, s) - log P^n(x', s')/P^n(x', s)| < 1e-12 for the products P^n
that end at each phase, every law of X_i, i >= n, is a mixture of rows of such a product, and the largest row ratio is
charged. Where the support of the chain changes forever, x runs over all values that X ever takes late in the sequence
at its phase, an upper bound. Tables end where influences are down to rounding or infinite forever; a far first entry
that a given start leaves few values is then not searched.

Floats: the relative error of a sum of products of positive terms grows linearly with their number. It is bounded
(`product_error`) and charged in both logs of every ratio: what is returned is never below the true influence, and
about 1e-15 n k above it. Source: docs/decisions.md#exact-max-influence.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.influence.quilts.chain.initial import BLOCK, Marginals, stationary_term
from takifugu.influence.quilts.chain.shared import shared
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.numbers.outward_rounding import (
    DEAD,
    NEVER,
    clip,
    largest_differences,
    log_bounds,
    log_rounding,
    product_error,
)

#: A start term that can still change by less than this is charged at its upper end.
SETTLED = 1e-12
#: Largest number of influences held at once for each side (128 MB); farther nodes are not searched.
MOST_HELD = 2**24
#: Elements of a block of powers that are worked on together.
WORKED = 2**17


class ChainInfluence:
    """Influences of an entry on nodes at distances 1, 2, ..., `reach`.

    Tables have shape (distances, phases, pairs) and do not depend on the chain's length. `pairs`, of values, must hold
    both orders.
    """

    def __init__(self, chain: PeriodicChain, pairs: Iterable[tuple[int, int]]) -> None:
        self.pairs: tuple[tuple[int, int], ...] = tuple(sorted(pairs))
        self.first, self.second = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        self._swap = np.lexsort((self.first, self.second))  # the place of (b, a) where (a, b) is
        self._steps, self._start = chain.step_matrices, chain.initial
        self.period = len(self._steps)
        self._error = 0.0
        self.supports = chain.supports
        self._common = self.supports.by_phase(self.period, self.supports.first)
        early = range(self.supports.first)
        self._early = [t for t in early if (self.supports.at(t) != self._common[t % self.period]).any()]
        # Where all rows that are used are the same, entries are independent, and rounding cannot say otherwise.
        used = zip(self._steps, self.supports.by_phase(self.period), strict=True)
        self._independent = all((rows[met] == rows[met][0]).all() for rows, met in used)
        self.reach = 0
        self._most = max(1, MOST_HELD // max(1, self.period * len(self.pairs)))
        # Untouched pages of an empty array cost no memory, so tables grow without being copied.
        shape = (self._most, self.period, len(self.pairs))
        self._right, self._entrance = np.empty(shape), np.empty(shape)
        self._left = self._entrance if self._common.all() else np.empty(shape)
        self._logs: list[tuple[FloatArray, FloatArray, float]] = []
        self._products, self._patterns = np.eye(len(chain.states)), np.eye(len(chain.states), dtype=bool)
        self.exhausted = False
        self.capped = False
        self.settled: int | None = None
        if chain.initial == "stationary":
            self.settled = 0
            self._settled_term = self._alive_only(stationary_term(chain, self.first, self.second))
            if self._independent:
                self._settled_term = self._alive_only(np.zeros(self._settled_term.shape))
        elif chain.initial != "any":
            self._marginals = Marginals(chain, self.supports, self.first, self.second)
        self.extend(1)

    def alive(self, entry: int) -> BoolArray:
        """Return the pairs with both values possible at an entry."""
        row: BoolArray = self._alive_by_support[self.supports.number(entry)]
        return row

    def secret(self, length: int) -> BoolArray:
        """Return the entries below `length` with an alive pair."""
        return np.asarray(self._alive_by_support.any(axis=1))[self.supports.numbers(np.arange(length))]

    @cached_property
    def _alive_by_support(self) -> BoolArray:
        """Return the pairs with both values possible, by the place of a support."""
        return self.supports.pairs(np.arange(len(self.supports.patterns)), self.first, self.second)

    def extend(self, distance: int) -> None:
        """Fill the tables up to `distance`, or as far as useful."""
        together = max(1, WORKED // self._steps.size)
        while self.reach < min(distance, self._most) and not self.exhausted:
            self._append(min(distance - self.reach, self._most - self.reach, together))
            self._judge()

    def prepare(self, length: int) -> None:
        """Extend the tables until the start term settles or the sequence ends."""
        while self.settled is None and self.reach < length - 1 and not self.exhausted:
            self.extend(min(2 * self.reach, length - 1))

    def right(self, count: int, entry: int = 0) -> FloatArray:
        """Return right_{entry,b} for b up to count, shape (count, pairs)."""
        return self._right[:count, entry % self.period]

    def left(self, entry: int, count: int) -> FloatArray:
        """Return left_{entry,a} for a up to count, shape (count, pairs)."""
        rows: FloatArray = self._left[:count, entry % self.period] + self._term(np.array([entry]))[0]
        if self._independent:
            return rows
        special = [t for t in self._early if entry - count <= t < entry]
        if special:
            for t in special:
                rows[entry - t - 1] = self._left_from(np.array([entry]), t)[0]
            np.minimum.accumulate(rows, axis=0, out=rows)
        return rows

    def largest(
        self, entries: IntArray, left: int | None, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Bound e over pairs for quilts at the given distances.

        Entries are sorted; the quilt has nodes at these distances from each, None where there is none. Exact except
        where the support of the left node is still growing.
        """
        columns = slice(None) if pairs is None else pairs
        fixed: FloatArray = np.zeros((self.period, len(self.pairs)))[:, columns]
        if right is not None:
            fixed = fixed + self._right[right - 1][:, columns]
        if left is None:
            phases = np.arange(len(self.supports.patterns)) % self.period
            rows = np.where(self._alive_by_support[:, columns], fixed[phases], DEAD)
            return np.asarray(rows.max(axis=1, initial=DEAD)[self.supports.numbers(entries)])
        fixed = fixed + self._left[left - 1][:, columns]
        result = np.empty(len(entries))
        if self.settled is None:
            start = len(entries)
        else:
            start = int(np.searchsorted(entries, self.settled))
        for low in range(0, start, BLOCK):
            part = entries[low : min(low + BLOCK, start)]
            rows = self._term(part)[:, columns] + fixed[self._phases(part)]
            result[low : low + len(part)] = rows.max(axis=1, initial=DEAD)
        if start < len(entries):
            settled = (self._settled_term[:, columns] + fixed).max(axis=1, initial=DEAD)
            result[start:] = settled[self._phases(entries[start:])]
        if not self._common.all() and self._early:
            result[np.isin(entries - left, self._early)] = NEVER
        return clip(result)

    def special(self, time: int) -> bool:
        """Return whether X_time has other values than late in the sequence."""
        return time in self._early

    def anchored(
        self, entries: IntArray, node: int, right: int | None, pairs: IntArray | None = None
    ) -> FloatArray:
        """Return the largest e for a special entry and nodes at `right`.

        The maximum is over pairs; `right` is the distance from each entry. NEVER for entries too far from `node`.
        """
        columns = slice(None) if pairs is None else pairs
        result = np.full(len(entries), NEVER)
        if right is None:
            fixed = np.zeros((self.period, len(self.pairs)))
        else:
            fixed = self._right[right - 1]
        near = np.flatnonzero(entries - node <= self.reach)
        for low in range(0, len(near), BLOCK):
            part = near[low : low + BLOCK]
            rows = self._left_from(entries[part], node) + fixed[self._phases(entries[part])]
            result[part] = rows[:, columns].max(axis=1, initial=DEAD)
        return clip(result)

    def _phases(self, entries: IntArray) -> IntArray:
        if self.period == 1:
            return np.zeros(len(entries), dtype=np.int64)
        return entries % self.period

    def _term(self, entries: IntArray) -> FloatArray:
        """Return log P(X_i = s')/P(X_i = s), or its supremum."""
        phases = self._phases(entries)
        if self.settled is not None and entries[0] >= self.settled:
            return np.asarray(self._settled_term[phases])
        if self._start == "any":
            suprema = self._entrance[np.minimum(entries, self.reach) - 1, phases][:, self._swap]
            rows = np.where(self.supports.pairs(entries, self.first, self.second), suprema, DEAD)
        else:
            rows = self._marginals.term(entries)
        if self._independent:
            rows = np.where(rows > DEAD, 0.0, DEAD)
        if self.settled is not None:
            late = entries >= self.settled
            rows[late] = self._settled_term[phases[late]]
        return rows

    def _left_from(self, entries: IntArray, node: int) -> FloatArray:
        """Return left_{i,a} back to the special entry `node`, (entries, pairs)."""
        rows = self._term(entries).copy()
        if self._independent:
            return rows
        values = self.supports.at(node)
        for number, entry in enumerate(entries):
            upper, lower, error = self._logs[entry - node - 1]
            phase = entry % self.period
            ratios = largest_differences(upper[phase][:, values], lower[phase][:, values])
            rows[number] += ratios[self.first, self.second] + error
        return clip(rows)

    def _append(self, count: int) -> None:
        """Append products of so many more steps, by first phase."""
        (period, k, _), reach = self._steps.shape, self.reach
        products, patterns = np.empty((count, period, k, k)), np.empty((count, period, k, k), dtype=bool)
        for n in range(count):
            following = np.roll(self._steps, -(reach + n), axis=0)
            self._products = self._products @ following
            self._patterns = (self._patterns.astype(np.float32) @ (following > 0)) > 0
            products[n], patterns[n] = self._products, self._patterns
        upper, lower = log_bounds(products, patterns)
        steps = np.arange(reach + 1, reach + count + 1)
        errors = product_error(steps, k) + log_rounding(upper, lower)
        self._error = float(errors[-1])
        self._fill(self._right, upper, lower, errors)
        # By the phase of the entry, which is at the end of a product.
        before = (np.arange(period) - steps[:, None]) % period
        ends = np.arange(count)[:, None], before
        upper, lower = np.swapaxes(upper[ends], 2, 3), np.swapaxes(lower[ends], 2, 3)
        self._fill(self._entrance, upper, lower, errors)
        if self._left is not self._entrance:
            node = self._common[before][:, :, None, :]  # a value that X does not take there is never the largest
            self._fill(self._left, np.where(node, upper, DEAD), np.where(node, lower, 0.0), errors)
        if self._early:
            self._logs += [(u, v, float(e)) for u, v, e in zip(upper, lower, errors, strict=True)]
        self.reach += count

    def _fill(self, table: FloatArray, upper: FloatArray, lower: FloatArray, errors: FloatArray) -> None:
        """Write a table's next rows; columns fall."""
        rows = table[self.reach : self.reach + len(errors)]
        if self._independent:
            rows[:] = 0.0
            return
        rows[:] = clip(largest_differences(upper, lower)[:, :, self.first, self.second] + errors[:, None, None])
        if self.reach:
            np.minimum(rows[0], table[self.reach - 1], out=rows[0])
        np.minimum.accumulate(rows, axis=0, out=rows)

    def _judge(self) -> None:
        """Decide whether the start term settled and more nodes help."""
        k, error = self._steps.shape[1], self._error
        right, entrance = self._right[self.reach - 1], self._entrance[self.reach - 1]
        two_ways = entrance + entrance[:, self._swap]
        late = self._common[:, self.first] & self._common[:, self.second]
        if self.settled is None and (two_ways[late] - 2 * error <= SETTLED).all():
            self.settled = max(self.reach, self.supports.first)
            self._settled_term = self._alive_only(entrance[:, self._swap])
        # Zero patterns of powers of what a period does repeat from (k - 1)^2 + 1 periods on: what is infinite there
        # stays infinite.
        for_ever = self.reach >= self.period * ((k - 1) ** 2 + 1)
        right_done = (right <= 2 * error) | ((right >= NEVER) & for_ever)
        left_done = (two_ways <= 4 * error) | ((np.abs(two_ways) >= NEVER / 2) & for_ever)
        start_done = self.settled is not None or (for_ever and bool((two_ways[late] >= NEVER / 2).any()))
        self.capped = self.reach >= self._most
        self.exhausted = self.capped or bool(right_done.all() and left_done.all() and start_done)

    def _alive_only(self, term: FloatArray) -> FloatArray:
        """Return a late term, DEAD at impossible values."""
        return np.where(self._common[:, self.first] & self._common[:, self.second], term, DEAD)


def chain_influence(chain: PeriodicChain, pairs: Iterable[tuple[int, int]] | None = None) -> ChainInfluence:
    """Return the influences of a chain for value indices' pairs, or all.

    Chains that differ in length only share one table.

    >>> from takifugu import MarkovChain
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100)
    >>> influence = chain_influence(chain)
    >>> influence.extend(3)
    >>> [round(float(e), 6) for e in influence.right(3).max(axis=1)]
    [1.791759, 0.980829, 0.538997]
    """
    law = (ChainInfluence, len(chain.step_matrices), chain.step_matrices.tobytes(), chain.initial)
    return shared(law, len(chain.states), pairs, lambda value_pairs: ChainInfluence(chain, value_pairs))

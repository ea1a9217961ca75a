"""Laws of near sets on a Markov chain of a stationary or given start (`quilt_local` says what they are for).

Near sets are runs around an entry i. Given the nodes x = X_{i-l} and y = X_{i+r} and X_i = s the shares before and
after i are independent, so the near law is a convolution of two bridge laws and the shift by what s adds:

    before[l][x, s]: the law of the share of i-l+1 .. i-1 given X_{i-l} = x and X_i = s
    after[r][s, y]:  the law of the share of i+1 .. i+r-1 given X_i = s and X_{i+r} = y

and r(x, y) = log P^l(x, a)/P^l(x, b) + log P(X_i = b)/P(X_i = a) + log P^r(a, y)/P^r(b, y). Without a node the share
reaches to the end of the sequence, and its term of r is 0. Bridges do not depend on the initial law: entries with the
same contributions around them share all quilts of two nodes, and a stationary chain with equal weights has one table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from takifugu.analysis.answer_laws.chain import Steps
from takifugu.influence.quilts.chain.initial import Marginals, stationary_term
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.beliefs.supports import Supports
from takifugu.model.queries import IntArray
from takifugu.numbers.log_ratios import (
    DEAD,
    UNIT,
    BoolArray,
    FloatArray,
    clip,
    log_bounds,
    log_rounding,
    product_error,
)

#: How far from an entry every node is tried, and how long a share that reaches to an end of the sequence may be.
REACH = 16
#: How far a few more are tried, each this much farther than the one before, where all entries share them.
WIDEST, FARTHER = 160, 1.15
#: Numbers in one table of shares; wider answers are searched less far.
MOST_SHARE = 4e6
#: Masses of shares stay above this, so that products of two of them are normal float64 numbers.
TRUSTED_SHARE = 2.0**-450

@dataclass(frozen=True, eq=False)
class Share:
    """One side of a quilt: laws[x, s] are the masses of its share for the node's value x (one row without a node).

    Rows are on 0, 1, ..., and all zero where x and s exclude each other; each mass is right up to `error`.
    """

    laws: FloatArray
    error: float


@dataclass(frozen=True)
class Side:
    """Where one side of a quilt ends: at the node `distance` away, or (None) at the end of the sequence."""

    distance: int | None
    size: int


class LocalChain:
    """Shares and log-ratios of one chain, for entries that add `steps`."""

    def __init__(self, chain: MarkovChain, shape: Steps) -> None:
        self.chain, self.offsets, self.k = chain, shape.offsets, len(chain.states)
        self.length = chain.length
        widest = max(1, int(shape.offsets.max()))
        self.uniform = bool((shape.offsets == shape.offsets[0]).all())
        far = WIDEST if self.uniform and not isinstance(chain.initial, tuple) else REACH
        room = MOST_SHARE / (self.k**2 * widest)  # one table of `reach` places, and all of those nearer together
        self.reach = max(1, min(far, self.length, int(room), max(REACH, math.isqrt(int(2 * room)))))
        self._shares: dict[tuple[bool, bytes], list[Share]] = {}
        self._supports: Supports = chain.supports
        self._independent = bool((chain.matrix == chain.matrix[0]).all())

    def sides(self, entry: int, after: bool) -> list[Side]:
        """Return the choices on one side of an entry, nearest first."""
        room = self.length - 1 - entry if after else entry
        known = len(self._known(entry, after))
        sides = [Side(d, d - 1) for d in distances(min(room, known))]
        return [*sides, Side(None, room)] if room <= min(known, REACH) else sides

    def key(self, entry: int, side: Side, after: bool) -> object:
        """Return what the share and the ratios of a side depend on, besides the entry's own start term."""
        if side.distance is None:
            return entry
        near = self._window(entry, after)[: side.size]
        return (side.size,) if self.uniform else (side.size, near.tobytes())

    def share(self, entry: int, side: Side, after: bool) -> Share | None:
        """Return the laws of one side's share; None where masses are too small to be multiplied in float64."""
        known = self._known(entry, after)
        if side.distance is not None:
            return known[side.distance - 1]
        if side.size == 0:
            return Share(np.ones((1, self.k, 1)), 0.0)
        last = known[side.size - 1]
        end = self.offsets[self.length - 1 if after else 0]
        moved = _moved(last.laws, end)
        weights, held = (np.ones(self.k), np.ones(self.k, dtype=bool)) if after else self._start
        # Rows are normalised by node value, so each comes back with the probability of its step to s.
        power = self._powers[side.size]
        masses = power.T if after else power  # [x, s]: P^n(s, x) after the entry, P^n(x, s) before it
        pattern = self._patterns[side.size]
        steps, can = weights[:, None] * masses, held[:, None] & (pattern.T if after else pattern)
        table = (moved * steps[..., None]).sum(axis=0)[None]
        tiny = bool((can & (steps < TRUSTED_SHARE)).any() or ((table > 0) & (table < TRUSTED_SHARE)).any())
        return None if tiny else _normalised(table, 2 * last.error + self._error(side.size))

    def ratios(self, entry: int, side: Side, after: bool) -> FloatArray:
        """Return upper bounds of log P(x | a)/P(x | b), shape (x, a, b), DEAD where x or a is impossible."""
        possible = self._supports.at(entry)
        alive = possible[:, None] & possible[None]
        if side.distance is None:
            return np.where(alive, 0.0, DEAD)[None]
        upper, lower = self._logs[side.distance - 1]
        if after:
            upper, lower = upper.T, lower.T
        logs = clip(upper[:, :, None] - lower[:, None, :])
        if self._independent:
            logs = np.where(logs > DEAD / 2, 0.0, DEAD)
        elif not after:
            logs = clip(logs + self.start_term(entry)[None])
        if not after:
            logs[~self._supports.at(entry - side.distance)] = DEAD
        return np.where(alive[None], logs, DEAD)

    def start_term(self, entry: int) -> FloatArray:
        """Return upper bounds of log P(X_i = b)/P(X_i = a), shape (k, k) for [a, b]."""
        first, second = np.divmod(np.arange(self.k**2), self.k)
        if self.chain.initial == "stationary":
            return stationary_term(self.chain, first, second).reshape(self.k, self.k)
        return self._marginals.term(np.array([entry])).reshape(self.k, self.k)

    @cached_property
    def _marginals(self) -> Marginals:
        first, second = np.divmod(np.arange(self.k**2), self.k)
        return Marginals(self.chain, self._supports, first, second)

    @cached_property
    def _start(self) -> tuple[FloatArray, BoolArray]:
        """Return the law of the first entry in floats, and which values it holds."""
        law = self.chain.wide_start
        return law.floats(), law.support

    @cached_property
    def _patterns(self) -> list[BoolArray]:
        """Return which entries of P^n are above zero, n = 0 .. reach."""
        patterns = [np.eye(self.k, dtype=bool)]
        for _ in range(self.reach):
            patterns.append(np.asarray((patterns[-1][:, :, None] & (self.chain.matrix > 0)[None]).any(axis=1)))
        return patterns

    @cached_property
    def _powers(self) -> list[FloatArray]:
        powers = [np.eye(self.k)]
        for _ in range(self.reach):
            powers.append(powers[-1] @ self.chain.matrix)
        return powers

    @cached_property
    def _logs(self) -> list[tuple[FloatArray, FloatArray]]:
        """Return (upper, lower) bounds of log P^n, n = 1 .. reach, with exact zero patterns."""
        logs = []
        for n, pattern in enumerate(self._patterns[1:], start=1):
            upper, lower = log_bounds(self._powers[n], pattern)
            margin = float(product_error(np.array([n]), self.k)[0]) + log_rounding(upper, lower)
            logs.append((np.where(pattern, upper + margin, DEAD), lower - margin))
        return logs

    def _window(self, entry: int, after: bool) -> IntArray:
        """Return the contributions of the entries on one side, nearest first."""
        if after:
            return self.offsets[entry + 1 : entry + 1 + self.reach]
        return self.offsets[max(0, entry - self.reach) : entry][::-1]

    def _known(self, entry: int, after: bool) -> list[Share]:
        """Return the shares of nodes at distance 1, 2, ... as far as they may be searched."""
        window = self._window(entry, after)
        key = (after, b"" if self.uniform else window.tobytes())
        if key not in self._shares:
            longest = np.repeat(self.offsets[:1], self.reach, axis=0) if self.uniform else window
            self._shares[key] = self._built(longest, after)
        return self._shares[key][: len(window)]

    def _built(self, window: IntArray, after: bool) -> list[Share]:
        """Build the shares outwards: rows [x, s], jointly with the walk between s and x."""
        step = self.chain.matrix.T if after else self.chain.matrix  # [next node, this node] before normalising
        table, shares = (step[:, :, None]).copy(), []
        for distance in range(1, len(window) + 1):
            if ((table > 0) & (table < TRUSTED_SHARE)).any():
                break
            shares.append(_normalised(table, self._error(distance) + UNIT * table.shape[-1]))
            moved = _moved(table, window[distance - 1])
            table = np.tensordot(step, moved, axes=(1, 0))
        return shares

    def _error(self, count: int) -> float:
        """Bound the relative error of a mass after this many steps, divided by a sum of such masses."""
        return 2.02 * UNIT * ((3 * self.k + 8) * count + self.k**3 + 15 * self.k**2 + 64)


def distances(most: int) -> list[int]:
    """Return how far nodes are tried: every distance up to `REACH`, and some beyond, up to `most`.

    >>> distances(40)[14:]
    [15, 16, 19, 22, 26, 30, 35]
    """
    reaches = list(range(1, min(most, REACH) + 1))
    while reaches and reaches[-1] >= REACH and (farther := math.ceil(reaches[-1] * FARTHER)) <= most:
        reaches.append(farther)
    return reaches


def _moved(table: FloatArray, offsets: IntArray) -> FloatArray:
    """Shift the rows of each node value x by what x adds."""
    result = np.zeros((*table.shape[:-1], table.shape[-1] + int(offsets.max())))
    for x, offset in enumerate(offsets.tolist()):
        result[x, ..., offset : offset + table.shape[-1]] = table[x]
    return result


def _normalised(table: FloatArray, error: float) -> Share:
    sums = table.sum(axis=-1, keepdims=True)
    return Share(np.divide(table, sums, out=np.zeros_like(table), where=sums > 0), error)

"""Laws on a run of equally spaced numbers, with masses of any size, and what Laplace noise of scale b leaves of them.

Let A_r(y) = sum_j w_r(j) e^{-|y - x_j| / b} for row r (laws/extended/laplace_smoothing.py). log A_r(y) - log A_s(y) is
largest at an atom (laws/noised.py), and every place of the run is an output that the noise can produce, so all places
are looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from takifugu.analysis.questions.answer_law import Compared
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import NARROW, UNIT, ExponentArray, FloatArray, Wide, as_law, times
from takifugu.numbers.extended.laplace_smoothing import Chunks, decayed, roundings
from takifugu.numbers.rationals import round_up
from takifugu.numbers.search import smallest_noise
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

#: Relative amount by which a scale may exceed the smallest one, before it is rounded up to a short rational.
SLACK = 2.0**-35
#: A noise this far below one place is as good as none: e^-128 of its mass leaves the place.
SMALLEST_PLACES = 2.0**-7


@dataclass(frozen=True, eq=False)
class DenseFamily:
    """The laws of the answer given each value of one entry: rows of weights on start, start + step, ...

    `rows[value]` are the rows of a value's hull (one row for a single law), `starts[value]` the start states that they
    belong to. `pairs` are the ordered pairs of value indices to compare; both orders are always looked at. Each mass is
    right up to a factor 1 +- `relative_error`.
    """

    entry: int
    pairs: tuple[tuple[int, int], ...]
    rows: Mapping[int, tuple[int, ...]]
    starts: Mapping[int, tuple[int, ...]]
    weights: Wide
    start: int
    step: int
    relative_error: float

    whole = True

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Return (a, number in a's hull, b, number in b's hull), once for every unordered pair of values."""
        return compared(self.pairs, {value: len(rows) for value, rows in self.rows.items()})

    @cached_property
    def hulls(self) -> dict[int, tuple[Pmf, ...]]:
        """Return the laws given each value; integer masses (rounded all the same) where float64 cannot hold them."""
        return {v: tuple(as_law(self.weights[r], self.start, self.step) for r in rows) for v, rows in self.rows.items()}

    def losses(self, scale: Fraction) -> list[float]:
        """Return, for each of `compared`, an upper bound on sup |log A/B| after Laplace noise; scale 0 is no noise."""
        if not scale:
            return [self._bare_loss(*self._rows_of(index)) for index in range(len(self.compared))]
        noised = self.noised(scale)
        return [self._loss(noised, *self._rows_of(index)) for index in range(len(self.compared))]

    def moves(self, index: int) -> tuple[int, ...]:
        """Return increasing proposals for W-infinity; the last is certain (no move is longer)."""
        p, q = (self._floats[row] for row in self._rows_of(index))
        return tuple(sorted({*(int(w) for w in w_infinity_candidates(p, q)), self.reach(index)}))

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[int, Fraction]:
        """Return (w, scale): W-infinity and the scale w/epsilon, which must withstand the masses' errors.

        Rounded masses only propose w; it stands if the largest log-ratio at scale w/epsilon is certainly <= epsilon, or
        at a scale 2**-35 and the effect of the errors above that: noise that only just hides a shift by w needs it.
        """
        reach, slack = self.reach(index), Fraction(SLACK) + Fraction(1.01 * self.margin) / epsilon
        for move in self.moves(index):
            for scale in (round_up(move / epsilon), round_up(move / epsilon * (1 + slack))):
                if scale * epsilon < reach and self.losses_of(index, scale) <= epsilon:
                    return move, scale
        return reach, round_up(reach / epsilon)

    def smallest_scale(self, index: int, epsilon: Fraction) -> Fraction:
        """Return a scale that certainly keeps the log-ratio within epsilon, at most 2**-36 above the smallest such.

        "Certainly" takes what the error of the masses may do off epsilon.
        """
        proven = self.reach(index) / epsilon
        if not proven:
            return proven
        smallest = Fraction(SMALLEST_PLACES) * self.step
        return smallest_noise(lambda b: self.losses_of(index, b), epsilon, proven, smallest)

    def losses_of(self, index: int, scale: Fraction) -> float:
        """Return the bound of `losses` for one comparison."""
        rows = self._rows_of(index)
        return self._loss(self.noised(scale, rows), 0, 1) if scale else self._bare_loss(*rows)

    def _loss(self, noised: Chunks, first: int, second: int) -> float:
        one, left = noised[first]
        two, right = noised[second]
        ratio, orders = one / two, left - right
        high = np.log(ratio.max(axis=1)) + orders * math.log(2)
        low = np.log(ratio.min(axis=1)) + orders * math.log(2)
        return self._bounded(max(float(high.max()), -float(low.min())), orders)

    def _bare_loss(self, first: int, second: int) -> float:
        one, two = self._laws[first], self._laws[second]
        held = one.mantissas > 0
        if not np.array_equal(held, two.mantissas > 0):
            return math.inf
        orders = one.exponents[held] - two.exponents[held]
        logs = np.log(one.mantissas[held] / two.mantissas[held]) + orders * math.log(2)
        return self._bounded(float(np.abs(logs).max()), orders)

    def _bounded(self, loss: float, orders: ExponentArray) -> float:
        return loss + self.margin + self.rounding(loss + float(np.abs(orders).max()))

    def rounding(self, size: float) -> float:
        """Return a bound on the rounding of a log-ratio whose value and binary orders are at most `size`."""
        return 8 * UNIT * (roundings(self.weights.mantissas.shape[1]) + size)

    @cached_property
    def margin(self) -> float:
        """How far rounded masses can move a log-ratio."""
        return 2 * self.relative_error * (1 + self.relative_error)

    def _rows_of(self, index: int) -> tuple[int, int]:
        a, i, b, j = self.compared[index]
        return self.rows[a][i], self.rows[b][j]

    @cached_property
    def _sums(self) -> tuple[FloatArray, ExponentArray]:
        """The sum of every row, as mantissa and binary exponent."""
        tops = self.weights.exponents.max(axis=1, keepdims=True)
        return self.weights.floats(tops).sum(axis=1, keepdims=True), tops

    @cached_property
    def log_masses(self) -> FloatArray:
        """The logarithm of every row's sum: of the probability of its value, given its start."""
        sums, tops = self._sums
        logs: FloatArray = (np.log(sums) + tops * math.log(2))[:, 0]
        return logs

    @cached_property
    def _laws(self) -> Wide:
        """The weights divided by the sum of their row."""
        sums, tops = self._sums
        return times(self.weights, 1.0 / sums, -tops)

    @cached_property
    def _floats(self) -> list[Pmf]:
        """The laws without what float64 cannot hold: good enough to propose a move."""
        numbers = np.where(self._laws.exponents > -2 * NARROW, self._laws.floats(0), 0.0)
        places = [np.flatnonzero(row) for row in numbers]
        return [Pmf(self.start + self.step * at, row[at]) for at, row in zip(places, numbers, strict=True)]

    def reach(self, index: int) -> int:
        """Return the largest distance between an atom of one law and an atom of the other: no move is longer."""
        first, second = (np.flatnonzero(self.weights.mantissas[r]) for r in self._rows_of(index))
        return self.step * int(max(first[-1] - second[0], second[-1] - first[0]))

    def noised(self, scale: Fraction, rows: tuple[int, ...] | None = None) -> Chunks:
        """Return A_r at every place, for all rows or some, for a scale above 0."""
        return decayed(self._laws if rows is None else self._laws[list(rows)], Fraction(self.step) / scale)


def compared(pairs: tuple[tuple[int, int], ...], sizes: Mapping[int, int]) -> tuple[Compared, ...]:
    """Return (a, i, b, j) for every unordered pair of values {a, b} and all numbers i, j in their hulls."""
    values = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
    return tuple((a, i, b, j) for a, b in values for i in range(sizes[a]) for j in range(sizes[b]))

"""Laws on a run of equally spaced numbers, with masses of any size, and what Laplace noise of scale b leaves of them.

Every place of the run is an output that the noise can produce, so all are looked at
(numbers/extended/laplace_smoothing.py).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from takifugu.analysis.questions.answer_law import Compared, Comparisons
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import LOWEST, NARROW, UNIT, ExponentArray, Wide, as_law, stack, times
from takifugu.numbers.extended.laplace_smoothing import Chunks, decayed, losses_between, roundings
from takifugu.numbers.extended.leave_one_out import Weights
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

#: Relative amount by which a scale may exceed the smallest one, before it is rounded up to a short rational.
SLACK = 2.0**-35
#: The rows of one comparison by itself.
_FIRST_AND_SECOND: IntArray = np.array([[0, 1]])


@dataclass(frozen=True, eq=False)
class DenseFamily(Comparisons):
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

    @staticmethod
    def of(entry: int, pairs: tuple[tuple[int, int], ...], laws: Mapping[int, Weights], step: int) -> DenseFamily:
        """Return the family of one law for each value."""
        start, size = places_of_laws(laws.values(), step)
        rows = []
        for law in laws.values():
            mantissas, exponents = np.zeros(size), np.full(size, LOWEST, dtype=np.int64)
            places = slice((law.start - start) // step, (law.start - start) // step + len(law))
            mantissas[places], exponents[places] = law.numbers.mantissas, law.numbers.exponents
            rows.append(Wide(mantissas, exponents))
        error = 2.02 * max(law.error for law in laws.values()) + 4 * size * UNIT
        return DenseFamily(entry, pairs, *one_each(laws), stack(rows), start, step, error)

    @cached_property
    def compared(self) -> tuple[Compared, ...]:
        """Return the unordered pairs of laws, by values and hulls' numbers.

        A pair is (a, number in a's hull, b, number in b's hull).
        """
        return compared(self.pairs, {value: len(rows) for value, rows in self.rows.items()})

    @cached_property
    def hulls(self) -> dict[int, tuple[Pmf, ...]]:
        """Return the laws given each value, with integers beyond float64's range."""
        laws = {}
        for v, rows in self.rows.items():
            laws[v] = tuple(as_law(self.weights[r], self.start, self.step) for r in rows)
        return laws

    def losses(self, scale: Fraction) -> list[float]:
        """Return the loss of each comparison, all at once."""
        losses: list[float] = losses_between(self.laws, self.sides, self.decay(scale), self.margin).tolist()
        return losses

    def moves(self, index: int) -> tuple[int, ...]:
        """Return increasing proposals for W-infinity; the last is certain."""
        p, q = [self._floats[place] for place in self._rows_of(index)]
        return tuple(sorted({*map(int, w_infinity_candidates(p, q)), self.reach(index)}))

    def wasserstein(self, index: int, epsilon: Fraction) -> tuple[int, Fraction]:
        """Return W-infinity w, and a scale w/epsilon despite rounded masses.

        Rounded masses only propose w. It stands if the largest log-ratio at scale w/epsilon is certainly <= epsilon, or
        at a scale larger by 2**-35 and the effect of the errors: noise that only just hides a shift by w needs the
        larger.
        """
        reach, slack = self.reach(index), Fraction(SLACK) + Fraction(1.01 * self.margin) / epsilon
        for move in self.moves(index):
            for scale in (round_up(move / epsilon), round_up(move / epsilon * (1 + slack))):
                if scale * epsilon < reach and self.loss(index, scale) <= epsilon:
                    return move, scale
        return reach, round_up(reach / epsilon)

    def loss(self, index: int, scale: Fraction) -> float:
        laws = self.laws[list(self._rows_of(index))]
        return float(losses_between(laws, _FIRST_AND_SECOND, self.decay(scale), self.margin)[0])

    def rounding(self, size: float) -> float:
        """Bound a log-ratio's rounding, its value and binary orders at most `size`."""
        return 8 * UNIT * (roundings(self.weights.mantissas.shape[1]) + size)

    @cached_property
    def margin(self) -> float:
        """How far rounded masses can move a log-ratio."""
        return 2 * self.relative_error * (1 + self.relative_error)

    @cached_property
    def sides(self) -> IntArray:
        """The rows of both sides of each of `compared`, shape (comparisons, 2)."""
        rows = list(map(self._rows_of, range(len(self.compared))))
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

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
        """Return the log-probability of each row's value, given its start."""
        sums, tops = self._sums
        logs: FloatArray = (np.log(sums) + tops * math.log(2))[:, 0]
        return logs

    @cached_property
    def laws(self) -> Wide:
        """The weights divided by the sum of their row."""
        sums, tops = self._sums
        return times(self.weights, 1.0 / sums, -tops)

    @cached_property
    def _floats(self) -> list[Pmf]:
        """Return the laws in float64, good enough to propose a move."""
        laws = []
        for row in in_floats(self.laws):
            places = np.flatnonzero(row)
            laws.append(Pmf(self.start + self.step * places, row[places]))
        return laws

    def reach(self, index: int) -> int:
        """Bound every move by the largest distance between two laws' atoms."""
        first, second = map(np.flatnonzero, self.weights.mantissas[list(self._rows_of(index))])
        return self.step * int(max(first[-1] - second[0], second[-1] - first[0]))

    def noised(self, scale: Fraction) -> Chunks:
        """Return every row after noise of a positive scale, by place."""
        return decayed(self.laws, self.decay(scale))

    def decay(self, scale: Fraction) -> Fraction:
        """Return the log decay of the noise per place, 0 for none."""
        if scale == 0:
            return Fraction(0)
        return Fraction(self.step) / scale


def one_each(values: Iterable[int]) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
    """Return the rows and starts of families with one law for each value."""
    rows: dict[int, tuple[int, ...]] = {value: (row,) for row, value in enumerate(values)}
    return rows, dict.fromkeys(rows, (0,))


def places_of_laws(laws: Collection[Weights], step: int) -> tuple[int, int]:
    """Return the least place of some laws, and how many steps reach all."""
    start = min(law.start for law in laws)
    return start, max((law.start - start) // step + len(law) for law in laws)


def compared(pairs: tuple[tuple[int, int], ...], sizes: Mapping[int, int]) -> tuple[Compared, ...]:
    """Return the unordered pairs of laws, by values and hulls' numbers.

    A pair is (a, number in a's hull, b, number in b's hull).
    """
    values = dict.fromkeys((min(pair), max(pair)) for pair in pairs)
    comparisons: list[Compared] = []
    for a, b in values:
        comparisons += product([a], range(sizes[a]), [b], range(sizes[b]))
    return tuple(comparisons)


def in_floats(laws: Wide) -> FloatArray:
    """Return laws without the parts beyond float64."""
    return np.where(laws.exponents > -2 * NARROW, laws.floats(0), 0.0)

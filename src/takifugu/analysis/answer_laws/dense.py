"""Laws on a run of equally spaced numbers, with masses of any size, and what Laplace noise of scale b leaves of them.

Every place of the run is an output that the noise can produce, so all are looked at
(numbers/extended/laplace_smoothing.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from takifugu.analysis.questions.compared import Compared, LawIndex, laws_of, least_scale, unordered
from takifugu.core.arrays import FloatArray, IntArray
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.floats import NARROW, UNIT, Blocks, Wide, as_law, stack
from takifugu.numbers.extended.laplace_smoothing import decayed, losses_between, roundings
from takifugu.numbers.extended.leave_one_out import Weights
from takifugu.numbers.outward_rounding import log_ratio_error
from takifugu.numbers.rationals import round_up
from takifugu.numbers.transport.on_the_line import w_infinity_candidates

#: Relative amount by which a scale may exceed the smallest one, before it is rounded up to a short rational.
SLACK = 2.0**-35
#: The rows of one comparison by itself.
_FIRST_AND_SECOND: IntArray = np.array([[0, 1]])


@dataclass(frozen=True, eq=False)
class DenseFamily:
    """The laws of the answer given each value of one entry: rows of weights on start, start + step, ..."""

    entry: int
    #: The ordered pairs of value indices to compare; both orders are always looked at.
    pairs: tuple[tuple[int, int], ...]
    #: The rows of each value's hull (one row for a single law), and the start states that they belong to.
    rows: Mapping[int, tuple[int, ...]]
    starts: Mapping[int, tuple[int, ...]]
    weights: Wide
    start: int
    step: int
    #: Each mass is right up to a factor 1 +- this.
    relative_error: float

    whole, alone = True, None

    @staticmethod
    def of(entry: int, pairs: tuple[tuple[int, int], ...], laws: Mapping[int, Weights], step: int) -> DenseFamily:
        """Return the family of one law for each value."""
        start, size = places_of_laws(laws.values(), step)
        rows = [law.on(start, step, size) for law in laws.values()]
        error = 2.02 * max(law.error for law in laws.values()) + 4 * size * UNIT
        return DenseFamily(entry, pairs, *one_each(laws), stack(rows), start, step, error)

    @property
    def compared(self) -> tuple[Compared, ...]:
        """Return every unordered pair of laws."""
        return tuple(map(self._compared, self.indices, self.sides.tolist(), self.reaches))

    def _compared(self, indices: tuple[LawIndex, LawIndex], rows: list[int], reach: int) -> Compared:
        loss = partial(self._loss, rows)
        return Compared(
            *indices, reach, loss, partial(self._moves, rows, reach), partial(laws_of, self, *indices),
            partial(least_scale, loss, reach), partial(self._wasserstein, rows, reach),
        )  # fmt: skip

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

    def _moves(self, rows: list[int], reach: int) -> tuple[int, ...]:
        p, q = map(self._floats.__getitem__, rows)
        return tuple(sorted({*map(int, w_infinity_candidates(p, q)), reach}))

    def _wasserstein(self, rows: list[int], reach: int, epsilon: Fraction) -> tuple[int, Fraction]:
        """Return W-infinity w, and a scale w/epsilon despite rounded masses, which only propose w."""
        slack = Fraction(SLACK) + Fraction(1.01 * self.margin) / epsilon
        for move in self._moves(rows, reach):
            # noise that only just hides a shift by w needs the larger, by the effect of the errors
            for scale in (round_up(move / epsilon), round_up(move / epsilon * (1 + slack))):
                if scale * epsilon < reach and self._loss(rows, scale) <= epsilon:
                    return move, scale
        return reach, round_up(reach / epsilon)

    def _loss(self, rows: list[int], scale: Fraction) -> float:
        return float(losses_between(self.laws[rows], _FIRST_AND_SECOND, self.decay(scale), self.margin)[0])

    def rounding(self, size: float) -> float:
        """Bound a log-ratio's rounding, its value and binary orders at most `size`."""
        return 8 * UNIT * (roundings(self.weights.shape[1]) + size)

    @cached_property
    def margin(self) -> float:
        """How far rounded masses can move a log-ratio."""
        return log_ratio_error(self.relative_error)

    @cached_property
    def indices(self) -> tuple[tuple[LawIndex, LawIndex], ...]:
        return unordered(self.pairs, {value: len(rows) for value, rows in self.rows.items()})

    @cached_property
    def sides(self) -> IntArray:
        """The rows of both sides of each comparison, shape (comparisons, 2)."""
        rows = [[self.rows[value][number] for value, number in sides] for sides in self.indices]
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _sums(self) -> Wide:
        return self.weights.sum(1)[:, None]

    @cached_property
    def log_masses(self) -> FloatArray:
        """Return the log-probability of each row's value, given its start."""
        return self._sums[:, 0].logs

    @cached_property
    def laws(self) -> Wide:
        """The weights divided by the sum of their row."""
        return self.weights / self._sums

    @cached_property
    def _floats(self) -> list[Pmf]:
        """Return the laws in float64, good enough to propose a move."""
        laws = []
        for row in in_floats(self.laws):
            places = np.flatnonzero(row)
            laws.append(Pmf(self.start + self.step * places, row[places]))
        return laws

    @cached_property
    def reaches(self) -> list[int]:
        """The largest distance of two laws' atoms, for each comparison."""
        occurs, (left, right) = self.weights.mantissas != 0, self.sides.T
        first, last = occurs.argmax(axis=1), occurs.shape[1] - 1 - occurs[:, ::-1].argmax(axis=1)
        places = np.maximum(last[left] - first[right], last[right] - first[left])
        return [self.step * distance for distance in places.tolist()]

    def noised(self, scale: Fraction) -> Blocks:
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


def in_floats(laws: Wide) -> FloatArray:
    """Return laws without the parts beyond float64."""
    return np.where(laws.exponents > -2 * NARROW, laws.floats(), 0.0)

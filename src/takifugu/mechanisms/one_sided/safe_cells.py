"""The sparse vector under a policy as a randomiser: each cell is "safe", a noisy value, or "not answered".

Source: Takagi21 Algorithm 1 (SALap) on the integers, without noise on the threshold; `sparse` has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from takifugu.analysis.randomisers.additive import check_scale, check_shape
from takifugu.analysis.randomisers.base import (
    MARKS,
    NOT_ANSWERED,
    Answer,
    Base,
    Column,
    Direction,
    Kind,
    Loss,
    check_cells,
)
from takifugu.analysis.randomisers.one_sided import steps_of_exponential
from takifugu.core.errors import InputError
from takifugu.core.plain import form
from takifugu.mechanisms.one_sided.sparse import SAFE, SparseAnswers
from takifugu.model.policies.sensitivity import Monotone, Sensitivity
from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import exact

if TYPE_CHECKING:
    from takifugu.numbers.noise import Entropy


#: What a number that stands in place of "safe" says, where a false alarm has a probability.
DANGEROUS, UNDECIDED = "dangerous", "undecided"


@dataclass(frozen=True)
class SafeCells(Base, kind="sparse"):
    """Which cells are at most their thresholds: `units` is 1/epsilon for each value, `sensitivity` m (grid units)."""

    units: Fraction = field(metadata=exact("units"))
    grid: Fraction = field(metadata=exact("the grid"))
    cells: int
    #: In steps of the grid, one for all cells or one for each.
    thresholds: tuple[int, ...] = field(metadata=form(read=lambda numbers: tuple(map(int, numbers))))
    limit: int | None  # after so many noisy values every further cell, in order, is "not answered"
    sensitivity: Fraction = field(metadata=exact("the sensitivity"))
    #: Values that noise reaches from a threshold with that probability at most are called dangerous.
    alpha: Fraction | None = field(default=None, metadata=exact("alpha", is_left_out=True))

    output = MARKS

    def __post_init__(self) -> None:
        check_scale(self.units)
        check_shape(self.grid, self.cells)
        if len(self.thresholds) not in (1, self.cells) or min(self.thresholds) < 0:
            raise InputError(
                f"there are {len(self.thresholds)} thresholds for {self.cells} cells, the least is "
                f"{min(self.thresholds, default=None)}",
                rule="there is one for all or one for each, and none is negative",
            ).at("thresholds")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise InputError(f"alpha is {self.alpha}", rule="it lies between 0 and 1").at("alpha")
        _ = self.mechanism

    @cached_property
    def mechanism(self) -> SparseAnswers:
        """The answers to a stream of questions, one for each cell."""
        return SparseAnswers(1 / self.units, self.limit, self.sensitivity)

    @property
    def scale(self) -> Fraction:
        """Return the scale of the noise of one value, in answer units."""
        return self.units * self.grid

    @property
    def each(self) -> tuple[int, ...]:
        """Return the threshold of every cell, in steps of the grid."""
        if len(self.thresholds) == self.cells:
            return self.thresholds
        return self.thresholds * self.cells

    @cached_property
    def beyond(self) -> int | None:
        """Return the least noise, in steps, with a probability of at most alpha: values so far above are dangerous."""
        if self.alpha is None:
            return None
        return steps_of_exponential(self.units, 1 - self.alpha, 0)

    def marks(self, values: Sequence[str | Fraction]) -> tuple[str, ...]:
        """Return what each published value says of its cell: safe, dangerous, undecided or not answered."""
        marks = []
        for value, threshold in zip(values, self.each, strict=True):
            if isinstance(value, str):
                marks.append(value)
            else:
                is_far = self.beyond is not None and value / self.grid >= threshold + self.beyond
                marks.append(DANGEROUS if is_far else UNDECIDED)
        return tuple(marks)

    def draw(self, answer: Answer, entropy: Entropy) -> tuple[str | Fraction, ...]:
        """Return every cell's mark or noisy value from grid units."""
        from takifugu.numbers.noise import narrowed

        check_cells(answer, self.cells)
        thresholds = self.thresholds[0] if len(self.thresholds) == 1 else list(self.thresholds)
        marks = self.mechanism.answer_sums(narrowed(list(map(int, answer))), thresholds, entropy).listed()
        drawn: list[str | Fraction] = []
        for mark in marks:
            if mark is None:
                drawn.append(NOT_ANSWERED)
            else:
                drawn.append(mark if isinstance(mark, str) else mark * self.grid)
        return tuple(drawn)

    def draw_column(self, answers: Column, entropy: Entropy) -> Array:
        """Raise InputError: a column is one answer, and cells share a limit."""
        raise InputError("a sparse vector is no column of answers that are drawn one by one", fix="call draw()")

    def log_density(self, answer: Answer, output: Sequence[str | Fraction]) -> float:
        """Return log P(output | answer) of all cells; -inf if impossible."""
        marks: list[str | int | None] = []
        for mark in output:
            if mark == NOT_ANSWERED:
                marks.append(None)
            elif isinstance(mark, str):
                marks.append(mark)
            elif (Fraction(mark) / self.grid).denominator == 1:
                marks.append(int(Fraction(mark) / self.grid))
            else:
                return -math.inf
        return self.mechanism.log_probability(list(map(int, answer)), marks, self.each)

    def loss(self, change: Fraction, direction: Direction = Direction.EITHER) -> Loss:
        """Return change/scale for a change DOWN in L1, else infinity."""
        if change and direction is not Direction.DOWN:
            return math.inf
        # One cell may fall all of it.
        return change / self.scale

    def loss_along(self, moves: Sensitivity) -> Loss:
        """Return a policy move's loss, infinite where a cell may rise."""
        rising = {change.direction for change in moves.changes} - {Monotone.DECREASING, Monotone.CONSTANT}
        if rising and moves.total:
            return math.inf
        steps = moves.total / self.grid
        # A cell that falls by s steps loses s/units in its value: `limit` values lose that many times the largest s.
        if self.limit is not None:
            farthest = max((change.amount / self.grid for change in moves.changes), default=Fraction(0))
            steps = min(steps, self.limit * farthest)
        return steps / self.units

    def chance(self, count: int, threshold: int) -> float:
        """Return a count's probability of safe before the limit, in grid units; 0 above the threshold."""
        if count <= threshold:
            return -math.expm1(-(threshold + 1 - count) / float(self.units))
        return 0.0

    def chance_of_danger(self, count: int, threshold: int) -> float:
        """Return a count's probability of dangerous before the limit, in grid units; 0 without alpha."""
        if self.beyond is None:
            return 0.0
        return math.exp(min(0.0, (count - threshold - self.beyond) / float(self.units)))

    def expected_shares(self, shares: Mapping[int, Fraction], threshold: int) -> tuple[float, float]:
        """Return the expected shares of safe places called safe, and of others called dangerous."""
        from scipy.special import bdtr  # it loads slowly, and few files are about policies

        safe_shares, other_shares, called_shares, dangers = [], [], [], []
        for count, exact_share in shares.items():
            share = float(exact_share)
            called_shares.append(share * self.chance(count, threshold))
            if count <= threshold:
                safe_shares.append(share)
            else:
                other_shares.append(share)
                dangers.append(share * self.chance_of_danger(count, threshold))
        safe, above, called = map(math.fsum, (safe_shares, other_shares, called_shares))
        # The number of values before a place is binomial, as counts are independent; below the limit it is asked about.
        reached = 1.0
        if self.limit is not None:
            before = np.arange(self.cells)  # P(fewer than the limit), of each place
            reached = float(bdtr(np.minimum(self.limit - 1, before), before, 1 - called).sum()) / self.cells
        share_called = called / safe * reached if safe else math.nan
        return share_called, (math.fsum(dangers) / above * reached if above else math.nan)


SPARSE = Kind(
    SafeCells.from_dict, "marks, and geometric noise on one side where there is none",
    'geometric noise on one side of every count, drawn exactly from the operating system\'s randomness: "safe" is said '
    "where count and noise together are at most the threshold",
)  # fmt: skip

__all__ = ["DANGEROUS", "SAFE", "SPARSE", "UNDECIDED", "SafeCells"]

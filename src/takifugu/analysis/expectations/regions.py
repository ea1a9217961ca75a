"""What every chain of a class expects of an answer, and how far it may lie from that.

Of a number f of a step a class knows its largest mean in the long run, m, and bounds what the first steps of a piece
may have more than that, all together. So a number of n steps has a mean of at most n m, and that much more for each
piece, of each way that steps count.

Under a region each step may have its own matrix, and the start is any. Let (U f)(x) be the largest mean of f after a
step from x. After j steps or more the mean of f is at most m(j) = max U^j f, which falls with j: m is m(J), and the
first steps have the sum over j < J of m(j) - m(J) more. Two rows share at least the mass a that their lower ends share,
so that the distances of `moments_of_chains` are d(l) <= (1 - a)^l, which add up to 1 / a.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from takifugu.analysis.questions.expected_answer import ExpectedAnswer
from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain import BinaryChains
from takifugu.model.beliefs.chains.interval_chain import IntervalMarkovChain, largest_means
from takifugu.model.queries.answer import Additive

B = TypeVar("B", bound=Belief, covariant=True)

#: So many steps are followed at most, and no more where m(j) stays within this share of what f can be.
MOST_STEPS, SETTLED = 2_000, 1e-9


class OfChains(ExpectedAnswer[B]):
    """A class of chains has no mean, but a least and a largest one."""

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return self.in_the_long_run(answer, 1)

    def means_of_pieces(self, pieces: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return self.in_the_long_run(answer, len(pieces.components()))

    def in_the_long_run(self, answer: Additive, starts: int = 0) -> tuple[FloatArray, FloatArray]:
        """Return each cell's least and largest mean, in grid units, where the first steps of so many pieces differ."""
        (weights, numbers), lengths = answer.total_kinds
        ends = list[FloatArray]()
        for sign in (-1.0, 1.0):
            total = np.zeros(answer.cells)
            for weight, number, length in zip(weights.tolist(), numbers.tolist(), lengths.tolist(), strict=True):
                for cell, values in enumerate((sign * weight * answer.tables[number].astype(np.float64)).T):
                    largest, more = self.largest_means(values)
                    total[cell] += min(length * largest + starts * more, length * float(values.max()))
            ends.append(sign * total)
        return ends[0], ends[1]

    def largest_means(self, values: FloatArray) -> tuple[float, float]:
        """Return the largest mean of a number in the long run, and what the first steps of a piece may have more."""
        raise NotImplementedError

    @property
    def memory(self) -> float:
        """Bound the sum over l of the largest distance of two rows of l steps, infinite where none need shrink."""
        raise NotImplementedError


class OfRegion(OfChains[IntervalMarkovChain]):
    """The chains of a region, each step of which may have its own matrix."""

    def largest_means(self, values: FloatArray) -> tuple[float, float]:
        low, high = self.belief.reachable
        span, means = float(np.ptp(values)), [float(values.max())]
        for _ in range(MOST_STEPS):
            values = largest_means(low, high, values[:, None])[:, 0]
            means.append(float(values.max()))
            if means[-2] - means[-1] <= SETTLED * span:
                break
        return means[-1], sum(mean - means[-1] for mean in means)

    @property
    def memory(self) -> float:
        low, _ = self.belief.reachable
        shared = min(float(np.minimum(row, low).sum(axis=1).min()) for row in low)
        return 1 / shared if shared > 0 else np.inf


def of_interval(chains: BinaryChains) -> OfRegion:
    """Return what a class of chains of two states expects: they are a region."""
    return OfRegion(chains.region)

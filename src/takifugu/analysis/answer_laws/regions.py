"""What every chain of a region expects of an answer, and how far it may lie from that.

Each step may have its own matrix of the region, and the start is any. Let (U f)(x) be the largest mean of f after a
step from x. After j steps or more the mean of f is at most m(j) = max U^j f, which falls with j: a number of n steps
has a mean of at most n m(J), and for each piece the sum over j < J of m(j) - m(J), of each way that steps count. Two
rows share at least the mass a that their lower ends share, so that the distances of `moments_of_chains` are
d(l) <= (1 - a)^l, which add up to 1 / a.
"""

from __future__ import annotations

import numpy as np

from takifugu.analysis.questions.expected_answer import ExpectedAnswer
from takifugu.core.arrays import FloatArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.chain_region import ChainRegion
from takifugu.model.queries.additive import Additive

#: So many steps are followed at most, and no more where m(j) stays within this share of what f can be.
MOST_STEPS, SETTLED = 2_000, 1e-9


class OfRegion(ExpectedAnswer[ChainRegion]):
    """A region has no mean, but a least and a largest one."""

    def means(self, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return _means(self.belief, answer, 1)

    def means_of_pieces(self, pieces: Belief, answer: Additive) -> tuple[FloatArray, FloatArray]:
        return _means(self.belief, answer, len(pieces.components()))


def _means(region: ChainRegion, answer: Additive, pieces: int) -> tuple[FloatArray, FloatArray]:
    """Return each cell's least and largest mean over so many pieces, in grid units."""
    (weights, numbers), lengths = answer.total_kinds
    ends = list[FloatArray]()
    for sign in (-1.0, 1.0):
        total, first_steps = np.zeros(answer.cells), np.zeros(answer.cells)
        for weight, number, length in zip(weights.tolist(), numbers.tolist(), lengths.tolist(), strict=True):
            for cell, values in enumerate((sign * weight * answer.tables[number].astype(np.float64)).T):
                largest, more = _largest_means(region, values)
                total[cell] += length * largest
                first_steps[cell] += more
        ends.append(sign * (total + pieces * first_steps))
    return ends[0], ends[1]


def memory(region: ChainRegion) -> float:
    """Bound the sum over l of the largest distance of two rows of l steps, infinite where none need shrink."""
    low, _ = region.reachable
    shared = min(float(np.minimum(row, low).sum(axis=1).min()) for row in low)
    return 1 / shared if shared > 0 else np.inf


def _largest_means(region: ChainRegion, values: FloatArray) -> tuple[float, float]:
    """Return the largest mean of a number in the long run, and what the first steps of a piece may have more."""
    low, high = region.reachable
    span, means = float(np.ptp(values)), [float(values.max())]
    for _ in range(MOST_STEPS):
        order = np.argsort(-values)
        room = (high - low)[:, order]
        added = np.clip(1 - low.sum(axis=1, keepdims=True) - (np.cumsum(room, axis=1) - room), 0, room)
        values = low @ values + added @ values[order]
        means.append(float(values.max()))
        if means[-2] - means[-1] <= SETTLED * span:
            break
    return means[-1], sum(mean - means[-1] for mean in means)

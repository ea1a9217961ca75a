"""The class of all chains whose transition matrix lies in a box (Song17 §5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray, read_only
from takifugu.core.assumptions import Assumption, world
from takifugu.core.errors import InputError
from takifugu.core.plain import VALUES, PlainForm, set_fields
from takifugu.model.beliefs.chains.periodic_chain import PeriodicChain
from takifugu.model.beliefs.estimate import checked_confidence, missed, mixture_interval
from takifugu.model.beliefs.one_sequence import LENGTH_IS_PUBLIC, OneChain, checked_length, checked_states
from takifugu.model.beliefs.states import State
from takifugu.model.beliefs.stochastic import ROW_TOLERANCE, square_table

Matrix = Sequence[Sequence[float]] | FloatArray


@dataclass(frozen=True, eq=False, init=False)
class IntervalMarkovChain(PlainForm, OneChain, kind="chain-region"):
    """Model all chains with lower[x][y] <= P(X_{t+1} = y | X_t = x) <= upper[x][y], from any start.

    The guarantee holds even if every step has its own matrix in the region. `MarkovChain.fit(..., confidence=0.99)`
    estimates one.

    Args:
        lower: The lower ends, k by k.
        upper: The upper ends, k by k.
        length: Number of steps.
        states: Names of the k rows; None for 0 .. k - 1.
        confidence: Probability that an estimated region covers the true matrix; None for an assumed region.
        source: Where the region comes from, in words; certificates print it.

    Raises:
        InputError: For ends that are no probabilities or in the wrong order, a row without a distribution, and a state
            that no other state can enter.

    Examples:
        >>> region = IntervalMarkovChain([[0.7, 0.1], [0.2, 0.4]], [[0.9, 0.3], [0.6, 0.8]], length=100)
        >>> [ends.tolist() for ends in region.reachable]
        [[[0.7, 0.1], [0.2, 0.4]], [[0.9, 0.3], [0.6, 0.8]]]
    """

    lower: FloatArray
    upper: FloatArray
    length: int
    states: tuple[State, ...] = field(metadata=VALUES)
    confidence: float | None = None
    source: str = "assumed"

    answers: ClassVar = {
        "the distribution of the answer": "analysis.questions.answer_law:FOR_INTERVALS",
        "the mean of an answer": "analysis.expectations.regions:OfRegion",
        "what is known of quilts": "influence.quilts.of_chains:REGION",
        "the list of joint states": "audit.states:ChainClass",
        "the moments of a count": "analysis.expectations.moments_of_chains:of_one_piece",
        "the moments of a count over pieces": "analysis.expectations.moments_of_chains:of_class",
        "steps until a class of chains forgets": "influence.chains.class_chains:settled_of_region",
        "sweeps over all chains of a class": "influence.chains.class_chains:sides_of_region",
        "what a profile costs its secrets": "influence.curves:CLASS",
    }

    def __init__(
        self,
        lower: Matrix,
        upper: Matrix,
        length: int,
        states: Iterable[State] | None = None,
        confidence: float | None = None,
        source: str = "assumed",
    ) -> None:
        least = square_table(lower, "the table of lower ends", "lower")
        most = square_table(upper, "the table of upper ends", "upper")
        if (most > 1).any():
            raise InputError("an upper end is above 1", rule="every one must lie in [0, 1]").at("upper")
        if least.shape != most.shape or (least > most).any():
            raise InputError(
                "each lower end must be at most the upper end in its place", fix="give two k by k tables"
            ).at("lower")
        low, high = _holding_laws(least, most)
        set_fields(
            self, lower=low, upper=high, length=checked_length(length),
            states=checked_states(states, len(low), "the region"),
            confidence=None if confidence is None else checked_confidence(confidence), source=source,
        )  # fmt: skip
        for state, largest in zip(self.states, self.reachable[1].max(axis=0).tolist(), strict=True):
            if largest <= 1e-12:
                raise InputError(
                    f"state {state!r} cannot be entered from any state", fix="leave it out, or raise its ends"
                ).at("upper")

    @cached_property
    def reachable(self) -> tuple[FloatArray, FloatArray]:
        """Return outward-rounded bounds of the region's laws, shape (k, k) each."""
        slack = 4 * len(self.lower) * 2.0**-53
        others_low = self.lower.sum(axis=1, keepdims=True) - self.lower
        others_high = self.upper.sum(axis=1, keepdims=True) - self.upper
        low = np.maximum(self.lower, 1 - others_high - slack)
        return read_only(low), read_only(np.maximum(np.minimum(self.upper, 1 - others_low + slack), low))

    @property
    def followers(self) -> BoolArray | None:
        can = self.reachable[1] > 0
        return None if can.all() else can[None]

    @staticmethod
    def covering(
        counts: IntArray, length: int, states: Sequence[State], confidence: float, source: str
    ) -> IntervalMarkovChain:
        """Return a region that covers the true matrix with a given probability.

        The intervals (k^2 of them; k for two states) share the error probability equally. The region is valid however
        the visits to a state came about.

        Args:
            counts: Observed transitions, k by k whole numbers.
            length: Number of steps of the belief.
            states: Names of the k rows.
            confidence: Probability that the region covers the matrix, between 0 and 1.
            source: Where the counts come from, in words.

        Returns:
            The region as a belief.

        Raises:
            InputError: For counts that are no square table of whole numbers, and a confidence outside (0, 1).

        Source: docs/theory/chain-classes.md.

        Examples:
            >>> region = IntervalMarkovChain.covering(np.array([[90, 10], [20, 30]]), 9, ["a", "b"], 0.99, "counted")
            >>> region.lower.round(3).tolist(), region.upper.round(3).tolist()
            ([[0.743, 0.022], [0.169, 0.332]], [[0.978, 0.257], [0.668, 0.831]])
        """
        counts = np.asarray(counts)
        is_square = counts.ndim == 2 and len(counts) == counts.shape[1]
        if not is_square or counts.dtype.kind not in "iuf" or not np.isfinite(counts).all():
            raise InputError("the counts are no square table of whole numbers", fix="count transitions").at("counts")
        k = len(counts)
        intervals = k if k <= 2 else k * k
        miss = missed(checked_confidence(confidence), intervals)
        if k == 1:
            return IntervalMarkovChain([[1.0]], [[1.0]], length, states, confidence, source)
        lower, upper = np.empty((k, k)), np.empty((k, k))
        for i, row in enumerate(counts):
            for j, count in enumerate(row):
                lower[i, j], upper[i, j] = mixture_interval(int(count), int(row.sum()), miss)
        return IntervalMarkovChain(lower, upper, length, states, confidence, source)

    def contains(self, chain: PeriodicChain) -> bool:
        """Return whether a chain lies in the region.

        Args:
            chain: The chain.

        Returns:
            True if it does.
        """
        return chain.states == self.states and all(
            bool(((matrix >= self.lower - 1e-9) & (matrix <= self.upper + 1e-9)).all()) for matrix in chain.matrices
        )

    def laws_of(self, steps: IntArray) -> frozenset[int] | None:
        """Return one distribution for an estimated region, and None for an assumed one.

        Under an assumed region each step may have its own matrix.

        Args:
            steps: Numbers of the steps.

        Returns:
            Its number, or None.
        """
        return None if self.confidence is None else super().laws_of(steps)

    def assumptions(self) -> tuple[Assumption, ...]:
        chain = world(
            "The sequence is a Markov chain with a matrix in the stated region. Its initial distribution is unknown."
        )
        if self.confidence is None:
            return chain, LENGTH_IS_PUBLIC
        covers = world(
            f"The region was estimated. It covers the true matrix with confidence {self.confidence}, and the guarantee "
            "holds only if it does."
        )
        steps = world("Every step that was counted for the region followed that matrix, whatever came before it.")
        return chain, covers, steps, LENGTH_IS_PUBLIC

    def _described(self, length: str) -> str:
        covered = "assumed" if self.confidence is None else f"confidence {self.confidence}"
        return (
            f"every Markov chain over {len(self.states)} states in a region of transition matrices ({covered}), "
            f"{length}unknown initial distribution ({self.source})"
        )


def largest_means(low: FloatArray, high: FloatArray, values: FloatArray) -> FloatArray:
    """Return each row's largest mean of each column of numbers, over laws between `low` and `high`, (k, columns)."""
    # a row is filled up where its numbers are largest
    order = np.argsort(-values, axis=0)
    room = (high - low)[:, order]
    free = np.maximum(1 - low.sum(axis=1), 0.0)[:, None, None]
    filled = np.clip(free - (np.cumsum(room, axis=1) - room), 0.0, room)
    return np.asarray(((low[:, order] + filled) * np.take_along_axis(values, order, axis=0)[None]).sum(axis=1))


def _holding_laws(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return read-only ends, moved outward where rounding excludes all laws."""
    low, high = lower.sum(axis=1, keepdims=True), upper.sum(axis=1, keepdims=True)
    for row in range(len(lower)):
        if low[row, 0] > 1 + ROW_TOLERANCE or high[row, 0] < 1 - ROW_TOLERANCE:
            raise InputError(
                f"row {row} of the region holds no distribution",
                rule=f"its lower ends add up to {low[row, 0]:.6g} and its upper ends to {high[row, 0]:.6g}, and 1 must "
                "lie between",
            ).at("lower", row)
    low, high = lower / np.maximum(low, 1.0), np.minimum(upper / np.minimum(high, 1.0), 1.0)
    for table in (low, high):
        table.setflags(write=False)
    return low, high

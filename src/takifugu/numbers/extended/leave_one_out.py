"""Sums of many independent numbers, and of all but one of them: direct convolutions, positive terms only.

Let q_1, ..., q_n be laws, q_c standing for m_c equal independent terms. `Sums.without(c)` is the law of the sum of all
terms but one of law c. Inside laws of a balanced tree over the n laws are computed once; the law of all terms outside a
node is the law outside its parent convolved with the inside law of its sibling. On the way to one leaf after the other
that is O(W^2 log n) multiplications in all for a sum with W places, and the laws held at once are O(W log n) numbers.
Nothing is subtracted or divided, so every mass keeps its relative accuracy; masses are exact where all laws are exact
and few, else `Wide` numbers, which do not underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.extended.convolution import convolve
from takifugu.numbers.extended.floats import UNIT, Wide

#: Relative error of a mass that was read: a product, a sum and a division.
ROUNDED = 6 * UNIT


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights on start, start + step, ... (the step is the caller's), each right up to a factor 1 +- `error`."""

    start: int
    numbers: Wide
    error: float

    @staticmethod
    def of(law: Pmf, step: int) -> Weights:
        """Return a law with atoms at whole steps from its first."""
        start = int(law.values[0])
        places = ((law.values - start) // step).astype(np.int64)
        numbers = Wide.zeros(int(places[-1]) + 1)
        if law.total is None:
            numbers[places] = Wide.of(law.masses)
        else:
            total, masses = law.total, list(map(int, law.masses.tolist()))
            shifts = [total.bit_length() - mass.bit_length() + 60 for mass in masses]
            shares = [(mass << shift) // total for mass, shift in zip(masses, shifts, strict=True)]
            numbers[places] = Wide.of(shares, -np.array(shifts))
        return Weights(start, numbers, ROUNDED)

    def __len__(self) -> int:
        return len(self.numbers)

    def convolve(self, other: Weights) -> Weights:
        """Return the sum's weights: 2 min(n, m) + 4 roundings each."""
        few = min(len(self), len(other))
        error = self.error + other.error + self.error * other.error + 1.01 * (2 * few + 4) * UNIT
        return Weights(self.start + other.start, convolve(self.numbers, other.numbers), error)

    def shift(self, change: int) -> Weights:
        """Return the weights of the sum plus a constant."""
        return Weights(self.start + change, self.numbers, self.error)

    def on(self, start: int, step: int, size: int) -> Wide:
        """Return the weights on so many places from `start`, at most their own."""
        row, place = Wide.zeros(size), (self.start - start) // step
        row[place : place + len(self)] = self.numbers
        return row


#: The law of a sum of no terms.
NOTHING = Weights(0, Wide.of(np.ones(1)), 0.0)


Law = TypeVar("Law", Pmf, Weights)


class Sums(Generic[Law]):
    """The distributions of sums of all terms but one; neighbours requested in order share their work."""

    def __init__(self, laws: Sequence[Law], counts: Sequence[int], nothing: Law) -> None:
        self._laws: Sequence[Law] = laws
        self._nothing: Law = nothing
        self._counts = counts
        self._inside: dict[tuple[int, int], Law] = {}
        self._outside: list[tuple[tuple[int, int], Law]] = []

    def without(self, number: int) -> Law:
        """Return the law of all terms' sum but one of law `number`."""
        node, outside, depth = (0, len(self._laws)), self._nothing, 0
        while node[1] - node[0] > 1:
            middle = (node[0] + node[1]) // 2
            halves = (node[0], middle), (middle, node[1])
            inner, sibling = halves if number < middle else halves[::-1]
            if depth < len(self._outside) and self._outside[depth][0] == inner:
                outside = self._outside[depth][1]
            else:
                outside = outside.convolve(self.inside(*sibling))
                self._outside[depth:] = [(inner, outside)]
            node, depth = inner, depth + 1
        remaining = self._counts[number] - 1
        if remaining:
            return outside.convolve(self._power(self._laws[number], remaining))
        return outside

    def inside(self, first: int, end: int) -> Law:
        """Return the law of the terms' sum from first to end."""
        if end - first == 1 and self._counts[first] == 1:
            return self._laws[first]
        if (first, end) not in self._inside:
            middle = (first + end) // 2
            if end - first == 1:
                self._inside[first, end] = self._power(self._laws[first], self._counts[first])
            else:
                self._inside[first, end] = self.inside(first, middle).convolve(self.inside(middle, end))
        return self._inside[first, end]

    def _power(self, law: Law, count: int) -> Law:
        """Return the law of `count` >= 1 independent copies' sum, by halves."""
        if count == 1:
            return law
        half = self._power(law, count // 2)
        twice = half.convolve(half)
        return twice.convolve(law) if count % 2 else twice

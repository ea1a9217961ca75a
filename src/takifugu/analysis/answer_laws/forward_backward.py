"""Laws given many neighbouring entries of a chain at once: before the block, within it, after it.

For the entries first, ..., end of a block let before(u) be the law of the share of the entries before it jointly with
X_{first-1} = u, after(v) that of the share of the entries after it given X_end = v, and within_j(u, s, v) that of the
block's own share jointly with X_j = s and X_end = v given X_{first-1} = u. Then the law jointly with X_j = s is

    sum over u, v of (before(u) * after(v)) * within_j(u, s, v):

k**2 long convolutions for a whole block instead of k for each entry, and short ones, all of them in one matrix product
(numbers/extended/convolution.py). Positive terms only. A block whose numbers lie too far apart is halved, at last to
single entries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.numbers.extended.convolution import convolve, convolve_many
from takifugu.numbers.extended.floats import Wide, shifted, stack

#: Entries of a block, at most.
LONGEST = 64
#: How many different blocks are kept.
_MOST_CACHED = 64

#: The first entry of a block, and the one after its last.
Block = tuple[int, int]


@dataclass(frozen=True)
class Given:
    """The law of the answer jointly with X_entry = state, up to a factor, from each start; None where impossible."""

    entry: int
    state: int
    laws: tuple[Wide | None, ...]


def block_length(length: int, states: int, width: int) -> int:
    """Return a block's length, weighing long convolutions against matrix products."""
    range_of_one = max(1.0, width / length)
    return int(max(1, min(LONGEST, math.sqrt(width / (states * range_of_one)))))


def laws_given(
    matrices: Sequence[Wide], offsets: IntArray, starts: Sequence[Wide], states_by_entry: Mapping[int, Sequence[int]]
) -> Iterator[Given]:
    """Yield the laws given the wanted states of entries, in order."""
    # matrices repeat; offsets[i, s] is what X_i = s adds, starts the first share jointly with its state, (k, n)
    length, states = offsets.shape
    size = block_length(length, states, 1 + int(offsets.max(axis=1).sum()))
    if size > len(matrices):
        size -= size % len(matrices)  # blocks that begin at one phase are alike
    blocks = [(first, min(first + size, length)) for first in range(1, length, size)]
    walk = _Walk(matrices, offsets, states_by_entry)
    after = [Wide.of(np.ones((states, 1)))]
    for block in reversed(blocks):
        after.append(walk.back(block, after[-1]))
    before = list(starts)
    yield from walk.single(0, before, after.pop())
    for block in blocks:
        yield from walk.block(block, before, after.pop())
        before = walk.forward(block, before)


def each_state(states: int) -> list[Wide]:
    """Return the laws of single states, one column each."""
    return [Wide.of(column[:, None]) for column in np.eye(states)]


class _Walk:
    """The steps through a chain; what happens inside equal blocks is computed once."""

    def __init__(
        self, matrices: Sequence[Wide], offsets: IntArray, states_by_entry: Mapping[int, Sequence[int]]
    ) -> None:
        self._matrices, self.offsets, self.wanted = matrices, offsets, states_by_entry
        self._transposed = [matrix.each(np.transpose) for matrix in matrices]
        self._through: dict[tuple[int, bytes], Wide] = {}
        self._within: tuple[object, Wide] | None = None

    def into(self, entry: int) -> Wide:
        """Return the matrix of the step into an entry."""
        return self._matrices[(entry - 1) % len(self._matrices)]

    def onto(self, entry: int) -> Wide:
        """Return the same, transposed."""
        return self._transposed[(entry - 1) % len(self._matrices)]

    def key(self, block: Block) -> tuple[int, bytes]:
        """Return a key of a block's work, shared by equal blocks."""
        return block[0] % len(self._matrices), self.offsets[slice(*block)].tobytes()

    def block(self, block: Block, before: Sequence[Wide], after: Wide) -> Iterator[Given]:
        """Yield the laws of a block's entries from those around it."""
        first, end = block
        pairs: list[tuple[int, int]] = []
        for entry in range(first, end):
            pairs += product([entry], self.wanted.get(entry, ()))
        if not pairs:
            return
        if end - first == 1:
            yield from self.single(first, self.forward(block, before), after)
            return
        states = self.offsets.shape[1]
        if len(pairs) > states**2:
            kernels = self.within(block, [(entry - first, state) for entry, state in pairs])
            block_laws = []
            for row in before:
                ends = [convolve(row[u], after[v]) for u, v in product(range(states), repeat=2)]
                block_laws.append(convolve_many(stack(ends), kernels))
            if all(laws is not None for laws in block_laws):
                for number, (entry, state) in enumerate(pairs):
                    yield Given(entry, state, tuple(_possible(laws[number]) for laws in block_laws if laws is not None))
                return
        first_half, second_half = _halves(block)
        yield from self.block(first_half, before, self.back(second_half, after))
        yield from self.block(second_half, self.forward(first_half, before), after)

    def single(self, entry: int, before: Sequence[Wide], after: Wide) -> Iterator[Given]:
        """Yield the laws of one entry; `before` holds its own share."""
        for state in self.wanted.get(entry, ()):
            laws: list[Wide | None] = []
            for row in before:
                laws.append(convolve(row[state], after[state]) if row.mantissas[state].any() else None)
            yield Given(entry, state, tuple(laws))

    def forward(self, block: Block, before: Sequence[Wide]) -> list[Wide]:
        """Return the joint laws of share and state at a block's end, one for each before it."""
        return [self._forward(block, row) for row in before]

    def _forward(self, block: Block, before: Wide) -> Wide:
        first, end = block
        if end - first == 1:
            return shifted(self.onto(first) @ before, self.offsets[first])
        through = self.through(block)
        product = convolve_many(before, through.each(lambda array: array.swapaxes(1, 2)))
        first_half, second_half = _halves(block)
        if product is None:
            return self._forward(second_half, self._forward(first_half, before))
        return product

    def back(self, block: Block, after: Wide) -> Wide:
        """Return the share's law from a block on, given the state before."""
        first, end = block
        if end - first == 1:
            return self.into(first) @ shifted(after, self.offsets[first])
        through = self.through(block)
        product = convolve_many(after, through.each(lambda array: array.transpose(1, 2, 0)))
        first_half, second_half = _halves(block)
        if product is None:
            return self.back(first_half, self.back(second_half, after))
        return product

    def through(self, block: Block) -> Wide:
        """Return the joint law of a block's share and last state v given u before, axes [u, v, place]."""
        key = self.key(block)
        if key not in self._through:
            if len(self._through) >= _MOST_CACHED:
                self._through.clear()
            self._through[key] = self._forwards_within(block)[-1]
        return self._through[key]

    def within(self, block: Block, pairs: Sequence[tuple[int, int]]) -> Wide:
        """Return within_j(u, s, v) for each wanted (j, s), axes [(u, v), place, number of the wanted pair]."""
        offsets = self.offsets[slice(*block)]
        key = self.key(block), tuple(pairs)
        if self._within is None or self._within[0] != key:
            states, places = self.offsets.shape[1], 1 + int(offsets.max(axis=1).sum())
            forwards, backs = self._forwards_within(block), self._backs_within(block)
            result = Wide.zeros(states * states, places, len(pairs))
            for number, (j, s) in enumerate(pairs):
                for u, v in product(range(states), repeat=2):
                    result[u * states + v, :, number] = convolve(forwards[j][u, s], backs[j][v, s])
            self._within = key, result
        return self._within[1]

    def _backs_within(self, block: Block) -> list[Wide]:
        """Return later shares' joint laws with the last state, [v, s, place]."""
        rows = each_state(self.offsets.shape[1])
        stacked, (first, end) = [stack(rows)], block
        for entry in range(end - 1, first, -1):
            rows = [self.into(entry) @ shifted(row, self.offsets[entry]) for row in rows]
            stacked.append(stack(rows))
        return stacked[::-1]

    def _forwards_within(self, block: Block) -> list[Wide]:
        """Return the share's joint law with each entry's state, [u, s, place]."""
        rows, stacked = each_state(self.offsets.shape[1]), []
        for entry in range(*block):
            rows = [shifted(self.onto(entry) @ row, self.offsets[entry]) for row in rows]
            stacked.append(stack(rows))
        return stacked


def _halves(block: Block) -> tuple[Block, Block]:
    middle = (block[0] + block[1]) // 2
    return (block[0], middle), (middle, block[1])


def _possible(law: Wide) -> Wide | None:
    return law if law.mantissas.any() else None

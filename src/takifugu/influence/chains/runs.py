"""The loss of secrets about runs of steps, any values of them against any others (Theorem 18).

Given a run's values both sides are independent of each other and of what the run itself adds, so its loss is at most
the sum of c over its steps, L before the first and R behind the last. The largest sum over all pairs of paths is
found step by step over pairs of values; paths of probability zero are no secret.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from takifugu.core.arrays import BoolArray, FloatArray, IntArray
from takifugu.core.errors import Unsupported
from takifugu.influence.chains.sweeps import Piece
from takifugu.influence.profiles.profile import Loss, Profile
from takifugu.model.beliefs.one_sequence import OneSequence
from takifugu.model.secrets.families import Family
from takifugu.numbers.outward_rounding import UNIT, up

#: The losses of one side at some entries, shape (entries, k, k).
AtEntries = Callable[[IntArray], FloatArray]
#: So many first steps are looked at together, and so many sums of all runs of a recording at most.
AT_ONCE, MOST_SUMS = 4096, 4e9


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of a sequence of one length, with what a profile and both sides lose."""

    chain: OneSequence
    profile: Profile
    family: Family
    length: int
    followers: BoolArray | None  # which value can follow which, by phase; None for all

    @property
    def size(self) -> int:
        return self.profile.size

    def worst(self, right: Sequence[Piece], left: Sequence[Piece]) -> Loss:
        """Return the run of the largest loss; raises Unsupported beyond MOST_SUMS."""
        states, done = len(self.profile.tables[0]), 0.0
        best, place = 0.0, -1
        sides: tuple[AtEntries, AtEntries] = left[0].at, right[0].at
        for first, stop, before, after in self._stretches(right, left):
            steps = self.length if self.followers is not None else 1
            done += (stop - first) * steps * states**2
            if done > MOST_SUMS:
                raise Unsupported(f"the losses of all runs of {self.length} steps are too many to be added up")
            for start in range(first, stop, AT_ONCE):
                firsts = np.arange(start, min(start + AT_ONCE, stop))
                losses = self._losses(firsts, before(firsts), after(firsts + self.length - 1))
                top = int(losses.argmax())
                if float(losses[top]) > best:
                    best, place, sides = float(losses[top]), int(firsts[top]), (before, after)
        if place < 0:
            return Loss(0.0)
        return Loss(best, place, paths=self._paths(place, *sides))

    def _stretches(
        self, right: Sequence[Piece], left: Sequence[Piece]
    ) -> Iterator[tuple[int, int, AtEntries, AtEntries]]:
        """Yield the first steps to look at, with both sides; of those that repeat one period."""
        reach, behind = self.length - 1, self.size - self.length + 1
        ends = self.profile.ends.tolist()
        cuts = {0, behind, *ends, *(end - reach for end in ends)}
        cuts |= {piece.first for piece in left} | {piece.first - reach for piece in right}
        once = self.chain.period
        if self.chain.supports is not None:
            once += len(self.chain.supports.patterns)
        starts_left, starts_right = [piece.first for piece in left], [piece.first for piece in right]
        for first, stop in pairwise(sorted(cut for cut in cuts if 0 <= cut <= behind)):
            before = left[bisect_right(starts_left, first) - 1]
            after = right[bisect_right(starts_right, first + reach) - 1]
            is_even = bisect_right(ends, first) == bisect_right(ends, first + reach)
            if is_even and before.repeats and after.repeats:
                stop = min(stop, first + once)
            yield first, stop, before.at, after.at

    def _losses(self, firsts: IntArray, before: FloatArray, after: FloatArray) -> FloatArray:
        """Return the largest loss of each run, rounded up."""
        sums = self._entered(firsts, before)
        if self.followers is None and self.length > 1:
            within = self._largest_between(firsts)
            sums = (sums.max(axis=(1, 2)) + within)[:, None, None] + self._tables(firsts + self.length - 1)
        for step in range(1, self.length if self.followers is not None else 1):
            sums = followed(sums, self._can(firsts + step - 1)) + self._tables(firsts + step)
        largest = (sums + after).max(axis=(1, 2))
        return np.asarray(np.where(largest > 0, up(largest * (1 + (self.length + 4) * UNIT)), 0.0))

    def _entered(self, firsts: IntArray, before: FloatArray) -> FloatArray:
        """Return c + L of each first step, minus infinity where a value is impossible."""
        possible = self._possible(firsts)
        both = possible[:, :, None] & possible[:, None, :]
        return np.where(both, self._tables(firsts) + before, -np.inf)

    def _largest_between(self, firsts: IntArray) -> FloatArray:
        """Return the sum of the largest c of all steps between the first and the last of each run."""
        largest = np.array([table.max() for table in self.profile.tables])[self.profile.table_of]
        power = 61 - math.frexp(float((largest * self.profile.lengths).sum()))[1]  # sums of whole numbers are exact
        units = np.ceil(np.ldexp(largest, power)).astype(np.int64)
        each = self.profile.kinds.mapped(units)
        between = each.sum_before(firsts + self.length - 1) - each.sum_before(firsts + 1)
        return np.asarray(np.ldexp(between.astype(np.float64), -power))

    def _tables(self, entries: IntArray) -> FloatArray:
        return np.asarray(np.array(self.profile.tables)[self.profile.kinds.at(entries)])

    def _can(self, entries: IntArray) -> BoolArray:
        """Return which value can follow which at some entries, shape (entries, k, k)."""
        if self.followers is None:
            return np.ones((len(entries), *self.profile.tables[0].shape), dtype=bool)
        return np.asarray(self.followers[entries % len(self.followers)])

    def _possible(self, entries: IntArray) -> BoolArray:
        alike = entries if self.chain.supports is None else np.asarray(self.chain.supports.numbers(entries))
        _, first, place = np.unique(alike, return_index=True, return_inverse=True)
        rows = [self.family.values_at(self.chain, entry) for entry in entries[first].tolist()]
        return np.array(rows, dtype=bool)[place.ravel()]

    def _paths(self, first: int, before: AtEntries, after: AtEntries) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the two paths of a run that reach its largest loss."""
        one = np.array([first])
        every = [self._entered(one, before(one))[0]]
        for step in range(1, self.length):
            every.append(followed(every[-1][None], self._can(one + step - 1))[0] + self._tables(one + step)[0])
        last = every[-1] + after(one + self.length - 1)[0]
        a, b = (int(place) for place in np.unravel_index(int(last.argmax()), last.shape))
        pairs = [(a, b)]
        for step in range(self.length - 2, -1, -1):
            can = self._can(one + step)[0]
            behind = np.where(can[:, a, None] & can[None, :, b], every[step], -np.inf)
            if behind[a, b] < behind.max():  # of equal paths the one that stays is named
                a, b = (int(place) for place in np.unravel_index(int(behind.argmax()), behind.shape))
            pairs.append((a, b))
        left, right = zip(*reversed(pairs), strict=True)
        return left, right


def followed(sums: FloatArray, can: BoolArray) -> FloatArray:
    """Return the largest of `sums` (runs, k, k) over pairs that can come before each pair of values."""
    # can[r, a, c] says whether c can follow a.
    lead = np.full_like(sums, -np.inf)
    for a in range(sums.shape[1]):
        lead = np.maximum(lead, np.where(can[:, a, :, None], sums[:, a, None, :], -np.inf))
    both = np.full_like(sums, -np.inf)
    for b in range(sums.shape[1]):
        both = np.maximum(both, np.where(can[:, b, None, :], lead[:, :, b, None], -np.inf))
    return both

"""Integers of many places as runs of equal ones, so that a count over 10^9 steps is one run, and no array of 8 GB."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray, read_only, unwritable
from takifugu.core.errors import InputError, Unsupported
from takifugu.core.plain import set_fields

#: Places beyond which different numbers are not written out one by one: 2 GB.
MOST_WRITTEN = 2**28


@dataclass(frozen=True, eq=False)
class Runs:
    """Integers in a row, in runs of one value."""

    #: values[j] stands in the places from ends[j - 1] on, or 0, to before ends[j].
    values: IntArray
    ends: IntArray

    def __post_init__(self) -> None:
        read_only(self.values)
        read_only(self.ends)

    @staticmethod
    def of(numbers: Runs | IntArray) -> Runs:
        """Return numbers as runs; a broadcast number is not read."""
        if isinstance(numbers, Runs):
            return numbers
        size = len(numbers)
        if size and numbers.strides == (0,):
            return Runs.alike(int(numbers[0]), size)
        if size:
            ends = np.append(np.flatnonzero(numbers[1:] != numbers[:-1]) + 1, size)
        else:
            ends = np.zeros(0, dtype=np.int64)
        runs = Runs(numbers[ends - 1], ends)
        if len(ends) > 1:
            object.__setattr__(runs, "numbers", unwritable(numbers))
        return runs

    @staticmethod
    def alike(value: int, size: int) -> Runs:
        """Return one number in all of so many places."""
        count = 1 if size else 0
        return Runs(np.full(count, value, dtype=np.int64), np.full(count, size, dtype=np.int64))

    @staticmethod
    def indicator(starts: IntArray, stops: IntArray, size: int) -> Runs:
        """Return 1 from each start to before its stop, else 0."""
        ends = np.append(np.column_stack([starts, stops]).ravel(), size)
        is_long = np.diff(ends, prepend=0) > 0
        return Runs((np.arange(len(ends)) % 2)[is_long], ends[is_long])

    @property
    def size(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    @cached_property
    def starts(self) -> IntArray:
        if len(self.ends):
            return read_only(np.concatenate([[0], self.ends[:-1]]))
        return self.ends

    @cached_property
    def lengths(self) -> IntArray:
        return read_only(self.ends - self.starts)

    @cached_property
    def numbers(self) -> IntArray:
        """Return the numbers one by one, read-only; Unsupported for several runs of more than 2^28 places."""
        if len(self.values) == 1:
            # One number in memory.
            return np.broadcast_to(self.values[0], self.size)
        if self.size > MOST_WRITTEN:
            raise Unsupported(
                f"{self.size:,} entries that do not all count alike would be written out one by one",
                rule=f"that is done for up to {MOST_WRITTEN:,}",
                fix="publish windows of the sequence one by one",
            )
        return read_only(np.repeat(self.values, self.lengths))

    @property
    def key(self) -> Hashable:
        """Return a key shared exactly by equal rows of numbers."""
        return self.values.tobytes(), self.ends.tobytes()

    def numbers_of_runs(self, places: IntArray) -> IntArray:
        """Return the number of each place's run."""
        if len(self.ends) == self.size:
            return np.asarray(places)
        return np.asarray(np.searchsorted(self.ends, places, side="right"))

    def at(self, places: IntArray) -> IntArray:
        """Return the numbers in some places."""
        return np.asarray(self.values[self.numbers_of_runs(places)])

    def largest(self, places: Sequence[int]) -> int:
        """Return the largest number in some places, 0 without any."""
        if isinstance(places, range) and places.step == 1:
            numbers = self.between(places.start, places.stop).values
        else:
            numbers = self.at(np.asarray(places, dtype=np.int64))
        return int(numbers.max()) if len(numbers) else 0

    def between(self, first: int, stop: int) -> Runs:
        """Return the numbers from one place to before another."""
        if first >= stop:
            return Runs.alike(0, 0)
        low, high = self.numbers_of_runs(np.array([first, stop - 1])).tolist()
        return Runs(self.values[low : high + 1], np.minimum(self.ends[low : high + 1], stop) - first)

    def joined(self) -> Runs:
        """Return the same numbers with equal neighbours in one run."""
        if not len(self.values):
            return self
        is_last = np.append(self.values[1:] != self.values[:-1], True)
        return Runs(self.values[is_last], self.ends[is_last])

    def mapped(self, values: IntArray) -> Runs:
        """Return the same runs with other values, one for each."""
        return Runs(values, self.ends)

    @cached_property
    def _sums(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.values * self.lengths)])

    def sum_before(self, places: IntArray) -> IntArray:
        """Return the sum of all numbers before each place."""
        if not len(self.ends):
            return np.zeros(np.shape(places), dtype=np.int64)
        run = np.minimum(self.numbers_of_runs(places), len(self.ends) - 1)
        return np.asarray(self._sums[run] + self.values[run] * (places - self.starts[run]))

    @property
    def total(self) -> int:
        return int(self._sums[-1])


class Repeated(Runs):
    """Runs again and again, such as the hours of a day; all are written out only where somebody reads them."""

    def __init__(self, once: Runs, times: int) -> None:
        set_fields(self, once=once, times=times)

    once: Runs
    times: int

    @staticmethod
    def of_times(once: Runs, times: int) -> Runs:
        """Return some numbers so many times, as one run if they are alike."""
        if len(once.values) == 1:
            return Runs.alike(int(once.values[0]), once.size * times)
        return Repeated(once, times) if times > 1 else once

    @cached_property
    def values(self) -> IntArray:
        return read_only(np.tile(self.once.values, self.times))

    @cached_property
    def ends(self) -> IntArray:
        return read_only(np.ravel(self.once.size * np.arange(self.times)[:, None] + self.once.ends))

    @property
    def size(self) -> int:
        return self.once.size * self.times

    def numbers_of_runs(self, places: IntArray) -> IntArray:
        turns, inside = np.divmod(places, self.once.size)
        return np.asarray(turns * len(self.once.ends) + self.once.numbers_of_runs(inside))

    def at(self, places: IntArray) -> IntArray:
        return self.once.at(np.asarray(places) % self.once.size)

    def between(self, first: int, stop: int) -> Runs:
        if first >= stop:
            return Runs.alike(0, 0)
        turn = first // self.once.size
        start = turn * self.once.size
        some = Repeated(self.once, -(-stop // self.once.size) - turn)
        return Runs(some.values, some.ends).between(first - start, stop - start)


def in_one_turn(*rows: Runs) -> tuple[tuple[Runs, ...], int]:
    """Return what rows repeat together, and how often: once, if they do not."""
    repeated = [row for row in rows if isinstance(row, Repeated)]
    others = [row for row in rows if not isinstance(row, Repeated)]
    sizes = {row.once.size for row in repeated}
    if len(sizes) != 1 or any(len(row.values) > 1 for row in others):
        return rows, 1
    (size,) = sizes
    turn = (row.once if isinstance(row, Repeated) else Runs.alike(int(row.values[0]), size) for row in rows)
    return tuple(turn), repeated[0].times


def refined(*rows: Runs) -> tuple[IntArray, IntArray]:
    """Return the runs of constant rows: values (rows, runs), and ends."""
    ends = np.sort(np.concatenate([row.ends for row in rows]))  # np.unique loads masked arrays
    ends = ends[np.diff(ends, prepend=-1) > 0]
    return np.stack([row.at(ends - 1) for row in rows]), ends


def different(*rows: Runs) -> tuple[IntArray, Runs]:
    """Return the rows' different columns, (rows, kinds), and each place's kind."""
    values, ends = refined(*rows)
    if not len(ends):
        return values, Runs(ends, ends)
    order = np.lexsort(values[::-1])
    is_new = np.append(True, (np.diff(values[:, order], axis=1) != 0).any(axis=0))
    number = np.zeros(len(ends), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    changes = np.append(np.flatnonzero(np.diff(number)), len(ends) - 1)
    return values[:, order[is_new]], Runs(number[changes], ends[changes])


def whole_numbers(numbers: Any, key: str, shape: Sequence[int | None]) -> IntArray:
    """Return whole numbers as words of 64 bits, of a shape in which None is any length."""
    array = np.asarray(numbers)
    fits = array.ndim == len(shape) and all(n in (m, None) for m, n in zip(array.shape, shape, strict=True))
    if array.dtype == np.int64 and fits:
        return array
    is_whole = array.dtype.kind in "biu" and (array.dtype != np.uint64 or array.max(initial=0) < 2**63)
    if not (is_whole and fits):
        expected = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
        raise InputError(
            f"{key} is an array of {array.dtype} of the shape {array.shape}",
            rule=f"it holds whole numbers of at most 64 bits, in the shape {expected}",
            fix="round them to steps of the grid",
        ).at(key)
    # A sum of words of 8 bits would be cut.
    return array.astype(np.int64)

"""Releases of different queries as one charge: what each entry costs in all of them, as one framework reads them.

What Laplace noise reveals of an entry is a sum over releases: of |w(u) - w(v)|/b for two values u and v, which is a sum
over *cuts*, sets of values that an answer tells from the others, and of the largest such loss. So the rates of all
entries, cut by cut, are all that a curve needs to know of a long history; stretches of entries with equal rates stand
once. Each rate of a release is rounded up to a multiple of 2^-60, and they add as integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from takifugu.accounting.composition.several import Cost, Several
from takifugu.accounting.composition.totals import BITS, Total
from takifugu.analysis.guarantee import Charge
from takifugu.core.sections import values_of
from takifugu.model.queries import Additive, IntArray

#: What all entries cost together is read with this many binary digits.
DIGITS = 52


@dataclass(frozen=True)
class Rates:
    """What entries cost: up to each of `ends` `largest` for any two values, and by cut, in units of 2^-60.

    A cut is a set of values (the bits of a number) that does not hold the first one. Without `cuts` nothing is known by
    value.
    """

    ends: tuple[int, ...]
    largest: tuple[int, ...]
    cuts: Mapping[int, tuple[int, ...]] | None = None

    @property
    def size(self) -> int:
        return self.ends[-1]

    @property
    def total(self) -> int:
        return sum(
            rate * (end - start) for rate, (start, end) in zip(self.largest, pairwise((0, *self.ends)), strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.ends, self.largest))

    def each(self) -> list[int]:
        """Return the largest rate of every entry."""
        return [rate for rate, (start, end) in zip(self.largest, pairwise((0, *self.ends)), strict=True)
                for _ in range(start, end)]  # fmt: skip

    def __add__(self, other: Rates) -> Rates:
        """Return the rates of releases of both; those of fewer entries cost nothing beyond them.

        >>> one = Rates((2, 3), (1, 0), {0b10: (1, 0)})
        >>> one + Rates((3,), (4,), {0b100: (4,)})
        Rates(ends=(2, 3), largest=(5, 4), cuts={2: (1, 0), 4: (4, 4)})
        """
        ends = sorted({*self.ends, *other.ends})
        mine, theirs = np.searchsorted(self.ends, ends).tolist(), np.searchsorted(other.ends, ends).tolist()

        def both(one: Sequence[int], two: Sequence[int]) -> list[int]:
            one, two = (*one, 0), (*two, 0)
            return [one[i] + two[j] for i, j in zip(mine, theirs, strict=True)]

        cuts = None
        if self.cuts is not None and other.cuts is not None:
            no_rates = ((0,) * len(self.ends), (0,) * len(other.ends))
            cuts = {
                cut: both(self.cuts.get(cut, no_rates[0]), other.cuts.get(cut, no_rates[1]))
                for cut in sorted({*self.cuts, *other.cuts})
            }
        return in_stretches(ends, both(self.largest, other.largest), cuts)

    def answer(self, states: IntArray | None) -> tuple[IntArray, Fraction, Additive | None]:
        """Return the largest change of every entry, the grid, and an answer that costs this at a scale of 1.

        `states` says how many values each entry has; without it nothing is known by value. The answer has a cell for
        each cut. All is rounded up to so many digits as fit.

        >>> changes, grid, answer = Rates((2,), (2**60,), {0b10: (2**60,)}).answer(np.array([2, 2]))
        >>> (changes * grid).tolist(), [(c * grid).tolist() for c in answer.tables]
        ([Fraction(1, 1), Fraction(1, 1)], [[[Fraction(0, 1)], [Fraction(1, 1)]]])
        """
        shift = max(0, self.total.bit_length() - DIGITS)
        grid = Fraction(2**shift, 2**BITS)
        lengths = np.diff(self.ends, prepend=0)
        changes = np.repeat(np.array([_up(rate, shift) for rate in self.largest], dtype=np.int64), lengths)
        if self.cuts is None or states is None:
            return changes, grid, None
        rows = [tuple(_up(rates[n], shift) for rates in self.cuts.values()) for n in range(len(self.ends))]
        numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
        kinds = np.stack([np.repeat(np.array([numbers[row] for row in rows], dtype=np.int64), lengths), states])
        different, table_of = np.unique(kinds, axis=1, return_inverse=True)
        listed = list(numbers)
        tables = tuple(_table(list(self.cuts), listed[number], count) for number, count in different.T.tolist())
        labels = tuple(f"cut {cut:b}" for cut in self.cuts) or ("nothing",)
        return changes, grid, Additive(grid, labels, tables, np.ones(self.size, dtype=np.int64), table_of.ravel())

    def to_json(self) -> list[object]:
        cuts = None if self.cuts is None else [[str(cut), list(map(str, rates))] for cut, rates in self.cuts.items()]
        return [list(self.ends), list(map(str, self.largest)), cuts]

    @staticmethod
    def from_json(held: Sequence[Any]) -> Rates:
        ends, largest, cuts = held
        known = None if cuts is None else {int(cut): tuple(map(int, rates)) for cut, rates in cuts}
        return Rates(tuple(map(int, ends)), tuple(map(int, largest)), known)


@dataclass(frozen=True)
class Costs:
    """What releases cost as one framework reads them: of each of its beliefs the rates, and three sums.

    `here` and `elsewhere` add up what promises that cover every change cost where all read the same entries and where
    not, and `whole` what each loses when the whole data change.
    """

    rates: tuple[Rates, ...]
    here: Total
    elsewhere: Total
    whole: Total

    def __add__(self, other: Costs) -> Costs:
        rates = tuple(one + two for one, two in zip(self.rates, other.rates, strict=True))
        return Costs(rates, self.here + other.here, self.elsewhere + other.elsewhere, self.whole + other.whole)


@dataclass(frozen=True, kw_only=True)
class ByEntry(Several):
    """Releases of different queries, as frameworks read them: by the fingerprint of each what they cost.

    `is_apart` says that each may have read any steps: then the first n rates add up to the most that n steps in a row
    cost. `any_layout` adds up what each loses when all that it reads changes.
    """

    under: Mapping[str, Costs]
    is_apart: bool
    any_layout: Total

    __hash__ = Charge.__hash__

    @property
    def is_long(self) -> bool:
        return True


def in_one(
    first: Charge, cost: Cost, readings: int, saved: Fraction | None, change: Fraction, **more: Any
) -> ByEntry:
    """Return releases that are read as `first` is as one charge, whose noise has a scale of 1."""
    one = values_of(first, (field.name for field in fields(Charge)))
    one |= {
        "query": {"kind": "several queries"}, "scale": Fraction(1), "change": change, "entry_change": change,
        "answers": (), "epsilon": cost.promised.value,
    }  # fmt: skip
    return ByEntry(**one, cost=replace(cost, rates=None), readings=readings, saved=saved, ratio=None, **more)


def in_stretches(ends: Sequence[int], largest: Sequence[int], cuts: Mapping[int, Sequence[int]] | None) -> Rates:
    """Return rates with stretches of equal entries as one."""
    columns = list(zip(largest, *(() if cuts is None else cuts.values()), strict=True))
    last = [n for n, (one, two) in enumerate(pairwise([*columns, None])) if one != two]
    known = None if cuts is None else {cut: tuple(rates[n] for n in last) for cut, rates in cuts.items()}
    return Rates(tuple(int(ends[n]) for n in last), tuple(largest[n] for n in last), known)


def rates_of_answer(changes: IntArray, answer: Additive | None, grid: Fraction, scale: Fraction) -> Rates:
    """Return the rates of one release with Laplace noise of a scale (answer units), rounded up.

    >>> from takifugu import Count, MarkovChain
    >>> count = Count(1).resolve(MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100))
    >>> rates_of_answer(count.entry_changes(), count, count.grid, Fraction(1, 2))
    Rates(ends=(100,), largest=(2305843009213693952,), cuts={2: (2305843009213693952,)})
    """
    unit = grid / scale * 2**BITS
    kinds = np.stack([changes, np.zeros_like(changes), np.zeros_like(changes)])
    if answer is not None:
        kinds[1] = np.abs(answer.weights)
        kinds[2] = 0 if answer.table_of is None else answer.table_of
    last = np.flatnonzero(np.append((kinds[:, 1:] != kinds[:, :-1]).any(axis=0), True))
    rows = kinds[:, last].T.tolist()
    tables = {} if answer is None else {table: cuts_of(answer.tables[table]) for _, _, table in rows}
    cuts = None if answer is None else {
        cut: [_ceil(tables[table].get(cut, 0) * weight * unit) for _, weight, table in rows]
        for cut in sorted({cut for steps in tables.values() for cut in steps})
    }  # fmt: skip
    return in_stretches((last + 1).tolist(), [_ceil(change * unit) for change, _, _ in rows], cuts)


def cuts_of(table: IntArray) -> dict[int, int]:
    """Return by how much each cut moves an answer: the L1 distance of two rows is the sum over cuts between them.

    >>> cuts_of(np.array([[0, 1], [2, 0], [3, 0]]))
    {6: 3, 4: 1}
    """
    steps: dict[int, int] = {}
    everything = 2 ** len(table) - 1
    for column in table.T.tolist():
        for low, high in pairwise(sorted(set(column))):
            cut = sum(1 << state for state, value in enumerate(column) if value >= high)
            cut = everything ^ cut if cut & 1 else cut
            steps[cut] = steps.get(cut, 0) + high - low
    return steps


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _up(rate: int, shift: int) -> int:
    return -(-rate >> shift)


def _table(cuts: Sequence[int], rates: Sequence[int], states: int) -> IntArray:
    cells = [
        [rate if cut >> state & 1 else 0 for cut, rate in zip(cuts, rates, strict=True)] for state in range(states)
    ]
    return np.array(cells, dtype=np.int64).reshape(states, len(cuts)) if cuts else np.zeros((states, 1), dtype=np.int64)

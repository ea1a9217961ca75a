"""Windows of one kind that all cost something else, as one charge: weeks of which each has noise of its own.

Where many places of one query have sums of their own, a row of integers says what each adds up to; the sums are those
that the windows would have one by one, so it does not matter when they became one charge. Rows lie in parts, cut where
the places alone say: one more window changes one of them, and all others are what they were, computed once.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from itertools import chain
from zlib import crc32

import numpy as np

from takifugu.accounting.composition.several import BITS, Several, Total, added_up, several
from takifugu.analysis.guarantee import Charge
from takifugu.core.sections import values_of
from takifugu.model.queries import IntArray

#: So many different costs of the windows of one kind are series of their own.
FEW = 8
#: A place, how many releases, and of their rates and epsilons: exact numerator and denominator, common one, rounded.
#: For one release that is short: the place, and of rate and epsilon the exact numerator and denominator.
Row = tuple[int, ...]
SHORT = 5
#: So many rows are in one part, about.
IN_A_PART = 64


@dataclass(frozen=True)
class Part:
    """Rows in the order of their places, and what is computed from them."""

    rows: tuple[Row, ...]

    @cached_property
    def text(self) -> str:
        """The rows as JSON, as a ledger keeps them."""
        return json.dumps(self.rows, separators=(",", ":"))

    @cached_property
    def places(self) -> IntArray:
        return np.array([row[0] for row in self.rows], dtype=np.int64)

    @cached_property
    def shares(self) -> list[tuple[int, int]]:
        """The rate of each window as numerator and denominator."""
        return [(row[1], row[2]) if len(row) == SHORT else (row[2], row[3]) if row[4] else (row[5], 2**BITS)
                for row in self.rows]  # fmt: skip

    def costs(self, up: int, down: int) -> list[float]:
        """Return up/down of each rate, about."""
        if (up, down) not in self._costs:
            self._costs[up, down] = [up * p / (down * q) for p, q in self.shares]
        return self._costs[up, down]

    def in_units(self, up: int, down: int) -> IntArray:
        """Return up/down of each rate, rounded up to an integer."""
        if (up, down) not in self._units:
            self._units[up, down] = np.array([-(-up * p // (down * q)) for p, q in self.shares], dtype=np.int64)
        return self._units[up, down]

    @cached_property
    def _costs(self) -> dict[tuple[int, int], list[float]]:
        return {}

    @cached_property
    def _units(self) -> dict[tuple[int, int], IntArray]:
        return {}


@lru_cache(maxsize=4096)
def part_of(text: str) -> Part:
    """Return the rows that a text describes, always the same object for the same text."""
    rows = tuple(tuple(map(int, row)) for row in json.loads(text))
    if not rows or any(len(row) < SHORT for row in rows):
        raise ValueError("windows without a sum")
    return Part(rows)


def in_parts(rows: Sequence[Row]) -> list[Part]:
    """Return rows in parts; where one begins is said by its first place alone, so that equal rows are in equal parts.

    >>> rows = [(place, 1, 2, 1, 4) for place in range(1000)]
    >>> parts = in_parts(rows)
    >>> with_rows(in_parts(rows[:300] + rows[301:]), rows[300:301]) == parts
    True
    """
    begins = [n for n, row in enumerate(rows) if n and crc32(b"%d" % row[0]) % IN_A_PART == 0]
    return [Part(tuple(rows[a:b])) for a, b in zip([0, *begins], [*begins, len(rows)], strict=True)]


def with_rows(parts: Sequence[Part], rows: Iterable[Row]) -> list[Part]:
    """Return parts to which the costs of more windows are added; those that hold none of them stay as they are."""
    changed, firsts = list(parts), [part.rows[0][0] for part in parts]
    more: dict[int, list[Row]] = {}
    for row in rows:
        more.setdefault(max(bisect_right(firsts, row[0]) - 1, 0), []).append(row)
    for at in sorted(more, reverse=True):
        both = list(parts[at].rows) if parts else []
        for row in more[at]:
            _with_row(both, row)
        changed[at : at + 1] = in_parts(both)
    return changed


_OF_SEVERAL = [field.name for field in fields(Several)]


@dataclass(frozen=True)
class Windows(Several):
    """Releases of one query in windows at many places: `parts` say what they add up to at each, in their order."""

    parts: tuple[Part, ...] = ()

    __hash__ = Charge.__hash__

    @property
    def places(self) -> IntArray:
        return np.concatenate([part.places for part in self.parts])

    @property
    def rows(self) -> Iterator[Row]:
        return chain.from_iterable(part.rows for part in self.parts)

    def each(self) -> Iterator[Charge]:
        """Yield the charge of each window."""
        for row in map(_long, self.rows):
            one = replace(self.like(), at=row[0])
            yield added_up(one, row[1], 1, _total(row[2:6]), _total(row[6:]), self.largest, self.least)

    def like(self) -> Several:
        """Return a charge of the same kind without the rows."""
        return Several(**values_of(self, _OF_SEVERAL))


def in_rows(first: Charge, parts: Sequence[Part], sums: Sequence[Several]) -> Windows:
    """Return windows like `first` as one charge; `sums` are charges that hold all releases of the rows."""
    rates = reduce(Total.__add__, [one.rates for one in sums if one.rates is not None])
    promised = reduce(Total.__add__, [one.promised for one in sums])
    least = min(one.least for one in sums if one.least is not None)
    times, largest = sum(one.times for one in sums), max(one.largest for one in sums)
    summed = added_up(replace(several(first), at=parts[0].rows[0][0]), times, 1, rates, promised, largest, least)
    return windows_of(summed, parts)


def windows_of(summed: Several, parts: Sequence[Part]) -> Windows:
    """Return a charge of all windows together with what each adds up to."""
    return Windows(**values_of(summed, _OF_SEVERAL), parts=tuple(parts))


def row_of(place: int, one: Several, windows: int) -> Row:
    """Return what one of so many equal windows adds up to."""
    assert one.rates is not None
    rates, promised = one.rates.share(windows), one.promised.share(windows)
    return _short((place, one.times // windows, *_numbers(rates), *_numbers(promised)))


def _with_row(rows: list[Row], row: Row) -> None:
    """Add what a window costs to rows in the order of their places."""
    at = bisect_left(rows, row[:1])
    if at == len(rows) or rows[at][0] != row[0]:
        rows.insert(at, row)
        return
    one, row = _long(rows[at]), _long(row)
    rates, promised = _total(one[2:6]) + _total(row[2:6]), _total(one[6:]) + _total(row[6:])
    rows[at] = _short((row[0], one[1] + row[1], *_numbers(rates), *_numbers(promised)))


def are_few(rows: Iterable[Row]) -> bool:
    """Whether windows have few different costs."""
    different: set[Row] = set()
    for row in rows:
        different.add(row[1:])
        if len(different) > FEW:
            return False
    return True


def _long(row: Row) -> Row:
    """Return a row with all sums.

    >>> _long((7, 1, 2, 1, 4))
    (7, 1, 1, 2, 2, 576460752303423488, 1, 4, 4, 288230376151711744)
    """
    if len(row) > SHORT:
        return row
    place, rate, of_rate, epsilon, of_epsilon = row
    return (place, 1, rate, of_rate, of_rate, -(-(rate << BITS) // of_rate),
            epsilon, of_epsilon, of_epsilon, -(-(epsilon << BITS) // of_epsilon))  # fmt: skip


def _short(row: Row) -> Row:
    """Return a row as it is kept: that of one release is short where it follows from the exact sums."""
    brief = row[0], row[2], row[3], row[6], row[7]
    return brief if _long(brief) == row else row


def _numbers(total: Total) -> Row:
    return total.exact.numerator, total.exact.denominator, total.denominator, total.rounded


def _total(numbers: Row) -> Total:
    up, down, denominator, rounded = numbers
    return Total(Fraction(up, down), denominator, rounded)

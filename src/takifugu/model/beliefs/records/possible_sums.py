"""The numbers that a sum over records can be: evenly spaced ones that are not written out, and any others."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add, or_
from typing import TypeVar, overload

from takifugu.core.errors import InputError, Unsupported
from takifugu.numbers.rationals import as_fraction, common_denominator

#: Values of a sum are listed up to this number.
MOST_LISTED = 200_000

Term = TypeVar("Term", int, Fraction)


@dataclass(frozen=True)
class Steps(Sequence[Term]):
    """The numbers first, first + step, ..., so many: a tuple that is not written out."""

    first: Term
    step: Term
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Term: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Term]: ...
    def __getitem__(self, index: int | slice) -> Term | Sequence[Term]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self.length)))
        if not -self.length <= index < self.length:
            raise IndexError(index)
        return self.first + self.step * (index % self.length)

    def index(self, value: object, *_: object) -> int:
        if not isinstance(value, int | float | Fraction):
            raise ValueError(value)
        place = Fraction(value - self.first) / self.step
        if place.denominator != 1 or not 0 <= place < self.length:
            raise ValueError(value)
        return int(place)

    def __contains__(self, value: object) -> bool:
        try:
            return self.index(value) >= 0
        except (ValueError, TypeError):
            return False


def in_steps(scores: Sequence[Fraction], records: int) -> tuple[tuple[int, ...], Fraction, Fraction]:
    """Return scores as whole steps from 0, their unit, and the offset of the sum over all `records`."""
    low = min(scores)
    common = common_denominator(scores)
    gaps = [int((score - low) * common) for score in scores]
    divisor = math.gcd(*gaps) or 1
    return tuple(gap // divisor for gap in gaps), Fraction(divisor, common), low * records


def sums(levels: Iterable[int], count: int) -> list[int]:
    """Return all sums of so many levels, in order."""
    bits = 1  # bit s says whether s is a sum
    for _ in range(count):
        bits = reduce(or_, (bits << level for level in levels))
    return [place for place, bit in enumerate(reversed(bin(bits)[2:])) if bit == "1"]


def sums_of_vectors(levels: Sequence[tuple[int, ...]], count: int) -> set[tuple[int, ...]]:
    """Return all sums of `count` levels, place by place, where they are few enough to list."""
    keys = {(0,) * len(levels[0])}
    for _ in range(count):
        keys = {tuple(map(add, total, level)) for total, level in product(keys, levels)}
        if len(keys) > MOST_LISTED:
            raise Unsupported(
                f"the property takes more than {MOST_LISTED:,} values under the belief",
                fix="use fewer records, fewer columns, or coarser values",
            ).at("secrets")
    return keys


def column_number(value: object, column: Hashable) -> Fraction:
    """Return a column's value as a number, or raise InputError."""
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise InputError(
            f"the column {column!r} has the value {value!r}, which is no number",
            fix="hide the share of some values: function='share', of=...",
        ).at("attribute")
    return as_fraction(int(value) if isinstance(value, bool) else value, f"a value of {column!r}")

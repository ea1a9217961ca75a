"""The joint law of two sums over independent records, (F, G) = sum of (f, g), and the law of F given G = a.

Integer masses only: P(F = x, G = a) is proportional to an integer, so conditional laws are exact. For a binary g
(levels 0 and 1) the law of F given G = a is that of a draws of f given 1 and n - a of f given 0, independent of each
other: the records with g = 1 are a random set, and given the set they are independent draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Generic, TypeVar

from takifugu.numbers.distributions.pmf import Pmf

if TYPE_CHECKING:
    from _typeshed import SupportsRichComparison

Level = TypeVar("Level", bound="SupportsRichComparison")
Value = TypeVar("Value", bound="SupportsRichComparison")
#: A level that is added up: a number, or several of them, place by place.
Sum = TypeVar("Sum", int, tuple[int, ...])


@dataclass(frozen=True, eq=False)
class RecordLaw(Generic[Level]):
    """One record's distribution of its level g and value f, in integers."""

    #: masses[level][x] is proportional to P(g = level, f = x).
    masses: Mapping[Level, Mapping[int, int]]

    @staticmethod
    def of(rows: Iterable[tuple[Level, int, int]]) -> RecordLaw[Level]:
        """Return the law of rows (g, f, mass) with positive mass."""
        levels: dict[Level, dict[int, int]] = {}
        for level, x, mass in rows:
            if mass:
                inner = levels.setdefault(level, {})
                inner[x] = inner.get(x, 0) + mass
        return RecordLaw(dict(sorted(levels.items())))

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels of g, in order."""
        return tuple(self.masses)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to P(g = level), in order."""
        return tuple(sum(inner.values()) for inner in self.masses.values())

    def given(self, level: Level) -> Pmf:
        """Return the law of f given g = level."""
        inner = self.masses[level]
        return Pmf.from_counts(list(inner), list(inner.values()))

    @cached_property
    def whole(self) -> Pmf:
        """The law of f."""
        counts: dict[int, int] = {}
        for inner in self.masses.values():
            for x, mass in inner.items():
                counts[x] = counts.get(x, 0) + mass
        return Pmf.from_counts(list(counts), list(counts.values()))


def power(law: Pmf, count: int) -> Pmf:
    """Return the distribution of the sum of `count` >= 0 independent copies, by halves."""
    if count == 0:
        return Pmf([0], [1])
    half = power(law, count // 2)
    twice = half.convolve(half)
    return twice.convolve(law) if count % 2 else twice


def given_count(zero: Pmf, one: Pmf, records: int, counts: Sequence[int]) -> dict[int, Pmf]:
    """Return the sum's distribution given each count a of `one`."""
    ones, zeros = _powers(one, counts), _powers(zero, [records - a for a in counts])
    return {a: ones[a].convolve(zeros[records - a]) for a in counts}


def _powers(law: Pmf, counts: Iterable[int]) -> dict[int, Pmf]:
    """Return the laws of sums of so many copies, one by one."""
    powers, last, reached = dict[int, Pmf](), Pmf([0], [1]), 0
    for count in sorted(set(counts)):
        last, reached = last.convolve(power(law, count - reached)), count
        powers[count] = last
    return powers


def given_sum(law: RecordLaw[Sum], records: int) -> dict[Sum, tuple[int, Pmf]]:
    """Return for each value of G, the sum of g, an integer proportional to P(G) and F's distribution given it."""
    joint = {level: dict(inner) for level, inner in law.masses.items()}
    for _ in range(records - 1):
        following: dict[Sum, dict[int, int]] = {}
        for total, sums in joint.items():
            for level, inner in law.masses.items():
                into = following.setdefault(_added(total, level), {})
                for x, mass in inner.items():
                    for at, weight in sums.items():
                        into[at + x] = into.get(at + x, 0) + weight * mass
        joint = following
    return {total: _weighed(joint[total]) for total in sorted(joint)}


def given_function(
    law: RecordLaw[Level], records: int, function: Callable[[list[Level]], Value]
) -> dict[Value, tuple[int, Pmf]]:
    """Return `given_sum` for any function of all records' levels."""
    sums: dict[tuple[Level, ...], dict[int, int]] = {}
    joint: dict[Value, dict[int, int]] = {}
    for levels in product(law.levels, repeat=records):
        key = tuple(sorted(levels))
        if key not in sums:
            sums[key] = _sum_of(law, key)
        into = joint.setdefault(function(list(levels)), {})
        for x, mass in sums[key].items():
            into[x] = into.get(x, 0) + mass
    return {value: _weighed(joint[value]) for value in sorted(joint)}


def _sum_of(law: RecordLaw[Level], levels: Sequence[Level]) -> dict[int, int]:
    """Return P(sum of f, and these levels), up to the total."""
    sums = {0: 1}
    for level in levels:
        following: dict[int, int] = {}
        for at, weight in sums.items():
            for x, mass in law.masses[level].items():
                following[at + x] = following.get(at + x, 0) + weight * mass
        sums = following
    return sums


def _weighed(sums: Mapping[int, int]) -> tuple[int, Pmf]:
    return sum(sums.values()), Pmf.from_counts(list(sums), list(sums.values()))


def _added(left: Sum, right: Sum) -> Sum:
    if isinstance(left, tuple):
        return tuple(a + b for a, b in zip(left, right, strict=True))
    return left + right

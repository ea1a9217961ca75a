"""The joint law of two sums over independent records, (F, G) = sum of (f, g), and the law of F given G = a.

Integer masses only: P(F = x, G = a) is proportional to an integer, so conditional laws are exact. For a binary g
(levels 0 and 1) the law of F given G = a is that of a draws of f given 1 and n - a of f given 0, independent of each
other: the records with g = 1 are a random set, and given the set they are independent draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
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
        levels: dict[Level, Counter[int]] = {}
        for level, x, mass in rows:
            if mass:
                levels.setdefault(level, Counter())[x] += mass
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
        return _pmf(self.masses[level])

    @cached_property
    def whole(self) -> Pmf:
        """The law of f."""
        counts = Counter[int]()
        for inner in self.masses.values():
            counts.update(inner)
        return _pmf(counts)


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
    joint = {level: Counter(inner) for level, inner in law.masses.items()}
    for _ in range(records - 1):
        following: dict[Sum, Counter[int]] = {}
        for total, sums in joint.items():
            for level, inner in law.masses.items():
                following.setdefault(_added(total, level), Counter()).update(_convolved(sums, inner))
        joint = following
    return {total: _weighed(joint[total]) for total in sorted(joint)}


def given_function(
    law: RecordLaw[Level], records: int, function: Callable[[list[Level]], Value]
) -> dict[Value, tuple[int, Pmf]]:
    """Return `given_sum` for any function of all records' levels."""
    sums: dict[tuple[Level, ...], Counter[int]] = {}
    joint: dict[Value, Counter[int]] = {}
    for levels in product(law.levels, repeat=records):
        key = tuple(sorted(levels))
        if key not in sums:
            sums[key] = reduce(_convolved, map(law.masses.__getitem__, key), Counter({0: 1}))
        joint.setdefault(function(list(levels)), Counter()).update(sums[key])
    return {value: _weighed(joint[value]) for value in sorted(joint)}


def _convolved(sums: Mapping[int, int], inner: Mapping[int, int]) -> Counter[int]:
    """Return the masses of a sum with one more term."""
    following = Counter[int]()
    for x, mass in inner.items():
        for at, weight in sums.items():
            following[at + x] += weight * mass
    return following


def _weighed(sums: Mapping[int, int]) -> tuple[int, Pmf]:
    return sum(sums.values()), _pmf(sums)


def _pmf(masses: Mapping[int, int]) -> Pmf:
    return Pmf.from_counts(list(masses), list(masses.values()))


def _added(left: Sum, right: Sum) -> Sum:
    if isinstance(left, tuple):
        return tuple(a + b for a, b in zip(left, right, strict=True))
    return left + right

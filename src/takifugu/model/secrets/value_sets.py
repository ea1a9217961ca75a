"""Sets of values of a property: intervals, half-lines, several of them, or the values themselves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product

from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, to_plain
from takifugu.core.rules import list_of
from takifugu.numbers.rationals import as_fraction, as_fractions, to_text


@dataclass(frozen=True)
class Between:
    """All values from `low` to `high`, without an end where it is None; ends count to the set that begins with them."""

    low: Fraction | None
    high: Fraction | None

    def describe(self) -> str:
        if self.low is None or self.high is None:
            if self.low is None:
                return f"below {number(self.high)}"
            return f"at least {number(self.low)}"
        return f"from {number(self.low)} to below {number(self.high)}"

    def meets(self, other: Between) -> bool:
        low = max((b.low for b in (self, other) if b.low is not None), default=None)
        high = min((b.high for b in (self, other) if b.high is not None), default=None)
        return low is None or high is None or low < high

    def holds(self, value: Fraction) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value < self.high)


@dataclass(frozen=True)
class Intervals:
    """An interval as a set of values, or several, in order and apart from each other."""

    parts: tuple[Between, ...]

    def describe(self) -> str:
        return " or ".join(part.describe() for part in self.parts)

    def meets(self, other: ValueSet) -> bool:
        if isinstance(other, Intervals):
            return any(part.meets(others) for part, others in product(self.parts, other.parts))
        return any(map(self.holds, other))

    def holds(self, value: Fraction) -> bool:
        return any(part.holds(value) for part in self.parts)

    def to_dict(self) -> Json:
        ends = [to_plain((part.low, part.high)) for part in self.parts]
        return {"between": ends[0]} if len(ends) == 1 else {"intervals": ends}


#: A set of values of a property: intervals, or the values themselves.
ValueSet = Intervals | tuple[Fraction, ...]


def near(values: Sequence[Fraction], difference: Fraction) -> tuple[tuple[int, int], ...]:
    """Return the index pairs i < j of sorted values within `difference`."""
    pairs, last = list[tuple[int, int]](), 0
    for first, low in enumerate(values):
        last = max(last, first)
        while last + 1 < len(values) and values[last + 1] - low <= difference:
            last += 1
        pairs += product([first], range(first + 1, last + 1))
    return tuple(pairs)


def near_in_any_order(values: Sequence[Fraction], difference: Fraction) -> tuple[tuple[int, int], ...]:
    """Return the index pairs i < j of values within `difference`, of values that are not sorted."""
    order = sorted(range(len(values)), key=values.__getitem__)
    pairs = near([values[place] for place in order], difference)
    return tuple(sorted((min(order[a], order[b]), max(order[a], order[b])) for a, b in pairs))


def described(values: ValueSet) -> str:
    """Return a set of values in words."""
    if isinstance(values, Intervals):
        return values.describe()
    return "{" + ", ".join(map(number, values)) + "}"


def number(value: Fraction | None) -> str:
    """Return a number as text, nothing for no end."""
    return "" if value is None else to_text(value)


def sets_of(sets_given: Iterable[object] | None) -> tuple[ValueSet, ...] | None:
    """Return sets as they were given, two or more that do not overlap."""
    if sets_given is None:
        return None
    sets = tuple(map(_set, list_of(sets_given, "the sets", "sets", "[(0, 1), (2, 3)]", any_order=True)))
    if len(sets) < 2:
        raise InputError("the secret compares fewer than two sets", fix="give two or more").at("sets")
    for first, second in combinations(sets, 2):
        if _overlap(first, second):
            raise InputError(
                f"the sets {described(first)!r} and {described(second)!r} overlap",
                rule="a value of the property is in one set at most", fix="divide the values between them",
            ).at("sets")  # fmt: skip
    return sets


def _overlap(first: ValueSet, second: ValueSet) -> bool:
    if isinstance(first, Intervals):
        return first.meets(second)
    if isinstance(second, Intervals):
        return second.meets(first)
    return not {*first}.isdisjoint(second)


def _set(values: object) -> ValueSet:
    if isinstance(values, Intervals):
        return values
    if isinstance(values, tuple) and len(values) == 2:
        return _intervals([values])
    if isinstance(values, list) and values and all(isinstance(part, tuple) for part in values):
        return _intervals(values)
    if isinstance(values, list | set | frozenset) and values:
        return tuple(sorted(set(as_fractions(values, "a value", "sets"))))
    raise InputError(
        f"a set of values is {values!r}",
        fix="write (low, high), None for no end, a list of these, or a list of values",
    ).at("sets")


def _end(value: object) -> Fraction | None:
    return None if value is None else as_fraction(value, "an end of a set", "sets")


def _interval(ends: tuple[object, ...]) -> Between:
    if len(ends) != 2:
        raise InputError(f"an interval of a set is {ends!r}", fix="write (low, high), None for no end").at("sets")
    low, high = map(_end, ends)
    if low is not None and high is not None and low >= high:
        raise InputError(f"the set goes from {low} to {high}", rule="it must have an inside").at("sets")
    return Between(low, high)


def _intervals(intervals: Sequence[tuple[object, ...]]) -> Intervals:
    parts = sorted(map(_interval, intervals), key=lambda part: (part.low is not None, part.low))
    for first, second in combinations(parts, 2):
        if first.meets(second):
            message = f"a set is {first.describe()!r} or {second.describe()!r}, which overlap"
            raise InputError(message, fix="join them to one interval").at("sets")
    return Intervals(tuple(parts))


def reading(data: Plain | list[str]) -> tuple[str | None, ...] | list[tuple[str | None, ...]] | list[str]:
    """Return the arguments of a set from its plain data."""
    if isinstance(data, Mapping) and "intervals" in data:
        return list(map(tuple, data["intervals"]))
    return tuple(data["between"]) if isinstance(data, Mapping) else list(data)


def places_in(value_set: ValueSet, values: Sequence[Fraction]) -> range | tuple[int, ...]:
    """Return the indices of a set's values among ordered values."""
    if not isinstance(value_set, Intervals):
        return tuple(values.index(value) for value in value_set if value in values)
    runs = []
    for part in value_set.parts:
        first = 0 if part.low is None else bisect_left(values, part.low)
        runs.append(range(first, len(values) if part.high is None else bisect_left(values, part.high)))
    return runs[0] if len(runs) == 1 else tuple(sorted(chain.from_iterable(runs)))


def ends_of_sets(members: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, int], Iterator[tuple[int, int]]]]:
    """Yield each two sets with members, and the pairs of an end of each."""
    possible = [place for place, values in enumerate(members) if len(values)]
    for first, second in combinations(possible, 2):
        left, right = members[first], members[second]
        yield (first, second), product((left[0], left[-1]), (right[0], right[-1]))

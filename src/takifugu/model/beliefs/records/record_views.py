"""How secrets about columns read a belief over records: one entry, whose values are the hypotheses.

A *sum* of scores of the records (mean, sum, share, a weighted sum of means) in whole steps, several of them together
(`viewed_records`); any *function* of the columns; the column of one record; and *sets* of the values of one of these.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from typing import TYPE_CHECKING

from takifugu.core.errors import InputError, Unsupported
from takifugu.core.lists import value_of
from takifugu.model.beliefs.records.possible_sums import MOST_LISTED, Steps, sums
from takifugu.model.beliefs.undivided import OneHypothesis
from takifugu.model.secrets.properties import DatasetProperty, Named
from takifugu.model.secrets.value_sets import Between, Intervals, ValueSet, described, near
from takifugu.numbers.rationals import as_fraction, to_text

if TYPE_CHECKING:
    from takifugu.model.beliefs.records.records import Records
    from takifugu.model.secrets import Secret
    from takifugu.model.secrets.of_entries import EveryEntry

#: A function of the columns is computed for at most so many combinations of their values; pairs of values of a sum are
#: listed up to this number.
MOST_COMBINATIONS, MOST_PAIRS = 100_000, 2_000_000


@dataclass(frozen=True, eq=False)
class RecordView(OneHypothesis):
    """A belief about one entry, made of records for a secret."""

    whole: Records
    secret: Secret

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Return the compared pairs of hypotheses, None for all."""
        raise NotImplementedError

    def describe_hypothesis(self, value: int) -> str:
        """Word the hypothesis of a value, by its index."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SumView(RecordView):
    """A sum over the records of whole scores, one for each row of the table.

    The property is `offset` + `unit` times the sum; the scores begin at 0 and have no common divisor. Where too many
    pairs differ by at most `max_difference` only the widest are listed: whatever bounds those by how far apart their
    values are bounds the others, too.
    """

    secret: DatasetProperty
    scores: tuple[int, ...]
    unit: Fraction
    offset: Fraction

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The scores of rows of positive probability, in order."""
        return tuple(sorted({s for s, can in zip(self.scores, self.whole.possible(0), strict=True) if can}))

    @cached_property
    def keys(self) -> Sequence[int]:
        """The possible sums of scores, in order, one for each value."""
        n, levels = self.whole.size, self.levels
        if len(levels) == 1:
            return (n * levels[0],)
        low, high = levels[0], levels[-1]
        step = math.gcd(*(level - low for level in levels))
        if len(levels) == 2 or len(levels) * step == high - low + step or n * high > MOST_LISTED:
            return Steps(n * low, step, n * (high - low) // step + 1)
        return tuple(sums(levels, n))

    @cached_property
    def values(self) -> Sequence[Fraction]:
        keys = self.keys
        if isinstance(keys, Steps):
            return Steps(self.offset + self.unit * keys.first, self.unit * keys.step, len(keys))
        return tuple(self.offset + self.unit * key for key in keys)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        secret = self.secret
        if secret.max_difference is not None and self.lists_widest_only:
            gap = self.widest
            return tuple((a, a + gap) for a in range(len(self.values) - gap))
        return secret.compared(self.values)

    @cached_property
    def lists_widest_only(self) -> bool:
        """Whether `pairs` are those of the largest difference only."""
        near_each = 0
        if self.secret.max_difference is not None and isinstance(self.keys, Steps):
            near_each = self.widest
        return near_each * len(self.keys) > MOST_PAIRS

    @cached_property
    def widest(self) -> int:
        """Return the most steps between two values within `max_difference`."""
        farthest, *_ = self.secret.max_difference or (Fraction(0),)
        steps: Fraction = farthest / (self.unit * (self.keys[1] - self.keys[0]))
        return min(math.floor(steps), len(self.values) - 1)

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.what} is {to_text(self.values[value])}"


@dataclass(frozen=True, eq=False)
class FunctionView(RecordView):
    """A function of columns over all records; `levels` are the columns' values of each row of the table."""

    secret: DatasetProperty
    function: Named
    levels: tuple[tuple[Hashable, ...], ...]

    def apply(self, levels: Sequence[tuple[Hashable, ...]]) -> Fraction:
        """Return the function of the records with these values of the columns."""
        columns = list(map(list, zip(*levels, strict=True)))
        try:
            result = self.function(*columns)
            return as_fraction(value_of(result), "its value")
        except Exception as fault:
            raise InputError(
                f"{self.secret.what} cannot be computed for some records that the belief allows "
                f"({type(fault).__name__}: {fault})",
                rule="the function returns a finite number for all of them",
            ).at("function") from fault

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        rows = zip(self.levels, self.whole.possible(0), strict=True)
        alive = sorted({level for level, can in rows if can}, key=repr)
        if len(alive) ** self.whole.size > MOST_COMBINATIONS:
            raise Unsupported(
                f"{self.secret.what} would have to be computed for {len(alive)}^{self.whole.size} combinations of "
                f"records, and is for at most {MOST_COMBINATIONS:,}",
                fix='use fewer records, or a mean, sum or share, which have closed forms',
            ).at("function")
        return tuple(sorted({self.apply(list(rows)) for rows in product(alive, repeat=self.whole.size)}))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        return self.secret.compared(self.values)

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.what} is {to_text(self.values[value])}"


@dataclass(frozen=True, eq=False)
class ColumnView(RecordView):
    """The value of a column in one record ("individual attribute privacy", Zhang22 §3)."""

    secret: EveryEntry
    column: int

    @cached_property
    def values(self) -> tuple[Hashable, ...]:
        return self.whole.table.alphabet(self.column)

    def possible(self, entry: int) -> tuple[bool, ...]:
        rows = zip(self.whole.table.rows, self.whole.possible(0), strict=True)
        alive = {row[self.column] for row, can in rows if can}
        return tuple(value in alive for value in self.values)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        if self.secret.max_difference is None:
            return None
        numbers = [column_number(value, self.secret.attribute) for value in self.values]
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        neighbours = near([numbers[i] for i in order], self.secret.max_difference)
        return tuple((order[a], order[b]) for a, b in neighbours)

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.attribute!r} of one record is {self.values[value]!r}"


@dataclass(frozen=True, eq=False)
class SetsView(RecordView):
    """Which of several sets a property is in; `inside` is the view of the property itself."""

    secret: DatasetProperty
    sets: tuple[ValueSet, ...]
    inside: SumView | FunctionView

    @property
    def values(self) -> Sequence[int]:
        return range(len(self.sets))

    @cached_property
    def members(self) -> tuple[range | tuple[int, ...], ...]:
        """The indices of the possible values of the property in each set."""
        return tuple(_members(value_set, self.inside.values) for value_set in self.sets)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return tuple(len(members) > 0 for members in self.members)

    @property
    def pairs(self) -> None:
        return None

    def describe_hypothesis(self, value: int) -> str:
        values = self.sets[value]
        if isinstance(values, Between | Intervals):
            is_in = f"is {values.describe()}"
        else:
            is_in = f"is in {described(values)}"
        return f"{self.secret.what} {is_in}"


def column_read(view: RecordView) -> int | None:
    """Return the number of the hidden column, None for whole records."""
    return view.column if isinstance(view, ColumnView) else None


def sum_read(view: RecordView) -> SumView | None:
    """Return a view's sum of scores, None for other functions."""
    whole_view = view.inside if isinstance(view, SetsView) else view
    return whole_view if isinstance(whole_view, SumView) else None


def members_read(view: RecordView) -> tuple[range | tuple[int, ...], ...] | None:
    """Return the value indices in each set, None without sets."""
    return view.members if isinstance(view, SetsView) else None


def column_number(value: object, column: Hashable) -> Fraction:
    """Return a column's value as a number, or raise InputError."""
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise InputError(
            f"the column {column!r} has the value {value!r}, which is no number",
            fix="hide the share of some values: function='share', of=...",
        ).at("attribute")
    return as_fraction(int(value) if isinstance(value, bool) else value, f"a value of {column!r}")


def _members(value_set: ValueSet, values: Sequence[Fraction]) -> range | tuple[int, ...]:
    """Return the indices of a set's values among ordered values."""
    if isinstance(value_set, Intervals):
        return tuple(sorted(chain.from_iterable(_members(part, values) for part in value_set.parts)))
    if not isinstance(value_set, Between):
        return tuple(values.index(value) for value in value_set if value in values)
    low = 0 if value_set.low is None else _first(values, value_set.low)
    high = len(values) if value_set.high is None else _first(values, value_set.high)
    return range(low, high)


def _first(values: Sequence[Fraction], bound: Fraction) -> int:
    """Return the index of the first increasing value not below a bound."""
    return bisect_left(values, bound)

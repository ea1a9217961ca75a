"""How secrets about columns read a belief over records: one entry, whose values are the hypotheses.

A *sum* of scores of the records (mean, sum, share, a weighted sum of means) in whole steps, or several of them
together; any *function* of the columns; the column of one record; and *sets* of the values of one of these.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, compress, product
from operator import itemgetter

from takifugu.core.errors import InputError
from takifugu.core.lists import value_of
from takifugu.core.rules import too_large
from takifugu.model.beliefs.records.possible_sums import MOST_LISTED, Steps, column_number, sums, sums_of_vectors
from takifugu.model.beliefs.records.records import Records
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, NamedFunction
from takifugu.model.secrets.value_sets import Between, Intervals, ValueSet, described, near, places_in
from takifugu.numbers.rationals import as_fraction, to_text

#: A function of the columns is computed for at most so many combinations of their values; pairs of values of a sum are
#: listed up to this number.
MOST_COMBINATIONS, MOST_PAIRS = 100_000, 2_000_000


@dataclass(frozen=True, eq=False)
class RecordView(View):
    """A belief about one entry, made of records for a secret."""

    whole: Records
    secret: Secret

    @property
    def hidden_column(self) -> int | None:
        """Return the number of the hidden column, None for whole records."""
        return None

    @property
    def hidden_sum(self) -> SumView | None:
        """Return the sum of scores that is hidden, None for other functions."""
        return None

    @property
    def members(self) -> tuple[range | tuple[int, ...], ...] | None:
        """Return the value indices in each set, None without sets."""
        return None


@dataclass(frozen=True, eq=False)
class NumberView(RecordView):
    """A number that the records at hand add up to, or that a function makes of them."""

    secret: DatasetProperty

    @property
    def values(self) -> Sequence[Fraction]:
        """Return the possible numbers, in order."""
        raise NotImplementedError

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        return self.secret.compared(self.values)

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.what} is {to_text(self.values[value])}"


@dataclass(frozen=True, eq=False)
class SumView(NumberView):
    """A sum over the records of whole scores, one for each row of the table.

    The property is `offset` + `unit` times the sum; the scores begin at 0 and have no common divisor. Where too many
    pairs differ by at most `max_difference` only the widest are listed: whatever bounds those by how far apart their
    values are bounds the others, too.
    """

    scores: tuple[int, ...]
    unit: Fraction
    offset: Fraction

    @property
    def hidden_sum(self) -> SumView:
        return self

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The scores of rows of positive probability, in order."""
        return tuple(sorted(set(compress(self.scores, self.whole.possible(0)))))

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
            return tuple(zip(range(len(self.values) - gap), range(gap, len(self.values)), strict=False))
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


@dataclass(frozen=True, eq=False)
class FunctionView(NumberView):
    """A function of columns over all records; `levels` are the columns' values of each row of the table."""

    function: NamedFunction
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
        alive = sorted(set(compress(self.levels, self.whole.possible(0))), key=repr)
        count = len(alive) ** self.whole.size
        if count > MOST_COMBINATIONS:
            fix = "use fewer records, or a mean, sum or share, which have closed forms"
            raise too_large(self.secret.what, count, MOST_COMBINATIONS, "combinations of records", fix).at("function")
        return tuple(sorted({self.apply(list(rows)) for rows in product(alive, repeat=self.whole.size)}))


@dataclass(frozen=True, eq=False)
class VectorView(RecordView):
    """Several sums over the records of whole scores: the scores of each row of the table, one for each sum.

    The property is `offsets` + `units` times the sums, place by place; the scores of a place begin at 0 and have no
    common divisor.
    """

    secret: DatasetProperty
    scores: tuple[tuple[int, ...], ...]
    units: tuple[Fraction, ...]
    offsets: tuple[Fraction, ...]

    @cached_property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        """The possible sums of scores, in order, one for each value."""
        alive = set(compress(self.scores, self.whole.possible(0)))
        if len(alive) == 1:
            (score,) = alive
            return (tuple(place * self.whole.size for place in score),)
        return tuple(sorted(sums_of_vectors(sorted(alive), self.whole.size)))

    @cached_property
    def values(self) -> tuple[tuple[Fraction, ...], ...]:
        """Return the possible vectors of the property, in order."""
        values = []
        for key in self.keys:
            values.append(tuple(o + u * k for o, u, k in zip(self.offsets, self.units, key, strict=True)))
        return tuple(values)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs within `max_difference` in every number; None for all."""
        if self.secret.max_difference is None:
            return None
        pairs = []
        for (a, left), (b, right) in combinations(enumerate(self.values), 2):
            if all(abs(x - y) <= d for x, y, d in zip(left, right, self.secret.max_difference, strict=True)):
                pairs.append((a, b))
        return tuple(pairs)

    def describe_hypothesis(self, value: int) -> str:
        return f"{self.secret.what} is ({', '.join(map(to_text, self.values[value]))})"


@dataclass(frozen=True, eq=False)
class ColumnView(RecordView):
    """The value of a column in one record ("individual attribute privacy", Zhang22 §3)."""

    secret: EveryEntry
    column: int

    @property
    def hidden_column(self) -> int:
        return self.column

    @cached_property
    def values(self) -> tuple[Hashable, ...]:
        return self.whole.table.alphabet(self.column)

    def possible(self, entry: int) -> tuple[bool, ...]:
        rows = compress(self.whole.table.rows, self.whole.possible(0))
        alive = set(map(itemgetter(self.column), rows))
        return tuple(value in alive for value in self.values)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        if self.secret.max_difference is None:
            return None
        numbers = [column_number(value, self.secret.attribute) for value in self.values]
        order = sorted(range(len(numbers)), key=numbers.__getitem__)
        neighbours = near(sorted(numbers), self.secret.max_difference)
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
    def hidden_sum(self) -> SumView | None:
        return self.inside.hidden_sum

    @property
    def values(self) -> Sequence[int]:
        return range(len(self.sets))

    @cached_property
    def members(self) -> tuple[range | tuple[int, ...], ...]:
        """The indices of the possible values of the property in each set."""
        return tuple(places_in(value_set, self.inside.values) for value_set in self.sets)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return tuple(map(bool, self.members))

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


def ends_of_sets(members: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, int], Iterator[tuple[int, int]]]]:
    """Yield each two sets with members, and the pairs of an end of each."""
    possible = [place for place, values in enumerate(members) if len(values)]
    for first, second in combinations(possible, 2):
        left, right = members[first], members[second]
        yield (first, second), product((left[0], left[-1]), (right[0], right[-1]))

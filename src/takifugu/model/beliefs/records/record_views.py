"""How secrets about columns read a belief over records: one entry, whose values are the hypotheses.

A view is of a property of the records, and of its values or of *sets* of them. A property is a *sum* of scores of the
records (mean, sum, share, a weighted sum of means) in whole steps, several *sums* together, any *function* of columns,
or the *column* of one record. Each has `levels`, what a row of the table shows of it, and says what an answer that
adds up over the records is distributed as, given its values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, compress, pairwise, product
from operator import itemgetter
from typing import Any, ClassVar

from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.core.rules import check_known, too_large
from takifugu.model.beliefs.records.possible_sums import (
    MOST_LISTED,
    Steps,
    column_number,
    in_steps,
    sums,
    sums_of_vectors,
)
from takifugu.model.beliefs.records.records import Records
from takifugu.model.secrets import Secret
from takifugu.model.secrets.families import View
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, NamedFunction
from takifugu.model.secrets.value_sets import Intervals, ValueSet, described, near_in_any_order, places_in
from takifugu.numbers.distributions.exact_ratio import log_concave
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import RecordLaw, given_count, given_function, given_sum, power
from takifugu.numbers.normal.matrices import times
from takifugu.numbers.rationals import as_fraction, to_text

#: A value of the property, an integer proportional to its probability, and the law of the answer given it.
Laws = dict[int, tuple[int, Pmf]]

#: A function of the columns is computed for at most so many combinations of their values; pairs of values of a sum are
#: listed up to this number.
MOST_COMBINATIONS, MOST_PAIRS = 100_000, 2_000_000


@dataclass(frozen=True, eq=False)
class Property:
    """What a view is of: sums over the records of whole scores, but where a type says otherwise."""

    whole: Records
    secret: Any
    levels: tuple[Any, ...]

    #: Whether it is about one record, which alone then tells of it.
    is_of_one_record = False

    @property
    def values(self) -> Sequence[Any]:
        """Return the possible values, in order."""
        raise NotImplementedError

    @property
    def possible(self) -> tuple[bool, ...]:
        return (True,) * len(self.values)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """Return the compared pairs of indices of values, None for all."""
        pairs: tuple[tuple[int, int], ...] | None = self.secret.compared(self.values)
        return pairs

    def describe(self, value: int) -> str:
        """Word the property's value, by its index."""
        return f"{self.secret.what} is {to_text(self.values[value])}"

    @property
    def keys(self) -> Sequence[Any]:
        """Return the possible sums of scores, in order, one for each value."""
        raise NotImplementedError

    def laws(self, law: RecordLaw[Any], values: Sequence[int]) -> Laws:
        """Return the exact laws of what the records add given some values, by their indices; `law` is of one record."""
        n = self.whole.size
        if len(law.levels) != 2:
            given_laws = given_sum(law, n)
            return {v: given_laws[self.keys[v]] for v in values}
        low, high = map(law.given, law.levels)
        w, u = law.weights
        laws = given_count(low, high, n, values)
        return {a: (math.comb(n, a) * u**a * w ** (n - a), laws[a]) for a in values}

    def products(self, law: RecordLaw[Any], places: float, digits: float) -> float:
        """Return how many products of integers the exact laws take, of so many places and digits of a mass."""
        n = self.whole.size
        if len(law.levels) == 2:
            return float((n + 1) * places**2 / 6 * (1 + digits / 2000))
        return float(n * sum(map(len, law.masses.values())) * len(self.keys) * places / 3)

    def unbounded(self, law: RecordLaw[Any], cost: str) -> str:
        """Return why single records prove no bound, else "", where exact laws take this cost."""
        return (
            f"the exact distributions of the answer given {self.secret.what} would take {cost}, and a bound from "
            "single records is proved for a property of two levels, or of evenly spaced ones with log-concave "
            "probabilities: hide a share, use coarser values or fewer records"
        )


@dataclass(frozen=True, eq=False)
class Sum(Property):
    """A sum over the records of whole scores, one for each row of the table."""

    secret: DatasetProperty
    levels: tuple[int, ...]
    #: The property is `offset` + `unit` times the sum; scores begin at 0 and have no common divisor.
    unit: Fraction
    offset: Fraction

    @cached_property
    def keys(self) -> Sequence[int]:
        n, levels = self.whole.size, sorted(set(compress(self.levels, self.whole.possible(0))))
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
        gap = 0
        if self.secret.max_difference is not None and isinstance(self.keys, Steps):
            steps = math.floor(self.secret.max_difference[0] / (self.unit * self.keys.step))
            gap = min(steps, len(self.values) - 1)
        # a bound by how far apart values are, of the widest pairs, is one of all the others, too
        if gap * len(self.keys) > MOST_PAIRS:  # those of the largest difference only
            return tuple(zip(range(len(self.values) - gap), range(gap, len(self.values)), strict=False))
        return self.secret.compared(self.values)

    def unbounded(self, law: RecordLaw[Any], cost: str) -> str:
        levels = law.levels
        if len(levels) == 2:
            return ""
        even = len({b - a for a, b in pairwise(levels)}) == 1
        if even and log_concave(Pmf.from_counts(list(levels), list(law.weights)), levels[1] - levels[0]):
            return ""
        return super().unbounded(law, cost)


@dataclass(frozen=True, eq=False)
class Function(Property):
    """A function of columns over all records; `different` are their values in the rows, and levels places in these."""

    levels: tuple[int, ...]
    function: NamedFunction
    different: tuple[tuple[Hashable, ...], ...]

    def apply(self, levels: Sequence[int]) -> Fraction:
        """Return the function of the records with these levels."""
        columns = list(map(list, zip(*[self.different[place] for place in levels], strict=True)))
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
        alive = sorted(set(compress(self.levels, self.whole.possible(0))))
        count = len(alive) ** self.whole.size
        if count > MOST_COMBINATIONS:
            fix = "use fewer records, or a mean, sum or share, which have closed forms"
            raise too_large(self.secret.what, count, MOST_COMBINATIONS, "combinations of records", fix).at("function")
        return tuple(sorted({self.apply(levels) for levels in product(alive, repeat=self.whole.size)}))

    def laws(self, law: RecordLaw[Any], values: Sequence[int]) -> Laws:
        laws = given_function(law, self.whole.size, self.apply)
        return {v: laws[self.values[v]] for v in values}

    def products(self, law: RecordLaw[Any], places: float, digits: float) -> float:
        return float(3 * len(law.levels) ** self.whole.size + places**2 * self.whole.size)

    def unbounded(self, law: RecordLaw[Any], cost: str) -> str:
        return (
            f"{self.secret.what} has too many values or records for exact distributions of the answer: "
            "use fewer records, or a mean, sum or share"
        )


@dataclass(frozen=True, eq=False)
class Sums(Property):
    """Several sums over the records of whole scores: the scores of each row of the table, one for each sum."""

    secret: DatasetProperty
    levels: tuple[tuple[int, ...], ...]
    #: The property is `offsets` + `units` times the sums; scores of a place begin at 0 and have no common divisor.
    units: tuple[Fraction, ...]
    offsets: tuple[Fraction, ...]

    @cached_property
    def keys(self) -> tuple[tuple[int, ...], ...]:
        alive = set(compress(self.levels, self.whole.possible(0)))
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

    def describe(self, value: int) -> str:
        return f"{self.secret.what} is ({', '.join(map(to_text, self.values[value]))})"


@dataclass(frozen=True, eq=False)
class Column(Property):
    """The value of a column in one record ("individual attribute privacy", Zhang22 §3)."""

    secret: EveryEntry
    levels: tuple[int, ...]
    column: int

    is_of_one_record = True

    @property
    def values(self) -> tuple[Hashable, ...]:
        return self.whole.table.alphabet(self.column)

    @cached_property
    def possible(self) -> tuple[bool, ...]:
        rows = compress(self.whole.table.rows, self.whole.possible(0))
        alive = set(map(itemgetter(self.column), rows))
        return tuple(value in alive for value in self.values)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        if self.secret.max_difference is None:
            return None
        numbers = [column_number(value, self.secret.attribute) for value in self.values]
        return near_in_any_order(numbers, self.secret.max_difference)

    def describe(self, value: int) -> str:
        return f"{self.secret.attribute!r} of one record is {self.values[value]!r}"

    def laws(self, law: RecordLaw[Any], values: Sequence[int]) -> Laws:
        law_of_others = power(law.whole, self.whole.size - 1)
        return {v: (1, law.given(v).convolve(law_of_others)) for v in values}

    def products(self, law: RecordLaw[Any], places: float, digits: float) -> float:
        return places**2 * (1 + digits / 2000) * len(law.levels) / 4

    def unbounded(self, law: RecordLaw[Any], cost: str) -> str:
        return ""


@dataclass(frozen=True, eq=False)
class RecordView(View):
    """A belief about one entry: a property of records, or which of several sets the property is in."""

    whole: Records
    secret: Secret
    shown: Sum | Function | Sums | Column
    sets: tuple[ValueSet, ...] | None = None

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.records:record_law",
        "the list of joint states": "audit.records:ViewStates",
    }

    @property
    def values(self) -> Sequence[Hashable]:
        return self.shown.values if self.sets is None else range(len(self.sets))

    @cached_property
    def members(self) -> tuple[range | tuple[int, ...], ...] | None:
        """The indices of the possible values of the property in each set, None without sets."""
        if self.sets is None or not isinstance(self.shown, Sum | Function):
            return None
        return tuple(places_in(value_set, self.shown.values) for value_set in self.sets)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self.shown.possible if self.members is None else tuple(map(bool, self.members))

    @property
    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        return self.shown.pairs if self.sets is None else None

    def describe_hypothesis(self, value: int) -> str:
        if self.sets is None:
            return self.shown.describe(value)
        assert isinstance(self.secret, DatasetProperty)  # which alone names sets
        values = self.sets[value]
        verb = "is" if isinstance(values, Intervals) else "is in"
        return f"{self.secret.what} {verb} {described(values)}"


def view_of(records: Records, secret: object) -> RecordView | None:
    """Return the view of records for a secret, None for whole records."""
    if not isinstance(secret, DatasetProperty):
        if isinstance(secret, EveryEntry) and secret.attribute is not None:
            column = records.column(str(secret.attribute))
            shown_of_rows = tuple(records.table.indices[:, column].tolist())
            return RecordView(records, secret, Column(records, secret, shown_of_rows, column))
        if isinstance(secret, DistributionParameter):
            raise InputError(
                f"records of one known distribution have no parameter of {secret.column!r} to hide",
                fix="hide a property of the records at hand, dataset_property(...), or believe in Parameters(...)",
            ).at("secrets")
        return None
    places = list(map(records.column, secret.columns))
    if secret.is_vector:
        return RecordView(records, secret, _sums(records, secret, places))
    shown: Sum | Function
    if isinstance(secret.function, NamedFunction):
        rows = [tuple(row[place] for place in places) for row in records.table.rows]
        different = dict(sorted({repr(row): row for row in rows}.items()))  # values may have no order of their own
        place_of = {value: place for place, value in enumerate(different)}
        levels = tuple(place_of[repr(row)] for row in rows)
        shown = Function(records, secret, levels, secret.function, tuple(different.values()))
    else:
        weights: tuple[Fraction, ...] = (Fraction(1),)
        if isinstance(secret.function, tuple):
            weights = secret.function
        weighed = times(list(zip(*_columns(records, secret, places), strict=True)), weights)
        shown = Sum(records, secret, *in_steps(weighed, records.size))
    return RecordView(records, secret, shown, secret.sets)


def _sums(records: Records, secret: DatasetProperty, places: Sequence[int]) -> Sums:
    columns = _columns(records, secret, places)
    for key, values in (("pairs", secret.pairs), ("sets", secret.sets)):
        if values is not None:
            what = f"the secret hides several numbers together, and its {key} are of one number"
            raise InputError(what, fix="give max_difference, or one secret per column").at(key)
    steps, units, offsets = zip(*(in_steps(column, records.size) for column in columns), strict=True)
    return Sums(records, secret, tuple(zip(*steps, strict=True)), units, offsets)


def _columns(records: Records, secret: DatasetProperty, places: Sequence[int]) -> list[list[Fraction]]:
    """Return the addend of each row of the table to each number."""
    share = Fraction(1) if secret.function == "sum" else Fraction(1, records.size)
    return [[share * score for score in _scores(records, secret, place)] for place in places]


def _scores(records: Records, secret: DatasetProperty, place: int) -> list[Fraction]:
    """Return each row's score, before division by the number of records."""
    name = records.columns[place]
    values = [row[place] for row in records.table.rows]
    if secret.of is None:
        if secret.function == "share":
            raise InputError(
                f"the share in {name!r} names no value", fix=f"write of={records.table.alphabet(place)[0]!r}"
            ).at("of")
        return [column_number(value, name) for value in values]
    alphabet = records.table.alphabet(place)
    check_known(secret.of, alphabet, f"the column {name!r} has no value", "of")
    return [Fraction(value in secret.of) for value in values]

"""All data sets of a few independent records, and which hypothesis about their columns each of them fulfils.

Nothing here uses how calibration reads a property: it is computed from the columns of every data set by its meaning.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from operator import itemgetter, mul

import numpy as np

from takifugu.analysis.questions.joint_states import (
    JointStates,
    States,
    all_states,
    integers,
    of_one_law,
    with_entry,
)
from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.model.beliefs.records.record_views import RecordView
from takifugu.model.beliefs.records.records import Records
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, NamedFunction
from takifugu.model.secrets.value_sets import Intervals, ValueSet


class RecordStates(JointStates[Records]):
    """Every choice of a row of positive mass for every record; of a class, by records that are members of it."""

    @property
    def is_class(self) -> bool:
        return self.belief.within is not None

    def stand_in(self, member: Records) -> Records:
        intervals, records = self.belief.within or (), self.belief
        is_member = member.table.rows == records.table.rows
        if is_member:
            for mass, (low, high) in zip(member.table.masses, intervals, strict=True):
                is_member = is_member and low <= Fraction(mass) / (member.table.total or 1) <= high
        if not is_member:
            raise InputError("the records are not in the class", rule="its probabilities lie within the intervals")
        return Records(member.table, records.size, member.source)

    def states(self) -> States:
        records = self.belief
        masses = integers(list(records.table.masses))
        alive = np.flatnonzero(masses > 0)
        places, weights = np.zeros((1, 0), dtype=np.int64), np.ones(1, dtype=object)
        for _ in range(records.size):
            places, weights = with_entry(places, weights, masses[alive])
        return of_one_law(alive[places], weights, records.size)


class ViewStates(JointStates[RecordView]):
    """A view's data sets, each with the number of its hypothesis."""

    def states(self) -> States:
        records = all_states(self.belief.whole)
        rows, marks = self.belief.whole.table.rows, []
        for numbers in records.values.tolist():
            marks.append(self.mark(list(map(rows.__getitem__, numbers))))
        return replace(records, values=np.column_stack((records.values, np.array(marks, dtype=np.int64))))

    def mark(self, rows: Sequence[tuple[Hashable, ...]]) -> int:
        """Return the number of the hypothesis that rows fulfil, -1 for none."""
        value, values, secret = self.value(rows), self.belief.values, self.belief.secret
        if self.belief.sets is not None:
            return number_of_set(value, self.belief.sets)
        if isinstance(secret, DatasetProperty) and value not in values:
            raise InputError(
                f"{secret.what} was never {value} when noise was found for it, and is now",
                rule="a function has one value for the same records", fix="let it read nothing else",
            ).at("function")  # fmt: skip
        return values.index(value)

    def value(self, rows: Sequence[tuple[Hashable, ...]]) -> Hashable:
        """Return what the secret is about: the first record's column (they are alike), a function, or sums."""
        secret = self.belief.secret
        if not isinstance(secret, DatasetProperty):
            assert isinstance(secret, EveryEntry)
            return self.column(rows, str(secret.attribute))[0]
        if isinstance(secret.function, NamedFunction):
            return Fraction(str(value_of(secret.function(*map(partial(self.column, rows), secret.columns)))))
        values_of = []
        for name in secret.columns:
            total = Fraction(0)
            for x in self.column(rows, name):
                if secret.of is not None:
                    total += x in secret.of
                elif isinstance(x, bool):
                    total += x
                else:
                    total += Fraction(str(x))
            if secret.function != "sum":
                total /= len(rows)
            values_of.append(total)
        if isinstance(secret.function, tuple):
            return sum(map(mul, secret.function, values_of), Fraction(0))
        return values_of[0] if len(values_of) == 1 else tuple(values_of)

    def column(self, rows: Sequence[tuple[Hashable, ...]], name: str) -> list[Hashable]:
        place = self.belief.whole.columns.index(name)
        return list(map(itemgetter(place), rows))


def number_of_set(value: Hashable, sets: Sequence[ValueSet]) -> int:
    """Return the number of the set that holds a value, -1 for none."""
    for number, members in enumerate(sets):
        if not isinstance(members, Intervals):
            is_inside = value in members
        else:  # intervals hold numbers only
            is_inside = isinstance(value, Fraction) and members.holds(value)
        if is_inside:
            return number
    return -1

"""From a secret about columns to the view of records that it is read by."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.core.rules import check_known
from takifugu.model.beliefs.records.possible_sums import column_number, in_steps
from takifugu.model.beliefs.records.record_views import Column, Function, RecordView, Sum, Sums
from takifugu.model.beliefs.records.records import Records
from takifugu.model.secrets.of_entries import EveryEntry
from takifugu.model.secrets.properties import DatasetProperty, DistributionParameter, NamedFunction
from takifugu.numbers.normal.matrices import times


def view_of(records: Records, secret: object) -> RecordView | None:
    """Return the view of records for a secret, None for whole records.

    Raises InputError for an unknown column, values that are not numbers where they are added, and a parameter of the
    population, as records of one known distribution have none.
    """
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
    columns = []
    for place in places:
        columns.append([share * score for score in _scores(records, secret, place)])
    return columns


def _scores(records: Records, secret: DatasetProperty, place: int) -> list[Fraction]:
    """Return each row's score, before division by the number of records."""
    name = secret.columns[secret.columns.index(records.columns[place])]
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

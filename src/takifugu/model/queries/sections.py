"""The keys that tables of several queries have in a release file, and how the values that they name become a belief's.

A query's section stands beside it: a frozen dataclass with the name in the file, `query: Literal["..."]`, the keys that
only this query has, and `query_about(belief, folder)`, which makes the query. `blamed` is the key that an error
is about which does not say; `registry.SECTIONS` has them all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Annotated, Protocol, runtime_checkable

from annotated_types import MinLen

from takifugu.core.entries import Entries, columns_of, positions
from takifugu.core.errors import within
from takifugu.core.rules import check_known, check_written_apart
from takifugu.core.sections import Key, Number, Positive, State, Text
from takifugu.model.queries.coding import alphabets
from takifugu.numbers.rationals import as_fraction

#: The shapes of data: rows in order, rows of people or cases, whole columns, rows that are each randomised, and people
#: under a policy. A section says which of them its tables can be about.
IN_ORDER, RECORDS, WHOLE_COLUMNS, EACH_ROW, POLICY = "sequences", "records", "columns", "each-row", "policy"
#: What most queries are about: values of entries, in order or not.
ENTRIES = (IN_ORDER, RECORDS)

Counted = Annotated[tuple[State, ...], MinLen(1), Key("the values that are counted", ["walking"])]
States = Annotated[tuple[State, ...] | None, Key("the values that have cells; default: all", ["walking"])]
Listed = Annotated[
    tuple[State, ...] | None, Key("the values to choose among; without codes from the lowest", ["low", "high"])
]
Codes = Annotated[dict[str, Number] | None, Key("the number that each value stands for", {"still": 0, "walking": 1})]
Grid = Annotated[Number | None, Key("the step that the answer is rounded to", "0.01")]
Total = Annotated[Positive | None, Key("a public constant that the counts are divided by", 100)]
Adjust = Annotated[bool | None, Key("publish consistent values that are not negative beside the noisy ones, too", True)]
Variables = Annotated[
    Annotated[tuple[Text, ...], MinLen(1)] | None,
    Key("the columns that are read; default: all", ["education"], (RECORDS,)),
]
Attribute = Annotated[Text | None, Key("the one column that is read", "education", (RECORDS,))]
#: A column, or a list of columns, of records that are hidden as a whole.
Columns = Text | Annotated[tuple[Text, ...], MinLen(1)]


@dataclass(frozen=True, kw_only=True)
class Meant:
    """The values and entries that a table names, as the belief has them."""

    codes: dict[Hashable, Fraction] | None
    states: tuple[Hashable, ...] | None
    entries: tuple[str, ...] | None


def meant(
    belief: Entries,
    codes: Mapping[str, Number] | None = None,
    states: Sequence[State] | None = None,
    variables: tuple[str, ...] | None = None,
    attribute: str | None = None,
) -> Meant:
    """Return a table's entries and values as the belief's own."""
    read = alphabets(belief)
    if variables is not None:
        read = list(map(belief.alphabet, positions(belief, variables, key="variables")))
    if attribute is not None:
        with within("attribute"):
            read = [belief.alphabet(belief.position(attribute))]
    value_of_text = {str(value): value for value in chain.from_iterable(read)}
    return Meant(
        codes=coded(codes, value_of_text),
        states=None if states is None else known_values(states, value_of_text, "states"),
        entries=variables,
    )


def coded(codes: Mapping[str, Number] | None, value_of_text: Mapping[str, Hashable]) -> dict[Hashable, Fraction] | None:
    """Return the exact number of each value."""
    if codes is None:
        return None
    exact = {state: as_fraction(code, f"the code of {state!r}", "codes", state) for state, code in codes.items()}
    return {known_value(state, value_of_text, "codes"): code for state, code in exact.items()}


def known_values(texts: Iterable[object], value_of_text: Mapping[str, Hashable], *key: str) -> tuple[Hashable, ...]:
    """Return the belief's values for texts, each as `known_value` does."""
    return tuple(known_value(text, value_of_text, *key) for text in texts)


def known_value(text: object, value_of_text: Mapping[str, Hashable], *key: str) -> Hashable:
    """Return the belief's value for a text, or raise InputError."""
    check_known([str(text)], value_of_text, "the belief has no value", *key)
    return value_of_text[str(text)]


def spelled(values: Iterable[Hashable]) -> dict[str, Hashable]:
    """Return values by their texts, as files have them."""
    all_values = list(values)
    check_written_apart(all_values, "the belief has the values")
    return {str(value): value for value in all_values}


@runtime_checkable
class OfRecords(Protocol):
    """A belief over records whose columns have finitely many values."""

    @property
    def record(self) -> Entries: ...


def values_by_column(belief: object) -> dict[str, dict[str, Hashable]]:
    """Return the values of each column of records, by their texts."""
    if not isinstance(belief, OfRecords):
        return {}
    record = belief.record
    return {str(name): spelled(record.alphabet(column)) for column, name in enumerate(record.names or ())}


def values_of(
    column: str, names: Hashable, values_of_columns: Mapping[str, Mapping[str, Hashable]], *key: str
) -> tuple[Hashable, ...]:
    """Return a column's names as the belief's values, if listed."""
    several_names = names if isinstance(names, tuple) else (names,)
    if column not in values_of_columns:
        return several_names
    return known_values(several_names, values_of_columns[column], *key)


def check_columns(names: Iterable[str], belief: object, key: str) -> None:
    """Raise InputError for an unknown column of the records."""
    check_known(names, columns_of(belief), "the records have no column", key)

"""Lists: a text is none of its letters, a table none of its columns, and a set has no order; and parts of lists."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, TypeVar, overload

from takifugu.core.errors import InputError

Key = TypeVar("Key")
Value = TypeVar("Value")


class Frame(Protocol):
    """A frame of any library: its columns, by name."""

    @property
    def columns(self) -> Iterable[str]: ...

    def __getitem__(self, name: str) -> object: ...


def is_table(data: object) -> TypeGuard[Frame]:
    """Return whether data have named columns, as frames of all libraries. Iterating them gives their names."""
    return hasattr(type(data), "columns") or hasattr(type(data), "column_names")


def no_list(values: object) -> str | None:
    """Return the word for data other than lists; None for a list.

    >>> no_list("still"), no_list({"still", "walking"}), no_list(["still"])
    ('a text', 'a set, which has no order', None)
    """
    if isinstance(values, str | bytes):
        return "a text"
    if isinstance(values, set | frozenset):
        return "a set, which has no order"
    if isinstance(values, Mapping):
        return "a mapping"
    if is_table(values):
        return "a table"
    if isinstance(value_of(values), Iterable):
        return None
    return f"a value of type {type(values).__name__}"


def values_of(column: Any) -> list[Hashable]:
    """Return the values of a list, array or column of any library.

    Values are Python's own where possible.

    >>> values_of(range(3))
    [0, 1, 2]
    """
    for convert in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, convert):
            values = getattr(column, convert)()
            if isinstance(values, list):
                return values
            return [values]
    return list(column)


def has_columns(data: object) -> TypeGuard[Mapping[str, object] | Frame]:
    """Return whether data are columns by name: a mapping, or a frame."""
    return isinstance(data, Mapping) or hasattr(data, "columns")


def listed_array(data: object) -> object:
    """Return an array or a pandas column as a list, others unchanged."""
    return data.tolist() if hasattr(data, "tolist") else data


def iterated(column: Any) -> list[Any]:
    """Return a list's or column's values in their types, Arrow's in Python's."""
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def value_of(value: Value) -> Value:
    """Return a scalar of any library as Python's number or text, others unchanged."""
    if hasattr(value, "ndim") and value.ndim == 0:
        plain: Value = value.item()  # type: ignore[attr-defined]
        return plain
    return value


def places_of(values: Iterable[Value]) -> dict[Value, int]:
    """Return each value's place; of equal values the last one's.

    >>> places_of(["still", "walking"])
    {'still': 0, 'walking': 1}
    """
    return {value: place for place, value in enumerate(values)}


@overload
def take(values: Mapping[Key, Value], places: Iterable[Key]) -> list[Value]: ...
@overload
def take(values: Sequence[Value], places: Iterable[int]) -> list[Value]: ...
def take(values: Any, places: Iterable[Any]) -> list[Any]:
    """Return the values at places of a list, or under keys of a mapping.

    >>> take("abc", [2, 0]), take({"still": 5}, ["still"])
    (['c', 'a'], [5])
    """
    return [values[place] for place in places]


def without(values: Iterable[Value], others: Container[object]) -> list[Value]:
    """Return the values outside a collection, in their order.

    >>> without([3, 1, 2], {1})
    [3, 2]
    """
    return [value for value in values if value not in others]


def among(values: Iterable[Value], others: Container[object]) -> list[Value]:
    """Return the values in a collection, in their order.

    >>> among([3, 1, 2], {1, 2})
    [1, 2]
    """
    return [value for value in values if value in others]


def present(values: Iterable[Value | None]) -> list[Value]:
    """Return the values without None.

    >>> present([0, None, ""])
    [0, '']
    """
    return [value for value in values if value is not None]


def with_keys(mapping: Mapping[Key, Value], keys: Iterable[Key]) -> dict[Key, Value]:
    """Return the part of a mapping under some of its keys.

    >>> with_keys({"a": 1, "b": 2}, ["b"])
    {'b': 2}
    """
    return {key: mapping[key] for key in keys}


def without_keys(mapping: Mapping[Key, Value], keys: Container[object]) -> dict[Key, Value]:
    """Return a mapping without some keys.

    >>> without_keys({"a": 1, "b": 2}, ["b"])
    {'a': 1}
    """
    return {key: value for key, value in mapping.items() if key not in keys}


def transposed(rows: Iterable[Sequence[Any]], columns: int) -> list[list[Any]]:
    """Return the columns of rows; there may be no row.

    >>> transposed([(1, "a"), (2, "b")], 2), transposed([], 2)
    ([[1, 2], ['a', 'b']], [[], []])
    """
    table: list[list[Any]] = [[] for _ in range(columns)]
    for row in rows:
        for column, value in zip(table, row, strict=True):
            column.append(value)
    return table


def list_of(values: Iterable[Value], what: str, key: str, example: str, any_order: bool = False) -> list[Value]:
    """Return the values of a list, or of a set in `any_order`.

    Raises InputError at `key` for anything else. The message begins with `what` ("the names"), and shows an example.
    """
    if any_order and isinstance(values, set | frozenset):
        return list(values)
    odd = no_list(values)
    if odd is not None:
        raise InputError(f"{what}: this is {odd}", fix=f"give a list, such as {example}").at(key)
    return list(values)


def members_of(values: Iterable[Value], what: str, key: str, example: str) -> list[Value]:
    """Return the members of whatever has any: a text's letters, a mapping's keys.

    Raises InputError as `list_of`, which takes lists only.
    """
    if isinstance(values, str | bytes | set | frozenset | Mapping):
        return list(values)
    return list_of(values, what, key, example)


def pairs_of(values: Any, what: str, key: str, example: str) -> list[tuple[Any, Any]]:
    """Return the items of a mapping, or the pairs of a list.

    >>> pairs_of([1], "the pairs", "pairs", "[(0, 1)]")
    Traceback (most recent call last):
    takifugu.core.errors.InputError: the pairs: 1 is no pair: give a list, such as [(0, 1)]
    """
    if isinstance(values, Mapping):
        return list(values.items())
    pairs = []
    for value in list_of(values, what, key, example, any_order=True):
        pair = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
        if len(pair) != 2:
            raise InputError(f"{what}: {value!r} is no pair", fix=f"give a list, such as {example}").at(key)
        pairs.append(pair)
    return pairs

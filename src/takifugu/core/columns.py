"""Columns, frames and scalars of any library: which they are, and their values as Python's own.

A text is none of its letters, a table none of its columns, and a set has no order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, TypeVar

Value = TypeVar("Value")


class Frame(Protocol):
    """A frame of any library: its columns, by name."""

    @property
    def columns(self) -> Iterable[str]: ...

    def __getitem__(self, name: str) -> object: ...


def is_table(data: object) -> TypeGuard[Frame]:
    """Return whether data have named columns, as frames of all libraries. Iterating them gives their names."""
    return hasattr(type(data), "columns") or hasattr(type(data), "column_names")


def has_columns(data: object) -> TypeGuard[Mapping[str, object] | Frame]:
    """Return whether data are columns by name: a mapping, or a frame."""
    return isinstance(data, Mapping) or is_table(data)


def no_list(values: object) -> str | None:
    """Return the word for data other than lists; None for a list."""
    if isinstance(values, str | bytes):
        return "a text"
    if isinstance(values, set | frozenset):
        return "a set, which has no order"
    if isinstance(values, Mapping):
        return "a mapping"
    if is_table(values):
        return "a table"
    if has_members(values):
        return None
    return f"a value of type {type(values).__name__}"


def has_members(values: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a value has members; NumPy's array of one number has none."""
    return isinstance(value_of(values), Iterable)


def values_of(column: Any) -> list[Any]:
    """Return the values of a list, array or column of any library, Python's own where possible."""
    for convert in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, convert):
            values = getattr(column, convert)()
            if isinstance(values, list):
                return values
            return [values]
    return list(column)


def value_of(value: Value) -> Value:
    """Return a scalar of any library as Python's number or text, others unchanged."""
    if hasattr(value, "ndim") and value.ndim == 0:
        plain: Value = value.item()  # type: ignore[attr-defined]
        return plain
    return value


def transposed(rows: Iterable[Sequence[Any]], columns: int) -> list[list[Any]]:
    """Return the columns of rows; there may be no row."""
    return [*map(list, zip(*rows, strict=True))] or [[] for _ in range(columns)]

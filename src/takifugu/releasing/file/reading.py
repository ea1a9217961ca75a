"""Rows of records as texts and as values of a belief: private, read once; no message repeats a value of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from takifugu.core.errors import DataError
from takifugu.data import Table, meant, refuse_lookalikes, text_of

Texts = tuple[str | None, ...]

#: What helps where a value is missing that the belief would have to know.
FILL_THEM = 'fill them with a text such as "unknown", and declare it as a value under [belief]; or leave these rows out'


def texts(table: Table, columns: Sequence[str]) -> list[Texts]:
    """Return some columns as rows of texts, in the order of the file; None is a missing value."""
    texts_of_rows = [tuple(_present(value, table) for value in row) for row in _rows(table, columns)]
    nothing = (None,) * len(columns)
    return (
        texts(table.filled, columns)
        if table.without_blank_rows is not None and nothing in texts_of_rows
        else texts_of_rows
    )


def _rows(table: Table, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    roles = {f"c{i}": column for i, column in enumerate(columns)}
    if table.in_python:
        return zip(*table.lists(roles).values(), strict=True)
    from takifugu.data.engines.differences import careful, collected

    with careful(table.source):
        return iter(list(collected(table.pick(roles))))


def _present(value: Any, table: Table) -> str | None:
    text = text_of(value)
    return None if text is None or text in table.missing else text


def value_of(text: str | None, column: str, values: Mapping[str, Any], table: Table) -> Any:
    """Return the belief's value that a cell of a column of a table spells."""
    if text is None:
        raise wrong("file", f"column {column!r} has missing values", fix=FILL_THEM)
    if text not in values:
        no_lookalikes(table, column, values)
        listed = list(values) if len(values) <= 20 else [*list(values)[:20], "..."]
        what = f"column {column!r} has a value that the belief does not know"
        raise wrong("file", what, fix=f"its values are {listed}")
    return values[text]


def no_lookalikes(table: Table, column: str, declared: Iterable[Any], key: str = "file") -> None:
    """Raise DataError, at a key of [source], for a text of a column that looks like a declared value and is none."""
    if column not in table.names:
        return  # made of several columns
    try:
        refuse_lookalikes(table, column, declared, key)
    except DataError as error:
        error.where = ("source", key)
        raise error.placed() from None


def called(
    key: str, column: str, what: str, written: Sequence[str | None], may_drop: bool = False
) -> dict[str, str]:
    """Return the canonical name of everybody who is named in the column of a key of [source].

    `may_drop` says that [source] has the key null_keys.
    """
    if None in written:
        fix = "fill them, or leave these rows out" + (', or write null_keys = "drop"' if may_drop else "")
        raise wrong(key, f"column {column!r} has missing values", rule=f"every row must name its {what}", fix=fix)
    try:
        return meant([(str(name), row) for row, name in enumerate(written)], column, what)
    except DataError as error:
        error.where = ("source", key)
        raise error.placed() from None


def wrong(key: str, what: str, rule: str = "", fix: str = "") -> DataError:
    """Return an error about the data at a key of [source]."""
    return DataError(what, rule=rule, fix=fix).at("source", key).placed()

"""Columns of a frame as rows of texts, read once, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from takifugu.frames import Table, text_of

Texts = tuple[str | None, ...]


def texts(table: Table, columns: Sequence[str]) -> list[Texts]:
    """Return some columns as rows of texts, in the order of the file; None is a missing value."""
    return [tuple(_present(value, table) for value in row) for row in _rows(table, columns)]


def _rows(table: Table, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    roles = {f"c{i}": column for i, column in enumerate(columns)}
    if table.in_python:
        return zip(*table.lists(roles).values(), strict=True)
    from takifugu.frames.engines import careful, collected

    with careful(table.source):
        return iter(list(collected(table.pick(roles))))


def _present(value: Any, table: Table) -> str | None:
    text = text_of(value)
    return None if text is None or text in table.missing else text

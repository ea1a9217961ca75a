"""Rows as numbers of values: private ones, and those of a reference file; read once, in the order of the table.

No message repeats a value, a name, or a count of the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.core.errors import DataError
from takifugu.data import Numerals, Table, text_of
from takifugu.data.lookalikes import Lookalikes, lookalike
from takifugu.data.values.texts import NOT_FINITE, NUMBER, not_numbers
from takifugu.releasing.file.reading import FILL_THEM

Codes = npt.NDArray[np.int32]
#: Returns the number of each row's value, from the columns of the value.
Coded = Callable[[Sequence[Sequence[Any]], Table], Codes]


def columns_of(table: Table, names: Sequence[str]) -> list[list[Any]]:
    """Return some columns of a table, value by value in the order of its rows."""
    roles = {f"c{number}": name for number, name in enumerate(names)}
    if table.in_python:
        return [list(values) for values in table.lists(roles).values()]
    from takifugu.data.engines.differences import careful, collected

    with careful(table.source):
        rows = list(collected(table.pick(roles)))
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in names]


def texts_in(values: Iterable[Any], table: Table) -> list[str | None]:
    """Return values as texts; None where one is missing. Equal values are read once."""
    known: dict[Any, str | None] = {}
    texts = []
    for value in values:
        key = (value.__class__, value)
        try:
            text = known[key]
        except KeyError:
            text = text_of(value)
            text = known[key] = None if text is None or text in table.missing else text
        texts.append(text)
    return texts


def numbers_in(values: Sequence[Any], column: str, table: Table) -> npt.NDArray[np.float64]:
    """Return a column of numbers, NaN where one is missing; DataError for texts that are none."""
    if all(value.__class__ in (float, int) for value in values):
        return np.array(values, dtype=np.float64)
    return np.array([_number(text, column, table.numerals) for text in texts_in(values, table)], dtype=np.float64)


def coded(texts: Sequence[str | None], places: dict[str, int], column: str) -> Codes:
    """Return the number of each text; DataError for a missing value and for one that is not declared."""
    try:
        return np.array([places[text] for text in texts], dtype=np.int32)  # type: ignore[index]
    except KeyError:
        if None in texts:
            raise DataError(
                f"column {column!r} has missing values", fix=FILL_THEM
            ).at("value") from None
        like = Lookalikes(places)
        for row, text in enumerate(texts):
            if text is not None and (known := like(text)) is not None:
                raise lookalike(column, row, known, "value") from None
        listed = list(places) if len(places) <= 20 else [*list(places)[:20], "..."]
        raise DataError(
            f"column {column!r} has a value that is not declared", fix=f"the values are {listed}"
        ).at("value") from None


def most_rows(names: Sequence[str]) -> int:
    """Return how many rows the person with the most rows has."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return max(counts.values(), default=0)


def _number(text: str | None, column: str, numerals: Numerals) -> float:
    text = None if text is None else numerals.plain(text)
    if text is None or re.match(NOT_FINITE, text):
        return math.nan
    if not re.match(NUMBER, text):
        raise not_numbers(column).at("coordinates")
    return float(text)

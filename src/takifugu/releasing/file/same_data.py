"""Whether a file that a belief is read from holds the private data: the same file, or the same integers in it.

What is compared is what was read, whatever its name: a copy, a link, a compressed file, Parquet and a frame are all the
same. The answer depends on the private data, so only the operator, who holds both, is told, before anything is drawn.
A part of the data, or recoded data, is not recognised (docs/known-weaknesses.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import TakifuguError
from takifugu.data import UNOBSERVED, Layout, Recode, Table, tally, totals, transitions

T = TypeVar("T")

IS_PRIVATE = "is the private data itself, so the belief would reveal it"
GIVE_PUBLIC = "give a public file, which reveals nothing about these data"
FIT_ELSEWHERE = (
    "fit on a public file, or write private = true and accept that the promise does not cover what the belief reveals"
)
COUNT_ELSEWHERE = (
    "count in a file of other people, or write from_private_data = true and accept that the promise does not cover it"
)


def is_one_of(path: Path, private: Iterable[Path]) -> bool:
    """Return whether a path or link leads to one of these files."""
    for other in private:
        try:
            is_same = os.path.samefile(path, other)
        except OSError:  # one of them is not there
            is_same = path.resolve() == other.resolve()
        if is_same:
            return True
    return False


def same_transitions(counts: IntArray, private: Table, layouts: Sequence[Layout], states: Recode) -> bool:
    """Return whether the private data have these counts under any layout."""
    if not counts.any():
        return False
    counts_of_layouts = (_read(partial(transitions, private, layout, states)) for layout in layouts)
    return any(other is not None and np.array_equal(counts, other) for other in counts_of_layouts)


def same_rows(public: Table, private: Table, columns: Sequence[str]) -> bool:
    """Return whether both tables hold the same rows in any order.

    Private rows are counted in place by the public texts; the rest is counted together.
    """
    columns = list(dict.fromkeys(columns))
    public_rows = _read(partial(_rows, public, columns))
    if public_rows is None:
        return False
    codes = list[dict[str, int]]()
    for place in range(len(columns)):
        texts = {key[place] for key in public_rows} - {None}
        codes.append({str(text): code for code, text in enumerate(texts)})
    coded = dict[tuple[int, ...], int]()
    for key, rows in public_rows.items():
        row = list[int]()
        for text, code_of in zip(key, codes, strict=True):
            row.append(UNOBSERVED if text is None else code_of[text])
        coded[tuple(row)] = rows
    tallied = _read(partial(tally, private, dict(zip(columns, codes, strict=True))))
    if tallied is None:  # a column of dates
        return public_rows == _read(partial(_rows, private, columns))
    return tallied == coded


def _rows(table: Table, columns: Sequence[str]) -> dict[tuple[str | None, ...], int]:
    return {group.key: group.rows for group in totals(table, [], by=columns, null_keys="keep")}


def _read(reduce: Callable[[], T]) -> T | None:
    """Return the reduced data, or None for refused ones, reported elsewhere."""
    try:
        return reduce()
    except TakifuguError:
        return None

"""Private records as row numbers of a belief's table: from rows, from columns, or from a frame or a file.

The order of records means nothing, so a frame is only counted, in one scan. Messages name a column, and never a value,
a row or a count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.columns import values_of
from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.core.nearest import spelt_alike
from takifugu.data.relation.opening import WRITTEN, open_table
from takifugu.data.sql.words import identifier
from takifugu.model.beliefs.records.records import Records


def of_records(belief: Records, data: object) -> IntArray:
    """Return the row number of every record of rows, columns or a frame; DataError for data of another belief."""
    if isinstance(data, np.ndarray):
        data = data.tolist()
    if isinstance(data, Mapping):
        rows = _of_columns(belief, data)
    elif isinstance(data, list | tuple):
        rows = [_ordered(belief, row) for row in data]
    else:
        return _of_frame(belief, data)
    _check_count(belief, len(rows))
    place = {row: place for place, row in enumerate(belief.table.rows)}
    numbers, unknown = list[int](), list[tuple[Hashable, ...]]()
    for row in rows:
        try:
            numbers.append(place[row])
        except (KeyError, TypeError):  # a row with a value that has no hash is none of the table's
            unknown.append(row)
    for i, name in enumerate(belief.columns):
        if any(row[i] not in belief.table.alphabet(i) for row in unknown):  # a tuple, for values without a hash, too
            raise _refused(name)
    if unknown:
        raise _combination()
    return np.array(numbers, dtype=np.int64)


def _of_columns(belief: Records, data: Mapping[str, object]) -> list[tuple[Hashable, ...]]:
    missing = [column for column in belief.columns if column not in data]
    if missing:
        raise DataError(f"the data has no column {missing[0]!r}", fix=f"its columns must be {list(belief.columns)}")
    columns = list[list[Hashable]]()
    for name in belief.columns:
        column = data[name]
        if isinstance(column, str) or not isinstance(column, Iterable):
            raise DataError("a column of the data is not a sequence", fix="give a list, an array or a column")
        columns.append(values_of(column))
    if len(set(map(len, columns))) > 1:
        raise DataError("the columns of the data have different lengths", rule="every record has a value in each")
    return list(zip(*columns, strict=True))


def _ordered(belief: Records, row: object) -> tuple[Hashable, ...]:
    """Return a row, or a mapping of one, in column order."""
    if isinstance(row, Mapping) and set(row) >= set(belief.columns):
        return tuple(row[column] for column in belief.columns)
    if isinstance(row, Mapping | str) or not isinstance(row, Sequence) or len(row) != len(belief.columns):
        raise DataError(f"every record needs one value for each of the columns {list(belief.columns)}")
    return tuple(row)


def _of_frame(belief: Records, data: object) -> IntArray:
    tallies = _tallied(belief, data)
    _check_count(belief, sum(tallies.values()))
    place = {tuple(codes): number for number, codes in enumerate(belief.table.indices.tolist())}
    rows, counts = [], []
    for codes, count in tallies.items():
        odd = [name for name, code in zip(belief.columns, codes, strict=True) if code < 0]
        if odd:
            raise _refused(odd[0])
        if codes not in place:
            raise _combination()
        rows.append(place[codes])
        counts.append(count)
    return np.sort(np.repeat(np.array(rows, dtype=np.int64), counts))


def _tallied(belief: Records, data: object) -> dict[tuple[int, ...], int]:
    """Return how many records have each combination of codes of the belief's values, -1 for what is none of them."""
    given = str(data) if isinstance(data, PathLike) else data
    listed = ", ".join(f"{identifier(name)}::varchar" for name in belief.columns)
    with private_folder() as folder:
        relation = open_table(given, belief.columns, Path.cwd(), folder, "data")
        try:
            for name in [column for column in belief.columns if column not in relation.types]:
                what = f"the data has no column {name!r}{spelt_alike(name, relation.types)}"
                raise DataError(what, fix="call a column so")
            texts = relation.rows(f"select {listed}, count(*) from {identifier(WRITTEN)} group by all order by all")
            relation.check_unchanged()
        finally:
            relation.close()
    have_points = [relation.types[name].startswith(("FLOAT", "DOUBLE", "DECIMAL")) for name in belief.columns]
    alphabets = [_codes(belief.table.alphabet(i)) for i in range(len(belief.columns))]
    tallies = dict[tuple[int, ...], int]()
    for *row, count in texts:
        codes = tuple(
            code_of.get(_text(float(text)) if has_point and text is not None else text, -1)
            for text, has_point, code_of in zip(row, have_points, alphabets, strict=True)
        )
        tallies[codes] = tallies.get(codes, 0) + count
    return tallies


def _codes(values: Sequence[Hashable]) -> dict[str | None, int]:
    """Return the code of each value by its text in a table."""
    codes: dict[str | None, int] = {_text(value): code for code, value in enumerate(values)}
    return {**{text.lower(): code for text, code in codes.items() if text in ("True", "False")}, **codes}


def _text(value: Hashable) -> str:
    """Return a value as tables hold it: 1.0 as 1."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _check_count(belief: Records, count: int) -> None:
    if count != belief.size:
        raise DataError(
            f"the belief is about {belief.size:,} records, and the data has another number of them",
            rule="the number of records is public, and the noise is right for that number only",
            fix="calibrate for the number of records that there are",
        )


def _refused(column: str) -> DataError:
    return DataError(
        f"the column {column!r} has a value that is missing, or that the belief does not know",
        fix="add it to the table's rows, or prepare the data",
    )


def _combination() -> DataError:
    return DataError(
        "a record has a combination of values that the belief does not list",
        fix="add it to the table's rows, with probability 0 where it never occurs",
    )

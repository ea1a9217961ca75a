"""Private records as row numbers of a belief's table: from rows, from columns, or from a frame.

The order of records means nothing, so a frame is only counted, in one scan. Messages name a column, and never a value,
a row or a count.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError
from takifugu.core.lists import places_of, take, values_of, without
from takifugu.data.relation.faults import RowFault
from takifugu.data.relation.source import read_source
from takifugu.model.beliefs.records.records import Records


def of_records(belief: Records, data: object) -> IntArray:
    """Return the row number of every record.

    `data` are rows, a mapping of columns, or a frame with named columns. Raises DataError for another number of records
    than the belief's, a missing or unknown value, and a combination of values that the table does not list.

    >>> from takifugu import JointTable, Records
    >>> people = Records(JointTable([("a", 0), ("b", 1)], [0.5, 0.5], names=["group", "ill"]), 3)
    >>> of_records(people, {"ill": [0, 1, 0], "group": ["a", "b", "a"]}).tolist()
    [0, 1, 0]
    """
    if isinstance(data, np.ndarray):
        data = data.tolist()
    if isinstance(data, Mapping):
        rows = _of_columns(belief, data)
    elif isinstance(data, list | tuple):
        rows = [_ordered(belief, row) for row in data]
    else:
        return _of_frame(belief, data)
    _check_count(belief, len(rows))
    place = places_of(belief.table.rows)
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
    missing = without(belief.columns, data)
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
        return tuple(take(row, belief.columns))
    if isinstance(row, Mapping | str) or not isinstance(row, Sequence) or len(row) != len(belief.columns):
        raise DataError(f"every record needs one value for each of the columns {list(belief.columns)}")
    return tuple(row)


def _of_frame(belief: Records, data: object) -> IntArray:
    known = [[*map(_written, belief.table.alphabet(i))] for i in range(len(belief.columns))]
    try:
        with read_source({"rows": "answers", "value": [*belief.columns]}, frame=data) as table:
            groups = table.answers(known)
    except RowFault as fault:
        raise _refused(fault.words["column"]) from None
    _check_count(belief, int(groups.rows.sum()))
    place = {tuple(codes): number for number, codes in enumerate(belief.table.indices.tolist())}
    numbers = list[int]()
    for codes in groups.codes.tolist():
        if tuple(codes) not in place:
            raise _combination()
        numbers.append(place[tuple(codes)])
    return np.sort(np.repeat(np.array(numbers, dtype=np.int64), groups.rows))


def _written(value: Hashable) -> str:
    """Return a value as the text that DuckDB makes of it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


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

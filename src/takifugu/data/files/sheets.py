"""Frames and tables of SQLite as Arrow tables; a cell becomes a text, so that one odd cell changes no type."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from takifugu.data.sql.faults import wrong_data, wrong_key

SQLITE = (".sqlite", ".sqlite3")


def tables_of_sqlite(path: str) -> dict[str, Callable[[], Any]]:
    """Return each table of an SQLite file by name, as an Arrow table of texts when it is asked for."""

    def opened() -> Any:
        return closing(sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True))

    try:
        with opened() as connection:
            names = [name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")]
    except sqlite3.Error:
        raise wrong_data("file", f"{Path(path).name} is no SQLite file, or is in use") from None

    def table(name: str) -> Any:
        quoted = '"' + name.replace('"', '""') + '"'
        try:
            with opened() as connection:
                cells = connection.execute(f"select * from {quoted}")
                head = [column[0] for column in cells.description]
                rows = ([text_of_cell(cell) for cell in row] for row in cells)
                return table_of_texts(chain([head], rows), name)
        except sqlite3.Error:
            raise wrong_data("file", f"{Path(path).name} cannot be read", "", "look at it with sqlite3") from None

    return {name: partial(table, name) for name in names if not name.startswith("sqlite_")}


def table_of_texts(lines: Iterator[list[str | None]], name: str) -> Any:
    """Return rows below a row of names as an Arrow table of texts; a column without a name is called by its number."""
    try:
        import pyarrow as pa
    except ImportError:
        raise wrong_key("file", "sheets need PyArrow", "", "pip install 'takifugu[arrow]'") from None
    names = next(lines, [])
    if not any(names):
        raise wrong_data("file", f"the first row of {name[:80]!r} is empty", "it names the columns")
    filled = [(cells[0] or f"column {number}", cells[1:])
              for number, cells in enumerate(zip_longest(names, *lines), start=1) if any(cells)]  # fmt: skip
    labels = [label for label, _ in filled]
    if len({label.lower() for label in labels}) < len(labels):
        raise wrong_data("file", f"the first row of {name[:80]!r} names a column twice", "", "rename one of them")
    return pa.table([pa.array(cells, pa.string()) for _, cells in filled], names=labels)


def text_of_cell(cell: object) -> str | None:
    """Return a cell as a text; whole numbers have no point, and times are those of ISO 8601."""
    if cell is None or (isinstance(cell, str) and not cell):
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta | bytes):
        raise wrong_data("file", "a cell holds a duration or bytes", "cells hold texts, numbers and times")
    return str(cell)


def arrow_table(frame: Any) -> Any:
    """Return a frame as an Arrow table, with an index that has a name; DataError for columns of several types."""
    try:
        import pyarrow as pa
    except ImportError:
        raise wrong_key("frame", "frames need PyArrow", "", "pip install 'takifugu[arrow]'") from None
    module, kind = type(frame).__module__.split(".")[0], type(frame).__name__
    if kind == "Series" or (module != "polars" and not hasattr(frame, "__arrow_c_stream__")):
        raise wrong_key("frame", f"a {kind} is no table of rows", "",
                        "give a frame of pandas, Polars or PyArrow, or a file")  # fmt: skip
    has_index = module == "pandas" and {None, *frame.columns}.isdisjoint(frame.index.names)
    if module == "pandas":  # which PyArrow would refuse as a column of several types
        refuse_names_twice(map(str, [*frame.columns, *frame.index.names * has_index]))
    try:
        if module == "pandas":
            table = pa.Table.from_pandas(frame, preserve_index=has_index)
        elif module == "polars":
            table = frame.lazy().collect().to_arrow()
        else:
            table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        fix, rule = "frame.astype({'column': 'string'}) in pandas", "a column has one type"
        raise wrong_data("frame", "a column of the frame holds values of several types", rule, fix) from None
    if module != "pandas":
        refuse_names_twice(table.column_names)
    return table


def refuse_names_twice(names: Iterable[str]) -> None:
    """Refuse a frame of columns that cannot be told apart."""
    for name, times in Counter(map(str.lower, names)).items():
        if times > 1:
            raise wrong_data("frame", f"the frame names {name[:80]!r} twice", "a column has one name, in any letters")

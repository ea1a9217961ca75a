"""Frames and tables of SQLite as Arrow tables; a cell becomes a text, so that one odd cell changes no type."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta
from functools import partial
from itertools import chain, zip_longest
from operator import methodcaller
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
    """Return a frame as an Arrow table, with the levels of its index that have names; DataError for one without."""
    try:
        import pyarrow as pa
    except ImportError:
        raise wrong_key("frame", "frames need PyArrow", "", "pip install 'takifugu[arrow]'") from None
    module, kind = type(frame).__module__.split(".")[0], type(frame).__name__
    is_plan = module == "polars" and kind == "LazyFrame"
    if isinstance(frame, type) or kind == "Series" or not (is_plan or hasattr(frame, "__arrow_c_stream__")):
        raise wrong_key("frame", f"a {kind} is no table of rows", "",
                        "give a frame of pandas, Polars or PyArrow, or a file")  # fmt: skip
    if module == "pandas":  # which PyArrow would refuse as a column of several types
        levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
        refuse_names_twice(map(str, [*frame.columns, *levels]))
        frame = frame.reset_index(level=levels) if levels else frame
    arrow_of: dict[str, Callable[[Any], Any]] = {
        "pandas": partial(pa.Table.from_pandas, preserve_index=False), "polars": methodcaller("to_arrow"),
    }  # fmt: skip
    to_arrow = arrow_of.get(module, pa.table)
    try:
        frame = frame.collect() if is_plan else frame
        table = to_arrow(frame)
    except MemoryError:
        raise
    except Exception as error:  # whose words may quote rows
        for place, name in enumerate(frame.columns if module in arrow_of and not is_plan else ()):
            refuse_no_type(place, partial(to_arrow, frame[[name]]))
        what, rule = f"the frame cannot be read ({type(error).__name__})", "its rows are computed as they are read"
        fix = "compute it first: frame.collect() of Polars, .arrow() of DuckDB"
        raise wrong_data("frame", what, rule, fix) from None
    if not table.column_names:
        raise wrong_data("frame", "the frame has no columns", "", "give the frame of the table")
    if kind == "RecordBatchReader" and not table.num_rows:
        raise wrong_data("frame", "the reader has no rows left", "it gives them once", "give its reader.read_all()")
    refuse_names_twice(table.column_names)
    return table


def refuse_no_type(place: int, read: Callable[[], Any]) -> None:
    """Refuse a column of a frame that is none of Arrow, by its place: a name may be a value of a first row."""
    try:
        read()
    except Exception:
        what = f"column {place + 1} of the frame has values of several types, or of none that is read"
        fix = f"frame.astype({{frame.columns[{place}]: 'string'}}) in pandas, or leave it out"
        raise wrong_data("frame", what, "a column has one type", fix) from None


def refuse_names_twice(names: Iterable[str]) -> None:
    """Refuse a frame of columns that cannot be told apart."""
    for name, times in Counter(map(str.lower, names)).items():
        if times > 1:
            raise wrong_data("frame", f"the frame names {name[:80]!r} twice", "a column has one name, in any letters")

"""Frames as Arrow tables: of pandas, Polars, PyArrow, DuckDB, or whatever hands out an Arrow stream."""

from __future__ import annotations

from typing import Any

from takifugu.core.errors import DataError
from takifugu.data.relation.faults import wrong_key


def is_frame(data: object) -> bool:
    """Return whether something is a table of rows."""
    return any(hasattr(data, name) for name in ("__arrow_c_stream__", "to_arrow_table", "collect", "to_pandas"))


def arrow_table(frame: Any) -> Any:
    """Return a frame as an Arrow table without its index; DataError for columns of several types."""
    try:
        import pyarrow as pa
    except ImportError:
        raise wrong_key("frame", "frames need PyArrow", "", "pip install 'takifugu[arrow]'") from None
    module = type(frame).__module__.split(".")[0]
    if not is_frame(frame):
        raise wrong_key("frame", f"a {type(frame).__name__} is no table of rows", "",
                        "give a frame of pandas, Polars or PyArrow, or a file")  # fmt: skip
    try:
        if module == "pandas":
            table = pa.Table.from_pandas(frame, preserve_index=False)
        elif module == "polars":
            table = frame.lazy().collect().to_arrow()
        elif isinstance(frame, pa.Table):
            table = frame
        elif module in ("duckdb", "_duckdb"):
            table = frame.to_arrow_table()
        else:
            table = pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        raise DataError(
            "a column of the frame holds values of several types", rule="a column has one type",
            fix="frame.astype({'column': 'string'}) in pandas",
        ).at("frame") from None  # fmt: skip
    names = [name.lower() for name in table.column_names]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise DataError(f"the frame names {twice[:80]!r} twice", rule="a column has one name, in any letters").at(
            "frame"
        )
    return table

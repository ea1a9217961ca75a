"""Rows of texts where DuckDB is not installed: a frame of the first library that is, made when a row is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from takifugu.core.errors import DataError
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, careful_with_files, is_installed
from takifugu.data.values.texts import BLANKS

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame

Library = Literal["polars", "pyarrow", "pandas"]
#: What can hold rows of texts.
LIBRARIES: tuple[Library, ...] = ("polars", "pyarrow", "pandas")
#: A larger file is not read, in bytes.
LARGEST = 1_000_000_000


def table_in_memory(
    file: DataFile, names: Sequence[str], rows: Callable[[], Iterable[Sequence[str | None]]]
) -> Table:
    """Return rows of texts as a table, without empty ones.

    Raises DataError without a library to hold them, and for too many rows.
    """
    library = next(filter(is_installed, LIBRARIES), None)
    if library is None:
        raise DataError(
            f"{file.name} is read by no library that is installed",
            fix="install duckdb (pip install duckdb), polars, pyarrow or pandas"
        )
    labels = tuple(f"c{number}" for number in range(len(names)))

    def scan() -> Frame:
        import narwhals.stable.v2 as nw

        columns: dict[str, list[str | None]] = {label: [] for label in labels}
        texts: dict[str | None, str | None] = {}
        size = 0
        with careful_with_files(file.name):
            for row in rows():
                if len(labels) > 1 and not any(cell and cell.strip(BLANKS) for cell in row):
                    continue
                size += sum(map(len, filter(None, row))) + len(row)
                if size > LARGEST:
                    raise DataError(f"{file.name} is large", fix="install duckdb (pip install duckdb)")
                for column, cell in zip(columns.values(), row, strict=True):
                    column.append(texts.setdefault(cell, cell))
        return nw.from_dict(columns, dict.fromkeys(labels, nw.String()), backend=library)

    return Table(file.name, tuple(names), True, frozenset(), scan, labels)

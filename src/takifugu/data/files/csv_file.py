"""CSV files, plain or packed by gzip, larger than memory or not: DuckDB reads them, once a row is asked for.

It reads a copy of those in other encodings than UTF-8 or with lines above their rows, where only this user can read it.
Without DuckDB rows are a frame of the first library that is there, made when a row is asked for.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.data.engines.sql import quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.csv_text import LONGEST_LINE, Dialect, check_lines, look, rows_of
from takifugu.data.files.formats import DataFile, Rows, SourceFormat, careful_with_files, is_installed
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.files.sniff import guess
from takifugu.data.files.with_duckdb import Database, place
from takifugu.data.values.texts import BLANKS
from takifugu.data.values.written import Written, not_written_so

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame

Library = Literal["polars", "pyarrow", "pandas"]
#: What can hold rows of texts.
LIBRARIES: tuple[Library, ...] = ("polars", "pyarrow", "pandas")
#: A larger file is not read, in bytes.
LARGEST = 1_000_000_000
#: DuckDB reads lines of more columns by one thread: each takes 32 kB of memory for each thread.
MOST_SIDE_BY_SIDE = 500
#: How many bytes are recoded at a time.
_PIECE = 1 << 22


def read(file: DataFile, written: Written) -> Table:
    """Open a CSV file, without empty rows of several columns."""
    refuse_other_kinds(file, is_utf_16=written.codec is not None)
    dialect = look(file, written)
    if not is_installed("duckdb"):
        check_lines(file, whole=True)
        return table_in_memory(file, dialect.names, lambda: rows_of(file, dialect))
    folder, above = None, 0
    if written.lines is not None:  # engines count lines above rows otherwise
        above, dialect = dialect.skipped, replace(dialect, skipped=0)
    if written.lines is not None or dialect.codec is not None:
        folder = private_folder()
        file = _copied(file, dialect.codec or "utf-8", Path(folder.name), above)
    check_lines(file, whole=file.packed)
    return with_dialect(file, dialect, folder)


def with_dialect(file: DataFile, dialect: Dialect, folder: TemporaryDirectory[str] | None) -> Table:
    """Return a UTF-8 CSV file as a DuckDB table; a copy lies in `folder`."""
    labels = tuple(f"c{number}" for number in range(len(dialect.names)))
    columns = ", ".join(f"'{label}': 'VARCHAR'" for label in labels)
    alone = ", parallel = false" if len(labels) > MOST_SIDE_BY_SIDE else ""
    compression = "gzip" if file.packed else "none"
    query = (
        f"select * from read_csv({place(file)}, auto_detect = false, header = {str(dialect.header).lower()}, "
        f"strict_mode = true, all_varchar = true, delim = {quoted(dialect.separator)}, quote = '\"', escape = '\"', "
        f"skip = {dialect.skipped}, max_line_size = {LONGEST_LINE}, columns = {{{columns}}}, "
        f"compression = '{compression}', hive_partitioning = false{alone})"
    )
    database = Database(folder)
    table = Table(file.name, dialect.names, True, frozenset(), lambda: database.rows(query), labels, database)
    if len(labels) == 1:  # an empty line is a row
        return table

    def without_blank_rows() -> Frame:  # which Excel leaves
        from takifugu.data.engines.differences import wrapped

        blanks = "".join(f"chr({ord(blank)}) || " for blank in BLANKS) + "''"
        return wrapped(table.frame.to_native().filter(f"trim(concat({', '.join(labels)}), {blanks}) <> ''"))

    return replace(table, without_blank_rows=without_blank_rows)


def _copied(file: DataFile, codec: str, folder: Path, above: int) -> DataFile:
    """Return a file's UTF-8 copy in a folder, under the same name.

    The first lines, `above` the rows, are left out. Raises DataError for bytes outside the codec, and for failures to
    read or copy.
    """
    path = folder / "recoded.csv"
    decoder = codecs.getincrementaldecoder(codec)()
    start = True
    with file.opened(codec) as source, open(path, "xb") as copy:
        while True:
            piece = source.read(_PIECE)
            try:
                text = decoder.decode(piece, final=not piece)
                if start:
                    text = "".join([*io.StringIO(text.removeprefix("\ufeff"), newline="")][above:])
                copy.write(text.encode())
            except UnicodeError:
                raise not_written_so(file.name, codec) from None
            start = start and not text
            if not piece:
                return replace(file, path=path, packed=False)


def rows(file: DataFile, written: Written) -> Rows:
    """Return the names and rows of one of many files."""
    refuse_other_kinds(file, is_utf_16=written.codec is not None)
    check_lines(file, whole=True)
    dialect = look(file, written)
    return dialect.names, rows_of(file, dialect)


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


CSV = SourceFormat("CSV", read, suffixes=(".csv", ".tsv"), guess=guess, rows=rows)

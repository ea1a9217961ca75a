"""CSV files, plain or packed by gzip, larger than memory or not: DuckDB reads them, once a row is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from takifugu.core.files import private_folder
from takifugu.data.engines.sql import quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.csv_text import LONGEST_LINE, Dialect, check_lines, look, rows_of
from takifugu.data.files.formats import DataFile, Rows, SourceFormat, is_installed
from takifugu.data.files.in_memory import table_in_memory
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.files.recoded import copied
from takifugu.data.files.sniff import guess
from takifugu.data.files.with_duckdb import Database, read_by
from takifugu.data.values.texts import BLANKS
from takifugu.data.values.written import Written

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame

#: DuckDB reads lines of more columns by one thread: each takes 32 kB of memory for each thread.
MOST_SIDE_BY_SIDE = 500


def read(file: DataFile, written: Written) -> Table:
    """Open a CSV file, without empty rows of several columns."""
    refuse_other_kinds(file, is_utf_16=written.codec is not None)
    dialect = look(file, written)
    if not is_installed("duckdb"):
        check_lines(file, whole=True)
        return table_in_memory(file, dialect.names, lambda: rows_of(file, dialect))
    folder = private_folder()
    if dialect.codec is not None or written.lines is not None:  # engines count lines above rows otherwise
        file = copied(file, dialect.codec or "utf-8", Path(folder.name), dialect.skipped if written.lines else 0)
        dialect = replace(dialect, skipped=0 if written.lines else dialect.skipped)
    check_lines(file, whole=file.packed)
    return with_dialect(file, dialect, folder)


def with_dialect(file: DataFile, dialect: Dialect, folder: TemporaryDirectory[str]) -> Table:
    """Return a UTF-8 CSV file as a DuckDB table."""
    database, query = Database(folder), read_by(_call(dialect, file.packed), file)
    labels = tuple(f"c{number}" for number in range(len(dialect.names)))
    table = Table(file.name, dialect.names, True, frozenset(), lambda: database.rows(query), labels, database)
    if len(labels) == 1:  # an empty line is a row
        return table
    return replace(table, without_blank_rows=lambda: _filled(table.frame, labels))


def _filled(frame: Frame, labels: Sequence[str]) -> Frame:
    """Return a file's rows without empty ones, left by Excel."""
    from takifugu.data.engines.differences import wrapped

    blanks = "".join(f"chr({ord(blank)}) || " for blank in BLANKS) + "''"
    return wrapped(frame.to_native().filter(f"trim(concat({', '.join(labels)}), {blanks}) <> ''"))


def _call(dialect: Dialect, packed: bool) -> str:
    columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(dialect.names)))
    alone = ", parallel = false" if len(dialect.names) > MOST_SIDE_BY_SIDE else ""
    return (
        f"read_csv({{path}}, auto_detect = false, header = {str(dialect.header).lower()}, strict_mode = true, "
        f"all_varchar = true, delim = {quoted(dialect.separator)}, quote = '\"', escape = '\"', "
        f"skip = {dialect.skipped}, max_line_size = {LONGEST_LINE}, "
        f"columns = {{{{{columns}}}}}, compression = '{'gzip' if packed else 'none'}', hive_partitioning = false"
        f"{alone})"
    )


def rows(file: DataFile, written: Written) -> Rows:
    """Return the names and rows of one of many files."""
    refuse_other_kinds(file, is_utf_16=written.codec is not None)
    check_lines(file, whole=True)
    dialect = look(file, written)
    return dialect.names, rows_of(file, dialect)


CSV = SourceFormat("CSV", read, suffixes=(".csv", ".tsv"), guess=guess, rows=rows)

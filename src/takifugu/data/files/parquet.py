"""Parquet files, and whether they can be read at all: a few kilobytes can stand for terabytes, by repeating a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.data.engines.sql import identifier
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, SourceFormat, is_installed
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.files.with_duckdb import opened, place, within
from takifugu.data.values.written import Written

if TYPE_CHECKING:
    import pyarrow

#: The bytes of the longest text of a column, and of all its texts together; None where it has none.
Lengths = tuple[int | None, int | None]

#: No state or name is longer, in bytes.
LONGEST_TEXT = 65_536
#: Texts longer than this are not states; a column that has such texts is read up to this many bytes in all.
LONG, ALL_LONG_TEXTS = 256, 2_000_000_000
#: A file may announce this many rows, plus this many per byte of its size: real columns do not repeat more than that.
ROWS, ROWS_A_BYTE = 1_000_000, 100


def check_rows(path: Path, rows: int) -> None:
    """Raise DataError for more announced rows than a file's bytes can hold."""
    if rows > ROWS + ROWS_A_BYTE * path.stat().st_size:
        raise DataError(f"{path.name} announces far more rows than its size can hold", fix="write the table again")


def check_texts(source: str, lengths: Iterable[Lengths]) -> None:
    """Raise DataError for texts too long to be states or names."""
    for longest, together in lengths:
        if (longest or 0) > LONGEST_TEXT:
            raise DataError(
                f"{source} has texts of more than {LONGEST_TEXT:,} bytes", rule="no state or name is that long"
            )
        if (longest or 0) > LONG and (together or 0) > ALL_LONG_TEXTS:
            raise DataError(
                f"{source} has too many texts of more than {LONG} bytes", fix="map them to short names first"
            )


def read(file: DataFile, written: Written) -> Table:
    """Open a Parquet file with DuckDB, Polars or PyArrow."""
    check_magic(file)
    for engine, reader in {"duckdb": _with_duckdb, "polars": _with_polars, "pyarrow": _with_pyarrow}.items():
        if is_installed(engine):
            return reader(file)
    raise DataError(f"{file.name} is a Parquet file", fix="install duckdb (pip install duckdb), polars or pyarrow")


def check_magic(file: DataFile) -> None:
    """Raise DataError for a file without the signs of Parquet."""
    if not file.start.startswith(PARQUET.begins):
        refuse_other_kinds(file)
        raise DataError(f"{file.name} is called Parquet and is not", fix="check the file")
    if file.packed:
        raise DataError(f"{file.name} is a Parquet file inside gzip", fix="unpack it")


def _with_duckdb(file: DataFile) -> Table:
    """Open a file with DuckDB.

    Lengths are quick from the file itself, where they are stored beside texts.
    """
    table, connection = opened(file, "read_parquet({path}, hive_partitioning = false)", private_folder())
    name_of = {label: identifier(name) for label, name in zip(table.labels, table.names, strict=True)}

    def check(labels: Sequence[str]) -> None:
        lengths = (f"max(strlen({name_of[label]})), sum(strlen({name_of[label]}))" for label in labels)
        query = f"select {', '.join(lengths)} from read_parquet({place(file)}, hive_partitioning = false)"
        row = connection.sql(query).fetchall()[0]
        check_texts(file.name, zip(row[::2], row[1::2], strict=True))

    with careful_with_engine(file.name):
        ((rows,),) = connection.sql(f"select num_rows from parquet_file_metadata({place(file)})").fetchall()
    check_rows(file.path, rows)
    return replace(table, check_texts=check, within=partial(within, connection))


def _with_polars(file: DataFile) -> Table:
    import narwhals.stable.v2 as nw
    import polars

    with careful_with_engine(file.name):
        scan = polars.scan_parquet(file.path, glob=False, hive_partitioning=False)
        check_rows(file.path, scan.select(polars.len()).collect().item())
        names = tuple(scan.collect_schema().names())

    def check(labels: Sequence[str]) -> None:
        lengths = [polars.col(label).str.len_bytes().cast(polars.Int64) for label in labels]
        longest = scan.select(length.max() for length in lengths).collect().row(0)
        together = scan.select(length.sum() for length in lengths).collect().row(0)
        check_texts(file.name, zip(longest, together, strict=True))

    return Table(file.name, names, True, frozenset(), lambda: nw.from_native(scan), names, check_texts=check)


def _with_pyarrow(file: DataFile) -> Table:
    """Read a file with PyArrow, its texts checked before they fill memory."""
    import narwhals.stable.v2 as nw
    import pyarrow
    import pyarrow.parquet

    with careful_with_engine(file.name):
        reader = pyarrow.parquet.ParquetFile(file.path)
        check_rows(file.path, reader.metadata.num_rows)
        schema = reader.schema_arrow
        texts = [f.name for f in schema if pyarrow.types.is_string(f.type) or pyarrow.types.is_large_string(f.type)]
        packed = pyarrow.parquet.ParquetFile(file.path, read_dictionary=texts)
        for batch in packed.iter_batches(columns=texts) if texts else ():
            check_texts(file.name, (longest(column) for column in batch.columns))
        table = reader.read()
    names = tuple(table.column_names)
    return Table(file.name, names, True, frozenset(), lambda: nw.from_native(table), names)


def careful_with_engine(name: str) -> AbstractContextManager[None]:
    from takifugu.data.engines.differences import careful

    return careful(name)


def longest(column: pyarrow.Array) -> Lengths:
    """Return the lengths of an Arrow column's texts."""
    import pyarrow.compute

    words = column.dictionary if hasattr(column, "dictionary") else column
    most: int | None = pyarrow.compute.max(pyarrow.compute.binary_length(words)).as_py()
    return most, (most or 0) * len(column)


PARQUET = SourceFormat("Parquet", read, suffixes=(".parquet",), begins=(b"PAR1",))

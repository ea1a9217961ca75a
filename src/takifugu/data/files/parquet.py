"""Whether a Parquet file can be read at all: a few kilobytes can stand for terabytes, by repeating one long text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from takifugu.core.errors import DataError

#: The bytes of the longest text of a column, and of all its texts together; None where it has none.
Lengths = tuple[int | None, int | None]
Longest = Callable[[Sequence[str]], list[Lengths]]

#: No state or name is longer, in bytes.
LONGEST_TEXT = 65_536
#: Texts longer than this are not states; a column that has such texts is read up to this many bytes in all.
LONG, ALL_LONG_TEXTS = 256, 2_000_000_000
#: A file may announce this many rows, plus this many per byte of its size: real columns do not repeat more than that.
ROWS, ROWS_A_BYTE = 1_000_000, 100


def check_rows(path: Path, rows: int) -> None:
    """Raise DataError for a file that announces more rows than its bytes can mean."""
    if rows > ROWS + ROWS_A_BYTE * path.stat().st_size:
        raise DataError(f"{path.name} announces far more rows than its size can hold", fix="write the table again")


def check_texts(source: str, lengths: Iterable[Lengths]) -> None:
    """Raise DataError where the texts of a column are too long to be states or names, or too many of them are long."""
    for longest, together in lengths:
        if (longest or 0) > LONGEST_TEXT:
            raise DataError(
                f"{source} has texts of more than {LONGEST_TEXT:,} bytes", rule="no state or name is that long"
            )
        if (longest or 0) > LONG and (together or 0) > ALL_LONG_TEXTS:
            raise DataError(
                f"{source} has too many texts of more than {LONG} bytes", fix="map them to short names first"
            )


def longest_in_duckdb(connection: Any, where: str, columns: Mapping[str, str]) -> Longest:
    """Return what measures the longest texts of columns, by their labels; `columns` are their names, quoted.

    A length is stored beside its text, so this is quick; but not through a relation, which makes all texts first.
    """

    def longest(labels: Sequence[str]) -> list[Lengths]:
        columns_text = ", ".join(f"max(strlen({columns[label]})), sum(strlen({columns[label]}))" for label in labels)
        query = f"select {columns_text} from read_parquet({where}, hive_partitioning = false)"
        row = connection.sql(query).fetchall()[0]
        return list(zip(row[::2], row[1::2], strict=True))

    return longest


def longest_in_polars(scan: Any) -> Longest:
    """Return what measures the longest texts of the columns of a Polars scan."""

    def longest(labels: Sequence[str]) -> list[Lengths]:
        import polars

        lengths = [polars.col(label).str.len_bytes().cast(polars.Int64) for label in labels]
        most, sums = ([getattr(length, way)() for length in lengths] for way in ("max", "sum"))
        return list(zip(scan.select(most).collect().row(0), scan.select(sums).collect().row(0), strict=True))

    return longest


def read_with_pyarrow(path: Path) -> Any:
    """Return a Parquet file as a PyArrow table; its texts are looked at before they are repeated in memory."""
    import pyarrow
    import pyarrow.parquet

    whole = pyarrow.parquet.ParquetFile(path)
    check_rows(path, whole.metadata.num_rows)
    schema = whole.schema_arrow
    texts = [f.name for f in schema if pyarrow.types.is_string(f.type) or pyarrow.types.is_large_string(f.type)]
    packed = pyarrow.parquet.ParquetFile(path, read_dictionary=texts)
    for batch in packed.iter_batches(columns=texts) if texts else ():
        check_texts(path.name, (_longest(column) for column in batch.columns))
    return whole.read()


def _longest(column: Any) -> Lengths:
    import pyarrow.compute

    words = column.dictionary if hasattr(column, "dictionary") else column
    longest: int | None = pyarrow.compute.max(pyarrow.compute.binary_length(words)).as_py()
    return longest, (longest or 0) * len(column)

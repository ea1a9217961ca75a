"""Parquet files: whether they can be read at all, and which columns Arrow calls durations.

The schema is a message of Arrow's in base64, whose tables (flatbuffers) hold the places of their fields.
"""

from __future__ import annotations

import glob
import struct
from base64 import b64decode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.core.lists import among
from takifugu.data.engines.faults import careful
from takifugu.data.engines.sql import identifier, quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, SourceFormat, is_installed
from takifugu.data.files.other_kinds import refuse_other_kinds
from takifugu.data.files.with_duckdb import connected, table_of_relation, within
from takifugu.data.values.written import Written

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection


#: Arrow's number of a duration among the types of a field.
_DURATION = 18
#: Places in a message, a schema and a field.
_HEADER, _FIELDS, _NAME, _TYPE = 2, 1, 0, 2
#: A message begins with a mark and its length.
_BEGINNING = 8


def durations(written: bytes) -> frozenset[str]:
    """Return the columns of durations in a written schema; none of a damaged one.

    >>> durations(b"/////xAA")
    frozenset()
    """
    try:
        message = b64decode(written)
        root = _follow(message, _BEGINNING)
        schema = _follow(message, _field(message, root, _HEADER))
        fields = _follow(message, _field(message, schema, _FIELDS))
        names = set[str]()
        for number in range(*struct.unpack_from("<I", message, fields)):
            field = _follow(message, fields + 4 + 4 * number)
            if message[_field(message, field, _TYPE)] == _DURATION:
                name = _follow(message, _field(message, field, _NAME))
                (length,) = struct.unpack_from("<I", message, name)
                names.add(message[name + 4 : name + 4 + length].decode())
        return frozenset(names)
    except (ValueError, IndexError, struct.error):
        return frozenset()


def _follow(message: bytes, place: int) -> int:
    """Return where the offset at a place leads."""
    (offset,) = struct.unpack_from("<I", message, place)
    return place + int(offset)


def _field(message: bytes, table: int, number: int) -> int:
    """Return the place of a table's field; IndexError without one."""
    (back,) = struct.unpack_from("<i", message, table)
    (size,) = struct.unpack_from("<H", message, table - back)
    if size < 6 + 2 * number:
        raise IndexError
    (offset,) = struct.unpack_from("<H", message, table - back + 4 + 2 * number)
    if not offset:
        raise IndexError
    return table + int(offset)


#: The bytes of the longest text of a column, and of all its texts together; None where it has none.
Lengths = tuple[int | None, int | None]
#: What each file's folders and name become: a text, or none, by the column's name.
Columns = Sequence[Mapping[str, str | None]]

#: No state or name is longer, in bytes.
LONGEST_TEXT = 65_536
#: Texts longer than this are not states; a column that has such texts is read up to this many bytes in all.
LONG, ALL_LONG_TEXTS = 256, 2_000_000_000
#: A file may announce this many rows, plus this many per byte of its size: real columns do not repeat more than that.
ROWS, ROWS_A_BYTE = 1_000_000, 100
#: What makes two columns the same kind, in DuckDB's words.
_KIND = "name, type, converted_type, scale, precision, logical_type"


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


def lengths_of(connection: DuckDBPyConnection, source: str, names: Sequence[str]) -> Iterable[Lengths]:
    """Return the lengths of some columns' texts, in DuckDB.

    They are quick from a Parquet file itself, where they are stored beside texts.
    """
    if not names:
        return ()
    lengths = (f"max(strlen({name})), sum(strlen({name}))" for name in map(identifier, names))
    (row,) = connection.sql(f"select {', '.join(lengths)} from {source}").fetchall()
    return zip(row[::2], row[1::2], strict=True)


def read(file: DataFile, written: Written) -> Table:
    """Open a Parquet file."""
    return dataset([file], [{}], file.name)


def dataset(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    """Open Parquet files one after the other.

    DuckDB does it, or PyArrow where there is none. Raises DataError for a file with other columns or types than the
    first.
    """
    for file in files:
        if not file.start.startswith(PARQUET.begins):
            refuse_other_kinds(file)
            raise DataError(f"{file.name} is called Parquet and is not", fix="check the file")
        if file.packed:
            raise DataError(f"{file.name} is a Parquet file inside gzip", fix="unpack it")
    for engine, reader in {"duckdb": _with_duckdb, "pyarrow": _with_pyarrow}.items():
        if is_installed(engine):
            with careful(title):
                return reader(files, columns, title)
    content = "holds Parquet files" if len(files) > 1 else "is a Parquet file"
    raise DataError(f"{title} {content}", fix="install duckdb (pip install duckdb) or pyarrow")


def refuse_twice(name: str, names: Sequence[str], columns: Columns) -> None:
    """Raise DataError for a column also made of folders or names."""
    if set(names) & set(columns[0]):
        raise DataError(
            f"{name} has a column that its folder or its name becomes, too", fix="rename one of them"
        ).at("file_names")


def _other_columns(file: DataFile) -> DataError:
    return DataError(
        f"{file.name} has other columns than the first one, or columns of other types", fix="write all of them alike"
    )


def _with_duckdb(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    folder = private_folder()
    connection = connected(folder)
    number_of = {str(file.path): number for number, file in enumerate(files)}
    paths = f"[{', '.join(quoted(glob.escape(path)) for path in number_of)}]"
    row_counts = connection.sql(f"select file_name, num_rows from parquet_file_metadata({paths})").fetchall()
    for name, rows in row_counts:
        check_rows(files[number_of[name]].path, rows)
    kinds: list[list[list[object]]] = [[] for _ in files]
    for name, *kind in connection.sql(f"select file_name, {_KIND} from parquet_schema({paths})").fetchall():
        kinds[number_of[name]].append(kind)
    for file, kind in zip(files, kinds, strict=True):
        if kind[1:] != kinds[0][1:]:  # the first one is the whole row
            raise _other_columns(file)
    source = f"read_parquet({paths}, hive_partitioning = false)"
    refuse_twice(files[0].name, connection.sql(f"select * from {source}").columns, columns)
    selected, lengths = "*", list[str]()
    for name in map(identifier, _durations(connection, paths, kinds[0])):
        lengths.append(f"to_microseconds({name}) as {name}")
    if lengths:
        selected += f" replace ({', '.join(lengths)})"
    for name in columns[0]:
        literals = ", ".join("null" if texts[name] is None else quoted(str(texts[name])) for texts in columns)
        selected += f", (cast([{literals}] as varchar[]))[file_index::bigint + 1] as {identifier(name)}"
    table = table_of_relation(title, connection.sql(f"select {selected} from {source}"), (connection, folder))
    name_of = dict(zip(table.labels, table.names, strict=True))

    def check(labels: Sequence[str]) -> None:
        stored = [name_of[label] for label in labels if name_of[label] not in columns[0]]
        check_texts(title, lengths_of(connection, source, stored))

    return replace(table, check_texts=check, within=partial(within, connection))


def _durations(connection: DuckDBPyConnection, paths: str, kinds: Sequence[Sequence[object]]) -> list[str]:
    """Return the columns of whole numbers that are durations by Arrow's schema."""
    names = Counter(str(name).casefold() for name, *_ in kinds)  # DuckDB ignores case, and renames the second
    whole = [str(name) for name, kind, converted, *_ in kinds if kind == "INT64" and converted is None]
    if not whole:
        return []
    ((schema,),) = connection.sql(
        f"select any_value(value) from parquet_kv_metadata({paths}) where key = 'ARROW:schema'::blob"
    ).fetchall()
    if schema is None:
        return []
    return [name for name in among(whole, durations(bytes(schema))) if names[name.casefold()] == 1]


def _with_pyarrow(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    """Read files with PyArrow, their texts checked before they fill memory."""
    import narwhals.stable.v2 as nw
    import pyarrow
    import pyarrow.parquet

    tables: list[pyarrow.Table] = []
    for file, values in zip(files, columns, strict=True):
        with careful(file.name):
            reader = pyarrow.parquet.ParquetFile(file.path)
            check_rows(file.path, reader.metadata.num_rows)
            strings = (pyarrow.string(), pyarrow.large_string())
            texts = [field.name for field in reader.schema_arrow if field.type in strings]
            packed = pyarrow.parquet.ParquetFile(file.path, read_dictionary=texts)
            for batch in packed.iter_batches(columns=texts):
                check_texts(file.name, map(longest, batch.columns))
            table = reader.read()
        refuse_twice(file.name, table.column_names, columns)
        for name, text in values.items():
            table = table.append_column(name, pyarrow.array([text] * len(table), pyarrow.string()))
        if tables and table.schema.remove_metadata() != tables[0].schema.remove_metadata():
            raise _other_columns(file)
        tables.append(table)
    union = pyarrow.concat_tables([table.replace_schema_metadata() for table in tables])
    names = tuple(union.column_names)
    return Table(title, names, True, frozenset(), lambda: nw.from_native(union), names)


def longest(column: pyarrow.Array) -> Lengths:
    """Return the lengths of an Arrow column's texts."""
    import pyarrow.compute

    words = getattr(column, "dictionary", column)
    most: int | None = pyarrow.compute.max(pyarrow.compute.binary_length(words)).as_py()
    return most, (most or 0) * len(column)


PARQUET = SourceFormat("Parquet", read, suffixes=(".parquet",), begins=(b"PAR1",))

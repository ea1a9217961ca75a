"""Parquet files as one table, with the columns that each file's folders and its name become."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from takifugu.core.errors import DataError
from takifugu.core.files import private_folder
from takifugu.data.engines.sql import identifier, quoted
from takifugu.data.engines.table import Table
from takifugu.data.files.formats import DataFile, is_installed
from takifugu.data.files.parquet import careful_with_engine, check_magic, check_rows, check_texts, read
from takifugu.data.files.with_duckdb import connected, table_of_relation, within
from takifugu.data.values.written import Written

#: What each file's folders and name become: a text, or none, by the column's name.
Columns = Sequence[Mapping[str, str | None]]
#: What makes two columns the same kind, in DuckDB's words.
_KIND = "name, type, converted_type, scale, precision, logical_type"


def dataset(files: Sequence[DataFile], columns: Columns, what: str) -> Table:
    """Open Parquet files one after the other.

    The first installed engine of DuckDB, Polars and PyArrow does it. Raises DataError for a file with other columns or
    types than the first.
    """
    for file in files:
        check_magic(file)
    if is_installed("duckdb"):
        return _with_duckdb(files, columns, what)
    for engine, reader in {"polars": _with_polars, "pyarrow": _with_pyarrow}.items():
        if is_installed(engine):
            return reader(files, columns, what)
    raise DataError(f"{what} holds Parquet files", fix="install duckdb (pip install duckdb), polars or pyarrow")


def other_columns(file: DataFile) -> DataError:
    return DataError(
        f"{file.name} has other columns than the first one, or columns of other types", fix="write all of them alike"
    )


def _with_duckdb(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    folder = private_folder()
    with careful_with_engine(title):
        connection = connected(folder)
        paths = f"[{', '.join(quoted(glob.escape(str(file.path))) for file in files)}]"
        number_of = {str(file.path): number for number, file in enumerate(files)}
        row_counts = connection.sql(f"select file_name, num_rows from parquet_file_metadata({paths})").fetchall()
        for name, rows in row_counts:
            check_rows(files[number_of[name]].path, rows)
        kinds: list[list[object]] = [[] for _ in files]
        for name, *kind in connection.sql(f"select file_name, {_KIND} from parquet_schema({paths})").fetchall():
            kinds[number_of[name]].append(kind)
        for file, kind in zip(files, kinds, strict=True):
            if kind[1:] != kinds[0][1:]:  # the first one is the whole row
                raise other_columns(file)
        source = f"read_parquet({paths}, hive_partitioning = false)"
        names = connection.sql(f"select * from {source}").columns
        refuse_twice(files[0].name, names, columns)
        more = "".join(f", {_values(columns, name)} as {identifier(name)}" for name in columns[0])
        table = table_of_relation(title, connection.sql(f"select *{more} from {source}"), (connection, folder))
    name_of = {label: identifier(name) for label, name in zip(table.labels, table.names, strict=True)}

    def check(labels: Sequence[str]) -> None:
        some = [name_of[label] for label, name in zip(table.labels, table.names, strict=True)
                if label in labels and name not in columns[0]]  # fmt: skip
        lengths = ", ".join(f"max(strlen({name})), sum(strlen({name}))" for name in some)
        row = connection.sql(f"select {lengths} from {source}").fetchall()[0] if some else ()
        check_texts(title, zip(row[::2], row[1::2], strict=True))

    return replace(table, check_texts=check, within=partial(within, connection))


def _values(columns: Columns, name: str) -> str:
    """Return the SQL for columns of a numbered file's folders or name."""
    values = ("null" if partition[name] is None else quoted(str(partition[name])) for partition in columns)
    return f"(cast([{', '.join(values)}] as varchar[]))[file_index::bigint + 1]"


def refuse_twice(name: str, names: Sequence[str], columns: Columns) -> None:
    """Raise DataError for a column also made of folders or names."""
    if set(names) & set(columns[0]):
        raise DataError(
            f"{name} has a column that its folder or its name becomes, too", fix="rename one of them"
        ).at("file_names")


def _with_polars(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    import narwhals.stable.v2 as nw
    import polars

    tables = [read(file, Written()) for file in files]
    refuse_twice(files[0].name, tables[0].names, columns)
    with careful_with_engine(title):
        scans = [nw.to_native(table.frame) for table in tables]
        for file, scan in zip(files, scans, strict=True):
            if scan.collect_schema() != scans[0].collect_schema():
                raise other_columns(file)
        full_scans = [
            scan.with_columns(polars.lit(value, polars.String).alias(name) for name, value in values.items())
            for scan, values in zip(scans, columns, strict=True)
        ]
        union = polars.concat(full_scans)

    def check(labels: Sequence[str]) -> None:
        for table in tables:
            if table.check_texts is not None:
                table.check_texts([label for label in labels if label in table.labels])

    names = (*tables[0].names, *columns[0])
    return Table(title, names, True, frozenset(), lambda: nw.from_native(union), names, check_texts=check)


def _with_pyarrow(files: Sequence[DataFile], columns: Columns, title: str) -> Table:
    import narwhals.stable.v2 as nw
    import pyarrow

    tables: list[pyarrow.Table] = []
    with careful_with_engine(title):
        for file, more in zip(files, columns, strict=True):
            table = nw.to_native(read(file, Written()).frame)
            refuse_twice(file.name, table.column_names, columns)
            for name, value in more.items():
                table = table.append_column(name, pyarrow.array([value] * len(table), pyarrow.string()))
            if tables and table.schema.remove_metadata() != tables[0].schema.remove_metadata():
                raise other_columns(file)
            tables.append(table)
        union = pyarrow.concat_tables([table.replace_schema_metadata() for table in tables])
    names = tuple(union.column_names)
    return Table(title, names, True, frozenset(), lambda: nw.from_native(union), names)

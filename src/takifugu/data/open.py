"""One entry point for every source: a CSV or Parquet file, or a frame of any library that narwhals knows."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import stat
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from takifugu.core.errors import DataError, InputError
from takifugu.data.engines.outside import engine_of
from takifugu.data.engines.table import Table
from takifugu.data.files.csv_text import LONGEST_LINE, Dialect, as_lists, careful_with_files, check_lines, look
from takifugu.data.files.other_kinds import BEGINNING, other_kind
from takifugu.data.files.parquet import Longest, check_rows, longest_in_duckdb, longest_in_polars, read_with_pyarrow
from takifugu.data.files.recoded import copied
from takifugu.data.files.temporary import private_folder
from takifugu.data.files.written import Written
from takifugu.data.values.texts import BLANKS

#: A CSV file larger than this is not read into Python's memory.
LARGEST_IN_PYTHON = 1_000_000_000


def open_frame(data: Any, missing: Iterable[str] = ("",), written: Written | None = None) -> Table:
    """Open a CSV file (plain or gzip), a Parquet file, or a frame: pandas, Polars, PyArrow, DuckDB or PySpark.

    Nothing but the names of the columns is read. Files go through DuckDB where it is installed, so that they may be
    larger than memory. Texts in `missing` count as missing values, beside the empty one; `written` says how the source
    is written where it does not show. Rows of a CSV file that hold nothing in any of several columns are no rows.
    Raises DataError for a file that cannot be read, and InputError for something that is no frame.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person,minute,posture\\nAna,0,lying\\n")
    >>> open_frame(file).names
    ('person', 'minute', 'posture')
    """
    if isinstance(missing, str):
        raise InputError(f"missing is {missing!r}", fix='give a list of texts, such as ["NA", "?"]').at("missing")
    words = frozenset(str(word).strip(BLANKS) for word in missing) | {""}
    if isinstance(data, Table):
        return data
    if isinstance(data, str | PathLike):
        return _open_file(data, words, written or Written())
    return replace(_open_native(data, words), written=written or Written())


def _open_native(data: Any, missing: frozenset[str]) -> Table:
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import careful, is_spark

    kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
    source = f"the {kind}"
    engine, given = None, data
    with careful(source):
        try:
            frame = nw.from_native(_plain_labels(data), series_only=False)
        except TypeError:
            engine = engine_of(data)
            if engine is None:
                raise InputError(
                    f"the data is a {kind}",
                    fix="give a CSV or Parquet file, or a pandas, Polars, PyArrow, DuckDB or PySpark frame",
                ) from None
            data = engine.frame(data)
            frame = nw.from_native(_plain_labels(data), series_only=False)
    with careful(source):
        if is_spark(frame):
            # Spark reads a dot in a name as a path, and takes A for a: numbered names are what they say.
            names = tuple(data.columns)
            labels = tuple(f"c{number}" for number in range(len(names)))
            return Table(source, names, False, missing, nw.from_native(data.toDF(*labels)), labels, data)
        headings = tuple(frame.collect_schema().names())
        labels = tuple(f"c{number}" for number in range(len(headings)))  # * and ^a$ are patterns to Polars, * to DuckDB
        if isinstance(frame, nw.LazyFrame) and frame.implementation.is_duckdb():
            frame = nw.from_native(_relabelled(data, headings, labels))
        elif frame.implementation.is_polars():
            frame = frame.rename(dict(zip(headings, labels, strict=True)))
        else:
            labels = headings
    in_rows = isinstance(frame, nw.DataFrame) or frame.implementation.is_polars()
    in_rows = in_rows if engine is None else engine.ordered
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars():
        frame = frame.lazy()
    return Table(source, tuple(map(str, headings)), in_rows, missing, frame, labels, (given, data))


def _plain_labels(data: Any) -> Any:
    """Give the columns of a pandas frame names that are texts and differ, where they are not."""
    if type(data).__module__.split(".")[0] != "pandas" or not hasattr(data, "columns"):
        return data
    labels = [str(c) for c in data.columns]
    if list(data.columns) == labels and len(set(labels)) == len(labels):
        return data
    for label, times in Counter(labels).items():
        if times > 1:
            raise InputError(f"the data has two columns called {label!r}", fix="rename one")
    return data.set_axis(labels, axis=1)


def _open_file(data: str | PathLike[str], missing: frozenset[str], written: Written) -> Table:
    if "://" in str(data):
        raise DataError("the data is a URL", fix="download it first and give the path of the copy")
    path = Path(os.path.abspath(data))  # engines differ in how they read ~ and file:
    if os.path.isdir(path):
        raise DataError(f"{path.name or path} is a folder", fix="give the path of a CSV or Parquet file")
    start = _first_bytes(path)
    if not start:
        raise DataError(f"{path.name} is empty", rule="a CSV file starts with a line of column names")
    packed = start.startswith(b"\x1f\x8b")
    start = _first_unpacked_bytes(path) if packed else start
    kind = other_kind(start, is_utf_16=written.codec is not None)
    if kind is not None:
        raise DataError(f"{path.name} {kind[0]}", fix=kind[1])
    if start.startswith(b"PAR1"):
        if packed:
            raise DataError(f"{path.name} is a Parquet file inside gzip", fix="unpack it")
        return replace(_open_parquet(path, missing), written=written)
    if path.suffix == ".parquet":
        raise DataError(f"{path.name} is called Parquet and is not", fix="check the file")
    return replace(_open_csv(path, packed, missing, written), written=written)


def _first_bytes(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(errno.EINVAL, "It is a device or a pipe, and data are read more than once")
        with open(path, "rb") as file:
            return file.read(BEGINNING)
    except ValueError:
        raise DataError(
            "no file can have the name that is given for the data", fix="write the path of the file"
        ) from None
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"{path.name} cannot be read ({reason})", fix="check the path and the file") from None


def _first_unpacked_bytes(path: Path) -> bytes:
    with careful_with_files(path), gzip.open(path) as file:
        return file.read(BEGINNING)


def _open_csv(path: Path, packed: bool, missing: frozenset[str], written: Written) -> Table:
    dialect = look(path, gzip.open if packed else open, written)
    if find_spec("duckdb") is None:
        if check_lines(path, packed, whole=True) > LARGEST_IN_PYTHON:
            raise DataError(
                f"{path.name} is large", fix="install duckdb (pip install duckdb), which reads it piece by piece"
            )
        columns = as_lists(path, gzip.open if packed else open, dialect)
        return Table(path.name, dialect.names, True, missing, columns, dialect.names)
    folder, text = private_folder(), path
    if dialect.codec is not None:
        with careful_with_files(path):
            text, packed = copied(path, packed, dialect.codec, Path(folder.name)), False
    check_lines(text, packed, whole=packed, name=path.name)
    table = _with_duckdb(text, _csv_call(dialect, packed), dialect.names, missing, folder, path.name)
    if len(dialect.names) == 1:  # an empty line is a row
        return table
    return replace(table, without_blank_rows=partial(_filled, table.frame, table.labels))


def _filled(frame: Any, labels: Sequence[str]) -> Any:
    """Return a file's rows without those that hold no value in any column: what Excel leaves below a table."""
    from takifugu.data.engines.differences import wrapped

    blanks = "".join(f"chr({ord(blank)}) || " for blank in BLANKS) + "''"
    return wrapped(frame.to_native().filter(f"trim(concat({', '.join(labels)}), {blanks}) <> ''"))


def _csv_call(dialect: Dialect, packed: bool) -> str:
    columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(dialect.names)))
    return (
        f"read_csv({{path}}, auto_detect = false, header = {str(dialect.header).lower()}, strict_mode = true, "
        f"all_varchar = true, delim = {_quoted(dialect.separator)}, quote = '\"', escape = '\"', "
        f"skip = {dialect.skipped}, max_line_size = {LONGEST_LINE}, "
        f"columns = {{{{{columns}}}}}, compression = '{'gzip' if packed else 'none'}', hive_partitioning = false)"
    )


def _open_parquet(path: Path, missing: frozenset[str]) -> Table:
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import careful

    if find_spec("duckdb") is not None:
        call = "read_parquet({path}, hive_partitioning = false)"
        return _with_duckdb(path, call, None, missing, private_folder(), path.name)
    with careful(path.name):
        if find_spec("polars") is not None:
            import polars

            scan = polars.scan_parquet(path, glob=False, hive_partitioning=False)
            check_rows(path, scan.select(polars.len()).collect().item())
            check: Longest | None = longest_in_polars(scan)
            frame: Any = nw.from_native(scan)
        elif find_spec("pyarrow") is not None:
            frame, check = nw.from_native(read_with_pyarrow(path)), None
        else:
            raise DataError(
                f"{path.name} is a Parquet file", fix="install duckdb (pip install duckdb), polars or pyarrow"
            )
        labels = tuple(frame.collect_schema().names())
    return Table(path.name, labels, True, missing, frame, labels, longest=check)


def _with_duckdb(
    path: Path, call: str, names: tuple[str, ...] | None, missing: frozenset[str],
    folder: TemporaryDirectory[str], source: str,
) -> Table:  # fmt: skip
    """Open a file as a DuckDB relation; what does not fit into memory goes to a folder that only this user can read."""
    import duckdb
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import careful

    is_parquet = names is None
    with careful(source):
        connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "temp_directory": folder.name})
        where = _quoted(glob.escape(str(path)))
        if is_parquet:
            ((rows,),) = connection.sql(f"select num_rows from parquet_file_metadata({where})").fetchall()
            check_rows(path, rows)
        relation = connection.sql("select * from " + call.format(path=where))
        headings = tuple(relation.columns)
        labels = tuple(
            f"c{number}" for number in range(len(headings))
        )  # a name such as * is an expression to an engine
        relation = _relabelled(relation, headings, labels)
    named = {label: _identifier(name) for label, name in zip(labels, headings, strict=True)}
    longest = longest_in_duckdb(connection, where, named) if is_parquet else None
    keeps = (connection, folder)
    return Table(source, names or headings, True, missing, nw.from_native(relation), labels, keeps, longest)


def _relabelled(relation: Any, names: tuple[str, ...], labels: tuple[str, ...]) -> Any:
    """Return a DuckDB relation with other names for its columns."""
    if labels == names:
        return relation
    renamed = (f"{_identifier(name)} as {label}" for name, label in zip(names, labels, strict=True))
    return relation.project(", ".join(renamed))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

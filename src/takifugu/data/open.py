"""One entry point for every source: a file of a registered format, or a frame of any library that narwhals knows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.core.errors import DataError, InputError
from takifugu.core.sections import values_of
from takifugu.data.engines.faults import careful
from takifugu.data.engines.ibis import relation_of
from takifugu.data.engines.outside import engine_of, package_of_engine
from takifugu.data.engines.table import Table
from takifugu.data.files.copied_rows import table_of
from takifugu.data.files.csv_text import look
from takifugu.data.files.formats import (
    careful_with_format,
    check_parts,
    columns_of,
    data_file,
    format_of,
    format_words,
    package_of_format,
)
from takifugu.data.files.many import files_of, is_many, open_many
from takifugu.data.files.with_duckdb import relabelled
from takifugu.data.values.texts import BLANKS
from takifugu.data.values.written import Written

if TYPE_CHECKING:
    from takifugu.data.engines.differences import Frame


def open_frame(data: object, missing: Iterable[str] = ("",), written: Written | None = None) -> Table:
    """Open a file of a registered format, or a frame.

    Frames are of pandas, Polars, PyArrow, DuckDB or PySpark. No row is read yet. Large files go through DuckDB if
    installed, so they may exceed memory. Texts in `missing`, and empty ones, are missing values; `written` is the
    format of the source, as far as declared. Empty rows of a CSV file with several columns are left out. Raises
    DataError for an unreadable file, and InputError for something other than a frame.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person,minute,posture\\nAna,0,lying\\n")
    >>> open_frame(file).names
    ('person', 'minute', 'posture')
    """
    if isinstance(missing, str):
        raise InputError(f"missing is {missing!r}", fix='give a list of texts, such as ["NA", "?"]').at("missing")
    words, notation = frozenset(str(word).strip(BLANKS) for word in missing) | {""}, written or Written()
    if isinstance(data, Table):
        return data
    if isinstance(data, str | PathLike):
        if "://" in str(data):
            raise DataError("the data is a URL", fix="download it first and give the path of the copy")
        path = Path(os.path.abspath(data))  # engines differ in how they read ~ and file:
        state = _state_of(path)
        return replace(_opened(path, words, notation), check_unchanged=lambda: _check_unchanged(path, state))
    return replace(_open_native(data, words), written=notation)


def _open_native(data: Any, missing: frozenset[str]) -> Table:
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import is_spark

    kind = f"{type(data).__module__.split('.')[0]} {type(data).__name__}"
    source = f"the {kind}"
    with careful(source):
        frame, native, in_rows, reader = _narwhals_of(data, kind)
    with careful(source):
        if is_spark(frame):
            # Spark reads a dot in a name as a path, and takes A for a: numbered names are what they say.
            names = tuple(native.columns)
            labels = tuple(f"c{number}" for number in range(len(names)))
            numbered = nw.from_native(native.toDF(*labels))
            return Table(source, names, False, missing, lambda: numbered, labels, native)
        headings = tuple(frame.collect_schema().names())
        labels = tuple(f"c{number}" for number in range(len(headings)))  # * and ^a$ are patterns to Polars, * to DuckDB
        if isinstance(frame, nw.LazyFrame) and frame.implementation.is_duckdb():
            frame = nw.from_native(relabelled(native, headings, labels))
        elif frame.implementation.is_polars():
            frame = frame.rename(dict(zip(headings, labels, strict=True))).lazy()
        else:
            labels = headings
    names = tuple(map(str, headings))
    return Table(source, names, in_rows, missing, lambda: frame, labels, (data, native), reader=reader)


def _narwhals_of(data: Any, kind: str) -> tuple[Frame, Any, bool, str]:
    """Return data as a frame, whether rows have an order, and whose package the engine is of.

    The frame is as the engine has it.
    """
    import narwhals.stable.v2 as nw

    engine, native = None, data
    try:
        frame: Frame = nw.from_native(_plain_labels(data), series_only=False)
    except TypeError:
        engine = engine_of(data)
        if engine is None:
            raise InputError(
                f"the data is a {kind}",
                fix=f"give {format_words()}, or a pandas, Polars, PyArrow, DuckDB, Ibis or PySpark frame",
            ) from None
        native = engine.frame(data)
        frame = nw.from_native(_plain_labels(native), series_only=False)
    if frame.implementation.is_ibis():
        native = relation_of(native)
        frame = nw.from_native(native)
    if engine is not None:
        return frame, native, engine.ordered, package_of_engine(engine.name)
    return frame, native, isinstance(frame, nw.DataFrame) or frame.implementation.is_polars(), ""


def _plain_labels(data: Any) -> Any:
    """Give a pandas frame's columns different texts as names."""
    if type(data).__module__.split(".")[0] != "pandas" or not hasattr(data, "columns"):
        return data
    labels = list(map(str, data.columns))
    if list(data.columns) == labels and len(set(labels)) == len(labels):
        return data
    for label, times in Counter(labels).items():
        if times > 1:
            raise InputError(f"the data has two columns called {label!r}", fix="rename one")
    return data.set_axis(labels, axis=1)


def sniffed(path: Path) -> Written:
    """Return the probable keys for a file, by its format.

    Faults of the file are left to whoever opens it.
    """
    try:
        many = is_many(path)
        file = data_file(files_of(path)[0] if many else path)
        form = format_of(file)
        with careful_with_format(file, form):
            guessed = form.guess(file)
        return replace(guessed, file_names="file") if many and form.name != "Parquet" else guessed
    except (DataError, IndexError):
        return Written()


def looked_into(path: Path) -> Mapping[str, int]:
    """Return the sheets or tables of a file with approximate cell counts."""
    try:
        if is_many(path):
            return {}
        file = data_file(path)
    except DataError:
        return {}  # opening it says what is wrong
    form = format_of(file)
    if form.contents is None:
        return {}
    with careful_with_format(file, form):
        return form.contents(file)


def _state_of(path: Path) -> Sequence[Hashable]:
    """Return which files a path has, and when they were written."""
    state = list[Hashable]()
    for file in files_of(path):
        with suppress(OSError, ValueError):  # opening it says why
            status = file.stat()
            # a copy may be given the times of its original, but not the last one
            state.append((file, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return state


def _check_unchanged(path: Path, state: Sequence[Hashable]) -> None:
    if _state_of(path) != state:
        raise DataError(
            f"{path.name} was changed while it was read",
            rule="rows are read more than once, and must be the same each time",
            fix="run the same command again when nothing writes to it, or give a copy",
        )


def _opened(path: Path, missing: frozenset[str], notation: Written) -> Table:
    if is_many(path):
        title, table, form = open_many(path, notation)
        table = replace(table, source=title, ordered=form.ordered, missing=missing, written=notation)
        return replace(table, reader=package_of_format(form))
    if notation.file_names is not None:
        raise InputError(
            f"{path.name} is one file", rule="names of files are read where there are many", fix="leave file_names out"
        ).at("file_names")
    file = data_file(path)
    form = format_of(file)
    check_parts(file, form, notation)
    with careful_with_format(file, form):
        rows = form.read(file, notation)
        if isinstance(rows, Mapping):
            rows = table_of(file, *columns_of(rows, file.name))
        table = rows if isinstance(rows, Table) else _open_native(rows, missing)
    reader = package_of_format(form)
    return replace(table, source=file.name, ordered=form.ordered, missing=missing, written=notation, reader=reader)


def dialect_of(path: Path, written: Written) -> Mapping[str, object]:
    """Return the dialect of a file, by its keys.

    A CSV file has a `delimiter` and an `encoding` by Python's name, a workbook or database a `sheet` or `table`. The
    first of many files decides.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "activity.csv"
    >>> _ = file.write_text("person;posture\\nAna;lying\\n")
    >>> dialect_of(file, Written(delimiter=";"))
    {'delimiter': ';', 'encoding': 'utf-8'}
    """
    path = Path(os.path.abspath(path))
    file = data_file(files_of(path)[0])
    form = format_of(file)
    with careful_with_format(file, form):
        if form.name == "CSV":
            sign = written.delimiter or look(file, written).separator
            return {"delimiter": sign, "encoding": written.codec or "utf-8"}
        parts = values_of(written, form.parts)
        if not is_many(path) and form.contents is not None:
            parts = {part: name or next(iter(form.contents(file))) for part, name in parts.items()}
        return parts if written.lines is None else {**parts, "header": [*written.lines]}

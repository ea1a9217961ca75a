"""Formats of files with data: each one says which files are its, opens them, and guesses how they are written.

A format is one file; CSV takes what no other one does.
"""

from __future__ import annotations

import csv
import errno
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import IO

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.escaping import command
from takifugu.core.plugins import registered_by
from takifugu.core.registry import Registry
from takifugu.core.sections import written as named
from takifugu.data.values.written import Written, not_written_so

#: How many first bytes of a file tell its format.
BEGINNING = 512
#: The names of columns, and rows with a text, or none, for each of them.
Rows = tuple[Sequence[str], Iterable[Sequence[str | None]]]


@dataclass(frozen=True)
class DataFile:
    """A file that formats are asked about: its place, its name in messages, whether gzip packed it, its first bytes."""

    path: Path
    name: str
    packed: bool
    start: bytes

    @property
    def suffix(self) -> str:
        """Return the end of its name in small letters, without .gz."""
        name = self.path.name.lower()
        if self.packed:
            name = name.removesuffix(".gz")
        return Path(name).suffix

    @contextmanager
    def opened(self, codec: str | None = None) -> Iterator[IO[bytes]]:
        """Open its unpacked bytes; DataError, quoting nothing, for failures of reading."""
        with careful_with_files(self.name, codec), gzip.open(self.path) if self.packed else open(self.path, "rb") as it:
            yield it  # type: ignore[misc]  # a gzip file is read as every other one


@dataclass(frozen=True)
class SourceFormat:
    """A format of files: `begins` and `suffixes` tell its files, `read` opens one without reading it where it can.

    `read` returns texts by column (None where one is missing), or any frame that `tf.release(data=...)` takes; its
    rows are in the file's order. What it cannot read it refuses with a DataError that quotes nothing of the file; other
    exceptions are replaced by such a one. `guess` says how a file seems to be written, for the draft that `init` makes.
    `parts` are the keys that choose a part of a file ("sheet", "table"); `ordered` says that rows have an order, and
    `rows` returns the names of the columns and its rows one by one, of one file of many; `contents` says how many cells
    each part has, about, for the draft.

    >>> form = SourceFormat("fixed width", read=lambda file, written: {"name": ["Ana"]}, suffixes=(".fwf",))
    >>> DataFile(Path("people.fwf.gz"), "people.fwf.gz", packed=True, start=b"Ana  12").suffix in form.suffixes
    True
    """

    name: str
    read: Callable[[DataFile, Written], object]
    suffixes: tuple[str, ...] = ()
    begins: tuple[bytes, ...] = ()
    guess: Callable[[DataFile], Written] = lambda file: Written()
    parts: tuple[str, ...] = ()
    ordered: bool = True
    rows: Callable[[DataFile, Written], Rows] | None = None
    contents: Callable[[DataFile], Mapping[str, int]] | None = None


#: The last one takes what no other knows.
FORMATS: Registry[SourceFormat] = Registry(
    "the source format",
    {
        "Parquet": "data.files.parquet:PARQUET",
        "JSON lines": "data.files.json_lines:JSON_LINES",
        "GeoJSON": "data.files.geojson:GEOJSON",
        "Excel": "data.files.excel:EXCEL",
        "SQLite": "data.files.sqlite:SQLITE",
        "DuckDB": "data.files.duckdb_file:DUCKDB",
        "CSV": "data.files.csv_file:CSV",
    },
)


def register(form: SourceFormat) -> None:
    """Let files of a format be opened wherever CSV files are.

    Raises InputError for a taken name or taken files.
    """
    if not isinstance(form, SourceFormat) or not callable(form.read) or not callable(form.guess):
        raise InputError(f"{type(form).__name__} is no source format", fix="give SourceFormat(name, read, suffixes)")
    if (not form.suffixes and not form.begins) or b"" in form.begins:
        raise InputError(f"nothing tells which files are {form.name}", fix="give suffixes or begins")
    for suffix in form.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            raise InputError(f"the suffixes of {form.name} are {form.suffixes}", fix='write them as in ".jsonl"')
    for other in map(FORMATS.find, FORMATS.names):
        overlap = {*other.suffixes, *other.begins} & {*form.suffixes, *form.begins}
        if overlap:
            raise InputError(f"{sorted(map(str, overlap))} is how {other.name} files are told", fix="give others")
    FORMATS.register(form.name, form)


def format_of(file: DataFile) -> SourceFormat:
    """Return a file's format by its beginning, else its suffix, else CSV."""
    forms = list(map(FORMATS.find, FORMATS.names))
    for form in forms:
        if file.start.startswith(form.begins):
            return form
    for form in forms:
        if file.suffix in form.suffixes:
            return form
    return FORMATS.find("CSV")


def package_of_format(form: SourceFormat) -> str:
    """Return the package that a format comes from, "" for ours."""
    return "" if FORMATS.is_built_in(form.name) else registered_by(form.read)


def format_words() -> str:
    """Return the formats in a message: "a CSV or Parquet file"."""
    names = sorted(FORMATS.names)
    return f"a {', '.join(names[:-1])} or {names[-1]} file"


def suffixes() -> tuple[str, ...]:
    """Return the endings of files of all formats."""
    return tuple(chain.from_iterable(FORMATS.find(name).suffixes for name in FORMATS.names))


def chosen(names: Sequence[str], wanted: str | None, file: DataFile, part: str) -> str:
    """Return a file's wanted "sheet" or "table", or the only one.

    Raises DataError, without unwanted names, for a missing part, and for several without a wanted one.
    """
    if wanted is not None:
        if wanted in names:
            return wanted
        fix = "write its name as it is there"
        if part == "table":
            fix += "; a view is none: make a table of its rows"
        raise DataError(f"{file.name} has no {part} {wanted!r}", fix=fix).at(part)
    if len(names) == 1:
        return names[0]
    many = f"has {len(names)} {part}s, and none is named" if names else f"has no {part}"
    listing = command("init", file.path, "-o", file.path.with_name(f"{file.path.stem}-{part}s.toml"))
    fix = f"write the {part} that holds the data; {listing} lists them"
    raise DataError(f"{file.name} {many}", fix=fix).at(part)


def largest(contents: Mapping[str, int]) -> str | None:
    """Return the largest of several parts, None for a single one.

    >>> largest({"settings": 2, "log": 600}), largest({"log": 600})
    ('log', None)
    """
    return max(contents, key=lambda name: contents[name]) if len(contents) > 1 else None


def check_parts(file: DataFile, form: SourceFormat, written: Written) -> None:
    """Raise InputError for a declared sheet, table or header in other formats."""
    if written.lines is not None and form.name not in ("CSV", "Excel"):
        raise InputError(f"{file.name} is a {form.name} file, which has no lines", fix="leave it out").at("header")
    for part in named(written, ("sheet", "table")):
        if part not in form.parts:
            raise InputError(f"{file.name} is a {form.name} file, which has no {part}s", fix="leave it out").at(part)


def data_file(path: Path, name: str = "") -> DataFile:
    """Inspect a file's first bytes; DataError for an empty or unreadable one."""
    name = name or path.name
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise OSError(errno.EINVAL, "It is a device or a pipe, and data are read more than once")
        with open(path, "rb") as file:
            start = file.read(BEGINNING)
    except ValueError:
        raise DataError(
            "no file can have the name that is given for the data", fix="write the path of the file"
        ) from None
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"{name} cannot be read ({reason})", fix="check the path and the file") from None
    if not start:
        raise DataError(f"{name} is empty", rule="a CSV file starts with a line of column names")
    if not start.startswith(b"\x1f\x8b"):
        return DataFile(path, name, False, start)
    with careful_with_files(name), gzip.open(path) as unpacked:
        return DataFile(path, name, True, unpacked.read(BEGINNING))


def columns_of(columns: Mapping[str, Sequence[str | None]], name: str) -> Rows:
    """Return names and rows from texts by column; DataError for others."""
    lists = {str(column): list(texts) for column, texts in columns.items()}
    if len(set(map(len, lists.values()))) != 1:
        raise DataError(f"{name} is no table", rule="each row has a value, or none, in each of some columns")
    if not all(isinstance(text, str | None) for text in chain.from_iterable(lists.values())):
        raise DataError(f"{name} was read as something else than texts", fix="its format must return texts, or a frame")
    return tuple(lists), zip(*lists.values(), strict=True)


@contextmanager
def careful_with_format(file: DataFile, form: SourceFormat) -> Iterator[None]:
    """Turn errors of a format's reader into a DataError without quotations."""
    try:
        yield
    except TakifuguError:
        raise
    except Exception:
        raise DataError(f"{file.name} cannot be read as {form.name}", fix="check the file") from None


@contextmanager
def careful_with_files(name: str, codec: str | None = None) -> Iterator[None]:
    """Turn errors of a file into a DataError without quotations."""
    try:
        yield
    except UnicodeError:
        raise not_written_so(name, codec) from None
    except csv.Error:
        raise DataError(
            f"{name} is not a well-formed CSV file", fix="check its quotes, separators and line ends"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = "it ends too early or is damaged"
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror.lower()
        raise DataError(f"{name} cannot be read ({reason})", fix="check the path and the file") from None


def is_installed(library: str) -> bool:
    return find_spec(library) is not None

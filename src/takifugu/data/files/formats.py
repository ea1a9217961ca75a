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
from pathlib import Path
from typing import IO

from takifugu.core.commands import command
from takifugu.core.errors import DataError, InputError, TakifuguError
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
        plain = Path(self.path.name[:-3]) if self.packed and self.path.name.lower().endswith(".gz") else self.path
        return plain.suffix.lower()

    @contextmanager
    def opened(self, codec: str | None = None) -> Iterator[IO[bytes]]:
        """Open its unpacked bytes; DataError, quoting nothing, for failures of reading."""
        with careful_with_files(self.name, codec), gzip.open(self.path) if self.packed else open(self.path, "rb") as it:
            yield it  # type: ignore[misc]  # a gzip file is read as every other one


def _as_they_say(file: DataFile) -> Written:
    return Written()


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
    guess: Callable[[DataFile], Written] = _as_they_say
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
    if any(not suffix.startswith(".") or suffix != suffix.lower() for suffix in form.suffixes):
        raise InputError(f"the suffixes of {form.name} are {form.suffixes}", fix='write them as in ".jsonl"')
    for other in map(FORMATS.find, FORMATS.names):
        overlap = {*other.suffixes, *other.begins} & {*form.suffixes, *form.begins}
        if overlap:
            raise InputError(f"{sorted(map(str, overlap))} is how {other.name} files are told", fix="give others")
    FORMATS.register(form.name, form)


def format_of(file: DataFile) -> SourceFormat:
    """Return a file's format by its beginning, else its suffix, else CSV."""
    forms = [FORMATS.find(name) for name in FORMATS.names]
    begun = (form for form in forms if file.start.startswith(form.begins))
    suffix_forms = (form for form in forms if file.suffix in form.suffixes)
    return next(begun, None) or next(suffix_forms, None) or FORMATS.find("CSV")


def format_words() -> str:
    """Return the formats in a message: "a CSV or Parquet file"."""
    names = sorted(FORMATS.names)
    return f"a {', '.join(names[:-1])} or {names[-1]} file"


def suffixes() -> tuple[str, ...]:
    """Return the endings of files of all formats."""
    return tuple(suffix for name in FORMATS.names for suffix in FORMATS.find(name).suffixes)


def chosen(names: Sequence[str], wanted: str | None, file: DataFile, part: str) -> str:
    """Return a file's wanted "sheet" or "table", or the only one.

    Raises DataError, without unwanted names, for a missing part, and for several without a wanted one.
    """
    if wanted is not None and wanted not in names:
        views = "; a view is none: make a table of its rows" if part == "table" else ""
        raise DataError(f"{file.name} has no {part} {wanted!r}", fix=f"write its name as it is there{views}").at(part)
    if wanted is None and len(names) != 1:
        many = f"has {len(names)} {part}s, and none is named" if names else f"has no {part}"
        listing = command("init", file.path, "-o", file.path.with_name(f"{file.path.stem}-{part}s.toml"))
        fix = f"write the {part} that holds the data; {listing} lists them"
        raise DataError(f"{file.name} {many}", fix=fix).at(part)
    return names[0] if wanted is None else wanted


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
    start = _first_bytes(path, name)
    if not start:
        raise DataError(f"{name} is empty", rule="a CSV file starts with a line of column names")
    if not start.startswith(b"\x1f\x8b"):
        return DataFile(path, name, False, start)
    with careful_with_files(name), gzip.open(path) as file:
        return DataFile(path, name, True, file.read(BEGINNING))


def _first_bytes(path: Path, name: str) -> bytes:
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
        raise DataError(f"{name} cannot be read ({reason})", fix="check the path and the file") from None


def columns_of(columns: Mapping[str, Sequence[str | None]], name: str) -> Rows:
    """Return names and rows from texts by column; DataError for others."""
    lists = {str(column): list(texts) for column, texts in columns.items()}
    if not lists or len({len(texts) for texts in lists.values()}) > 1:
        raise DataError(f"{name} is no table", rule="each row has a value, or none, in each of some columns")
    if any(not isinstance(text, str | None) for texts in lists.values() for text in texts):
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
        reason = ((error.strerror if isinstance(error, OSError) else None) or "it ends too early or is damaged").lower()
        raise DataError(f"{name} cannot be read ({reason})", fix="check the path and the file") from None


def is_installed(library: str) -> bool:
    return find_spec(library) is not None

"""Where the private data are: the frame or file that was given, or else the file that [source] names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from takifugu.core.cache import cached
from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.files import path_in
from takifugu.core.plain import Json, Plain
from takifugu.data import Numerals, Table, Written, open_frame
from takifugu.data.engines import outside
from takifugu.data.engines.outside import Address
from takifugu.data.files.formats import format_words
from takifugu.data.files.many import files_of, is_many
from takifugu.data.files.many import is_there as leads_to_data
from takifugu.data.open import dialect_of
from takifugu.releasing.file.keys import plain
from takifugu.releasing.file.sections import FileSpec, SourceKeys

#: Keys that choose what is read of a file.
PARTS = ("sheet", "table", "file_names")
#: Keys that are blamed for a source that cannot be opened, where they are wrong.
BLAMED = (*PARTS, "renamed", "engine", "columns", "order", "value", "empty")
#: Keys that only a CSV file has.
_OF_CSV = frozenset(("delimiter", "encoding", "header"))


#: Given in place of data: nothing private is opened, and what only the data show is not looked at.
UNOPENED = object()


def written_of(*keys: object) -> Written:
    """Return a file's format by the first section to declare it.

    Sheet, table and lines are the first section's: another section is about another file.
    """

    said: dict[str, Any] = {"header": True, "decimal": ".", "thousands": "", "encoding": None, "delimiter": None}
    for section in reversed(keys):
        if not isinstance(said["header"], bool):  # another file has its own lines
            said["header"] = None
        for name in said:
            value = getattr(section, name, None)
            if value is not None:
                said[name] = value
    lines = header = said["header"]
    if isinstance(lines, bool):
        lines = None
    elif isinstance(lines, int):
        lines = (lines, lines)
    parts: dict[str, Any] = {}
    if not isinstance(keys[0], SourceKeys) or keys[0].engine is None:  # an engine's table is none of a file's
        parts = {key: getattr(keys[0], key, None) for key in PARTS}
    numerals = Numerals(said["decimal"], said["thousands"])
    return Written(
        said["encoding"], said["delimiter"], header is not False, numerals=numerals, lines=lines, **parts
    )


def open_public(keys: object, source: SourceKeys | None, path: Path | str, missing: bool = True) -> Table:
    """Open a file of the belief, with the source's format by default."""
    texts: tuple[str, ...] = ("",)
    if missing and source is not None:
        texts = source.missing
    return open_frame(path, texts, written_of(keys, source))


def open_source(spec: FileSpec, folder: Path, data: object, named: bool = False) -> Table:
    """Open the private data without reading it.

    `named` limits the columns to those in the release file. Raises InputError without data or a file.
    """
    source = spec.source
    if data is None and source.engine is not None:
        place = source.file
        texts: frozenset[str] | None = None
        if place is not None and "://" not in place:
            place = f"file:///{Path(os.path.abspath(folder / place)).as_posix().lstrip('/')}"
        if named and not source.reads_all_columns:
            texts = frozenset(_texts(plain(spec, by_alias=True)))
        data = outside.opened(source.engine, Address(place, source.table, texts))
    if data is not None:
        return source.long(open_frame(data, source.missing, written_of(source)), spec.belief)
    if source.file is None:
        raise InputError(
            "is missing",
            fix=f'write file = "data.csv" ({format_words()}, relative to this file), or give a frame: '
            "tf.release_file(..., data=frame)",
        )
    path = path_in(folder, source.file)
    return source.long(open_frame(path, source.missing, written_of(source)), spec.belief)


def _texts(value: object) -> Iterator[str]:
    """Yield every text and key in plain data."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for part in value:
            yield from _texts(part)


def is_there(source: SourceKeys, folder: Path, data: object) -> bool:
    """Return whether there are data to open."""
    if data is not None or source.engine is not None:
        return data is not UNOPENED
    return source.file is not None and leads_to_data(folder / source.file)


def private_files(source: SourceKeys, folder: Path, data: object) -> tuple[Path, ...]:
    """Return the files of private data, given ones included."""
    paths = list[Path]()
    if source.file is not None and "://" not in source.file:
        paths.append(folder / source.file)
    if isinstance(data, str | os.PathLike):
        paths.append(Path(data))
    for path in filter(is_many, tuple(paths)):
        with suppress(DataError):  # opening it says what is wrong
            paths += files_of(path)
    return tuple(paths)


def with_dialect(said: Plain, source: SourceKeys, folder: Path, data: object, table: Table | None) -> Json:
    """Return a layout with its file's format as read.

    Keys of other formats are left out. Nothing is known of the format of a frame, or of a file that cannot be opened.
    """
    path = data
    dialect: Mapping[str, object] = {}
    if data is None and source.engine is None and source.file:
        path = folder / source.file
    if table is not None and isinstance(path, str | os.PathLike):
        with suppress(TakifuguError):  # a file that was replaced since it was opened: reading it says so
            dialect = cached(table, "dialect", lambda: dialect_of(Path(path), written_of(source)))
    dropped = {"delimiter", "encoding"} if "delimiter" in dialect else _OF_CSV
    layout = {key: value for key, value in said.items() if key not in dropped}
    return {**layout, **dialect}

"""Where the private data are, what is opened of them, and whether a file that a belief is read from holds them.

What is compared is what was read, whatever its name: a copy, a link, a compressed file, Parquet and a frame are all the
same. The answer depends on the private data, so only the operator, who holds both, is told, before anything is drawn.
A part of the data, or recoded data, is not recognised (docs/known-weaknesses.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.core.files import path_in
from takifugu.data import UNOBSERVED, Layout, Numerals, Recode, Table, Written, open_frame, tally, totals, transitions
from takifugu.data.engines import outside
from takifugu.data.engines.outside import Address
from takifugu.data.files.formats import format_words
from takifugu.data.files.many import files_of, is_many
from takifugu.data.files.many import is_there as leads_to_data
from takifugu.data.relation.source import Table as Relation
from takifugu.releasing.file import relation_keys
from takifugu.releasing.file.keys import plain
from takifugu.releasing.file.relation_keys import RelationKeys
from takifugu.releasing.file.sections import FileSpec, SourceKeys

T = TypeVar("T")

#: Keys that choose what is read of a file.
PARTS = ("sheet", "table", "file_names")
#: Keys that are blamed for a source that cannot be opened, where they are wrong.
BLAMED = (*PARTS, "renamed", "engine", "columns", "order", "value", "empty")
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


def open_public(keys: object, source: SourceKeys | None, path: Path | str) -> Table:
    """Open a file of public sequences, with the source's format by default."""
    texts: tuple[str, ...] = ("",) if source is None else source.missing
    return open_frame(path, texts, written_of(keys, source))


def open_source(spec: FileSpec, folder: Path, data: object, named: bool) -> Table:
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
            texts = frozenset(texts_within(plain(spec, by_alias=True)))
        data = outside.opened(source.engine, Address(place, source.table, texts))
    if data is None and source.file is None:
        raise InputError(
            "is missing",
            fix=f'write file = "data.csv" ({format_words()}, relative to this file), or give a frame: '
            "tf.release_file(..., data=frame)",
        )
    if data is None:
        data = path_in(folder, str(source.file))
    table: Table = source.long(open_frame(data, source.missing, written_of(source)), spec.belief)
    return table


def texts_within(value: object) -> Iterator[str]:
    """Yield every text and key in plain data."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for part in value:
            yield from texts_within(part)


def is_there(source: Any, folder: Path, data: object) -> bool:
    """Return whether there are data to open."""
    if isinstance(source, RelationKeys):
        return data is not UNOPENED and relation_keys.is_there(source, folder, data)
    if data is not None or source.engine is not None:
        return data is not UNOPENED
    return source.file is not None and leads_to_data(folder / source.file)


def private_files(source: Any, folder: Path, data: object) -> tuple[Path, ...]:
    """Return the files of private data, given ones included."""
    if isinstance(source, RelationKeys):
        return relation_keys.private_files(source, folder, data)
    paths = list[Path]()
    if source.file is not None and "://" not in source.file:
        paths.append(folder / source.file)
    if isinstance(data, str | os.PathLike):
        paths.append(Path(data))
    for path in filter(is_many, tuple(paths)):
        with suppress(DataError):  # opening it says what is wrong
            paths += files_of(path)
    return tuple(paths)


def is_one_of(path: Path, private: Iterable[Path]) -> bool:
    """Return whether a path or link leads to one of these files."""
    for other in private:
        try:
            is_same = os.path.samefile(path, other)
        except OSError:  # one of them is not there
            is_same = path.resolve() == other.resolve()
        if is_same:
            return True
    return False


def same_transitions(counts: IntArray, private: Table, layouts: Sequence[Layout], states: Recode) -> bool:
    """Return whether the private data have these counts under any layout."""
    if not counts.any():
        return False
    counts_of_layouts = (_read(partial(transitions, private, layout, states)) for layout in layouts)
    return any(other is not None and np.array_equal(counts, other) for other in counts_of_layouts)


def same_rows(
    public_rows: Mapping[tuple[str | None, ...], int], private: Table | Relation, columns: Sequence[str]
) -> bool:
    """Return whether the private data hold these rows in any order, and no others.

    Private rows are counted in place by the public texts; the rest is counted together. Of a relation the columns are
    values.
    """
    columns = list(dict.fromkeys(columns))
    if isinstance(private, Relation):
        values = private.opened.source.values
        roles = [f"value{values.index(column)}" for column in columns]
        return public_rows == _read(partial(private.times, roles))
    codes = list[dict[str, int]]()
    for place in range(len(columns)):
        texts = {key[place] for key in public_rows} - {None}
        codes.append({str(text): code for code, text in enumerate(texts)})
    coded = dict[tuple[int, ...], int]()
    for key, rows in public_rows.items():
        row = list[int]()
        for text, code_of in zip(key, codes, strict=True):
            row.append(UNOBSERVED if text is None else code_of[text])
        coded[tuple(row)] = rows
    tallied = _read(partial(tally, private, dict(zip(columns, codes, strict=True))))
    if tallied is None:  # a column of dates
        return public_rows == _read(partial(_rows, private, columns))
    return tallied == coded


def _rows(table: Table, columns: Sequence[str]) -> dict[tuple[str | None, ...], int]:
    return {group.key: group.rows for group in totals(table, [], by=columns, null_keys="keep")}


def _read(reduce: Callable[[], T]) -> T | None:
    """Return the reduced data, or None for refused ones, reported elsewhere."""
    try:
        return reduce()
    except TakifuguError:
        return None

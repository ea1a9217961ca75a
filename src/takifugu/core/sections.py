"""What the sections of a release file are written in: frozen dataclasses of plain types, with words and limits.

A field is a key. Its type is what may be written (numbers are strict: true is none), limits are `annotated_types`, and
`Key` has the words. `releasing.file` makes of a section what validates it; nothing here knows how.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, get_type_hints

from annotated_types import Ge, MinLen

from takifugu.core.errors import InputError
from takifugu.core.escaping import visible


@dataclass(frozen=True, eq=False)
class Key:
    """The meaning of a key, with an example of its value.

    `rows` are the shapes of data with this key, none: all. Of a key that decides what a row of the data means, `read`
    returns that as plain data, for ledgers.
    """

    meaning: str
    example: object = None
    rows: tuple[str, ...] = ()
    read: Callable[[Any], object] | None = None


@dataclass(frozen=True)
class Checked:
    """A value's check beyond its type, returning it or raising InputError."""

    check: Callable[[Any], object]


@dataclass(frozen=True)
class Finite:
    """A finite number."""


def written(section: object, keys: Iterable[str]) -> list[str]:
    """Return the keys with values in a section, in their order."""
    return [key for key in keys if getattr(section, key, None) is not None]


def metadata_of(hint: object) -> tuple[object, ...]:
    """Return the metadata of an annotated type."""
    return getattr(hint, "__metadata__", ())


@cache
def keys_of(section: type) -> Mapping[str, Key]:
    """Return the keys of a section that have words."""
    keys = dict[str, Key]()
    for name, hint in get_type_hints(section, include_extras=True).items():
        for note in metadata_of(hint):
            if isinstance(note, Key):
                keys[name] = note
    return keys


def values_of(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of an object under these names, by name."""
    return {name: getattr(value, name) for name in names}


def section_in(file: object, name: str) -> dict[str, Any]:
    """Return a section of a parsed file, {} if it has none."""
    section = file.get(name) if isinstance(file, dict) else None
    return section if isinstance(section, dict) else {}


def values_by_field(value: Any) -> dict[str, Any]:
    """Return the values of a dataclass by the names of its fields."""
    return values_of(value, map(attrgetter("name"), fields(value)))


#: How a SELECT of DuckDB's begins, in place of a path.
SELECT = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)
#: Bytes that a name in a path has at most.
LONGEST = 255


def checked_path(value: str) -> str:
    """Return a path or a SELECT as written; raises InputError for an impossible path."""
    if SELECT.match(value) and visible(value.replace("\n", " ")) == value.replace("\n", " "):
        return value
    longest = max(len(name.encode(errors="replace")) for name in re.split(r"[/\\]", value.split("?")[0]))
    if visible(value) != value or "\n" in value or longest > LONGEST:
        fix = "write a path without control characters; rename the file, if they are its own"
        if longest > LONGEST:
            fix = f"a file's name has {LONGEST} bytes at most: write the path, or a shorter name"
        if re.match(r"[A-Za-z]:", value) or re.search("[\t\n\r\x08\x0c]", value):
            fix = "in double quotes \\t is a tab, \\n a line end: write / for \\, use single quotes, or rename the file"
        raise InputError("is not a path that a file can have", fix=fix)
    return value


#: A number as it is written: `1/3` and `0.1` as text are exact.
Number = int | float | str
State = str | int
Text = Annotated[str, MinLen(1)]
Positive = Annotated[int, Ge(1)]
#: The path of a public file, seen from the release file, or a SELECT that reads it.
FilePath = Annotated[Text, Checked(checked_path)]


@dataclass(frozen=True, kw_only=True)
class PublicFile:
    """A section with a public file, or a SELECT, in UTF-8 or another encoding."""

    encoding: str | None = None

    def counted(self, belief: Any, source: Any) -> Sequence[str]:
        """Return the columns whose rows a [belief] counts, of a [source], and which must not be the private rows."""
        return ()

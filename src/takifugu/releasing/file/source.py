"""Where the private data are, what is opened of them, and whether a file that a belief is read from holds them.

What is compared is what was read, whatever its name: a copy, a link, a compressed file, Parquet and a frame are all the
same. The answer depends on the private data, so only the operator, who holds both, is told, before anything is drawn.
A part of the data, or recoded data, is not recognised (docs/known-weaknesses.md).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import Table
from takifugu.releasing.file import relation_keys
from takifugu.releasing.file.relation_keys import RelationKeys

#: Given in place of data: nothing private is opened, and what only the data show is not looked at.
UNOPENED = object()


def texts_within(value: object) -> Iterator[str]:
    """Yield every text and key in plain data."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for part in value:
            yield from texts_within(part)


def is_there(source: RelationKeys, folder: Path, data: object) -> bool:
    """Return whether there are data to open."""
    return data is not UNOPENED and relation_keys.is_there(source, folder, data)


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


def same_rows(public_rows: Mapping[tuple[str | None, ...], int], private: Table, columns: Sequence[str]) -> bool:
    """Return whether the private data hold these rows in any order, and no others.

    The columns are those of the values of a relation, by their names or else in their order. Of refused data nothing
    is said here: that is reported elsewhere.
    """
    try:
        return bool(private.has_rows(public_rows, columns))
    except TakifuguError:
        return False

"""How the rows of a source become entries, one fact a line, and what these are called: what its ledger keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from takifugu.core.plain import Plain
from takifugu.core.sections import SELECT
from takifugu.data.relation.opening import paths_of_select
from takifugu.releasing.file.keys import Described
from takifugu.releasing.file.relation_keys import RelationKeys

#: A day, a week, a month or a year in the name of a file, and a time behind it.
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d(?:[-_.]?[WQ]?\d\d?)*|\d\d?[-_.](?:\d\d?[-_.])?(?:19|20)\d\d)(?:T[-_.:\d]+Z?)?(?!\d)"
)

#: What the entries of a frame are called whose times say which they are, and the rows of batches without a name.
TIMES, ROWS = "times", "rows"


@runtime_checkable
class Telling(Protocol):
    """A declared [belief] whose keys decide which rows become which entry of whom."""

    def reading(self) -> Plain: ...


def read_with(reading: str, belief: Described) -> str:
    """Return the reading of a relation with what the belief's keys decide."""
    facts = belief.meant.reading() if isinstance(belief.meant, Telling) else {}
    said = [f"{name}: {_in_line(value)}" for name, value in sorted(facts.items()) if value is not None]
    return "\n".join([reading, *said])


def entries_of(source: RelationKeys, given: object) -> str | None:
    """Return the name of a source's entries; None where nobody named them.

    The name is declared, or else that of the source's file: its owner is asked where the next one is called otherwise.
    Where `order` holds times they say which entries are read, so that dates in the name are no part of it. Of rows that
    are sent one by one every one about a person counts, whatever its batch is called.
    """
    if source.names_rows:
        return ROWS
    if source.entries is not None:
        return source.entries
    if _is_frame(given):
        return TIMES if source.has_times else None
    name = ", ".join(dict.fromkeys(_files(source, given))) or None
    if name is not None and source.has_times:
        name = _DATE.sub("*", name)
    return name


def _is_frame(given: object) -> bool:
    return given is not None and not isinstance(given, str | Path)


def _files(source: Any, given: object) -> Iterator[str]:
    """Yield the names of the files of a source, as they are written, without their folders."""
    if given is not None:
        yield Path(str(given)).name
    elif source.file is not None:
        yield source.file.rpartition("/")[2]
    elif source.sql is not None and SELECT.match(source.sql):
        for path in paths_of_select(source.sql):
            yield path.rpartition("/")[2]


def _in_line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)

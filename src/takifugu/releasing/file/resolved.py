"""What a release file reads as what: its layout as it turned out, whichever of its keys were written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.plain import Json, Plain
from takifugu.data import Table, Zone
from takifugu.data.files.dialects import dialect_of
from takifugu.releasing.file.sections import SourceKeys
from takifugu.releasing.file.source import written_of

#: Keys that only a CSV file has.
_OF_CSV = frozenset(("delimiter", "encoding", "header"))


def with_dialect(said: Plain, source: SourceKeys, folder: Path, data: object, table: Table | None) -> Json:
    """Return a layout with its file's format as read.

    Keys of other formats are left out. Nothing is known of the format of a frame, or of a file that cannot be opened.
    """
    path = data if data is not None else source.engine is None and source.file and folder / source.file
    dialect: Mapping[str, object] = {}
    if table is not None and isinstance(path, str | os.PathLike):
        dialect = cached(table, "dialect", lambda: _dialect(Path(path), source))
    dropped = {"delimiter", "encoding"} if "delimiter" in dialect else _OF_CSV
    return {**{key: value for key, value in said.items() if key not in dropped}, **dialect}


def _dialect(path: Path, source: SourceKeys) -> Mapping[str, object]:
    try:
        return dialect_of(path, written_of(source))
    except TakifuguError:  # a file that was replaced since it was opened: reading it says so
        return {}


def clocks(zone: str | None) -> list[str]:
    """Return a zone's clock in brief; zones without changes share one.

    >>> clocks(None), clocks("Etc/UTC"), clocks("Europe/Berlin")[0]
    (['UTC+0s', 'UTC+0s'], ['UTC+0s', 'UTC+0s'], 'Europe/Berlin')
    """
    time_zone = Zone(zone or "UTC")
    first = time_zone.stretches[0].offset // 1_000_000
    if not time_zone.changes:
        return [f"UTC{first:+}s"] * 2
    return [time_zone.name, sha256(repr((first, time_zone.changes)).encode()).hexdigest()[:16]]


def shows_times_twice(zone: str | None) -> bool:
    """Return whether clocks of a zone are ever set back."""
    return any(stretch.back for stretch in Zone(zone or "UTC").stretches)

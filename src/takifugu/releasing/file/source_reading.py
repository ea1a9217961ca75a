"""How the rows of a source become entries, one fact a line, from the keys of a release file: what its ledger keeps.

Paths, the ends of the calendar and the roster's rows are no part of it: they move every week. The zone is one only
where times are those of clocks: of moments it moves hours and days, and no step.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.lists import without_keys
from takifugu.core.plain import Json, Plain
from takifugu.data import Layout, Table, order_kind
from takifugu.data.open import dialect_of
from takifugu.data.rows.kinds_of_order import CLOCK_TIMES
from takifugu.data.values.texts import BLANKS
from takifugu.numbers.rationals import to_text
from takifugu.releasing.file.keys import Described, columns_of_order
from takifugu.releasing.file.sections import MEANT, SourceKeys
from takifugu.releasing.file.source import written_of

if TYPE_CHECKING:
    from takifugu.data.times.calendar import Calendar

#: Keys of [source] that are no part of it: where the data are, what may be spent, what is public, which batch it is.
_NO_PART = frozenset((
    "name", "file", "sheet", "table", "budget", "same_people", "only_release", "list_units", "until", "gaps", "nulls",
    "engine", "attributes", "entries", "rows_per_person", "as_composing", "begins_series", "renamed", "roster",
    "rows", "step", "from", "missing",
))  # fmt: skip


@runtime_checkable
class Telling(Protocol):
    """A declared [belief] whose keys decide which rows become which entry of whom."""

    def reading(self) -> Plain: ...


@runtime_checkable
class OfStates(Protocol):
    """A [belief] about the states of sequences."""

    states: tuple[str, ...]
    map: Mapping[str, str]


@runtime_checkable
class OfSteps(Protocol):
    """A [source] that may have a step and a calendar."""

    @property
    def length(self) -> Fraction | timedelta | None: ...

    @property
    def calendar(self) -> Calendar | None: ...


@runtime_checkable
class OfTimes(Protocol):
    """A [source] of sequences, with the column of each row's time."""

    rows: str
    order: str | tuple[str, str] | None
    form: str | None
    value: str
    unit: str | None
    recording: str | None
    null_keys: Any
    timezone: str | None


def reading_of(source: SourceKeys, belief: Described, folder: Path, given: object, table: Table | None) -> str:
    """Return how the rows of a source become entries; paths are relative to a folder, and `given` replaces the file.

    Without a table nobody knows what its columns hold.
    """
    facts = {**_declared(source), **_of_states(source, belief), **_of_steps(source, table)}
    facts |= _written(source, folder, given, table)
    if isinstance(belief.meant, Telling):
        facts |= belief.meant.reading()
    lines = {name: value for name, value in facts.items() if value is not None}
    return "\n".join(f"{name}: {_in_line(lines[name])}" for name in sorted(lines))


def read_with(reading: str, belief: Described) -> str:
    """Return the reading of a relation with what the belief's keys decide."""
    facts = belief.meant.reading() if isinstance(belief.meant, Telling) else {}
    said = [f"{name}: {_in_line(value)}" for name, value in sorted(facts.items()) if value is not None]
    return "\n".join([reading, *said])


def _in_line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _declared(source: SourceKeys) -> Json:
    """Return the keys that are not what they are by default."""
    said = without_keys(source.model_dump(mode="json", by_alias=True, exclude_defaults=True), _NO_PART)
    missing = sorted({str(word).strip(BLANKS) for word in source.missing} - {""})
    return {**{key: value for key, value in said.items() if MEANT.get(key) != value}, "missing": missing or None}


def _of_states(source: SourceKeys, belief: Described) -> Json:
    """Return what a row of a sequence says, which value is which state, and which pieces count."""
    if not isinstance(belief, OfStates) or not isinstance(source, OfTimes):
        return {}
    said = belief.model_dump(mode="json", include={"map", "min_length", "max_length", "longer"}, exclude_defaults=True)
    if said.pop("longer", "refuse") == "refuse":
        said.pop("max_length", None)
    return {**said, "rows": source.rows, "states": sorted(map(str, belief.states))}


def _of_steps(source: Any, table: Table | None) -> Json:
    """Return the step, where it starts, and whether times are those of clocks."""
    facts: Json = {}
    if isinstance(source, OfSteps) and (length := source.length) is not None:
        facts["step"] = f"{length // timedelta(seconds=1)}s" if isinstance(length, timedelta) else to_text(length)
    if isinstance(source, OfSteps) and source.calendar is not None:
        facts["start between steps"] = source.calendar.name.partition(", ")[2]
    if table is None or not isinstance(source, OfTimes) or source.order is None:
        return facts
    day, clock = columns_of_order(source.order)
    read = Layout(
        source.value, source.unit, source.recording, day, null_keys=source.null_keys, order_format=source.form,
        time_of_day=clock,
    )  # fmt: skip
    key = "order", source.order, source.form, source.null_keys
    kind = cached(table, key, lambda: order_kind(table, read))
    return {**facts, "times": kind, "timezone": (source.timezone or "UTC") if kind == CLOCK_TIMES else None}


def _written(source: SourceKeys, folder: Path, data: object, table: Table | None) -> Json:
    """Return how the file is written, as far as that can be seen.

    Of a frame, and of a file that cannot be opened, there is nothing to see.
    """
    path, seen = data, dict[str, object]()
    if data is None and source.engine is None and source.file:
        path = folder / source.file
    if table is not None and isinstance(path, str | os.PathLike):
        with suppress(TakifuguError):  # a file that was replaced since it was opened: reading it says so
            seen |= cached(table, "dialect", lambda: dialect_of(Path(path), written_of(source)))
    others = dict.fromkeys(("delimiter", "encoding", "header"))
    if "delimiter" in seen:
        others = {}
    return {**others, **seen}

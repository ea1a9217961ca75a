"""The layout of a source of sequences as it turned out: which raw value is which state, which time which step."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

from takifugu.core.cache import cached
from takifugu.core.plain import Json, Plain
from takifugu.core.sections import values_of
from takifugu.data import Layout, Table, Zone, order_kind, parse_step
from takifugu.data.rows.kinds_of_order import CLOCK_TIMES
from takifugu.data.times.epochs import EPOCHS
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.file.sequences.wide import layout_of_columns

if TYPE_CHECKING:
    from takifugu.releasing.file.sequences.sections import SequenceBelief, SourceSpec

#: Formats of texts that ISO 8601 reads as the same times, or not at all.
_ISO_DAY, _ISO_CLOCKS = "%Y-%m-%d", ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
ISO_FORMATS = frozenset((_ISO_DAY, *(f"{_ISO_DAY}{sign}{clock}" for sign in "T " for clock in _ISO_CLOCKS)))
#: Keys about times, and about names, that mean nothing without them.
_OF_ORDER = ("duplicates", "ambiguous", "timezone", "order_format", "round_to")


def resolved(said: Plain, source: SourceSpec, belief: SequenceBelief, table: Table | None) -> Json:
    """Return the meaning of a layout, one text for all its spellings.

    Only how the steps of a calendar lie is kept: one that starts later counts the same ones. Without a table, nobody
    knows what the order column holds.
    """
    layout: Json = {key: value for key, value in said.items() if key not in _OF_ORDER}
    if source.times is not None:
        layout |= _of_order(source, table)
    if source.unit is None and source.piece is None:
        layout.pop("null_keys", None)
    if source.rows == "wide":
        layout |= layout_of_columns(source)
    layout["step"] = None if source.step is None else _length(source.step)
    layout["from"] = None if source.calendar is None else f"steps that start {source.calendar.name.partition(', ')[2]}"
    if source.bins is not None:
        layout["bins"] = {state: [_edge(end) for end in ends] for state, ends in source.bins.items()}
    layout["states"] = {str(state): str(state) for state in belief.states}
    layout["states"] |= {raw: str(state) for raw, state in belief.map.items()}
    if source.duration is not None:
        layout["duration"] = [source.duration[0], _length(source.duration[1])]
    for key, state in values_of(source, ("before", "otherwise")).items():
        layout[key] = None if state is None else str(state)
    layout["min_length"] = belief.min_length if belief.min_length > 1 else None
    layout["max_length"] = belief.max_length if belief.longer == "cut" else None
    return layout


def _of_order(source: SourceSpec, table: Table | None) -> Json:
    """Return the rules for times as steps and rows of one step."""
    times = None if table is None else cached(table, _key(source), lambda: order_kind(table, _order(source)))
    layout: Json = {"times": times, "duplicates": None if source.duplicates == "refuse" else source.duplicates}
    if times in (None, CLOCK_TIMES):
        layout["timezone"] = clocks(source.timezone)
        if source.ambiguous != "refuse" and shows_times_twice(source.timezone):
            layout["ambiguous"] = source.ambiguous
    if source.form not in (None, *ISO_FORMATS, *EPOCHS):
        layout["order_format"] = source.form
    if source.round_to is not None:
        layout["round_to"] = [_length(source.round_to), _is_rounded_to_itself(source, layout)]
    return layout


def _key(source: SourceSpec) -> tuple[object, ...]:
    return "order", source.times, source.form, source.null_keys


def _order(source: SourceSpec) -> Layout:
    day, clock = source.times if isinstance(source.times, tuple) else (source.times, None)
    return Layout(
        source.value, source.unit, source.piece, day, null_keys=source.null_keys, order_format=source.form,
        time_of_day=clock,
    )  # fmt: skip


def _is_rounded_to_itself(source: SourceSpec, layout: Plain) -> bool:
    """Return whether rounding in UTC keeps the steps of the calendar."""
    if source.calendar is None or source.round_to is None or layout.get("timezone", clocks(None)) != clocks(None):
        return False
    part = parse_step(source.round_to)
    exact = Fraction(part // timedelta(microseconds=1)) if isinstance(part, timedelta) else part
    return layout["times"] == CLOCK_TIMES and Fraction(source.calendar.start) % exact == 0


def _edge(written: int | float | str) -> str:
    infinite = str(written).strip().removeprefix("+")
    return infinite if infinite in ("inf", "-inf") else to_text(as_fraction(written, "an edge"))


def _length(written: int | float | str) -> str:
    length = parse_step(written)
    return f"{length // timedelta(seconds=1)}s" if isinstance(length, timedelta) else to_text(length)


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

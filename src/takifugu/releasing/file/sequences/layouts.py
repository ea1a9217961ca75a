"""The layout of a source of sequences: which rows become which step of whom, and which value a step has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from takifugu.data import parse_step
from takifugu.numbers.rationals import as_fraction, to_text
from takifugu.releasing.file.kind import said_by
from takifugu.releasing.file.layouts import layout_in
from takifugu.releasing.file.sequences.sections import ReleaseSpec
from takifugu.releasing.file.sequences.windows import calendar_of


def layout_of(spec: ReleaseSpec) -> Mapping[str, Any]:
    """Return the layout, one text for each way to write it.

    Where a calendar starts is no part of it, only how its steps lie: a calendar that starts later counts the same ones.
    """
    source, belief = spec.source, spec.belief
    layout = layout_in(source)
    for key in ("step", "round_to"):
        if key in layout:
            layout[key] = _length(layout[key])
    calendar = calendar_of(source)
    layout["from"] = None if calendar is None else f"steps that start {calendar.name.partition(', ')[2]}"
    if source.bins is not None:
        layout["bins"] = {state: [_edge(end) for end in ends] for state, ends in source.bins.items()}
    layout["map"] = {raw: str(state) for raw, state in belief.map.items() if raw != str(state)} or None
    layout["min_length"] = belief.min_length if belief.min_length > 1 else None
    layout["max_length"] = belief.max_length if belief.longer == "cut" else None
    return {**layout, **said_by(belief, "layout", {})}


def _edge(written: int | float | str) -> str:
    infinite = str(written).strip().removeprefix("+")
    return infinite if infinite in ("inf", "-inf") else to_text(as_fraction(written, "an edge"))


def _length(written: int | float | str) -> str:
    length = parse_step(written)
    return f"{length // timedelta(seconds=1)}s" if isinstance(length, timedelta) else to_text(length)

"""Which state follows which one in a public frame or file, which a chain is fitted to, and in private rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from takifugu.core.arrays import IntArray
from takifugu.data.relation.keys import Source
from takifugu.data.relation.opening import is_select
from takifugu.data.relation.roles import SOURCE, Opened
from takifugu.data.relation.source import table_of
from takifugu.data.relation.transitions import transitions_of
from takifugu.data.sql.clocks import CLOCKS, ISO, MOMENTS, OFFSET
from takifugu.data.sql.faults import wrong_data, wrong_key
from takifugu.data.sql.words import identifier, literal
from takifugu.data.times.calendar import Calendar


def transitions_in(
    data: object, states: tuple[Hashable, ...], value: str | None = None, order: str | None = None,
    unit: str | None = None, recording: str | None = None, step: int | str | None = None,
) -> IntArray:  # fmt: skip
    """Count the transitions in a frame, a file or a SELECT, as counts[x, y]; the roles are those of [source]."""
    for key, column, content in (("value", value, "the states"), ("order", order, "what sorts the rows")):
        if column is None:
            fix = 'write for example value="posture", order="minute", unit="person"'
            raise wrong_key(key, f"the column of {content} is not named", "a table is read by its columns", fix)
    texts = [*map(_text, states)]
    if len({*texts}) < len(texts):
        raise wrong_key("states", "two states have one text", "a table holds texts", "name each once")
    root, frame = Path.cwd(), None
    keys: dict[str, Any] = {"value": value, "order": order, "unit": unit, "recording": recording}
    if not isinstance(data, str | PathLike):
        frame = data
    elif isinstance(data, str) and is_select(data, root):
        keys["sql"] = data
    else:
        keys["file"] = str(data)
    source = replace(Source.of({**keys, "step": 1 if step is None else step}, texts), is_public=True)
    # without a `step` each row follows the one before it of its unit and recording, along `order`
    with table_of(source, root, frame) as table:
        opened = replace(table.opened, source=_timed(table.opened, has_step=step is not None))
        counts: IntArray = transitions_of(opened)[0]
        return counts


def transitions_in_public(
    keys: Mapping[str, Any], states: Sequence[object], root: Path, cells: Sequence[int] = (0,),
    calendar: Calendar | None = None,
) -> IntArray:  # fmt: skip
    """Count the transitions of samples in a public source by cells of a calendar, as counts[c, x, y]."""
    source = replace(Source.of(keys, states), start=calendar, is_public=True)
    with table_of(source, root) as table:
        return transitions_of(table.opened, None, cells)


def _text(state: Hashable) -> str:
    """Return a state as tables hold it: 1.0 as 1, True as true."""
    if isinstance(state, bool | np.bool_):
        return str(state).lower()
    return str(int(state)) if isinstance(state, float) and state.is_integer() else str(state)


def _timed(opened: Opened, has_step: bool) -> Source:
    """Return the source with the kind of its order: whole numbers, clocks, or moments, whose zone moves no step."""
    # whole numbers and times cannot be taken for each other
    source, kind, order = opened.source, opened.type("order"), identifier("order")
    is_time, is_moment = kind in CLOCKS | MOMENTS, kind in MOMENTS
    if kind == "VARCHAR":
        matches = ", ".join(
            f"coalesce(bool_or(regexp_full_match({order}, {literal(form)})), false)" for form in (ISO, ISO + OFFSET)
        )
        ((are_clocks, is_moment),) = opened.relation.rows(f"select {matches} from {identifier(SOURCE)}")
        is_time = are_clocks or is_moment
        if are_clocks and is_moment:
            what = "order holds times with an offset from UTC, and times without one"
            fix = 'order = "CASE ... END", which makes them of one kind'
            raise wrong_data("order", what, "a column has one kind of time", fix)
    if not has_step:
        source = replace(source, step="1s" if is_time else 1, is_by_rank=True)
    return replace(source, timezone="UTC") if is_moment and source.is_time else source

"""Rows with a column a time, a day or a question: the keys of [source] about the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from takifugu.core.errors import TakifuguError
from takifugu.core.plain import Json
from takifugu.data.times.epochs import EPOCHS
from takifugu.data.wide import Wide, read_step
from takifugu.releasing.file.keys import State
from takifugu.releasing.file.problems import fault

if TYPE_CHECKING:
    from takifugu.releasing.file.sequences.sections import SequenceBelief, SourceSpec


def wide_of(source: SourceSpec, state_of: Mapping[str, State]) -> Wide:
    """Return the meaning of columns in wide rows."""
    assert source.columns is not None  # which `faults_of` requires, as the order
    assert source.order is not None
    day, order = source.order if isinstance(source.order, tuple) else (None, source.order)
    columns: tuple[str, ...] | Mapping[str, str]
    columns = {header: str(step) for header, step in source.columns.items()} if isinstance(source.columns, dict) else (
        (source.columns,) if isinstance(source.columns, str) else source.columns)  # fmt: skip
    spellings = [raw for raw, state in state_of.items() if state == source.empty]
    empty = () if source.empty is None else (str(source.empty), *spellings)
    other_columns = tuple(name for name in (source.unit, source.piece, day, *source.attributes) if name is not None)
    form = source.order_format
    return Wide(columns, order, source.value, other_columns, source.ignore, form, day is not None, empty)


def faults_of(source: SourceSpec, belief: SequenceBelief | None) -> Iterator[TakifuguError]:
    """Yield the faults of the keys of wide rows."""
    if source.order_format in EPOCHS:
        fix = "write the headers with their times: columns = { ... }"
        yield fault(("source", "order_format"), f"is {source.order_format!r}, and times are headers", fix)
    if source.empty is None:
        return
    if source.bins is not None:
        yield fault(("source", "empty"), "is given beside bins, and cells are numbers", "leave it out, or the bins")
    if belief is not None and belief.map.get(str(source.empty), source.empty) != source.empty:
        yield fault(("source", "empty"), f"is {source.empty!r}, which map reads as another state", "rename the state")


def layout_of_columns(source: SourceSpec) -> Json:
    """Return the steps of wide rows, in place of their keys."""
    wide = wide_of(source, {})
    steps: Json | list[str] = sorted(wide.columns)
    if isinstance(wide.columns, Mapping):
        read = {header: read_step(step, None, wide.of_days) for header, step in wide.columns.items()}
        steps = {header: step[1] for header, step in read.items() if step is not None}
    other_columns = sorted({*wide.others, *wide.ignored} - {source.unit, source.piece})
    layout = {"columns": steps, "form": wide.form, "others": other_columns, "empty": source.empty}
    return {"wide": layout, **dict.fromkeys(("rows", "columns", "ignore", "empty"))}


def words_of(source: SourceSpec, people: str) -> Iterator[str]:
    """Yield a certificate's words on wide rows and their empty cells."""
    if source.rows != "wide":
        return
    yield f"a row has a cell for each of its steps; which columns there are, alike for all {people}, is public"
    if source.empty is not None:
        yield f"who has an empty cell was {str(source.empty)!r} in its step"

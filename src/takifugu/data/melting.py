"""A wide table as the long one that it says: a row for each cell, which has the step of its header and its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from functools import partial
from math import isqrt

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.core.lists import among, take
from takifugu.data.engines.differences import Frame, is_duckdb, is_spark, typed, wrapped
from takifugu.data.engines.sanitise import as_kind, is_text
from takifugu.data.engines.sql import quoted
from takifugu.data.engines.table import Table
from takifugu.data.values.texts import BLANKS
from takifugu.data.wide import Step, Wide, steps_of

#: Labels of the columns that are made: no column is called so, which have numbers, and narwhals takes them as they are.
HEADER, CELL = "header", "cell"
#: DuckDB reads so many columns at once: each takes 32 kB of its memory.
SIDE_BY_SIDE = 500


def melted(table: Table, wide: Wide) -> Table:
    """Return the long table of a wide one, unread and unordered.

    Raises InputError for columns other than declared, DataError for cells of several kinds.
    """
    steps = steps_of(table.names, wide)
    label = dict(zip(table.names, table.labels, strict=True))
    other_columns = among(wide.others, table.names)
    labels = {label[name]: f"k{number}" for number, name in enumerate(other_columns)}
    step_labels = take(label, steps)
    typed_steps = dict(zip(step_labels, _typed(list(steps.values()), wide.of_days), strict=True))
    melt = partial(_melted, labels=labels, steps=typed_steps, empty=wide.empty)
    origins = {now: [before] for before, now in labels.items()}
    with table.reading():
        frame = melt(table.frame)
    long_table = table.derived(
        melt, {**origins, CELL: step_labels}, names=(*other_columns, wide.order, wide.value),
        labels=(*labels.values(), HEADER, CELL), ordered=False, within=None,
    )  # fmt: skip
    return replace(long_table, scan=lambda: frame)


def _typed(steps: Sequence[Step], of_days: bool) -> Sequence[int | datetime | str]:
    """Return steps as integers, times without a zone, or texts."""
    numbers, times = list[int](), list[datetime]()
    for step, _ in steps:
        if isinstance(step, Fraction) and step.denominator == 1 and abs(step) < 2**62:
            numbers.append(int(step))
        elif isinstance(step, datetime) and step.tzinfo is None and not of_days:
            times.append(step)
    if len(numbers) == len(steps):
        return numbers
    if len(times) == len(steps):
        return times
    return [text for _, text in steps]


def _melted(
    frame: Frame, labels: Mapping[str, str], steps: Mapping[str, int | datetime | str], empty: Sequence[str]
) -> Frame:
    """Return a frame with a row per cell of the columns `steps`."""
    frame = typed(frame.select(*labels, *steps))
    schema = frame.collect_schema()
    kind = _common(take(schema, steps))
    columns, cells = {now: nw.col(before) for before, now in labels.items()}, dict[str, nw.Expr]()
    for number, label in enumerate(steps):
        cells[f"h{number}"] = _filled(nw.col(label), schema[label], kind, empty)
    frame = frame.select(**columns, **cells)
    if is_duckdb(frame):  # whose "unpivot" leaves out nulls where narwhals writes it
        prefix, parts = "".join(f"{label}, " for label in labels.values()), list[str]()
        headers, cell_names = list[str](), list(cells)
        for step in steps.values():
            if isinstance(step, int):
                headers.append(f"{step}::bigint")
            elif isinstance(step, datetime):
                headers.append(f"timestamp {quoted(str(step))}")
            else:
                headers.append(quoted(step))
        for first in range(0, len(cells), SIDE_BY_SIDE):
            some = slice(first, first + SIDE_BY_SIDE)
            parts.append(_unnested(prefix, cell_names[some], headers[some]))
        return wrapped(frame.to_native().query("wide_rows", " union all ".join(parts)))
    frame = frame.unpivot(on=[*cells], index=[*labels.values()], variable_name=HEADER, value_name=CELL)
    entries = list[int | datetime | str](steps.values())
    if is_spark(frame) and isinstance(entries[0], datetime):  # Spark's have a zone
        entries = list(map(str, entries))
    step_type = {int: nw.Int64(), datetime: nw.Datetime("us")}.get(type(entries[0]), nw.String())
    header = nw.col(HEADER).cast(nw.String).replace_strict([*cells], entries, default=None, return_dtype=step_type)
    return frame.with_columns(header.alias(HEADER))


def _unnested(prefix: str, cells: Sequence[str], headers: Sequence[str]) -> str:
    """Return a query for a row per cell, by nested short lists."""
    size = isqrt(len(cells)) + 1
    nested, single = list[str](), list[str]()
    for name, values in {HEADER: headers, CELL: cells}.items():
        lists = [f"[{', '.join(values[first : first + size])}]" for first in range(0, len(values), size)]
        nested.append(f"unnest([{', '.join(lists)}]) as {name}")
        single.append(f"unnest({name}) as {name}")
    return f"select {prefix}{', '.join(single)} from (select {prefix}{', '.join(nested)} from wide_rows)"


def _common(kinds: Sequence[nw.dtypes.DType]) -> nw.dtypes.DType:
    """Return the common type of all cells; DataError for texts beside numbers."""
    some = {kind for kind in kinds if not isinstance(kind, nw.Unknown)} or {nw.String()}  # of nulls alone
    if all(map(is_text, some)):
        return nw.String()
    if len(some) == 1:
        return some.pop()
    if all(kind.is_integer() for kind in some):
        return nw.Int64()
    if all(kind.is_numeric() for kind in some):
        return nw.Float64()
    raise DataError("the columns of steps hold values of several kinds", fix="write all as texts, or as numbers").at(
        "columns"
    )


def _filled(cell: nw.Expr, kind: nw.dtypes.DType, target: nw.dtypes.DType, empty: Sequence[str]) -> nw.Expr:
    """Return a cell in the common type, with empty ones filled."""
    if kind != target:
        cell = cell.cast(target)
    if not empty:
        return cell
    for text in empty:
        fill = as_kind(text, target)
        if fill is not None:
            break
    else:
        raise DataError(
            f"the columns of steps hold values of type {target}, and what an empty cell is says none of that type",
            fix=f"write in map which value of the data is {empty[0]!r}",
        ).at("empty")  # fmt: skip
    is_empty = cell.is_null()
    if is_text(target):
        is_empty = is_empty | (cell.str.strip_chars(BLANKS) == "").fill_null(True)
    return nw.when(is_empty).then(nw.lit(fill, target)).otherwise(cell)  # type: ignore[arg-type]

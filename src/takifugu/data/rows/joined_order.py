"""A time in two columns, a date and a time of day: one column of texts, as if it had been written in one."""

from __future__ import annotations

from dataclasses import replace

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame, typed
from takifugu.data.engines.sanitise import is_text, text
from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout


def with_joined_order(table: Table, layout: Layout) -> tuple[Table, Layout]:
    """Join the date and the time of day into one order column.

    Raises InputError for a missing column, DataError for other values than texts, dates and times.
    """
    if layout.order is None or layout.time_of_day is None:
        return table, layout
    table, name = with_joined(table, (layout.order, layout.time_of_day))
    return table, replace(layout, order=name, time_of_day=None)


def with_joined(table: Table, pair: tuple[str, str]) -> tuple[Table, str]:
    """Join a column of dates and one of times of day; return its name, too.

    Raises InputError for a missing column, DataError for other values than texts, dates and times.
    """
    table.require(pair)
    name = " and ".join(pair)
    number = sum(other.startswith(name) for other in table.names)
    if number:
        name += f" ({number})"
    labels = dict(zip(table.names, table.labels, strict=True))
    label, parts = f"joined_{len(table.labels)}", (labels[pair[0]], labels[pair[1]])

    def join(frame: Frame) -> Frame:
        frame = typed(frame)
        schema = frame.collect_schema()
        day = _text(parts[0], schema[parts[0]], table, dated=True)
        time = _text(parts[1], schema[parts[1]], table, dated=False)
        is_complete = ~day.is_null() & ~time.is_null()
        return frame.with_columns(nw.when(is_complete).then(nw.concat_str(day, time, separator=" ")).alias(label))

    joined = table.derived(join, {label: parts}, names=(*table.names, name), labels=(*table.labels, label))
    return joined, name


def _text(label: str, kind: nw.dtypes.DType, table: Table, dated: bool) -> nw.Expr:
    """Return dates or times of day as ISO 8601, texts unchanged."""
    column = nw.col(label)
    if is_text(kind) or kind.is_integer():
        return text(column.cast(nw.String), table.missing)
    if dated and isinstance(kind, nw.Date | nw.Datetime):
        return column.dt.to_string("%Y-%m-%d")
    if not dated and isinstance(kind, nw.Time | nw.Unknown):  # narwhals has no word for DuckDB's times of day
        return column.cast(nw.String).str.slice(0, 15)
    name = table.names[table.labels.index(label)]
    content = "a date" if dated else "a time of day"
    raise DataError(f"column {name!r} holds values of type {kind}, and must hold {content}", fix="write it as text")

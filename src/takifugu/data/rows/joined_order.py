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

    Raises InputError for a missing column, DataError for other values than texts, dates and times, and for moments: on
    which day one is depends on a zone.
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
    name = table.names[table.labels.index(label)]
    if dated and isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        raise _no_day(name)
    if dated and isinstance(kind, nw.Date):
        return column.dt.to_string("%Y-%m-%d")
    if dated and isinstance(kind, nw.Datetime):  # pandas has no dates: a day is a time at midnight
        since_midnight = column.dt.hour() + column.dt.minute() + column.dt.second() + column.dt.microsecond()
        written, day = column.dt.to_string("%Y-%m-%d %H:%M"), column.dt.to_string("%Y-%m-%d")
        return nw.when(since_midnight == 0).then(day).otherwise(written)  # which is no date, and refused
    if not dated and isinstance(kind, nw.Time | nw.Unknown):  # old narwhals has no word for DuckDB's times of day
        time = column.cast(nw.String)
        return nw.when(~time.str.contains("[+-]")).then(time.str.slice(0, 15))
    content = "a date" if dated else "a time of day"
    raise DataError(f"column {name!r} holds values of type {kind}, and must hold {content}", fix="write it as text")


def _no_day(column: str) -> DataError:
    return DataError(
        f"column {column!r} holds moments (times with a zone), and must hold a date",
        rule="on which day a moment is depends on a zone",
        fix=f"make dates of it first, such as frame[{column!r}].dt.tz_convert('Europe/Berlin').dt.date in pandas, or "
        f"(\"{column}\" AT TIME ZONE 'Europe/Berlin')::date in DuckDB",
    ).at("order")

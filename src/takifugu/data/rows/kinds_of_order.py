"""What an order column holds, by its type or the form of its texts: numbers, clock times, or moments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from takifugu.data.engines.table import Table
from takifugu.data.rows.layout import Layout
from takifugu.data.values.texts import NUMBER, ZONED, two_ways

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

#: What an order column may hold; of numbers since 1970 it is their format.
NUMBERS, CLOCK_TIMES, WITH_OFFSETS = "numbers", "clock times", "times with offsets"


def order_kind(table: Table, layout: Layout) -> str | None:
    """Return the kind of the order: numbers, clock times or moments.

    None stands for no order, or an empty one. The first text decides, because rows of another form are refused; with
    rows without names left out, all texts are read, as those of another form may be there. Raises DataError for several
    forms.

    >>> import pandas as pd
    >>> from takifugu.data import open_frame
    >>> frame = pd.DataFrame({"t": ["2026-01-05T10:00+01:00"], "state": ["calm"]})
    >>> order_kind(open_frame(frame), Layout("state", order="t"))
    'times with offsets'
    """
    from takifugu.data.rows.joined_order import with_joined_order

    if layout.order is None:
        return None
    with table.reading():
        table, layout = with_joined_order(table, layout)
        typed, texts = _texts(table, layout)
    if typed is not None:
        return typed
    if layout.clock.epoch:
        return str(layout.order_format)
    if layout.clock.form is not None:
        return CLOCK_TIMES
    kinds = set[str]()
    for text in texts:
        if re.match(NUMBER, text):
            kinds.add(NUMBERS)
        elif re.search(ZONED, text):
            kinds.add(WITH_OFFSETS)
        else:
            kinds.add(CLOCK_TIMES)
    if len(kinds) > 1:
        raise two_ways(str(layout.order))
    return next(iter(kinds), None)


def kind_of_type(kind: nw.dtypes.DType, layout: Layout) -> str | None:
    """Return the kind of a column of times by its type, None where its texts tell it."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.sanitise import is_text
    from takifugu.data.rows.picked import is_written

    if isinstance(kind, nw.Date | nw.Datetime):
        return WITH_OFFSETS if isinstance(kind, nw.Datetime) and kind.time_zone is not None else CLOCK_TIMES
    if layout.clock.epoch:
        return str(layout.order_format)
    if layout.clock.form is not None and is_written(kind, layout.clock):
        return CLOCK_TIMES
    return None if is_text(kind) else NUMBERS


def _texts(table: Table, layout: Layout) -> tuple[str | None, list[str]]:
    """Return the column's kind, or texts to decide it."""
    import narwhals.stable.v2 as nw

    from takifugu.data.engines.differences import collected
    from takifugu.data.engines.sanitise import is_text, kind_of
    from takifugu.data.rows.picked import GUESSED_FROM, is_written, with_order_texts

    frame = table.pick({"tick": str(layout.order)})
    kind = kind_of(frame, "tick", str(layout.order))
    if isinstance(kind, nw.Date | nw.Datetime):
        return kind_of_type(kind, layout), []
    if not is_text(kind):
        tells = layout.clock.epoch or is_written(kind, layout.clock)
        if tells or not list(collected(frame.filter(~nw.col("tick").is_null()).head(1))):
            return None, []
        return NUMBERS, []
    if layout.null_keys != "drop":
        for rows in (frame.head(GUESSED_FROM), frame):
            rows_with_text = with_order_texts(rows, "tick", table, layout).filter(~nw.col("tick").is_null())
            if texts := list(collected(rows_with_text.head(1).select("tick"))):
                return None, [str(text) for (text,) in texts]
        return None, []
    rows_with_text = with_order_texts(frame, "tick", table, layout).filter(~nw.col("tick").is_null())
    rows_with_text = rows_with_text.with_columns(zoned=nw.col("tick").str.contains(ZONED))
    of_each = rows_with_text.group_by("zoned").agg(tick=nw.col("tick").max())
    return None, [str(text) for (text,) in collected(of_each.select("tick"))]

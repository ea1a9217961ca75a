"""What the rows of each piece and state amount to: one aggregation in any engine, in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import Frame, alike, collected, with_neighbour
from takifugu.data.engines.differences import with_row_before as with_row_above
from takifugu.data.rows.layout import text_of
from takifugu.data.rows.picked import PickedRows
from takifugu.data.rows.pieces import NIGHT, Fact
from takifugu.data.times.zones import DAY, HOUR


def whole(value: nw.Expr | int) -> nw.Expr:
    return nw.lit(value, nw.Int64) if isinstance(value, int) else value


def choose(when: nw.Expr, yes: nw.Expr | int, no: nw.Expr | int) -> nw.Expr:
    """Return one of two whole numbers."""
    return nw.when(when).then(whole(yes)).otherwise(whole(no))


def integer(value: object) -> int | None:
    """Return an integer of a result, None if missing."""
    if type(value) is int:  # as most engines write nearly all of them
        return value
    text = text_of(value)
    return None if text is None else int(text)


#: How a row compares with the one above it in its piece.
COMPARED = ("ties", "back", "leaps")
#: More days than there are from the first year to 1970: engines take remainders of negative numbers differently.
EARLIER = 750_000


def facts_of(rows: PickedRows) -> tuple[list[Fact], bool, set[int]]:
    """Return the facts of all pieces, whether keys are tidy, and zones.

    Zones are 1 for times with a written one, else 0. Rows are grouped by raw texts first, so that only the few
    different ones are recoded.
    """
    frame, sums, bounds, largest = _aggregated(rows)
    first, then = {"rows": nw.len()}, {"rows": nw.sum("rows")}
    for column in sums:
        first[column] = then[column] = nw.sum(column)
    for column in largest:
        first[column] = then[column] = nw.max(column)
    for column in bounds:
        low, high = f"{column}_low", f"{column}_high"
        first |= {low: nw.min(column), high: nw.max(column)}
        then |= {low: nw.min(low), high: nw.max(high)}
    by_raw = rows.recoded(frame.group_by(*rows.keys, "raw").agg(**first))
    names = [*rows.keys, "code", "changed", *then]
    by_code = by_raw.group_by(*rows.keys, "code").agg(**then, changed=nw.max("changed"))
    facts, tidy, zones, many = [], True, set(), len(rows.keys)
    for values in collected(by_code.select(*names)):
        numbers = dict(zip(names[many:], map(integer, values[many:]), strict=True))
        least, most, offsets = numbers.get("offset_low"), numbers.get("offset_high"), None
        if least is not None and most is not None:
            offsets = least, most
        facts.append(Fact(
            key=rows.key(values), code=numbers["code"] or 0, rows=numbers["rows"] or 0,
            unplaced=numbers.get("unplaced") or 0, low=numbers.get("tick_low"), high=numbers.get("tick_high"),
            offsets=offsets,
            first=numbers.get("row_low"), last=numbers.get("row_high"),
            **{column: numbers.get(column) or 0 for column in COMPARED},
        ))  # fmt: skip
        tidy &= not numbers["changed"]
        zones |= {zone for zone in (numbers.get("zoned_low"), numbers.get("zoned_high")) if zone is not None}
    return facts, tidy, zones


def _aggregated(rows: PickedRows) -> tuple[Frame, list[str], list[str], list[str]]:
    """Return the rows with the columns to add, bound, and maximise."""
    frame, sums, bounds, largest = rows.frame, list[str](), list[str](), list[str]()
    columns, added = frame.collect_schema().names(), dict[str, nw.Expr]()
    if rows.in_ticks:
        missing = nw.col("tick").is_null().cast(nw.Int64)
        if "fault" in columns:
            missing = nw.when(nw.col("fault") > 0).then(nw.col("fault")).otherwise(missing)
        added["unplaced"] = missing
        largest.append("unplaced")
        if "zoned" in columns:
            bounds.append("zoned")
    if rows.naive or rows.step is not None:
        bounds.append("tick")
    if rows.step is not None:
        added["offset"] = nw.col("tick") % rows.step
        bounds.append("offset")
    if rows.in_rows:
        bounds.append("row")
    if added:
        frame = frame.with_columns(**added)
    if rows.in_ticks and rows.in_rows and rows.in_place:
        frame = with_comparisons(rows, frame, "row", stands=True)
        sums += COMPARED
    return frame, sums, bounds, largest


def with_comparisons(rows: PickedRows, frame: Frame, by: str, stands: bool) -> Frame:
    """Add comparisons of each row's tick with the one before it.

    Columns are 1 for an equal tick, a smaller one, and one set back unlike a clock.
    """
    frame, same = with_row_before(frame, rows.keys, by, ["tick"], stands)
    tick, above = nw.col("tick"), nw.col("tick_before")
    back, leaps = (tick < above) & same, nw.lit(False)
    if rows.naive:
        # Clocks are set back by an hour at most, and then show a time from 23:00 on, or one of the early morning.
        leaps = back & ((above - tick > HOUR) | ((tick + (EARLIER * DAY + HOUR)) % DAY >= NIGHT))
    comparisons = dict(zip(COMPARED, ((tick == above) & same, back, leaps), strict=True))
    return frame.with_columns(**{name: comparisons[name].fill_null(False).cast(nw.Int64) for name in COMPARED})


def with_row_before(
    frame: Frame, keys: Sequence[str], by: str, columns: Sequence[str], stands: bool
) -> tuple[Frame, nw.Expr]:
    """Add `<column>_before` along `by`, and return whether it exists.

    Rows that stand piece by piece, as read, are compared in one pass; else each piece is sorted.
    """
    if not stands:
        return with_neighbour(frame, keys, [by], columns), nw.lit(True)
    return with_row_above(frame, [*keys, *columns]), reduce(and_, (alike(key, f"{key}_before") for key in keys))

"""Columns of times on the wall of a declared zone as moments: the same integers on every engine, whatever it knows of
zones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import Frame, collected, settled, with_neighbour, with_running_sum
from takifugu.data.rows.pieces import FAR, SKIPPED, TWICE, UNCLEAR
from takifugu.data.times.zones import DAY, Stretch, Zone

#: Others are expected so long before and after the first rows: more stretches cost every row more than another look.
BEFORE, AFTER = 120 * DAY, 400 * DAY


def in_utc(
    frame: Frame, keys: Sequence[str], zone: Zone, in_rows: bool, ambiguous: str = "refuse",
    window: tuple[int, int] | None = None, of_first: int | None = None, are_twice: bool = False,
) -> tuple[Frame, bool]:  # fmt: skip
    """Replace local times `tick` by UTC.

    Returns whether rows stand as read. Times with a written zone (`zoned`) are UTC already. `fault` is 0, or why a time
    has no moment and `tick` is null. A read brings the first and last time; where the order of rows decides, or rows
    are left out, another one brings the number of times shown twice. `ambiguous` decides about these; dropped ones, and
    unclear ones outside the `window`, are left out. With `of_first` rows no more than these are read, and times far
    from theirs are left undecided (FAR), as are such as would need the other read (TWICE), unless it is known that some
    `are_twice`.
    """
    walls = nw.col("tick")
    local = ~walls.is_null()
    if "zoned" in frame.collect_schema().names():
        local = local & (nw.col("zoned") == 0).fill_null(False)
    frame = frame.with_columns(local=local, fault=nw.lit(0, nw.Int64))
    bounds = _bounds(frame, of_first)
    if bounds is None and of_first is not None:
        return in_utc(frame.drop("local", "fault"), keys, zone, in_rows, ambiguous, window)
    if bounds is None:  # every time tells its zone
        return frame.drop("local"), True
    stretches, in_place = zone.between(*bounds), True

    def of(what: Callable[[Stretch], int]) -> nw.Expr:
        return _chosen(walls, stretches, what).cast(nw.Int64)

    frame = settled(frame.with_columns(offset=of(lambda stretch: stretch.offset)), ["offset"])
    is_open = of_first is not None and not are_twice
    if any(stretch.back for stretch in stretches):
        frame, in_place = _in_passes(frame, keys, of, in_rows, ambiguous, window, is_open, are_twice)
    if any(stretch.skipped for stretch in stretches):
        skipped = nw.col("local") & (of(lambda stretch: int(stretch.skipped)) == 1)
        frame = _with_fault(frame, skipped, SKIPPED)
    if of_first is not None:
        frame = _with_fault(frame, nw.col("local") & ((walls < bounds[0]) | (walls > bounds[1])), FAR)
    moment = nw.when(nw.col("local")).then(walls - nw.col("offset")).otherwise(walls)
    frame = frame.with_columns(tick=nw.when(nw.col("fault") == 0).then(moment))
    return settled(frame.drop("local", "offset"), ["tick", "fault"]), in_place


def _bounds(frame: Frame, of_first: int | None) -> tuple[int, int] | None:
    """Return the bounds of local times, wider by far if only the first are read."""
    if of_first is not None:
        frame = frame.head(of_first)
    summary = frame.filter(nw.col("local")).select(rows=nw.len(), low=nw.min("tick"), high=nw.max("tick"))
    ((rows, low, high),) = collected(summary)
    if not rows:  # how engines say that there is no smallest one differs
        return None
    if of_first is None:
        return int(low), int(high)
    return int(low) - BEFORE, int(high) + AFTER


def _with_fault(frame: Frame, when: nw.Expr, fault: int) -> Frame:
    """Note a fault of the rows under a condition."""
    return frame.with_columns(fault=nw.when(when).then(nw.lit(fault, nw.Int64)).otherwise(nw.col("fault")))


def _in_passes(
    frame: Frame, keys: Sequence[str], of: Callable[[Callable[[Stretch], int]], nw.Expr], in_rows: bool,
    ambiguous: str, window: tuple[int, int] | None, is_open: bool, are_twice: bool,
) -> tuple[Frame, bool]:  # fmt: skip
    """Correct `offset` for times shown twice, by rule or row order."""
    frame = frame.with_columns(back=of(lambda stretch: stretch.back), end=of(lambda stretch: stretch.end))
    frame = settled(frame, ["back", "end"])
    twice = nw.col("local") & (nw.col("back") > 0)
    if ambiguous in ("first", "last"):
        later = {"first": nw.lit(0, nw.Int64), "last": nw.col("back")}[ambiguous]
        offset = nw.when(twice).then(nw.col("offset") - later).otherwise(nw.col("offset"))
        return settled(frame.with_columns(offset=offset).drop("back", "end"), ["offset"]), True
    if is_open:
        return _with_fault(frame, twice, TWICE).drop("back", "end"), True
    if not are_twice and (ambiguous == "drop" or in_rows or window is not None):
        ((rows,),) = collected(frame.filter(twice).select(rows=nw.len()))
        if not rows:
            return frame.drop("back", "end"), True
    if ambiguous == "drop":
        return frame.filter(~twice).drop("back", "end"), False
    if not in_rows:
        frame, in_place = _without_far_ones(frame, twice, window)
        return _with_fault(frame, twice, UNCLEAR).drop("back", "end"), in_place
    doubled = frame.filter(twice).select(*keys, "row", "tick", "end")
    doubled = with_neighbour(doubled, keys, ["row"], ["tick", "end"])
    is_repeat = (nw.col("end") == nw.col("end_before")) & (nw.col("tick") <= nw.col("tick_before"))
    doubled = doubled.with_columns(passes=nw.when(is_repeat.fill_null(False)).then(nw.lit(1)).otherwise(nw.lit(0)))
    doubled = doubled.with_columns(passes=nw.col("passes").cast(nw.Int64)).select(*keys, "end", "row", "passes")
    doubled = with_running_sum(doubled, [*keys, "end"], "row", "passes")
    frame = frame.join(doubled.select("row", "passes"), on="row", how="left")  # type: ignore[arg-type]
    frame = settled(frame.with_columns(passes=nw.col("passes").fill_null(0)), ["passes"])
    second, more = nw.col("passes") == 1, nw.col("passes") > 1
    frame, _ = _without_far_ones(frame, more, window)
    frame = _with_fault(frame, more, UNCLEAR)
    offset = nw.when(second).then(nw.col("offset") - nw.col("back")).otherwise(nw.col("offset"))
    frame = frame.with_columns(offset=offset)
    return settled(frame.drop("back", "end", "passes"), ["offset", "fault"]), False


def _without_far_ones(frame: Frame, unclear: nw.Expr, window: tuple[int, int] | None) -> tuple[Frame, bool]:
    """Leave out rows outside the window by either offset, if any window."""
    if window is None:
        return frame, True
    first = nw.col("tick") - nw.col("offset")
    last = first + nw.col("back")
    outside = ((first < window[0]) | (first >= window[1])) & ((last < window[0]) | (last >= window[1]))
    return frame.filter(~(unclear & outside)), False


def _chosen(walls: nw.Expr, stretches: Sequence[Stretch], what: Callable[[Stretch], int]) -> nw.Expr:
    """Return a property of each time's stretch, by halves."""
    if len(set(map(what, stretches))) == 1:
        return nw.lit(what(stretches[0]), nw.Int64)
    middle = len(stretches) // 2
    later = _chosen(walls, stretches[middle:], what)
    return nw.when(walls >= stretches[middle].start).then(later).otherwise(_chosen(walls, stretches[:middle], what))

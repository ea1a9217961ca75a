"""The order column as exact integers (ticks): whole numbers, thousandths of a step, or microseconds since 1970."""

from __future__ import annotations

from datetime import timedelta

import narwhals.stable.v2 as nw

from takifugu.data.engines.differences import (
    Frame,
    collected,
    in_microseconds,
    is_duckdb,
    settled,
    with_integer_ticks,
    wrapped,
)
from takifugu.data.engines.sanitise import round_half_even
from takifugu.data.rows.layout import WIDEST, parse_step
from takifugu.data.times.clock import Clock
from takifugu.data.times.time_format import CENTURY, LAST, MONTHS, SHORT, TimeFormat, dates_for_numbers
from takifugu.data.values.texts import (
    INTEGER,
    NUMBER,
    OFFSET,
    PARTS_OF_STEP,
    TIME,
    no_order,
    no_times,
    number_for_times,
    time_for_numbers,
    zone_of_numbers,
)

#: The first microsecond of the year 1.
FIRST = -62_135_596_800_000_000
#: What texts of each pattern are; the first that fits all of them decides.
_KINDS: dict[str, nw.dtypes.DType] = {INTEGER: nw.Int64(), NUMBER: nw.Float64(), TIME: nw.Datetime("us")}


def with_ticks(
    frame: Frame, column: str, step: int | float | str | None, kind: nw.dtypes.DType, in_texts: bool,
    clock: Clock | None = None,
) -> tuple[Frame, int | None, bool]:  # fmt: skip
    """Replace the order column `tick` by exact ticks, null if unfit.

    `kind` is the type of the column, or of its texts (`in_texts`). Returns the frame, the ticks of a declared step, and
    whether ticks are integers (else float64, which only order). Texts of times get `zoned`, 1 for a written zone.
    Raises DataError for a column without an order, a step of another kind, and a time zone of numbers.
    """
    clock = clock or Clock()
    frame, length, is_whole = _with_ticks(frame, column, step, kind, in_texts, clock)
    if clock.zone is not None and not clock.epoch and not isinstance(kind, nw.Date | nw.Datetime):
        raise zone_of_numbers(column)
    if length is None or not clock.parts:
        return frame, length, is_whole
    rounding = clock.rounding(length)
    tick = nw.col("tick")
    frame = settled(frame.with_columns(tick=nw.when(tick.abs() < rounding.largest).then(tick)), ["tick"])
    frame = frame.with_columns(tick=rounding.of(tick))
    if "ahead" in frame.collect_schema().names():
        frame = frame.with_columns(tick=tick - nw.col("ahead") * rounding.finer).drop("ahead")
    return frame, rounding.step, is_whole


def _with_ticks(
    frame: Frame, column: str, step: int | float | str | None, kind: nw.dtypes.DType, in_texts: bool, clock: Clock
) -> tuple[Frame, int | None, bool]:
    tick = nw.col("tick")
    if clock.epoch and (in_texts or not isinstance(kind, nw.Date | nw.Datetime)):
        return _since_1970(frame, column, kind, in_texts, clock.epoch), _time_step(step, column), True
    if in_texts and clock.form is not None and isinstance(kind, nw.Datetime):
        frame = frame.with_columns(tick=nw.when(tick.str.contains(clock.form.pattern)).then(tick))
        return microseconds_of_format(frame, clock.form), _time_step(step, column), True
    if in_texts:
        frame = _of_texts(frame, kind)
        if isinstance(kind, nw.Datetime):
            return microseconds_of_text(frame, bool(clock.parts)), _time_step(step, column), True
    if isinstance(kind, nw.Date | nw.Datetime):
        return in_microseconds(frame, "tick", kind), _time_step(step, column), True
    if not kind.is_numeric():
        raise no_times(column)
    length = None if step is None else parse_step(step)
    if isinstance(length, timedelta):
        raise time_for_numbers(column)
    if kind.is_integer():
        if length is None:
            return frame.with_columns(tick=tick.cast(nw.Int64)), None, True
        frame = settled(frame.with_columns(tick=tick.cast(nw.Int64)), ["tick"])
        if length.denominator > 1:  # engines differ in what they make of a product beyond 64 bits
            fits = nw.when(tick.abs() <= WIDEST // length.denominator).then(tick)
            frame = settled(frame.with_columns(tick=fits), ["tick"]).with_columns(tick=tick * length.denominator)
        return frame, length.numerator, True
    number = tick.cast(nw.Float64)
    if isinstance(kind, nw.Decimal):
        number = tick.cast(nw.String).cast(nw.Float64)
    frame = frame.with_columns(tick=nw.when(number.abs() < float("inf")).then(number))
    if length is None:
        return frame, None, False
    part = length / PARTS_OF_STEP
    frame = frame.with_columns(tick=tick * float(part.denominator) / float(part.numerator))
    # Beyond 2^52 a float64 has no fractions left to round: such a place is treated as missing.
    frame = frame.with_columns(tick=nw.when(tick.abs() < 2.0**52).then(tick))
    return round_half_even(frame, ["tick"]), PARTS_OF_STEP, True


def _of_texts(frame: Frame, kind: nw.dtypes.DType) -> Frame:
    """Replace texts `tick` by numbers, if of such a kind; unfit ones are null."""
    form = NUMBER
    if isinstance(kind, nw.Datetime):
        form = TIME
    elif kind.is_integer():
        form = INTEGER
    tick = nw.col("tick")
    frame = frame.with_columns(tick=nw.when(tick.str.contains(form)).then(tick))
    if form == INTEGER:
        return with_integer_ticks(frame)
    if form == NUMBER:
        return settled(frame.with_columns(tick=tick.cast(kind)), ["tick"], "Float64")
    return frame


def _since_1970(frame: Frame, column: str, kind: nw.dtypes.DType, in_texts: bool, unit: int) -> Frame:
    """Replace numbers `tick` by microseconds, null beyond times."""
    tick = nw.col("tick")
    if in_texts:
        if not kind.is_numeric():
            raise dates_for_numbers(column)
        kind = kind if kind.is_integer() else nw.Float64()
        frame = _of_texts(frame, kind)
    elif not kind.is_numeric():
        raise no_times(column)
    if kind.is_integer():
        frame = settled(frame.with_columns(tick=tick.cast(nw.Int64)), ["tick"])
        frame = frame.with_columns(tick=nw.when(tick.abs() <= LAST // unit).then(tick))
        return settled(frame.with_columns(tick=tick * unit), ["tick"])
    number = tick.cast(nw.String) if isinstance(kind, nw.Decimal) else tick
    frame = frame.with_columns(tick=number.cast(nw.Float64))
    frame = frame.with_columns(tick=nw.when(tick.abs() <= float(LAST // unit)).then(tick * float(unit)))
    return settled(round_half_even(frame, ["tick"]), ["tick"])


def kind_of_texts(frame: Frame, column: str, form: TimeFormat | None = None) -> nw.dtypes.DType:
    """Return the kind of an order column's texts.

    Kinds are whole numbers, numbers, or dates and times, always these with a format. Raises DataError for other texts.
    """
    if form is not None:
        return nw.Datetime("us")
    value = nw.col("tick")
    sums = [(~value.is_null()).cast(nw.Int64).sum().alias("all")]
    for number, pattern in enumerate(_KINDS):
        sums.append(value.str.contains(pattern).fill_null(False).cast(nw.Int64).sum().alias(f"of_{number}"))
    ((rows, *matches),) = collected(frame.select(*sums))
    for kind, matching in zip(_KINDS.values(), matches, strict=True):
        if (matching or 0) == (rows or 0):
            return kind
    raise no_order(column)


def microseconds_of_text(frame: Frame, on_the_wall: bool = False) -> Frame:
    """Replace texts `tick` (of TIME) by microseconds since 1970-01-01 UTC.

    Impossible days are null. `on_the_wall` keeps local time and adds `ahead`, its distance from UTC. `zoned` is 1 for a
    written zone. Each stage is a column: expressions would repeat their parts.
    """
    names, texts = frame.collect_schema().names(), nw.col("tick")
    frame = frame.with_columns(there=~texts.is_null(), tick=texts.fill_null("1970-01-01"))
    frame = frame.with_columns(timed=texts.str.len_chars() > 10)
    frame = frame.with_columns(
        body=nw.when(nw.col("timed")).then(texts.str.replace_all(OFFSET, "")).otherwise(texts),
        zone=nw.when(nw.col("timed") & texts.str.contains(OFFSET)).then(texts.str.tail(6)),
    )
    frame = frame.with_columns(zone=nw.col("zone").str.replace_all("^[^+-]*", "").str.replace_all(":", ""))
    midnight = nw.concat_str(nw.col("body"), nw.lit("T00:00"))
    frame = frame.with_columns(
        body=nw.when(nw.col("timed")).then(nw.col("body")).otherwise(midnight),
        zoned=nw.when(nw.col("there")).then((~nw.col("zone").is_null()).cast(nw.Int64)),
        zone=nw.when(nw.col("zone").str.contains("^[+-]")).then(nw.col("zone")),
    )
    frame = frame.with_columns(zone=nw.concat_str(nw.col("zone").fill_null("+0000"), nw.lit("00")))
    zone = nw.col("zone")
    frame = frame.with_columns(
        sign=nw.when(zone.str.starts_with("-")).then(nw.lit(-1)).otherwise(nw.lit(1)),
        zone_hours=zone.str.slice(1, 2),
        zone_minutes=zone.str.slice(3, 2),
    )
    zones = ["sign", "zone_hours", "zone_minutes"]  # typed as the clock is: pandas 2 does not add two kinds of integers
    frame = settled(_with_clock(frame).with_columns(nw.col(*zones).cast(nw.Int64)), zones)
    minutes = nw.col("sign") * (nw.col("zone_hours") * 60 + nw.col("zone_minutes"))
    frame = settled(frame.with_columns(ahead=minutes * 60_000_000), ["ahead"])
    columns, moment = [*names, "zoned"], nw.col("clock") - nw.col("ahead")
    if on_the_wall:
        columns, moment = [*columns, "ahead"], nw.col("clock")
    frame = settled(frame.with_columns(moment=moment), ["moment"])
    return frame.with_columns(tick=nw.when(_is_date()).then(nw.col("moment"))).select(*columns)


def microseconds_of_format(frame: Frame, form: TimeFormat) -> Frame:
    """Replace texts `tick` of a format by microseconds since 1970-01-01.

    Impossible days are null. Parts are cut off from the left, one after the other.
    """
    names, texts = frame.collect_schema().names(), nw.col("tick")
    frame = frame.with_columns(there=~texts.is_null(), rest=texts.fill_null(form.example))
    letters = set()
    for letter, literal in form.pieces:
        tail = nw.col("rest")
        if not letter:
            frame = frame.with_columns(rest=tail.str.slice(len(literal)))
            continue
        letters.add(letter)
        if letter == "f":
            frame = frame.with_columns(nw.concat_str(tail, nw.lit("000000")).str.slice(0, 6).alias(_named("f")))
        elif letter in SHORT and not form.packed:
            frame = frame.with_columns(wide=tail.str.slice(0, 2).str.contains("^[0-9]{2}$"))
            part = nw.when(nw.col("wide")).then(tail.str.slice(0, 2)).otherwise(tail.str.slice(0, 1))
            after = nw.when(nw.col("wide")).then(tail.str.slice(2)).otherwise(tail.str.slice(1))
            frame = frame.with_columns(part.alias(_named(letter)), rest=after)
        else:
            width = {"Y": 4, "b": 3}.get(letter, 2)
            frame = frame.with_columns(tail.str.slice(0, width).alias(_named(letter)), rest=tail.str.slice(width))
    frame = _as_parts(frame, letters)
    frame = _clock_of_parts(frame)
    return frame.with_columns(tick=nw.when(_is_date()).then(nw.col("clock"))).select(*names)


def _is_date() -> nw.Expr:
    """Return whether a text has a year of at least 1."""
    return nw.col("there") & (nw.col("clock") >= FIRST).fill_null(False)


def _named(letter: str) -> str:
    """Return the name of a part's column; some engines ignore case."""
    return f"part_{ord(letter)}"


def _as_parts(frame: Frame, letters: set[str]) -> Frame:
    """Return the parts of a format's texts as integer columns."""
    number = {letter: nw.col(_named(letter)).cast(nw.Int64) for letter in letters if letter not in "pb"}
    if "b" in letters:
        name = nw.col(_named("b")).str.to_lowercase()
        number["m"] = name.replace_strict(list(MONTHS), list(range(1, 13)), default=12, return_dtype=nw.Int64)
    zero = nw.lit(0, nw.Int64)
    frame = frame.with_columns(
        read_year=number.get("Y", number.get("y", zero)),
        month=number["m"], day=number["d"], minute=number.get("M", zero), second=number.get("S", zero),
        fraction=number.get("f", zero), hour=number.get("H", number.get("I", zero)),
    )  # fmt: skip
    year = nw.col("read_year")
    if "y" in letters:
        year = nw.when(year < CENTURY).then(year + 2000).otherwise(year + 1900)
    frame = settled(frame.with_columns(year=year), ["year"])
    if "p" in letters:
        noon = nw.when(nw.col(_named("p")).str.contains("^[pP]")).then(nw.lit(12)).otherwise(nw.lit(0))
        hour = nw.when(nw.col("hour") == 12).then(nw.lit(0)).otherwise(nw.col("hour"))
        frame = frame.with_columns(hour=hour.cast(nw.Int64), noon=noon.cast(nw.Int64))
        frame = settled(frame, ["hour", "noon"]).with_columns(hour=nw.col("hour") + nw.col("noon"))
    return settled(frame, ["month", "day", "hour", "minute", "second", "fraction"])


def _with_clock(frame: Frame) -> Frame:
    """Add `clock`, the microseconds since 1970-01-01 of times `body`.

    Impossible days are null. Days are counted in integers, because no two engines parse times alike; DuckDB's own
    reading of this form is exact, and several times as fast.
    """
    if is_duckdb(frame):
        return wrapped(frame.to_native().project("*, epoch_us(try_cast(body as timestamp)) as clock"))
    body = nw.col("body")
    frame = frame.with_columns(
        second=nw.when(body.str.len_chars() > 16).then(body.str.slice(17, 2)).otherwise(nw.lit("0")).cast(nw.Int64),
        fraction=nw.concat_str(body.str.slice(20), nw.lit("000000")).str.slice(0, 6).cast(nw.Int64),
    )
    parts = {"year": (0, 4), "month": (5, 2), "day": (8, 2), "hour": (11, 2), "minute": (14, 2)}
    frame = frame.with_columns(body.str.slice(*extent).cast(nw.Int64).alias(part) for part, extent in parts.items())
    return _clock_of_parts(frame)


def _clock_of_parts(frame: Frame) -> Frame:
    """Add `clock` to parts from `year` to `fraction` (in microseconds).

    Years start in March. After H. Hinnant, "chrono-compatible low-level date algorithms", days_from_civil.
    """
    year, month, march = nw.col("year"), nw.col("month"), nw.col("march")
    leap = ((year // 4 * 4 == year) & (year // 100 * 100 != year)) | (year // 400 * 400 == year)
    short = nw.when(month.is_in([4, 6, 9, 11])).then(nw.lit(30)).otherwise(nw.lit(31))
    frame = frame.with_columns(
        march=nw.when(month > 2).then(year).otherwise(year - 1),
        moved=nw.when(month > 2).then(month - 3).otherwise(month + 9),
        february=nw.when(leap).then(nw.lit(29)).otherwise(nw.lit(28)),
    )
    of_year = (nw.col("moved") * 153 + 2) // 5 + nw.col("day") - 1
    frame = frame.with_columns(
        days=march * 365 + march // 4 - march // 100 + march // 400 + of_year - 719468,
        last=nw.when(month == 2).then(nw.col("february")).otherwise(short),
    )
    seconds = (nw.col("days") * 1440 + nw.col("hour") * 60 + nw.col("minute")) * 60 + nw.col("second")
    frame = settled(frame.with_columns(clock=seconds * 1_000_000 + nw.col("fraction")), ["clock"])
    return frame.with_columns(clock=nw.when(nw.col("day") <= nw.col("last")).then(nw.col("clock")))


def _time_step(step: int | float | str | None, column: str) -> int | None:
    if step is None:
        return None
    length = parse_step(step)
    if not isinstance(length, timedelta):
        raise number_for_times(column)
    return length // timedelta(microseconds=1)

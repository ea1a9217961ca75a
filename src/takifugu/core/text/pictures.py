"""Values with their intervals as SVG text: bars, or a line inside its band, in panels to one scale.

No library, no script, no font but the reader's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from takifugu.core.errors import InputError
from takifugu.core.escaping import as_exact_as, plus_minus
from takifugu.core.escaping import number as written
from takifugu.core.text.bars import common_error
from takifugu.core.text.marks import (
    COLOURS,
    FAINT,
    INK,
    LETTER,
    LINE,
    area,
    dot,
    drawing,
    hatching,
    head_of,
    path,
    rectangle,
    rule,
    words,
    wrapped,
)
from takifugu.core.text.scales import Axis, Scale, ends_of, level, room_for_numbers, upright
from takifugu.core.text.tables import cut

WIDTH = 640
#: How opaque bars and bands are; what is not told from 0 is faded.
FILLED, FADED = 0.55, 0.2
#: The names of bars have at most this many letters, and about this share of the width.
_LONGEST, _NAMES = 28, 0.35
#: How high a bar is with its distance, and a line with its band: alone, and as one of several.
_BAR, _TALL, _LOW = 26, 220, 130
#: What is wider has two panels side by side, so far apart.
_TWO, _GAP = 500, 14
_FADED_MEANS, _HATCHED_MEANS = "faded: noise", "hatched: no true value lies there"


@dataclass(frozen=True)
class Bar:
    """A value with its name and error bar, faded if it `is_noise`."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    is_noise: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Return the ends of the interval, without one the value twice."""
        if self.low is None or self.high is None:
            return self.value, self.value
        return self.low, self.high


@dataclass(frozen=True)
class Panel:
    """Values under a title, as bars, or as a line over their `times` inside its band."""

    title: str
    bars: Sequence[Bar]
    #: The numbers of the values' times; the line is broken where some are missing.
    times: Sequence[int] | None = None


def bar_chart(bars: Sequence[Bar], axis: Axis, title: str, width: int = WIDTH) -> str:
    """Return one horizontal bar per value as SVG (`value_chart`)."""
    return value_chart([Panel("", bars)], axis, title, width)


def value_chart(panels: Sequence[Panel], axis: Axis, title: str, width: int = WIDTH) -> str:
    """Return values with their intervals as SVG, all panels to one scale with 0; InputError for none to draw."""
    every = [*chain.from_iterable(panel.bars for panel in panels)]
    numbers = [*chain.from_iterable((bar.value, *bar.ends) for bar in every)]
    if not every or not all(map(math.isfinite, numbers)):
        raise InputError(f"the picture {title!r} needs at least one bar, and finite values")
    scale = Scale(*ends_of([*numbers, 0.0], log=False, from_zero=True), 0, 1)
    # where all intervals are as wide, their ± is written once, below; else beside each bar
    error = common_error([{"value": bar.value, "low": bar.low, "high": bar.high} for bar in every])
    label, notes = axis.label, list[str]()
    if error is not None:
        label = f"{label}, each ± {plus_minus(error)}"
    if any(bar.is_noise for bar in every):
        notes.append(_FADED_MEANS)
    if any(scale.impossible(axis)):
        notes.append(_HATCHED_MEANS)
    below = [*wrapped(label, int((width - 24) / LETTER)), *wrapped("; ".join(notes), int((width - 24) / LETTER))]
    columns = 2 if width >= _TWO and len(panels) > 1 else 1
    wide = (width - _GAP * (columns - 1)) / columns
    body, top = list[str](), float(head_of(title, width)) + 6
    for number in range(0, len(panels), columns):
        side_by_side = panels[number : number + columns]
        high = max(_height(panel, len(panels)) for panel in side_by_side)
        for column, panel in enumerate(side_by_side):
            left = column * (wide + _GAP)
            if panel.title:
                body.append(words(left + 12, top + 12, cut(panel.title, int(wide / LETTER) - 2)))
            sides = left, top + _head(panel), left + wide, top + high - 24
            drawn = _bars if panel.times is None else _band
            body += drawn(panel, every, scale, axis, error, sides)
        top += high
    for number, line in enumerate(below):
        body.append(words(12, top + 14 + LINE * number, line, colour=FAINT))
    return drawing(width, round(top + 20 + LINE * len(below)), title, body)


def _height(panel: Panel, panels: int) -> float:
    """Return the height of a panel with the names below it."""
    if panel.times is None:
        room = _BAR * len(panel.bars)
    else:
        room = _TALL if panels == 1 else _LOW
    return _head(panel) + room + 24


def _head(panel: Panel) -> float:
    return 20 if panel.title else 0


#: Left, top, right and bottom of a panel.
Sides = tuple[float, float, float, float]


def _bars(
    panel: Panel, every: Sequence[Bar], scale: Scale, axis: Axis, error: float | None, sides: Sides
) -> Iterator[str]:
    """Yield a bar, an interval and a number per value. Names and numbers take the same room in all panels."""
    left, top, right, _ = sides
    bottom = top + _BAR * len(panel.bars)
    longest = min(_LONGEST, int(_NAMES * (right - left) / LETTER))
    room = max(len(cut(bar.label, longest)) for bar in every), max(len(_text(bar, error)) for bar in every)
    flat = Scale(scale.low, scale.high, left + 20 + LETTER * room[0], right - 18 - LETTER * room[1])
    for start, end in flat.impossible(axis):
        yield from hatching(start, top, end, bottom)
    yield from upright(flat, top, bottom, axis.names)
    for number, bar in enumerate(panel.bars):
        y = top + _BAR * number + 15
        start, end = sorted((flat.at(0.0), flat.at(bar.value)))
        yield rectangle(start, y - 8, end - start, 16, COLOURS[0], FADED if bar.is_noise else FILLED)
        low, high = map(flat.at, bar.ends)
        if high > low:
            yield rule(low, y, high, y)
            yield rule(low, y - 4, low, y + 4)
            yield rule(high, y - 4, high, y + 4)
        yield words(flat.start - 8, y + 4, cut(bar.label, longest), "end")
        yield words(flat.end + 10, y + 4, _text(bar, error), colour=FAINT if bar.is_noise else INK)
    yield rule(flat.at(0.0), top, flat.at(0.0), bottom, FAINT)


def _band(
    panel: Panel, every: Sequence[Bar], scale: Scale, axis: Axis, error: float | None, sides: Sides
) -> Iterator[str]:
    """Yield a dotted line through the values, inside its band, noise faded."""
    left, top, right, bottom = sides
    times = panel.times or ()
    across = (times[0], times[-1]) if len(times) > 1 else (times[0] - 1, times[0] + 1)
    ends = (LETTER * len(panel.bars[end].label) / 2 for end in (0, -1))
    room = 22 + room_for_numbers(scale.low, scale.high)
    flat = Scale(*across, left + max(room, next(ends)), right - 6 - max(12, next(ends)))
    tall = Scale(scale.low, scale.high, bottom, top + 6)
    for start, end in tall.impossible(axis):
        yield from hatching(flat.start, min(start, end), flat.end, max(start, end))
    names = [(time, bar.label) for time, bar in zip(times, panel.bars, strict=True)]
    yield from level(flat, tall)
    yield from upright(flat, tall.end, tall.start, names)
    yield rule(flat.start, tall.at(0.0), flat.end, tall.at(0.0), FAINT)
    for run in _neighbours(panel):
        run_times, run_bars = zip(*run, strict=True)
        x = list(map(flat.at, run_times))
        lows, highs = [tall.at(bar.ends[0]) for bar in run_bars], [tall.at(bar.ends[1]) for bar in run_bars]
        places = [(at, tall.at(bar.value)) for at, bar in zip(x, run_bars, strict=True)]
        yield area([*zip(x, highs, strict=True), *zip(x[::-1], lows[::-1], strict=True)], COLOURS[0], FADED)
        if len(run) == 1:
            yield rule(x[0], highs[0], x[0], lows[0], COLOURS[0])
        for side, (bar, after) in zip(pairwise(places), pairwise(run_bars), strict=True):
            yield path(side, COLOURS[0], shade=0.35 if bar.is_noise or after.is_noise else 1.0)
        if len(run) <= 60:
            for place, bar in zip(places, run_bars, strict=True):
                yield dot(*place, COLOURS[0], 0.35 if bar.is_noise else 1.0)


def _neighbours(panel: Panel) -> Iterator[list[tuple[int, Bar]]]:
    """Yield runs of values and times without a gap."""
    run: list[tuple[int, Bar]] = []
    for time, bar in zip(panel.times or (), panel.bars, strict=True):
        if run and time > run[-1][0] + 1:
            yield run
            run = []
        run.append((time, bar))
    yield run


def _text(bar: Bar, error: float | None) -> str:
    """Write a value with its ±, unless there is a common `error`."""
    half = bar.ends[1] - bar.value
    if half == 0:
        return _value(bar.value)
    digits = _value(as_exact_as(bar.value, half))
    if error is not None:
        return digits
    return f"{digits} ± {plus_minus(half)}"


def _value(value: float) -> str:
    """Write a value as in a table, whole ones with all digits."""
    if float(value).is_integer() and abs(value) < 2**53:
        value = int(value)
    return written(value)

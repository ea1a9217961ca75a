"""Small pictures as SVG text: lines, steps and bars. No library, no script, no font but the reader's own.

A picture is one `<svg>` element: it stands alone as a file, or inside an HTML page. Lines differ by dashes and labels,
not by colour alone, so that they survive a black-and-white printer.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from takifugu.core.errors import InputError
from takifugu.core.escaping import as_exact_as
from takifugu.core.escaping import number as written

Point = tuple[float, float | None]

#: Colours that most colour-blind people tell apart (Okabe and Ito), and the dashes that go with them.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0508c", "#7a6a00", "#333333")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2")
WIDTH, HEIGHT = 640, 380
#: How opaque bars are: those that are not told from 0 are faded.
FILLED, FADED = 0.55, 0.2
_TEXT, _FAINT, _RULE = "#222222", "#666666", "#d9d9d9"
_LEAST = 1e-300  # what is nearer to 0, or to another number, is not told from it
_LETTER = 6.6  # the width of an average letter of 12 px, in px
_LARGE = 7.2  # that of one of 14 px
_LINE = 15
#: The names of bars have at most this many letters, and about this share of the width.
_LONGEST, _NAMES = 28, 0.35
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Axis:
    """What is measured along one side of a picture; `log` spaces powers of ten evenly.

    `names` are places along it with what is written there, in place of round numbers.
    """

    label: str
    log: bool = False
    names: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Line:
    """Points (x, y) in order, joined; with `step`, y holds until the next x. A y of None leaves a gap."""

    label: str
    points: Sequence[Point]
    step: bool = False


@dataclass(frozen=True)
class Bar:
    """A value with its name, and the ends of its error bar where it has one; what `is_noise` is drawn faded."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    is_noise: bool = False


@dataclass(frozen=True)
class _Scale:
    """Numbers from `low` to `high` as pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool

    def at(self, value: float) -> float:
        low, high, position = (math.log10(v) for v in (self.low, self.high, value)) if self.log else (
            self.low, self.high, value
        )  # fmt: skip
        return self.start + (self.end - self.start) * (position - low) / (high - low)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)


def line_chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    title: str,
    made: str = "",
    marks: Sequence[tuple[float, str]] = (),
    width: int = WIDTH,
    height: int = HEIGHT,
) -> str:
    """Return lines over two axes as SVG.

    `marks` are labelled upright rules at an x, `made` is the command behind it. Points on a log axis must be above 0;
    others, and those that are not finite, are gaps. Raises InputError where no point is left to draw.

    >>> picture = line_chart([Line("error", [(0.1, 40), (1, 4)])], Axis("epsilon", log=True), Axis("error"), "Cost")
    >>> picture.startswith("<svg"), "polyline" in picture
    (True, True)
    """
    runs = [list(_runs(line.points, x.log, y.log)) for line in lines]
    points = [point for line in runs for run in line for point in run]
    if not points:
        raise InputError(f"the picture {title!r} has no point that can be drawn", fix="give finite values")
    across = _range([p[0] for p in points] + [m for m, _ in marks if _fits(m, x.log)], x.log, from_zero=False)
    up = _range([p[1] for p in points], y.log, from_zero=True)
    names = [line.label for line in lines]
    right = 12 + (round(_LETTER * max(map(len, names))) + 26 if any(names) else 8)
    left = 22 + round(_LETTER * max(len(short_number(t)) for t in _Scale(*up, 0, 1, y.log).ticks()))
    head = 56 if any(label for _, label in marks) else 46
    flat = _Scale(*across, left, width - right, x.log)
    tall = _Scale(*up, height - 46, head, y.log)
    body = [*_grid(flat, tall, x, y, height)]
    for where, label in marks:
        if _fits(where, x.log):
            body.append(_rule(flat.at(where), tall.end, flat.at(where), tall.start, _FAINT, "3 3"))
            body.append(_words(flat.at(where), tall.end - 5, label, "middle", _FAINT))
    ends = []
    for number, (line, line_runs) in enumerate(zip(lines, runs, strict=True)):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        for run in line_runs:
            body += _drawn([(flat.at(a), tall.at(b)) for a, b in run], line.step, colour, dash)
        if line_runs and line.label:
            ends.append((tall.at(line_runs[-1][-1][1]), flat.at(line_runs[-1][-1][0]), line.label, colour))
    for height_of_text, (_, where, label, colour) in zip(_apart([e[0] for e in ends]), ends, strict=True):
        body.append(_words(where + 8, height_of_text + 4, label, "start", colour))
    return _svg(width, height, title, made, body)


def bar_chart(bars: Sequence[Bar], axis: Axis, title: str, made: str = "", width: int = WIDTH) -> str:
    """Return one horizontal bar per value as SVG.

    Its error bar and the number are beside it; bars start at 0. Raises InputError for no bars, and for values that are
    not finite.

    >>> bar_chart([Bar("still", 6, 4, 8)], Axis("minutes"), "Time use").count("<rect")
    2
    """
    numbers = [v for bar in bars for v in (bar.value, bar.low, bar.high) if v is not None]
    if not bars or not all(map(math.isfinite, numbers)):
        raise InputError(f"the picture {title!r} needs at least one bar, and finite values")
    names = [_cut(bar.label, min(_LONGEST, int(_NAMES * width / _LETTER))) for bar in bars]
    texts = [
        _value(b.value) if b.high is None else (
            f"{_value(as_exact_as(b.value, b.high - b.value))} ± {_value(b.high - b.value)}"
        )
        for b in bars
    ]
    left, right = 20 + round(_LETTER * max(map(len, names))), 16 + round(_LETTER * max(map(len, texts)))
    height = 34 + 26 * len(bars) + 46
    flat = _Scale(*_range([*numbers, 0.0], False, from_zero=True), left, width - right, False)
    body = [part for tick, name in _with_room(flat) for part in _tick_across(flat.at(tick), name, 34, height - 46)]
    half = _LETTER * len(axis.label) / 2  # below the middle, or as far left of it as keeps the words inside
    middle = min((flat.start + flat.end) / 2, max(width - half - 4, half + 4))
    body.append(_words(middle, height - 10, axis.label, "middle", _FAINT))
    for number, (bar, name, text) in enumerate(zip(bars, names, texts, strict=True)):
        y = 34 + 26 * number + 15
        ends = sorted((flat.at(0.0), flat.at(bar.value)))
        opacity = FADED if bar.is_noise else FILLED
        body.append(
            f'<rect x="{ends[0]:.1f}" y="{y - 8}" width="{ends[1] - ends[0]:.1f}" height="16" '
            f'fill="{COLOURS[0]}" fill-opacity="{opacity}"/>'
        )
        if bar.low is not None and bar.high is not None:
            a, b = flat.at(bar.low), flat.at(bar.high)
            body += [_rule(a, y, b, y, _TEXT), *(_rule(e, y - 4, e, y + 4, _TEXT) for e in (a, b))]
        body.append(_words(left - 8, y + 4, name, "end", _TEXT))
        body.append(_words(width - right + 8, y + 4, text, "start", _TEXT))
    body.append(_rule(flat.at(0.0), 34, flat.at(0.0), height - 46, _FAINT))
    return _svg(width, height, title, made, body)


def _value(value: float) -> str:
    """Write a value as in a table, whole ones with all digits."""
    return written(int(value) if float(value).is_integer() and abs(value) < 2**53 else value)


def short_number(value: float) -> str:
    """Write a number for a picture: whole, or four digits.

    Thousands are apart; powers of ten stand where it is far from 1.

    >>> short_number(0.05), short_number(12345.678), short_number(-12345.0), short_number(3e9)
    ('0.05', '12,350', '-12,345', '3e9')
    """
    return written(value, digits=4)


def drawing(width: int, height: int, title: str, body: Iterable[str]) -> str:
    """Return a picture of marks in their places.

    A screen reader says the title, too.
    """
    return _svg(width, height, title, "", body)


def rectangle(x: float, y: float, width: float, height: float, colour: str, shade: float = 1.0) -> str:
    """Return a filled rectangle, opaque by its shade.

    Its edges are not blurred, so that neighbours leave no seam.
    """
    opaque = "" if shade == 1 else f' fill-opacity="{shade:.3f}"'
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}"{opaque} '
        'shape-rendering="crispEdges"/>'
    )


def border(x: float, y: float, width: float, height: float) -> str:
    """Return the sides of a rectangle."""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="none" stroke="#888888" '
        'shape-rendering="crispEdges"/>'
    )


def words(x: float, y: float, text: str, anchor: str = "start") -> str:
    """Return a text from a place on, up to it, or around it.

    The anchor "end" ends it there.
    """
    return _words(x, y, text, anchor, _TEXT)


def rule(a: float, b: float, c: float, d: float) -> str:
    """Return a line from one point to another."""
    return _rule(a, b, c, d, _TEXT)


def _svg(width: int, height: int, title: str, made: str, body: Iterable[str]) -> str:
    description = f"<desc>{_escaped(made)}</desc>" if made else ""
    content, visible_title = "\n".join(body), _cut(title, int((width - 24) / _LARGE))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12" style="max-width:100%;height:auto">\n'
        f"<title>{_escaped(title)}</title>{description}\n"
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
        f'<text x="12" y="20" font-size="14" fill="{_TEXT}">{_escaped(visible_title)}</text>\n{content}\n</svg>\n'
    )


def _grid(flat: _Scale, tall: _Scale, x: Axis, y: Axis, height: int) -> Iterable[str]:
    for tick in tall.ticks():
        yield _rule(flat.start, tall.at(tick), flat.end, tall.at(tick), _RULE)
        yield _words(flat.start - 8, tall.at(tick) + 4, short_number(tick), "end", _FAINT)
    for tick, name in _with_room(flat, x.names):
        yield from _tick_across(flat.at(tick), name, tall.end, tall.start)
    yield _rule(flat.start, tall.start, flat.end, tall.start, _FAINT)
    yield _words((flat.start + flat.end) / 2, height - 10, x.label, "middle", _FAINT)
    if y.label:
        yield _words(12, 37, y.label, "start", _FAINT)


def _with_room(flat: _Scale, names: Sequence[tuple[float, str]] = ()) -> list[tuple[float, str]]:
    """Return the places along a side with room for their names.

    By default they are round numbers.
    """
    ticks: list[tuple[float, str]] = []
    for tick, name in names or [(tick, short_number(tick)) for tick in flat.ticks()]:
        if not ticks or flat.at(tick) - flat.at(ticks[-1][0]) > _LETTER * (len(name) + 1):
            ticks.append((tick, name))
    return ticks


def _tick_across(place: float, name: str, top: float, bottom: float) -> tuple[str, str]:
    return _rule(place, top, place, bottom, _RULE), _words(place, bottom + 16, name, "middle", _FAINT)


def _drawn(points: list[tuple[float, float]], step: bool, colour: str, dash: str) -> Iterable[str]:
    path = points
    if step:
        corners = [[(a, b), (c, b)] for (a, b), (c, _) in pairwise(points)]
        path = [*(corner for pair in corners for corner in pair), points[-1]]
    places = " ".join(f"{a:.1f},{b:.1f}" for a, b in path)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    yield f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>'
    if (len(points) <= 40 and not step) or len(points) == 1:
        yield from (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points)


def _rule(a: float, b: float, c: float, d: float, colour: str, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{colour}"{dashes}/>'


def _words(x: float, y: float, text: str, anchor: str, colour: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{_escaped(text)}</text>'


def _apart(heights: Sequence[float]) -> list[float]:
    """Return the heights of labels, moved down out of overlaps."""
    placed = list(heights)
    for before, after in pairwise(sorted(range(len(heights)), key=lambda i: heights[i])):
        placed[after] = max(placed[after], placed[before] + _LINE)
    return placed


def _runs(points: Sequence[Point], log_x: bool, log_y: bool) -> Iterable[list[tuple[float, float]]]:
    run: list[tuple[float, float]] = []
    for a, b in points:
        if b is not None and _fits(a, log_x) and _fits(b, log_y):
            run.append((a, b))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _fits(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value >= _LEAST or not log)


def _range(values: Sequence[float], log: bool, from_zero: bool) -> tuple[float, float]:
    low, high = min(values), max(values)
    if log:
        return (low, high) if high > low * 1.05 else (low / 2, high * 2)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= max(1e-12 * max(abs(low), abs(high)), _LEAST):
        return low - 1, high + 1
    ticks = _ticks(low, high)
    return min(low, ticks[0]), max(high, ticks[-1] if high <= ticks[-1] else high)


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers from `low` to `high`."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return the powers of ten from `low` to `high`.

    2 and 5 are between them where there are few.
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [float(f"{m}e{k}") for k in range(first, last + 1) for m in steps]
    ticks_inside = [t for t in ticks if low * (1 - 1e-9) <= t <= high * (1 + 1e-9)]
    return ticks_inside if len(ticks_inside) > 1 else [low, high]


def _escaped(text: str) -> str:
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"

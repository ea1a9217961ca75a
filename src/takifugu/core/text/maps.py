"""Maps as SVG text: a grid of places, each as dark as a number, or in the colour of what is said of it; or of hours.

Those of places have coordinates, a scale and a key of colours; north is above where y grows northwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from takifugu.core.escaping import number
from takifugu.core.text.marks import RULE, border, drawing, head_of, rectangle, ring, rule, words

Place = tuple[float, float]
#: The room around a map: coordinates on the left and below, keys and scale below.
_MARGIN, _LEFT, _BELOW = 12, 74, 46
_KEY, _COLOUR = 24, "#004d80"
#: Boxes with smaller sides have no grid between them, and letters smaller than these are not written.
_LEAST_SIDE, _LEAST_LETTERS = 5, 6.5
#: Columns of a day, and their colour; the height of all days together at most, and of one between.
_HOURS, _GREEN = 24, "#009e73"
_TALLEST, _LOW, _HIGH = 1100, 3, 14
#: How many shades are painted and shown in the key; what is 0 is not painted.
_SHADES = 10


@dataclass(frozen=True)
class Ground:
    """The range of a map's coordinates; one of x is `metres` long."""

    x: tuple[float, float]
    y: tuple[float, float]
    metres: float | None = None


@dataclass(frozen=True)
class Legend:
    """The legend of a place: colour, opacity and words."""

    colour: str
    shade: float
    words: str


def box_map(
    columns: int,
    rows: int,
    ground: Ground,
    legend: Mapping[str, Legend],
    said: Callable[[int, int], tuple[str, str]],
    title: str,
    width: int,
) -> str:
    """Return a map of coloured boxes with numbers as SVG; `said` gives the key in `legend` and the number of one."""
    # boxes of one colour side by side are one; the grid and the numbers are drawn where there is room for them
    top, side = head_of(title, width) + 4.0, (width - _LEFT - _MARGIN) / columns
    body, numbers = list[str](), list[tuple[float, float, str]]()
    for row in range(rows):
        kinds, numbers_of_row = zip(*(said(row, column) for column in range(columns)), strict=True)
        start, upper = 0, top + (rows - 1 - row) * side
        for kind, run in groupby(kinds):
            length = len(list(run))
            colour, shade = legend[kind].colour, legend[kind].shade
            body.append(rectangle(_LEFT + start * side, upper, length * side, side, colour, shade))
            start += length
        for column, letters_of_box in enumerate(numbers_of_row):
            if letters_of_box:
                numbers.append((_LEFT + (column + 0.5) * side, upper + side / 2, letters_of_box))
    low = top + side * rows
    if side >= _LEAST_SIDE:
        body += _grid(columns, rows, top, side)
    letters = min(12.0, 1.5 * (side - 1) / max((len(number) for *_, number in numbers), default=1))
    if letters >= _LEAST_LETTERS:
        for x, y, letters_of_box in numbers:
            body.append(words(x, y + letters / 3, letters_of_box, "middle", size=letters))
    body += frame(ground, top, side * columns, side * rows)
    for place, entry in enumerate(legend.values()):
        left, upper = _MARGIN, low + _BELOW + 20 * place
        body += [rectangle(left, upper, 12, 12, entry.colour, entry.shade), words(left + 17, upper + 10, entry.words)]
    return drawing(width, round(low + _BELOW + 20 * len(legend) + 4), title, body)


def _grid(columns: int, rows: int, top: float, side: float) -> Iterator[str]:
    """Yield the rules between boxes."""
    for column in range(1, columns):
        yield rule(_LEFT + side * column, top, _LEFT + side * column, top + side * rows, RULE)
    for row in range(1, rows):
        yield rule(_LEFT, top + side * row, _LEFT + side * columns, top + side * row, RULE)


def frame(ground: Ground, top: float, width: float, height: float) -> Iterator[str]:
    """Yield the ground's edge and coordinates, with a scale below."""
    left, right, low = _LEFT, _LEFT + width, top + height
    yield border(left, top, width, height)
    for at, value in ((top + 10.0, ground.y[1]), (low, ground.y[0])):
        yield words(left - 6, at, number(value, digits=5), "end")
    for at, value, anchor in ((left, ground.x[0], "start"), (right, ground.x[1], "end")):
        yield words(at, low + 16, number(value, digits=5), anchor)
    span = (ground.x[1] - ground.x[0]) * (ground.metres or 1.0)
    power = 10.0 ** math.floor(math.log10(span / 3))
    length = max(power * m for m in (1, 2, 5) if power * m <= span / 3 * (1 + 1e-9))
    long = width * length / span
    for a, b, c, d in (
        (0.0, 34.0, long, 34.0),
        (0.0, 30.0, 0.0, 38.0),
        (long, 30.0, long, 38.0),
    ):
        yield rule(left + a, low + b, left + c, low + d)
    yield words(left + long + 8, low + 38, _length_words(length, ground))


def _length_words(length: float, ground: Ground) -> str:
    """Write a length in metres, or in units of the coordinates."""
    if ground.metres is None:
        return f"{number(length, digits=4)} (units of the coordinates)"
    if length >= 1000:
        return f"{number(length / 1000, digits=4)} km"
    return f"{number(length, digits=4)} m"


def heat_map(
    places: Sequence[Place],
    numbers: Sequence[float],
    title: str,
    width: int = 300,
    mark: Place | None = None,
    metres: float | None = None,
    most: float | None = None,
) -> str:
    """Return a map of equal cells as SVG by their centres; the darkest has the largest number, or `most`."""
    # a ring is around `mark`; `metres` is the length of one unit of x; maps to be compared have one `most`
    xs, ys = map(sorted, map(set, zip(*places, strict=True)))
    column = {x: number for number, x in enumerate(xs)}
    row = {y: number for number, y in enumerate(ys)}
    top, size = head_of(title, width) + 4.0, (width - _LEFT - _MARGIN) / len(xs)
    height = size * len(ys)
    most = most or max(numbers, default=0.0) or 1.0
    body = []
    for (x, y), share in zip(places, numbers, strict=True):
        left, upper = _LEFT + size * column[x], top + size * (len(ys) - 1 - row[y])
        body.append(rectangle(left, upper, size, size, _COLOUR, _shade(share / most)))
    if mark is not None:
        left, upper = _LEFT + size * (column[mark[0]] + 0.5), top + size * (len(ys) - 0.5 - row[mark[1]])
        body.append(ring(left, upper, max(size * 0.42, 3)))
    body += frame(Ground(ends_of(xs), ends_of(ys), metres), top, width - _LEFT - _MARGIN, height)
    shades = [_shade((step + 0.5) / _SHADES) for step in range(_SHADES)]
    body += _key(top + height + _BELOW + 4, _COLOUR, shades, f"{number(100 * most, digits=4)} % of rows")
    return drawing(width, math.ceil(top + height + _BELOW + _KEY + 6), title, body)


def ends_of(centres: Sequence[float]) -> tuple[float, float]:
    """Return both ends of equal cells with these centres."""
    half = (centres[1] - centres[0]) / 2 if len(centres) > 1 else 0.5
    return round(centres[0] - half, 9), round(centres[-1] + half, 9)


def _key(top: float, colour: str, shades: Sequence[float], most: str) -> Iterator[str]:
    """Yield all shades, lightest first, and what both ends mean."""
    yield words(_LEFT - 6, top + 12, "0 %", "end")
    for step, shade in enumerate(shades):
        yield rectangle(_LEFT + 100.0 / _SHADES * step, top, 100 / _SHADES, 14, colour, shade)
    yield words(_LEFT + 106, top + 12, most)


def _shade(share: float) -> float:
    """Return the opacity of a share, visible also for small ones."""
    part = 0.0
    if share > 0:
        part = (min(math.floor(max(share, 0.0) * _SHADES), _SHADES - 1) + 0.5) / _SHADES
    return math.sqrt(part)


def hours_map(shares: Sequence[tuple[str, float]], title: str, width: int) -> str:
    """Return a picture of hours in order, such as 2026-02-09T18, and their shares."""
    of_day = {day: list(hours) for day, hours in groupby(shares, key=lambda pair: pair[0][:10])}
    first, last = (date.fromisoformat(day).toordinal() for day in (min(of_day), max(of_day)))
    days = [date.fromordinal(number).isoformat() for number in range(first, last + 1)]
    top, wide = head_of(title, width) + 20.0, (width - _LEFT - _MARGIN) / _HOURS
    tall = max(_LOW, min(_HIGH, _TALLEST / len(days)))
    body = [words(_LEFT + wide * hour, top - 5, f"{hour:02}") for hour in range(0, _HOURS, 6)]
    for row, day in enumerate(days):
        for left, length, level in _alike([(int(period[11:13]), share) for period, share in of_day.get(day, ())]):
            body.append(rectangle(_LEFT + wide * left, top + tall * row, wide * length, tall, _GREEN, level))
    labelled = -_HIGH
    for row, day in enumerate(days):
        is_month = day.endswith("-01") or row == 0
        if (is_month or len(days) <= _TALLEST // _HIGH // 2) and tall * row - labelled >= _HIGH:
            body.append(words(_LEFT - 6, top + tall * row + 10, day, "end"))
            labelled = round(tall * row)
    shades = [(step + 1) / _SHADES for step in range(_SHADES)]
    low = top + tall * len(days)
    body += border(_LEFT, top, wide * _HOURS, low - top), *_key(low + 12, _GREEN, shades, "100 %")
    return drawing(width, round(low + 36), title, body)


def _alike(hours: Sequence[tuple[int, float]]) -> Iterator[tuple[int, int, float]]:
    """Yield the first hour, the number and the shade of hours alike."""
    shaded = list[tuple[int, float, int]]()
    for place, (hour, share) in enumerate(hours):
        shade = (min(int(share * _SHADES), _SHADES - 1) + 1) / _SHADES  # visible also for the smallest share
        shaded.append((hour - place, shade, hour))
    for (_, level), run in groupby(shaded, key=lambda triple: triple[:2]):
        (*_, first), *others = run
        yield first, 1 + len(others), level

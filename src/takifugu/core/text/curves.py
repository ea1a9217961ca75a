"""Curves over two axes as SVG text, with marks at places along them.

Lines differ by dashes and labels, not by colour alone, so that they survive a black-and-white printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.text.marks import (
    COLOURS,
    DASHES,
    FAINT,
    LETTER,
    apart,
    dot,
    drawing,
    head_of,
    path,
    rule,
    words,
)
from takifugu.core.text.scales import Axis, Scale, ends_of, fits, level, room_for_numbers, upright

Point = tuple[float, float | None]

WIDTH, HEIGHT = 640, 380


@dataclass(frozen=True)
class Line:
    """Points (x, y) in order, joined directly, or by steps: a y then holds until the next x."""

    label: str
    #: A y of None leaves a gap.
    points: Sequence[Point]
    step: bool = False


def line_chart(
    lines: Sequence[Line], x: Axis, y: Axis, title: str, made: str = "", marks: Sequence[tuple[float, str]] = (),
    width: int = WIDTH, height: int = HEIGHT,
) -> str:  # fmt: skip
    """Return lines over two axes as SVG, with labelled upright rules at `marks`; InputError for no point."""
    # what is not finite, or not above 0 on a log axis, is a gap; `made` is the command behind the picture
    runs = [_runs(line.points, x.log, y.log) for line in lines]
    points = [*chain.from_iterable(chain.from_iterable(runs))]
    if not points:
        raise InputError(f"the picture {title!r} has no point that can be drawn", fix="give finite values")
    places, heights = zip(*points, strict=True)
    marks_there = [(place, label) for place, label in marks if fits(place, x.log)]
    across = ends_of([*places, *(place for place, _ in marks_there)], x.log, from_zero=False)
    up = ends_of(heights, y.log, from_zero=True)
    longest = max(len(line.label) for line in lines)
    room_for_names = round(LETTER * longest) + 26 if longest else 8
    room_for_marks = 28 if any(label for _, label in marks) else 18
    head = head_of(title, width)
    flat = Scale(*across, 22 + room_for_numbers(*up, y.log), width - 12 - room_for_names, x.log)
    tall = Scale(*up, height - 46, head + room_for_marks, y.log)
    body = [*level(flat, tall), *upright(flat, tall.end, tall.start, x.names)]
    body.append(rule(flat.start, tall.start, flat.end, tall.start, FAINT))
    body.append(words((flat.start + flat.end) / 2, height - 10, x.label, "middle", FAINT))
    body.append(words(12, head + 9, y.label, colour=FAINT))
    for place, label in marks_there:
        at = flat.at(place)
        body.append(rule(at, tall.end, at, tall.start, FAINT, "3 3"))
        body.append(words(at, tall.end - 5, label, "middle", FAINT))
    return drawing(width, height, title, [*body, *_lines(lines, runs, flat, tall)], made)


def _lines(
    lines: Sequence[Line], runs: Sequence[list[list[tuple[float, float]]]], flat: Scale, tall: Scale
) -> Iterator[str]:
    """Yield each line in its colour and dash, with its label. The label stands where the line ends."""
    ends = []
    for number, (line, line_runs) in enumerate(zip(lines, runs, strict=True)):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        for run in line_runs:
            yield from _drawn([(flat.at(a), tall.at(b)) for a, b in run], line.step, colour, dash)
        if line_runs and line.label:
            last_x, last_y = line_runs[-1][-1]
            ends.append((tall.at(last_y), flat.at(last_x), line.label, colour))
    for height, (_, end, label, colour) in zip(apart([end[0] for end in ends]), ends, strict=True):
        yield words(end + 8, height + 4, label, colour=colour)


def _drawn(points: list[tuple[float, float]], step: bool, colour: str, dash: str) -> Iterator[str]:
    corners = points
    if step:
        corners = points[:1]
        for (_, height), after in pairwise(points):
            corners += [(after[0], height), after]
    yield path(corners, colour, dash)
    if (len(points) <= 40 and not step) or len(points) == 1:
        for a, b in points:
            yield dot(a, b, colour)


def _runs(points: Sequence[Point], log_x: bool, log_y: bool) -> list[list[Any]]:
    """Return the points that have a place, run by run."""
    placed = groupby(points, lambda point: point[1] is not None and fits(point[0], log_x) and fits(point[1], log_y))
    return [[*run] for has_place, run in placed if has_place]

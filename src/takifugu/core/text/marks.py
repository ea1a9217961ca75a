"""Marks of pictures as SVG text: rectangles, rules, lines, areas, dots and words, and the picture around them.

A picture is one `<svg>` element: it stands alone as a file, or inside an HTML page. `plot` draws the same marks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from takifugu.core.text.parts import text as escaped

Place = tuple[float, float]

#: Colours that most colour-blind people tell apart (Okabe and Ito), and the dashes that go with them.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#a0508c", "#7a6a00", "#333333")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 2")
INK, FAINT, RULE, FRAME = "#222222", "#666666", "#d9d9d9", "#888888"
#: The width of an average letter of 12 px, and that of one of 14 px; the height of a line; in px.
LETTER, _LARGE, LINE = 6.6, 7.2, 15
_MARGIN, _MOST_LINES, _HATCH = 12, 2, 7


def drawing(width: int, height: int, title: str, body: Iterable[str], made: str = "") -> str:
    """Return a picture of marks below its title, which a screen reader says, made by the command `made`."""
    description = f"<desc>{escaped(made)}</desc>" if made else ""
    content = "\n".join(body)
    lines = "".join(
        f'<text x="{_MARGIN}" y="{20 + 18 * number}" font-size="14" fill="{INK}">{escaped(line)}</text>\n'
        for number, line in enumerate(_title_lines(title, width))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12" style="max-width:100%;height:auto">\n'
        f"<title>{escaped(title)}</title>{description}\n"
        f'<rect width="{width}" height="{height}" fill="white"/>\n'
        f"{lines}{content}\n</svg>\n"
    )


def head_of(title: str, width: int) -> int:
    """Return the height of a picture's title, below which its marks begin."""
    return 10 + 18 * max(len(_title_lines(title, width)), 1)


def _title_lines(title: str, width: int) -> list[str]:
    return wrapped(title, int((width - 2 * _MARGIN) / _LARGE), _MOST_LINES)


def wrapped(text: str, letters: int, most: int = 9) -> list[str]:
    """Break a text into at most `most` lines, the last one cut."""
    whole = text.replace(" %", "\xa0%")  # a number stays with its per cent sign
    lines = textwrap.wrap(whole, max(letters, 1), max_lines=most, placeholder="…")
    return [line.replace("\xa0%", " %") for line in lines]


def rectangle(x: float, y: float, width: float, height: float, colour: str, shade: float = 1.0) -> str:
    """Return a filled rectangle, opaque by its shade. Its edges are not blurred, so that neighbours leave no seam."""
    opaque = _unless("fill-opacity", shade, 1, ".3f")
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}"{opaque} '
        'shape-rendering="crispEdges"/>'
    )


def border(x: float, y: float, width: float, height: float) -> str:
    """Return the sides of a rectangle."""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="none" stroke="{FRAME}" '
        'shape-rendering="crispEdges"/>'
    )


def rule(a: float, b: float, c: float, d: float, colour: str = INK, dash: str = "") -> str:
    """Return a line from the place (a, b) to (c, d)."""
    dashes = _unless("stroke-dasharray", dash, "")
    return f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" stroke="{colour}"{dashes}/>'


def path(places: Iterable[Place], colour: str, dash: str = "", shade: float = 1.0) -> str:
    """Return places joined by a line."""
    look = _unless("stroke-dasharray", dash, "") + _unless("stroke-opacity", shade, 1)
    stroke = f'stroke="{colour}" stroke-width="2"{look}'
    return f'<polyline points="{_points(places)}" fill="none" {stroke}/>'


def area(places: Iterable[Place], colour: str, shade: float) -> str:
    """Return the area inside a closed line."""
    return f'<polygon points="{_points(places)}" fill="{colour}" fill-opacity="{shade}"/>'


def dot(x: float, y: float, colour: str, shade: float = 1.0) -> str:
    opaque = _unless("fill-opacity", shade, 1)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"{opaque}/>'


def ring(x: float, y: float, radius: float) -> str:
    return f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{radius:.2f}" fill="none" stroke="{COLOURS[1]}" stroke-width="2.5"/>'


def hatching(left: float, top: float, right: float, bottom: float) -> Iterator[str]:
    """Yield slanted rules across a rectangle of impossible values."""
    tall = bottom - top
    for number in range(1, int((right - left + tall) / _HATCH) + 1):
        a = left + _HATCH * number  # where the slanted rule would meet the top
        start, end = max(a - tall, left), min(a, right)
        if end - start > 1:
            yield rule(start, top + (a - start), end, top + (a - end), RULE)


def words(x: float, y: float, text: str, anchor: str = "start", colour: str = INK, size: float = 12) -> str:
    """Return a text from, up to ("end") or around ("middle") a place."""
    large = _unless("font-size", size, 12, ".1f")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{large} fill="{colour}">{escaped(text)}</text>'


def _points(places: Iterable[Place]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _unless(name: str, value: object, usual: object, form: str = "") -> str:
    """Return an attribute, or nothing for its usual value."""
    if value == usual:
        return ""
    return f' {name}="{value:{form}}"'


def apart(heights: Sequence[float]) -> list[float]:
    """Return the heights of labels, moved down out of overlaps."""
    placed = list(heights)
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + LINE)
    return placed

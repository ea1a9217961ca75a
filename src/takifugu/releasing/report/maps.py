"""Small maps as SVG: a grid of places, each as dark as a number says. One `<svg>`, no script, no font of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from takifugu.core.text.pictures import short_number

Place = tuple[float, float]
_DARK = (0, 77, 128)


def heat_map(
    places: Sequence[Place], numbers: Sequence[float], title: str, width: int = 300, mark: Place | None = None
) -> str:
    """Return a map of equal cells with these centres; the darkest has the largest number, a ring is around `mark`.

    >>> heat_map([(0, 0), (1, 0), (0, 1), (1, 1)], [0.1, 0.2, 0.3, 0.4], "home").count("<rect")
    5
    """
    xs, ys = (sorted({place[axis] for place in places}) for axis in (0, 1))
    column, row = ({x: number for number, x in enumerate(values)} for values in (xs, ys))
    size = (width - 2) / len(xs)
    height = size * len(ys)
    most = max(numbers, default=0.0) or 1.0
    head, body = 26, []
    for (x, y), number in zip(places, numbers, strict=True):
        left, top = 1 + size * column[x], head + size * (len(ys) - 1 - row[y])
        where = f'x="{left:.2f}" y="{top:.2f}" width="{size:.2f}" height="{size:.2f}"'
        body.append(f'<rect {where} fill="{_shade(number / most)}"/>')
    if mark is not None:
        left, top = 1 + size * (column[mark[0]] + 0.5), head + size * (len(ys) - 0.5 - row[mark[1]])
        body.append(
            f'<circle cx="{left:.2f}" cy="{top:.2f}" r="{max(size * 0.42, 3):.2f}" fill="none" stroke="#d55e00" '
            'stroke-width="2.5"/>'
        )
    ends = f"{_text(title)} (darkest: {short_number(100 * most)} %)"
    tall = math.ceil(head + height + 2)
    frame = f'<rect x="1" y="{head}" width="{width - 2}" height="{height:.2f}" fill="none" stroke="#888888"/>'
    words = f'<text x="1" y="17" font-family="sans-serif" font-size="13" fill="#222222">{ends}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {tall}" width="{width}" '
        f'height="{tall}"><title>{_text(title)}</title>{words}{"".join(body)}{frame}</svg>'
    )


def _shade(share: float) -> str:
    deep = math.sqrt(max(min(share, 1.0), 0.0))  # small numbers stay visible
    red, green, blue = (round(255 - (255 - full) * deep) for full in _DARK)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _text(words: str) -> str:
    from takifugu.releasing.report.page import text

    return text(words)

"""A picture of noisy counts for the terminal: bars, and where the true value may lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import itemgetter

from takifugu.core.escaping import as_exact_as, at_least, at_most, number, plus_minus
from takifugu.core.plain import Row
from takifugu.core.text.tables import name_of, width

_ENDS = itemgetter("low", "value", "high")
_MARKS = {"readable": "~0", "possible": "impossible"}
#: A value below so many times its error is small: the error stands beside it in percent.
_SMALL = 4


def common_error(rows: Sequence[Row]) -> float | None:
    """Return the common ± of a table's values; None where they differ or have none, and of a single value."""
    if len(rows) < 2:
        return None
    error = None
    for low, value, high in map(_ENDS, rows):
        if high is None or isinstance(value, str):
            return None
        if error is None:
            error = _difference(high, value)
        if not (_close(high - value, error) and _close(value - low, error)):
            return None
    return error


def _difference(end: float, value: float) -> float:
    """Return the distance to an end, without errors of floats."""
    size = end - value
    return size if isinstance(size, int) else float(f"{size:.12g}")


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6)  # as far as six digits show


def relative_error(row: Row) -> str:
    """Return the error of a small value in percent of it, "" of a large one and of noise."""
    low, value, high = _ENDS(row)
    if high is None or not value or row.get("readable") is False:
        return ""
    error = max(high - value, value - low)
    return f"±{math.ceil(100 * error / abs(value))} %" if abs(value) < _SMALL * error else ""


def bars(
    rows: Sequence[Row],
    longest: float | None = None,
    lowest: float | None = None,
    error: float | Fraction | None = None,
) -> list[str]:
    """Return one line per row (cell, value, low, high): █ from 0 on, ▓ and ░ the interval up to the value and on."""
    # bars have room from `lowest` (by default the least low, or 0) to `longest` (the largest high); below 0, │ is at 0.
    # Where the caller says once that the ± is `error` it is left out, and stands in percent beside a small value
    names = [name_of(r["cell"], 16) for r in rows]
    if any(r["high"] is None for r in rows):  # labels and the like: nothing to draw
        wide = max(map(len, names))
        return [f"{name:<{wide}}  {name_of(str(r['value']))}" for name, r in zip(names, rows, strict=True)]
    marks = [_mark(row, is_said=error is not None) for row in rows]
    wide = max(map(len, marks))
    texts = [f"{_around(r, error)}{mark:<{wide}}" for r, mark in zip(rows, marks, strict=True)]
    left, right = max(map(len, names)), max(map(len, texts))
    room = max(8, width() - left - right - 4)
    if longest is None:
        longest = max(map(float, map(itemgetter("high"), rows)))
    if lowest is None:
        lowest = min(map(float, map(itemgetter("low"), rows)))
    lines = []
    for name, row, text in zip(names, rows, texts, strict=True):
        bar = _bar(row, min(lowest, 0.0), max(longest, 0.0), room)
        lines.append(f"{name:<{left}}  {bar:<{room}}  {text:>{right}}".rstrip())
    return lines


def _mark(row: Row, is_said: bool) -> str:
    """Return the words beside a value, whose ± is said elsewhere or stands there."""
    words_of = _MARKS | ({"readable": str(row["mark"])} if "mark" in row else {})
    marks = [words for key, words in words_of.items() if row.get(key) is False]
    if is_said:
        marks = [*filter(None, [relative_error(row)]), *marks]
    return f"  {', '.join(marks)}" if marks else ""


def _bar(row: Row, least: float, most: float, room: int) -> str:
    """Return one row between `least` and `most`, with 0 marked inside."""
    if least < 0:
        room = room - 1

    def column(end: float) -> int:
        end = min(max(end, least), most)
        return round(room * (end - least) / (most - least)) if most > least else 0

    low, value, high = map(column, map(float, _ENDS(row)))
    zero = column(0.0)
    signs = [" "] * room
    for shade, start, end in (("█", high, zero), ("█", zero, low), ("░", value, high), ("▓", low, value)):
        signs[start:end] = shade * max(end - start, 0)
    drawn = "".join(signs)
    if least < 0:
        return f"{drawn[:zero]}│{drawn[zero:]}"
    return drawn.rstrip()


def _around(row: Row, error: float | Fraction | None) -> str:
    """Return a value with half its interval's width, or its ends."""
    low, value, high = _ENDS(row)
    adjusted = ""
    if "adjusted" in row:
        adjusted = f", adjusted {number(row['adjusted'])}"
    if error is not None:
        return f"{number(as_exact_as(value, error))}{adjusted}"
    if _close(high - value, value - low):
        half = _difference(high, value)
        return f"{number(as_exact_as(value, half))} ± {plus_minus(half)}{adjusted}"
    return f"{number(value)} ({at_least(low)} to {at_most(high)}){adjusted}"


def block(share: float, width: int) -> str:
    """Return a bar of `share` (0 to 1) of `width` columns, exact to an eighth, and never empty above 0."""
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    full, eighths_left = divmod(eighths, 8)
    return "█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths_left]

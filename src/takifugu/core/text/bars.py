"""A picture of noisy counts for the terminal: bars, and where the true value may lie."""

from __future__ import annotations

from collections.abc import Sequence

from takifugu.core.plain import Row
from takifugu.core.text.tables import name_of, number, width


def bars(rows: Sequence[Row], longest: float | None = None, columns: int | None = None) -> list[str]:
    """Return one line per row (cell, value, low, high): █ up to `low`, ▓ from there to `value`, ░ to `high`.

    `longest` is the value of a bar of full length; by default the largest `high`.

    >>> print(bars([{"cell": "still", "value": 6, "low": 4, "high": 8}], columns=40)[0])
    still  █████████████▓▓▓▓▓▓▓░░░░░░  6 ± 2
    """
    names = [name_of(r["cell"], 16) for r in rows]
    if any(r["high"] is None for r in rows):  # labels and the like: nothing to draw
        wide = max(map(len, names))
        return [f"{name:<{wide}}  {name_of(str(r['value']))}" for name, r in zip(names, rows, strict=True)]
    texts = [_around(r) for r in rows]
    left, right = max(map(len, names)), max(map(len, texts))
    room = max(8, (columns or width()) - left - right - 4)
    most = longest or max([float(r["high"]) for r in rows] + [0.0])
    lines = []
    for name, text, row in zip(names, texts, rows, strict=True):
        ends = [round(room * max(0.0, float(row[end])) / most) if most else 0 for end in ("low", "value", "high")]
        bar = "█" * ends[0] + "▓" * (ends[1] - ends[0]) + "░" * (ends[2] - ends[1])
        lines.append(f"{name:<{left}}  {bar:<{room}}  {text:>{right}}")
    return lines


def _around(row: Row) -> str:
    """Return a value with its interval: as half a width where it lies in the middle, else with the interval's ends."""
    low, value, high = (row[key] for key in ("low", "value", "high"))
    adjusted = f", adjusted {_short(row['adjusted'])}" if "adjusted" in row else ""
    if high - value == value - low:
        return f"{_short(value)} ± {_short(high - value)}{adjusted}"
    return f"{_short(value)} ({_short(low)} to {_short(high)}){adjusted}"


def block(share: float, width: int) -> str:
    """Return a bar of `share` (0 to 1) of `width` columns, exact to an eighth of one; never empty above 0.

    >>> block(0.5, 5), block(0.001, 5), block(0, 5)
    ('██▌', '▏', '')
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]


def _short(value: int | float) -> str:
    return number(value, digits=4)

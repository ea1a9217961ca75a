"""Tables and labelled lines as plain text within 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from takifugu.visible import visible

#: Everything that is printed fits a terminal of this many columns.
WIDTH = 80
_GAP = 2
_NARROWEST = 14


def number(value: float | None, missing: str = "-") -> str:
    """Write a number with six significant digits; `missing` for None.

    >>> number(5.0), number(1 / 3), number(None), number(1234567.8)
    ('5', '0.333333', '-', '1.23457e+06')
    """
    return missing if value is None else f"{value:.6g}"


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], width: int = WIDTH) -> str:
    """Return a table at most `width` columns wide: the last column takes what is left and wraps.

    >>> print(text_table(["name", "why"], [["group", "always applies"], ["entry", "-"]]))
    name   why
    -----  --------------
    group  always applies
    entry  -
    """
    header, cells = [visible(title) for title in header], [[visible(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header), *cells]) for i in range(len(header))]
    left = width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    widths[-1] = min(widths[-1], max(left, _NARROWEST))
    rules = ["-" * w for w in widths]
    return "\n".join(line for row in [list(header), rules, *cells] for line in _lines(row, widths))


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    wrapped = _wrap(row[-1], widths[-1])
    first = [cell.ljust(w) for cell, w in zip(row[:-1], widths[:-1], strict=True)]
    blank = [" " * w for w in widths[:-1]]
    gap = " " * _GAP
    return [gap.join([*(blank if i else first), part]).rstrip() for i, part in enumerate(wrapped)]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def labelled(pairs: Iterable[tuple[str, str]], width: int = WIDTH) -> str:
    """Return `label  text` lines, the texts aligned and wrapped.

    >>> print(labelled([("hides", "every entry"), ("epsilon", "1")]))
    hides    every entry
    epsilon  1
    """
    listed = [(visible(label), visible(text)) for label, text in pairs]
    indent = max(len(label) for label, _ in listed) + _GAP
    lines: list[str] = []
    for label, text in listed:
        wrapped = _wrap(text, width - indent)
        lines += [(label if i == 0 else "").ljust(indent) + part for i, part in enumerate(wrapped)]
    return "\n".join(line.rstrip() for line in lines)

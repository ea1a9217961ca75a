"""Tables and labelled lines as plain text, within 80 columns or those of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from itertools import zip_longest

from takifugu.core.escaping import visible
from takifugu.core.lasting import holding

#: Everything that is printed fits so many columns, unless a terminal has fewer or more of them.
WIDTH = 80
#: What is printed for a terminal is never wider, because lines are read worse then, nor narrower than that.
WIDEST, NARROWEST = 100, 40
_columns: ContextVar[int] = ContextVar("columns", default=WIDTH)
#: The longest name that a table shows whole; the JSON has them all.
LONGEST_NAME = 24
_GAP = 2
_NARROWEST = 14
#: A command in a sentence, to be pasted.
_COMMAND = re.compile(r"`(?:takifugu|grep) [^`]+`")
#: A file in folders, to be pasted, too.
_PATH = re.compile(r"\S+[/\\]\S+")
_WHOLE = "\0"


def cut(text: str, letters: int) -> str:
    """Cut a text at so many letters, with an ellipsis."""
    return text if len(text) <= letters else f"{text[: max(letters - 1, 0)]}…"


def width() -> int:
    """Return the number of columns: WIDTH, or a terminal's (`fitting`)."""
    return _columns.get()


def fitting(columns: int) -> AbstractContextManager[None]:
    """Fit everything printed inside to so many columns, at least NARROWEST."""
    return holding(_columns, max(NARROWEST, columns))


def filled(text: str) -> str:
    """Return a text in lines of the width, each of its own lines by itself."""
    # a number stays with its per cent sign, and a command in backticks is whole, so that it can be pasted
    return "\n".join(_broken(text, width()))


def _broken(text: str, room: int) -> list[str]:
    """Return a text in lines of so many columns, at least one."""
    unbroken = _COMMAND.sub(lambda command: command[0].replace(" ", _WHOLE), text.replace(" %", f"{_WHOLE}%"))
    is_longer = any(len(whole) > room for whole in [*_COMMAND.findall(text), *_PATH.findall(text)])
    lines = list[str]()
    for line in unbroken.split("\n"):
        lines += textwrap.wrap(line, room, break_on_hyphens=False, break_long_words=not is_longer)
    return [line.replace(_WHOLE, " ") for line in lines] or [""]


def paragraph(text: str) -> str:
    """Return a text in lines of the width, safe for a terminal."""
    return filled(visible(text))


def shortened(sentences: Sequence[str], most: int, others: str) -> list[str]:
    """Return the first sentences, and how many others there are."""
    left = len(sentences) - most
    if left <= 0:
        return list(sentences)
    return [*sentences[:most], f"and {left} {others}"]


def name_of(text: str, width: int = LONGEST_NAME) -> str:
    """Return a name, cut to the room of a table."""
    return cut(visible(text), width)


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of the width, in which the last column takes the room left and wraps, then the widest do."""
    header, cells = list(map(visible, header)), []
    for row in rows:
        cells.append(list(map(visible, map(str, row))))
    widths = _fitted([header, *cells], width() - _GAP * (len(header) - 1))
    # not even its words fit beside each other: each row becomes a list of its cells
    if widths is None:
        if not cells:
            return ", ".join(header)
        return "\n\n".join(labelled([*zip(header, row, strict=True)]) for row in cells)
    rules, lines = ["-" * w for w in widths], list[str]()
    for row in [header, rules, *cells]:
        for parts in zip_longest(*map(_broken, row, widths), fillvalue=""):
            lines.append((" " * _GAP).join(map(str.ljust, parts, widths)).rstrip())
    return "\n".join(lines)


def _fitted(lines: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return widths of columns on one line; None for too long words."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    last = max(room - sum(widths[:-1]), _NARROWEST)
    if sum(widths[:-1]) + min(widths[-1], last) <= room:
        return [*widths[:-1], min(widths[-1], last)]
    least = [max(map(_longest_word, column)) for column in columns]
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        widths[widest] -= 1
    return widths


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def labelled(pairs: Iterable[tuple[str, str]], columns: int | None = None) -> str:
    """Return `label text` lines, aligned and wrapped; texts go below labels that are too long."""
    entries, room = [(visible(label), visible(text)) for label, text in pairs], columns or width()
    indent = max(len(label) for label, _ in entries) + _GAP
    lines: list[str] = []
    if any(len(text) > room - indent for _, text in entries) and room - indent < 2 * _NARROWEST:
        for label, text in entries:
            lines += [label, *(f"    {part}" for part in _broken(text, room - 4))]
        return "\n".join(lines)
    for label, text in entries:
        first, *continuations = _broken(text, room - indent)
        lines.append(label.ljust(indent) + first)
        lines += [" " * indent + part for part in continuations]
    return "\n".join(map(str.rstrip, lines))

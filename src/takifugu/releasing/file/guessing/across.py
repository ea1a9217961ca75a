"""Columns that are steps themselves: called as days, times or questions, with cells alike."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from takifugu.core.names import fits
from takifugu.data.files.sniff import time_formats
from takifugu.data.kinds import NUMBERS, TEXTS, WHOLE, YES_NO
from takifugu.data.wide import read_step
from takifugu.releasing.file.guessing.column_words import WHEN, words, words_in
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

_FEWEST = 3
_CLOCK = r"(?:[01]?[0-9]|2[0-4])[:.hH][0-5][0-9](?:[:.][0-5][0-9])?"
_WEEK = ("mon tue wed thu fri sat sun", "mo di mi do fr sa so", "lun mar mer jeu ven sam dim", "lu ma me je ve sa di")
_QUESTION = words("q question frage item pregunta domanda")


@dataclass(frozen=True)
class Across:
    """Columns of a wide table that are steps, as a release file names them, and what headers and cells are called.

    `form` is how headers are written, `are_times` whether they are dates or times, `of_days` whether times of day.
    """

    names: tuple[str, ...]
    columns: str | list[str] | dict[str, int]
    order: str
    value: str
    form: str | None = None
    are_times: bool = False
    of_days: bool = False
    are_questions: bool = False
    ignored: tuple[str, ...] = ()


def across(columns: Mapping[str, Seen]) -> Across | None:
    """Return the columns of steps, if alike and most of the table."""
    names = [*columns]
    for steps, order, form, kind in _ways(names):
        is_most = len(steps) >= _FEWEST and 2 * len(steps) > len(names)
        if is_most and _are_alike([columns[name] for name in steps]):
            other_names = [name for name in names if name not in steps]
            header = order if order not in other_names else f"{order}_2"
            cell = "value" if "value" not in other_names else "cell"
            is_clock, are_times = kind == "clock", kind in ("dates", "clock")
            step_columns = _listed(steps, other_names, kind)
            return Across(tuple(steps), step_columns, header, cell, form, are_times, is_clock, kind == "questions")
    return None


def _ways(names: Sequence[str]) -> list[tuple[list[str], str, str | None, str]]:
    """Return the ways to read columns as steps.

    Each has its columns, the name of a header, its format and its sort.
    """
    clock = [name for name in names if re.fullmatch(_CLOCK, name.strip())]
    iso = [name for name in names if re.match("[0-9]{4}-", name) and read_step(name) is not None]
    ways: list[tuple[list[str], str, str | None, str]] = [
        (clock, "time", None, "clock"), (iso, "date", None, "dates"),
    ]  # fmt: skip
    dated = [name for name in names if re.fullmatch(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}", name)]
    forms = time_formats(dated) if len(dated) >= _FEWEST else []
    if len(forms) == 1:
        ways.append((dated, "date", forms[0], "dates"))
    for week in _WEEK:
        days = [name for name in names if any(name.lower().startswith(day) for day in week.split())]
        if len({name[:2] for name in days}) == len(days):
            ways.append((days, "day", None, "numbered"))
    stems = dict[str, list[str]]()
    for name in names:
        match = re.fullmatch(r"(.*?)[ _-]?([0-9]{1,4})", name)
        if match is not None:
            stems.setdefault(match[1], []).append(name)
    for stem, some in stems.items():
        said = words_in(stem)
        sort = "questions" if said & _QUESTION else "numbered" if said & WHEN or stem in ("d", "w", "h", "t") else ""
        if sort:
            ways.append((some, "question" if sort == "questions" else stem.strip(" _-").lower(), None, sort))
    return ways


def _are_alike(columns: Sequence[Seen]) -> bool:
    """Return whether columns hold numbers, or the same few values."""
    kinds = {column.kind for column in columns if column.rows}
    if kinds <= {NUMBERS, WHOLE} and kinds:
        return True
    labels = set[str]().union(*(column.labels for column in columns))
    return kinds <= {TEXTS, YES_NO, WHOLE} and len(labels) <= MOST_STATES


def _common(names: Sequence[str]) -> str:
    """Return the common beginning of all names.

    >>> _common(["2026-01-05", "2026-01-12"])
    '2026-01-'
    """
    shortest = min(names, key=len)
    ends = (end for end in range(len(shortest), -1, -1) if all(name.startswith(shortest[:end]) for name in names))
    return shortest[: next(ends)]


def _listed(steps: Sequence[str], other_names: Sequence[str], kind: str) -> str | list[str] | dict[str, int]:
    """Return the columns as a pattern, a list, or names with numbers."""
    if kind in ("numbered", "questions"):
        numbers = [int(match[0]) for name in steps if (match := re.search("[0-9]+$", name))]
        return dict(zip(steps, numbers if len({*numbers}) == len(steps) else range(1, len(steps) + 1), strict=True))
    first, last = _common(steps), _common([name[::-1] for name in steps])[::-1]
    signs = [sign for sign in ":.hH" if all(sign in name for name in steps)]
    for pattern in (*(f"*{sign}*" for sign in signs[:1] if kind == "clock"), f"{first}*", f"*{last}"):
        is_plain = pattern != "*" and not re.search(r"[\[\]?]", pattern)
        if is_plain and not any(fits(name, pattern) for name in other_names):
            return pattern
    return [*steps]

"""Answers that no list of choices can have: states, how long they last, times, names; how they are typed and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from takifugu.core.errors import InputError
from takifugu.data import parse_step
from takifugu.data.files.formats import suffixes
from takifugu.data.values.texts import NUMBER


def names(word: str) -> list[str]:
    """Return the names in a list with commas.

    >>> names("still, walking")
    ['still', 'walking']
    """
    return [name.strip() for name in word.split(",") if name.strip()]


def pairs(word: str) -> dict[str, float | str]:
    """Return names with their values; InputError for a name alone.

    >>> pairs("still 100 min, on foot = 6.5, ready .4")
    {'still': '100 min', 'on foot': 6.5, 'ready': 0.4}
    """
    said = dict[str, float | str]()
    for part in names(word):
        match = re.fullmatch(r"(.*?)\s*[\s=:]\s*([0-9.]+\s*[a-z]*)", part)
        if match is None:
            raise InputError(f"{part!r} is no name with a number", fix="write for example still 100 min, walking 6 min")
        said[match[1]] = float(match[2]) if re.fullmatch(NUMBER, f"0{match[2]}") else match[2]
    return said


def moment(word: str) -> str | int:
    """Return an ISO 8601 time or a number; InputError for neither.

    >>> moment("2026-01-05"), moment("0")
    ('2026-01-05', 0)
    """
    if re.fullmatch("-?[0-9]{1,9}", word):
        return int(word)
    try:
        datetime.fromisoformat(word)
    except ValueError:
        raise InputError(f"{word!r} is no time", fix="write for example 2026-01-05, or 2026-01-05T12:00") from None
    return word


def names_a_file(word: str) -> bool:
    """Return whether an answer is the path of a table.

    >>> names_a_file("public.csv"), names_a_file("Smith et al. 2019, table 3")
    (True, False)
    """
    return word.lower().removesuffix(".gz").endswith(suffixes())


def _states(word: str) -> None:
    states = names(word)
    if len(states) < 2 or len({*states}) < len(states):
        raise InputError(f"{word!r} is no list of two names or more", fix="write for example still, walking")


def _whole(word: str) -> None:
    if not word.isascii() or not word.isdigit() or int(word) < 1:
        raise InputError(f"{word!r} is no number of people", fix="write for example 25")


def _of_times(word: str) -> None:
    if not isinstance(parse_step(word), timedelta):
        raise InputError(f"{word!r} is a number, and steps are times", fix="write for example 1min")


def _of_numbers(word: str) -> None:
    if isinstance(parse_step(word), timedelta):
        raise InputError(f"{word!r} is a time, and steps are numbers", fix="write for example 1")


def _words(word: str) -> None:
    if not names(word):
        raise InputError("nothing was written", fix="write words, or the path of a file")


#: How an answer is checked, by its form; each raises InputError.
FORMS: Mapping[str, Callable[[str], object]] = {
    "times": _of_times, "numbers": _of_numbers, "states": _states, "pairs": pairs, "moment": moment, "whole": _whole,
    "words": _words,
}  # fmt: skip

"""Columns that are steps themselves: headers that are times, days, months or numbers, with cells alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import mode

from takifugu.core.lists import take, without
from takifugu.core.names import fits
from takifugu.data.files.sniff import time_formats
from takifugu.data.kinds import NUMBERS, TEXTS, WHOLE, YES_NO
from takifugu.data.times.time_format import MONTHS
from takifugu.releasing.file.guessing.column_words import words, words_in
from takifugu.releasing.file.guessing.seen import MISSING, MOST_STATES, Seen, seconds_of

_FEWEST = 3
_CLOCK = r"\s*(?:[01]?[0-9]|2[0-4])[:.hH][0-5][0-9](?:[:.][0-5][0-9])?\s*"
_DAY_OF_A_YEAR = r"\s*[0-9]{1,2}[./-][0-9]{1,2}\.?\s*"
#: How days of a week and months begin in some languages, or are called and may be cut, in their order.
_NAMES = tuple((order, names.split()) for order, names in (
    ("day", "monday tuesday wednesday thursday friday saturday sunday"), ("day", "mo di mi do fr sa so"),
    ("day", "lun mar mer jeu ven sam dim"), ("day", "lu ma me je ve sa di"),
    ("month", " ".join(MONTHS)), ("month", "jan feb mär apr mai jun jul aug sep okt nov dez"),
    ("month", "jan fév mar avr mai juin juil aoû sep oct nov déc"),
    ("month", "ene feb mar abr may jun jul ago sep oct nov dic"),
    ("month", "gen feb mar apr mag giu lug ago set ott nov dic"),
))  # fmt: skip
#: What may stand beside the name of a day: its week before it, a lesson behind it.
_WEEK_OR_LESSON = r"(?i)^(?:week|wk|w|woche|kw|semaine|semana|settimana)[ _.-]?[0-9]{1,2}\W+|\W?[0-9]{1,2}$"
_QUESTION = words("q question frage item pregunta domanda")


@dataclass(frozen=True)
class Across:
    """Columns of a wide table that are steps, as a release file names them, and what headers and cells are called.

    `sort` says whether they are times of day ("clock"), "dates", "numbered", "questions" or "called" alike, `form`
    how headers are written, `moments` when they are, in seconds or steps, and `has_gaps` that some of their cells are
    empty.
    """

    names: tuple[str, ...]
    columns: str | list[str] | dict[str, int]
    order: str
    value: str
    sort: str
    moments: tuple[float, ...]
    form: str | None = None
    has_gaps: bool = False

    @property
    def are_times(self) -> bool:
        return self.sort in ("dates", "clock")

    @property
    def gap(self) -> float | None:
        """Return the commonest distance of columns that are times, or have holes."""
        distances = [after - before for before, after in pairwise(self.moments) if after > before]
        says_it = self.are_times or (self.sort in ("numbered", "called") and len({*distances}) > 1)
        return mode(distances) if distances and says_it else None


@dataclass(frozen=True)
class _Reading:
    """A way to read headers: when each is that it reads, and what they are called."""

    sort: str
    order: str
    moments: Mapping[str, float]
    form: str | None = None


def across(columns: Mapping[str, Seen]) -> Across | None:
    """Return the columns of steps, if alike and most of the table."""
    for reading in _readings([*columns]):
        steps = [*reading.moments]
        others = without(columns, steps)
        is_most = len(steps) >= _FEWEST and len(steps) > len(others)
        if is_most and _are_alike(take(columns, steps)):
            if reading.sort == "called" and any(columns[name].is_time for name in others):
                continue  # what is measured at that time
            header = reading.order if reading.order not in others else f"{reading.order}_2"
            cell = "value" if "value" not in others else "cell"
            moments, listed = tuple(reading.moments.values()), _pattern(steps, others)
            if reading.sort in ("numbered", "questions", "called"):
                listed = {name: int(number) for name, number in reading.moments.items()}
            has_gaps = any(columns[name].rows < len(columns[name].values) for name in steps)
            return Across(tuple(steps), listed, header, cell, reading.sort, moments, reading.form, has_gaps)
    return None


def _readings(names: Sequence[str]) -> Iterator[_Reading]:
    clocks = [name for name in names if re.fullmatch(_CLOCK, name)]
    parts = {name: list(map(int, re.findall("[0-9]+", name))) for name in clocks}
    yield _Reading("clock", "time", {name: 3600 * hour + 60 * minute for name, (hour, minute, *_) in parts.items()})
    moments = {name: seconds_of(name, None) for name in names if re.match("[0-9]{4}-", name)}
    yield _Reading("dates", "date", {name: moment for name, moment in moments.items() if moment > MISSING})
    dated = [name for name in names if re.fullmatch(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}", name)]
    forms = time_formats(dated)
    if len(forms) == 1:
        yield _Reading("dates", "date", {name: seconds_of(name, forms[0]) for name in dated}, forms[0])
    of_year = [name for name in names if re.fullmatch(_DAY_OF_A_YEAR, name)]
    yield _Reading("numbered", "day", _numbered(of_year, _days(of_year)))
    for order, some in _NAMES:
        extra = _WEEK_OR_LESSON if order == "day" else "$"
        called = {name: place for name in names if (place := _place(re.sub(extra, "", name), some)) is not None}
        yield _Reading("numbered", order, _numbered([*called], [*called.values()]))
    yield from _with_numbers(names)


def _with_numbers(names: Sequence[str]) -> Iterator[_Reading]:
    """Yield the columns that only a number at the end tells apart."""
    matches = [match for name in names if (match := re.fullmatch(r"(.*?)[ _-]?([0-9]{1,4})", name))]
    for stem in dict.fromkeys(match[1] for match in matches):
        of_stem = {match[0]: float(match[2]) for match in matches if match[1] == stem}
        if len({*of_stem.values()}) < len(of_stem):
            of_stem = _numbered([*of_stem], [])
        if words_in(stem) & _QUESTION:
            yield _Reading("questions", "question", of_stem)
        elif not stem and len(of_stem) < len(names):  # a table without headers has numbers alone
            yield _Reading("numbered", "step", of_stem)
        elif stem:
            yield _Reading("called", stem.strip(" _-").lower(), of_stem)


def _numbered(names: Sequence[str], numbers: Sequence[int]) -> dict[str, float]:
    """Return the numbers from 1 on if they rise, else those of the places.

    >>> _numbered(["Nov", "Feb"], [11, 14]), _numbered(["Mon", "Tue"], [])
    ({'Nov': 1.0, 'Feb': 4.0}, {'Mon': 1.0, 'Tue': 2.0})
    """
    if len(numbers) != len(names) or any(after <= before for before, after in pairwise(numbers)):
        numbers = range(len(names))
    return {name: float(1 + number - numbers[0]) for name, number in zip(names, numbers, strict=True)}


def _place(name: str, some: Sequence[str]) -> int | None:
    """Return the place of a day or month, None for another text.

    It comes after the year that stands beside it.

    >>> [_place(name, MONTHS) for name in ("Feb 2026", "february", "Feb_26", "Fee 2026", "Feb 2026 a")]
    [24314, 2, 314, None, None]
    """
    match = re.fullmatch(r"([^\W\d_]{2,})\W?_?([0-9]{2}|[0-9]{4})?", name.strip().lower())
    if match is None:
        return None
    begin, year = match[1], int(match[2] or 0)
    for number, word in enumerate(some, start=1):
        if begin.startswith(word) or (len(word) > 5 and word.startswith(begin)):  # a whole word may be cut off
            return len(some) * year + number
    return None


def _days(names: Sequence[str]) -> list[int]:
    """Return the days after the first header within a year.

    Of two formats it is the one that takes less time.

    >>> _days(["31/01", "03/02"]), _days(["30.12.", "2.1."])
    ([0, 3], [0, 3])
    """
    dates = [re.sub("[.-]", "/", name.strip().rstrip(".")) for name in names]
    year, length = (2004, 366) if {"29/2", "29/02", "2/29", "02/29"} & {*dates} else (2001, 365)
    readings = list[list[int]]()
    for form in time_formats([f"{date}/{year}" for date in dates]):
        days = [int(seconds_of(f"{date}/{year}", form)) // 86_400 for date in dates]
        since = [(day - days[0]) % length for day in days]
        if since == sorted({*since}):
            readings.append(since)
    return min(readings, key=lambda since: since[-1], default=[])


def _are_alike(columns: Sequence[Seen]) -> bool:
    """Return whether columns hold numbers, or the same few values."""
    kinds = {column.kind for column in columns if column.rows}
    if kinds <= {NUMBERS, WHOLE} and kinds:
        return True
    labels = set[str]().union(*(column.labels for column in columns))
    return kinds <= {TEXTS, YES_NO, WHOLE} and len(labels) <= MOST_STATES


def _pattern(steps: Sequence[str], others: Sequence[str]) -> str | list[str] | dict[str, int]:
    """Return the pattern of these columns alone, or else their list.

    >>> _pattern(["2026-01-05", "2026-01-12"], []), _pattern(["9:00", "10:00"], []), _pattern(["a", "b"], [])
    ('2026-01-*', '*:*', ['a', 'b'])
    """
    end = _common([name[::-1] for name in steps])[::-1]
    signs = [f"*{sign}*" for sign in ":hH" if all(sign in name for name in steps)]
    for pattern in (*signs, f"{_common(steps)}*", f"*{end}"):
        is_plain = pattern != "*" and not re.search(r"[\[\]?]", pattern)
        if is_plain and not any(fits(name, pattern) for name in others):
            return pattern
    return [*steps]


def _common(names: Sequence[str]) -> str:
    """Return the common beginning of all names.

    >>> _common(["2026-01-05", "2026-01-12"])
    '2026-01-'
    """
    shared = takewhile(lambda signs: len({*signs}) == 1, zip(*names, strict=False))
    return "".join(signs[0] for signs in shared)

"""Columns that are steps themselves: called as days, times or questions, with cells alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mode

from takifugu.core.names import fits
from takifugu.data import Numerals, TimeFormat
from takifugu.data.files.sniff import time_formats
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.data.times.time_format import MONTHS
from takifugu.data.wide import read_step
from takifugu.releasing.file.guessing.column_words import WHEN, words, words_in
from takifugu.releasing.file.guessing.seen import MOST_STATES, Seen

_FEWEST = 3
_CLOCK = r"(?:[01]?[0-9]|2[0-4])[:.hH][0-5][0-9](?:[:.][0-5][0-9])?"
_DAY_OF_A_YEAR = r"[0-9]{1,2}[./-][0-9]{1,2}\.?"
_WEEK = ("mon tue wed thu fri sat sun", "mo di mi do fr sa so", "lun mar mer jeu ven sam dim", "lu ma me je ve sa di")
#: How months begin in some languages, in their order.
_MONTHS = (
    " ".join(MONTHS), "jan feb mär apr mai jun jul aug sep okt nov dez",
    "jan fév mar avr mai juin juil aoû sep oct nov déc", "ene feb mar abr may jun jul ago sep oct nov dic",
    "gen feb mar apr mag giu lug ago set ott nov dic",
)  # fmt: skip
_QUESTION = words("q question frage item pregunta domanda")


@dataclass(frozen=True)
class Across:
    """Columns of a wide table that are steps, as a release file names them, and what headers and cells are called.

    `sort` says whether they are times of day ("clock"), "dates", "numbered" or "questions", `form` how headers are
    written.
    """

    names: tuple[str, ...]
    columns: str | list[str] | dict[str, int]
    order: str
    value: str
    sort: str
    form: str | None = None
    ignored: tuple[str, ...] = ()

    @property
    def are_times(self) -> bool:
        return self.sort in ("dates", "clock")

    @property
    def of_days(self) -> bool:
        return self.sort == "clock"

    @property
    def are_questions(self) -> bool:
        return self.sort == "questions"

    @property
    def gap(self) -> float | None:
        """Return the commonest time between columns in seconds, or of numbers with holes their distance, if any.

        >>> week = ("2026-01-05", "2026-01-06", "2026-01-09")
        >>> Across(week, [*week], "date", "value", "dates").gap
        86400.0
        >>> Across(("9.00", "9h30"), ["9.00", "9h30"], "time", "value", "clock").gap
        1800.0
        """
        if isinstance(self.columns, dict):
            distances = [after - before for before, after in pairwise(self.columns.values())]
            return mode(distances) if len({*distances}) > 1 else None
        headers, kind = [*self.names], TIMES
        if self.of_days:
            headers, kind = [re.sub("[.hH]", ":", name) for name in self.names], TEXTS
        forms = () if self.form is None else (self.form,)
        column = Seen(self.order, kind, headers, Numerals(), forms)
        steps = [step for step in column.steps if step > 0]
        return mode(steps) if steps and self.are_times else None


def across(columns: Mapping[str, Seen]) -> Across | None:
    """Return the columns of steps, if alike and most of the table."""
    for steps, order, sort, form in _ways([*columns]):
        is_most = len(steps) >= _FEWEST and 2 * len(steps) > len(columns)
        if is_most and _are_alike([columns[name] for name in steps]):
            other_names = [name for name in columns if name not in steps]
            header = order if order not in other_names else f"{order}_2"
            cell = "value" if "value" not in other_names else "cell"
            return Across(tuple(steps), _listed(steps, other_names, sort), header, cell, sort, form)
    return None


def _ways(names: Sequence[str]) -> Iterator[tuple[list[str], str, str, str | None]]:
    """Yield the ways to read columns as steps.

    Each has its columns, the name of a header, its sort and its format.
    """
    yield [name for name in names if re.fullmatch(_CLOCK, name.strip())], "time", "clock", None
    yield [name for name in names if re.match("[0-9]{4}-", name) and read_step(name) is not None], "date", "dates", None
    dated = [name for name in names if re.fullmatch(r"[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}", name)]
    forms = time_formats(dated)
    if len(forms) == 1:
        yield dated, "date", "dates", forms[0]
    yield [name for name in names if re.fullmatch(_DAY_OF_A_YEAR, name.strip())], "day", "numbered", None
    for week in _WEEK:
        days = [name for name in names if name.lower().startswith(tuple(week.split()))]
        if len({name[:2] for name in days}) == len(days):
            yield days, "day", "numbered", None
    for months in _MONTHS:
        yield [name for name in names if _month(name, months.split()) is not None], "month", "numbered", None
    matches = [match for name in names if (match := re.fullmatch(r"(.*?)[ _-]?[0-9]{1,4}", name))]
    for stem in dict.fromkeys(match[1] for match in matches):
        some = [match[0] for match in matches if match[1] == stem]
        is_plain = not stem and len(some) < len(names)  # a table without headers has numbers alone
        if words_in(stem) & _QUESTION:
            yield some, "question", "questions", None
        elif is_plain:
            yield some, "step", "numbered", None
        elif words_in(stem) & WHEN or stem.lower() in ("d", "w", "h", "t"):
            yield some, stem.strip(" _-").lower(), "numbered", None


def _month(name: str, months: Sequence[str]) -> int | None:
    """Return the number of a month from its name, after its year if that is there; None for another text.

    >>> [_month(name, MONTHS) for name in ("Feb 2026", "february", "Feb_26", "Fee 2026", "Feb 2026 a")]
    [24314, 2, 314, None, None]
    """
    match = re.fullmatch(r"([^\W\d_]{3,})\W?_?([0-9]{2}|[0-9]{4})?", name.strip().lower())
    if match is None:
        return None
    year = int(match[2] or 0)
    return next((12 * year + k for k, month in enumerate(months, 1) if match[1].startswith(month)), None)


def _numbers_of_months(names: Sequence[str]) -> list[int]:
    """Return the months from the first header, if they rise.

    >>> _numbers_of_months(["Nov 2025", "Dec 2025", "Feb 2026"]), _numbers_of_months(["Mrz", "Mai"])
    ([1, 2, 4], [])
    """
    for months in _MONTHS:
        numbers = [number for name in names if (number := _month(name, months.split())) is not None]
        if len(numbers) == len(names) and all(before < after for before, after in pairwise(numbers)):
            return [1 + number - numbers[0] for number in numbers]
    return []


def _numbers_of_days(names: Sequence[str]) -> list[int]:
    """Return the days from the first header, within a year, if all are such and they rise.

    Of two formats that fit the one counts that takes less time.

    >>> _numbers_of_days(["31/01", "03/02"]), _numbers_of_days(["30.12.", "2.1."]), _numbers_of_days(["2/9", "2/9"])
    ([1, 4], [1, 4], [])
    """
    if not all(re.fullmatch(_DAY_OF_A_YEAR, name.strip()) for name in names):
        return []
    dates = [re.sub("[.-]", "/", name.strip().rstrip(".")) for name in names]
    year, length = (2004, 366) if {"29/2", "29/02", "2/29", "02/29"} & {*dates} else (2001, 365)
    numbers: list[int] = []
    for form in time_formats([f"{date}/{year}" for date in dates]):
        moments = [TimeFormat(form).read(f"{date}/{year}") for date in dates]
        days = [moment.timetuple().tm_yday for moment in moments if moment is not None]
        since = [1 + (day - days[0]) % length for day in days]
        if all(before < after for before, after in pairwise(since)) and (not numbers or since[-1] < numbers[-1]):
            numbers = since
    return numbers


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
    beginning = min(names, key=len)
    while not all(name.startswith(beginning) for name in names):
        beginning = beginning[:-1]
    return beginning


def _listed(steps: Sequence[str], other_names: Sequence[str], sort: str) -> str | list[str] | dict[str, int]:
    """Return the columns as a pattern, a list, or names with numbers."""
    if sort in ("numbered", "questions"):
        ends = [int(match[0]) for name in steps if (match := re.search("[0-9]+$", name))]
        numbers = _numbers_of_days(steps) or _numbers_of_months(steps) or ends
        if len({*numbers}) != len(steps):
            numbers = [*range(1, len(steps) + 1)]
        return dict(zip(steps, numbers, strict=True))
    first, last = _common(steps), _common([name[::-1] for name in steps])[::-1]
    patterns = [f"{first}*", f"*{last}"]
    if sort == "clock":
        shared = set(steps[0]).intersection(*steps)
        signs = [sign for sign in ":.hH" if sign in shared]
        patterns = [*(f"*{sign}*" for sign in signs[:1]), *patterns]
    for pattern in patterns:
        is_plain = pattern != "*" and not re.search(r"[\[\]?]", pattern)
        if is_plain and not any(fits(name, pattern) for name in other_names):
            return pattern
    return [*steps]

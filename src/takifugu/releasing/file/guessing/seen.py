"""What the first rows of one column look like: its kind, its values, its times, and what its name says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from itertools import pairwise

from takifugu.core.lists import present
from takifugu.data import Numerals, TimeFormat
from takifugu.data.files.sniff import time_formats
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.data.times.moments import iso_time
from takifugu.data.values.texts import OFFSET, ZONED
from takifugu.releasing.file.guessing.column_words import (
    CLOCK,
    HOURS,
    IDENTIFIERS,
    INDIVIDUALS,
    LASTING,
    NAMING,
    NUMBERING,
    OF_PEOPLE,
    WHEN,
    WORDS,
    WORTH,
    says_how_many,
    words_in,
)

#: A column with more distinct values than this is not taken for a column of states.
MOST_STATES = 20
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: 00:00:00)?"
#: A column rises where so many of its rows do.
RISES = 0.8
#: A name of more words is a sentence.
_LONGEST_NAME = 4
#: Whole numbers with or without a point; of so many digits they are rather names; and of people, rather than of
#: classes of them, there is one in so many rows.
_WHOLE, _LONG, _ROWS_OF_EACH = r"-?[0-9]+(?:[.]0*)?(?:[eE][+]?[0-9]+)?", 7, 100
#: The moment of what is missing, before all others.
MISSING = float("-inf")
_format = lru_cache(TimeFormat)
ISO_DATE = "%Y-%m-%d"
#: The day of times of day, which are compared as times, and its format, which is not that of ISO 8601.
_FIRST_DAY, _POINTS = "01.01.1970 ", "%d.%m.%Y "
#: A time of day as a number (930 is 9:30), and its format, which is read with four digits; hours, and theirs.
_NUMBER, DIGITS, _HOUR, WHOLE_HOURS = r"(?:[01]?[0-9]|2[0-3])?[0-5]?[0-9]", "%H%M", r"[01]?[0-9]|2[0-3]", "%H"


@dataclass(frozen=True, eq=False)
class Seen:
    """What the first rows of a column look like, and what its name says.

    `forms` are the formats that all its times have, the likeliest first; nothing tells which is meant if it
    `is_unclear`. So many different texts are read as missing `marks`.
    """

    name: str
    kind: str
    values: Sequence[str | None] = field(repr=False)
    numerals: Numerals
    forms: tuple[str, ...] = ()
    is_unclear: bool = False
    marks: int = 0

    # What its values are.

    @cached_property
    def present(self) -> tuple[str, ...]:
        return tuple(present(self.values))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.present))

    @property
    def rows(self) -> int:
        return len(self.present)

    @property
    def is_number(self) -> bool:
        return self.kind in (WHOLE, NUMBERS)

    @property
    def is_name(self) -> bool:
        """Return whether its values may be names, or numbers instead."""
        return self.kind in (WHOLE, TEXTS)

    @property
    def is_few(self) -> bool:
        """Return whether it has a few different values, as states are."""
        return (self.is_name or self.kind == YES_NO) and 1 < len(self.labels) <= MOST_STATES

    @property
    def varies(self) -> bool:
        """Return whether it has several different values."""
        return len(self.labels) > 1

    @property
    def has_many(self) -> bool:
        """Return whether it has more different values than states are."""
        return len(self.labels) > MOST_STATES

    @property
    def repeats(self) -> bool:
        """Return whether some of several values is in more than one row."""
        return 1 < len(self.labels) < self.rows

    @property
    def recurs(self) -> bool:
        """Return whether it has some values, each in two rows on average."""
        return 1 < len(self.labels) * 2 <= self.rows

    @property
    def is_sparse(self) -> bool:
        """Return whether most rows have no value."""
        return 2 * self.rows < len(self.values)

    @cached_property
    def runs(self) -> int:
        return sum(a != b for a, b in pairwise(self.present)) + 1

    @cached_property
    def is_identifier(self) -> bool:
        """Return whether its whole numbers only identify rows."""
        tells_more = self.is_size or self.tells_when or self.is_time
        if self.kind != WHOLE or tells_more or not 1 < self.rows == len(self.labels):
            return False
        numbers = list(map(self._moment, self.labels))
        return max(numbers) - min(numbers) == self.rows - 1 or bool(self.words & (IDENTIFIERS | WORDS["unit"]))

    @property
    def only_numbers_cases(self) -> bool:
        """Return whether its numbers identify cases in no order of time."""
        return self.is_identifier and self.words & WORDS["order"] <= NUMBERING and 1 - RISES < self.rising < RISES

    # When it was.

    @property
    def form(self) -> str | None:
        return next(iter(self.forms), None)

    @property
    def epoch(self) -> str | None:
        """Return the column's time format, "epoch" or "epoch_ms" for whole numbers."""
        if not self.is_number or not self.labels:
            return self.form
        first = float(self.numerals.plain(self.labels[0]))
        if 1e9 <= first < 1e10:
            return "epoch"
        return "epoch_ms" if 1e12 <= first < 1e13 else None

    @cached_property
    def is_time(self) -> bool:
        """Return whether it holds times, such as seconds since 1970."""
        return self.kind == TIMES or (self.is_number and self.epoch is not None)

    @cached_property
    def offsets(self) -> tuple[str, ...]:
        """Return the offsets from UTC that its times are written with."""
        if self.kind != TIMES or self.form is not None:
            return ()
        endings = (re.search(OFFSET, text) for text in self.labels if re.search(ZONED, text))
        return tuple(dict.fromkeys(match[0].strip() for match in endings if match is not None))

    @property
    def are_moments(self) -> bool:
        """Return whether its times are moments, which clocks of each zone show otherwise."""
        return bool(self.offsets) or (self.is_number and self.epoch is not None)

    @cached_property
    def clock_form(self) -> str | None:
        """Return the format of its times of day, None without such."""
        if self.words & LASTING:  # how long it was
            return None
        return clock_of(self.words if self.kind == TEXTS else frozenset(), self.labels)

    @property
    def is_clock(self) -> bool:
        return self.clock_form is not None

    @property
    def is_unread(self) -> bool:
        """Return whether its texts are no times in any usual format."""
        return self.kind == TEXTS and not self.is_clock

    @property
    def is_date(self) -> bool:
        """Return whether it holds dates without a time of day."""
        if self.form is not None:
            return not re.search("%[HI]", self.form)
        return self.kind == TIMES and all(re.fullmatch(_DATE, text) for text in self.labels)

    @property
    def tells_when(self) -> bool:
        """Return whether it holds times, days, months or years.

        Numbers of ten digits may be names.
        """
        return self.kind == TIMES or self.is_clock or bool(self.words & WHEN)

    @cached_property
    def moments(self) -> list[float]:
        """Return numbers, or the seconds of times; missing ones least."""
        moment = {text: self._moment(text) for text in self.labels}
        return [MISSING if value is None else moment[value] for value in self.values]

    @cached_property
    def _moment(self) -> Callable[[str], float]:
        if self.is_number:
            part = 1000 if self.epoch == "epoch_ms" else 1
            return lambda text: float(self.numerals.plain(text)) / part
        if self.clock_form is not None:
            form, digits = f"{_POINTS}{self.clock_form}", 4 if self.clock_form == DIGITS else 0
            return lambda text: seconds_of(_FIRST_DAY + text.zfill(digits), form)
        if self.kind != TIMES:
            return lambda _: MISSING
        return lambda text: seconds_of(text, self.form)

    @cached_property
    def rising(self) -> float:
        """Return the share of rows above the row before."""
        moments = [moment for moment in self.moments if moment > MISSING]
        return sum(before < after for before, after in pairwise(moments)) / max(len(moments) - 1, 1)

    # What its name says.

    @cached_property
    def words(self) -> frozenset[str]:
        return words_in(self.name)

    @cached_property
    def stem(self) -> str:
        """Return the name without its distinguishing digit or letter.

        >>> from takifugu.data import Numerals
        >>> [Seen(name, TEXTS, (), Numerals()).stem for name in ("Élève 2", "person1_id", "eleveA", "node_b")]
        ['élève', 'person_id', 'eleve', 'node']
        """
        last = r"(?:[ _-]?[0-9]+|[ _-][ABIJabij]|(?<=[a-z])[ABIJ])(?=(?:[ _-](?i:id|nr|no))?$)"
        return re.sub(last, "", unicodedata.normalize("NFC", self.name)).strip().lower()

    @cached_property
    def is_size(self) -> bool:
        """Return whether its name makes its numbers sizes or counts."""
        return self.is_number and says_how_many(self.name)

    @property
    def worth(self) -> str | None:
        """Return what a 1 of a duration is worth, if its name says so."""
        return next((step for step, names in WORTH.items() if self.words & names), None)

    @property
    def is_duration(self) -> bool:
        """Return whether its name and numbers say how long something was."""
        is_called_so = self.worth is not None or bool(self.words & LASTING)
        is_negative = any(MISSING < number < 0 for number in self.moments)
        return self.is_number and is_called_so and not is_negative and self.epoch is None

    @property
    def is_question(self) -> bool:
        """Return whether the name is a question or a sentence."""
        return self.name.rstrip().endswith("?") or len(self.name.split()) > _LONGEST_NAME

    @property
    def is_called_id(self) -> bool:
        return not self.words.isdisjoint(("id", "uid", "pid"))

    @cached_property
    def is_whole(self) -> bool:
        """Return whether all its numbers are whole, however they are written: 7, 7.0 and such of 19 digits."""
        if not self.is_number:
            return False
        return self.kind == WHOLE or all(re.fullmatch(_WHOLE, self.numerals.plain(text)) for text in self.labels)

    @property
    def may_name(self) -> bool:
        """Return whether its values may say whose a row is."""
        return (self.is_name or self.is_whole) and not (self.tells_when or self.is_size or self.is_duration)

    @property
    def is_long(self) -> bool:
        """Return whether all its values are whole numbers of so many digits as are rather names than amounts."""
        return self.is_whole and bool(self.labels) and all(len(text) >= _LONG for text in self.labels)

    @property
    def is_class(self) -> bool:
        """Return whether so few values stand in so many rows as are rather classes of people than people.

        A column that is called nothing but whose it is, such as "user id", names people, however few they are.
        """
        is_only_who = bool(self.words & WORDS["unit"]) and self.words <= WORDS["unit"] | NAMING
        return self.varies and len(self.labels) * _ROWS_OF_EACH <= self.rows and not is_only_who

    @property
    def names_people(self) -> bool:
        """Return whether its name is that of several people."""
        return self.varies and self.named("unit") and bool(self.words & INDIVIDUALS)

    @property
    def is_called_order(self) -> bool:
        """Return whether its name says when, or numbers what nobody owns."""
        return self.named("order") and not (self.named("unit") and self.words & WORDS["order"] <= NUMBERING)

    def named(self, role: str) -> bool:
        speaks_of = (self.is_question and role != "value") or (self.is_size and role in ("unit", "recording"))
        said = self.words & WORDS[role]
        is_of_others = role == "unit" and said == {"name"} and not self.words <= OF_PEOPLE  # activity name
        speaks_of = speaks_of or (role == "unit" and bool(said & INDIVIDUALS) and self.is_class)  # member or casual
        return bool(said) and not speaks_of and not is_of_others


def seconds_of(text: str, form: str | None) -> float:
    """Return a time in seconds by its format, or ISO 8601; MISSING for another text."""
    try:
        time: datetime | None = iso_time(text) if form is None else _format(form).read(text)
    except ValueError:
        time = None
    if time is None:
        return MISSING
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def clock_of(words: frozenset[str], labels: Sequence[str]) -> str | None:
    """Return the format of times of day, or of whole numbers called so.

    >>> clock_of(frozenset(), ["9:30", "10:00"]), clock_of(frozenset(["hour"]), ["9", "10"])
    ('%H:%M', '%H')
    >>> clock_of(frozenset(), ["9:30:00 pm"]), clock_of(frozenset(), ["26:00"])
    ('%I:%M:%S %p', None)
    """
    if words & CLOCK and any(len(text) > 2 for text in labels) and all(re.fullmatch(_NUMBER, text) for text in labels):
        return DIGITS
    if words & HOURS and len(labels) > 1 and all(re.fullmatch(_HOUR, text) for text in labels):
        return WHOLE_HOURS
    if not all(re.match("[0-9]{1,2}:", text) for text in labels):
        return None
    forms = time_formats([_FIRST_DAY + text for text in labels])
    return forms[0].removeprefix(_POINTS) if forms else None

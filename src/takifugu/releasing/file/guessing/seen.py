"""What the first rows of one column look like: its kind, its values, its times, and what its name says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise

from takifugu.data import Numerals, TimeFormat
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE
from takifugu.data.times.moments import iso_time
from takifugu.releasing.file.guessing.clocks import clock_of, clock_of_numbers, reader_of
from takifugu.releasing.file.guessing.column_words import (
    DWELLINGS,
    IDENTIFIERS,
    INDIVIDUALS,
    LASTING,
    LIKE_PLURALS,
    NAMING,
    NUMBERING,
    OR_NO_DAY,
    THINGS,
    WHEN,
    WORDS,
    WORTH,
    says_how_many,
    words_in,
)

#: A column with more distinct values than this is not taken for a column of states.
MOST_STATES = 20
_DATE, _OFFSET = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: 00:00:00)?", r"(?:Z|[+-][0-9]{2}:?[0-9]{2})$"
#: A column rises where so many of its rows do; no month has more days.
_RISES, _LAST_OF_MONTH = 0.8, 31
#: A name of more words is a sentence.
_LONGEST_NAME = 4
#: The moment of what is missing, before all others.
MISSING = float("-inf")


@dataclass(frozen=True, eq=False)
class Seen:
    """What the first rows of a column look like, and what its name says.

    `forms` are the formats that all its times have, the likeliest first, and `is_unclear` whether nothing tells which
    is meant; so many different texts are read as missing `marks`.
    """

    name: str
    kind: str
    values: Sequence[str | None] = field(repr=False)
    numerals: Numerals
    forms: tuple[str, ...] = ()
    is_unclear: bool = False
    marks: int = 0

    @cached_property
    def present(self) -> tuple[str, ...]:
        return tuple(value for value in self.values if value is not None)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.present))

    @property
    def rows(self) -> int:
        return len(self.present)

    @property
    def form(self) -> str | None:
        return next(iter(self.forms), None)

    @cached_property
    def runs(self) -> int:
        return sum(a != b for a, b in pairwise(self.present)) + 1

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
            of_day = reader_of(self.clock_form)
            return lambda text: _seconds(of_day(text))
        if self.kind != TIMES:
            return lambda _: MISSING
        read = _iso if self.form is None else TimeFormat(self.form).read
        return lambda text: _seconds(read(text))

    @cached_property
    def steps(self) -> list[float]:
        """Return by how much each moment is above the one before."""
        moments = [moment for moment in self.moments if moment > MISSING]
        return [after - before for before, after in pairwise(moments)]

    @cached_property
    def rising(self) -> float:
        """Return the share of rows above the row before."""
        return sum(step > 0 for step in self.steps) / max(len(self.steps), 1)

    @cached_property
    def words(self) -> frozenset[str]:
        some = words_in(self.name)
        return some if some.isdisjoint(OR_NO_DAY) or self._may_be_days() else some - OR_NO_DAY

    def _may_be_days(self) -> bool:
        """Return whether its numbers, if any, may be days."""
        if not self.is_number:
            return True
        falling = sum(step < 0 for step in self.steps) / max(len(self.steps), 1)
        is_in_order = min(self.rising, falling) <= 1 - _RISES  # many rows may have one day
        return self.kind == WHOLE and (is_in_order or self.range <= _LAST_OF_MONTH)

    @cached_property
    def stem(self) -> str:
        """Return the name without its distinguishing digit or letter.

        >>> from takifugu.data import Numerals
        >>> [Seen(name, TEXTS, (), Numerals()).stem for name in ("Élève 2", "person1_id", "eleveA", "node_b")]
        ['élève', 'person_id', 'eleve', 'node']
        """
        last = r"(?:[ _-]?[0-9]+|[ _-][ABIJabij]|(?<=[a-z])[ABIJ])(?=(?:[ _-](?i:id|nr|no))?$)"
        return re.sub(last, "", unicodedata.normalize("NFC", self.name)).strip().lower()

    @property
    def is_number(self) -> bool:
        return self.kind in (WHOLE, NUMBERS)

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
    def is_name(self) -> bool:
        """Return whether its values may be names, or numbers instead."""
        return self.kind in (WHOLE, TEXTS)

    @property
    def range(self) -> float:
        """Return its largest absolute number."""
        return max((abs(float(self.numerals.plain(text))) for text in self.labels), default=0)

    @property
    def decimals(self) -> int:
        """Return the usual number of digits behind the point."""
        behind = sorted(len(self.numerals.plain(text).partition(".")[2]) for text in self.labels)
        return behind[len(behind) // 2] if behind else 0

    @cached_property
    def is_identifier(self) -> bool:
        """Return whether its whole numbers only identify rows."""
        counts_or_tells_when = self.is_size or self.tells_when or self.is_time
        if self.kind != WHOLE or counts_or_tells_when or not 1 < self.rows == len(self.labels):
            return False
        numbers = [self._moment(text) for text in self.labels]
        is_consecutive = max(numbers) - min(numbers) == self.rows - 1
        return is_consecutive or bool(self.words & (IDENTIFIERS | WORDS["unit"]))

    @property
    def only_numbers_cases(self) -> bool:
        """Return whether its numbers identify cases in no order of time."""
        return self.is_identifier and self.words & WORDS["order"] <= NUMBERING and 1 - _RISES < self.rising < _RISES

    @property
    def is_running(self) -> bool:
        """Return whether it numbers the rows, by its name and numbers."""
        is_called_so = self.kind == WHOLE and bool(self.words) and self.words <= NUMBERING
        return is_called_so and {*self.steps} <= {1}

    @property
    def rises(self) -> bool:
        return self.rising >= _RISES

    @property
    def recurs(self) -> bool:
        """Return whether it has some values, each in two rows on average."""
        return 1 < len(self.labels) * 2 <= self.rows

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
    def is_local(self) -> bool:
        """Return whether it holds times of a clock on a wall."""
        has_offset = "%z" in (self.form or "") or any(re.search(_OFFSET, text[10:]) for text in self.labels)
        return self.kind == TIMES and not has_offset

    @property
    def stands_together(self) -> bool:
        """Return whether the rows of each value stand together."""
        return 1 < self.runs == len(self.labels)

    @property
    def tells_when(self) -> bool:
        """Return whether it holds times, days, months or years."""
        return self.kind == TIMES or self.is_clock or bool(self.words & WHEN)

    @cached_property
    def clock_form(self) -> str | None:
        """Return the format of its times of day, None without such."""
        numbers = clock_of_numbers(self.words, self.labels) if self.kind == TEXTS else None
        return numbers or clock_of(self.labels)

    @property
    def is_clock(self) -> bool:
        return self.clock_form is not None

    @property
    def is_date(self) -> bool:
        """Return whether it holds dates without a time of day."""
        if self.form is not None:
            return not re.search("%[HI]", self.form)
        return self.kind == TIMES and all(re.fullmatch(_DATE, text) for text in self.labels)

    @property
    def is_question(self) -> bool:
        """Return whether the name is a question or a sentence."""
        return self.name.rstrip().endswith("?") or len(self.name.split()) > _LONGEST_NAME

    @cached_property
    def is_size(self) -> bool:
        """Return whether its name makes its numbers sizes or counts."""
        return self.is_number and says_how_many(self.name)

    @property
    def may_be_size(self) -> bool:
        """Return whether its numbers may count whom its name names."""
        if self.kind != WHOLE or self.words & NAMING or (self.stands_together and self.recurs):
            return False
        many = self.words & LIKE_PLURALS and len({len(text) for text in self.labels}) > 1
        return bool(many or (self.words & DWELLINGS and self.range <= MOST_STATES))

    @property
    def names_things(self) -> bool:
        """Return whether its name is one of places or devices."""
        return bool(self.words & THINGS)

    @property
    def names_people(self) -> bool:
        """Return whether its name is that of several people."""
        return len(self.labels) > 1 and self.named("unit") and bool(self.words & INDIVIDUALS)

    @property
    def is_called_order(self) -> bool:
        """Return whether its name says when, or numbers what nobody owns."""
        return self.named("order") and not (self.named("unit") and self.words & WORDS["order"] <= NUMBERING)

    def named(self, role: str) -> bool:
        speaks_of = (self.is_question and role != "value") or (self.is_size and role in ("unit", "piece"))
        return bool(self.words & WORDS[role]) and not speaks_of


def _iso(text: str) -> datetime | None:
    try:
        return iso_time(text)
    except ValueError:
        return None


def _seconds(time: datetime | None) -> float:
    if time is None:
        return MISSING
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return time.timestamp()

"""What the first rows of one column look like, and how much it looks like a column of each role."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

from takifugu.data import Numerals, TimeFormat
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.data.values.texts import TIME
from takifugu.releasing.file.guessing.column_words import (
    CLOCK,
    GROUPS,
    HOURS,
    IDENTIFIERS,
    INDIVIDUALS,
    NUMBERING,
    OR_NO_DAY,
    THINGS,
    WHEN,
    WORDS,
    says_how_many,
    words_in,
)

#: A column with more distinct values than this is not taken for a column of states.
MOST_STATES = 20
_CLOCK, _DATE = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?( ?[AaPp][Mm])?", r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?: 00:00:00)?"
#: A time of day as a number (930 is 9:30), and its format, which is read with four digits.
_NUMBER_OF_CLOCK, DIGITS = r"(?:[01]?[0-9]|2[0-3])?[0-5]?[0-9]", "%H%M"
_HOUR = r"[01]?[0-9]|2[0-3]"
#: A column rises where so many of its rows do; no month has more days.
_RISES, _LAST_OF_MONTH = 0.8, 31
#: A name of more words is a sentence.
_LONGEST_NAME = 4
#: A day for times of day, which are compared as times.
_SOME_DAY = "2000-01-01 "
ISO_DATE = "%Y-%m-%d"


class Seen:
    """What the first rows of a column look like; `forms` are the formats that all its times have, the likeliest first.
    """

    def __init__(
        self, name: str, kind: str, values: Sequence[str | None], numerals: Numerals, forms: Sequence[str]
    ) -> None:
        present = [v for v in values if v is not None]
        self.name, self.rows, self.kind, self.numerals, self.forms = name, len(present), kind, numerals, tuple(forms)
        self.form = next(iter(forms), None)
        self.labels = tuple(dict.fromkeys(present))
        self.runs = sum(a != b for a, b in pairwise(present)) + 1
        ranks = self.ranks(present)
        self.rising = sum(a < b for a, b in pairwise(ranks)) / max(len(ranks) - 1, 1)
        self.words = words_in(name) - (frozenset() if self._may_be_days(ranks) else OR_NO_DAY)

    def _may_be_days(self, ranks: Sequence[Any]) -> bool:
        """Return whether its numbers, if any, may be days."""
        if self.kind not in (WHOLE, NUMBERS):
            return True
        falling = sum(a > b for a, b in pairwise(ranks)) / max(len(ranks) - 1, 1)
        is_in_order = min(self.rising, falling) <= 1 - _RISES  # many rows may have one day
        return self.kind == WHOLE and (is_in_order or max(ranks, default=0) <= _LAST_OF_MONTH)

    @cached_property
    def stem(self) -> str:
        """Return the name without its distinguishing digit or letter.

        >>> from takifugu.data import Numerals
        >>> [Seen(name, TEXTS, (), Numerals(), ()).stem for name in ("Élève 2", "person1_id", "eleveA", "node_b")]
        ['élève', 'person_id', 'eleve', 'node']
        """
        last = r"(?:[ _-]?[0-9]+|[ _-][ABIJabij]|(?<=[a-z])[ABIJ])(?=(?:[ _-](?i:id|nr|no))?$)"
        return re.sub(last, "", unicodedata.normalize("NFC", self.name)).strip().lower()

    @cached_property
    def is_identifier(self) -> bool:
        """Return whether its whole numbers only identify rows."""
        counts_or_tells_when = self.is_size or self.tells_when or self.is_epoch
        if self.kind != WHOLE or counts_or_tells_when or not 1 < self.rows == len(self.labels):
            return False
        ranks = self.ranks(self.labels)
        is_consecutive = max(ranks) - min(ranks) == self.rows - 1
        return is_consecutive or bool(self.words & (IDENTIFIERS | WORDS["unit"]))

    @property
    def only_numbers_cases(self) -> bool:
        """Return whether its numbers identify cases in no order of time."""
        return self.is_identifier and self.words & WORDS["order"] <= NUMBERING and 1 - _RISES < self.rising < _RISES

    @property
    def decimals(self) -> int:
        """Return the usual number of digits behind the point."""
        behind = sorted(len(self.numerals.plain(text).partition(".")[2]) for text in self.labels)
        return behind[len(behind) // 2] if behind else 0

    @property
    def is_epoch(self) -> bool:
        """Return whether it rises in seconds or milliseconds since 1970."""
        return self.kind in (WHOLE, NUMBERS) and self.epoch is not None

    @property
    def epoch(self) -> str | None:
        """Return the column's time format, "epoch" or "epoch_ms" for whole numbers."""
        if self.kind not in (WHOLE, NUMBERS) or not self.labels:
            return self.form
        first = float(self.numerals.plain(self.labels[0]))
        return "epoch" if 1e9 <= first < 1e10 else "epoch_ms" if 1e12 <= first < 1e13 else None

    @property
    def stands_together(self) -> bool:
        """Return whether the rows of each value stand together."""
        return 1 < self.runs == len(self.labels)

    @property
    def tells_when(self) -> bool:
        """Return whether it holds times, days, months or years."""
        return self.kind == TIMES or self.is_clock or bool(self.words & WHEN)

    @cached_property
    def is_clock(self) -> bool:
        """Return whether it holds times of day without a date."""
        if self.kind == TEXTS and (self.is_numbered_clock or self.holds_hours):
            return True
        return bool(self.labels) and all(re.fullmatch(_CLOCK, text) for text in self.labels) and self._one_clock

    @cached_property
    def is_numbered_clock(self) -> bool:
        """Return whether its name and whole numbers are times of day."""
        has_clock_word = bool(self.words & CLOCK) and any(len(text) > 2 for text in self.labels)
        return has_clock_word and all(re.fullmatch(_NUMBER_OF_CLOCK, text) for text in self.labels)

    @cached_property
    def holds_hours(self) -> bool:
        """Return whether its name and whole numbers are hours."""
        return bool(self.words & HOURS) and len(self.labels) > 1 and all(re.fullmatch(_HOUR, v) for v in self.labels)

    @property
    def is_iso_clock(self) -> bool:
        """Return whether all its times of day follow ISO 8601."""
        return all(re.match(TIME, _SOME_DAY + text) for text in self.labels)

    @property
    def lacks_digits(self) -> bool:
        """Return whether some times of day lack digits."""
        return self.is_clock and self.is_numbered_clock and any(len(text) < 4 for text in self.labels)

    @property
    def clock_form(self) -> str:
        """Return the format of a column of times of day."""
        if self.holds_hours:
            return "%H"
        if self.is_numbered_clock:
            return DIGITS
        half = re.search(" ?[AaPp][Mm]$", self.labels[0])
        hours = "%H" if half is None else "%I"
        seconds = ":%S" if self.labels[0].count(":") == 2 else ""
        return f"{hours}:%M{seconds}{'' if half is None else ' ' * half[0].startswith(' ') + '%p'}"

    @property
    def _one_clock(self) -> bool:
        read = TimeFormat(f"{ISO_DATE} {self.clock_form}").read
        return all(read(_SOME_DAY + text) for text in self.labels)

    def clock_ranks(self, values: Sequence[str | None]) -> list[datetime]:
        """Return times of day as comparable values, missing ones least."""
        read = TimeFormat(f"{ISO_DATE} {self.clock_form}").read
        digits = 4 if self.is_numbered_clock else 0
        return [(None if v is None else read(_SOME_DAY + v.zfill(digits))) or datetime.min for v in values]

    @property
    def is_date(self) -> bool:
        """Return whether it holds dates without a time of day."""
        if self.form is not None:
            return not re.search("%[HI]", self.form) and not self.form.startswith("epoch")
        return self.kind == TIMES and all(re.fullmatch(_DATE, text) for text in self.labels)

    def ranks(self, values: Sequence[str | None], form: str | None = None) -> list[Any]:
        """Return comparable values, missing ones least."""
        form = form or self.form
        if form is not None:
            read = TimeFormat(form).read
            return [(None if v is None else read(v)) or datetime.min for v in values]
        if self.kind in (WHOLE, NUMBERS):
            number = {v: float("-inf") if v is None else float(self.numerals.plain(v)) for v in set(values)}
            return [number[v] for v in values]
        return [v or "" for v in values] if self.kind == TIMES else []

    @property
    def is_question(self) -> bool:
        """Return whether the name is a question or a sentence."""
        return self.name.rstrip().endswith("?") or len(self.name.split()) > _LONGEST_NAME

    @cached_property
    def is_size(self) -> bool:
        """Return whether its name makes its numbers sizes or counts."""
        return self.kind in (WHOLE, NUMBERS) and says_how_many(self.name)

    @property
    def names_things(self) -> bool:
        """Return whether its name is one of places or devices."""
        return bool(self.words & THINGS)

    @property
    def names_people(self) -> bool:
        """Return whether its name is that of several people."""
        return len(self.labels) > 1 and self.named("unit") > 0 and bool(self.words & INDIVIDUALS)

    def named(self, role: str) -> int:
        speaks_of = (self.is_question and role != "value") or (self.is_size and role in ("unit", "piece"))
        return 3 * bool(self.words & WORDS[role] and not speaks_of)

    def score(self, role: str) -> int:
        """Return the likeness to a role; 2 points are enough."""
        if not self.rows:
            return 0
        points = {
            "order": self._order, "value": self._value, "unit": self._unit, "piece": self._piece,
            "person": self._person, "group": self._group,
        }[role]()  # fmt: skip
        return 0 if points is None else points + (self.named(role) if role in WORDS else 0)

    def _order(self) -> int | None:
        different = len(self.labels)
        if self.kind not in (TIMES, WHOLE, NUMBERS) or different < 2 or self.only_numbers_cases:
            return None
        return 3 * (self.kind == TIMES) + 2 * bool(self.rising >= _RISES) + int(different > MOST_STATES)

    def _value(self) -> int | None:
        different = len(self.labels)
        if different > MOST_STATES or self.kind in (TIMES, NUMBERS) or self.is_clock or self.rows < 2:
            return None
        recur = 1 if self.runs > different else -1
        return 2 * (self.kind in (TEXTS, YES_NO)) + recur - self.named("unit") - self.named("piece")

    def _unit(self) -> int | None:
        if self.kind == NUMBERS or self.is_size or self.tells_when or len(self.labels) > max(1, self.rows // 2):
            return None
        return 2 * self.stands_together

    def _piece(self) -> int | None:
        return 0 if self.kind in (WHOLE, TEXTS) and len(self.labels) <= max(1, self.rows // 2) else None

    def _person(self) -> int | None:
        if self.kind not in (WHOLE, TEXTS) or self.tells_when or self.rows < 2 or len(self.labels) < self.rows:
            return None
        return self.named("unit") + 2  # each row has another

    def _group(self) -> int | None:
        different = len(self.labels)
        if self.kind not in (WHOLE, TEXTS) or self.tells_when or not 1 < different <= MOST_STATES:
            return None
        return 3 * bool(self.words & GROUPS) + (different * 3 <= self.rows)

"""Private visits as counts: every person once at a place, whatever number of rows says so; no message names anybody."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from takifugu.core.arrays import IntArray
from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.nearest import first_of
from takifugu.data import UNKNOWN, UNOBSERVED, Calendar, Numerals, Table, tally, totals
from takifugu.data.times.clock import RowTimes
from takifugu.data.values.texts import ZONED, two_ways
from takifugu.model.policies.places import Visits
from takifugu.numbers.rationals import read_fraction
from takifugu.releasing.file.reading import (
    are_degrees,
    called,
    columns_of,
    first_beyond,
    no_lookalikes,
    numbers_in,
    placed_at,
    refuse_beyond,
    wrong,
)


@dataclass(frozen=True)
class Times:
    """When visits were.

    How they are written, the calendar, and the steps of it that are read.
    """

    written: RowTimes
    calendar: Calendar
    window: range

    def step_of(self, text: str) -> int:
        """Return the step of a time; DataError, quoting nothing, if unfit."""
        try:
            when = self.written.moment(text)
        except TakifuguError as error:
            raise error.at("source").placed() from None
        step = math.floor((Fraction(when) - self.calendar.start) / self.calendar.step)
        key, size = "", self.calendar.size
        if step < 0:
            key = "from"
        elif size is not None and step >= size:
            key = "until"
        if key:
            raise wrong(key, "a row lies outside the calendar", fix=f"move {key}, or leave these rows out knowingly")
        return step


def visited(
    table: Table, person: str, where: Sequence[str], domain: Visits, elsewhere: str,
    times: Times | None,
) -> IntArray:
    """Return the number of people at each place, shape (1, places).

    A person counts once a place. With `times` only rows of their window count. Raises DataError, with the key and
    nobody's name, for missing names, places and times, two spellings of a name, undeclared places (unless `elsewhere`
    is "ignore"), times outside the calendar, and a person at too many places in a step.
    """
    visits: dict[tuple[str, int], set[Hashable]] = {}
    place_of_text = dict[str, Hashable]()
    if domain.boxes is None:
        place_of_text = {str(place): place for place in domain.places}
    for step, who, texts in _in_window(table, [person, *where], times):
        place = place_of_text.get(texts[0])
        if domain.boxes is not None:
            place = domain.boxes.place(*numbers_of(texts, table.numerals))
        if place is not None:
            visits.setdefault((who, step), set()).add(place)
            continue
        if len(where) == 2 and are_degrees(where):
            numbers = numbers_of(texts, table.numerals)
            if first_beyond([[float(number)] for number in numbers]) is not None:
                with placed_at("file"):
                    columns = zip(columns_of(table, where), where, strict=True)
                    refuse_beyond(where, [numbers_in(values, name, table) for values, name in columns], table.ordered)
        if elsewhere != "ignore":
            raise wrong(
                "elsewhere", "the data have a row at a place that is not declared",
                fix="declare all places (of a grid: is the longitude the first coordinate, and not the other way "
                'round?), or write elsewhere = "ignore": nothing is then said about that place',
            )  # fmt: skip
    records: dict[str, set[Hashable]] = {}
    for (name, _), places in visits.items():
        records.setdefault(name, set()).update(places)
    with placed_at("file"):
        domain.check_sizes(map(len, visits.values()))
        return domain.counted(records.values())


def _in_window(
    table: Table, columns: Sequence[str], times: Times | None
) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield the step, person and place of each visit that is read."""
    key: tuple[object, ...] = ()
    window = range(1)
    if times is not None:
        columns = [*columns, times.written.column]
        key, window = (times.written, times.calendar), times.window
    by_step: _BySteps = cached(table, ("visits", *columns, *key), lambda: _by_step(table, columns, times))
    for step in window:
        for who, texts in by_step.get(step, ()):
            yield step, who, texts


#: The persons and places of the visits in each step; a file of a year is sorted once for all its hours.
_BySteps = dict[int, list[tuple[str, tuple[str, ...]]]]


def _by_step(table: Table, columns: Sequence[str], times: Times | None) -> _BySteps:
    groups = [group.key for group in totals(table, [], by=columns, null_keys="keep")]
    for place, column in enumerate(columns[1:], start=1):
        if any(key[place] is None for key in groups):
            fix = "fill it in, or drop these rows knowingly: a visit that is left out is not counted"
            raise wrong("file", f"column {column!r} has missing values", fix=fix)
    is_iso = times is not None and times.written.form is None
    if times is not None and is_iso and len({re.search(ZONED, str(key[-1])) is None for key in groups}) > 1:
        raise two_ways(times.written.column).at("source").placed()
    names = called("unit", columns[0], [key[0] for key in groups])
    by_step: _BySteps = {}
    for who, *cells in groups:
        step, texts = 0, tuple(map(str, cells))
        if times is not None:
            step, texts = times.step_of(texts[-1]), texts[:-1]
        by_step.setdefault(step, []).append((names[str(who)], texts))
    return by_step


def valued(table: Table, column: str, values: Sequence[Hashable], people: int) -> list[Hashable]:
    """Return one value per person, in an order independent of the data.

    Raises DataError for another number of rows than people, and for missing or undeclared values.
    """
    tallied = tally(table, {column: {str(value): code for code, value in enumerate(values)}})
    if sum(tallied.values()) != people:
        raise wrong("file", "the data have another number of rows than belief.people says", fix="check both")
    codes = {code for code, in tallied}
    if codes & {UNOBSERVED, UNKNOWN}:
        no_lookalikes(table, column, values, "value")
        problem = "missing values" if UNOBSERVED in codes else "a value that is not declared"
        raise wrong("value", f"column {column!r} has {problem}", fix=f"its values are {first_of(values)}")
    by_value = list[Hashable]()
    for code, value in enumerate(values):
        by_value += [value] * tallied.get((code,), 0)
    return by_value


def numbers_of(key: tuple[str, ...], numerals: Numerals) -> tuple[Fraction, Fraction]:
    """Return both coordinates; DataError, quoting nothing, for no finite numbers."""
    texts = list(map(numerals.plain, key))
    with suppress(ValueError):
        if all(math.isfinite(float(text)) for text in texts):
            x, y = map(read_fraction, texts)
            return x, y
    raise wrong("file", "a coordinate is no finite number", fix="write numbers only")

"""Tables with a column a time, a day or a question: which column is which step.

Only headers decide, which are public, and all rows have the same ones: nobody's first or last step is read off their
cells. Which columns are steps is declared, and what fits no declaration is refused; a column that is not named by the
release file is called by its place, because the first line of a file may be somebody's row.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from takifugu.core.errors import InputError
from takifugu.core.names import fits
from takifugu.data.times.moments import iso_time
from takifugu.data.times.time_format import START, TimeFormat
from takifugu.data.values.texts import BLANKS, NUMBER, TIME
from takifugu.numbers.rationals import read_fraction

#: A number or a time, and how it is written: as every engine reads it alike.
Step = tuple[Hashable, str]


@dataclass(frozen=True)
class Wide:
    """What the columns of a wide table are, and what headers (`order`) and cells (`value`) are called in a long one.

    `columns` are headers or patterns with * and ?, or headers with the step that each one is; `others` are columns that
    say something of a whole row, `ignored` are not read. `form` is how headers are written, if not as numbers or ISO
    8601; `of_days` says that they are times of day, of the day in a column that `others` has. An empty cell is the
    first of the texts `empty` that its column can hold, or else a missing value.
    """

    columns: tuple[str, ...] | Mapping[str, str]
    order: str
    value: str
    others: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    form: str | None = None
    of_days: bool = False
    empty: tuple[str, ...] = ()

    def fitting(self, name: str) -> list[str]:
        """Return a column's own headers or patterns."""
        if isinstance(self.columns, Mapping):
            return [name] if name in self.columns else []
        return [pattern for pattern in self.columns if fits(name, pattern)]


def steps_of(names: Sequence[str], wide: Wide) -> dict[str, Step]:
    """Return the step of each column: a number or time, and text.

    Columns keep their order. Raises InputError, with the key, for undeclared, repeated or missing columns, and for
    headers that are no step or the same one.

    >>> steps_of(("pupil", "7", "8"), Wide(("?",), "week", "state", ("pupil",)))
    {'7': (Fraction(7, 1), '7'), '8': (Fraction(8, 1), '8')}
    """
    fitting = {name: wide.fitting(name) for name in names}
    places = {name: place for place, name in enumerate(names, 1)}
    _check_headers(names, places, fitting, wide)
    steps = dict[str, Step]()
    for name, place in places.items():
        if not fitting[name]:
            continue
        if isinstance(wide.columns, Mapping):
            step = read_step(wide.columns[name], None, wide.of_days)
        else:
            step = read_step(name.strip(BLANKS), wide.form, wide.of_days)
        if step is None:
            subject = f"column {name!r}" if name in wide.columns else f"column {place}, which fits columns,"
            kinds = "time of day" if wide.of_days else "number and no time"
            raise InputError(
                f"{subject} is no {kinds}",
                fix='write what the headers are, columns = { Mon = "2026-01-05" }, or order_format = "%d/%m/%Y"',
            ).at("columns")
        steps[name] = step
    _check_together(places, steps)
    return steps


def _check_together(places: Mapping[str, int], steps: Mapping[str, Step]) -> None:
    """Refuse repeated steps, and mixed ones of numbers and times."""
    if len({step.tzinfo if isinstance(step, datetime) else type(step) for step, _ in steps.values()}) > 1:
        fault = "the columns are numbers and times, or times with and without a zone"
        raise InputError(fault, fix="write all of them in one way").at("columns")
    first: dict[Hashable, int] = {}
    for name, (step, _) in steps.items():
        place = first.setdefault(step, places[name])
        if place != places[name]:
            fault = f"columns {place} and {places[name]} are the same step"
            raise InputError(fault, fix="rename one, or leave one out of the table").at("columns")


def _check_headers(
    names: Sequence[str], places: Mapping[str, int], fitting: Mapping[str, Sequence[str]], wide: Wide
) -> None:
    """Refuse undeclared, missing and repeated columns, and those with two meanings."""
    for pattern in {*wide.columns} - {*chain.from_iterable(fitting.values())}:
        raise InputError(
            f"the data has no column {pattern!r}", rule="columns that are declared are there",
            fix="write the headers of the table; a text file without them needs header = false",
        ).at("columns")  # fmt: skip
    for label in (wide.order, wide.value):
        if label in names:
            raise InputError(
                f"the data has a column {label!r}, and headers or cells are called so from now on",
                fix='write another word, or rows = "samples" if there is one row a step',
            ).at("order" if label == wide.order else "value")
    for place, name in enumerate(names, 1):
        meanings = [f"columns has {pattern!r}" for pattern in fitting[name]]
        for key, columns in (("another key", wide.others), ("ignore", wide.ignored)):
            if name in columns:
                meanings.append(f"{key} has {name!r}")
        if not meanings:
            raise InputError(
                f"column {place} of {len(names)} is declared nowhere",
                rule="a column that the file does not name may be a step",
                fix="write it, or a pattern that it fits, in columns, or its name in ignore",
            ).at("columns")
        if len(meanings) > 1:
            fault = f"column {place} of {len(names)} is declared twice: {' and '.join(meanings)}"
            raise InputError(fault, fix="write patterns of which each column fits one, and no other key").at("columns")
        if places[name] != place:
            fault = f"columns {place} and {places[name]} have one name"
            raise InputError(fault, fix="rename one").at("columns")


def read_step(text: str, form: str | None = None, of_days: bool = False) -> Step | None:
    """Read a step from a header, None without one.

    >>> read_step("05/01/2026", "%d/%m/%Y")[1], read_step("7")[1], read_step("09:30", of_days=True)[1], read_step("Mon")
    ('2026-01-05 00:00:00', '7', '09:30', None)
    """
    if of_days:
        day = ""
        for letter, literal in TimeFormat(form or "%Y-%m-%d %H:%M").pieces:
            if letter and letter in "HIMSfp":
                break
            day += START.get(letter, literal)
        time = _time(day + text, form)
        return None if time is None else (time, text)
    if form is None and re.match(NUMBER, text):
        return read_fraction(text), text
    time = _time(text, form)
    if time is None:
        return None
    return (time.astimezone(UTC) if time.tzinfo else time), time.isoformat(" ")


def _time(text: str, form: str | None) -> datetime | None:
    try:
        if form is not None:
            return TimeFormat(form).read(text)
        return iso_time(text) if re.match(TIME, text) else None
    except ValueError:  # a day that its month does not have
        return None

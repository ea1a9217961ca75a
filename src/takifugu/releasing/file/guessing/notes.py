"""What `takifugu init` says of a table beside its guesses: what its author must know before they are believed.

Notes name columns and formats and never a value.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from takifugu.core.escaping import visible
from takifugu.core.text.toml import toml_of
from takifugu.data import Written
from takifugu.model.queries.sections import IN_ORDER, POLICY, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.guessing.clocks import DIGITS
from takifugu.releasing.file.guessing.column_words import people_of
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.roles import Roles, goes_back
from takifugu.releasing.file.guessing.seen import MISSING, Seen

#: So many sheets, tables or columns are named.
_LISTED = 10
_LEFT_OUT = 'null_keys = "drop" under [source]'
_REPEATED = (
    "A few rows are repeated as a whole, so several are in one step. If that is a mistake of the export, let one of "
    'them count: duplicates = "first" under [source].'
)
_NO_ORDER = (
    "No column seems to order the rows, so they count as steps in time in the order of the file. If each row is a "
    "separate record (a person, a case), start again with --rows answers."
)
_FOUR_DIGITS = (
    "The numbers in {0} seem to be times of day, such as 930 for 9:30. They are read with four digits, 0930: write "
    "them so first (in pandas, frame[{1}] = frame[{1}].astype(str).str.zfill(4))."
)
_TWO_READINGS = (
    "The dates in {0} could mean two things: {1} and {2} fit all inspected rows. Only you know which number is the "
    "day: write the right one as order_format."
)
_RISING = (
    "The dates in {0} fit {2}, too; {1} was taken because the rows rise only then. Check which number is the day."
)
_SET_BACK = (
    "Column {} goes back by an hour or less, as where a clock was set back. What a clock shows twice is two steps: "
    'declare its zone, such as timezone = "Europe/Berlin".'
)
_SEVERAL_ROWS = (
    "Some {0} have several rows, by {2}, and this kind takes each row for another one. All rows of one {1} must be "
    "hidden together: make them one row each first, or, where something orders the rows, start again with --kind "
    "sequences."
)
_SHARED = (
    "Several people have the same in {}, and this kind takes all people as independent of each other. Where one says "
    "something about those who live with them (an infection, a habit), that protects too little: start again with "
    "--kind contacts for what spreads, or make all people of one a single row."
)
_MARKS = (
    "Among the numbers in {} are a few texts that are none. Where such a column is read, name each of them as it is "
    'written: missing = ["NA"] under [source].'
)
_PARTS = (
    "The file has {0} {1}s: {2}. The largest was taken, {3}; for another one write its name as {1} in the file, and "
    "the names of its columns."
)
_CALENDAR = (
    "The times in {0} lie more than a day apart. For a map of every {1}, and for most in each {1}, declare a calendar "
    'under [source]: order = "{2}", {3}step = "{4}" and from, the day on which it starts; then every = "{1}" under '
    "[[release]]."
)
_A_DAY = 86_400
_MIXED = (
    "the dates in {0} are written in several ways, which no order_format reads; if they matter write them alike first "
    "(in pandas, frame[{0}] = pandas.to_datetime(frame[{0}], format='mixed'), where dayfirst = True says that the day "
    "comes first)"
)


def notes(facts: Facts, roles: Roles, file: Path, row: str | None, is_sampled: bool) -> Iterator[str]:
    """Yield the notes on a draft; `is_sampled` means that rows without a unit may be left out."""
    look, order, clock = facts.look, roles.get("order", roles.get("start")), roles.get("clock")
    if row == IN_ORDER and order is None:
        yield _NO_ORDER
    for name in look.twice:
        yield f"Several columns are called {visible(name)!r}, so none of them is read: give each a name of its own."
    unit = roles.get("unit") if is_sampled else None
    yield from _odd_lines(look, file, unit)
    if clock is not None and clock.clock_form == DIGITS and any(len(text) < 4 for text in clock.labels):
        yield _FOUR_DIGITS.format(repr(visible(clock.name)), repr(clock.name))
    if "order" in roles and roles["order"].forms[1:]:
        readings = _TWO_READINGS if roles["order"].is_unclear else _RISING
        yield readings.format(repr(visible(roles["order"].name)), *roles["order"].forms)
    if order is not None:
        timed = {**roles, "order": order}
        every = {role: replace(column, values=look.all_rows[column.name]) for role, column in timed.items()}
        if goes_back(timed) or goes_back(every):
            yield _SET_BACK.format(repr(visible(order.name)))
        elif look.odd.repeated:
            yield _REPEATED
    if row in (RECORDS, WHOLE_COLUMNS) and not {"one", "unit"} & roles.keys():
        yield from _not_people(facts, "person" in roles)
    if row == POLICY:
        yield from _calendars(facts.columns)
    with_texts = [repr(visible(column.name)) for column in facts.columns if column.marks]
    if with_texts:
        yield _MARKS.format(_first_of(with_texts))


def _not_people(facts: Facts, is_named: bool) -> Iterator[str]:
    """Yield the reason against rows as independent people."""
    if facts.shared is not None and not is_named:
        yield _SHARED.format(repr(visible(facts.shared.name)))
    elif facts.repeated is not None:
        people = people_of(facts.repeated.name)
        yield _SEVERAL_ROWS.format(people.many, people.one, repr(visible(facts.repeated.name)))


def _calendars(columns: Sequence[Seen]) -> Iterator[str]:
    """Yield the calendar that visits of more than a day may declare."""
    for column in columns:
        times = [time for time in column.moments if time > MISSING] if column.is_time and not column.is_clock else []
        if times and max(times) - min(times) > _A_DAY:
            every, step = ("day", "1d") if column.is_date else ("hour", "1h")
            form = "" if column.form is None else f'order_format = "{column.form}", '
            yield _CALENDAR.format(repr(visible(column.name)), every, visible(column.name), form, step)
            return


def _odd_lines(look: FirstLook, file: Path, unit: Seen | None) -> Iterator[str]:
    """Yield the lines to leave out, with a key or command.

    No row of a `unit` has a name that is missing: keys leave the others out.
    """
    odd, name = look.odd, shlex.quote(file.name)
    is_text = file.suffix.lower() in (".csv", ".tsv", ".txt")
    if look.written.lines is not None:
        yield _lines_of_header(*look.written.lines)
    if odd.below_names:
        yield f"Of the file {_lines(2, 1 + odd.below_names)} more of its header, and no row: delete what is no row."
    if odd.names_again:
        first = 1 if look.written.lines is None else look.written.lines[0]
        command = f": (head -n {first} {name}; tail -n +{first + 1} {name} | grep -vxF \"$(sed -n {first}p {name})\")"
        command = f"{command} > data.csv" if is_text else "."
        keys = "" if unit is None else f" missing = {visible(toml_of([unit.name]))} and {_LEFT_OUT} leave them out. Or"
        yield f"The names of the columns stand among the rows, where tables were joined:{keys} delete them{command}"
    if odd.totals:
        command = f": sed '$d' {name} > data.csv" if is_text else "."
        is_named = unit is not None and look.all_rows[unit.name][-1] is not None
        word = 'missing = ["Total"], as it is written there, and ' if is_named else ""
        keys = "" if unit is None else f" {word}{_LEFT_OUT} leaves it out. Or"
        yield f"The last line of the file looks like totals, which are no row of their own:{keys} delete it{command}"


def _lines_of_header(first: int, last: int) -> str:
    parts = [f"{_lines(1, first - 1)} a title"] if first > 1 else []
    parts += [f"{_lines(first + 1, last)} more of its header"] if last > first else []
    key = first if first == last else f"[{first}, {last}]"
    return f"Of the file {' and '.join(parts)}, and no row: header = {key} leaves out what is none."


def _lines(first: int, last: int) -> str:
    return f"line {first} is" if first == last else f"lines {first} to {last} are"


def one_of_several(contents: Mapping[str, int], written: Written) -> str:
    """Name the sheet or table read from a file of several."""
    part, taken = "sheet", visible(str(written.sheet))
    if written.table is not None:
        part, taken = "table", visible(written.table)
    return _PARTS.format(len(contents), part, _first_of([repr(visible(name)) for name in contents]), repr(taken))


def mixed_words(name: str) -> str:
    """Say how to make dates in several formats order rows."""
    return _MIXED.format(repr(visible(name)))


def _first_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more

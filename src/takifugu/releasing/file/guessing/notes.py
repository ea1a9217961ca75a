"""What `takifugu init` says of a table beside its guesses: what its author must know before they are believed.

Notes name columns and formats and never a value.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from takifugu.core.escaping import visible
from takifugu.data import Written
from takifugu.model.queries.sections import IN_ORDER, RECORDS, WHOLE_COLUMNS
from takifugu.releasing.file.guessing.clocks import DIGITS
from takifugu.releasing.file.guessing.column_words import people_of
from takifugu.releasing.file.guessing.columns import FirstLook
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.guessing.roles import Roles, goes_back
from takifugu.releasing.file.guessing.seen import Seen

#: So many sheets, tables or columns are named.
_LISTED = 10
_REPEATED = (
    "A few rows are repeated as a whole, so several are in one step. If that is a mistake of the export, let one of "
    'them count: duplicates = "first" under [source].'
)


_NO_ORDER = (
    "No column seems to order the rows, so they count as steps in time in the order of the file. If each row is a "
    "separate record (a person, a case), start again with --rows answers."
)


def notes(facts: Facts, roles: Roles, file: Path, row: str | None) -> Iterator[str]:
    """Yield the notes on a draft."""
    look, order = facts.look, roles.get("order", roles.get("start"))
    if row == IN_ORDER and order is None:
        yield _NO_ORDER
    for name in look.twice:
        yield f"Several columns are called {visible(name)!r}, so none of them is read: give each a name of its own."
    yield from _odd_lines(look, file)
    clock = roles.get("clock")
    if clock is not None and clock.clock_form == DIGITS and any(len(text) < 4 for text in clock.labels):
        yield _four_digits(clock.name)
    if "order" in roles and roles["order"].forms[1:]:
        yield _two_readings(roles["order"])
    if order is not None:
        yield from _disturbed(look, {**roles, "order": order})
    if row in (RECORDS, WHOLE_COLUMNS) and not {"one", "unit"} & roles.keys():
        yield from _not_people(facts, "person" in roles)
    with_marks = [column for column in facts.columns if column.marks]
    if with_marks:
        yield _marks_among_numbers(with_marks)


def _disturbed(look: FirstLook, roles: Roles) -> Iterator[str]:
    """Yield a disturbance of the order: a clock set back, repeated rows."""
    every = {role: replace(column, values=look.all_rows[column.name]) for role, column in roles.items()}
    if goes_back(roles) or goes_back(every):
        yield _set_back(roles["order"].name)
    elif look.odd.repeated:
        yield _REPEATED


def _not_people(facts: Facts, is_named: bool) -> Iterator[str]:
    """Yield the reason against rows as independent people."""
    if facts.shared is not None and not is_named:
        yield _shared(facts.shared.name)
    elif facts.repeated is not None:
        yield _several_rows(facts.repeated.name)


def _odd_lines(look: FirstLook, file: Path) -> Iterator[str]:
    """Yield the lines to leave out, with a key or command."""
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
        yield f"The names of the columns stand among the rows, where tables were joined: delete them{command}"
    if odd.totals:
        command = f": sed '$d' {name} > data.csv" if is_text else "."
        yield f"The last line of the file looks like totals, which are no row of their own: delete it{command}"


def _lines_of_header(first: int, last: int) -> str:
    parts = [f"{_lines(1, first - 1)} a title"] if first > 1 else []
    parts += [f"{_lines(first + 1, last)} more of its header"] if last > first else []
    key = first if first == last else f"[{first}, {last}]"
    return f"Of the file {' and '.join(parts)}, and no row: header = {key} leaves out what is none."


def _lines(first: int, last: int) -> str:
    return f"line {first} is" if first == last else f"lines {first} to {last} are"


def one_of_several(contents: Mapping[str, int], written: Written) -> str:
    """Name the sheet or table read from a file of several."""
    part = "sheet" if written.table is None else "table"
    names = ", ".join(repr(visible(name)) for name in [*contents][:_LISTED])
    more = f" and {len(contents) - _LISTED} more" if len(contents) > _LISTED else ""
    return (
        f"The file has {len(contents)} {part}s: {names}{more}. The largest was taken, "
        f"{visible(str(written.table or written.sheet))!r}; for another one write its name as {part} in the file, and "
        "the names of its columns."
    )


def _four_digits(clock: str) -> str:
    return (
        f"The numbers in {visible(clock)!r} seem to be times of day, such as 930 for 9:30. They are read with four "
        f"digits, 0930: write them so first (in pandas, frame[{clock!r}] = frame[{clock!r}].astype(str).str.zfill(4))."
    )


def _set_back(name: str) -> str:
    return (
        f"Column {visible(name)!r} goes back by an hour or less, as where a clock was set back. What a clock shows "
        'twice is two steps: declare its zone, such as timezone = "Europe/Berlin".'
    )


def _several_rows(name: str) -> str:
    people = people_of(name)
    return (
        f"Some {people.many} have several rows, by {visible(name)!r}, and this kind takes each row for another one. "
        f"All rows of one {people.one} must be hidden together: make them one row each first, or, where something "
        "orders the rows, start again with --kind sequences."
    )


def _shared(name: str) -> str:
    return (
        f"Several people have the same in {visible(name)!r}, and this kind takes all people as independent of each "
        "other. Where one says something about those who live with them (an infection, a habit), that protects too "
        "little: start again with --kind contacts for what spreads, or make all people of one a single row."
    )


def _marks_among_numbers(columns: Sequence[Seen]) -> str:
    names = ", ".join(repr(visible(column.name)) for column in columns[:_LISTED])
    more = f" and {len(columns) - _LISTED} more" if len(columns) > _LISTED else ""
    return (
        f"Among the numbers in {names}{more} are a few texts that are none. Where such a column is read, name each of "
        'them as it is written: missing = ["NA"] under [source].'
    )


def mixed_words(name: str) -> str:
    """Say how to make dates in several formats order rows."""
    column = visible(name)
    return (
        f"the dates in {column!r} are written in several ways, which no order_format reads; if they matter write them "
        f"alike first (in pandas, frame[{column!r}] = pandas.to_datetime(frame[{column!r}], format='mixed'), where "
        "dayfirst = True says that the day comes first)"
    )


def _two_readings(column: Seen) -> str:
    name, form, other = visible(column.name), *column.forms[:2]
    if column.is_unclear:
        return (
            f"The dates in {name!r} could mean two things: {form} and {other} fit all inspected rows. Only you know "
            "which number is the day: write the right one as order_format."
        )
    return (
        f"The dates in {name!r} fit {other}, too; {form} was taken because the rows rise only then. Check which number "
        "is the day."
    )

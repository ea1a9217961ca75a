"""What a first draft says, for data of each shape: what the columns seem to be, and the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from takifugu.core.lists import take, without
from takifugu.data.kinds import NUMBERS
from takifugu.data.values.texts import TIME
from takifugu.releasing.file.drafting.draft import Entry, Start, names, names_a_file, not_drafted, release, whole
from takifugu.releasing.file.guessing.across import Across
from takifugu.releasing.file.guessing.seen import DIGITS, ISO_DATE, MOST_STATES, Seen
from takifugu.releasing.file.kinds import KINDS

#: Stands for what nothing tells, and is refused.
_FILL_IN = "FILL IN"


def sequences(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about states in time."""
    yield from start.named("unit", "recording", "end")
    if "duration" in start.roles:
        column = start.roles["duration"]
        why = "how long a stay is; guessed: what a 1 is worth"
        if column.worth is None:  # refused until it is said
            why = 'how long a stay is, and what a 1 is worth: "1min"'
        yield Entry("source", "duration", [column.name, column.worth or _FILL_IN], why)
    yield from _steps(start) if start.across is None else _across(start, start.across)
    said = start.said
    if "timezone" in said:
        yield Entry("source", "timezone", said["timezone"], "whose clocks say which hour and day a moment is in")
    if "step" in said:
        yield Entry("source", "step", whole(said["step"]), "rows count steps of this length")
    for key, words in {"from": "where the calendar starts", "until": "where it ends"}.items():
        if key in said:
            yield Entry("source", key, whole(said[key]), words)
    if "roster" in said:
        roster = said["roster"] if names_a_file(said["roster"]) else names(said["roster"])
        yield Entry("source", "roster", roster, "who is covered, from a public list")
    if "otherwise" in said and said["rows"] == "changes":
        yield Entry("source", "default_state", said["otherwise"], "what everybody was until a first row")
    elif start.across is not None and start.across.has_gaps:
        why = 'the state of an empty cell; without such a state, nulls = "unobserved"'
        yield Entry("source", "empty", said.get("otherwise", _FILL_IN), why)
    elif "otherwise" in said:
        yield Entry("source", "default_state", said["otherwise"], "the state of a step without a row")
    yield Entry("hide", "kind", "every-entry", "the state in every single step")
    yield from release("time-in-states", "histogram", "how many steps are in each state")


def _steps(start: Start) -> Iterator[Entry]:
    """Yield the columns of times and states."""
    yield from start.named("order")
    clock, times = start.roles.get("clock"), start.roles.get("order")
    form = None if times is None else times.epoch
    if form is None and clock is not None and not all(re.match(TIME, f"1970-01-01 {text}") for text in clock.labels):
        form = ISO_DATE
    if times is not None and times.is_unread:
        form = _FILL_IN
    if times is not None and form is not None:
        yield _form(times, form, "" if clock is None else f" {clock.clock_form}", start.said.get("dates"))
    yield from _value(start)


def _across(start: Start, across: Across) -> Iterator[Entry]:
    """Yield the columns of steps, and names for headers and cells."""
    day = start.roles.get("order")
    yield Entry("source", "columns", across.columns, "the columns that are steps")
    read = {*across.names, *(column.name for column in start.roles.values())}
    ignored = without(start.look.columns, read)
    if ignored:
        yield Entry("source", "ignore", ignored, "columns that are not read")
    yield Entry("source", "order", across.order if day is None else [day.name, across.order], "what the headers are")
    if day is not None and (day.form is not None or day.is_unread):
        yield _form(day, day.form or _FILL_IN, " %H:%M", start.said.get("dates"))
    elif across.form is not None:
        yield Entry("source", "order_format", across.form, "guessed: how the headers are written")
    yield Entry("source", "value", across.value, "what the cells are")
    yield from _bins(take(start.look.columns, across.names))


def _value(start: Start) -> Iterator[Entry]:
    """Yield the column to publish, and of measured numbers that they need bins."""
    yield from start.named("value")
    yield from _bins([start.roles["value"]] if "value" in start.roles else [])


def _bins(columns: Sequence[Seen]) -> Iterator[Entry]:
    """Yield that columns of many measured numbers need bins."""
    labels = set[str]().union(*(column.labels for column in columns))
    are_measured = len(labels) > MOST_STATES or any(column.kind == NUMBERS for column in columns)
    if are_measured and all(column.is_number for column in columns):
        why = "the numbers that count as each state: { low = [0, 5], high = [5, 99] }"
        yield Entry("source", "bins", _FILL_IN, why)


def _form(column: Seen, form: str, clock: str, answer: str | None) -> Entry:
    """Return the format of times, a refused one if unclear."""
    value, why = f"{answer or form}{clock}", "how its times are written" + ", 0930 for 9:30" * clock.endswith(DIGITS)
    rivals = [f'"{rival}{clock}"' for rival in column.forms if rival != (answer or form)]
    if rivals:
        why = f"{why}; {rivals[0]} fits, too"
    return Entry("source", "order_format", value, why)


def records(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about people or cases."""
    yield from start.named("unit")
    yield from _value(start)
    yield from start.meetings()
    yield Entry("hide", "kind", "every-entry", "every value of every single person")
    if start.kind == "users":
        yield from release("published-numbers", "histogram", "how many people have each value")
    else:
        yield from release("published-number", "count", 'how many rows have some states; or "histogram"')


def columns(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file to hide whole columns."""
    drafted_here = ("normal", "density", "independent-records", "parameters", "parameter-box")
    if start.kind not in drafted_here and KINDS.find(start.kind).drafted is None:
        yield from not_drafted(start)
    yield Entry("hide", "", None)
    query, words = ("mean", 'the mean of a column; or "sum"') if start.is_normal else ("count", "rows with some values")
    yield from release("published-number", query, words)
    if start.is_normal:
        yield Entry("table", "delta", 1e-6, "normal noise needs a delta above 0")


def each_row(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file to randomise each row."""
    yield from start.named("unit")
    places = start.coordinates
    numbers = [column.name for column in start.look.columns.values() if column.kind == NUMBERS]
    if places or len(numbers) == 2:
        yield Entry("source", "value", places or numbers, "guessed: first and second coordinate")
    yield from release("randomised", "each-value", "each row's value, randomised by itself")


def visits(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about visits."""
    yield from start.named("unit")
    if start.coordinates:
        yield Entry("source", "value", start.coordinates, "guessed: first and second coordinate of where")
    yield Entry("hide", "visits", "all", "that a person was where they were; not that they were not elsewhere")
    if start.said.get("publish") == "visitors":
        yield from release("visitors", "visitors", "how many were where")
    else:
        yield from release("safe-places", "safe", "the places where so few were that they may be named")

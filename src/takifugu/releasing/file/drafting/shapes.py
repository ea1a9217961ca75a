"""What a first draft says, for data of each shape: what the columns seem to be, and the answers."""

from __future__ import annotations

from collections.abc import Iterator

from takifugu.data.kinds import NUMBERS
from takifugu.releasing.file.drafting.draft import (
    Entry,
    Start,
    names,
    names_a_file,
    not_drafted,
    relative,
    release,
    whole,
    written_as,
)
from takifugu.releasing.file.guessing.across import Across
from takifugu.releasing.file.guessing.clocks import DIGITS, ISO_DATE, are_iso
from takifugu.releasing.file.guessing.seen import Seen
from takifugu.releasing.file.keys import ROWS
from takifugu.releasing.file.kinds import KINDS

_WHAT = {
    "unit": "whose row it is", "piece": "guessed: an unbroken run of rows; a new one starts after a gap",
    "start": "when a stay starts", "end": "when it ends", "value": "the state",
}  # fmt: skip


def sequences(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about states in time."""
    rows = start.said["rows"]
    yield from start.source(rows, f"a row says {ROWS[rows]}")
    for role in ("unit", "piece"):
        yield from start.named(role, _WHAT[role])
    yield from start.timed("start", _WHAT["start"])
    has_clock = "clock" in start.roles
    yield from start.named("end", "when it ends: the first such time after its start" if has_clock else _WHAT["end"])
    if "duration" in start.roles:
        column = start.roles["duration"]
        worth, why = column.worth, "how long a stay is; guessed: what a 1 is worth"
        if worth is None:  # refused until it is said
            worth, why = "FILL IN", 'how long a stay is, and what a 1 is worth: "1min"'
        yield Entry("source", "duration", [column.name, worth], why)
    if start.across is None:
        yield from _steps(start)
    else:
        yield from _across(start, start.across)
    yield from _calendar(start, rows)
    yield start.budget("the most epsilon that a person may ever spend")
    yield from start.belief()
    yield Entry("hide", "kind", "every-entry", "the state in every single step")
    yield from release("time-in-states", "histogram", "how many steps are in each state")


def _steps(start: Start) -> Iterator[Entry]:
    """Yield the columns of times and states."""
    order, clock = start.roles.get("order"), start.roles.get("clock")
    digits = ", its times of day with four digits, 0930" * (clock is not None and clock.clock_form == DIGITS)
    yield from start.timed("order", f"what sorts the rows{digits}")
    times = order or start.roles.get("start")
    form = None if times is None else times.epoch
    of_clock = "" if clock is None else f" {clock.clock_form}"
    if form is None and clock is not None and not are_iso(clock.labels):
        form = ISO_DATE
    if times is not None and form is not None:
        yield _form(times, form, of_clock, start.said.get("dates"))
    yield from start.named("value", _WHAT["value"])


def _across(start: Start, across: Across) -> Iterator[Entry]:
    """Yield the columns of steps, and names for headers and cells."""
    day = start.roles.get("order")
    yield Entry("source", "columns", across.columns, "the columns that are steps")
    if across.ignored:
        yield Entry("source", "ignore", across.ignored, "columns that are not read")
    order = across.order if day is None else [day.name, across.order]
    yield Entry("source", "order", order, "what the headers are")
    if day is not None and day.form is not None:
        yield _form(day, day.form, " %H:%M", start.said.get("dates"))
    elif across.form is not None:
        yield Entry("source", "order_format", across.form, "guessed: how the headers are written")
    yield Entry("source", "value", across.value, "what the cells are")


def _form(column: Seen, form: str, clock: str, answer: str | None) -> Entry:
    """Return the format of times, a refused one if unclear."""
    value, why = f"{answer or form}{clock}", "guessed: how its times are written"
    if answer is not None:
        why = "how its times are written"
    elif column.is_unclear:
        value, why = "FILL IN", f'"{value}" or "{column.forms[1]}{clock}": nothing tells which is the day'
    elif column.forms[1:]:
        why = f'guessed, because the rows rise; "{column.forms[1]}{clock}" fits, too'
    return Entry("source", "order_format", value, why)


def _calendar(start: Start, rows: str) -> Iterator[Entry]:
    """Yield the step and the calendar as far as stated."""
    said = start.said
    if "step" in said:
        yield Entry("source", "step", whole(said["step"]), "rows count steps of this length")
    for key, words in {"from": "where the calendar starts", "until": "where it ends"}.items():
        if key in said:
            yield Entry("source", key, whole(said[key]), words)
    if "roster" in said:
        roster = said["roster"] if names_a_file(said["roster"]) else names(said["roster"])
        yield Entry("source", "roster", roster, "who is covered, from a public list")
    if "otherwise" in said:
        key = "before" if rows == "changes" else "otherwise"
        words = "what everybody was until a first row" if rows == "changes" else "the state of a step without a row"
        yield Entry("source", key, said["otherwise"], words)


def records(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about people or cases."""
    ends = [start.roles[role].name for role in ("one", "other") if role in start.roles]
    if ends:  # the file lists pairs of people, so it is what the belief reads
        yield start.name()
        yield Entry("source", "rows", "answers", "one row per person; who met whom is no part of it")
    else:
        yield from start.source("answers", "one row per person or case")
    yield from start.named("person", "the person of a row")
    yield from start.named("unit", _WHAT["unit"])
    yield from start.named("value", "what each row contributes")
    yield start.budget("the most epsilon that a person may ever spend")
    yield from start.belief()
    if ends and start.said.get("public") == "yes":
        yield Entry("belief", "file", relative(start.data, start.output), "who met whom, which everybody may know")
    if ends:
        yield Entry("belief", "columns", ends, "the two that name a pair")
        yield from written_as("belief", start.look.written)
    yield Entry("hide", "kind", "every-entry", "every value of every single person")
    if start.kind == "users":
        yield from release("published-numbers", "histogram", "how many people have each value")
    else:
        yield from release("published-number", "count", 'how many rows have some states; or "histogram"')


def columns(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file to hide whole columns."""
    is_normal = start.kind in ("normal", "density")
    drafted_here = ("normal", "density", "independent-records", "parameters", "parameter-box")
    if start.kind not in drafted_here and KINDS.find(start.kind).drafted is None:
        yield from not_drafted(start)
    yield from start.source("answers", "one row per record")
    budget = {"epsilon": 1.0, "delta": 1e-6} if is_normal else 1.0
    yield start.budget("the most that these records may ever spend together", budget)
    yield from start.belief()
    yield Entry("hide", "", None)
    query, words = ("mean", 'the mean of a column; or "sum"') if is_normal else ("count", "rows with some values")
    yield from release("published-number", query, words)
    if is_normal:
        yield Entry("release", "delta", 1e-6, "normal noise needs a delta above 0")


def each_row(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file to randomise each row."""
    yield from start.source("answers", "one row per value")
    yield from start.named("unit", _WHAT["unit"])
    places = [start.roles[role].name for role in ("x", "y") if role in start.roles]
    numbers = [column.name for column in start.look.columns.values() if column.kind == NUMBERS]
    if not places and len(numbers) == 2:
        places = numbers
    if places:
        yield Entry("source", "coordinates", places, "guessed: first and second coordinate")
    yield start.budget("the most epsilon that a person may ever spend")
    yield from start.belief()
    yield from release("randomised", "each-value", "each row's value, randomised by itself")


def visits(start: Start) -> Iterator[Entry]:
    """Yield the keys of a file about visits."""
    yield from start.source("visits", "one row per visit of a person to a place")
    yield from start.named("person", "who was there")
    yield from start.named("x", "guessed: the first coordinate of where")
    yield from start.named("y", "guessed: the second one")
    yield start.budget("the most that these people may ever spend")
    yield from start.belief()
    yield Entry("hide", "visits", "all", "that a person was where they were; not that they were not elsewhere")
    if start.said.get("publish") == "visitors":
        yield from release("visitors", "visitors", "how many were where")
    else:
        yield from release("safe-places", "safe", "the places where so few were that they may be named")

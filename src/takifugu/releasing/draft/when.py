"""The questions when a row was, which rows say so, how long a step is, and on whose clocks it was."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from takifugu.core.errors import InputError
from takifugu.data.sql.words import identifier
from takifugu.data.times.steps import time_text
from takifugu.data.times.zones import MICROSECOND, Zone
from takifugu.releasing.draft.evidence import MOST_COUNTED, Evidence
from takifugu.releasing.draft.forms import INSTANTS, NUMBERS, TIMES, Reading, is_clock, readings
from takifugu.releasing.draft.question import NONE, Answers, Choice, Question, ask
from takifugu.releasing.file.keys import STEPS

#: Rows that have a time.
TIMED = (*STEPS, "wide")
#: Gaps that are looked at, and rows that are named, at most.
_MOST_GAPS, _NAMED = 10_000, 3
#: The forms of times and months that a message shows.
_FORM, _MONTH = "'%d.%m.%Y %H:%M'", "'%b %Y'"
#: Of so many texts one may be no time, such as a total: which rows count is then asked.
_FEW = 10


def columns_in(text: str, types: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that an answer lists, or the answer alone, which may be an expression."""
    parts = tuple(part.strip() for part in text.split(","))
    return parts if text not in types and all(part in types for part in parts) else (text,)


def questions_of_time(evidence: Evidence, answers: Answers) -> Iterator[Question | None]:
    """Yield the questions when, and how long a step is, then on whose clocks."""
    if answers.get("rows") not in TIMED:
        return
    keys = ("order", "end") if answers["rows"] == "stays" else ("order",)
    for key in keys:
        yield _when(evidence, answers, key)
    if "order" in answers:
        yield _step(evidence, answers)
        yield _timezone(evidence, answers)


def full_readings(evidence: Evidence, answers: Answers, key: str) -> list[Reading]:
    """Return how the time of a row may be read, all of it, as times or as numbers as its step is."""
    some = readings(evidence, columns_in(answers[key], evidence.types), key)
    return [reading for reading in some if reading.is_full and reading.fits(_kind_of_step(answers))]


def _kind_of_step(answers: Answers) -> str | None:
    step = answers.get("step")
    if step is not None and not re.fullmatch(r"[1-9]\d*(s|min|h|d)?", step):
        error = InputError(f"step is {step[:40]!r}").at("step")
        raise error.offering((name, "") for name in ("1", "15min", "1h", "1d"))
    return None if step is None else NUMBERS if step.isdigit() else TIMES


def _when(evidence: Evidence, answers: Answers, key: str) -> Question | None:
    if key not in answers:
        what = "order-of-stays" if answers["rows"] == "stays" and key == "order" else key
        return ask(what, _orders(evidence, {answers.get("unit"), answers.get("order")}), is_clear=True)
    full = full_readings(evidence, answers, key)
    if key == "order" and full and full[0].there < evidence.size:
        return _where(evidence, answers, key)
    if len(full) == 1 or (_kind_of_step(answers) is None and len({reading.kind == NUMBERS for reading in full}) > 1):
        return None
    if full:
        ways = (Choice(reading.sql, reading.words) for reading in full)
        return ask("order-read", ways, column=answers[key], key=key)
    return _where(evidence, answers, key)


def _orders(evidence: Evidence, taken: set[str | None]) -> Iterator[Choice]:
    """Yield the columns that may say when, dates with a time of day first."""
    names = [name for name in evidence.types if name not in taken]
    if len(names) > MOST_COUNTED:
        return
    some = {name: [reading for reading in readings(evidence, (name,)) if 2 * reading.rows > reading.there]
            for name in names}  # fmt: skip
    clocks = [name for name in names if is_clock(evidence, name)]
    for day in (name for name in names if any(reading.kind == TIMES for reading in some[name])):
        for clock in clocks:
            both = readings(evidence, (day, clock)) if clock != day else []
            if both and 2 * both[0].rows > both[0].there:
                yield Choice(f"{day}, {clock}", _words(both))
    for are_numbers in (False, True):
        for name, ways in some.items():
            if ways and all(reading.kind == NUMBERS for reading in ways) == are_numbers:
                yield Choice(name, _words(ways))


def _words(ways: Sequence[Reading]) -> str:
    return " or ".join(dict.fromkeys(reading.words for reading in ways[:3]))


def _where(evidence: Evidence, answers: Answers, key: str) -> Question:
    """Return the question which rows count, where few say no time; InputError where most do not."""
    columns, step = columns_in(answers[key], evidence.types), _kind_of_step(answers)
    ways = readings(evidence, columns, key)
    some = [reading for reading in ways if reading.fits(step)]
    if not some or (some[0].there - some[0].rows) * _FEW > some[0].there:
        mixed = f"; {some[0].rows:,} of {some[0].there:,} rows are {some[0].kind}" if some else ""
        kind = "" if step is None else f" as {step}, as step is,"
        what = f"nothing reads all of {answers[key][:80]!r}{kind} to a time of 1900 to 2099{mixed}"
        if step == NUMBERS:
            what = f"nothing reads all of {answers[key][:80]!r} as numbers, as step is{mixed}"
        if others := [reading for reading in ways if reading.is_full and not reading.fits(step)]:
            another, kind = ("1", "number") if step == TIMES else ("1min", "length of time")
            error = InputError(what, rule=f"{others[0].kind} have a step of their kind").at("step")
            raise error.offering([(another, "")], f"another {kind}")
        quoted = " || ' ' || ".join(identifier(column) if column in evidence.types else column for column in columns)
        form = f"strptime({quoted}, {_FORM})"
        if step == NUMBERS:
            form = f"datediff('month', DATE '2000-01-01', strptime({quoted}, {_MONTH}))"
        error = InputError(what, rule="all times of a column are written alike").at(key)
        raise error.offering([(form, "with your format, or a list of them: ['...', '...']")])
    seen = f"{evidence.size - some[0].rows:,} rows say no time that the others' form reads"
    return which_rows(evidence, answers, some[0].condition, seen)


def which_rows(evidence: Evidence, answers: Answers, condition: str, seen: str) -> Question:
    """Return the question which rows count, of which those count that keep a condition."""
    numbered = f"(select *, row_number() over () as takifugu_row from {evidence.rows})"
    numbered = f"(from {numbered}{evidence.where and ' where ' + evidence.where})"
    lost = [row for (row,) in evidence.ask("takifugu_row", f"not ({condition}) order by 1", numbered)]
    listed = ", ".join(map(str, lost[:_NAMED])) + (" ..." if len(lost) > _NAMED else "")
    choice = Choice(f"({answers['where']}) AND {condition}" if answers.get("where") else condition,
                    f"leaves out {len(lost):,} of {evidence.size:,} rows: {listed}")  # fmt: skip
    return ask("where", [choice], seen)


def _step(evidence: Evidence, answers: Answers) -> Question | None:
    if "step" in answers:
        return None
    full, choices = full_readings(evidence, answers, "order"), list[Choice]()
    for reading in {reading.kind == NUMBERS: reading for reading in full}.values():
        gap = _common_gap(evidence, reading)
        if answers["rows"] in ("samples", "wide") and gap is not None:
            choices.append(Choice(gap, "every row lies on such a step"))
        elif reading.kind != NUMBERS:
            choices += [Choice(word, "shorter than what you want to see") for word in ("1min", "1h", "1d")]
        else:
            choices.append(Choice("1", "its numbers"))
    return ask("step", choices) if full else None  # else it is asked first which rows count


def _common_gap(evidence: Evidence, reading: Reading) -> str | None:
    """Return the longest step that all rows lie on."""
    kind = "timestamptz" if reading.kind == INSTANTS else "timestamp"  # which moments of nanoseconds are not
    tick = reading.test if reading.kind == NUMBERS else f"epoch_us(cast({reading.test} AS {kind}))"
    places = f"(select distinct {tick} as t from {evidence.counting})"
    gaps = f"distinct t - lag(t) over (order by t) as gap from {places} limit {_MOST_GAPS + 1}"
    lengths = [gap for (gap,) in evidence.relation.rows(f"select {gaps}") if gap]
    if not lengths or len(lengths) > _MOST_GAPS:
        return None
    gap = math.gcd(*lengths)
    if reading.kind == NUMBERS:
        return str(gap)
    return None if gap % 10**6 else time_text(gap * MICROSECOND)


def _timezone(evidence: Evidence, answers: Answers) -> Question | None:
    if answers.get("timezone", NONE) != NONE:
        Zone(answers["timezone"])
        return None
    kinds = {reading.kind for reading in full_readings(evidence, answers, "order")}
    if kinds == {INSTANTS}:
        utc = Choice("UTC", "clocks there show UTC; or Europe/Berlin, any zone")
        return ask("timezone", [utc], "They are moments: they have an offset, or count from 1970")
    if kinds == {TIMES} and "timezone" not in answers and "unit" in answers and has_hours_twice(evidence, answers):
        zone = Choice("Europe/Berlin", "or another zone: the first of two equal times is taken for summer time")
        as_written = Choice(NONE, "as written: two rows of one hour are refused")
        return ask("timezone", [zone, as_written], "An hour of an autumn night has each of its times twice")
    return None


def has_hours_twice(evidence: Evidence, answers: Answers) -> bool:
    """Return whether clocks show times of a Sunday night of autumn twice, of one unit."""
    full = [reading for reading in full_readings(evidence, answers, "order") if reading.kind == TIMES]
    if len(full) != 1 or evidence.layout is None or evidence.unpivoted:
        return False
    unit = evidence.judged(answers["unit"], "unit") if answers["unit"] != NONE else "1"
    night = "month(t) in (4, 10, 11) and dayofweek(t) = 0 and hour(t) < 4"
    rows = f"select {unit} as u, cast({full[0].test} as timestamp) as t from {evidence.counting}"
    twice = f"select 1 from ({rows}) where {night} group by u, t having count(*) = 2 limit 1"
    return bool(evidence.relation.rows(twice))

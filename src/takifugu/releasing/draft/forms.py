"""How texts may be read as times and numbers: each form is counted over all rows, and one that fits all is SQL.

A form fits if it reads every text, to a time of 1900 to 2099. Two that fit, and read something else, are a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from takifugu.core.errors import InputError
from takifugu.data.relation.types import BLANK_EDGES, WITH_POINT
from takifugu.data.sql.clocks import CLOCKS, ISO, MOMENTS, OFFSET, WHOLE, has_point
from takifugu.data.sql.words import identifier, literal
from takifugu.releasing.draft.evidence import Evidence

NUMBERS, TIMES, INSTANTS = "numbers", "clocks", "moments"
_TYPES = {NUMBERS: "bigint", TIMES: "timestamp", INSTANTS: "timestamptz"}
#: Forms of strptime(): days, clocks, and what may stand between both.
_DAYS = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y",
    "%m-%d-%y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%y-%m-%d", "%y/%m/%d", "%y.%m.%d", "%Y%m%d",
    "%d%b%Y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%a %b %d %Y", "%d. %m. %Y",
)  # fmt: skip
_HOURS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%H.%M", "%H%M", "%H")
FORMATS = (
    *_DAYS, *(day + between + hour for day in _DAYS for between in (" ", "T", ":", ", ") for hour in _HOURS),
    "%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%Y%m%dT%H%M%S", "%H:%M %d.%m.%Y", "%d/%b/%Y:%H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z", "%d.%m.%Y %H:%M:%S %z",
)  # fmt: skip
#: Other forms: the kind, what a text looks like, and the SQL. Numbers count months, days of Excel, or since 1970.
_FORMS = (
    (TIMES, ISO, "{}"), (INSTANTS, ISO + OFFSET, "{}"), (NUMBERS, r"-?\d{1,15}", "{}"),
    (NUMBERS, r"-?\d{1,15}[.]0+", "cast({} AS bigint)"),
    (NUMBERS, r"\d{4}-\d\d", "datediff('month', DATE '2000-01-01', cast({} || '-01' AS date))"),
    (TIMES, r"[3-7]\d{4}", "DATE '1899-12-30' + cast({} AS integer)"),
    (INSTANTS, r"\d{9,10}", "make_timestamptz(cast({} AS bigint) * 1000000)"),
    (INSTANTS, r"\d{12,13}", "make_timestamptz(cast({} AS bigint) * 1000)"),
    (INSTANTS, r"\d{15,16}", "make_timestamptz(cast({} AS bigint))"),
    (INSTANTS, r"\d{18,19}", "make_timestamptz(cast({} AS bigint) // 1000)"),
    (INSTANTS, r"\d{9,10}[.]\d{1,9}", "make_timestamptz(cast(cast({} AS decimal(20, 6)) * 1000000 AS bigint))"),
)  # fmt: skip
#: The digits before a sign between thousands: a lone 0 stands before decimals alone.
_GROUP = r"([1-9]\d{0,2}|0\d{1,2})"
#: Forms of decimal numbers, in words.
_DECIMALS = (
    ("a point before decimals", r"[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?", "cast({} AS double)"),
    ("a comma before decimals", rf"[+-]?({_GROUP}([.]\d{{3}})+|\d+)(,\d+)?",
     "cast(replace(replace({}, '.', ''), ',', '.') AS double)"),
    ("a comma between thousands", rf"[+-]?({_GROUP}(,\d{{3}})+|([1-9]\d?|0\d)(,\d\d)*,\d{{3}}|\d+)([.]\d+)?",
     "cast(replace({}, ',', '') AS double)"),
)  # fmt: skip
_CLOCK = r"\d{1,2}:\d\d(:\d\d)?"
#: Forms that read none of so many rows are not counted over all.
_FIRST = 200
#: A year as it is written, and one that is read.
_YEAR, _LIKELY_YEAR = r"\d{4}", r"(19|20)\d\d"
#: Words for a value that was not recorded.
MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "-", "?", ".", "k.A.")
#: A column of more numbers is measured.
MOST_STATES = 12


@dataclass(frozen=True)
class Reading:
    """A way to read a column, as SQL: `test` gives NULL for what `form` does not read."""

    sql: str
    kind: str
    form: str
    test: str
    #: How it is written, or its first and last day.
    words: str = ""
    #: How many of the texts that are `there` it reads.
    rows: int = 0
    there: int = 0
    #: A condition that is false of what `form` does not read.
    guard: str = ""

    @property
    def is_full(self) -> bool:
        """Return whether it reads every text."""
        return self.rows == self.there > 0

    @property
    def condition(self) -> str:
        """Return the condition that it reads a row, which is always true or false."""
        if self.guard:
            return f"coalesce({self.guard}, false)"
        if self.kind == TIMES:
            return f"coalesce(year({self.test}) BETWEEN 1900 AND 2099, false)"
        if self.kind == INSTANTS:  # a moment has no year of its own
            first, last = (f"timestamptz '{day}+00'" for day in ("1900-01-01 00:00:00", "2099-12-31 23:59:59"))
            return f"coalesce({self.test} BETWEEN {first} AND {last}, false)"
        return f"{self.test} IS NOT NULL"

    def fits(self, kind: str | None) -> bool:
        """Return whether it is of times, or of numbers; any is if that is not known."""
        return kind is None or (self.kind == NUMBERS) == (kind == NUMBERS)


def is_clock(evidence: Evidence, column: str) -> bool:
    """Return whether a column holds times of day alone."""
    sql, kind = identifier(column), evidence.types[column]
    texts = f"regexp_full_match({_as_text(sql, kind)}, {literal(_CLOCK)})"
    are = (f"{_filled(sql, kind)} and {is_so}" for is_so in (texts, f"not {texts}"))
    clocks, others = evidence.count(*(f"count(*) filter ({condition})" for condition in are))
    return bool(clocks and not others)


def readings(evidence: Evidence, columns: Sequence[str], key: str = "order") -> list[Reading]:
    """Return how a column, a date and a time of day, or an expression may be read, those that read most rows first."""
    sql = evidence.judged(columns[0], key)
    kind = evidence.types.get(columns[0]) or evidence.type_of(sql, key)
    first = f"(from {evidence.counting} where {_filled(sql, kind)} limit {_FIRST})"
    between = rf"distinct regexp_replace({_as_text(sql, kind)}, '\w', '', 'g')"
    signs = {text for (text,) in evidence.ask(between, rows=first)}
    some = [*(_with_clock(evidence, *columns) if columns[1:] else _ways(columns[0], sql, kind, signs))]
    tried = evidence.ask(", ".join(f"count({reading.test})" for reading in some), rows=first)[0] if some else ()
    return _counted(evidence, [reading for reading, rows in zip(some, tried, strict=True) if rows], _filled(sql, kind))


def _ways(plain: str, sql: str, kind: str, signs: set[str]) -> Iterator[Reading]:
    """Yield how a column of a type may be read, whose first texts have these `signs` between their letters."""
    if kind in CLOCKS | MOMENTS:
        yield Reading(plain, TIMES if kind in CLOCKS else INSTANTS, "", sql)
        return
    text = _as_text(sql, kind)
    for is_of, form, way in _FORMS:
        tried, guard = way.replace("cast(", "try_cast(").format(text), ""
        if way == "{}":
            tried = f"try_cast({text} AS {_TYPES[is_of]})"
            if is_of == INSTANTS:  # a cast to a moment, even in a CASE, is refused where one text has no offset
                guard = f"regexp_full_match({text}, {literal(form.replace(_YEAR, _LIKELY_YEAR, 1))})"
        yield Reading(plain if way == "{}" else way.format(sql), is_of, form, _if(text, form, tried), guard=guard)
    for form in (form for form in FORMATS if "%z" in form or re.sub(r"%.|\w", "", form) in signs):
        read = f"strptime({text}, {literal(form)})"
        yield Reading(read, INSTANTS if "%z" in form else TIMES, form, f"try_{read}")


def _with_clock(evidence: Evidence, day: str, clock: str) -> Iterator[Reading]:
    """Yield a date and a time of day, which may be 24:00 or later."""
    time = _as_text(identifier(clock), evidence.types[clock])
    for reading in readings(evidence, (day,)):
        if reading.kind == TIMES and not re.search("%[HI]", reading.sql):
            start = f"cast({identifier(day)} AS timestamp)" if reading.sql == day else reading.sql
            late = _if(time, _CLOCK, f"try_cast({time} AS interval)")
            yield Reading(f"{start} + cast({time} AS interval)", TIMES, reading.form, f"{reading.test} + {late}")


def _counted(evidence: Evidence, some: Iterable[Reading], filled: str) -> list[Reading]:
    """Return readings with how many rows they read, without those that say the same as another."""
    some = [*some]
    values = [f"count(*) filter ({filled})"]
    for reading in some:
        inside = f"filter ({filled} and {reading.condition})"
        is_time = reading.kind in (TIMES, INSTANTS)
        ends = (f"cast({end}({reading.test}) {inside} AS date)" if is_time else "null" for end in ("min", "max"))
        values += [f"count(*) {inside}", *ends]
    there, *answer = evidence.count(*values)
    counted = list[Reading]()
    for reading, rows, first, last in zip(some, answer[::3], answer[1::3], answer[2::3], strict=True):
        words = f"{reading.kind}, {first} to {last}" if first else reading.words or reading.kind
        counted.append(replace(reading, words=words, rows=rows, there=there))
    apart = list[Reading]()
    for reading in sorted(counted, key=lambda reading: -reading.rows):
        twins = [other for other in apart if (other.kind, other.rows) == (reading.kind, reading.rows)]
        tests = [f"count(*) filter ({filled} and {other.test} is distinct from {reading.test})" for other in twins]
        if reading.rows and (not tests or all(evidence.count(*tests))):
            apart.append(reading)
    return apart


def _filled(sql: str, kind: str) -> str:
    return f"{sql} is not null" + (f" and {sql} <> ''" if kind == "VARCHAR" else "")


def _if(text: str, form: str, value: str) -> str:
    return f"CASE WHEN regexp_full_match({text}, {literal(form)}) THEN {value} END"


def _as_text(sql: str, kind: str) -> str:
    return sql if kind == "VARCHAR" else f"cast({sql} AS varchar)"


def names_in(evidence: Evidence, column: str) -> tuple[str, int]:
    """Return how a column of names is read, and how many rows the reader would refuse as they are."""
    kind = evidence.types[column]
    if kind in WHOLE | {"UUID", "ENUM"}:
        return column, 0
    text = _as_text(identifier(column), kind)
    ways = (text, f"trim({text})", rf"regexp_replace(trim({text}), '^(-?\d{{1,15}})[.]0+$', '\1')")
    blanks, numbers = literal(BLANK_EDGES), literal(WITH_POINT)
    are_odd = (f"regexp_matches({way}, {blanks}) or regexp_full_match({way}, {numbers})" for way in ways)
    odd = evidence.count(*(f"count(*) filter ({is_odd})" for is_odd in are_odd))
    # names that lost their last digits
    if 0 not in odd:
        raise InputError(
            f"{column[:80]!r} holds numbers with a point or an exponent",
            rule="names are texts or whole numbers: of two names with 16 digits one number may be left",
            fix="export the column as texts, or name another one",
        ).at("unit")
    way = ways[odd.index(0)]
    return column if way == identifier(column) else way, odd[0]


@dataclass(frozen=True)
class Value:
    """How a column is published: `said` without words for nothing, of which `missing` rows are; `ways` read numbers."""

    said: str
    ways: tuple[Reading, ...]
    is_measured: bool
    missing: int
    words: tuple[str, ...] = ()


def value_of(evidence: Evidence, column: str) -> Value:
    """Return how a column of states or numbers is read; two ways where a comma or a point may be two things."""
    sql, kind = evidence.judged(column, "value"), evidence.types.get(column, "")
    if kind != "VARCHAR":
        missing, number = evidence.count(f"count(*) filter ({sql} is null)", f"count(distinct {sql})")
        kind = evidence.type_of(sql, "value")
        return Value(column, (), has_point(kind) or (kind in WHOLE and number > MOST_STATES), missing)
    listed = f"({', '.join(map(literal, MISSING))})"
    is_said = f"{sql} <> '' and trim({sql}) not in {listed}"
    words = sorted(word for (word,) in evidence.ask(f"distinct trim({sql})", f"trim({sql}) in {listed}"))
    there, different, signs = evidence.count(
        f"count(*) filter ({is_said})", f"count(distinct {sql}) filter ({is_said})",
        f"count(*) filter ({is_said} and regexp_matches({sql}, '[.,]'))",
    )  # fmt: skip
    said = f"CASE WHEN trim({sql}) NOT IN ({', '.join(map(literal, words))}) THEN {sql} END" if words else sql
    some = list[Reading]()
    for how, form, way in _DECIMALS:
        tried = _if(f"trim({sql})", form, way.replace("cast(", "try_cast(").format(sql))
        some.append(Reading(way.format(said), "decimals", form, tried, how))
    ways = tuple(way for way in _counted(evidence, some, is_said) if way.is_full)
    is_measured = bool(ways) and (different > MOST_STATES or signs > 0)
    if len(ways) == 1 and ways[0].form == _DECIMALS[0][1]:
        ways = ()  # the reader takes numbers with a point
    missing = evidence.size - there
    return Value(said if words else column, ways if is_measured else (), is_measured, missing, tuple(words))

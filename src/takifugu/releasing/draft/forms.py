"""How texts may be read as times, numbers and names: each form is counted over all rows, and one that fits all is SQL.

A form fits if it reads every text, to a time of 1900 to 2099. Two that fit, and read something else, are a question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from takifugu.core.errors import InputError
from takifugu.data.relation.types import CLOCKS, ISO, MOMENTS, OFFSET, WHOLE
from takifugu.data.relation.words import identifier, literal
from takifugu.releasing.draft.evidence import Evidence

_DAYS = (
    "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y",
    "%m-%d-%y", "%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%y-%m-%d", "%y/%m/%d", "%y.%m.%d", "%Y%m%d",
    "%d%b%Y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%a %b %d %Y",
)  # fmt: skip
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %H.%M", " %H%M", " %H")
_BETWEEN = (" ", "T", ":", ", ")
_OTHERS = ("%Y%m%d%H", "%Y%m%d%H%M", "%Y%m%d%H%M%S", "%Y%m%dT%H%M%S", "%H:%M %d.%m.%Y", "%d/%b/%Y:%H:%M:%S %z",
           "%Y-%m-%d %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z", "%d.%m.%Y %H:%M:%S %z")  # fmt: skip
FORMATS = (*(d + b.join(c.split(" ", 1)) for d in _DAYS for c in _CLOCKS for b in (_BETWEEN if c else " ")), *_OTHERS)
#: What the parts of a format look like.
_PARTS = {"Y": r"\d{4}", "y": r"\d\d", "b": "[A-Za-z]{3}", "a": "[A-Za-z]{3}", "B": "[A-Za-z]{3,9}", "f": r"\d{1,9}",
          "p": "[AaPp][Mm]", "z": r"[+-]\d\d:?\d\d"}  # fmt: skip
#: Whole numbers since 1970, as microseconds: of seconds, milliseconds, microseconds and nanoseconds, 1973 to 2099.
_SINCE_1970 = ((10**8, "{} * 1000000"), (10**11, "{} * 1000"), (10**14, "{}"), (10**17, "{} // 1000"))
_CLOCK = r"\d{1,2}[:.]\d\d([:.]\d\d)?( ?[AaPp][Mm])?"
#: So many texts tell which forms are counted over all rows.
_FIRST = 200
NUMBERS, TIMES, INSTANTS = "numbers", "clocks", "moments"
#: Words for a value that was not recorded.
MISSING = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "-", ".", "k.A.")
#: A column of more numbers is measured.
MOST_STATES = 12
_EDGE = r"^[\p{Z}\p{Cc}]+|[\p{Z}\p{Cc}]+$"


@dataclass(frozen=True)
class Reading:
    """A way to read a column: as SQL, as clocks, moments or numbers, with its first and last day and its rows.

    `form` is what its texts look like, and `test` the SQL that gives NULL for others. It reads `rows` of the texts
    that are `there`.
    """

    sql: str
    kind: str
    form: str
    test: str
    first: str = ""
    last: str = ""
    rows: int = 0
    there: int = 0

    @property
    def is_full(self) -> bool:
        """Return whether it reads every text."""
        return self.rows == self.there > 0

    @property
    def words(self) -> str:
        """Return its kind and days."""
        return f"{self.kind}, {self.first} to {self.last}" if self.first else self.kind

    def fits(self, kind: str | None) -> bool:
        """Return whether it is of times, or of numbers; any is if that is not known."""
        return kind is None or (self.kind == NUMBERS) == (kind == NUMBERS)


def is_clock(evidence: Evidence, column: str) -> bool:
    """Return whether a column holds times of day alone."""
    text, kind = identifier(column), evidence.types[column]
    test = f"count(*) filter ({text} <> '' and not regexp_full_match({text}, '{_CLOCK}')), count({text})"
    return kind == "TIME" or (kind == "VARCHAR" and evidence.count(test)[0] == 0 < evidence.count(test)[1])


def pair(evidence: Evidence, day: str, clock: str) -> str:
    """Return the SQL of a date and a time of day."""
    both = [(identifier(name), evidence.types[name]) for name in (day, clock)]
    if [kind for _, kind in both] == ["DATE", "TIME"]:
        return f"{both[0][0]} + {both[1][0]}"
    return " || ' ' || ".join(_as_text(*one) for one in both)


def readings(evidence: Evidence, columns: Sequence[str], key: str = "order") -> list[Reading]:
    """Return how a column, a date and a time of day, or an expression may be read, those that read most rows first."""
    known: list[Reading] | None = evidence.known.get(place := (evidence.counting, *columns))
    if known is not None:
        return known
    text = columns[0] if len(columns) == 1 else pair(evidence, *columns)
    sql = evidence.judged(text, key) if len(columns) == 1 else text
    kind = evidence.type_of(sql, key)
    filled = f"{sql} is not null" + (f" and {sql} <> ''" if kind == "VARCHAR" else "")
    some = [*_candidates(text, sql, kind)]
    if len(columns) == 2 and evidence.types[columns[1]] == "VARCHAR":
        some += _past_midnight(evidence, *columns)
    if kind not in CLOCKS | MOMENTS:
        first = evidence.ask(_as_text(sql, kind), f"{filled} limit {_FIRST}")
        shapes = Counter(re.sub(r"\d", "0", text) for (text,) in first)
        some = [r for r in some if 2 * sum(n for t, n in shapes.items() if _looks(r.form).fullmatch(t)) > len(first)]
    values = [f"count(*) filter ({filled})"]
    for reading in some:
        ends = [f"cast({end}({reading.test}) filter ({filled}) AS date)" for end in ("min", "max")]
        values += [f"count({reading.test}) filter ({filled})", *(["null"] * 2 if reading.kind == NUMBERS else ends)]
    there, *answer = evidence.count(*values)
    counted = list[Reading]()
    for reading, rows, *days in zip(some, answer[::3], answer[1::3], answer[2::3], strict=True):
        first_day, last_day = ("" if day is None else str(day) for day in days)
        counted.append(replace(reading, first=first_day, last=last_day, rows=rows, there=there))
    apart = list[Reading]()
    for reading in sorted(counted, key=lambda reading: -reading.rows):  # without those that say the same as another
        twins = [other for other in apart if (other.kind, other.rows) == (reading.kind, reading.rows)]
        tests = [f"count(*) filter ({filled} and {other.test} is distinct from {reading.test})" for other in twins]
        if reading.rows and (not tests or all(evidence.count(*tests))):
            apart.append(reading)
    evidence.known[place] = apart
    return apart


def _candidates(plain: str, sql: str, kind: str) -> Iterator[Reading]:
    """Yield how a column of a type may be read."""
    text = _as_text(sql, kind)
    if kind in CLOCKS | MOMENTS:
        yield Reading(plain, TIMES if kind in CLOCKS else INSTANTS, "", _in_time(sql))
    if kind == "VARCHAR":
        yield Reading(plain, TIMES, ISO, _if(text, ISO, _in_time(f"try_cast({text} AS timestamp)")))
        offset = ISO + OFFSET
        yield Reading(plain, INSTANTS, offset, _if(text, offset, _in_time(f"try_cast({text} AS timestamptz)")))
        form, month = r"\d{4}-\d\d", f"cast({text} || '-01' AS date))"
        months = "datediff('month', DATE '2000-01-01', "
        yield Reading(months + month, NUMBERS, form, _if(text, form, f"{months}try_{month}"))
    if kind == "VARCHAR" or kind in WHOLE:
        number = f"try_cast({text} AS bigint)"
        yield Reading(plain, NUMBERS, "-?[0-9]{1,15}", _if(text, "-?[0-9]{1,15}", number))
        for start, count in _SINCE_1970:
            read = "make_timestamptz(" + count.format(f"cast({sql} AS bigint)") + ")"
            inside = f"{number} BETWEEN {start} AND {41 * start}"
            tried = f"CASE WHEN {inside} THEN make_timestamptz({count.format(number)}) END"
            yield Reading(read, INSTANTS, "[0-9]{9,19}", _if(text, "[0-9]{9,19}", tried))
        inside = f"{number} BETWEEN 36526 AND 73050"  # Excel's days of 2000 to 2099
        tried = f"CASE WHEN {inside} THEN DATE '1899-12-30' + try_cast({text} AS integer) END"
        yield Reading(f"DATE '1899-12-30' + cast({sql} AS integer)", TIMES, "[0-9]{5}", _if(text, "[0-9]{5}", tried))
        for written in FORMATS:
            read = f"strptime({text}, {literal(written)})"
            yield Reading(read, INSTANTS if "%z" in written else TIMES, written, _in_time(f"try_{read}"))
    if kind == "DOUBLE":
        whole = f"cast({sql} AS bigint)"
        yield Reading(whole, NUMBERS, r"-?\d+[.]0", f"CASE WHEN {sql} % 1 = 0 AND abs({sql}) < 1e15 THEN {whole} END")
    if kind in ("VARCHAR", "DOUBLE"):
        form, exact = r"\d{9,10}[.]\d{1,9}", f"cast({sql} AS decimal(20, 6))"
        tried = f"CASE WHEN try_{exact} < 4.1e9 THEN make_timestamptz(cast(try_{exact} * 1000000 AS bigint)) END"
        yield Reading(f"make_timestamptz(cast({exact} * 1000000 AS bigint))", INSTANTS, form, _if(text, form, tried))


def _past_midnight(evidence: Evidence, day: str, clock: str) -> Iterator[Reading]:
    """Yield a date and a time of day, which may be 24:00 or later."""
    time = identifier(clock)
    for reading in _candidates(day, identifier(day), evidence.types[day]):
        if reading.kind == TIMES and "%H" not in reading.sql and "%I" not in reading.sql:
            start = f"cast({identifier(day)} AS timestamp)" if reading.sql == day else reading.sql
            late = _if(time, r"\d{1,2}:\d\d(:\d\d)?", f"try_cast({time} AS interval)")
            form = f"{reading.form or ISO} " + ("%H:%M(:%S)?" if "%" in reading.form else r"\d+:\d\d(:\d\d)?")
            yield Reading(f"{start} + cast({time} AS interval)", TIMES, form, f"{reading.test} + {late}")


@cache
def _looks(form: str) -> re.Pattern[str]:
    """Return what texts of a form look like, 0 for each digit."""
    parts = re.sub(r"[.]", "[.]", form) if "%" in form else form
    return re.compile(re.sub("%(.)", lambda part: _PARTS.get(part[1], r"\d{1,2}"), parts))


def _if(text: str, form: str, value: str) -> str:
    return f"CASE WHEN regexp_full_match({text}, {literal(form)}) THEN {value} END"


def _in_time(value: str) -> str:
    """Return a time, NULL outside 1900 to 2099."""
    return f"CASE WHEN year({value}) BETWEEN 1900 AND 2099 THEN {value} END"


def _as_text(sql: str, kind: str) -> str:
    return sql if kind == "VARCHAR" else f"cast({sql} AS varchar)"


def name_of(evidence: Evidence, column: str) -> str:
    """Return how a column of names is read: as it is, without blanks around, or without .0.

    Raises InputError for names that lost their last digits.
    """
    sql, kind = identifier(column), evidence.types[column]
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        odd = evidence.count(f"count(*) filter ({sql} % 1 <> 0 or abs({sql}) >= 9007199254740992)")[0]
        if odd:
            raise _lost(column)
        return f"cast({sql} AS bigint)"
    if kind != "VARCHAR":
        return column if kind in WHOLE | {"UUID", "ENUM"} else f"cast({sql} AS varchar)"
    blanks, controls, points, powers, others = evidence.count(
        f"count(*) filter (regexp_matches({sql}, '{_EDGE}'))",
        f"count(*) filter (regexp_matches(trim({sql}), '{_EDGE}'))",
        f"count(*) filter (regexp_full_match(trim({sql}), '-?[0-9]+[.]0+'))",
        f"count(*) filter (regexp_full_match(trim({sql}), '[+-]?[0-9]+([.][0-9]*)?[eE][+-]?[0-9]+'))",
        f"count(*) filter (regexp_full_match(trim({sql}), '[+-]?[0-9]*[.][0-9]*[1-9][0-9]*'))",
    )
    if powers or (points and others):
        raise _lost(column)
    read = column
    if blanks:
        read = f"trim({sql})"
        if controls:
            read = f"regexp_replace({sql}, '{_EDGE}', '', 'g')"
    if points:
        read = f"regexp_replace({sql if read == column else read}, '[.]0+$', '')"
    return read


def _lost(column: str) -> InputError:
    return InputError(
        f"{column[:80]!r} holds numbers with a point or an exponent",
        rule="names are texts or whole numbers: of two names with 16 digits one number may be left",
        fix="export the column as texts, or name another one",
    ).at("unit")


@dataclass(frozen=True)
class Value:
    """How a column is published: the SQL that may read it, if it is measured, and how many rows say nothing."""

    sqls: tuple[str, ...]
    is_measured: bool
    missing: int
    words: tuple[str, ...] = ()


def value_of(evidence: Evidence, column: str) -> Value:
    """Return how a column of states or numbers is read; two ways where a comma or a point may be two things."""
    sql, kind = identifier(column), evidence.types.get(column, "")
    if kind != "VARCHAR":
        sql = evidence.judged(column, "value")
        missing, number = evidence.count(f"count(*) filter ({sql} is null)", f"count(distinct {sql})")
        kind = evidence.type_of(sql, "value")
        has_point = kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL")
        return Value((column,), has_point or (kind in WHOLE and number > MOST_STATES), missing)
    is_said = f"{sql} <> '' and trim({sql}) not in ({', '.join(map(literal, MISSING))})"

    def written(form: str) -> str:
        return f"count(*) filter ({is_said} and regexp_full_match(trim({sql}), {literal(form)}))"

    there, plain, comma, thousands, odd_points, different, signs, blanks, *words = evidence.count(
        f"count(*) filter ({is_said})",
        f"count(*) filter ({is_said} and try_cast({sql} AS double) is not null)",
        written(r"[+-]?(\d{1,3}([.]\d{3})*|\d+)(,\d+)?"),
        written(r"[+-]?(\d{1,3}(,\d{3})*|\d+)([.]\d+)?"),
        written(r"[+-]?[1-9]\d{0,2}([.]\d{3})+"),
        f"count(distinct {sql}) filter ({is_said})",
        f"count(*) filter ({is_said} and regexp_matches({sql}, '[.,]'))",
        f"count(*) filter (regexp_matches({sql}, '{_EDGE}'))",
        *(f"count(*) filter (trim({sql}) = {literal(word)})" for word in MISSING),
    )
    some = tuple(word for word, number in zip(MISSING, words, strict=True) if number)
    missing = evidence.size - there
    of_comma = f"try_cast(replace(replace({sql}, '.', ''), ',', '.') AS double)".replace("try_cast", "cast")
    of_thousands = f"cast(replace({sql}, ',', '') AS double)"
    ways = [column] if plain == there else []
    if comma == there and (plain < there or odd_points == signs > 0):
        ways.append(of_comma)
    if thousands == there > plain:
        ways.append(of_thousands)
    if ways and there and (different > MOST_STATES or signs):
        return Value(tuple(ways), True, missing, some)
    return Value((f"trim({sql})" if blanks else column,), False, missing, some)


def without(sql: str, words: Sequence[str], columns: Sequence[str]) -> str:
    """Return a value without the words for a missing one.

    >>> without("a b", ["NA"], ["a b"])
    'nullif("a b", \\'NA\\')'
    """
    column = next((name for name in columns if sql == name or identifier(name) in sql), None)
    if column is None or not words:
        return sql
    inner = identifier(column)
    for word in words:
        inner = f"nullif({inner}, {literal(word)})"
    return inner if sql == column else re.sub(re.escape(identifier(column)), lambda _: inner, sql, count=1)

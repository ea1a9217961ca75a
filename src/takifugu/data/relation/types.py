"""What a column may be by its type, and how its values become integers in SQL; nothing is repaired.

Each row becomes its unit, recording, `code` (the number of its state), `tick` (microseconds, of clocks as written or of
moments in UTC, or a whole number), `stop`, and `why`: one bit for each rule that it breaks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError, gathered, raise_gathered
from takifugu.core.plain import toml_of
from takifugu.data.relation.keys import STEPS, Column
from takifugu.data.relation.lost_states import refuse_lost_states
from takifugu.data.relation.roles import SOURCE, Opened
from takifugu.data.sql.clocks import CLOCKS, ISO, MOMENTS, OFFSET, WHOLE, has_point
from takifugu.data.sql.faults import BIT, wrong_data, wrong_key
from takifugu.data.sql.words import double, folded, identifier, is_missing, literal, number_of, toml_line
from takifugu.data.values.bins import Bins, Classes, Known, Listed
from takifugu.data.values.texts import MISSING, UNBINNED, UNKNOWN

#: Types of names, and of states.
NAMES = WHOLE | {"VARCHAR", "UUID", "ENUM"}
STATES = NAMES | {"BOOLEAN"}
#: More states are looked up in an ENUM, which then takes less time than a comparison with each.
MOST_CASES = 30
#: The rows as integers, where they are kept.
INTEGERS = '"takifugu rows"'
#: Further codes: of a text that is no number, of NaN, and of a row that does not count.
UNREAD, UNMEASURED, LEFT_OUT = -4, -5, -6
#: Codes of a coordinate that is no number, and of a longitude and a latitude beyond all; what is wrong by each code.
NO_COORDINATE, NO_DEGREES = -3, (-4, -5)
FAULTS_OF_PLACES = dict(zip(
    (MISSING, UNKNOWN, NO_COORDINATE, *NO_DEGREES),
    ("no place", "elsewhere", "no coordinate", "no longitude", "no latitude"), strict=True,
))  # fmt: skip
ZONE = 'timezone = "Europe/Berlin"; or "UTC" if clocks there show that'
LEAVE_OUT = "or leave timezone out: steps are then those of clocks"
#: The first and the last moment that is no mistake.
FIRST, LAST = -2_208_988_800_000_000, 4_102_444_800_000_000
#: From here on a whole number is no place of a row.
FARTHEST = 2**53
CONTROLS = (
    r"[\x{00}-\x{1f}\x{7f}-\x{9f}\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{fff9}-\x{fffb}]"
)
#: Names that another export would write otherwise: with blanks around, a point or an exponent.
BLANK_EDGES = r"^[\p{Z}\p{Cc}]|[\p{Z}\p{Cc}]$"
WITH_POINT = r"[+-]?\d+[.]\d*([eE][+-]?\d+)?|[+-]?\d+[eE][+-]?\d+"
#: How an object or a list of JSON begins, and a struct of DuckDB's as a text; {3F25-...} is a name.
_FIELDS = r"""^[{\[]\s*["'{\[]"""


def check_types(opened: Opened) -> None:
    """Raise InputError (SpecError for several) for a column of another type; no row is read."""
    faults = list[TakifuguError]()
    for role, check in (("unit", _check_name), ("recording", _check_name), ("order", _check_order),
                        ("end", _check_order)):  # fmt: skip
        if role in opened.roles:
            with gathered(faults):
                check(opened, role)
    with gathered(faults):
        if opened.source.rows == "visits":
            _check_place(opened)
        for number, rule in enumerate(opened.source.rules):
            if rule or opened.source.rows in STEPS:  # else they are numbers, which are summed
                check_value(opened, f"value{number}", rule)
        _refuse_lost(opened)
    raise_gathered(faults)


def _check_name(opened: Opened, role: str) -> None:
    kind, column = opened.type(role), opened.words()[role]
    if has_point(kind):
        rule = "names are texts or whole numbers: 7 and 7.0 are one person, and two of 16 digits may be one number"
        fix = _as_whole(opened, column, toml_line(role, f"cast({column} AS bigint)"))
        raise wrong_key(role, f"{role} holds numbers with a point ({kind})", rule, fix)
    if kind not in NAMES:
        fix = toml_line(role, f"cast({column} AS varchar)")
        if kind == "STRUCT":
            fix = toml_line(role, f"struct_extract({column}, 'id')") + ", with the field that names somebody"
        raise wrong_key(role, f"{role} holds {kind}", "names are texts or whole numbers", fix)


def _as_whole(opened: Opened, column: str, line: str) -> str:
    """Return the line that makes numbers whole; pandas makes whole ones floats where one is missing."""
    is_of_frame = opened.kind == "frame" and column in map(identifier, opened.relation.types)
    return f"frame = frame.astype({{{column}: 'Int64'}}) in pandas; or {line}" if is_of_frame else line


def _check_order(opened: Opened, role: str) -> None:
    kind, column, zone = opened.type(role), opened.words()[role], opened.source.timezone
    if not opened.source.is_time:
        if has_point(kind):
            fix = _as_whole(opened, column, toml_line(role, f"cast({column} AS bigint)"))
            raise wrong_key(role, f"{role} holds numbers with a point ({kind})", "step is a whole number", fix)
        if kind not in WHOLE | {"VARCHAR"}:
            what = f"{role} holds {kind}, and step is a number"
            raise wrong_key("step", what, "they are of one kind", 'step = "1min"')
    elif kind in MOMENTS and zone is None:
        what = f"{role} holds moments (times with an offset from UTC), and no timezone is declared"
        raise wrong_key("timezone", what, "hours and days are those of clocks somewhere", ZONE)
    elif kind in CLOCKS and zone is not None:
        what = f"{role} holds what clocks showed ({kind}), and timezone is declared"
        line = toml_line(role, f"({column} AT TIME ZONE '{zone}')")
        fix = f"{line} (the later of two; skipped ones are moved); {LEAVE_OUT}"
        raise wrong_key("timezone", what, "which of two equal times in autumn was meant is not told", fix)
    elif kind in WHOLE or has_point(kind):
        fix = toml_line(role, f"to_timestamp({column})") + ", of seconds since 1970"
        raise wrong_key(role, f"{role} holds numbers, and step is a time", "times are written as such", fix)
    elif kind not in CLOCKS | MOMENTS | {"VARCHAR"}:
        raise wrong_key(role, f"{role} holds {kind}", "a time has its day", toml_line(role, f"day + {column}"))


def _refuse_lost(opened: Opened) -> None:
    """Raise InputError for values that lose what is declared of them; they are tried once."""
    rules, may_miss = opened.source.rules, opened.source.may_miss

    def refuse() -> None:
        has_missing = opened.source.nulls == "unobserved"
        columns = list[tuple[str, int]]()
        for number, _ in enumerate(rules):
            columns += [(folded(name), number) for _, name in opened.roles[f"value{number}"].cells]
        for number, rule in enumerate(rules):
            if way := opened.computed[f"value{number}"]:
                of_others = {column: rules[other] for column, other in columns if other != number}
                misses = bool(may_miss) and may_miss[number]
                refuse_lost_states(opened.relation.connection, way, rule, has_missing, misses, of_others)

    cached(opened, "lost states", refuse)


def check_value(opened: Opened, role: str, known: Known) -> None:
    """Raise InputError for a value of another type than its states, bins or classes are."""
    kind, column, values = opened.type(role), opened.words()[role], opened.source.values
    name, rule = "value", "states are texts, whole numbers, or true and false"
    if len(values) > 1:
        name = f"column {column}"
    if isinstance(known, Bins | Classes):
        if not has_point(kind) and kind not in WHOLE | {"VARCHAR"}:
            raise wrong_key("bins", f"{name} holds {kind}", "bins are of numbers", "leave bins out")
    elif has_point(kind):
        line = _as_whole(opened, column, value_line(opened, role, f"cast({column} AS bigint)"))
        ends = [*range(0, 10 * len(known), 10), math.inf]
        bins = toml_of(dict(zip(known, pairwise(ends), strict=True)))
        if len(values) > 1:
            bins = f"{{ {column} = {bins} }}"
        raise wrong_key("value", f"{name} holds numbers with a point ({kind})", rule, f"bins = {bins}; or {line}")
    elif kind not in STATES:
        raise wrong_key("value", f"{name} holds {kind}", rule, value_line(opened, role, f"cast({column} AS varchar)"))


def value_line(opened: Opened, role: str, sql: str) -> str:
    """Return the line of [source] that computes a value: by its key, or in SQL where the belief names its column."""
    source = opened.source
    text = source.values[int(role.removeprefix("value"))]
    if isinstance(text, Column):
        line = toml_of(f"SELECT * REPLACE ({sql} AS {identifier(text)}) FROM {opened.rows_read}")
        return f"sql = {line}{opened.instead}"
    if len(source.values) > 1:
        return f"{toml_of(sql)} in place of {toml_of(text)} in value"
    return f"value = {toml_of(sql)}"


def _check_place(opened: Opened) -> None:
    """Check the name of a place, or both coordinates."""
    values = opened.source.values
    for number, text in enumerate(values):
        kind = opened.type(f"value{number}")
        if len(values) == 2 and not has_point(kind) and kind not in WHOLE | {"VARCHAR"}:
            what = f"{text[:80]!r} holds {kind}"
            raise wrong_key("value", what, "a coordinate is a number", 'value = ["lon", "lat"], with numbers')
        if len(values) == 1 and kind not in STATES:
            what, fix = f"value holds {kind}", toml_line("value", f"cast({opened.words()['value']} AS varchar)")
            raise wrong_key("value", what, "a place is a text or a whole number; two coordinates are two columns", fix)


def refuse_mixed_times(opened: Opened, role: str) -> None:
    """Raise DataError if offsets are what is wrong with a column of texts."""
    zone, column = opened.source.timezone, opened.words()[role]
    other = ISO if zone is not None else ISO + OFFSET
    some, texts = opened.relation.rows(
        f"select count(*) filter (regexp_full_match({identifier(role)}, {literal(other)})), "
        f"count(nullif({identifier(role)}, '')) from {identifier(SOURCE)}"
    )[0]
    words = "" if some == texts else "some "
    if some and zone is None:
        what = f"{role} holds {words}moments (times with an offset from UTC, or Z), and no timezone is declared"
        rule, fix = "hours and days are those of clocks somewhere, and a column has one kind of time", ZONE
        raise wrong_data("timezone", what, rule, _two_kinds(role, column, "Europe/Berlin") if words else fix)
    if some:
        what = f"{role} holds {words}times without an offset from UTC, and timezone is declared"
        fix = toml_line(role, f"({column}::timestamp AT TIME ZONE '{zone}')") + f"; {LEAVE_OUT}"
        rule = "which of two equal times in autumn was meant is not told"
        raise wrong_data("timezone", what, rule, _two_kinds(role, column, str(zone)) if words else fix)


def _two_kinds(role: str, column: str, zone: str) -> str:
    """Return the line that makes moments of clocks and moments: a cast would drop the offsets of some."""
    form = "'%Y-%m-%dT%H:%M:%S"
    moments, clocks = f"strptime({column}, {form}%z')", f"strptime({column}, {form}') AT TIME ZONE '{zone}'"
    sql = f"CASE WHEN regexp_matches({column}, ':.*[+-]') THEN {moments} ELSE {clocks} END"
    return f"{toml_line(role, sql)}, with your formats, and timezone = \"{zone}\""


def keep_rows(opened: Opened) -> None:
    """Keep the rows as integers from the second reading on: a year of windows parses its file twice."""
    relation = opened.relation
    relation.readings += 1
    if relation.readings == 2:
        relation.rows(f"create temp table {INTEGERS} as {rows_sql(opened)}")
        relation.has_integers = True


def rows_sql(opened: Opened, more: str = "") -> str:
    """Return the SELECT of every row as integers, by the types of its columns."""
    # `more` are other bits of a row; of visits it is the number of a row's place, or a code of what is wrong with it
    if opened.relation.has_integers and not more:
        return f"select * from {INTEGERS}"
    source, roles = opened.source, opened.roles
    columns, listed, why = ['"row"'], ["unit", "recording", '"row"'], list[str]()
    for role in ("unit", "recording"):
        columns.append(f"{role}::varchar as {role}" if role in roles else f"'' as {role}")
    if "where" in roles:
        columns.append('"where" is null as undecided')
    if more and source.rows == "visits":
        columns.append(f"{more} as place")
        listed.append("place")
        why.append(why_of("place", FAULTS_OF_PLACES))
    elif more:
        columns.append(f"{more} as more")
        why.append("more")
    if source.rows not in ("answers", "visits"):
        code = code_sql(opened)
        if opened.keeps_left_out:
            code = f'case when "where" then {code} else {LEFT_OUT} end'
        columns.append(f"{code} as code")
        listed.append("code")
        why.append(why_of("code", faults_of_codes(source.nulls == "refuse")))
    for role, name, year in (("order", "tick", "year"), ("end", "stop", "end year")):
        if role not in roles:
            continue
        tick, wrong = tick_sql(opened, role)
        columns += [f"{tick} as {name}", f"{wrong} as {name}_wrong"]
        listed.append(name)
        why.append(f"{name}_wrong")
        if source.is_time:
            is_likely = f"{name} >= {FIRST} and {name} < {LAST}"
            why.append(f"case when {is_likely} then 0 when {name} is null then 0 else {BIT[year]} end")
    if "end" in roles:
        why.append(f"coalesce((stop < tick)::bigint, 0) * {BIT['backwards']}")
    inner, bits = f"select {', '.join(columns)} from {identifier(SOURCE)}", " + ".join(why) or "0::bigint"
    if "where" in roles:  # what else is wrong with a row counts where it does
        bits = f"case when undecided then {BIT['where unknown']} else {bits} end"
    return f"select {', '.join(listed)}, {bits} as why from ({inner})"


def missing_why(role: str) -> str:
    """Return the bit of a name that is missing."""
    return f"{is_missing(role, 'VARCHAR')}::bigint * {BIT['no ' + role]}"


def faults_of_codes(is_refused: bool) -> dict[int, str]:
    """Return what is wrong with a value, by its code; `is_refused` says that one may not be missing."""
    faults = {UNKNOWN: "unknown state", UNBINNED: "no bin", UNREAD: "no number", UNMEASURED: "no measurement"}
    return faults | ({MISSING: "no value"} if is_refused else {})


def why_of(code: str, faults: Mapping[int, str]) -> str:
    """Return the bit of what is wrong by a code."""
    cases = " ".join(f"when {some} then {BIT[cause]}" for some, cause in faults.items())
    return f"case when {code} >= 0 then 0 else case {code} {cases} else 0 end end"


def control_why(role: str) -> str:
    """Return the bit of a name that holds what a terminal, a table or a page would obey (`is_printable`)."""
    is_hostile = f"regexp_matches({identifier(role)}::varchar, {literal(CONTROLS)})"
    return f"coalesce({is_hostile}::bigint, 0) * {BIT['control character']}"


def name_why(opened: Opened) -> str:
    """Return the bits of names that are missing or hostile, or that another export would write otherwise."""
    name, parts = "unit", [missing_why(role) for role in ("unit", "recording") if role in opened.roles]
    if "recording" in opened.roles:
        parts.append(control_why("recording"))
    why = " | ".join(["0::bigint", *parts])
    if opened.type("unit") in WHOLE | {"UUID", ""}:
        return f"({why})"
    return (
        f"({why} | {control_why(name)}) + "
        f"coalesce(regexp_matches({name}, {literal(BLANK_EDGES)})::bigint, 0) * {BIT['blanks around']} + "
        f"coalesce(regexp_full_match({name}, {literal(WITH_POINT)})::bigint, 0) * {BIT['number with a point']} + "
        f"coalesce(regexp_matches({name}, {literal(_FIELDS)})::bigint, 0) * {BIT['fields as a name']}"
    )


def state_of(known: Listed, code: int) -> str:
    """Return the state that a code of `code_sql` stands for."""
    return str(known.states[code]) if isinstance(known, Bins) else known[code]


def code_sql(opened: Opened, value: int = 0) -> str:
    """Return the number of a row's state, or of the bin or class that its number lies in."""
    column, known = f"value{value}", opened.source.rules[value]
    kind, name = opened.type(column), identifier(column)
    missing = is_missing(name, kind)
    if not isinstance(known, Bins | Classes):
        text = name if kind == "VARCHAR" else f"{name}::varchar"
        other, states = f"case when {missing} then {MISSING} else {UNKNOWN} end", [literal(str(one)) for one in known]
        if len(states) > MOST_CASES:
            return f"coalesce(enum_code(try_cast({text} as enum({', '.join(states)})))::int, {other})"
        cases = " ".join(f"when {state} then {number}" for number, state in enumerate(states))
        return f"case {text} {cases} else {other} end" if cases else other
    number = number_of(name, kind)
    if isinstance(known, Classes):
        cases = " ".join(f"when {number} < {double(end)} then {n}" for n, end in enumerate(known.ends))
        unread = f"when {number} is null then {UNREAD} when not isfinite({number}) then {known.missing}"
        return f"case when {missing} then {known.missing} {unread} {cases} else {len(known.ends)} end"
    edges, order = [float(edge) for edge in known.edges], opened.source.states or tuple(map(str, known.states))
    cases = ""
    for place, (state, low, high) in enumerate(zip(known.states, edges, edges[1:], strict=False)):
        # the last bin holds its upper edge
        sign = "<=" if place + 2 == len(edges) else "<"
        inside = f"{number} >= {double(low)} and {number} {sign} {double(high)}"
        cases += f"when {inside} then {order.index(str(state))} "
    unread = f"when {number} is null then {UNREAD} when isnan({number}) then {UNMEASURED}"
    return f"case when {missing} then {MISSING} {unread} {cases} else {UNBINNED} end"


def tick_sql(opened: Opened, role: str) -> tuple[str, str]:
    """Return the tick of an order column, and the bits of what is wrong with it."""
    name, kind, is_end = identifier(role), opened.type(role), role == "end"
    form, usual, cause = "", "", "no end time" if is_end else "no time"
    if kind in CLOCKS:
        tick = f"epoch_us({name}::timestamp)"
    elif kind in MOMENTS:
        tick = f"epoch_us({name}::timestamptz)"
    elif opened.source.is_time and opened.source.timezone is not None:
        tick, form = f"epoch_us(try_cast({name} as timestamptz))", ISO + OFFSET
    elif opened.source.is_time:
        clock, form = f"try_cast({name} as timestamp)", ISO
        tick, text = f"epoch_us({clock})", f"{clock}::varchar"
        usual = f"{tick} >= {FIRST} and {tick} < {LAST} and ({text} = {name} or replace({text}, ' ', 'T') = {name})"
    else:
        cause = "no whole end" if is_end else "no whole number"
        number = f"try_cast({name} as bigint)"
        tick = f"case when abs({number}) < {FARTHEST} then {number} end"
        if kind == "VARCHAR":
            form, usual = "-?[0-9]+", f"{tick}::varchar = {name}"
    other = f" or not regexp_full_match({name}, {literal(form)})" if form else ""
    usual = usual or ("" if form else f"{tick} is not null")
    missing, lacks = is_missing(name, kind), 0 if is_end else BIT["no order"]
    right = f"when {usual} then 0 " if usual else ""  # most texts are as DuckDB writes them, and need no pattern
    return tick, f"case {right}when {missing} then {lacks} when {tick} is null{other} then {BIT[cause]} else 0 end"

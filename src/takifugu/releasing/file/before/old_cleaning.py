"""Keys of before that cleaned rows, each as an expression over the columns, or a SELECT, that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.data.relation.tree import columns_in, expression
from takifugu.data.relation.words import identifier, literal, toml_line

Keys = Mapping[str, Any]
#: Moments that are numbers since 1970.
_EPOCHS = {
    "epoch": "to_timestamp(cast({} AS bigint))", "epoch_ms": "make_timestamptz(cast({} AS bigint) * 1000)"
}  # fmt: skip
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_SIGNS = {",", ";", "\t", "|"}
#: A file is one of many, or a folder.
_MANY = re.compile(r"[*?\[]|/$")


def column(name: str) -> str:
    """Return a column's name as an expression has it, in quotes where it needs them.

    >>> print(column("Datum"), column("end"), column("my column"))
    Datum "end" "my column"
    """
    try:
        if columns_in(expression(name, "value")) == [name] and name.isidentifier():
            return name
    except TakifuguError:
        pass
    return identifier(name)


def line_of(role: str, sql: str | list[str]) -> str:
    """Return the line of a role, whose value may be two coordinates."""
    return toml_line(role, sql) if isinstance(sql, str) else f"{role} = {toml_of(sql)}"


def expressions(source: Keys, states: Keys) -> dict[str, str | list[str]]:
    """Return the roles that keys of before change, each with its expression; `states` is belief.map."""
    roles: dict[str, str | list[str]] = {**_times(source), **_values(source, states)}
    unit = source.get("unit")
    if source.get("null_keys") == "drop":
        names = [name for name in (unit, source.get("recording", source.get("piece"))) if isinstance(name, str)]
        conditions = [f"{column(name)} IS NOT NULL" for name in names]
        roles["where"] = " AND ".join([*([f"({source['where']})"] if "where" in source else []), *conditions])
    for key in ("sheet", "table"):
        if key in source and "engine" not in source:
            roles["sql"] = f"from {column(source[key])}"
    return roles


def _times(source: Keys) -> dict[str, str]:
    """Return when rows are as expressions."""
    form, length, zone = source.get("order_format"), source.get("round_to"), source.get("timezone")
    is_local, roles = source.get("ambiguous") in ("first", "last", "drop") and zone is not None, dict[str, str]()
    for key in ("order", "end"):
        names = source.get(key)
        is_changed = form is not None or is_local or (length is not None and key == "order")
        if names is None or (isinstance(names, str) and not is_changed):
            continue
        sql = _time([names] if isinstance(names, str) else names, form)
        if length is not None and key == "order":
            step = _seconds(str(length))
            sql = f"time_bucket(INTERVAL '{step} s', {sql} + INTERVAL '{step / 2:g} s')"
        roles[key] = f"{sql} AT TIME ZONE {literal(str(zone))}" if is_local and form not in _EPOCHS else sql
    if "duration" in source and "order" in source:
        name, unit = source["duration"]
        start = roles.get("order") or f"cast({column(source['order'])} AS timestamp)"
        roles["end"] = f"{start} + to_seconds(cast({column(name)} AS double) * {_seconds(unit)})"
    return roles


def _time(names: Sequence[str], form: str | None) -> str:
    if form in _EPOCHS:
        return _EPOCHS[form].format(column(names[0]))
    if form is not None:
        both = " || ' ' || ".join(map(column, names))
        return f"strptime({both}, {literal(form)})"
    if len(names) == 2:
        return f"cast({column(names[0])} AS timestamp) + cast({column(names[1])} AS interval)"
    return f"cast({column(names[0])} AS timestamp)"


def _seconds(length: str) -> int:
    match = re.fullmatch(r"\s*([0-9]+)\s*([a-z]+)\s*", length)
    if match is None or match[2] not in _SECONDS:
        raise InputError(f"{length[:40]!r} is no length of time", fix="write it in seconds, such as 60s")
    return int(match[1]) * _SECONDS[match[2]]


def _values(source: Keys, states: Keys) -> dict[str, str | list[str]]:
    """Return the value of a row, or both coordinates, as expressions."""
    names = source.get("value")
    if not ({"missing", "decimal", "thousands"} & {*source} or states) or not isinstance(names, str | list):
        return {}
    if isinstance(names, list):
        return {"value": [_value(name, source, states) for name in names]}
    return {"value": _value(names, source, states)}


def _value(name: str, source: Keys, states: Keys) -> str:
    sql, missing = column(name), source.get("missing", [])
    for word in [missing] if isinstance(missing, str) else missing:
        sql = f"nullif({sql}, {literal(str(word))})"
    if {"decimal", "thousands"} & {*source}:
        if source.get("thousands"):
            sql = f"replace({sql}, {literal(source['thousands'])}, '')"
        if source.get("decimal", ".") != ".":
            sql = f"replace({sql}, {literal(source['decimal'])}, '.')"
        sql = f"cast({sql} AS double)"
    if states:
        cases = " ".join(f"WHEN {literal(str(raw))} THEN {literal(str(state))}" for raw, state in states.items())
        sql = f"CASE {sql} {cases} ELSE {sql} END"
    return sql


# -- what has no expression, as a SELECT or in words


def _read(source: Keys, **options: str) -> str:
    """Return the reader of the source's file in sql."""
    file = str(source.get("file", "data.csv"))
    if file.endswith((".parquet", ".pq")):
        return f"read_parquet({literal(file)})"
    said = {**options, "all_varchar": options.get("all_varchar", "true")}
    said = {name: value for name, value in said.items() if value}
    return f"read_csv({literal(file)}, {', '.join(f'{name} = {value}' for name, value in said.items())})"


def _sql(source: Keys, select: str) -> str:
    """Return the line of a SELECT, which stands in the place of `file`."""
    return f"write {toml_line('sql', select)}" + (" in place of file" if "file" in source else "")


def _delimiter(source: Keys) -> str:
    sign = source["delimiter"]
    if sign in _SIGNS:
        return "leave it out: a text file is split where its first line names the columns"
    return _sql(source, f"from {_read(source, delim=literal(sign))}")


def _names(source: Keys) -> list[str]:
    """Return the columns that keys name, in the order of their numbers where these are their names."""
    names = list[str]()
    for key in ("unit", "recording", "order", "end", "value"):
        names += [source[key]] if isinstance(source.get(key), str) else source.get(key) or []
    numbers = [int(name.removeprefix("column_")) for name in names if re.fullmatch(r"column_[0-9]{1,3}", name)]
    return [f"column_{number + 1}" for number in range(max(numbers))] if numbers else names or ["person"]


def _header(source: Keys) -> str:
    lines = source["header"]
    if lines is True:
        return "leave it out: a text file names its columns in its first line"
    if lines is False or isinstance(lines, list):
        columns = "{" + ", ".join(f"{literal(name)}: 'VARCHAR'" for name in _names(source)) + "}"
        skip = str(lines[1]) if isinstance(lines, list) else ""
        named = _read(source, skip=skip, header="false", columns=columns, all_varchar="")
        return _sql(source, f"from {named}") + ", with the names of all columns in their order"
    skipped = lines - 1 if isinstance(lines, int) else 0
    return _sql(source, f"from {_read(source, skip=str(skipped))}")


def _file_names(source: Keys) -> str:
    file = str(source.get("file", "data/*.csv"))
    named = {**source, "file": file if _MANY.search(file) else f"{file}/*.csv"}
    name = f"regexp_extract(filename, '([^/]+)[.][a-z]+$', 1) AS {column(source['file_names'])}"
    return _sql(named, f"select * exclude (filename), {name} from {_read(named, filename='true')}")


def _renamed(source: Keys) -> str:
    lines = list[str]()
    for now, before in source["renamed"].items():
        roles = [key for key in ("unit", "recording", "order", "end", "value") if source.get(key) == before]
        lines += [f"{key} = {toml_of(now)}" for key in roles]
    return f"write {', '.join(lines)}" if lines else 'write the names of now in the keys that name columns'


def _first_of(source: Keys) -> list[str]:
    """Return the columns that a row is told by: whose it is, and when."""
    names = [source.get("unit"), source.get("recording", source.get("piece")), source.get("order")]
    return [column(name) for name in names if isinstance(name, str)] or ['"person"', '"time"']


def _duplicates(source: Keys) -> str:
    if source["duplicates"] == "refuse":
        return "leave it out: two rows of one step are refused"
    rows, down = ", ".join(_first_of(source)), " DESC" if source["duplicates"] == "last" else ""
    numbered = f"with lines as (select *, row_number() over () as line from {_read(source)}) select * from lines"
    return _sql(source, f"{numbered} qualify row_number() over (partition by {rows} order by line{down}) = 1")


def _overlap(source: Keys) -> str:
    if source["overlap"] == "refuse":
        return "leave it out: stays that overlap are refused"
    start, end = column(str(source.get("order", "start"))), column(str(source.get("end", "end")))
    unit = f"partition by {column(source['unit'])} " if isinstance(source.get("unit"), str) else ""
    if source["overlap"] == "last":
        cut = f"least({end}, lead({start}) over ({unit}order by {start})) AS {end}"
        return _sql(source, f"select * replace ({cut}) from {_read(source)}")
    return _sql(source, f"from {_read(source)} qualify {start} >= coalesce(max({end}) over ({unit}order by {start}), "
                f"{start})") + ", with what a stay that began first means to you"  # fmt: skip


def _ambiguous(source: Keys, lines: Mapping[str, str | list[str]]) -> str:
    if source["ambiguous"] == "refuse" or "order" not in lines:
        return "leave it out: with timezone every time tells its offset from UTC"
    words = f"write {line_of('order', lines['order'])}, which is the later of two equal times"
    if source["ambiguous"] == "last":
        return words
    return f"{words}; to take another one subtract INTERVAL 1 hour from these, or leave them out by where"


def _wide(source: Keys) -> str:
    """Return the SELECT of a table with several columns of states."""
    columns, ignored = source.get("columns"), source.get("ignore", [])
    people = [name for name in (source.get("unit"), source.get("recording")) if isinstance(name, str)]
    others = ", ".join(map(column, [*people, *ignored]))
    which = f"columns(* exclude ({others}))" if others else "columns(*)"
    if isinstance(columns, list) and columns:
        which = ", ".join(map(column, columns))
    turned = f"from (unpivot (from {_read(source)}) on {which} into name t value v) where v <> ''"
    return f'{_sql(source, turned)}, with rows = "samples", order = "t" and value = "v"'


def _attributes(source: Keys) -> str:
    names = source["attributes"] if isinstance(source["attributes"], list) else [source["attributes"]]
    unit = str(source.get("unit", "person"))
    listed = ", ".join(map(column, [unit, *map(str, names)]))
    return f"write {toml_line('roster', f'select distinct {listed} from {_read(source)}')}, or a file of all people"


def _elsewhere(source: Keys, belief: Keys) -> str:
    if source["elsewhere"] == "refuse":
        return "leave it out: rows at a place that is not declared are refused"
    value, places, grid = source.get("value", "place"), belief.get("places"), belief.get("grid")
    if isinstance(value, list) and isinstance(grid, dict):
        ends = [(name, grid.get(axis, ["...", "..."])) for name, axis in zip(value, "xy", strict=False)]
        inside = " AND ".join(f"cast({column(name)} AS double) BETWEEN {low} AND {high}" for name, (low, high) in ends)
        return f"write {toml_line('where', inside)}"
    listed = ", ".join(literal(str(place)) for place in places) if isinstance(places, list) else "'...'"
    return f"write {toml_line('where', f'{column(str(value))} IN ({listed})')}"


def _longer(source: Keys, belief: Keys) -> str:
    if belief["longer"] == "refuse":
        return "leave it out: a longer recording is refused"
    rows, last = ", ".join(_first_of(source)[:-1]) or "''", _first_of(source)[-1]
    most = belief.get("max_length", 1000)
    number = f"row_number() over (partition by {rows} order by {last})"
    return _sql(source, f"from {_read(source)} qualify {number} <= {most}")


def _min_length(source: Keys, belief: Keys) -> str:
    rows = ", ".join(_first_of(source)[:-1]) or "''"
    few = belief["min_length"]
    return _sql(source, f"from {_read(source)} qualify count(*) over (partition by {rows}) >= {few}")


#: What to write, by the key of [source] and of [belief], of a file's sections and the roles that are changed.
_ROLES = {
    "order_format": ("order", "end"), "round_to": ("order",), "missing": ("value",), "decimal": ("value",),
    "thousands": ("value",), "null_keys": ("where",), "sheet": ("sql",), "table": ("sql",), "duration": ("end",),
    "order": ("order",), "end": ("end",),
}  # fmt: skip
_OF_SOURCE: Mapping[str, Callable[[Keys], str]] = {
    "delimiter": _delimiter, "header": _header, "file_names": _file_names, "renamed": _renamed,
    "duplicates": _duplicates, "overlap": _overlap, "columns": _wide, "ignore": _wide, "empty": _wide,
    "rows": _wide, "attributes": _attributes,
    "list_units": lambda source: "leave it out: the roster is listed",
    "engine": lambda source: "leave it out, and give the table: tf.release_file(..., data=frame)",
}  # fmt: skip
#: The keys of [source] that an expression stands for.
CLEANING = frozenset({*_ROLES} - {"order", "end"})
_OF_BELIEF: Mapping[str, Callable[[Keys, Keys], str]] = {"longer": _longer, "min_length": _min_length}


def by_hand(source: Keys, belief: Keys) -> dict[str, str]:
    """Return the keys that no expression stands for, each with what to do."""
    left = {key for key in (*_OF_SOURCE, "elsewhere", "ambiguous") if key in source} - {"rows", "engine"}
    left |= {key for key, value in (("rows", "wide"),) if source.get(key) == value}
    left |= {"engine"} if source.get("engine") not in (None, "spark") else set()
    lines = {f"source.{key}": str(instead(("source", key), source, belief)) for key in sorted(left)}
    of_belief = [key for key in _OF_BELIEF if key in belief]
    return lines | {f"belief.{key}": str(instead(("belief", key), source, belief)) for key in of_belief}


def instead(where: tuple[str, str], source: Keys, belief: Keys) -> str | None:
    """Return what stands in the place of a key of before, None for any other.

    >>> print(instead(("source", "order_format"), {"order": "Datum", "order_format": "%d.%m.%Y"}, {}))
    write order = "strptime(Datum, '%d.%m.%Y')"
    """
    section, key = where
    if section == "belief":
        if key == "map":
            return _line({**source, "value": source.get("value", "value")}, belief.get("map") or {}, ("value",))
        return _OF_BELIEF[key](source, belief) if key in _OF_BELIEF else None
    if key in _ROLES:
        if key in ("order", "end") and not (isinstance(source[key], list) and len(source[key]) == 2):
            return None
        if key == "null_keys" and source[key] != "drop":
            return "leave it out: rows that say of nobody whose they are are refused"
        return _line(source, belief.get("map") or {}, _ROLES[key])
    if (key == "rows" and source[key] != "wide") or (key == "engine" and not isinstance(source[key], str)):
        return None
    if key == "elsewhere":
        return _elsewhere(source, belief)
    if key == "ambiguous":
        return _ambiguous(source, expressions(source, {}))
    return _OF_SOURCE[key](source) if key in _OF_SOURCE else None


def _line(source: Keys, states: Any, roles: Sequence[str]) -> str:
    """Return the lines of some roles."""
    sql = expressions(source, states if isinstance(states, Mapping) else {})
    lines = [line_of(role, sql[role]) for role in roles if role in sql]
    if not lines:
        return f"leave it out, and write what it did as an expression in {' or '.join(roles)}"
    return f"write {', and '.join(lines)}"

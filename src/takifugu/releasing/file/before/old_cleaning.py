"""Keys of before that cleaned rows, each as an expression over the columns, or a SELECT, that stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from takifugu.core.errors import InputError, TakifuguError
from takifugu.core.plain import toml_of
from takifugu.data.sql.tree import columns_in, expression
from takifugu.data.sql.words import identifier, literal, toml_line

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

#: Why a key is left out, by a value that it has; None: by each.
_LEFT_OUT: Mapping[str, tuple[object, str]] = {
    "header": (True, "a text file names its columns in its first line"),
    "duplicates": ("refuse", "two rows of one step are refused"),
    "overlap": ("refuse", "stays that overlap are refused"),
    "elsewhere": ("refuse", "rows at a place that is not declared are refused"),
    "longer": ("refuse", "a longer recording is refused"), "list_units": (None, "the roster is listed"),
    "ambiguous": ("refuse", _OFFSETS := "with timezone every time tells its offset from UTC"),
}  # fmt: skip
_WIDE = ("from (unpivot (from {read}) on {which} into name t value v) where v <> ''",
         ', with rows = "samples", order = "t" and value = "v"')  # fmt: skip
#: The SELECT of each key over the words of a file (`_words`), and what is said behind it.
_SELECTS: Mapping[str, tuple[str, str]] = {
    "delimiter": ("from {split}", ""), "columns": _WIDE, "ignore": _WIDE, "empty": _WIDE, "rows": _WIDE,
    "file_names": ("select * exclude (filename), regexp_extract(filename, '([^/]+)[.][a-z]+$', 1) AS {file_names} "
                   "from {folder}", ""),
    "duplicates": ("with lines as (select *, row_number() over () as line from {read}) select * from lines qualify "
                   "row_number() over (partition by {rows} order by line{down}) = 1", ""),
    "overlap": ("from {read} qualify {start} >= coalesce(max({end}) over ({by}order by {start}), {start})",
                ", with what a stay that began first means to you"),
    "overlap last": ("select * replace (least({end}, lead({start}) over ({by}order by {start})) AS {end}) from {read}",
                     ""),
    "longer": ("from {read} qualify row_number() over (partition by {people} order by {last}) <= {max_length}", ""),
    "min_length": ("from {read} qualify count(*) over (partition by {people}) >= {min_length}", ""),
}  # fmt: skip


def _read(source: Keys, **options: str) -> str:
    """Return the reader of the source's file in sql."""
    file = str(source.get("file", "data.csv"))
    if file.endswith((".parquet", ".pq")):
        return f"read_parquet({literal(file)})"
    said = {**options, "all_varchar": options.get("all_varchar", "true")}
    return f"read_csv({literal(file)}, {', '.join(f'{name} = {value}' for name, value in said.items() if value)})"


def _sql(source: Keys, select: str) -> str:
    """Return the line of a SELECT, which stands in the place of `file`."""
    return f"write {toml_line('sql', select)}" + (" in place of file" if "file" in source else "")


def _words(source: Keys, belief: Keys) -> dict[str, object]:
    """Return what stands in the braces of SELECTs: the file's readers, and its columns by what they say."""
    names = [source.get("unit"), source.get("recording", source.get("piece")), source.get("order")]
    rows = [column(name) for name in names if isinstance(name, str)] or ['"person"', '"time"']
    file, unit, columns = str(source.get("file", "data/*.csv")), source.get("unit"), source.get("columns")
    others = [name for name in (unit, source.get("recording")) if isinstance(name, str)] + source.get("ignore", [])
    which = f"columns(* exclude ({', '.join(map(column, others))}))" if others else "columns(*)"
    return {
        "read": _read(source), "split": _read(source, delim=literal(str(source.get("delimiter", "")))),
        "folder": _read({"file": file if _MANY.search(file) else f"{file}/*.csv"}, filename="true"),
        "file_names": column(str(source.get("file_names", ""))),
        "which": ", ".join(map(column, columns or ())) or which,
        "rows": ", ".join(rows), "people": ", ".join(rows[:-1]) or "''", "last": rows[-1],
        "down": " DESC" if source.get("duplicates") == "last" else "",
        "start": column(str(source.get("order", "start"))), "end": column(str(source.get("end", "end"))),
        "by": f"partition by {column(unit)} " if isinstance(unit, str) else "",
        "max_length": belief.get("max_length", 1000), "min_length": belief.get("min_length"),
    }  # fmt: skip


def _named(source: Keys) -> list[str]:
    """Return the columns that keys name, in the order of their numbers where these are their names."""
    names = list[str]()
    for key in ("unit", "recording", "order", "end", "value"):
        names += [source[key]] if isinstance(source.get(key), str) else source.get(key) or []
    numbers = [int(name.removeprefix("column_")) for name in names if re.fullmatch(r"column_[0-9]{1,3}", name)]
    return [f"column_{number + 1}" for number in range(max(numbers))] if numbers else names or ["person"]


def _header(source: Keys) -> str:
    lines = source["header"]
    if lines is not False and not isinstance(lines, list):
        skipped = lines - 1 if isinstance(lines, int) else 0
        return _sql(source, f"from {_read(source, skip=str(skipped))}")
    columns = "{" + ", ".join(f"{literal(name)}: 'VARCHAR'" for name in _named(source)) + "}"
    skip = str(lines[1]) if isinstance(lines, list) else ""
    named = _read(source, skip=skip, header="false", columns=columns, all_varchar="")
    return _sql(source, f"from {named}") + ", with the names of all columns in their order"


def _renamed(source: Keys) -> str:
    lines = list[str]()
    for now, before in source["renamed"].items():
        roles = [key for key in ("unit", "recording", "order", "end", "value") if source.get(key) == before]
        lines += [f"{key} = {toml_of(now)}" for key in roles]
    return f"write {', '.join(lines)}" if lines else "write the names of now in the keys that name columns"


def _ambiguous(source: Keys) -> str:
    lines = expressions(source, {})
    if "order" not in lines:
        return f"leave it out: {_OFFSETS}"
    words = f"write {line_of('order', lines['order'])}, which is the later of two equal times"
    if source["ambiguous"] == "last":
        return words
    return f"{words}; to take another one subtract INTERVAL 1 hour from these, or leave them out by where"


def _attributes(source: Keys) -> str:
    names = source["attributes"] if isinstance(source["attributes"], list) else [source["attributes"]]
    listed = ", ".join(map(column, [str(source.get("unit", "person")), *map(str, names)]))
    return f"write {toml_line('roster', f'select distinct {listed} from {_read(source)}')}, or a file of all people"


def _elsewhere(source: Keys, belief: Keys) -> str:
    value, places, grid = source.get("value", "place"), belief.get("places"), belief.get("grid")
    if isinstance(value, list) and isinstance(grid, dict):
        ends = [(name, grid.get(axis, ["...", "..."])) for name, axis in zip(value, "xy", strict=False)]
        inside = " AND ".join(f"cast({column(name)} AS double) BETWEEN {low} AND {high}" for name, (low, high) in ends)
        return f"write {toml_line('where', inside)}"
    listed = ", ".join(literal(str(place)) for place in places) if isinstance(places, list) else "'...'"
    return f"write {toml_line('where', f'{column(str(value))} IN ({listed})')}"


#: The roles that a key changes, which stand for it as expressions.
_ROLES = {
    "order_format": ("order", "end"), "round_to": ("order",), "missing": ("value",), "decimal": ("value",),
    "thousands": ("value",), "null_keys": ("where",), "sheet": ("sql",), "table": ("sql",), "duration": ("end",),
    "order": ("order",), "end": ("end",),
}  # fmt: skip
#: What is made of several keys.
_OTHERS: Mapping[str, Callable[[Keys], str]] = {
    "header": _header, "renamed": _renamed, "ambiguous": _ambiguous, "attributes": _attributes,
    "engine": lambda source: "leave it out, and give the table: tf.release_file(..., data=frame)",
}  # fmt: skip
_OF_BELIEF = ("longer", "min_length")


def instead(where: tuple[str, str], source: Keys, belief: Keys) -> str | None:
    """Return what stands in the place of a key of before, None for any other.

    >>> print(instead(("source", "order_format"), {"order": "Datum", "order_format": "%d.%m.%Y"}, {}))
    write order = "strptime(Datum, '%d.%m.%Y')"
    """
    section, key = where
    if section == "belief" and key == "map":
        return _line({**source, "value": source.get("value", "value")}, belief.get("map") or {}, ("value",))
    if (section == "belief") != (key in _OF_BELIEF):
        return None
    value = (source if section == "source" else belief)[key]
    if key in ("order", "end") and not (isinstance(value, list) and len(value) == 2):
        return None
    if (key == "rows" and value != "wide") or (key == "engine" and not isinstance(value, str)):
        return None
    if key == "null_keys" and value != "drop":
        return "leave it out: rows that say of nobody whose they are are refused"
    if key in _ROLES:
        return _line(source, belief.get("map") or {}, _ROLES[key])
    if key in _LEFT_OUT and _LEFT_OUT[key][0] in (None, value):
        return f"leave it out: {_LEFT_OUT[key][1]}"
    if key == "delimiter" and value in _SIGNS:
        return "leave it out: a text file is split where its first line names the columns"
    if key == "elsewhere":
        return _elsewhere(source, belief)
    if key in _OTHERS:
        return _OTHERS[key](source)
    select, behind = _SELECTS.get(f"{key} {value}", _SELECTS.get(key, ("", "")))
    return _sql(source, select.format(**_words(source, belief))) + behind if select else None


def _line(source: Keys, states: Any, roles: Sequence[str]) -> str:
    """Return the lines of some roles."""
    sql = expressions(source, states if isinstance(states, Mapping) else {})
    lines = [line_of(role, sql[role]) for role in roles if role in sql]
    if not lines:
        return f"leave it out, and write what it did as an expression in {' or '.join(roles)}"
    return f"write {', and '.join(lines)}"

"""Keys and words that release files had before, each with the line that stands in its place now.

No key of before is read. A key that cleaned rows has one row: its line, over the columns that the file names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from takifugu.core.errors import InputError, Step, TakifuguError
from takifugu.core.plain import Json, toml_of
from takifugu.core.sections import section_in
from takifugu.data.sql.tree import columns_in, expression
from takifugu.data.sql.words import identifier, literal, toml_line

Names = Mapping[str, str]
#: The key of now, by the section and the key of before; "" stands above all sections.
NOW: Mapping[str, Names] = MappingProxyType({
    "": {"release": "[[table]]"},
    "source": {
        "piece": "recording", "before": "default_state", "otherwise": "default_state",
        "start": "order", "person": "unit", "place": "value", "x": "value", "y": "value", "coordinates": "value",
        "batch": "entries", "only_release": "single_release",
    },
    "belief": {
        "pieces_independent": "recordings_independent", "stay": "mean_duration", "stays": "mean_durations",
        "next": "next_state",
    },
    "belief.fit": {"piece": "recording"},
    "belief.reference": {"coordinates": "value"},
})  # fmt: skip
#: What to write in the place of a kind of belief of before.
KINDS: Names = MappingProxyType({
    "table": 'write kind = "joint-table", its name now',
    "parameter-box": 'write kind = "parameters" with the values that each parameter may have: intervals are gone',
})

LEAVE = "leave it out"
#: Keys without one of now, by section and key: why nothing stands in their place, and what to do.
GONE: Mapping[str, tuple[str, str]] = MappingProxyType({
    "source.as_composing": ("a promise about one output is counted by its noise beside others, without a key", LEAVE),
    "source.begins_series": ("a table begins a series", "write begins_series = true under the [[table]] that does"),
    "ledger_id": (
        "require_ledger and the certificates tell another ledger", "leave it out, and write require_ledger = true"
    ),
    "joint_delta": (
        "tables of a file share an epsilon alone", "leave it out, or call tf.calibrate_jointly with a delta in Python"
    ),
    "belief.outside": ("numbers outside of the range of a column are clipped", LEAVE),
    "table.importance": (
        "tables that share an epsilon count alike", "leave it out, or give the table an epsilon of its own"
    ),
})

#: Keys of now with a value of before: the fault that it is, and the key.
VALUES_OF_BEFORE = frozenset({
    ("string_type", "order"), ("string_type", "end"), ("literal_error", "rows"), ("literal_error", "engine")
})  # fmt: skip

_WIDE = "from (unpivot (from {read}) on {which} into name t value v) where v <> ''"
_AS_SAMPLES = ', with rows = "samples", order = "t" and value = "v"'
_NUMBER = "cast(replace(replace({it}, {thousands}, ''), {decimal}, '.') AS double)"
_LINES = (
    "with lines as (select *, row_number() over () as line from {read}) select * from lines qualify "
    "row_number() over (partition by {whose}, {order} order by line) = 1"
)
#: Keys that cleaned rows, by the values that they had (some, texts, so many in a list, or any): the key of now with its
#: text over the words of a file (`_words`; `it` is the key's own column), or "" with why nothing is written; and what
#: else is said.
CLEANED: tuple[tuple[str, object, str, str, str], ...] = (
    ("order_format", ["epoch"], "order", "to_timestamp(cast({it} AS bigint))", ""),
    ("order_format", ["epoch_ms"], "order", "make_timestamptz(cast({it} AS bigint) * 1000)", ""),
    ("order_format", None, "order end", "strptime({it}, {order_format})", ""),
    ("order", 2, "order", "cast({it} AS timestamp)", ""),
    ("end", 2, "end", "cast({it} AS timestamp)", ""),
    ("round_to", None, "order", "time_bucket(INTERVAL {round_to}, cast({it} AS timestamp) + INTERVAL {round_to} / 2)",
     ""),
    ("duration", None, "end", "cast({order} AS timestamp) + cast({lasting} AS double) * INTERVAL {in_units}", ""),
    ("ambiguous", ["refuse"], "", "with timezone every time tells its offset from UTC", ""),
    ("ambiguous", None, "order", "cast({it} AS timestamp) AT TIME ZONE {timezone}",
     ", which is the later of two equal times; to take another one subtract INTERVAL 1 hour from these"),
    ("missing", None, "value", "CASE WHEN {it} NOT IN ({missing}) THEN {it} END", ""),
    ("decimal", None, "value", _NUMBER, ""), ("thousands", None, "value", _NUMBER, ""),
    ("belief.map", None, "value", "CASE {it} {cases} ELSE {it} END", ""),
    ("null_keys", ["drop"], "where", "{are_there}", ""),
    ("null_keys", None, "", "rows that say of nobody whose they are are refused", ""),
    ("elsewhere", ["refuse"], "", "rows at a place that is not declared are refused", ""),
    ("elsewhere", None, "where", "{inside}", ""),
    ("attributes", None, "roster", "select distinct {unit}, {attributes} from {read}", ", or a file of all people"),
    ("list_units", None, "", "the roster is listed", ""),
    ("renamed", None, "", "the keys name the columns that are there now", ""),
    ("engine", str, "", "give the table, tf.release_file(..., data=frame)", ""),
    ("sheet", None, "sql", "from {sheet}", ""), ("table", None, "sql", "from {table}", ""),
    ("delimiter", [",", ";", "\t", "|"], "", "a text file is split where its first line names the columns", ""),
    ("delimiter", None, "sql", "from read_csv({file}, delim = {delimiter}, all_varchar = true)", ""),
    ("header", [True], "", "a text file names its columns in its first line", ""),
    ("header", [False], "sql", "from read_csv({file}, header = false, columns = {{'...': 'VARCHAR'}})",
     ", with the names of all columns in their order"),
    ("header", 2, "sql",
     "from read_csv({file}, skip = {skip}, header = false, columns = {{'...': 'VARCHAR'}})",
     ", with the names of all columns in their order"),
    ("header", None, "sql", "from read_csv({file}, skip = {skip}, all_varchar = true)", ""),
    ("file_names", None, "sql", "select * exclude (filename), regexp_extract(filename, '([^/]+)[.][a-z]+$', 1) AS "
     "{file_names} from read_csv({files}, filename = true, all_varchar = true)", ""),
    ("columns", None, "sql", _WIDE.replace("{which}", "{columns}"), _AS_SAMPLES),
    ("ignore", None, "sql", _WIDE.replace("{which}", "columns(* exclude ({unit}, {ignore}))"), _AS_SAMPLES),
    ("empty", None, "sql", _WIDE.replace("{which}", "columns(* exclude ({unit}))"), _AS_SAMPLES),
    ("rows", ["wide"], "sql", _WIDE.replace("{which}", "columns(* exclude ({unit}))"), _AS_SAMPLES),
    ("duplicates", ["refuse"], "", "two rows of one step are refused", ""),
    ("duplicates", ["last"], "sql", _LINES.replace("by line)", "by line DESC)"), ""),
    ("duplicates", None, "sql", _LINES, ""),
    ("overlap", ["refuse"], "", "stays that overlap are refused", ""),
    ("overlap", ["last"], "sql", "select * replace (least({end}, lead({order}) over (partition by {unit} order by "
     "{order})) AS {end}) from {read}", ""),
    ("overlap", None, "sql", "from {read} qualify {order} >= coalesce(max({end}) over (partition by {unit} order by "
     "{order}), {order})", ", with what a stay that began first means to you"),
    ("belief.longer", ["refuse"], "", "a longer recording is refused", ""),
    ("belief.longer", None, "sql",
     "from {read} qualify row_number() over (partition by {whose} order by {order}) <= {max_length}", ""),
    ("belief.min_length", None, "sql",
     "from {read} qualify count(*) over (partition by {whose}) >= {min_length}", ""),
)  # fmt: skip
#: The columns that a file has where it does not name them, and the keys whose values are columns.
_COLUMNS = {"unit": "person", "order": "time", "end": "until", "value": "value"}
_OF_COLUMNS = (*_COLUMNS, "recording", "columns", "ignore", "attributes", "file_names", "sheet", "table")
#: A file is one of many, or a folder.
_MANY = re.compile(r"[*?\[]|/$")
#: Two keys that are the two columns of one.
_COORDINATES = ("x", "y")
#: A value, and a line, that is longer is not printed.
_LONGEST, _LONGEST_LINE = 120, 600


def of_before(where: tuple[Step, ...], file: Json, allowed: Collection[str]) -> InputError | None:
    """Return the error about a key of before in a file, None for others; `allowed` are those of its section."""
    why, fix = GONE.get(".".join(str(step) for step in where if not isinstance(step, int)), ("", ""))
    if why:
        return InputError("is gone", rule=why, fix=fix)
    return _renamed(where, file, allowed) or cleaned(where, file)


def _renamed(where: tuple[Step, ...], file: Json, allowed: Collection[str]) -> InputError | None:
    *steps, key = map(str, where)
    new_name = NOW.get(".".join(steps), {}).get(key)
    if new_name is None:
        return None
    section: Any = file
    for step in where[:-1]:
        section = section[step]
    name = new_name.strip("[]")
    if name not in allowed:
        return None
    line = new_name
    if name in section:
        return InputError(f"is the key of before, and {line} is there, too", fix="leave it out")
    if key in _COORDINATES:
        line = f"value = {toml_of([section.get(axis, '...') for axis in _COORDINATES])}"
    elif name == new_name:
        value = toml_of(section[key])
        line = f"{name} = {value}" if len(value) <= _LONGEST else f"{name} for {key}, with the same value"
    return InputError("is the key of before", fix=f"write {line}")


def cleaned(where: tuple[Step, ...], file: Json) -> InputError | None:
    """Return the error about a key of before that cleaned rows, None for any other."""
    if len(where) < 2 or where[0] not in ("source", "belief"):
        return None
    section, key = str(where[0]), str(where[1])
    name = key if section == "source" else f"belief.{key}"
    value = section_in(file, section).get(key)
    row = next((row for row in CLEANED if row[0] == name and _is_one(value, row[1])), None)
    if value is None or row is None:
        return None
    try:
        fix = _line(row, section_in(file, "source"), section_in(file, "belief"))
    except (TakifuguError, TypeError, ValueError, LookupError, AttributeError):  # a value that never was one
        fix = "leave it out, and write what it did as an expression"
    if len(fix) > _LONGEST_LINE:
        fix = "write it as an expression, or in sql"
    return InputError("is a key of before", rule="cleaning is an expression now", fix=fix)


def _is_one(value: object, among: object) -> bool:
    """Return whether a value is one of a list, of a type, or a list of so many."""
    if isinstance(among, list):
        return value in among
    if isinstance(among, int):
        return isinstance(value, list) and len(value) == among
    return isinstance(value, among) if isinstance(among, type) else True


def _line(row: tuple[str, object, str, str, str], source: Json, belief: Json) -> str:
    """Return what is written in the place of a key that cleaned rows."""
    _, _, roles, text, behind = row
    if not roles:
        return f"{LEAVE}: {text}"
    words, lines = _words(source, belief), list[str]()
    for role in roles.split():
        own = source.get(role, _COLUMNS.get(role))
        if role == "value" and isinstance(own, list):  # two coordinates
            lines.append(f"value = {toml_of([text.format_map({**words, 'it': column(name)}) for name in own])}")
        elif "{it}" not in text or role in source or role == "value":
            names = own if isinstance(own, list) else [str(own)]  # a date and a time of day
            words["it"] = " || ' ' || ".join(map(column, names))
            lines.append(toml_line(role, text.format_map(words)))
    if not lines:
        return f"{LEAVE}, and write what it did as an expression in {' or '.join(roles.split())}"
    in_place = " in place of file" if roles == "sql" and "read" in text and "file" in source else ""
    return f"write {', and '.join(lines)}{in_place}{behind}"


def _words(source: Json, belief: Json) -> dict[str, str]:
    """Return what stands in the braces of a text: each key's value in SQL, and what several of them are."""
    said, words = {**_COLUMNS, "thousands": "", "decimal": ".", "places": "...", **belief, **source}, dict[str, str]()
    for key, value in said.items():
        parts = value if isinstance(value, list) else [value]
        words[key] = ", ".join(column(part) if key in _OF_COLUMNS else literal(str(part)) for part in parts)
    file, header = str(source.get("file", "data.csv")), source.get("header")
    words["file"], words["files"] = literal(file), literal(file if _MANY.search(file) else f"{file}/*.csv")
    is_parquet = file.endswith((".parquet", ".pq"))
    words["read"] = f"read_parquet({literal(file)})" if is_parquet else f"read_csv({literal(file)}, all_varchar = true)"
    words["whose"] = ", ".join(words[key] for key in ("unit", "recording") if key in words)
    words["skip"] = str(header[1] if isinstance(header, list) else int(header or 1) - 1)
    if "duration" in source:
        words["lasting"], words["in_units"] = column(source["duration"][0]), literal(source["duration"][1])
    are_there = [f"{words[key]} IS NOT NULL" for key in ("unit", "recording") if key in words]
    words["are_there"] = " AND ".join([*([f"({source['where']})"] if "where" in source else []), *are_there])
    words["inside"] = f"{words['value']} IN ({words['places']})"
    if isinstance(belief.get("grid"), dict) and isinstance(source.get("value"), list):
        ends = [(column(name), *belief["grid"][axis]) for name, axis in zip(source["value"], _COORDINATES, strict=True)]
        words["inside"] = " AND ".join(f"cast({name} AS double) BETWEEN {low} AND {high}" for name, low, high in ends)
    cases = belief.get("map") or {}
    words["cases"] = " ".join(f"WHEN {literal(str(raw))} THEN {literal(str(state))}" for raw, state in cases.items())
    return words


def column(name: str) -> str:
    """Return a column's name as an expression has it, in quotes where it needs them."""
    try:
        if columns_in(expression(name, "value")) == [name] and name.isidentifier():
            return name
    except TakifuguError:
        pass
    return identifier(name)

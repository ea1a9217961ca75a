"""A key of before is refused with the line of now, its own value in it; what is no key of before is told as ever."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.support.release_files import changed
from tests.support.releases import put, refusal_of

from takifugu.data.sql.judge import Judge
from takifugu.data.sql.scopes import Rows, Scope
from takifugu.data.sql.tree import expression, parsed
from takifugu.releasing.file.old_keys import cleaned

EXAMPLES = Path(__file__).parents[3] / "examples"


def problems(folder: Path, example: str, *changes: tuple[str, str]) -> tuple[str, ...]:
    """Return what is told of an example that was changed."""
    text = changed((EXAMPLES / f"{example}.toml").read_text(encoding="utf-8"), *changes)
    return refusal_of(put(folder, {"release.toml": text})).problems


LASTING = "mean_duration = { home ="
OLD = {
    "release": ("activity", [("[[table]]", "[[release]]")], "release: is the key of before; write [[table]]"),
    "kind": ("people", [('kind = "joint-table"', 'kind = "table"')],
             "belief: has the unknown kind 'table'; did you mean 'joint-table'?; "
             'write kind = "joint-table", its name now'),
    "piece": ("activity", [("recording =", "piece =")],
              'source.piece: is the key of before; write recording = "bout"'),
    "before": ("calls", [("default_state =", "before =")],
               'source.before: is the key of before; write default_state = "away"'),
    "otherwise": ("ward", [("default_state =", "otherwise =")],
                  'source.otherwise: is the key of before; write default_state = "home"'),
    "start": ("ward", [("order =", "start =")], 'source.start: is the key of before; write order = "admitted"'),
    "person of contacts": ("school", [("unit =", "person =")],
                           'source.person: is the key of before; write unit = "pupil"'),
    "person of visits": ("city", [("unit =", "person =")],
                         'source.person: is the key of before; write unit = "person"'),
    "place": ("venues", [("value =", "place =")], 'source.place: is the key of before; write value = "place"'),
    "x": ("city", [('value = ["east", "north"]', 'x = "east"\ny = "north"')],
          'source.x: is the key of before; write value = ["east", "north"]'),
    "y": ("city", [('value = ["east", "north"]', 'x = "east"\ny = "north"')],
          'source.y: is the key of before; write value = ["east", "north"]'),
    "coordinates": ("places", [("value =", "coordinates =")],
                    'source.coordinates: is the key of before; write value = ["east", "north"]'),
    "batch": ("places", [("entries =", "batch =")],
              'source.batch: is the key of before; write entries = "2026-03"'),
    "pieces_independent": ("activity", [("recordings_independent", "pieces_independent")],
                           "belief.pieces_independent: is the key of before; write recordings_independent = true"),
    "piece of a fit": ("activity", [("[hide]", '[belief.fit]\nfile = "p.csv"\npiece = "run"\n\n[hide]')],
                       'belief.fit.piece: is the key of before; write recording = "run"'),
    "stay": ("ward", [(LASTING, "stay = { home =")],
             'belief.stay: is the key of before; write mean_duration = { home = "400 h", surgery = "80 h", medicine ='),
    "stays": ("ward", [(LASTING, 'matrix_by = "hour"\nstays.00-23 = { home =')],
              "belief.stays: is the key of before; write mean_durations = { 00-23 = { home ="),
    "as_composing": ("activity", [("[source]", "[source]\nas_composing = true")],
        "source.as_composing: is gone; a promise about one output is counted by its noise beside others, without a "
        "key; leave it out"),
    "same_people": ("activity", [("[source]", "[source]\nsame_people = false")],
        "source.same_people: is false; all sources of one ledger are about the same people; leave it out, and write a "
        'ledger of their own: ledger = "NAME-ledger.db"'),
    "both keys": ("ward", [("next_state =", "next = {}\nnext_state =")],
                  "belief.next: is the key of before, and next_state is there, too; leave it out"),
    "a long value": ("ward", [(LASTING, f"stay = {{ {', '.join(f'state-{n} = 3' for n in range(40))}, home =")],
                     "belief.stay: is the key of before; write mean_duration for stay, with the same value"),
    "no key of now": ("people", [("[belief]", "[belief]\nnext = 3")], "belief.next: is not a known key here"),
    "next": ("ward", [("next_state =", "next =")],
             "belief.next: is the key of before; write next_state = { home = 0.5, surgery = 0.25, medicine = 0.25 }"),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("key", OLD)
def test_a_key_of_before_is_told_with_the_line_of_now(tmp_path: Path, key: str) -> None:
    example, changes, line = OLD[key]
    lines = problems(tmp_path, example, *changes)
    assert [problem for problem in lines if problem.startswith(line)], lines


#: A key that cleaned rows, the other keys of [source] and [belief], and the line of now (or its first words).
CLEANING: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("order_format", {"order": "Datum", "order_format": "%d.%m.%Y"}, {}, "order = \"strptime(Datum, '%d.%m.%Y')\""),
    ("order_format", {"order": "end", "order_format": "epoch"}, {}, "order = 'to_timestamp(cast(\"end\" AS bigint))'"),
    ("order_format", {"order": "a b", "end": "e", "order_format": "%H"}, {},
     "order = \'\'\'strptime(\"a b\", '%H')\'\'\', and end = \"strptime(e, '%H')\""),
    ("round_to", {"order": "t", "round_to": "1min"}, {},
     "order = \"time_bucket(INTERVAL '1min', cast(t AS timestamp) + INTERVAL '1min' / 2)\""),
    ("order", {"order": ["d", "t"]}, {}, "order = \"cast(d || ' ' || t AS timestamp)\""),
    ("duration", {"order": "t", "duration": ["hours", "1h"]}, {},
     "end = \"cast(t AS timestamp) + cast(hours AS double) * INTERVAL '1h'\""),
    ("missing", {"value": "v", "missing": ["NA", "it's"]}, {},
     "value = \"CASE WHEN v NOT IN ('NA', 'it''s') THEN v END\""),
    ("missing", {"value": ["x", "y"], "missing": "NA"}, {},
     "value = [\"CASE WHEN x NOT IN ('NA') THEN x END\", \"CASE WHEN y NOT IN"),
    ("decimal", {"value": "v", "decimal": ",", "thousands": "."}, {},
     "value = \"cast(replace(replace(v, '.', ''), ',', '.') AS double)\""),
    ("thousands", {"value": "v", "thousands": " "}, {},
     "value = \"cast(replace(replace(v, ' ', ''), '.', '.') AS double)\""),
    ("null_keys", {"unit": "person", "null_keys": "drop"}, {}, 'where = "person IS NOT NULL"'),
    ("null_keys", {"unit": "a", "recording": "b", "where": "c = 1", "null_keys": "drop"}, {},
     'where = "(c = 1) AND a IS NOT NULL AND b IS NOT NULL"'),
    ("null_keys", {"unit": "person", "null_keys": "refuse"}, {}, "leave it out"),
    ("sheet", {"file": "a.xlsx", "sheet": "May 1"}, {}, "sql = 'from \"May 1\"'"),
    ("table", {"file": "a.db", "table": "visits"}, {}, 'sql = "from visits"'),
    ("delimiter", {"file": "a.csv", "delimiter": ";"}, {}, "leave it out"),
    ("delimiter", {"file": "a.csv", "delimiter": " "}, {},
     "sql = \"from read_csv('a.csv', delim = ' ', all_varchar = true)\""),
    ("header", {"file": "a.csv", "header": 4}, {}, "sql = \"from read_csv('a.csv', skip = 3, all_varchar = true)\""),
    ("header", {"file": "a.csv", "header": False, "unit": "column_1", "value": "column_7"}, {},
     "sql = \"from read_csv('a.csv', header = false, columns = {'...': 'VARCHAR'})\""),
    ("header", {"file": "a.csv", "header": [1, 3], "unit": "who"}, {},
     "sql = \"from read_csv('a.csv', skip = 3, header = false,"),
    ("header", {"header": True}, {}, "leave it out"),
    ("file_names", {"file": "logs/*.csv", "file_names": "person"}, {}, "sql = \"select * exclude (filename), regexp"),
    ("file_names", {"file": "logs", "file_names": "person"}, {}, "sql = \"select * exclude (filename), regexp"),
    ("renamed", {"value": "kWh", "renamed": {"kWh new": "kWh"}}, {}, "leave it out"),
    ("engine", {"engine": "ibis"}, {}, "leave it out"), ("list_units", {"list_units": True}, {}, "leave it out"),
    ("duplicates", {"file": "a.csv", "unit": "who", "order": "t", "duplicates": "last"}, {}, "sql = \"with lines as"),
    ("duplicates", {"duplicates": "refuse"}, {}, "leave it out"),
    ("overlap", {"file": "a.csv", "unit": "who", "order": "t", "end": "e", "overlap": "last"}, {},
     'sql = "select * replace (least(e, lead(t)'),
    ("overlap", {"file": "a.csv", "unit": "who", "order": "t", "end": "e", "overlap": "first"}, {}, "sql = "),
    ("ambiguous", {"order": "t", "timezone": "Europe/Berlin", "ambiguous": "last"}, {},
     "order = \"cast(t AS timestamp) AT TIME ZONE 'Europe/Berlin'\""),
    ("ambiguous", {"order": "t", "timezone": "Europe/Berlin", "ambiguous": "first"}, {}, "order = "),
    ("ambiguous", {"order": "t", "ambiguous": "refuse"}, {}, "leave it out"),
    ("columns", {"file": "a.csv", "unit": "who", "columns": ["mon", "tue"]}, {}, "sql = \"from (unpivot"),
    ("ignore", {"file": "a.csv", "unit": "who", "ignore": ["note"]}, {}, "sql = \"from (unpivot"),
    ("empty", {"file": "a.csv", "unit": "who", "empty": "drop"}, {}, "sql = \"from (unpivot"),
    ("rows", {"file": "a.csv", "unit": "who", "rows": "wide"}, {}, "sql = \"from (unpivot"),
    ("attributes", {"file": "a.csv", "unit": "who", "attributes": ["ward"]}, {},
     "roster = \"select distinct who, ward from read_csv('a.csv', all_varchar = true)\""),
    ("elsewhere", {"value": "place", "elsewhere": "ignore"}, {"places": ["bar", "gym"]},
     "where = \"place IN ('bar', 'gym')\""),
    ("elsewhere", {"value": ["x", "y"], "elsewhere": "ignore"}, {"grid": {"x": [0, 3], "y": [0, 2]}},
     'where = "cast(x AS double) BETWEEN 0 AND 3 AND cast(y AS double) BETWEEN 0 AND 2"'),
    ("elsewhere", {"value": "place", "elsewhere": "refuse"}, {}, "leave it out"),
    ("belief.map", {"value": "v"}, {"map": {"on": "busy", "off": "free"}},
     "value = \"CASE v WHEN 'on' THEN 'busy' WHEN 'off' THEN 'free' ELSE v END\""),
    ("belief.min_length", {"file": "a.csv", "unit": "who", "order": "t"}, {"min_length": 3}, "sql = "),
    ("belief.longer", {"file": "a.csv", "unit": "who", "order": "t"}, {"longer": "cut", "max_length": 9}, "sql = "),
]  # fmt: skip
ROLES = ("order", "end", "value", "where", "unit")
COLUMNS = ["who", "t", "e", "v", "x", "y", "d", "hours", "place", "Datum", "end", "a b", "a", "b", "c", "person",
           "kWh new", "mon", "tue", "note", "ward", "filename"]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("key", "source", "belief", "line"), CLEANING)
def test_a_key_that_cleaned_rows_is_told_with_the_line_of_now(
    key: str, source: dict[str, Any], belief: dict[str, Any], line: str
) -> None:
    """Each printed line is TOML, and each printed role and SELECT is one that the judge accepts."""
    where = ("belief", key.removeprefix("belief.")) if key.startswith("belief.") else ("source", key)
    error = cleaned(where, {"source": source, "belief": belief})
    assert error is not None
    assert error.fix.removeprefix("write ").startswith(line), error.fix
    for role, text in printed(error.fix):
        rows = Rows.of(0, COLUMNS)
        if role in ROLES:
            for one in [text] if isinstance(text, str) else text:
                if one not in COLUMNS:
                    Judge(role).value(expression(one, role), Scope((("", rows),), expression(one, role)))
        elif role in ("sql", "roster"):
            parsed(text, role)


def printed(fix: str) -> list[tuple[str, Any]]:
    """Return the keys of a fix with their values, as TOML reads them."""
    lines = re.findall(r"""\b([a-z]+ = (?:\'\'\'.*?\'\'\'|'[^']*'|"(?:[^"\\]|\\.)*"|\[.*\]))""", fix)
    assert lines or fix.startswith("leave it out"), fix
    return [pair for line in lines for pair in tomllib.loads(line).items()]


@pytest.mark.mutants
def test_sql_that_is_printed_opens_the_file(tmp_path: Path) -> None:
    """The SELECT of each key is judged and run over a file with such columns."""
    from takifugu.data.relation.opening import open_table

    (tmp_path / "logs").mkdir()
    header = "who,t,e,mon,tue,note,ward\n"
    for name in ("a.csv", "logs/Ana.csv"):
        (tmp_path / name).write_text(header + "".join(f"Ana,{n},{n + 1},x,y,z,w\n" for n in range(4)), "utf-8")
    seen = 0
    for key, source, belief, _ in CLEANING:
        where = ("belief", key.removeprefix("belief.")) if key.startswith("belief.") else ("source", key)
        error = cleaned(where, {"source": source, "belief": belief})
        assert error is not None
        for role, text in printed(error.fix):
            if role in ("sql", "roster") and "read_csv" in text and "'...'" not in text:  # which its owner fills in
                open_table(text, (), tmp_path, str(tmp_path), "sql").close()
                seen += 1
    assert seen >= 12


@pytest.mark.parametrize(("example", "change", "place"), [
    ("venues", ('value = "place"', 'value = "place"\nmissing = 3'), "source.missing: is a key of before"),
    ("hours", ('order = "when"', 'order = ["day", "time"]'), "source.order: is a key of before"),
    ("venues", ('value = "place"', 'value = "place"\nround_to = "soon"'), "source.round_to: is a key of before"),
])  # fmt: skip
def test_a_release_file_tells_it_at_its_key(tmp_path: Path, example: str, change: tuple[str, str], place: str) -> None:
    lines = problems(tmp_path, example, change)
    assert [line for line in lines if line.startswith(place)], lines

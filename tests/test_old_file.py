"""The tool that rewrites a file of before: names, then cleaning keys as expressions; comments and order stay."""

import tomllib
from pathlib import Path

import duckdb
import pytest
from tools import old_file

from takifugu.data.sql.words import identifier, literal
from takifugu.releasing.file.before.old_keys import NOW

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").rglob("*.toml"))
#: Keys that are called otherwise in another section, or beside another key.
BEFORE = {
    "recording": "piece", "recordings_independent": "pieces_independent", "mean_duration": "stay", "next_state": "next",
    "default_state": "before", "entries": "batch",
}  # fmt: skip


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_file_of_now_stays_as_it_is(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert old_file.renamed(text) == text
    assert old_file.cleaned(text) == (text, [])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_file_of_before_becomes_that_of_now(example: Path) -> None:
    """What every key was called before is taken back; comments stay in their order."""
    text = example.read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        key, sign, rest = line.partition(" = ")
        lines.append(f"{BEFORE.get(key, key)}{sign}{rest}".replace("[[table]]", "[[release]]"))
    now = old_file.renamed("\n".join(lines).replace('kind = "joint-table"', 'kind = "table"') + "\n")
    assert tomllib.loads(now) == tomllib.loads(text)
    assert [line.partition("#")[2] for line in now.splitlines()] == [
        line.partition("#")[2] for line in text.splitlines()
    ]


RENAMED = {
    "coordinates of visits": (
        '[source]\nperson = "who"  # them\nx = "lon"\n# north\ny = "lat"\n\n'
        "[belief]\ngrid = { x = [0, 1], y = [0, 1] }\n",
        {"source": {"unit": "who", "value": ["lon", "lat"]}, "belief": {"grid": {"x": [0, 1], "y": [0, 1]}}},
    ),
    "a place": ('[source]\nplace = "where"\n', {"source": {"value": "where"}}),
    "places": ('[source]\ncoordinates = [\n  "x",  # east\n  "y",\n]\n', {"source": {"value": ["x", "y"]}}),
    "a section": (
        '[belief.stay]\non = 3\n[belief.next]\non = 1\n[belief.fit]\npiece = "run"\n[hide]\nperson = "eli"\n',
        {"belief": {"mean_duration": {"on": 3}, "next_state": {"on": 1}, "fit": {"recording": "run"}},
         "hide": {"person": "eli"}},
    ),
    "inline tables": (
        '[belief]\nstays.00-23 = { on = 3 }\nfit = { file = "piece = 1", piece = "run" }\n'
        'reference = { coordinates = ["x", "y"] }\n',
        {"belief": {"mean_durations": {"00-23": {"on": 3}}, "fit": {"file": "piece = 1", "recording": "run"},
                    "reference": {"value": ["x", "y"]}}},
    ),
    "a key in words": ('[source]\nname = "x = 1"  # piece = 3\n', {"source": {"name": "x = 1"}}),
    "an ending without a line": ('[source]\npiece = "run"', {"source": {"recording": "run"}}),
}  # fmt: skip


@pytest.mark.parametrize("name", RENAMED)
def test_names_of_now(name: str) -> None:
    text, now = RENAMED[name]
    assert tomllib.loads(old_file.renamed(text)) == now


def test_every_key_of_before_is_rewritten() -> None:
    for section, names in NOW.items():
        for old, new in names.items():
            if section and old not in ("x", "y"):
                assert old_file.renamed(f"[{section}]\n{old} = 1\n") == f"[{section}]\n{new} = 1\n"


def test_comments_stay_in_their_column_where_there_is_room() -> None:
    assert old_file.renamed('[source]\nperson = "a"   # why\n') == '[source]\nunit = "a"     # why\n'
    assert old_file.renamed('[source]\npiece = "a"   # why\n') == '[source]\nrecording = "a" # why\n'


def source(text: str) -> dict[str, object]:
    now, _ = old_file.cleaned(f"[source]\n{text}")
    return dict(tomllib.loads(now)["source"])


CLEANED = {
    "a format": ('order = "t"\norder_format = "%d.%m.%Y %H:%M"\n', "order", {"t": "02.03.2026 10:30"},
                 "2026-03-02 10:30:00"),
    "a date and a time": ('order = ["d", "t"]\n', "order", {"d": "2026-03-02", "t": "25:10:00"}, "2026-03-03 01:10:00"),
    "both by a format": ('order = ["d", "t"]\norder_format = "%d/%m/%Y %H:%M"\n', "order",
                         {"d": "2/3/2026", "t": "7:05"}, "2026-03-02 07:05:00"),
    "seconds": ('order = "t"\norder_format = "epoch"\n', "order", {"t": "60"}, "1970-01-01 00:01:00+00"),
    "rounding": ('order = "t"\nround_to = "1min"\n', "order", {"t": "2026-03-02 10:30:40"}, "2026-03-02 10:31:00"),
    "a length": ('order = "t"\nduration = ["hours", "1h"]\n', "end", {"t": "2026-03-02 10:00", "hours": "1.5"},
                 "2026-03-02 11:30:00"),
    "missing": ('value = "v"\nmissing = ["NA", "it\'s"]\n', "value", {"v": "it's"}, None),
    "decimal": ('value = "v"\ndecimal = ","\nthousands = "."\n', "value", {"v": "1.234,5"}, "1234.5"),
    "without a name": ('unit = "who"\nnull_keys = "drop"\n', "where", {"who": None}, "false"),
    "without a name, too": ('unit = "who"\nwhere = "a = \'1\'"\nnull_keys = "drop"\n', "where", {"who": "x", "a": "1"},
                            "true"),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEANED)
def test_expressions_give_what_the_keys_gave(name: str) -> None:
    text, key, row, expected = CLEANED[name]
    base = duckdb.connect()
    base.execute("set timezone = 'UTC'")
    cells = ((column, "null" if value is None else literal(value)) for column, value in row.items())
    columns = ", ".join(f"{cell} as {identifier(column)}" for column, cell in cells)
    (read,) = base.sql(f"select cast({source(text)[key]} as varchar) from (select {columns})").fetchall()[0]
    assert read == expected


def test_a_map_becomes_cases_and_goes() -> None:
    now, todo = old_file.cleaned(
        '[source]\nvalue = "v"  # what\n\n[belief]\nstates = ["a"]\n\n'
        '[belief.map]\non = "a"\n"o\'ff" = "b"\n\n[hide]\nx = 1\n'
    )
    read = tomllib.loads(now)
    assert (todo, read["belief"], read["hide"]) == ([], {"states": ["a"]}, {"x": 1})
    values = f"select {read['source']['value']} from (values ('on'), ('o''ff'), ('c')) as t(v)"
    assert duckdb.sql(values).fetchall() == [("a",), ("b",), ("c",)]


def test_what_is_left_to_do_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.toml"
    file.write_text('[source]\nsheet = "May 1"\noverlap = "last"\nbatch = "x"\n', encoding="utf-8")
    assert old_file.main([str(file), "--write"]) == 1
    assert "source.overlap: write sql = '''select * replace (least(" in capsys.readouterr().err
    assert tomllib.loads(file.read_text("utf-8"))["source"] == {
        "overlap": "last", "entries": "x", "sql": 'from "May 1"'
    }  # fmt: skip
    file.write_text('[source]\npiece = "x"\nmissing = ["NA"]\n', encoding="utf-8")
    assert old_file.main([str(file), "--only-names"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["source"] == {"recording": "x", "missing": ["NA"]}

"""What `takifugu init` says of data that can be read in two ways, and what it then leaves for their author to write."""

import json
import re
import sqlite3
import subprocess
import tomllib
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from tests.support.commands import ended, invoke, succeed
from tests.support.release_files import filled, with_chain
from tests.support.starting import drafted, init, table_in
from tests.support.workbooks import write_workbook

from takifugu.core.errors import DataError
from takifugu.data import open_frame
from takifugu.releasing.file.loading import load


def started(data: Path, lines: Iterable[str] | None = None, *words: str) -> tuple[str, str]:
    """Draft a release file about these lines; what was said, in one line, and the draft."""
    if lines is not None:
        data.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return drafted(data, *words)[:2]


def days(form: str, people: Iterable[str] = ("Ana", "Bo"), step: int = 1) -> list[str]:
    rows = [f"{who},{date(2025, 1, 1) + timedelta(days=step * n):{form}},{'on' if n % 5 < 3 else 'off'}"
            for who in people for n in range(365 // step)]  # fmt: skip
    return ["person,date,state", *rows]


@pytest.mark.parametrize(("form", "other"), [("%m/%d/%Y", "%d/%m/%Y"), ("%d/%m/%Y", "%m/%d/%Y")])
def test_of_two_readings_of_dates_the_one_that_rises_is_taken(tmp_path: Path, form: str, other: str) -> None:
    lines = days(form)
    early = [line for line in lines if not any(f"/{n}/" in line or f",{n}/" in line for n in range(13, 32))]
    said, draft = started(tmp_path / "d.csv", early)
    assert f'order_format = "{form}"' in draft
    assert f'"{other}" fits, too' in draft
    said, draft = started(tmp_path / "d.csv", lines)  # the 13th is no month
    assert f'order_format = "{form}"' in draft
    assert other not in said + draft


def test_dates_that_could_mean_two_things_are_left_to_their_author(tmp_path: Path) -> None:
    months = [f"{who},{month:02}/01/2025,{'high' if month % 3 else 'low'}" for who in "abc" for month in range(1, 13)]
    backwards = [line for line in reversed(days("%m/%d/%Y")[1:]) if line[7:9].isdigit() and int(line[7:9]) < 13]
    for rows in (months, backwards):
        data = table_in(tmp_path, "person,date,state", rows)
        done = ended(2, "init", data, "-o", tmp_path / "r.toml", "--yes", "--unit", "person")
        assert '--dates "%d/%m/%Y" (is read so), or --dates "%m/%d/%Y" (is read so)' in done.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_notes_are_in_the_json(tmp_path: Path) -> None:
    data = table_in(tmp_path, "who,minute,state,state", (f"a,{m},x{m % 2},{m % 3}" for m in range(1, 13)))
    begun = init(data, "-o", tmp_path / "r.toml", "--kind", "sequences", "--json")
    (note,) = json.loads(begun.stdout)["notes"]
    assert "Several columns are called 'state', so none of them is read: give each a name of its own." in note


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("day", "clock"), [
    ("%d.%m.%Y", "%H:%M"), ("%Y-%m-%d", "%H:%M:%S"), ("%m/%d/%Y", "%I:%M %p"), ("%d.%m.%y", "%I:%M%p"),
    ("%Y-%m-%d", "%I:%M %p"), ("%Y-%m-%d", "%H%M"), ("%d.%m.%Y", "%H%M"),
])  # fmt: skip
def test_a_log_of_one_day_is_ordered_by_date_and_time(tmp_path: Path, day: str, clock: str) -> None:
    start = datetime(2025, 12, 29)
    times = [start + timedelta(minutes=5 * n) for n in range(288)]
    rows = [f"{who};{t:{day}};{t:{clock}};{t.minute},5;{'da' if t.hour % 5 else 'weg'}" for who in "ABC" for t in times]
    said, draft = started(tmp_path / "d.csv", ["Gerät;Datum;Uhrzeit;Messwert;Zustand", *rows])
    assert "Drafted as markov-chain: 'Gerät' has several rows, in the order of 'Datum'" in said
    assert 'order = ["Datum", "Uhrzeit"]' in draft
    is_iso = (day, clock) == ("%Y-%m-%d", "%H:%M:%S")  # which needs no format
    assert (f'order_format = "{day} {clock}"' in draft) != is_iso
    draft = with_chain(draft, '["da", "weg"]')
    one = draft.replace('["Datum", "Uhrzeit"]', '"Datum"').replace(f"{day} {clock}", day)
    (tmp_path / "r.toml").write_text(one, encoding="utf-8")
    done = invoke("release", tmp_path / "r.toml", "--anyway")
    assert done.exit_code != 0
    assert 'write order = ["Datum", "Uhrzeit"] if the time of day is in a column' in " ".join(done.output.split())
    (tmp_path / "r.toml").write_text(draft, encoding="utf-8")
    succeed("release", tmp_path / "r.toml", "--anyway")


def hours_as_numbers(header: str, digits: int) -> list[str]:
    times = [datetime(2026, 1, 5) + timedelta(minutes=15 * n) for n in range(192)]
    rows = [f"{t:%Y-%m-%d},{100 * t.hour + t.minute:0{digits}},{'up' if t.hour % 5 else 'down'}" for t in times]
    return [header, *rows]


@pytest.mark.parametrize("name", ["time", "clock", "hhmm", "Uhrzeit"])
def test_times_of_day_as_numbers_are_named(tmp_path: Path, name: str) -> None:
    _, draft = started(tmp_path / "d.csv", hours_as_numbers(f"date,{name},state", 1))
    assert f'order = ["date", "{name}"]' in draft
    assert 'order_format = "%Y-%m-%d %H%M"' in draft
    _, again = started(tmp_path / "d.csv", hours_as_numbers(f"date,{name},state", 4))
    assert again == draft


@pytest.mark.parametrize("rows", [
    ["date,hits,state", *hours_as_numbers("", 1)[1:]],  # not called a time
    ["date,time,state", *(f"2026-01-05,{n},{'up' if n % 5 else 'down'}" for n in range(300))],  # 160 is no 1:60
    ["date,time,state", *(f"2026-01-05,{n},{'up' if n % 5 else 'down'}" for n in range(60))],  # nor is 7 a time
    ["night,time,state", *(row.split(",", 1)[0][-2:] + row[10:] for row in hours_as_numbers("", 1)[1:])],  # no date
])  # fmt: skip
def test_other_numbers_are_no_times_of_day(tmp_path: Path, rows: list[str]) -> None:
    _, draft = started(tmp_path / "d.csv", rows, "--kind", "sequences")
    assert "%H%M" not in draft


@pytest.mark.parametrize("kind", ["users", "joint-table", "independent-records"])
def test_several_rows_of_a_person_are_no_people_unless_somebody_says_so(tmp_path: Path, kind: str) -> None:
    data = table_in(tmp_path, "visitor,clinic", (f"v{n * n % 97},clinic {n % 9}" for n in range(500)))
    words = ["init", data, "-o", tmp_path / "r.toml", "--yes", "--kind", kind]
    error = json.loads(ended(2, *words, "--json").stdout)["error"]
    assert error["where"] == "whose"
    assert "'visitor' has several rows for some, which must be hidden together: make them one row each" in error["rule"]
    assert not {*"0123456789"} & {*error["rule"]}, "it counts nobody"
    table_in(tmp_path, "visitor,clinic", (f"v{n},clinic {n % 9}" for n in range(500)))
    succeed(*words)


def test_more_rows_than_users_are_said_to_be_rows_of_one_person(tmp_path: Path) -> None:
    rows = (f"v{n % 30},{'yes' if n % 3 else 'no'}" for n in range(90))
    _, draft = started(tmp_path / "d.csv", ["visitor,answer", *rows])
    draft = filled(draft, belief='size = 30\nvalues = ["yes", "no"]\nprobabilities = [0.1, 0.9]')
    (tmp_path / "r.toml").write_text(draft, encoding="utf-8")
    done = invoke("release", tmp_path / "r.toml", "--anyway")
    said = " ".join(done.output.split())
    assert done.exit_code != 0
    assert "all rows of one person are hidden together, so they must be one row" in said
    assert "use sequences" in said


@pytest.mark.slow
def test_the_largest_of_several_tables_is_taken_and_all_are_listed(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "d.db") as base:
        base.execute("create table android_metadata (locale text)")
        base.executemany("insert into android_metadata values (?)", [("de",)] * 2_000)
        base.execute("create table settings (k text, v text)")
        base.execute("create table log (who text, minute integer, mode text)")
        base.executemany("insert into log values ('a', ?, ?)", [(n, "on" if n % 3 else "off") for n in range(300)])
    base.close()
    said, draft = started(tmp_path / "d.db")
    assert "The file has 3 tables: 'android_metadata', 'settings', 'log'. The largest was taken, 'log'" in said
    assert 'table = "log"' in draft
    with duckdb.connect(str(tmp_path / "d.duckdb")) as db:
        for number in range(12):
            db.execute(f"create table t{number:02} as select i as minute, 'on' as mode from range({10 + number}) r(i)")
    said, draft = started(tmp_path / "d.duckdb")
    assert "12 tables: " in said
    assert "'t09' and 2 more. The largest was taken, 't11'" in said
    assert 'table = "t11"' in draft


@pytest.mark.slow
@pytest.mark.parametrize(("above", "number"), [
    (["Bericht vom 1.2.2025", ""], 2), (["Report", "made by x; y", ""], 3), (["A, B", ""], 2), (["sep=;", "A"], 2),
])  # fmt: skip
def test_a_title_above_the_names_is_noticed(tmp_path: Path, above: list[str], number: int) -> None:
    rows = [f"{who};{n};{'a' if n % 3 else 'b'}" for who in "pq" for n in range(60)]
    (tmp_path / "d.csv").write_text("\n".join([*above, "who;min;state", *rows, ""]))
    said, draft = started(tmp_path / "d.csv")
    key = f"header = {number + 1}"
    assert f"Of the file lines 1 to {number} are a title, and no row: {key} leaves out" in said
    assert f"\n{key} " in draft
    _, without = started(tmp_path / "d.csv", ["who;min;state", *rows])
    assert [line for line in draft.splitlines() if not line.startswith("header = ")] == without.splitlines()
    for plain in ("who;min;state", "\nwho;min;state", "sep=;\nwho;min;state", '"who\nis it";"min\nute";state'):
        assert "header" not in started(tmp_path / "d.csv", [plain, *rows])[1]
    assert "header" not in started(tmp_path / "d.csv", ["who;min;state", *(f"{row};" for row in rows)])[1]


def test_titles_and_units_in_a_sheet_are_left_out(tmp_path: Path) -> None:
    rows = [(None, who, n, "a" if n % 3 else "b", 60 + n % 7) for who in "pq" for n in range(60)]
    names = (None, "who", "min", "state", "pulse")
    sheets = {
        "header = 3": [("Report", None, "of May"), (), names, *rows],
        "header = [2, 3]": [("Whose", None, "What"), names, (None, None, "min", None, "bpm"), *rows],
        "header = [1, 2]": [names, (None, None, "min", None, "bpm"), *rows],
        "rows": [names, *rows], "source": [(), names, *rows],
    }  # fmt: skip
    for key, lines in sheets.items():
        write_workbook(tmp_path / "d.xlsx", {"log": lines})
        _, draft = started(tmp_path / "d.xlsx")
        assert ("header = " in draft) == key.startswith("header")
        assert key in draft
        (tmp_path / "r.toml").write_text(with_chain(draft, '["a", "b"]'), encoding="utf-8")
        file = load(tmp_path / "r.toml")
        assert [unit.size for unit in file.kind.units(file)] == [60, 60]


@pytest.mark.parametrize("codec", ["utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("below", ["", ";;\r\n\r\n"])
def test_a_command_deletes_the_totals_alone(tmp_path: Path, codec: str, below: str) -> None:
    rows = [f"Jürgen {n % 4};{n};{'zu' if n % 3 else 'auf'}" for n in range(80)]
    text = "\r\n".join(["wer;zeit;tür", *rows, "Summe;;80", below])
    (tmp_path / "d.csv").write_bytes(text.encode(codec))
    said, _ = started(tmp_path / "d.csv")
    assert "looks like totals" in said
    command = re.search(r"Or delete it: (.* > data\.csv)", said)
    assert (command is None) == (codec == "utf-16"), "tools of lines read bytes"
    if command is not None:
        words = ["env", "LC_ALL=C.UTF-8", "sh", "-c", command[1]]
        subprocess.run(words, cwd=tmp_path, check=True)
        assert (tmp_path / "data.csv").read_bytes() == text.replace("Summe;;80\r\n", "").encode(codec)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("header", [["who;at;pulse"], ["who;at;pulse", "Who?;When?;Beats", "{x};{y};{z}"]])
@pytest.mark.parametrize("above", [[], ["Report", ""]])
@pytest.mark.parametrize("many", [40, 20_000])
def test_a_header_of_several_lines_is_left_out(tmp_path: Path, header: list[str], above: list[str], many: int) -> None:
    rows = [f"{'pq'[n % 2]};{n // 2};{60 + n * 7 % 31}" for n in range(many)]
    said, draft = started(tmp_path / "d.csv", [*above, *header, *rows], "--kind", "sequences")
    first, last = len(above) + 1, len(above) + len(header)
    key = first if first == last else [first, last]
    assert tomllib.loads(draft)["source"].get("header", 1) == key
    assert ("more of its header" in said) == (len(header) > 1)
    bins = "bins = { low = [0, 70], high = [70, inf] }"
    source = f'value = "pulse"\nstep = 1\nnulls = "refuse"\n{bins}'
    text = with_chain(filled(draft, source=source), '["low", "high"]')
    (tmp_path / "r.toml").write_text(text.replace("max_length = 1000", f"max_length = {many}"), encoding="utf-8")
    file = load(tmp_path / "r.toml")
    assert sum(unit.size for unit in file.kind.units(file)) == many


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("total", ["Summe", ""])
def test_keys_leave_out_totals_and_repeated_names_of_columns(tmp_path: Path, ending: str, total: str) -> None:
    names = ("who", "minute", "state", "pulse")
    rows = [(who, f"{n}", "on" if n * n % 7 < 3 else "off", f"{60 + n % 9}") for who in "pq" for n in range(60)]
    lines = [names, *rows[:50], names, *rows[50:], (total, "Summe" if not total else "", "", "7680")]
    data = tmp_path / f"d.{ending}"
    if ending == "xlsx":
        write_workbook(data, {"log": lines})
    else:
        data.write_text("\n".join(map(",".join, lines)) + "\n", encoding="utf-8")
    said, draft = started(data)
    assert 'were joined: missing = ["who"] and null_keys = "drop" under [source] leave them out. Or delete' in said
    word = 'missing = ["Total"], as it is written there, and ' if total else ""
    assert f'no row of their own: {word}null_keys = "drop" under [source] leaves it out. Or delete it' in said
    draft = with_chain(filled(draft, source='missing = ["who", "Summe"]\nnull_keys = "drop"'), '["on", "off"]')
    (tmp_path / "r.toml").write_text(draft, encoding="utf-8")
    file = load(tmp_path / "r.toml")
    assert [unit.size for unit in file.kind.units(file)] == [60, 60]


@pytest.mark.parametrize("ending", ["xlsx", "sqlite", "duckdb"])
def test_what_a_refusal_sends_to_init_for_is_there(tmp_path: Path, ending: str) -> None:
    """A release names no sheet or table, which may be somebody's name; `init` lists them to whoever asks."""
    tables = {"log": [("who", "state"), ("a", "on"), ("a", "off"), ("b", "on")], "Zoe": [("key", "count"), ("b", "1")]}
    data = tmp_path / f"two.{ending}"
    if ending == "xlsx":
        write_workbook(data, tables)
    else:
        with (sqlite3 if ending == "sqlite" else duckdb).connect(str(data)) as base:
            for name, ((one, two), *rows) in tables.items():
                base.execute(f'create table {name} ("{one}" varchar, "{two}" varchar)')
                for row in rows:
                    base.execute(f"insert into {name} values (?, ?)", row)
        base.close()
    with pytest.raises(DataError) as refused:
        open_frame(data)
    assert f"`takifugu init {data} -o " in str(refused.value)
    assert "Zoe" not in str(refused.value)
    said, _ = started(data)
    for words in ("'log'", "'Zoe'", "The largest was taken, 'log'"):
        assert words in said

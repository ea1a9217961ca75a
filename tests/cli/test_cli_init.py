"""`takifugu init`: what it guesses of strange columns, a draft that becomes valid, and nothing of the data in it."""

import errno
import json
import os
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.commands import ended, invoke, refused, succeed, widest, words_of
from tests.support.engines import arrow
from tests.support.failing import raising
from tests.support.release_files import filled
from tests.support.releases import refusal_of
from tests.support.starting import begin, init, source_in

from takifugu.cli import starting
from takifugu.data import open_frame
from takifugu.releasing.file.drafting.draft import Start, draft_of
from takifugu.releasing.file.guessing.columns import LOOKED_AT, first_look
from takifugu.releasing.file.guessing.facts import Facts
from takifugu.releasing.file.kinds import drafted
from takifugu.releasing.file.loading import load


def draft(data: Path, output: Path) -> str:
    look = first_look(open_frame(data))
    return draft_of(Start(data, output, look, "markov-chain", Facts(look).roles, {"rows": "samples"}))


def sleep(folder: Path, name: str = "Schlaf & Wach (2025).csv") -> Path:
    """Write a strange table: odd names, semicolons, quotes, two nights per person, a column that is no state."""
    lines = ["Wer?;Nacht Nr.;Uhr [min];Zustand/état;Puls"]
    for who in ('"Ärla"', '"Bo; jr."', "C"):
        for night in range(2):
            lines += [
                f"{who};{night};{t * 5};{['wach', 'tief', 'tief', 'REM, leicht'][t * 7 // 3 % 4]};{60 + t % 7}.5"
                for t in range(40)
            ]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def filled_in(text: str) -> str:
    """Do what `init` says: write what only its author can know."""
    matrix = "matrix = [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]"
    independent = "recordings_independent = true\nunits_independent = true"
    return filled(text, belief=f'states = ["wach", "tief", "REM, leicht"]\n{matrix}\n{independent}')


def roles(path: Path) -> dict[str, str]:
    return {role: column.name for role, column in Facts(first_look(open_frame(path))).roles.items()}


def table(folder: Path, header: str, rows: list[str]) -> Path:
    path = folder / "data.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_from_a_strange_table_to_a_certificate(tmp_path: Path) -> None:
    data, where = sleep(tmp_path), tmp_path / "release.toml"
    started = begin(data, "-o", where)
    assert widest(started.output, tmp_path) <= 80
    missing = ended(2, "calibrate", where)
    named = re.findall(r"^takifugu: (\S+):", missing.stderr, re.MULTILINE)
    assert named == ["belief.states", "belief.recordings_independent", "belief.units_independent", "belief.matrix"]
    assert all(key in started.output for key in named)
    where.write_text(filled_in(where.read_text(encoding="utf-8")), encoding="utf-8")
    succeed("compare", where)
    succeed("release", "--anyway", where)
    certificate = tmp_path / "release-published" / "time-in-states.certificate.json"
    said = words_of(succeed("certificate", "show", certificate))
    assert "3 people" in said
    assert "Bo; jr." not in said


def test_the_draft_is_read_as_it_is_meant(tmp_path: Path) -> None:
    data = sleep(tmp_path)
    text = draft(data, tmp_path / "release.toml")
    source = tomllib.loads(text)["source"]
    assert source == {
        "name": "Schlaf-Wach-2025", "file": data.name, "rows": "samples", "unit": "Wer?",
        "recording": "Nacht Nr.", "order": "Uhr [min]", "value": "Zustand/état", "budget": 1.0,
    }  # fmt: skip
    assert widest(text) <= 110


def test_nothing_of_the_data_is_in_a_draft(tmp_path: Path) -> None:
    """No name of a unit, no number, no length, no state."""
    data = sleep(tmp_path)
    text = draft(data, tmp_path / "release.toml")
    assert not any(word in text for word in ("Ärla", "Bo; jr.", "60.5", "195", "240", "wach", "tief", "REM"))
    assert "wach" not in init(data, "-o", tmp_path / "b.toml").output
    assert "wach" not in init("--json", data, "-o", tmp_path / "c.toml").output


@pytest.mark.parametrize(("header", "rows", "expected"), [
    ("person,minute,posture", [f"{p},{m},{'up' if m % 3 else 'down'}" for p in "ab" for m in range(30)],
     {"unit": "person", "order": "minute", "value": "posture"}),
    ("x1,x2,x3", [f"{p},{m},{'up' if m % 3 else 'down'}" for p in ("u7", "u8", "u9") for m in range(30)],
     {"unit": "x1", "order": "x2", "value": "x3"}),
    ("timestamp,user_id,state",
     [f"2026-01-01T{h:02}:00,{u},{'in' if h % 5 else 'out'}" for h in range(24) for u in (1, 2)],
     {"unit": "user_id", "order": "timestamp", "value": "state"}),
    ("who,t,code", [f"{who},{t},{t % 2}" for t in range(20) for who in ("Ana", "Ben", "Chi")],
     {"unit": "who", "order": "t", "value": "code"}),
    ("state", ["a", "b", "a", "a", "b"] * 5, {"value": "state"}),
    ("day,sick", [f"{d},{d % 7 == 0}" for d in range(60)], {"order": "day", "value": "sick"}),
    ("id,weight", [f"{i},{i * 1.37}" for i in range(50)], {"order": "id"}),
    ("a,b", ["1.5,2.5", "2.5,3.5"], {}),
])  # fmt: skip
def test_guesses(tmp_path: Path, header: str, rows: list[str], expected: dict[str, str]) -> None:
    guessed = roles(table(tmp_path, header, rows))
    assert {k: v for k, v in guessed.items() if k in expected or k == "value"} == expected


def test_without_a_state_column_the_draft_asks_for_one(tmp_path: Path) -> None:
    data = table(tmp_path, "t", [f"{t}" for t in range(60)])
    assert "source.value" in begin(data, "-o", tmp_path / "release.toml", "--kind", "sequences").output


def test_rows_without_an_order_are_not_taken_for_steps_silently(tmp_path: Path) -> None:
    data = table(tmp_path, "id,sex,smokes", [f"p{i},{'fm'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(40)])
    said = init(data, "-o", tmp_path / "release.toml", "--kind", "sequences").output
    assert "If each row is a separate record" in " ".join(said.split())
    assert "p7" not in said


def test_a_parquet_file(tmp_path: Path) -> None:
    rows = range(40)
    columns: Any = {
        "who": ("text", ["a"] * 20 + ["b"] * 20), "when": ("int", [i % 20 for i in rows]),
        "in bed": ("bool", [i % 3 == 0 for i in rows]),
    }  # fmt: skip
    pyarrow.parquet.write_table(arrow(columns), tmp_path / "nights.parquet")
    guess = json.loads(init("--json", tmp_path / "nights.parquet", "-o", tmp_path / "r.toml").stdout)
    assert guess["columns"] == [
        {"name": "who", "kind": "texts", "marks": 0, "role": "unit"},
        {"name": "when", "kind": "whole numbers", "marks": 0, "role": "order"},
        {"name": "in bed", "kind": "true or false", "marks": 0, "role": "value"},
    ]
    made = {"format", "command", "file", "written", "ledger", "ledger_is_new", "ledger_of"}
    assert set(guess) == {*made, "kind", "why", "schema", "verdict", "columns", "notes", "fill_in", "questions"}
    assert guess["kind"] == "markov-chain"
    assert [line.split(":")[0] for line in guess["fill_in"]] == [
        "belief.states", "belief.units_independent", "belief.matrix",
    ]  # fmt: skip


def test_it_overwrites_only_when_it_is_told_to(tmp_path: Path) -> None:
    data, where = sleep(tmp_path), tmp_path / "mine.toml"
    where.write_text("mine", encoding="utf-8")
    assert "--force" in refused("init", data, "--unit", "Wer?", "-o", where)
    assert where.read_text(encoding="utf-8") == "mine"
    begin(data, "-o", where, "--force")
    assert "[source]" in where.read_text(encoding="utf-8")


def test_the_file_is_found_from_where_the_draft_lies(tmp_path: Path) -> None:
    (tmp_path / "data" / "raw").mkdir(parents=True)
    (tmp_path / "files").mkdir()
    data, where = sleep(tmp_path / "data" / "raw"), tmp_path / "files" / "release.toml"
    begin(data, "-o", where)
    assert source_in(where)["file"] == f"../data/raw/{data.name}"
    where.write_text(filled_in(where.read_text(encoding="utf-8")), encoding="utf-8")
    assert load(where).spec.source.unit == "Wer?"


@pytest.mark.parametrize(("name", "content", "words"), [
    ("none.csv", None, "cannot be read"),
    ("empty.csv", b"", "is empty"),
    ("broken.csv", b'a,b\n"1,2\n3,4\n', "not a well-formed CSV"),
    ("uneven.csv", b"a,b\n1,2\n3,4,5\n", "more or fewer fields"),
    ("book.xlsx", b"PK\x03\x04rest", "Excel"),
    ("table.parquet", b"nothing", "is called Parquet and is not"),
    ("rows.csv", b"who,at,state\n", "rows.csv has no row to look at: export it again, with some"),
    ("two\nlines.csv", b"who,minute,state\n" + b"Ana,1,a\nAna,2,b\n" * 9, "rename the file"),
])  # fmt: skip
def test_what_is_no_table(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    outcome = init(tmp_path / name, "-o", tmp_path / "release.toml")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert words in outcome.stderr
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else [name])


def test_what_is_no_file(tmp_path: Path) -> None:
    for source, words in ((tmp_path, "has no files"), ("https://example.org/a.csv", "is a URL")):
        outcome = init(source, "-o", tmp_path / "release.toml")
        assert (outcome.exit_code, words in outcome.stderr) == (2, True), outcome.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "no space left"), (errno.EACCES, "permission denied")])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    data = sleep(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", raising(OSError(number, os.strerror(number))))
    done = init(data, "-o", tmp_path / "release.toml")
    assert (done.exit_code, words in done.stderr) == (2, True)
    assert [p.name for p in tmp_path.iterdir()] == [data.name]


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).map(str.strip).filter(bool)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(names, min_size=3, max_size=3, unique=True), st.lists(names, min_size=2, max_size=4, unique=True))
def test_no_name_and_no_label_breaks_the_draft(tmp_path: Path, columns: list[str], labels: list[str]) -> None:
    data = tmp_path / "data.parquet"
    kinds: Any = {
        columns[0]: ("text", ["p"] * 20 + ["q"] * 20), columns[1]: ("int", list(range(20)) * 2),
        columns[2]: ("text", [labels[i * i % len(labels)] for i in range(40)]),
    }  # fmt: skip
    pyarrow.parquet.write_table(arrow(kinds), data)
    text = draft(data, tmp_path / "release.toml")
    source = tomllib.loads(text)["source"]
    assert roles(data) == {key: source[key] for key in ("unit", "recording", "order", "value") if key in source}
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    assert "belief.states: is missing" in str(refusal_of(tmp_path / "release.toml"))


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_columns_are_guessed_from_the_first_rows_only(tmp_path: Path, engine: str) -> None:
    """A large file is not read to its end for a guess: what comes after the rows that are looked at says nothing."""
    path = tmp_path / "long.csv"
    path.write_text("minute,state\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(LOOKED_AT)) + "later,7\n" * 5)
    data = path if engine == "duckdb" else pytest.importorskip("polars").read_csv(path, infer_schema=False)
    table = open_frame(data)
    look = first_look(table)
    assert {name: column.kind for name, column in look.columns.items()} == {"minute": "whole numbers", "state": "texts"}
    assert Facts(look).roles == {"order": look.columns["minute"], "value": look.columns["state"]}


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_nothing_is_written_through_a_link(tmp_path: Path, force: list[str]) -> None:
    (tmp_path / "data.csv").write_text("who,state\na,x\na,y\nb,x\nb,y\n")
    target, link = tmp_path / "precious.txt", tmp_path / "release.toml"
    for content in ("mine", None):
        target.unlink(missing_ok=True)
        if content is not None:
            target.write_text(content)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        (tmp_path / ".release.toml.unfinished").unlink(missing_ok=True)
        (tmp_path / ".release.toml.unfinished").symlink_to(target)
        done = init(str(tmp_path / "data.csv"), "-o", str(link), *force)
        assert (target.read_text() if target.exists() else None) == content
        assert done.exit_code == (0 if force else 2)
        assert link.is_symlink() == (not force)


WARD = [
    (ward, f"{day:02}.03.2025 {hour:02}:00", f"{hour % 7},{day % 10}")
    for ward in ("Süd", "Nord") for day in (1, 14) for hour in range(24)
]  # fmt: skip


def test_a_strange_export_is_drafted_with_what_it_needs(tmp_path: Path) -> None:
    text = "\r\n".join(["sep=;", "Station;Zeit;Aktivität;Lage", *(f"{w};{t};{x};{'wach' if '1:' in t else 'ruht'}"
                                                                for w, t, x in WARD), ";;;", ";;;"])  # fmt: skip
    (tmp_path / "d.csv").write_bytes(text.encode("cp1252"))
    begin(tmp_path / "d.csv", "-o", tmp_path / "r.toml")
    source = source_in(tmp_path / "r.toml")
    assert {k: source[k] for k in ("encoding", "decimal", "order_format", "unit", "order", "value")} == {
        "encoding": "cp1252", "decimal": ",", "order_format": "%d.%m.%Y %H:%M", "unit": "Station", "order": "Zeit",
        "value": "Lage",
    }  # fmt: skip


def test_a_first_line_of_data_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("\n".join(f"{w};{t};{'up' if '1:' in t else 'down'}" for w, t, _ in WARD))
    begin(tmp_path / "d.csv", "-o", tmp_path / "r.toml")
    source = source_in(tmp_path / "r.toml")
    assert (source["header"], source["unit"], source["value"]) == (False, "column_1", "column_3")
    for line in ("Ada Secretname,12,still", "Ada Secretname,Utrecht,still"):  # nobody is called so twice
        (tmp_path / "d.csv").write_text(f"{line}\nBob,13,walking\nCy,14,still\n")
        started = begin(tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--force")
        assert "Secretname" not in started.output + (tmp_path / "r.toml").read_text(encoding="utf-8")
    for header in ("country,2019,2020", "a,b,c", "unit,1st,2"):
        (tmp_path / "e.csv").write_text(f"{header}\nx,1,2\ny,3,4\n{header}\nz,5,2020\n")
        begin(tmp_path / "e.csv", "-o", tmp_path / "e.toml", "--force")
        assert "header" not in source_in(tmp_path / "e.toml")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "cells"), [
    ("date", [f"2025-01-{day:02}" for day in range(1, 21)]), ("x", [f"{day:02}/01/2025" for day in range(1, 21)]),
    ("day", [str(day) for day in range(1, 21)]), ("x", [f"202501{day:02}" for day in range(1, 21)]),
    ("admission date", [f"Jan {day}" for day in range(1, 21)]), ("year", [str(2000 + year) for year in range(20)]),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["sequences", "records", "users"])
def test_a_date_is_never_taken_for_a_unit(tmp_path: Path, name: str, cells: list[str], kind: str) -> None:
    """Rows of one date stand together, as rows of one unit would, or each row has its own."""
    for times in (1, 5):
        rows = [f"{cell},{i},{'yes' if i % 3 else 'no'}" for cell in cells for i in range(times)]
        (tmp_path / "d.csv").write_text("\n".join([f"{name},n,smokes", *rows]))
        done = begin(tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--kind", kind, "--force", "--json")
        roles = {c["name"]: c["role"] for c in json.loads(done.stdout)["columns"]}
        assert roles[name] not in ("unit", "recording", "group"), (kind, times)


@pytest.mark.parametrize("kind", drafted())
def test_the_last_words_are_the_verdict_and_the_schema_lies_beside(tmp_path: Path, kind: str) -> None:
    names = [f"p{number},{'fm'[number % 2]},{'yes' if number % 3 else 'no'},{number}.5" for number in range(12)]
    data = table(tmp_path, "person,sex,smokes,weight", names)
    started = begin(data, "-o", tmp_path / "r.toml", "--kind", kind)
    last = " ".join(started.output.split("\n\n")[-1].split())
    assert re.match(r"Verdict: none yet\. `takifugu advise .+` says whether the table is worth reading", last)
    text = (tmp_path / "r.toml").read_text(encoding="utf-8")
    named = re.match(r"#:schema \./(takifugu-[a-z-]+\.schema\.json)\n", text)
    described = json.loads((tmp_path / named[1]).read_text(encoding="utf-8"))
    assert tomllib.loads(text).keys() <= described["properties"].keys()
    assert "Drafted as" not in started.output  # the kind was said, not guessed


def test_a_guess_is_explained_and_all_kinds_are_listed(tmp_path: Path) -> None:
    rows = [f"{48 + n / 1000:.5f},{11 + n % 7 / 1000:.5f}" for n in range(40)]
    started = init(table(tmp_path, "lat,lon", rows), "-o", tmp_path / "r.toml")
    assert "Drafted as populations: 'lat' and 'lon' are coordinates" in words_of(started)
    for kind in drafted():
        assert f"  {kind} " in invoke("init", "--help").output


def test_a_draft_that_lacks_nothing_gets_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (
        '[source]\nname = "d"\nfile = "data.csv"\nvalue = "state"\norder = "minute"\n[belief]\nkind = "markov-chain"\n'
        'states = ["a", "b"]\nmatrix = [[0.6, 0.4], [0.4, 0.6]]\n'
        '[[table]]\nname = "t"\nquery = "histogram"\nepsilon = 1\n'
    )
    monkeypatch.setattr(starting, "draft_of", lambda *_: f'ledger = "l.db"\n{whole}')
    data = table(tmp_path, "minute,state", [f"{n},{'ab'[n * n % 2]}" for n in range(200)])
    started = begin(data, "-o", tmp_path / "r.toml")
    assert re.search(r"\nVerdict: t is (good|rough|useless): differences ", started.output)


def test_a_list_of_pairs_becomes_what_the_belief_reads(tmp_path: Path) -> None:
    rows = [f"k{n % 30},k{(7 * n + 1) % 30}" for n in range(60)]
    started = init(table(tmp_path, "i,j", rows), "-o", tmp_path / "r.toml")
    assert "Drafted as contacts: each row names two, in 'i' and 'j'." in started.output
    text = (tmp_path / "r.toml").read_text(encoding="utf-8")
    assert "file" not in tomllib.loads(text)["source"]
    assert tomllib.loads(text)["belief"]["columns"] == ["i", "j"]
    assert init(tmp_path / "data.csv", "-o", tmp_path / "p.toml", "--rows", "contacts", "--public", "yes")
    assert tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8"))["belief"]["file"] == "data.csv"


@pytest.mark.parametrize("name", ["a b (final).toml", "a very long name of a release file.toml"])
def test_the_commands_that_come_next_can_be_typed(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = table(tmp_path, "person,smokes", [f"p{number},{'yes' if number % 3 else 'no'}" for number in range(12)])
    printed = init(data, "-o", name).output
    for command in ("compare", "advise", "explain", "release"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"  takifugu {command} ")]
        assert shlex.split(line, comments=True)[:3] == ["takifugu", command, name]

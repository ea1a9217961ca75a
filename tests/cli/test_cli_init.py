"""`takifugu init`: what it refuses, a draft that becomes valid, and nothing of the data in it."""

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
from tests.support.commands import ended, invoke, json_of, refused, succeed, widest, words_of
from tests.support.engines import arrow
from tests.support.failing import raising
from tests.support.release_files import filled
from tests.support.releases import refusal_of
from tests.support.starting import source_in

import takifugu as tf
from takifugu.cli import starting
from takifugu.releasing.draft.forms import MISSING
from takifugu.releasing.file.kinds import drafted
from takifugu.releasing.file.loading import load

#: What the owner of the strange table answers.
SAID = {"rows": "samples", "unit": "Wer?", "recording": "Nacht Nr.", "order": "Uhr [min]", "step": "5",
        "value": "Zustand/état"}  # fmt: skip
OPTIONS = [part for key, word in SAID.items() for part in (f"--{key}", word)]
STEPS = ("--rows", "samples", "--unit", "who", "--order", "minute", "--step", "1", "--value", "state")


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


def table(folder: Path, header: str, rows: list[str]) -> Path:
    path = folder / "data.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_from_a_strange_table_to_a_certificate(tmp_path: Path) -> None:
    data, where = sleep(tmp_path), tmp_path / "release.toml"
    started = succeed("init", data, "-o", where, *OPTIONS)
    assert widest(started.output, tmp_path) <= 80
    missing = ended(2, "cost", where)
    named = re.findall(r"^takifugu: (\S+):", missing.stderr, re.MULTILINE)
    assert named == ["belief.states", "belief.recordings_independent", "belief.units_independent", "belief.matrix"]
    assert all(key in started.output for key in named)
    where.write_text(filled_in(where.read_text(encoding="utf-8")), encoding="utf-8")
    succeed("cost", where)
    succeed("release", "--allow-useless", where)
    certificate = tmp_path / "release-published" / "time-in-states.certificate.json"
    said = words_of(succeed("verify", certificate))
    assert "3 people" in said
    assert "Bo; jr." not in said


def test_the_draft_is_read_as_it_is_meant(tmp_path: Path) -> None:
    data = sleep(tmp_path)
    text = tf.draft(data, output=tmp_path / "release.toml", **SAID)
    source = tomllib.loads(text)["source"]
    assert source == {"name": "Schlaf-Wach-2025", "file": data.name, **SAID, "called": "person", "step": 5,
                      "budget": 1.0}  # fmt: skip
    assert widest(text) <= 110


def test_nothing_of_the_data_is_in_a_draft(tmp_path: Path) -> None:
    """No name of a unit, no number, no length, no state."""
    data = sleep(tmp_path)
    text = tf.draft(data, output=tmp_path / "release.toml", **SAID)
    assert not any(word in text for word in ("Ärla", "Bo; jr.", "60.5", "195", "240", "wach", "tief", "REM"))
    assert "wach" not in ended(2, "init", data, "-o", tmp_path / "b.toml").output
    assert "wach" not in succeed("init", data, "-o", tmp_path / "b.toml", *OPTIONS).output
    assert "wach" not in succeed("init", "--json", data, "-o", tmp_path / "c.toml", *OPTIONS).output


def test_a_parquet_file(tmp_path: Path) -> None:
    rows = range(40)
    columns: Any = {
        "who": ("text", ["a"] * 20 + ["b"] * 20), "when": ("int", [i % 20 for i in rows]),
        "in bed": ("bool", [i % 3 == 0 for i in rows]),
    }  # fmt: skip
    pyarrow.parquet.write_table(arrow(columns), tmp_path / "nights.parquet")
    said = {"rows": "samples", "unit": "who", "order": "when", "step": "1", "value": "in bed"}
    options = [part for key, word in said.items() for part in (f"--{key}", word)]
    draft = json_of("init", tmp_path / "nights.parquet", "-o", tmp_path / "r.toml", *options)
    made = {"format", "command", "file", "written", "ledger", "ledger_is_new", "ledger_of"}
    assert set(draft) == {*made, "kind", "schema", "verdict", "fill_in", "questions", "answers"}
    assert (draft["kind"], draft["questions"], draft["answers"]) == ("markov-chain", [], said)
    assert [line.split(":")[0] for line in draft["fill_in"]] == [
        "belief.states", "belief.units_independent", "belief.matrix",
    ]  # fmt: skip


def test_it_overwrites_only_when_it_is_told_to(tmp_path: Path) -> None:
    data, where = sleep(tmp_path), tmp_path / "mine.toml"
    where.write_text("mine", encoding="utf-8")
    assert "--force" in refused("init", data, "-o", where, *OPTIONS)
    assert where.read_text(encoding="utf-8") == "mine"
    succeed("init", data, "-o", where, "--force", *OPTIONS)
    assert "[source]" in where.read_text(encoding="utf-8")


def test_the_file_is_found_from_where_the_draft_lies(tmp_path: Path) -> None:
    (tmp_path / "data" / "raw").mkdir(parents=True)
    (tmp_path / "files").mkdir()
    data, where = sleep(tmp_path / "data" / "raw"), tmp_path / "files" / "release.toml"
    succeed("init", data, "-o", where, *OPTIONS)
    assert source_in(where)["file"] == f"../data/raw/{data.name}"
    where.write_text(filled_in(where.read_text(encoding="utf-8")), encoding="utf-8")
    assert load(where).spec.source.unit == "Wer?"


@pytest.mark.parametrize(("name", "content", "words"), [
    ("none.csv", None, "is not there"),
    ("empty.csv", b"", "is empty"),
    ("broken.csv", b'a,b\n"1,2\n3,4\n', "line 2 of broken.csv"),
    ("uneven.csv", b"a,b\n1,2\n3,4,5\n", "line 3 of uneven.csv"),
    ("book.xlsx", b"PK\x03\x04rest", "no workbook"),
    ("table.parquet", b"nothing", "table.parquet"),
    ("rows.csv", b"who,at,state\n", "rows.csv has no row: export it again, with its rows"),
    ("two\nlines.csv", b"who,minute,state\n" + b"Ana,1,a\nAna,2,b\n" * 9, "rename the file"),
])  # fmt: skip
def test_what_is_no_table(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    outcome = ended(2, "init", tmp_path / name, "-o", tmp_path / "release.toml")
    assert outcome.stdout == ""
    assert words in words_of(outcome)
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else [name])


def test_what_is_no_file(tmp_path: Path) -> None:
    for source, words in ((tmp_path, "is a folder"), ("https://example.org/a.csv", "is a URL")):
        assert words in ended(2, "init", source, "-o", tmp_path / "release.toml").stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "words"), [(errno.ENOSPC, "no space left"), (errno.EACCES, "permission denied")])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    data = sleep(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", raising(OSError(number, os.strerror(number))))
    assert words in ended(2, "init", data, "-o", tmp_path / "release.toml", *OPTIONS).stderr
    assert [p.name for p in tmp_path.iterdir()] == [data.name]


def test_what_is_replaced_comes_back_where_the_ledger_cannot_be_opened(tmp_path: Path) -> None:
    where, data = tmp_path / "release.toml", sleep(tmp_path)
    succeed("init", data, "-o", where, *OPTIONS)
    mine = where.read_text(encoding="utf-8") + "# mine\n"
    where.write_text(mine, encoding="utf-8")
    (tmp_path / "release-ledger.db").write_bytes(b"damaged")
    outcome = ended(2, "init", data, "-o", where, "--force", *OPTIONS)
    assert "release-ledger.db" in words_of(outcome)
    assert where.read_text(encoding="utf-8") == mine


letters = st.characters(exclude_categories=["Cs", "Cc", "Cf"])
names = st.text(letters, min_size=1, max_size=12).map(str.strip).filter(bool)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    st.lists(names, min_size=3, max_size=3, unique_by=str.lower),
    st.lists(names, min_size=2, max_size=4, unique=True),
)
def test_no_name_and_no_label_breaks_the_draft(tmp_path: Path, columns: list[str], labels: list[str]) -> None:
    data = tmp_path / "data.parquet"
    kinds: Any = {
        columns[0]: ("text", ["p"] * 20 + ["q"] * 20), columns[1]: ("int", list(range(20)) * 2),
        columns[2]: ("text", [labels[i * i % len(labels)] for i in range(40)]),
    }  # fmt: skip
    pyarrow.parquet.write_table(arrow(kinds), data)
    said = dict(zip(("unit", "order", "value"), columns, strict=True))
    if any(label.strip() in MISSING for label in labels):
        said["nulls"] = "refuse"
    text = tf.draft(data, output=tmp_path / "release.toml", rows="samples", step="1", **said)
    source = tomllib.loads(text)["source"]
    assert [source["unit"], source["order"]] == columns[:2]
    (tmp_path / "release.toml").write_text(text, encoding="utf-8")
    assert "belief.states: is missing" in str(refusal_of(tmp_path / "release.toml"))


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_nothing_is_written_through_a_link(tmp_path: Path, force: list[str]) -> None:
    (tmp_path / "data.csv").write_text("who,minute,state\na,0,x\na,1,y\nb,0,x\nb,1,y\n")
    target, link = tmp_path / "precious.txt", tmp_path / "release.toml"
    for content in ("mine", None):
        target.unlink(missing_ok=True)
        if content is not None:
            target.write_text(content)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        (tmp_path / ".release.toml.unfinished").unlink(missing_ok=True)
        (tmp_path / ".release.toml.unfinished").symlink_to(target)
        done = invoke("init", tmp_path / "data.csv", "-o", link, *force, *STEPS)
        assert (target.read_text() if target.exists() else None) == content
        assert done.exit_code == (0 if force else 2)
        assert link.is_symlink() == (not force)


WARD = [
    (ward, f"{day:02}.03.2025 {hour:02}:00", f"{hour % 7},{day % 10}")
    for ward in ("Süd", "Nord") for day in (1, 14) for hour in range(24)
]  # fmt: skip


def test_a_strange_export_is_drafted_with_what_it_needs(tmp_path: Path) -> None:
    text = "\r\n".join(["Station;Zeit;Aktivität;Lage", *(f"{w};{t};{x};{'wach' if '1:' in t else 'ruht'}"
                                                         for w, t, x in WARD)])  # fmt: skip
    (tmp_path / "d.csv").write_bytes(text.encode("cp1252"))
    words = ["init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--rows", "samples", "--unit", "Station", "--order",
             "Zeit", "--step", "1h", "--value", "Lage"]  # fmt: skip
    assert "--encoding cp1252 (where these letters are right: " in words_of(ended(2, *words))
    succeed(*words, "--encoding", "cp1252")
    source = source_in(tmp_path / "r.toml")
    assert {k: source[k] for k in ("encoding", "order", "unit", "value")} == {
        "encoding": "cp1252", "order": "strptime(\"Zeit\", '%d.%m.%Y %H:%M')", "unit": "Station", "value": "Lage",
    }  # fmt: skip


def test_a_first_line_of_data_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("\n".join(f"{w};{t};{'up' if '1:' in t else 'down'}" for w, t, _ in WARD))
    said = ended(2, "init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--rows", "samples").stderr
    assert "--unit column_1 (2 different)" in " ".join(said.split())
    ambiguous = "Ada Secretname,Utrecht,still"  # nobody is called so twice
    for line, words in (("Ada Secretname,12,still", "--unit column_1"), (ambiguous, "write a line of names above")):
        others = ("13", "14") if "12" in line else ("Bonn", "Ulm")
        (tmp_path / "d.csv").write_text(f"{line}\nBob,{others[0]},walking\nCy,{others[1]},still\n")
        said = ended(2, "init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--rows", "samples").stderr
        assert words in " ".join(said.split())
        assert "Secretname" not in said
    for header in ("country,2019,2020", "a,b,c", "unit,1st,2"):
        (tmp_path / "e.csv").write_text(f"{header}\nx,1,2\ny,3,4\n{header}\nz,5,2020\n")
        said = ended(2, "init", tmp_path / "e.csv", "-o", tmp_path / "e.toml", "--rows", "samples").stderr
        assert f"--unit {header.partition(',')[0]} " in " ".join(said.split())


#: What is answered of rows of people by kind, where that is not what is drafted of a name in a column.
NAMELESS = ("users", "independent-records", "normal", "density", "parameters")


@pytest.mark.parametrize("kind", drafted())
def test_the_last_words_are_the_verdict_and_the_schema_lies_beside(tmp_path: Path, kind: str) -> None:
    names = [f"p{number},{number},{'yes' if number % 3 else 'no'},{number}.5" for number in range(12)]
    data = table(tmp_path, "person,number,smokes,weight", names)
    words = ["--unit", "-" if kind in NAMELESS else "person"]
    if kind in ("users", "contacts", "populations", "asymmetric", "sequences", "markov-chain-class"):
        words += ["--value", "smokes"]
    if kind in ("sequences", "markov-chain-class"):
        words += ["--rows", "samples", "--order", "number", "--step", "1"]
    started = succeed("init", data, "-o", tmp_path / "r.toml", "--kind", kind, "--yes", *words)
    last = " ".join(started.output.split("\n\n")[-1].split())
    assert re.match(r"Verdict: none yet\. `takifugu advise .+` says whether the table is worth reading", last)
    text = (tmp_path / "r.toml").read_text(encoding="utf-8")
    named = re.match(r"#:schema \./(takifugu-[a-z-]+\.schema\.json)\n", text)
    described = json.loads((tmp_path / named[1]).read_text(encoding="utf-8"))
    assert tomllib.loads(text).keys() <= described["properties"].keys()


def test_all_kinds_are_listed() -> None:
    for kind in drafted():
        assert f"  {kind} " in invoke("init", "--help").output


def test_a_draft_that_lacks_nothing_gets_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (
        '[source]\nname = "d"\nfile = "data.csv"\nvalue = "state"\norder = "minute"\nstep = 1\n'
        '[belief]\nkind = "markov-chain"\nstates = ["a", "b"]\nmatrix = [[0.6, 0.4], [0.4, 0.6]]\n'
        '[[table]]\nname = "t"\nquery = "histogram"\nepsilon = 1\n'
    )
    monkeypatch.setattr(starting, "text_of", lambda *_: f'ledger = "l.db"\n{whole}')
    data = table(tmp_path, "minute,state", [f"{n},{'ab'[n * n % 2]}" for n in range(200)])
    started = succeed("init", data, "-o", tmp_path / "r.toml", *STEPS[:2], "--unit", "-", *STEPS[4:])
    assert re.search(r"\nVerdict on t: (good|rough|useless): differences ", started.output)


@pytest.mark.parametrize("name", ["a b (final).toml", "a very long name of a release file.toml"])
def test_the_commands_that_come_next_can_be_typed(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = table(tmp_path, "person,smokes", [f"p{number},{'yes' if number % 3 else 'no'}" for number in range(12)])
    printed = succeed("init", data, "-o", name, "--kind", "joint-table", "--unit", "person").output
    for command in ("cost", "advise", "release"):
        (line,) = [line for line in printed.splitlines() if line.startswith(f"  takifugu {command} ")]
        assert shlex.split(line, comments=True)[:3] == ["takifugu", command, name]


@pytest.mark.parametrize(("option", "now"), [
    ("--whose", "It is --unit now."), ("--when", "It is --order now."), ("--publish", "It is --value now."),
    ("--secret", "It is --kind now."), ("--otherwise", "Write default_state=ANSWER"), ("--dates", "strptime("),
    ("--stay", "Write mean_duration=ANSWER behind the table"), ("--from", "Write from=ANSWER behind the table"),
])  # fmt: skip
def test_an_option_of_before_is_told_with_that_of_now(tmp_path: Path, option: str, now: str) -> None:
    said = ended(2, "init", sleep(tmp_path), option, "x")
    assert re.search(f"No such option:? '?{option}'?", said.stderr)  # as click of several versions says it
    assert now in words_of(said)


@pytest.mark.parametrize(("words", "place"), [
    (["from=2026-13-01"], "source.from"), (["from=9", "until=5"], "source.until"), (["states=wach"], "belief.states"),
    (["--timezone", "UTC"], "source.timezone"), (['roster=["Ana"]'], "source.roster"),
    (["table.epsilon=0"], "table[0].epsilon"), (["epsilon=none"], "table[0].epsilon"),
])  # fmt: skip
def test_an_answer_that_the_file_would_be_refused_for_is_refused(tmp_path: Path, words: list[str], place: str) -> None:
    data = sleep(tmp_path)
    said = ended(2, "init", data, "-o", tmp_path / "r.toml", *OPTIONS, *words)
    assert f"takifugu: {place}: " in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


@pytest.mark.parametrize("answer", ["states", "=a, b", "states="])
def test_what_is_no_answer_is_refused(tmp_path: Path, answer: str) -> None:
    data = sleep(tmp_path)
    assert "is no answer" in ended(2, "init", data, answer, "-o", tmp_path / "r.toml", *OPTIONS).stderr
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


def test_options_and_answers_leave_nothing_missing(tmp_path: Path) -> None:
    """Plain words and TOML say the same."""
    data, words = sleep(tmp_path), ["recordings_independent=true", "units_independent=true", "epsilon=0.5"]
    plain = ["states=wach, tief, leise", "mean_duration=wach 12, tief 2.5, leise 3",
             "next_state=wach 0.2, tief 0.3, leise 0.5"]  # fmt: skip
    written = ['states=["wach", "tief", "leise"]', "mean_duration={ wach = 12, tief = 2.5, leise = 3 }",
               "next_state={ wach = 0.2, tief = 0.3, leise = 0.5 }"]  # fmt: skip
    for name in ("plain", "toml"):
        (tmp_path / name).mkdir()
    for name, said in (("plain", plain), ("toml", written)):
        drafted = json_of("init", data, *said, *words, "-o", tmp_path / name / "release.toml", *OPTIONS)
        assert drafted["fill_in"] == [], name
    texts = [(tmp_path / name / "release.toml").read_text(encoding="utf-8") for name in ("plain", "toml")]
    assert texts[0] == texts[1]
    raw = tomllib.loads(texts[0])
    assert (raw["source"]["budget"], raw["table"][0]["epsilon"]) == (0.5, 0.5)


def test_a_draft_with_a_select_has_the_ledger_of_other_files_about_the_same_data(tmp_path: Path) -> None:
    data = table(tmp_path, "made by hand", ["who;minute;state", *(f"{w};{t};x" for w in "ab" for t in range(30))])
    succeed("init", data, "-o", tmp_path / "one.toml", *STEPS)
    assert "file" not in source_in(tmp_path / "one.toml")
    assert "It is that of" in words_of(succeed("init", data, "-o", tmp_path / "two.toml", *STEPS))
    assert [path.name for path in tmp_path.glob("*.db")] == ["one-ledger.db"]

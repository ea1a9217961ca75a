"""`takifugu init`: what it refuses, a draft that becomes valid, and nothing of the data in it."""

import errno
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.commands import ended, invoke, json_of, succeed, widest, words_of
from tests.support.engines import arrow
from tests.support.failing import raising
from tests.support.release_files import filled
from tests.support.releases import refusal_of
from tests.support.starting import source_in

import takifugu as tf
from takifugu.cli import starting
from takifugu.releasing.draft.forms import MISSING
from takifugu.releasing.file.kinds import KINDS, drafted

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


@pytest.mark.mutants
def test_from_a_strange_table_to_a_certificate(tmp_path: Path) -> None:
    """The file is found from where the draft lies, and nothing of the data is in it or is said."""
    for folder in ("data", "files"):
        (tmp_path / folder).mkdir()
    data, where = sleep(tmp_path / "data"), tmp_path / "files" / "release.toml"
    started = succeed("init", data, "-o", where, *OPTIONS)
    assert widest(started.output, tmp_path) <= 80
    text = where.read_text(encoding="utf-8")
    assert tomllib.loads(text)["source"] == {
        "name": "Schlaf-Wach-2025", "file": f"../data/{data.name}", **SAID, "called": "person", "step": 5,
        "budget": 1.0,
    }  # fmt: skip
    assert widest(text) <= 110
    assert "require_ledger = true" in text
    asked = ended(2, "init", data, "-o", tmp_path / "b.toml").output
    printed = succeed("init", "--json", data, "-o", tmp_path / "c.toml", *OPTIONS).output
    for said in (text, started.output, asked, printed):
        assert not any(word in said for word in ("Ärla", "Bo; jr.", "60.5", "195", "240", "wach", "tief", "REM"))
    missing = ended(2, "cost", where)
    named = re.findall(r"^takifugu: (\S+):", missing.stderr, re.MULTILINE)
    assert named == ["belief.states", "belief.recordings_independent", "belief.units_independent", "belief.matrix"]
    assert all(key in started.output for key in named)
    where.write_text(filled_in(text), encoding="utf-8")
    succeed("release", "--allow-useless", where)
    said = words_of(succeed("verify", tmp_path / "files" / "release-published" / "time-in-states.certificate.json"))
    assert "3 people" in said
    assert "Bo; jr." not in said


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


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "content", "words"), [
    ("none.csv", None, "is not there"), ("", None, "is a folder"),
    ("empty.csv", b"", "is empty"), ("blank.csv", b"\n \n\n", "is empty"),
    ("broken.csv", b'a,b\n"1,2\n3,4\n', "line 2 of broken.csv"),
    ("uneven.csv", b"a,b\n1,2\n3,4,5\n", "line 3 of uneven.csv"),
    ("book.xlsx", b"PK\x03\x04rest", "no workbook"), ("bytes.csv", bytes(range(256)) * 9, "is no text"),
    ("table.parquet", b"nothing", "table.parquet"),
    ("rows.csv", b"who,at,state\n", "rows.csv has no row: export it again, with its rows"),
    ("again.csv", b"who,state\n" * 9, ""), ("none.csv", b"a,b\n,\n,\n,\n", ""),
    ("two\nlines.csv", b"who,minute,state\n" + b"Ana,1,a\nAna,2,b\n" * 9, "rename the file"),
])  # fmt: skip
@pytest.mark.parametrize("yes", [[], ["--yes"]])
def test_what_is_no_table(tmp_path: Path, name: str, content: bytes | None, words: str, yes: list[str]) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    outcome = ended(2, "init", tmp_path / name, "-o", tmp_path / "release.toml", *yes)
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("takifugu: ")
    assert words in words_of(outcome)
    assert [path.name for path in tmp_path.iterdir()] == ([] if content is None else [name])


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


@pytest.mark.mutants
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


@pytest.mark.mutants
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


def test_kinds_have_one_name(tmp_path: Path) -> None:
    """The help listed records where a question offered joint-table."""
    asked = words_of(ended(2, "init", table(tmp_path, "a,b", ["1,2"]), "--rows", "answers", "--unit", "-", "--yes"))
    assert {*re.findall(r"--kind ([\w-]+)", asked)} <= drafted().keys() <= {*KINDS.names}


#: What is answered of rows of people by kind, where that is not what is drafted of a name in a column.
NAMELESS = ("users", "independent-records", "normal", "density", "parameters")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", drafted())
def test_the_last_words_are_the_verdict_and_the_schema_lies_beside(tmp_path: Path, kind: str) -> None:
    names = [f"p{number},{number},{'yes' if number % 3 else 'no'},{number}.5" for number in range(12)]
    data = table(tmp_path, "person,number,smokes,weight", names)
    assert f"  {kind} " in invoke("init", "--help").output
    words = ["--unit", "-" if kind in NAMELESS else "person"]
    if kind in ("users", "contacts", "populations", "asymmetric", "markov-chain", "markov-chain-class"):
        words += ["--value", "smokes"]
    if kind in ("markov-chain", "markov-chain-class"):
        words += ["--rows", "samples", "--order", "number", "--step", "1"]
    started = succeed("init", data, "-o", tmp_path / "r.toml", "--kind", kind, "--yes", *words)
    last = " ".join(started.output.split("\n\n")[-1].split())
    assert re.match(r"Verdict: none yet\. `takifugu advise .+` says whether the table is worth reading", last)
    text = (tmp_path / "r.toml").read_text(encoding="utf-8")
    named = re.match(r"#:schema \./(takifugu-[a-z-]+\.schema\.json)\n", text)
    described = json.loads((tmp_path / named[1]).read_text(encoding="utf-8"))
    assert tomllib.loads(text).keys() <= described["properties"].keys()


def test_a_draft_that_lacks_nothing_gets_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (
        '[source]\nname = "d"\nfile = "data.csv"\nvalue = "state"\nrows = "samples"\norder = "minute"\nstep = 1\n'
        '[belief]\nkind = "markov-chain"\nstates = ["a", "b"]\nmatrix = [[0.6, 0.4], [0.4, 0.6]]\n'
        '[[table]]\nname = "t"\nquery = "histogram"\nepsilon = 1\n'
    )
    monkeypatch.setattr(starting, "text_of", lambda *_: f'ledger = "l.db"\n{whole}')
    data = table(tmp_path, "minute,state", [f"{n},{'ab'[n * n % 2]}" for n in range(200)])
    started = succeed("init", data, "-o", tmp_path / "r.toml", *STEPS[:2], "--unit", "-", *STEPS[4:])
    assert re.search(r"\nVerdict on t: (good|rough|useless): differences ", started.output)


@pytest.mark.parametrize(("option", "now"), [
    ("--whose", "It is --unit now."), ("--when", "It is --order now."), ("--publish", "It is --value now."),
    ("--secret", "It is --kind now."), ("--otherwise", "Write default_state=ANSWER"), ("--dates", "strptime("),
    ("--stay", "Write mean_duration=ANSWER behind the table"), ("--from", "Write from=ANSWER behind the table"),
])  # fmt: skip
def test_an_option_of_before_is_told_with_that_of_now(tmp_path: Path, option: str, now: str) -> None:
    said = ended(2, "init", sleep(tmp_path), option, "x")
    assert re.search(f"No such option:? '?{option}'?", said.stderr)  # as click of several versions says it
    assert now in words_of(said)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("words", "says"), [
    (["from=2026-13-01"], "takifugu: source.from: "), (["from=9", "until=5"], "takifugu: source.until: "),
    (["states=wach"], "takifugu: belief.states: "), (["--timezone", "UTC"], "takifugu: source.timezone: "),
    (['roster=["Ana"]'], "takifugu: source.roster: "), (["table.epsilon=0"], "takifugu: table[0].epsilon: "),
    (["epsilon=none"], "takifugu: table[0].epsilon: "), (["states"], "is no answer"), (["=a, b"], "is no answer"),
    (["states="], "is no answer"),
])  # fmt: skip
def test_an_answer_that_the_file_would_be_refused_for_is_refused(tmp_path: Path, words: list[str], says: str) -> None:
    data = sleep(tmp_path)
    assert says in ended(2, "init", data, "-o", tmp_path / "r.toml", *OPTIONS, *words).stderr
    assert [path.name for path in tmp_path.iterdir()] == [data.name]


def test_a_draft_with_a_select_has_the_ledger_of_other_files_about_the_same_data(tmp_path: Path) -> None:
    data = table(tmp_path, "made by hand", ["who;minute;state", *(f"{w};{t};x" for w in "ab" for t in range(30))])
    assert "new ledger" in words_of(succeed("init", data, "-o", tmp_path / "one.toml", *STEPS))
    assert "file" not in source_in(tmp_path / "one.toml")
    said = words_of(succeed("init", data, "-o", tmp_path / "two.toml", *STEPS))
    assert "It is that of" in said
    assert "new ledger" not in said
    assert [path.name for path in tmp_path.glob("*.db")] == ["one-ledger.db"]


def test_an_answered_budget_is_that_of_the_file(tmp_path: Path) -> None:
    """It is a key of [source], which a draft has from its epsilon otherwise."""
    (tmp_path / "d.csv").write_text("t,s\n0,on\n1,off\n2,on\n")
    output, how = tmp_path / "r.toml", ("rows=samples", "order=t", "step=1", "unit=-", "mean_duration={on=2, off=2}")
    succeed("init", tmp_path / "d.csv", "-o", output, *how, "epsilon=2", "budget=8")
    spec = tomllib.loads(output.read_text())
    assert (spec["source"]["budget"], spec["table"][0]["epsilon"]) == (8, 2)

"""Whatever names a table, its people or its file have: nothing published, and no terminal, gets a raw control."""

import csv
import re
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from tests.releasing import files
from tests.support.commands import ended, invoke
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text
from tests.support.releases import put

from takifugu.accounting.ledger import Ledger

#: C0, C1, the writing direction, and a separator of lines.
HOSTILE = {"C0": "\x1b]0;pwn\x07", "C1": "\x9b31m", "direction": "\u202e", "line": "\u2028"}
ALL_KINDS = "".join(HOSTILE.values())
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
ROSTER = release_text(
    read_from("beds", "beds.csv", rows="stays", unit="patient", roster="patients.csv", order="came", end="left",
              default_state="home", step="1d", from_="2026-01-05", until="2026-01-15", value="ward", budget=10),
    believe("markov-chain", states=["home", "surgery"], matrix=[[0.8, 0.2], [0.3, 0.7]], source="a test",
            units_independent=True),
    publish("beds", "histogram", epsilon=9.0),
    output="out", expect=EXPECT,
)  # fmt: skip
STAYS = "patient,came,left,ward\nAna,2026-01-06,2026-01-08,surgery\nBen,2026-01-06,,surgery\n"
PATIENTS = "patient,from,until,bed\nAna,2026-01-05,2026-01-12,1\nBen,2026-01-06,2026-01-15,2\n"
BY = release_text(
    read_from("clinic", "clinic.csv", value="state", unit="who", order="minute", step=1, roster="wards.csv",
              budget=20.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], source="a test",
            units_independent=True),
    publish("table", "histogram", by="ward", epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip
CLINIC = "who,minute,state\n" + "".join(
    f"{who},{minute},{'calm' if minute % 3 else 'busy'}\n" for who in ("Ana", "Ben") for minute in range(40)
)
WARDS = "who,ward\nAna,East\nBen,West\n"
COUNTED = release_text(
    read_from("people", "people.csv", unit="person", budget=10),
    believe("joint-table", source="public", units_independent=True,
            fit={"file": "census.csv", "columns": ["origin", "level"]}),
    hide(attribute="origin"),
    publish("level", "identity", attribute="level", codes={"low": 0, "high": 90}, epsilon=9),
    output="out", expect=EXPECT,
)  # fmt: skip
CENSUS = "origin,level\n" + "north,low\nnorth,high\nsouth,low\nsouth,high\n" * 5
PERSONS = "person,origin,level\nAna,north,low\nBo,south,high\n"
NETWORK = release_text(
    read_from("patient", "patient.csv", budget=10),
    believe("network", file="net.bif", source="a test"),
    hide(variable="smoke"),
    publish("findings", "count", states=["yes"], variables=["cough"], epsilon=1),
    output="out", expect=EXPECT,
)  # fmt: skip
BIF = """network n {
}
variable smoke {
  type discrete [ 2 ] { no, yes };
}
variable cough {
  type discrete [ 2 ] { no, yes };
}
probability ( smoke ) {
  table 0.6, 0.4;
}
probability ( cough | smoke ) {
  (no) 0.8, 0.2;
  (yes) 0.4, 0.6;
}
"""
#: Release files that work, with the files that they name.
STUDIES: dict[str, dict[str, str]] = {
    "a recording": {"release.toml": files.SPEC, "data.csv": files.data()},
    "a roster": {"release.toml": ROSTER, "beds.csv": STAYS, "patients.csv": PATIENTS},
    "a list of people": {
        "release.toml": ROSTER.replace('"patients.csv"', '["Ana", "Ben"]'), "beds.csv": STAYS,
    },
    "cells": {"release.toml": BY, "clinic.csv": CLINIC, "wards.csv": WARDS},
    "a counted table": {"release.toml": COUNTED, "census.csv": CENSUS, "people.csv": PERSONS},
    "a network": {"release.toml": NETWORK, "net.bif": BIF, "patient.csv": "smoke,cough\nyes,no\n"},
}  # fmt: skip
#: Where such a name is: the study, its files, what is there, what comes there, and whether that can be released.
PLACES = {
    "a person": ("a recording", "data.csv", "Bob", "Bo{}b", False),
    "a state": ("a recording", "data.csv", "lying", "ly{}ing", False),
    "a column that is read": ("a recording", "data.csv", "état; raw", "état; {}raw", False),
    "another column": ("a recording", "data.csv", "spare", "sp{}are", False),
    "a value that is not read": ("a recording", "data.csv", ",x,", ",x{},", True),
    "a source": ("a recording", "release.toml", 'name = "study"', 'name = "st{}udy"', False),
    "a title": ("a recording", "release.toml", 'source = "a test"', 'source = "a {}test"', False),
    "a table": ("a recording", "release.toml", 'name = "time-use"', 'name = "time{}-use"', False),
    "a person of a roster": ("a roster", "patients.csv beds.csv", "Ana", "An{}a", False),
    "a person of a list": ("a list of people", "release.toml beds.csv", "Ana", "An{}a", False),
    "a start in a roster": ("a roster", "patients.csv", "Ana,2026-01-05", "Ana,2026-{}01-05", False),
    "an end in a roster": ("a roster", "patients.csv", "2026-01-15", "2026-01-15{}", False),
    "the column of starts": ("a roster", "patients.csv", "from", "fr{}om", False),
    "the column of ends": ("a roster", "patients.csv", "until", "un{}til", False),
    "another column of a roster": ("a roster", "patients.csv", "bed", "b{}ed", False),
    "another value of a roster": ("a roster", "patients.csv", ",1\n", ",{}1\n", False),
    "a start of a stay": ("a roster", "beds.csv", "2026-01-06", "2026-{}01-06", False),
    "a state of a stay": ("a roster", "beds.csv", "surgery", "surg{}ery", False),
    "an attribute's value": ("cells", "wards.csv", "West", "W{}est", False),
    "an attribute": ("cells", "wards.csv", "ward", "wa{}rd", False),
    "a column of cells": ("cells", "release.toml", 'by = "ward"', 'by = "wa{}rd"', False),
    "a value that was counted": ("a counted table", "census.csv people.csv release.toml", "high", "hi{}gh", False),
    "a value of people": ("a counted table", "people.csv", "high", "hi{}gh", False),
    "a column that was counted": ("a counted table", "census.csv people.csv release.toml", "level", "le{}vel", False),
    "a variable of a network": ("a network", "net.bif patient.csv release.toml", "cough", "co{}ugh", False),
    "a variable of its file alone": ("a network", "net.bif", "cough", "co{}ugh", False),
    "a state of a network": ("a network", "net.bif patient.csv", "no", "n{}o", False),
}  # fmt: skip
COMMANDS = (
    ("check", "release.toml"), ("cost", "release.toml"), ("advise", "release.toml"),
    ("release", "--dry-run", "release.toml"), ("release", "release.toml"), ("ledger", "show", "ledger.db"),
    ("ledger", "verify", "ledger.db", "out"),
)  # fmt: skip


def hostile_study(place: str, inserted: str) -> dict[str, str]:
    """Return the files of a study with a hostile name in one place."""
    study, names, there, hostile, _ = PLACES[place]
    texts, bad = dict(STUDIES[study]), hostile.format(inserted)
    escaped = bad.encode("unicode_escape").decode().replace("\\x", "\\u00")
    for name in names.split():
        assert there in texts[name]
        texts[name] = texts[name].replace(there, escaped if name == "release.toml" else bad)
    return texts


def check_output(*words: str) -> None:
    """Check that what a command prints obeys nothing."""
    result = invoke(*words)
    assert "Traceback" not in result.output
    match = OBEYED.search(result.output)
    assert match is None, (words, result.output[match.start() - 40 : match.end() + 20])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("place", PLACES)
def test_no_output_holds_a_raw_control(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, hostile_study(place, ALL_KINDS))
    monkeypatch.chdir(tmp_path)
    for words in COMMANDS:
        for options in ((), ("--json",)):
            check_output(*words, *options)
    check_published(tmp_path, PLACES[place][-1])


@pytest.mark.sampled(11)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_each_kind_is_refused_by_itself(tmp_path: Path, place: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, hostile_study(place, HOSTILE[kind]))
    monkeypatch.chdir(tmp_path)
    check_output("release", "release.toml")
    check_published(tmp_path, PLACES[place][-1])


def check_published(folder: Path, is_due: bool) -> None:
    """Check that what is published is clean, and that nothing is paid for what is not."""
    published = [path for path in (folder / "out").rglob("*") if path.is_file() and ".lock" not in path.name]
    for path in published:
        assert OBEYED.search(path.read_text(encoding="utf-8")) is None, path
    ledger = folder / "ledger.db"
    spent = ledger.exists() and bool(Ledger.open(ledger).show())
    assert (bool(published), spent) == (is_due, is_due), published


@pytest.mark.sampled(8)
@pytest.mark.parametrize("place", [place for place, row in PLACES.items() if ".csv" in row[1]])
def test_nor_where_the_tables_are_parquet(tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = dict[str, str]()
    for name, text in hostile_study(place, ALL_KINDS).items():
        if not name.endswith(".csv"):
            texts[name] = text.replace('.csv"', '.parquet"')
            continue
        names, *rows = csv.reader(text.split("\n")[:-1])
        columns = {name: [row[number] for row in rows] for number, name in enumerate(names)}
        parquet.write_table(pyarrow.table(columns), tmp_path / name.replace(".csv", ".parquet"))
    put(tmp_path, texts)
    monkeypatch.chdir(tmp_path)
    for words in (("check", "release.toml"), ("release", "release.toml"), ("ledger", "show", "ledger.db")):
        check_output(*words)
    check_published(tmp_path, PLACES[place][-1])


def test_a_raw_control_would_be_found() -> None:
    assert all(OBEYED.search(f"a{bad}b") for bad in HOSTILE.values())


@pytest.mark.sampled(3)
@pytest.mark.parametrize("study", STUDIES)
def test_without_one_each_study_is_released(study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, STUDIES[study])
    monkeypatch.chdir(tmp_path)
    assert invoke("release", "release.toml").exit_code == 0
    assert list((tmp_path / "out").glob("*.csv"))


@pytest.mark.parametrize("typed", [("verify",), ("report",), ("advise",), ("audit",), ("release",), ("ledger", "show")])
def test_a_path_that_is_longer_than_any_is_refused_in_words(typed: tuple[str, ...]) -> None:
    """`verify` and `report` called it a fault of Takifugu itself."""
    told = ended(2, *typed, "a" * 300).output
    assert "longer than a path can be" in told or typed[0] == "ledger"
    assert "a" * 100 not in told or typed[0] == "ledger"

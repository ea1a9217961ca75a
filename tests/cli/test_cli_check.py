"""`check`: every fault that needs no data is told, and neither data nor ledger are opened, nor anything written."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, json_of, succeed, words_of
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put

from takifugu.cli.group import BAD_INPUT, DONE, REFUSED
from takifugu.cli.samples.examples import examples, write_example
from takifugu.releasing.file import relation_keys
from takifugu.releasing.file.relation_keys import UNOPENED

WARD = release_text(
    read_from("ward", "ward.csv", rows="samples", value="state", order="hour", step="1h", from_="2026-01-05",
              until="2026-02-02"),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("hours", "histogram", epsilon=0.5, every="week"),
    expect={"source": "last year", "shares": {"calm": 0.75, "busy": 0.25}},
)  # fmt: skip


def result_of(*words: object) -> dict[str, Any]:
    return dict(json.loads(invoke("check", "--json", *words).stdout))


def write(folder: Path, text: str, name: str = "release.toml") -> Path:
    return put(folder, {name: text})


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Opening the data of a test, or a ledger, is a fault."""
    opened_table = relation_keys.opened_table

    def opens(keys: Any, states: Any, folder: Path, data: object, *more: Any) -> Any:
        assert data is UNOPENED, "the data are opened"  # which is no frame, and refused
        return opened_table(keys, states, folder, data, *more)

    monkeypatch.setattr(relation_keys, "opened_table", opens)
    monkeypatch.setattr("takifugu.accounting.ledger.Ledger.open", lambda *_: pytest.fail("a ledger is opened"))


@pytest.mark.mutants
@pytest.mark.parametrize("name", [example.name for example in examples()])
def test_an_example_is_valid_without_its_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_example(name, Path())
    file = f"{name}.toml"
    Path(tomllib.loads(Path(file).read_text(encoding="utf-8"))["source"]["file"]).unlink()
    before = os.listdir()
    assert succeed("check", file).stdout.startswith(f"{file}: valid\n")
    assert os.listdir() == before


@pytest.mark.mutants
def test_what_init_writes_lacks_only_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # init makes a ledger, and looks at the columns
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text("person,smokes\n" + "Ana,yes\nBen,no\nCem,no\nDia,yes\n" * 9)
    (tmp_path / "days.csv").write_text(
        "who,minute,doing\n" + "".join(f"Ana,{m},{'still' if m % 7 else 'walking'}\n" for m in range(300))
    )
    of_steps = ("--rows", "samples", "--unit", "who", "--order", "minute", "--step", "1", "--value", "doing")
    for name, words in (("answers", ("--kind", "joint-table", "--unit", "person")), ("days", of_steps)):
        drafted = json_of("init", f"{name}.csv", "-o", f"{name}.toml", *words)
        outcome = invoke("check", f"{name}.toml")
        lines = [line.removeprefix("takifugu: ") for line in outcome.stderr.splitlines()]
        assert [line for line in lines if "nothing happened" not in line] == drafted["fill_in"]
        assert outcome.exit_code == (BAD_INPUT if lines else DONE)


def test_data_and_ledger_need_not_be_there(tmp_path: Path) -> None:
    outcome = succeed("check", write(tmp_path, files.SPEC))
    assert outcome.stdout.count("depends on the data") == 2  # how long the sequences are
    assert words_of(outcome).count("Not looked at: the columns and values of the data") == 1
    assert os.listdir(tmp_path) == ["release.toml"]


def test_windows_of_a_calendar_are_calibrated(tmp_path: Path) -> None:
    (one,) = result_of(write(tmp_path, WARD))["files"]
    assert [table["name"] for table in one["tables"]] == [f"hours-2026-W{week:02}" for week in range(2, 6)]
    assert all(table["mechanisms"] for table in one["tables"])
    (two,) = result_of(write(tmp_path, WARD), "--window", "2026-W03")["files"]
    assert [table["name"] for table in two["tables"]] == ["hours-2026-W03"]
    (public,) = result_of(write(tmp_path, WARD.replace('step = "1h"', 'step = "1h"\ngaps = "public"')))["files"]
    assert all(table["mechanisms"] for table in public["tables"])
    assert public["notices"] == [
        "hours-2026-W02, hours-2026-W03, hours-2026-W04, hours-2026-W05: tried for a sequence of length 168, the "
        "most that the file allows, with a row in each step; the data decide"
    ]
    assert not one["notices"]


def test_a_series_without_an_end_is_valid_with_a_window_in_the_words_of_its_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(write(tmp_path, WARD.replace("until = ", "# until = ")).name)  # a longer one is broken between lines
    refused = ended(BAD_INPUT, "release", path).stderr.splitlines()[0].partition("every: ")[2]
    what, fix = refused.split("; ")
    assert fix.endswith("--window 2026-W02")  # its first whole week
    assert f"{path}: valid, but {what}: {fix}" in words_of(succeed("check", path))
    (said,) = result_of(path)["files"]
    assert [table["name"] for table in said["tables"]] == ["hours-2026-W02"]
    assert said["notices"][0].startswith(what)
    assert f"{path}: valid table" in words_of(succeed("check", path, "--window", "2026-W02"))


def test_a_window_that_is_written_is_no_series_whatever_its_table_is_called(tmp_path: Path) -> None:
    text = WARD.replace("until = ", "# until = ").replace('"hours"', '"hours-2026-W02"')
    path = write(tmp_path, text.replace('every = "week"', 'every = "week"\nwindow = "2026-W02"'))
    assert "no end" not in words_of(succeed("check", path))
    assert not result_of(path)["files"][0]["notices"]


@pytest.mark.parametrize(("text", "words"), [
    (WARD.replace("epsilon = 0.5", "epsilon = 0.01"), "hours-2026-W02 would be "),
    (WARD.replace("[belief]", "budget = 0.4\n[belief]"), "costs epsilon 0.5, and the whole budget is epsilon 0.4"),
])  # fmt: skip
def test_what_a_release_refuses_before_it_reads_is_valid_and_refused(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    said = ended(REFUSED, "check", path).stderr
    assert words in said
    assert f"{path}: valid, but hours-2026-W02 " in said
    assert os.listdir(tmp_path) == ["release.toml"]
    both = ended(REFUSED, "check", path, write(tmp_path, WARD, "other.toml"))
    assert f"{path}: valid, but hours-2026-W02 " in both.stderr
    assert "other.toml:validtable" in "".join(both.stdout.split())
    faulty = ended(BAD_INPUT, "check", write(tmp_path, text.replace("ward.csv", ""), "other.toml"), path)
    assert "other.toml: valid" not in faulty.stderr


def test_what_is_published_anyway_is_checked_anyway(tmp_path: Path) -> None:
    """As `release` does, it accepts what is useless, and neither a wrong expectation nor a budget that is passed."""
    useless = WARD.replace("epsilon = 0.5", "epsilon = 0.01")
    succeed("check", write(tmp_path, useless), "--allow-useless")
    assert result_of(write(tmp_path, useless), "--allow-useless")["files"][0]["valid"]
    ended(BAD_INPUT, "check", write(tmp_path, useless.replace("busy = 0.25", "busy = 0.5")), "--allow-useless")
    costly = write(tmp_path, useless.replace("[belief]", "budget = 0.001\n[belief]"))
    said = ended(REFUSED, "check", costly, "--allow-useless").stderr
    assert "costs epsilon 0.01, and the whole budget is epsilon 0.001" in said


def test_an_unknown_kind_is_the_only_fault(tmp_path: Path) -> None:
    text = WARD.replace('"markov-chain"', '"asymetric"').replace("matrix", "grid").replace("order", "x")
    line, *rest = ended(BAD_INPUT, "check", write(tmp_path, text)).stderr.splitlines()
    assert line.startswith("takifugu: belief: has the unknown kind 'asymetric'; did you mean 'asymmetric'?; write kind")
    assert not [other for other in rest if "nothing happened" not in other]


CALENDAR = 'step = "1h"\nfrom = "2026-01-05"\nuntil = "2026-02-02"\n'
LOOSE = WARD.replace(CALENDAR, "step = 1\n").replace('every = "week"\n', "")
BRIEF = LOOSE.replace("[belief]\n", "[belief]\nmax_length = 50\n")


@pytest.mark.parametrize(("text", "mechanisms", "words"), [
    (LOOSE, [], "the noise was not tried: nothing says how long the sequences are at most (max_length under [belief]"),
    (BRIEF, ["influence"], "tried for a sequence of length 50, the most that the file allows"),
    (BRIEF.replace('"histogram"', '"linear"\nweights = [1, 2]')
     .replace("states = [\"calm\", \"busy\"]", "states = [0, 1]").replace("[expect]", "[expect]\nvalues = 1")
     .replace("shares = { calm = 0.75, busy = 0.25 }\n", ""), [],
     "the noise was not tried: its query reads each step, and the data say which ones there are"),
    (BRIEF + 'mechanism = "optimal"\n', [], "there is no noise for a sequence of length 50"),
])  # fmt: skip
def test_noise_is_tried_for_the_longest_sequence(tmp_path: Path, text: str, mechanisms: list[str], words: str) -> None:
    (one,) = result_of(write(tmp_path, text))["files"]
    assert [table["mechanisms"] for table in one["tables"]] == [mechanisms]
    (notice,) = one["notices"]
    assert notice.startswith(f"hours: {words}")


@pytest.mark.parametrize(("text", "said", "words"), [
    (LOOSE, 'matters = "2 h"', "matters: .*'h' is nothing that the table hours .*; a time needs a step"),
    (BRIEF, 'matters = "2 h"', "matters: .*'h' is nothing that the table hours .*; a time needs a step"),
    (LOOSE, 'matters = "2 km"', "matters: .*'km' is nothing that the table hours is measured in"),
    (BRIEF, "values = { calm = 1, lively = 2 }", "values: names 'lively', which is no cell of the table"),
])  # fmt: skip
def test_an_expectation_is_checked_where_data_decide_noise(tmp_path: Path, text: str, said: str, words: str) -> None:
    outcome = ended(BAD_INPUT, "check", write(tmp_path, text.replace("shares = { calm = 0.75, busy = 0.25 }", said)))
    assert re.search(f"expect.{words}", outcome.stderr)


@pytest.mark.parametrize(("every", "start", "name"), [
    ("day", "2026-01-05", "hours-2026-01-05"),
    ("week", "2026-01-07T13:00", "hours-2026-W03"),
    ("month", "2026-01-31", "hours-2026-02"),
    ("year", "2026-01-01", "hours-2026"),
])  # fmt: skip
def test_the_first_window_stands_for_a_series_without_an_end(tmp_path: Path, every: str, start: str, name: str) -> None:
    text = WARD.replace("until = ", "# until = ").replace('"2026-01-05"', f'"{start}"')
    text = text.replace("epsilon = 0.5", "epsilon = 5")  # at 0.5 a day is useless, and refused
    (one,) = result_of(write(tmp_path, text.replace('every = "week"', f'every = "{every}"')))["files"]
    assert [table["name"] for table in one["tables"]] == [name]
    assert all(table["mechanisms"] for table in one["tables"])


@pytest.mark.parametrize(("old", "new", "place", "code"), [
    ("[[0.9, 0.1]", "[[0.9, 0.2]", "belief.matrix", BAD_INPUT),
    ('step = "1h"', 'step = "1 parsec"', "source.step", BAD_INPUT),
    ("busy = 0.25", "bussy = 0.25", "expect.shares", BAD_INPUT),
    ("matrix = [[0.9, 0.1], [0.4, 0.6]]", 'matrix = "nowhere.txt"', "belief.matrix", BAD_INPUT),
    ('every = "week"', 'every = "week"\nmechanism = "quilt-exakt"', "table[0].mechanism", BAD_INPUT),
    ('every = "week"', 'every = "week"\nmechanism = "kantorovich-gaussian-a"', "", REFUSED),
    ("matrix = [[0.9, 0.1], [0.4, 0.6]]", 'fit = { file = "ward.csv", private = true }', "belief", BAD_INPUT),
    ('"2026-01-05"\nuntil = "2026-02-02"', '"soon"', "source.from", BAD_INPUT),
    ("[[table]]", "[[release]", "", BAD_INPUT),
])  # fmt: skip
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, place: str, code: int) -> None:
    assert old in WARD
    path = write(tmp_path, WARD.replace(old, new))
    outcome = invoke("check", path, "--json")
    error = json.loads(outcome.stdout)["error"]
    assert outcome.exit_code == error["exit_code"] == code, outcome.stderr
    assert place in [fault["where"] for fault in error["faults"]] or not place, error
    assert sorted(os.listdir(tmp_path)) == ["release.toml"]


def test_each_of_several_files_is_checked(tmp_path: Path) -> None:
    good = write(tmp_path, WARD, "good.toml")
    odd = write(tmp_path, WARD.replace("[[0.9, 0.1]", "[[0.9, 0.2]"), "odd.toml")
    refused = write(tmp_path, f'{WARD}mechanism = "kantorovich-gaussian-a"\n', "refused.toml")
    nowhere = tmp_path / "nowhere.toml"
    outcome = ended(BAD_INPUT, "check", odd, good, refused, nowhere)
    lines = outcome.stderr.splitlines()
    assert [str(path) in line for path, line in zip((odd, refused, nowhere), lines, strict=True)] == [True] * 3
    assert f"{odd}: belief.matrix" in lines[0]
    assert "valid" in outcome.stdout
    ended(REFUSED, "check", good, refused)
    document = result_of(odd, good, refused, nowhere)
    assert document["file"] is None
    assert [one["valid"] for one in document["files"]] == [False, True, False, False]
    assert [one["error"]["exit_code"] for one in document["files"] if not one["valid"]] == [2, 1, 2]


def test_the_file_of_another_ledger_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, WARD)
    write(tmp_path, WARD.replace("ledger.db", "other.db"), "twin.toml")
    (notice,) = result_of(path)["files"][0]["notices"]
    assert "twin.toml" in notice


@pytest.mark.parametrize("belief", ['matrix = "ward.csv"', 'fit = { file = "ward.csv" }'])
def test_of_the_private_data_no_belief_is_made(tmp_path: Path, belief: str) -> None:
    """That the file is named is the only fault: what is in it is neither read nor said."""
    (tmp_path / "ward.csv").write_text("hour,state\n2026-01-05,calm\n", encoding="utf-8")
    path = write(tmp_path, WARD.replace("matrix = [[0.9, 0.1], [0.4, 0.6]]", belief))
    with patch("takifugu.releasing.file.sequences.checks.PublicSequences") as made:
        said = ended(BAD_INPUT, "check", path).stderr
    assert said.count("takifugu:") == said.count("is the private data itself") == 1
    assert "numbers" not in said
    made.assert_not_called()


WARDS = WARD.replace('value = "state"', 'value = "state"\nunit = "patient"').replace(
    "[[table]]", "units_independent = true\n[[table]]"
).replace("epsilon = 0.5", "epsilon = 0.1\nper = \"pooled\"")  # fmt: skip
_ONLY_DATA = "depends on how many patients there are, which was not read; `takifugu advise {}` tells it"


@pytest.mark.parametrize("said", ["shares = { calm = 0.75, busy = 0.25 }", "values = { calm = 5000, busy = 900 }"])
def test_a_pooled_table_of_an_unknown_number_of_people_is_not_judged(tmp_path: Path, said: str) -> None:
    """Of one patient a week at epsilon 0.1 is noise, of 400 it is not: a release judges by those that there are."""
    text = WARDS.replace("shares = { calm = 0.75, busy = 0.25 }", said)
    path = write(tmp_path, text)
    (one,) = json_of("check", path)["files"]
    weeks = ", ".join(f"hours-2026-W{week:02}" for week in range(2, 6))
    assert one["notices"] == [f"{weeks}: whether it is worth reading {_ONLY_DATA.format(path)}"]
    ended(REFUSED, "check", write(tmp_path, WARDS.replace('per = "pooled"', 'per = "unit"'), "alone.toml"))
    odd = write(tmp_path, text.replace("calm = 0.75", "clam = 0.75").replace("calm = 5000", "clam = 5000"), "odd.toml")
    ended(BAD_INPUT, "check", odd)


def test_the_tables_of_one_file_are_judged_where_no_number_of_people_is_needed(tmp_path: Path) -> None:
    path = write(tmp_path, WARDS.replace('per = "pooled"', 'per = "both"'))
    outcome = ended(REFUSED, "check", path)
    assert "hours-2026-W02-units would be useless" in outcome.stderr
    assert "pooled would" not in outcome.stderr
    assert "hours-2026-W02-pooled" in succeed("check", path, "--allow-useless").stdout

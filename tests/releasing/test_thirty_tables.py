"""Thirty and more tables as people export them: `init` is right or asks, and no table is called good that is not."""

import csv
import json
import re
import subprocess
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pytest
from tests.support.commands import invoke
from tests.support.made_tables import MadeTable, changes, histories, known, spent, table
from tests.support.release_files import filled
from tests.support.releases import by_cells
from tests.support.starting import FLAGS
from tests.support.tables_of_happenings import OF_HAPPENINGS
from tests.support.tables_of_people import OF_PEOPLE
from tests.support.tables_of_states import OF_STATES

from takifugu.core.plain import Json
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.advice.advice import advise
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import Plan, plan
from takifugu.releasing.publishing.run import publish

KINDS = {**OF_STATES, **OF_HAPPENINGS, **OF_PEOPLE}
TABLES = {make.__name__: make for make in chain(*KINDS.values())}


def started(file: Path, answers: Mapping[str, str]) -> Json:
    """Start a release file beside a table, and return what `init` says, or its error."""
    words = ["init", str(file), "-o", str(file.with_name("r.toml")), "--force", "--json", *words_of(answers)]
    return json.loads(invoke(*words).stdout)


def words_of(answers: Mapping[str, str]) -> list[str]:
    return [word for name, answer in answers.items() if answer for word in (f"--{FLAGS.get(name, name)}", answer)]


def answered(file: Path, made: MadeTable) -> tuple[Path, Json]:
    """Start a release file, answering what is asked; return the table that it is about, and what `init` says."""
    said = dict[str, str]()
    is_mended = made.mended is None
    while "error" in (started_so := started(file, said)):
        error = started_so["error"]
        name, fix = error["where"], error["fix"]
        is_to_mend = "json" in fix.lower() or "CSV" in fix or "write them alike first" in error["rule"]
        if is_to_mend and not is_mended:
            assert made.mended is not None
            assert not file.with_name("r.toml").exists()
            file, is_mended, said = file.with_name(made.mended[0]), True, {}
            file.write_bytes(made.mended[1])
            continue
        assert name in made.right, error
        assert name not in said, error
        assert made.right[name] != "", error
        assert f"--{FLAGS.get(name, name)} {quoted(made.right[name])}" in fix, error
        said[name] = made.right[name]
    return file, started_so


def quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w-]+", word) and word.isascii() and word != "-" else f'"{word}"'


def without_odd_lines(file: Path, notes: list[str]) -> Path:
    """Run the commands that notes say, and return the table that is left."""
    for note in notes:
        command = re.search(r"delete (?:it|them): (.* > data\.csv)$", note)
        if command is not None:
            subprocess.run(["sh", "-c", command[1]], cwd=file.parent, check=True)
            file = file.with_name("data.csv")
    return file


def written(folder: Path, made: MadeTable) -> Path:
    (folder / made.file).write_bytes(made.content)
    for name, text in made.others.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / made.file


@pytest.mark.slow
def test_there_are_five_of_six_kinds_and_a_third_are_ugly() -> None:
    assert len(KINDS) == 6
    assert min(map(len, KINDS.values())) >= 5
    assert sum(make().is_ugly for make in TABLES.values()) >= len(TABLES) // 3


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", TABLES)
def test_without_a_terminal_init_does_what_yes_does(name: str, tmp_path: Path) -> None:
    made = TABLES[name]()
    file, where = written(tmp_path, made), tmp_path / "r.toml"
    done = list[tuple[int, str, str, str]]()
    for words in (["--yes"], [], ["--yes", *words_of(made.right)], words_of(made.right)):
        ran = invoke("init", file, "-o", where, *words)
        text = where.read_text(encoding="utf-8") if where.exists() else ""
        done.append((ran.exit_code, ran.stdout, ran.stderr, re.sub("ledger_id = .*", "", text)))
        for path in tmp_path.glob("r*"):
            path.unlink()
    assert done[0] == done[1]
    assert done[2] == done[3]
    assert {code for code, *_ in done} <= {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_init_is_right_or_asks_and_what_is_called_good_is_true(name: str, tmp_path: Path) -> None:
    made = TABLES[name]()
    file, said = answered(written(tmp_path, made), made)
    answers = {question["name"]: question["answer"] for question in said["questions"]}
    protected = {name: word for name, word in made.right.items() if name != "publish"}
    assert {name: answers.get(name) for name in protected} == protected
    file = without_odd_lines(file, said["notes"])
    wanted = {name: word for name, word in made.right.items() if word}
    assert "error" not in started(file, {**wanted, **made.fillings})
    where = tmp_path / "r.toml"
    where.write_text(filled(where.read_text(encoding="utf-8"), **made.lines), encoding="utf-8")
    (advice,) = advise(where).tables
    planned = plan(load(where))
    is_of_time = made.right["rows"] in ("changes", "stays")  # a step has the state at its start
    rounding = 4 * (file.read_bytes().count(b"\n") / 12) ** 0.5 if is_of_time else 0
    ((question,),) = (table.questions for table in planned.tables)
    exact = by_cells(question)
    assert {*exact} == {*made.truth}
    assert all(abs(exact[state] - steps) <= rounding for state, steps in made.truth.items())
    cells = published(tmp_path, planned)
    if advice.sentence.startswith("good"):
        assert_true(cells, made.truth, rounding)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [101, 102])
def test_a_log_of_two_people_is_good_only_if_all_cells_are_readable_and_true(seed: int, tmp_path: Path) -> None:
    lasts, people = {"free": 14_000.0, "taken": 2400.0}, ["a", "b"]
    courses = histories(seed, lasts, people)
    rows = [(f"{when:%Y-%m-%d %H:%M:%S}", name, state) for when, name, state in changes(courses)]
    right = {"rows": "changes", "whose": "person", "when": "when", "publish": "state"}
    truth = spent(courses, 60, lasts)
    made = MadeTable("log.csv", table(["when", "person", "state"], rows), right, {}, truth)
    said = started(written(tmp_path, made), {**right, **known(lasts, people, step="1min")})
    assert " is good: " in said["verdict"]
    assert_true(published(tmp_path, plan(load(tmp_path / "r.toml"))), truth, rounding=len(rows) ** 0.5)


def published(folder: Path, planned: Plan) -> list[dict[str, str]]:
    """Publish the only table with noise of a seed, and return its cells."""
    publish(planned, entropy=InsecureSeededEntropyForTests(3))
    with open(next((folder / "r-published").glob("*.csv")), encoding="utf-8", newline="") as cells:
        return [*csv.DictReader(cells)]


def assert_true(cells: list[dict[str, str]], truth: Mapping[str, float], rounding: float) -> None:
    """Assert that all cells are readable, and the truth is within the error of each, but for parts of steps."""
    assert {cell["cell"] for cell in cells} == {*truth}
    for cell in cells:
        assert cell["readable"] == "true"
        assert float(cell["low"]) - rounding <= truth[cell["cell"]] <= float(cell["high"]) + rounding

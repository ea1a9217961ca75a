"""What a release file costs: one computation for the noise, what stands beside it, other epsilons and windows."""

import pickle
import random
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, json_of, succeed, words_of
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.calibration import Comparisons, compare
from takifugu.calibration.alternatives import INAPPLICABLE
from takifugu.cli.samples.examples import write_example
from takifugu.releasing.cost import cost
from takifugu.releasing.file.loading import load
from takifugu.releasing.steps import dry_run

IID = [[0.5, 0.5], [0.5, 0.5]]


def chain(folder: Path, matrix: list[list[float]], **keys: object) -> Path:
    """Write a file that counts the steps of one state of a chain of 40 steps."""
    rows = random.Random(1).choices(["still", "walking"], k=40)
    text = release_text(
        read_from("steps", "steps.csv", order="n", step=1, value="state"),
        believe("markov-chain", states=["still", "walking"], matrix=matrix, source="a test"),
        publish("walking", "count", states=["walking"], **{"epsilon": 4, **keys}), expect=EXPECT,
    )
    lines = [f"{n},{state}\n" for n, state in enumerate(rows)]
    return put(folder, {"steps.toml": text, "steps.csv": "n,state\n" + "".join(lines)})


@pytest.mark.mutants
def test_the_cost_of_what_is_published_says_so(tmp_path: Path) -> None:
    path = chain(tmp_path, IID)
    assert cost(load(path)).published == ()
    tf.release_file(path, new_ledger=True)
    assert cost(load(path)).published == ("walking",)
    assert "not paid for again: walking" in words_of(invoke("cost", path))
    assert json_of("cost", path)["files"][0]["published"] == ["walking"]


@pytest.mark.parametrize(("matrix", "is_too_little"), [
    (IID, False), ([[0.9, 0.1], [0.4, 0.6]], True),
])  # fmt: skip
def test_noise_for_one_step_is_called_too_little_only_where_it_is_less(
    tmp_path: Path, matrix: list[list[float]], is_too_little: bool
) -> None:
    said = words_of(invoke("cost", chain(tmp_path, matrix)))
    assert "as if no datum told of another" in said
    assert ("too little" in said) == is_too_little


def test_what_is_foreseen_is_pickled_without_the_ledger(tmp_path: Path) -> None:
    """The views of a preview hold the ledger's connection and its key, and such a value could not be sent elsewhere."""
    path = chain(tmp_path, IID)
    tf.release_file(path, new_ledger=True)
    text = path.read_text(encoding="utf-8").replace('name = "walking"', 'name = "again"')
    text, ledger = text.replace('ledger = "ledger.db"\n', ""), load(path).ledger
    other = path.with_name("other.toml")
    other.write_text(f"ledger = {str(ledger)!r}\n{text}", encoding="utf-8")
    for foreseen in (cost(load(other)), dry_run(other)):
        again = pickle.dumps(foreseen)
        assert str(pickle.loads(again)) == str(foreseen)
        assert pickle.loads(again).to_dict() == foreseen.to_dict()
        key = Ledger.open(ledger, create=False).view().key
        assert key not in again
        assert key.hex().encode() not in again


@pytest.mark.mutants
def test_every_mechanism_has_one_line(tmp_path: Path) -> None:
    """A line for each, the whole reason in the JSON, and with --mechanism."""
    where = chain(tmp_path, [[0.9, 0.1], [0.4, 0.6]])
    (table,) = cost(load(where), with_all=True).mechanisms
    text = str(table.rows)
    refused = [row for row in table.rows if row.status == INAPPLICABLE]
    assert len(refused) > 3
    for row in refused:
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {row.name} ")]
        assert len(line) <= 80
        assert row.reason.startswith(line.split(maxsplit=1)[1].rstrip("…"))
    assert refused[0].reason in words_of(invoke("cost", where, "--mechanism", refused[0].name))
    belief = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 40, states=["still", "walking"])
    framework = tf.Pufferfish(tf.every_entry(), belief)
    assert isinstance(table.rows, Comparisons)
    assert [row.status for row in table.rows] == [row.status for row in compare(framework, tf.Count("walking"), 4)]


def test_a_table_without_noise_is_told_beside_the_mechanisms(tmp_path: Path) -> None:
    where = chain(tmp_path, [[0.9, 0.1], [0.4, 0.6]], mechanism="gaussian-exact")
    assert "gaussian-exact" in ended(1, "cost", where).stderr
    outcome = ended(1, "cost", "--all", where)
    assert "influence" in outcome.stdout
    assert "gaussian-exact does not apply" in words_of(outcome)


def test_no_rows_are_read_for_windows_to_come(tmp_path: Path) -> None:
    text = release_text(
        read_from("steps", "steps.csv", order="at", step="1h", from_="2026-01-05", value="state", budget=4),
        believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]], source="a test"),
        publish("walking", "count", states=["walking"], every="week", epsilon=1),
    )
    where = put(tmp_path, {"steps.toml": text, "steps.csv": "at,state\nno time,nothing\n"})
    assert "fit the budget" in words_of(succeed("cost", where, "--windows", "4"))
    (document,) = json_of("cost", where, "--windows", "4")["files"]
    assert [row["releases"] for row in document["outlook"]["ahead"]] == [1, 2, 4]
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.mutants
def test_a_table_of_all_is_not_judged_by_one_of_them(tmp_path: Path) -> None:
    """The example of the README, which is good, was called useless: windows to come were judged by one household."""
    write_example("households", tmp_path)
    (file,) = tmp_path.rglob("households.toml")
    printed = words_of(succeed("cost", file, "--windows", "4"))
    assert "4 windows fit the budget" in printed
    assert "a cell can be" not in printed
    assert "depends on how many households there are, which was not read; `takifugu advise" in printed
    assert "hot-water: good" in words_of(succeed("advise", file))


def test_several_files_are_told_one_after_the_other(tmp_path: Path) -> None:
    first = chain(tmp_path / "a", [[0.9, 0.1], [0.4, 0.6]])
    by_name = ("epsilon = 1.0", 'epsilon = 1.0\nmechanism = "group-dp"')
    second = files.write(tmp_path / "b", changed(files.SPEC, by_name))
    documents = json_of("cost", first, second)["files"]
    assert [document["file"] for document in documents] == [str(first), str(second)]
    assert ended(2, "cost", first, second, "--output", tmp_path / "x.svg").stdout == ""

"""Two release files of one folder: their default names differ, and the same data have one ledger, or a clear notice."""

import json
import tomllib
import warnings
from pathlib import Path

import pytest
from tests.support.commands import invoke, succeed
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.starting import begin, init

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.notices import Notice

ROWS = "who,minute,doing\n" + "".join(
    f"{who},{minute},{'still' if minute % 3 else 'walking'}\n" for who in ("a", "b") for minute in range(8)
)
FILE = release_text(
    read_from("{name}", "{file}", unit="who", order="minute", value="doing", step=1, from_=0, until=8, budget=50.0),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("{table}", "count", states=["walking"], epsilon=5.0, mechanism="group"),
    ledger="{ledger}", expect=EXPECT,
)  # fmt: skip


def written(folder: Path, stem: str, ledger: str, file: str = "minutes.csv", table: str = "t", more: str = "") -> Path:
    if not (folder / "minutes.csv").exists():
        (folder / "minutes.csv").write_text(ROWS, encoding="utf-8")
    path = folder / f"{stem}.toml"
    path.write_text(more + FILE.format(ledger=ledger, file=file, table=table, name="minutes"), encoding="utf-8")
    return path


def folders(where: Path) -> list[str]:
    return sorted(path.name for path in where.iterdir() if path.is_dir())


@pytest.mark.slow
def test_a_file_without_an_output_publishes_beside_itself_under_its_name(tmp_path: Path) -> None:
    for stem in ("one", "other file"):
        path = written(tmp_path, stem, "spent.db")
        assert load(path).output == tmp_path / f"{stem}-published"
        succeed("release", path, "--again", "t", "--once", stem)
    assert folders(tmp_path) == ["one-published", "other file-published"]
    chosen = written(tmp_path, "chosen", "spent.db", more='output = "public"\n')
    assert load(chosen).output == tmp_path / "public"


def test_init_names_the_ledger_and_the_folder_after_the_release_file(tmp_path: Path) -> None:
    for name in ("steps.csv", "nights.csv"):
        (tmp_path / name).write_text(ROWS, encoding="utf-8")
        path = tmp_path / f"{Path(name).stem}.toml"
        started = init(tmp_path / name, "-o", path)
        assert "new ledger:" in started.stdout
        text = path.read_text(encoding="utf-8")
        assert f'ledger = "{path.stem}-ledger.db"' in text
        assert f'output = "{path.stem}-published"' in text
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["nights-ledger.db", "steps-ledger.db"]


@pytest.mark.parametrize("link", [False, True])
def test_init_takes_the_ledger_of_another_file_about_the_same_data(tmp_path: Path, link: bool) -> None:
    first = written(tmp_path, "first", "kept/spent.db")
    (tmp_path / "kept").mkdir()
    data = tmp_path / "minutes.csv"
    if link:
        (tmp_path / "again.csv").symlink_to(data)
        data = tmp_path / "again.csv"
    started = begin(data, "-o", tmp_path / "second.toml")
    words = " ".join(started.stdout.split())
    assert f"It is that of {first}" in words or "which reads the same data" in words
    text = (tmp_path / "second.toml").read_text(encoding="utf-8")
    assert 'ledger = "kept/spent.db"' in text
    assert "that of first.toml, too" in " ".join(text.split())
    assert 'output = "second-published"' in text
    assert 'name = "minutes"' in text
    assert "budget = 50.0" in text
    assert "as in first.toml: the same people have one name and one budget" in " ".join(text.replace("#", "").split())
    assert not list(tmp_path.glob("*.db"))
    content = json.loads(init(data, "-o", tmp_path / "third.toml", "--json").stdout)
    assert (content["ledger_of"], content["ledger_is_new"]) == (str(first), False)
    assert content["ledger"] == str(tmp_path / "kept/spent.db")


@pytest.mark.parametrize("kind", ["sequences", "table", "normal", "populations", "asymmetric"])
def test_every_kind_of_draft_names_the_source_as_the_other_file_does(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, "first", "spent.db")
    text = path.read_text(encoding="utf-8").replace('name = "minutes"', 'name = "who did what"')
    path.write_text(text.replace("budget = 50.0", "budget = { epsilon = 2, delta = 1e-9 }"), encoding="utf-8")
    begin(tmp_path / "minutes.csv", "-o", tmp_path / "new.toml", "--kind", kind)
    source = tomllib.loads((tmp_path / "new.toml").read_text(encoding="utf-8"))["source"]
    assert (source["name"], source["budget"]) == ("who did what", {"epsilon": 2, "delta": 1e-9})


def test_a_name_or_a_budget_that_is_none_is_not_taken_over(tmp_path: Path) -> None:
    path = written(tmp_path, "first", "spent.db")
    text = path.read_text(encoding="utf-8").replace('name = "minutes"', 'name = " "')
    path.write_text(text.replace("budget = 50.0", "budget = 2026-01-05"), encoding="utf-8")
    begin(tmp_path / "minutes.csv", "-o", tmp_path / "new.toml")
    source = tomllib.loads((tmp_path / "new.toml").read_text(encoding="utf-8"))["source"]
    assert (source["name"], source["budget"]) == ("minutes", 1.0)


@pytest.mark.slow
def test_the_same_data_under_another_name_in_one_ledger_are_noticed(tmp_path: Path) -> None:
    """Two sources have two budgets; without units in the data the ledger cannot ask whether the people are the same."""
    mine, other = written(tmp_path, "mine", "spent.db"), written(tmp_path, "other", "./spent.db", table="u")
    spelt = mine.read_text(encoding="utf-8").replace('name = "minutes"', 'name = " minutes"')
    mine.write_text(spelt, encoding="utf-8")
    assert "another source of this ledger" not in invoke("compare", mine).output, "one name, spelt in two ways"
    mine.write_text(spelt.replace('" minutes"', '"hours"'), encoding="utf-8")
    words = "the same data are another source of this ledger in other.toml ('minutes')"
    for command in (["compare"], ["release", "--dry-run"], ["compare", "--json"]):
        outcome = succeed(*command, mine)
        assert words in " ".join(outcome.output.split()), command
    mine.write_text(spelt.replace('" minutes"', '"hours"\nsame_people = true'), encoding="utf-8")
    assert "another source of this ledger" not in invoke("compare", mine).output
    assert "another source of this ledger" in " ".join(invoke("compare", other).output.split())
    nameless = mine.read_text(encoding="utf-8").replace('unit = "who"', 'duplicates = "first"')
    mine.write_text(nameless, encoding="utf-8")
    printed = " ".join(invoke("compare", mine).output.split())
    assert words in printed, "where one names no units, nothing is charged to the other source"
    assert "or same_people" not in printed
    spelt = other.read_text(encoding="utf-8").replace('unit = "who"', 'duplicates = "first"')
    other.write_text(spelt, encoding="utf-8")
    assert "another source of this ledger" not in invoke("compare", mine).output, "both name none: each pays"
    assert "or same_people = true" in " ".join(invoke("compare", other).output.split())


def test_files_that_are_no_release_file_do_not_stop_init(tmp_path: Path) -> None:
    (tmp_path / "minutes.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.toml").write_text("no toml [", encoding="utf-8")
    (tmp_path / "c.toml").write_text('source = "minutes.csv"\nledger = 3\n', encoding="utf-8")
    (tmp_path / "d.toml").write_text('ledger = "x.db"\n[source]\nfile = "other.csv"\n', encoding="utf-8")
    (tmp_path / "e.toml").mkdir()
    begin(tmp_path / "minutes.csv", "-o", tmp_path / "f.toml")
    assert 'ledger = "f-ledger.db"' in (tmp_path / "f.toml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_same_data_with_another_ledger_are_noticed_by_every_command(tmp_path: Path) -> None:
    mine, other = written(tmp_path, "mine", "mine.db"), written(tmp_path, "other", "other.db", "./minutes.csv", "u")
    words = "the same data are read with another ledger by other.toml ('other.db')"
    for command in (
        ["compare"], ["calibrate"], ["release", "--dry-run"],
        ["compare", "--json"], ["calibrate", "--json"], ["release", "--dry-run", "--json"],
    ):  # fmt: skip
        result = succeed(*command, mine)
        assert words in " ".join(result.output.split()), command
        assert "'mine.db'" in " ".join(result.output.split())
    assert words in str(tf.open_study(mine).compare())
    assert words in " ".join(str(tf.forecast(mine)).split())
    released = succeed("release", mine)
    assert words in " ".join(released.output.split())
    with pytest.raises(LedgerError, match=r"t\.certificate\.json in '.*mine-published' was paid for by a ledger other"):
        tf.release_file(other)  # neither says where to publish, so both used to share a folder
    with pytest.warns(Notice, match="the same data are read with another ledger by mine.toml"):
        tf.release_file(other, new_ledger=True)
    assert Ledger.open(tmp_path / "other.db").spent("minutes").spent.epsilon > 0


@pytest.mark.slow
def test_plan_notices_it_too(tmp_path: Path) -> None:
    weeks = 'step = "1h"\nfrom = "2026-01-05"\nuntil = "2026-03-02"'
    for stem in ("one", "two"):
        path = written(tmp_path, stem, f"{stem}.db")
        text = path.read_text(encoding="utf-8").replace("step = 1\nfrom = 0\nuntil = 8", weeks)
        path.write_text(text + 'every = "week"\n', encoding="utf-8")
    (tmp_path / "minutes.csv").write_text("who,minute,doing\na,2026-01-05T00:00,still\n", encoding="utf-8")
    assert "read with another ledger by two.toml" in " ".join(invoke("plan", tmp_path / "one.toml").stdout.split())
    content = json.loads(invoke("plan", tmp_path / "one.toml", "--json").stdout)
    assert "read with another ledger by two.toml" in content["notices"][0]


@pytest.mark.parametrize("ledger", ["mine.db", "./mine.db", "link.db"])
def test_one_ledger_by_any_name_is_one_ledger(tmp_path: Path, ledger: str) -> None:
    mine = written(tmp_path, "mine", "mine.db")
    Ledger.open(tmp_path / "mine.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "mine.db")
    written(tmp_path, "other", ledger, table="u")
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    written(tmp_path, "another source", "another.db", "people.csv")
    assert "another ledger" not in invoke("compare", mine).output
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        tf.release_file(mine)


@pytest.mark.slow
def test_the_same_people_without_units_pay_in_both_files(tmp_path: Path) -> None:
    minutes = "minute,doing\n" + "".join(f"{m},{'still' if m % 3 else 'walking'}\n" for m in range(8))
    (tmp_path / "minutes.csv").write_text(minutes, encoding="utf-8")
    one, other = written(tmp_path, "one", "spent.db"), written(tmp_path, "other", "spent.db")
    for path, lines in ((one, 'name = "minutes"'), (other, 'name = "hours"\nsame_people = true')):
        text = path.read_text(encoding="utf-8").replace('unit = "who"\n', "").replace("units_independent = true\n", "")
        path.write_text(text.replace('name = "minutes"', lines), encoding="utf-8")
    for path in (one, other):
        succeed("release", path, "--anyway")
    mine, theirs = (row.spent.epsilon for row in Ledger.open(tmp_path / "spent.db").show())
    assert 5 < mine == theirs <= 10, "5 for a change of all steps of the other source, and its own"
    (certificate,) = (tmp_path / "other-published").glob("*.certificate.txt")
    assert "'minutes' are the same people" in " ".join(certificate.read_text(encoding="utf-8").split())

"""Two release files of one folder: their default names differ, and the same data have one ledger, or a clear notice."""

import json
import tomllib
import warnings
from pathlib import Path

import pytest
from tests.support.commands import invoke, succeed, words_of
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import put
from tests.support.starting import begin, init

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError, Notice
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.neighbours import notices_of_file

ROWS = "who,minute,doing\n" + "".join(
    f"{who},{minute},{'still' if minute % 3 else 'walking'}\n" for who in ("a", "b") for minute in range(8)
)
FILE = release_text(
    read_from("{name}", "{file}", unit="who", order="minute", value="doing", step=1, from_=0, until=8, budget=50.0),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("{table}", "count", states=["walking"], epsilon=5.0, mechanism="group-dp"),
    ledger="{ledger}", expect=EXPECT,
)  # fmt: skip


def written(folder: Path, stem: str, ledger: str, *changes: tuple[str, str], file: str = "minutes.csv",
            table: str = "t", rows: str = ROWS) -> Path:  # fmt: skip
    text = changed(FILE.format(ledger=ledger, file=file, table=table, name="minutes"), *changes)
    return put(folder, {f"{stem}.toml": text, "minutes.csv": rows})


def compared(path: Path) -> str:
    return words_of(invoke("cost", path))


@pytest.mark.slow
def test_a_file_without_an_output_publishes_beside_itself_under_its_name(tmp_path: Path) -> None:
    for stem in ("one", "other file"):
        path = written(tmp_path, stem, "spent.db")
        assert load(path).output == tmp_path / f"{stem}-published"
        succeed("release", path, "--replace", "t", "--idempotency-key", stem)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"one-published", "other file-published"}
    chosen = written(tmp_path, "chosen", "spent.db", ('ledger = "spent.db"', 'ledger = "spent.db"\noutput = "public"'))
    assert load(chosen).output == tmp_path / "public"


@pytest.mark.mutants
@pytest.mark.parametrize("link", [False, True])
def test_init_takes_the_ledger_of_another_file_about_the_same_data(tmp_path: Path, link: bool) -> None:
    first = written(tmp_path, "first", "kept/spent.db")
    (tmp_path / "kept").mkdir()
    data = tmp_path / "minutes.csv"
    if link:
        (tmp_path / "again.csv").symlink_to(data)
        data = tmp_path / "again.csv"
    words = words_of(begin(data, "-o", tmp_path / "second.toml"))
    assert f"It is that of {first}" in words or "which reads the same data" in words
    text = (tmp_path / "second.toml").read_text(encoding="utf-8")
    draft, comments = tomllib.loads(text), " ".join(text.replace("#", "").split())
    assert (draft["ledger"], draft["output"]) == ("kept/spent.db", "second-published")
    assert (draft["source"]["name"], draft["source"]["budget"]) == ("minutes", 50.0)
    assert "what was spent on these data, as in first.toml;" in comments
    assert "who these people are to the ledger, as in first.toml, for ever" in comments
    assert not list(tmp_path.glob("*.db"))
    content = json.loads(init(data, "-o", tmp_path / "third.toml", "--json").stdout)
    assert (content["ledger_of"], content["ledger_is_new"]) == (str(first), False)
    assert content["ledger"] == str(tmp_path / "kept/spent.db")


@pytest.mark.parametrize(("kind", "name", "budget", "taken"), [
    *((kind, "who did what", "{ epsilon = 2, delta = 1e-9 }", ("who did what", {"epsilon": 2, "delta": 1e-9}))
      for kind in ("markov-chain", "joint-table", "normal", "populations", "asymmetric")),
    ("markov-chain", " ", "2026-01-05", ("minutes", 1.0)),  # neither is one
])  # fmt: skip
def test_every_kind_of_draft_names_the_source_as_the_other_file_does(
    tmp_path: Path, kind: str, name: str, budget: str, taken: tuple[str, object]
) -> None:
    written(tmp_path, "first", "spent.db", ('"minutes"', f'"{name}"'), ("budget = 50.0", f"budget = {budget}"))
    unit = "-" if kind == "normal" else "who"
    begin(tmp_path / "minutes.csv", "-o", tmp_path / "new.toml", "--kind", kind, "--unit", unit)
    source = tomllib.loads((tmp_path / "new.toml").read_text(encoding="utf-8"))["source"]
    assert (source["name"], source["budget"]) == taken


@pytest.mark.slow
def test_the_same_data_under_another_name_in_one_ledger_are_noticed(tmp_path: Path) -> None:
    """Their releases count for each other at their worst; as one source they would cost what they cost together."""
    said = "another source of this ledger"
    other = written(tmp_path, "other", "./spent.db", table="u")
    mine = written(tmp_path, "mine", "spent.db", ('"minutes"', '" minutes"'))
    assert said not in compared(mine), "one name, spelt in two ways"
    written(tmp_path, "mine", "spent.db", ('"minutes"', '"hours"'))
    words = f"the same data are {said} in other.toml ('minutes')"
    for command in (["cost"], ["release", "--dry-run"], ["cost", "--json"]):
        assert words in words_of(succeed(*command, mine)), command
    same, nameless = ('"minutes"', '"hours"\nsame_people = true'), ('unit = "who"', "where = \"who = 'a'\"")
    written(tmp_path, "mine", "spent.db", same)
    assert said not in compared(mine), "it knows"
    assert said in compared(other)
    written(tmp_path, "mine", "spent.db", same, nameless)
    assert said not in compared(mine), "where one names no units, too, each pays"


@pytest.mark.mutants
def test_files_that_are_no_release_file_do_not_stop_init(tmp_path: Path) -> None:
    (tmp_path / "minutes.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.toml").write_text("no toml [", encoding="utf-8")
    (tmp_path / "c.toml").write_text('source = "minutes.csv"\nledger = 3\n', encoding="utf-8")
    (tmp_path / "d.toml").write_text('ledger = "x.db"\n[source]\nfile = "other.csv"\n', encoding="utf-8")
    (tmp_path / "e.toml").mkdir()
    begin(tmp_path / "minutes.csv", "-o", tmp_path / "f.toml")
    assert 'ledger = "f-ledger.db"' in (tmp_path / "f.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(("before", "after"), [
    ('name = "minutes"', f'name = "{"x" * 5_000}"'), ('name = "minutes"', r'name = "\u202e"'),
    ('file = "minutes.csv"', r'file = "minutes.csv\u0000"'), ('ledger = "other.db"', r'ledger = "\u0000"'),
])  # fmt: skip
def test_what_another_file_has_wrong_stops_no_other(tmp_path: Path, before: str, after: str) -> None:
    mine, other = written(tmp_path, "mine", "mine.db"), written(tmp_path, "other", "other.db", table="u")
    text = other.read_text(encoding="utf-8")
    assert before in text
    other.write_text(text.replace(before, after), encoding="utf-8")
    assert all("another source" not in said for said in notices_of_file(load(mine)))


@pytest.mark.slow
def test_the_same_data_with_another_ledger_are_noticed_by_every_command(tmp_path: Path) -> None:
    mine = written(tmp_path, "mine", "mine.db")
    other = written(tmp_path, "other", "other.db", file="./minutes.csv", table="u")
    words = "the same data are read with another ledger by other.toml ('other.db')"
    for command in (["cost"], ["release", "--dry-run"], ["cost", "--json"], ["release", "--dry-run", "--json"]):
        printed = words_of(succeed(*command, mine))
        assert words in printed, command
        assert "'mine.db'" in printed
    assert words in str(tf.open_study(mine).cost())
    assert words in " ".join(str(tf.dry_run(mine)).split())
    assert words in words_of(succeed("release", mine))
    with pytest.raises(LedgerError, match=r"t\.certificate\.json in '.*mine-published' was paid for by a ledger other"):
        tf.release_file(other)  # neither says where to publish, so both used to share a folder
    with pytest.warns(Notice, match="the same data are read with another ledger by mine.toml"):
        tf.release_file(other, new_ledger=True)


@pytest.mark.parametrize("file", ["minutes*.csv", "minute?.csv", "./minutes.csv"])
def test_data_that_another_file_names_by_a_pattern_are_the_same_data(tmp_path: Path, file: str) -> None:
    mine, other = written(tmp_path, "mine", "mine.db"), written(tmp_path, "other", "other.db", file=file, table="u")
    for path, name in ((mine, "other"), (other, "mine")):
        (said,) = notices_of_file(load(path))
        assert f"the same data are read with another ledger by {name}.toml ('{name}.db')" in said
    written(tmp_path, "other", "other.db", file="hours*.csv")
    assert notices_of_file(load(mine)) == ()


def test_one_ledger_by_any_name_is_one_ledger(tmp_path: Path) -> None:
    mine = written(tmp_path, "mine", "mine.db")
    Ledger.open(tmp_path / "mine.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "mine.db")
    for table, ledger in zip("uvw", ("mine.db", "./mine.db", "link.db"), strict=True):
        written(tmp_path, table, ledger, table=table)
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    written(tmp_path, "another source", "another.db", file="people.csv")
    assert "another ledger" not in compared(mine)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Notice)
        tf.release_file(mine)


@pytest.mark.slow
def test_the_same_people_without_units_pay_in_both_files(tmp_path: Path) -> None:
    minutes = "minute,doing\n" + "".join(f"{m},{'still' if m % 3 else 'walking'}\n" for m in range(8))
    alone = (('unit = "who"\n', ""), ("units_independent = true\n", ""))
    for stem, name in (("one", '"minutes"'), ("other", '"hours"\nsame_people = true')):
        path = written(tmp_path, stem, "spent.db", *alone, ('"minutes"', name), rows=minutes)
        succeed("release", path, "--allow-useless")
    mine, theirs = (row.spent.epsilon for row in Ledger.open(tmp_path / "spent.db").show())
    assert 5 < mine == theirs <= 10, "5 for a change of all steps of the other source, and its own"
    (certificate,) = (tmp_path / "other-published").glob("*.certificate.txt")
    assert "'minutes' are the same people" in " ".join(certificate.read_text(encoding="utf-8").split())

"""What a row says, in one word: every kind of release file has its own, takes it, and names it to whoever errs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES
from tests.releasing.file.test_drafts import TABLES

from takifugu.cli import main
from takifugu.core.errors import SpecError
from takifugu.releasing.file.keys import ROWS
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of

SEQUENCES = ("markov-chain", "markov-chain-class")
OF_STEPS = ("samples", "changes", "stays", "events")


def word_of(kind: str) -> str:
    return "samples" if kind in SEQUENCES else "visits" if kind == "asymmetric" else "answers"


def written(example: Example, folder: Path, word: str | None) -> Path:
    for name, text in example.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    says = "" if word is None else f'rows = "{word}"\n'
    (folder / "f.toml").write_text(example.text.replace("[source]\n", f"[source]\n{says}", 1), encoding="utf-8")
    return folder / "f.toml"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_the_word_of_a_kind_changes_nothing(example: Example, tmp_path: Path) -> None:
    said = []
    for word in (None, word_of(example.kind)):
        file = load(written(example, tmp_path, word))
        _ = file.table
        said.append((file.layout(), [keys_of(file, item) for item in file.items]))
    assert said[0] == said[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_a_word_of_other_data_is_refused_and_the_right_one_named(example: Example, tmp_path: Path) -> None:
    right = word_of(example.kind)
    for wrong in {*ROWS} - ({*OF_STEPS} if right == "samples" else {right}):
        with pytest.raises(SpecError) as refusal:
            load(written(example, tmp_path, wrong))
        (fault,) = (fault for fault in str(refusal.value).splitlines() if fault.startswith("source.rows"))
        assert f"is '{wrong}', {ROWS[wrong]}" in fault
        assert f'"{right}"' in fault


def test_a_word_that_there_is_not_is_refused(tmp_path: Path) -> None:
    example = next(one for one in EXAMPLES if one.kind == "asymmetric")
    with pytest.raises(SpecError) as refusal:
        load(written(example, tmp_path, "visit"))
    assert "source.rows" in str(refusal.value)
    assert "visits" in str(refusal.value)


def test_visits_are_no_answers_where_each_person_has_one_declared_value(tmp_path: Path) -> None:
    example = Example(
        "asymmetric",
        'ledger = "ledger.db"\n[source]\nname = "study"\nfile = "data.csv"\nvalue = "state"\n[belief]\n'
        'kind = "asymmetric"\nvalues = ["ill", "well"]\npeople = 4\n[hide]\npolicy = [{ none_of = ["ill"] }]\n'
        '[[release]]\nname = "table-1"\nquery = "count"\nstates = ["well"]\nepsilon = 1.0\n',
        {"data.csv": "state\nill\nwell\nwell\nwell\n"}, (),
    )  # fmt: skip
    assert load(written(example, tmp_path, "answers")).items
    with pytest.raises(SpecError) as refusal:
        load(written(example, tmp_path, "visits"))
    assert 'with belief.values a row is what is so of one person or case; write rows = "answers"' in str(refusal.value)


@pytest.mark.parametrize(("kind", "table"), [
    ("sequences", "numbered"), ("records", "people"), ("users", "people"), ("contacts", "people"),
    ("contacts", "pairs"), ("network", "people"), ("independent-records", "people"), ("normal", "people"),
    ("parameters", "people"), ("populations", "people"), ("asymmetric", "visits"),
])  # fmt: skip
def test_a_draft_says_what_its_rows_are(kind: str, table: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(TABLES[table], encoding="utf-8")
    words = ["init", str(tmp_path / "d.csv"), "-o", str(tmp_path / "r.toml"), "--kind", kind]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    word = "samples" if kind == "sequences" else word_of(kind)
    lines = (tmp_path / "r.toml").read_text(encoding="utf-8").splitlines()
    assert next(line for line in lines if line.startswith("rows = ")).startswith(f'rows = "{word}"')

"""What a row says, in one word: every kind of release file has its own, takes it, and names it to whoever errs."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES
from tests.support.releases import refusal_of

from takifugu.releasing.file.keys import ROWS
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of

SEQUENCES = ("markov-chain", "markov-chain-class")
OF_STEPS = ("samples", "changes", "stays", "events", "wide")


def word_of(kind: str) -> str:
    return "samples" if kind in SEQUENCES else "visits" if kind == "asymmetric" else "answers"


def written(example: Example, folder: Path, word: str | None) -> Path:
    says = "" if word is None else f'rows = "{word}"\n'
    text = example.text.replace('rows = "samples"\n', "")
    return replace(example, text=text.replace("[source]\n", f"[source]\n{says}", 1)).write(folder)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_the_only_word_of_a_kind_changes_nothing(example: Example, tmp_path: Path) -> None:
    if example.kind in SEQUENCES:
        assert "source.rows: is missing" in str(refusal_of(written(example, tmp_path, None)))
        return
    said = []
    for word in (None, word_of(example.kind)):
        file = load(written(example, tmp_path, word))
        _ = file.table
        said.append((file.reading, [keys_of(file, item) for item in file.items]))
    assert said[0] == said[1]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_a_word_of_other_data_is_refused_and_the_right_one_named(example: Example, tmp_path: Path) -> None:
    right = word_of(example.kind)
    for wrong in {*ROWS} - ({*OF_STEPS} if right == "samples" else {right}):
        refusal = refusal_of(written(example, tmp_path, wrong))
        (fault,) = (fault for fault in str(refusal).splitlines() if fault.startswith("source.rows"))
        assert f"is '{wrong}', {ROWS[wrong]}" in fault
        assert f'"{right}"' in fault


def test_a_word_that_there_is_not_is_refused(tmp_path: Path) -> None:
    example = next(one for one in EXAMPLES if one.kind == "asymmetric")
    refusal = str(refusal_of(written(example, tmp_path, "visit")))
    assert all(words in refusal for words in ("source.rows", "visits"))


def test_visits_are_no_answers_where_each_person_has_one_declared_value(tmp_path: Path) -> None:
    example = Example(
        "asymmetric",
        'ledger = "ledger.db"\n[source]\nname = "study"\nfile = "data.csv"\nvalue = "state"\n[belief]\n'
        'kind = "asymmetric"\nvalues = ["ill", "well"]\npeople = 4\n[hide]\npolicy = [{ none_of = ["ill"] }]\n'
        '[[table]]\nname = "table-1"\nquery = "count"\nstates = ["well"]\nepsilon = 1.0\n',
        {"data.csv": "state\nill\nwell\nwell\nwell\n"}, (),
    )  # fmt: skip
    assert load(written(example, tmp_path, "answers")).items
    refusal = refusal_of(written(example, tmp_path, "visits"))
    right = "with belief.values a row is what one person or case answered, or what is so of it"
    assert f'{right}; write rows = "answers"' in str(refusal)


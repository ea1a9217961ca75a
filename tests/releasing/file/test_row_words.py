"""What a row says, in one word: every kind of release file has its own, takes it, and names it to whoever errs."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.release_files import Example
from tests.conformance.test_release_files import EXAMPLES
from tests.support.commands import invoke, succeed
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import put, refusal_of

from takifugu.releasing.file.keys import ROWS
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of

SEQUENCES = ("markov-chain", "markov-chain-class")
OF_STEPS = ("samples", "changes", "stays", "events", "wide")


def word_of(kind: str) -> str:
    return "samples" if kind in SEQUENCES else "visits" if kind == "asymmetric" else "answers"


def written(example: Example, folder: Path, word: str | None) -> Path:
    says = "" if word is None else f'rows = "{word}"\n'
    return replace(example, text=example.text.replace("[source]\n", f"[source]\n{says}", 1)).write(folder)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.kind)
def test_the_word_of_a_kind_changes_nothing(example: Example, tmp_path: Path) -> None:
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


OLD = release_text(
    read_from("study", "data.csv", value="state") + "\n{keys}",
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]]),
    publish("time-use", "histogram", epsilon=1.0),
    output="out", expect=EXPECT,
)  # fmt: skip
TIMES = "".join(f"2026-01-05T{hour:02}:00,{hour},{'walking' if hour % 3 else 'still'}\n" for hour in range(24))


def old(folder: Path, keys: str) -> Path:
    return put(folder, {"f.toml": OLD.format(keys=keys), "data.csv": f"time,number,state\n{TIMES}"})


@pytest.mark.slow
@pytest.mark.parametrize("keys", [
    'order = "time"\nstep = "1h"', "order = \"time::timestamp AT TIME ZONE 'UTC'\"\nstep = \"1h\"\ntimezone = \"UTC\"",
])  # fmt: skip
def test_a_file_of_before_means_samples_and_everything_says_so(keys: str, tmp_path: Path) -> None:
    path = old(tmp_path, keys)
    words = "source.rows is not written"
    for command in (["check"], ["release", "--dry-run"], ["release"]):
        done = succeed(*command, "--allow-useless", path)
        assert words in " ".join(done.output.split())
    certificate = (tmp_path / "out" / "time-use.certificate.json").read_text(encoding="utf-8")
    assert "The file does not declare what a row means" in certificate


@pytest.mark.parametrize("keys", [
    'order = "time"\nstep = "1h"\nrows = "samples"', 'order = "number"\nstep = 1',
])  # fmt: skip
def test_nothing_is_said_where_the_word_is_written_or_no_time_is_read(keys: str, tmp_path: Path) -> None:
    path = old(tmp_path, keys)
    words = ("check", "release")
    outputs = [invoke(word, "--allow-useless", path) for word in words]
    assert [done.exit_code for done in outputs] == [0, 0]
    assert not any("source.rows" in done.output for done in outputs)
    certificate = (tmp_path / "out" / "time-use.certificate.json").read_text(encoding="utf-8")
    assert "what a row means" not in certificate

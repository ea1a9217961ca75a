"""How much of the data comes to the driver when a release is planned and published: counts, and no step."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.support.release_files import EXPECT, believe, group, hide, publish, read_from, release_text
from tests.support.releases import put

import takifugu as tf
from takifugu.data.relation.relation import Relation
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

STEPS, USERS = 300, 400

SEQUENCES = release_text(
    read_from("walks", "walks.csv", unit="person", order="minute", step=1, value="posture", nulls="unobserved"),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    hide(kind="every-entry"),
    publish("walking", "count", states=["walking"], epsilon=1.0, per="unit"),
    publish("both", "histogram", epsilon=1.0, per="pooled"),
    expect=EXPECT,
)
GROUPS = release_text(
    read_from("survey", "people.csv", value="smokes", group="town"),
    believe("users"),
    group("north", 100, ["yes", "no"], [0.3, 0.7]),
    group("south", 300, ["yes", "no"], [0.2, 0.8]),
    hide(kind="every-entry"),
    publish("smokers", "count", states=["yes"], epsilon=1.0),
    publish("all", "histogram", epsilon=1.0),
    expect=EXPECT,
)  # fmt: skip
RECORD = release_text(
    read_from("record", "record.csv"),
    believe("joint-table", columns=["hiv", "flu"], rows=[[0, 0], [0, 1], [1, 0], [1, 1]],
            probabilities=[0.4, 0.1, 0.1, 0.4],
            source="a public census"),
    hide(kind="every-entry"),
    publish("total", "sum", epsilon=1.0),
    expect=EXPECT,
)  # fmt: skip


def folder_of(path: Path, text: str, gaps: bool = False) -> Path:
    draw = random.Random(7)
    walks = [
        f"{who},{step},{draw.choice(('still', 'walking'))}\n"
        for who in ("Ana", "Ben") for step in range(STEPS) if not (gaps and step == 5)
    ]  # fmt: skip
    (path / "walks.csv").write_text("person,minute,posture\n" + "".join(walks))
    people = [f"{draw.choice(('yes', 'no'))},{'north' if i < 100 else 'south'}\n" for i in range(USERS)]
    (path / "people.csv").write_text("smokes,town\n" + "".join(draw.sample(people, USERS)))
    return put(path, {"file.toml": text, "record.csv": "hiv,flu\n0,1\n"})


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each statement about a relation has brought to Python."""
    counts: list[int] = []
    in_rows, in_columns = Relation.rows, Relation.columns

    def rows_counted(relation: Relation, *words: str) -> Any:
        rows = in_rows(relation, *words)
        counts.append(len(rows))
        return rows

    def columns_counted(relation: Relation, *words: str) -> Any:
        columns = in_columns(relation, *words)
        counts.append(max(map(len, columns.values())))
        return columns

    monkeypatch.setattr(Relation, "rows", rows_counted)
    monkeypatch.setattr(Relation, "columns", columns_counted)
    return counts


#: Of each of two people a row for each word of 60 steps.
WORDS = 2 * (STEPS // 60 + 1)


@pytest.mark.mutants
@pytest.mark.parametrize(("text", "gaps", "most"), [
    (SEQUENCES, False, 2), (SEQUENCES, True, WORDS), (GROUPS, False, 4), (RECORD, False, 2),
], ids=["sequences", "gaps", "groups", "record"])  # fmt: skip
def test_counts_come_to_python_and_no_step(
    answers: list[int], tmp_path: Path, text: str, gaps: bool, most: int
) -> None:
    """Counts of each unit, group and state do; where steps are missing, which is public, a bit for each step."""
    path = folder_of(tmp_path, text, gaps)
    plan(load(path))
    planned = list(answers)
    assert planned
    assert max(planned) <= most
    answers.clear()
    assert tf.release_file(path).tables
    assert answers == planned


WEIGHED = publish("weighed", "linear", weights="weights.csv", codes={"still": 0, "walking": 1}, epsilon=1.0, per="unit")
LINEAR = SEQUENCES.partition("[[table]]")[0] + WEIGHED


@pytest.mark.slow
def test_weights_read_the_entries_as_runs_of_states(answers: list[int], tmp_path: Path) -> None:
    """Entries of different weights cannot be counted together: their states come to Python, once for all units."""
    path = folder_of(tmp_path, LINEAR, gaps=True)
    (tmp_path / "weights.csv").write_text("\n".join(str(step % 7) for step in range(STEPS)))
    assert tf.release_file(path).tables
    assert sorted(answers)[-2] <= WORDS < sorted(answers)[-1] < 2 * STEPS

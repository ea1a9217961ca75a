"""Some seeded cases of the fuzzer of rows, and whether it would see a reader that takes events for changes."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.rows import against_the_oracle, case, in_all_ways
from tests.fuzz.same_steps import in_files

from takifugu.data.relation import cells, statements
from takifugu.data.relation.source import Table


@pytest.mark.slow
def test_rows_are_their_steps() -> None:
    outcomes = [case(f"test:{number}") for number in range(60)]
    assert not [differences for differences in outcomes if differences]
    assert Counter(map(bool, (differences is None for differences in outcomes)))[True] >= 5


@pytest.mark.slow
@pytest.mark.parametrize("check", [against_the_oracle, in_all_ways, in_files])
def test_one_case_of_each_sort(check: object, tmp_path: Path) -> None:
    assert callable(check)
    assert not check(random.Random("rows 1"), tmp_path)


def are_noticed(tmp_path: Path) -> bool:
    return any(against_the_oracle(random.Random(f"mutant {number}"), tmp_path) for number in range(60))


@pytest.mark.mutants
def test_a_reader_that_takes_the_next_step_for_that_of_an_event_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = statements.runs
    monkeypatch.setattr(statements, "runs", lambda *rest: real(*rest).replace(" as first", " + 1 as first"))
    assert are_noticed(tmp_path)


@pytest.mark.slow
def test_a_reader_that_moves_one_step_into_another_cell_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = cells.Cells.index
    monkeypatch.setattr(cells.Cells, "index", lambda cells, numbers: real(cells, numbers) - (real(cells, numbers) > 0))
    assert are_noticed(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["states", "transitions"])
def test_states_and_transitions_of_the_wrong_steps_are_noticed(
    question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: dict[str, Any] = {"states": Table.states, "transitions": Table.transitions}
    wrong: dict[str, Any] = {
        "states": lambda table, window: replace(before := real["states"](table, window), default=before.default - 1),
        "transitions": lambda table, cells: real["transitions"](table, cells).transpose(0, 2, 1),
    }
    monkeypatch.setattr(Table, question, wrong[question])
    assert are_noticed(tmp_path)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.walk.FAST", str(tmp_path))
    case("test:0")
    assert list(tmp_path.iterdir()) == []

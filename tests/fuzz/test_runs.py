"""Some seeded cases of the fuzzer of runs, and whether it would see a reader that takes events for changes."""

import random
from collections import Counter
from pathlib import Path

import narwhals.stable.v2 as nw
import pytest
from tests.fuzz.runs import against_the_oracle, case, in_all_ways
from tests.fuzz.same_steps import in_files

from takifugu.data.runs import cells, spread


@pytest.mark.slow
def test_runs_are_their_steps() -> None:
    outcomes = [case(f"test:{number}") for number in range(100)]
    assert not [differences for differences in outcomes if differences]
    assert Counter(map(bool, (differences is None for differences in outcomes)))[True] >= 8


@pytest.mark.slow
@pytest.mark.parametrize("check", [against_the_oracle, in_all_ways, in_files])
def test_one_case_of_each_sort(check: object, tmp_path: Path) -> None:
    assert callable(check)
    assert not check(random.Random("runs 1"), tmp_path)


def are_noticed(tmp_path: Path) -> bool:
    return any(against_the_oracle(random.Random(f"mutant {number}"), tmp_path) for number in range(120))


@pytest.mark.mutants
def test_a_reader_that_takes_the_next_step_for_that_of_an_event_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_of = spread.Runs._compared.fget

    def late(runs: spread.Runs):
        late_by = runs.rows.step if runs.rules.rows == "events" else 0
        return rows_of(runs).with_columns(start=nw.col("start") + late_by)

    monkeypatch.setattr(spread.Runs, "_compared", property(late))
    assert are_noticed(tmp_path)


@pytest.mark.slow
def test_a_reader_that_moves_one_step_into_another_cell_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stretch = cells.CellSums.stretch
    monkeypatch.setattr(cells.CellSums, "stretch", lambda sums, place, choose: stretch(sums, place + 1, choose))
    assert are_noticed(tmp_path)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.walk.FAST", str(tmp_path))
    case("test:0")
    assert list(tmp_path.iterdir()) == []

"""Rows that are left out by their hidden value: one that is left out moves no table by more than another value does."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

from takifugu.core.errors import CalibrationRefused
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.planning.truth import answer_of

NUMBERS, HIGH, LOW = {"x": 0, "y": 6}, {"x": 5, "y": 6}, {"x": -1, "y": 1}
FILTERS = {"where": {"where": "v <> 'n'"}, "sql": {"sql": "from read_csv('data.csv') where v <> 'n'"}}


def moved(folder: Path, keys: dict[str, Any], query: str, **item: Any) -> Fraction:
    """Return how far a row that is left out moves an answer, in units of the change that is charged once."""
    answers, scale = list[tuple[int, ...]](), Fraction(1)
    for hidden in ("n", "x", "y"):
        rows = [f"{t},{'xy'[t % 2]}" for t in range(12)]
        rows[4] = f"4,{hidden}"
        (folder / "data.csv").write_text("\n".join(["t,v", *rows]) + "\n")
        source = {"order": "t", "step": 1, "from_": 0, "until": 12, "value": "v", "budget": 9, **keys}
        belief = believe("markov-chain", states=["x", "y"], matrix=[[0.5, 0.5], [0.5, 0.5]])
        text = release_text(
            read_from("s", "data.csv", **source), belief,
            publish("tab", query, epsilon=1, mechanism="group-dp", **item), expect=EXPECT,
        )  # fmt: skip
        (folder / "f.toml").write_text(text if "sql" not in keys else text.replace('file = "data.csv"\n', ""))
        (question,) = plan(load(folder / "f.toml")).tables[0].questions
        answers.append(answer_of(question.calibration, question.seen))
        scale = Fraction(question.calibration.scale) / 12 / question.calibration.problem.grid
    without, *others = answers
    return max(sum(abs(a - b) for a, b in zip(without, other, strict=True)) for other in others) / scale


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", FILTERS)
@pytest.mark.parametrize(("query", "item"), [
    ("histogram", {}), ("sum", {"codes": NUMBERS}), ("sum", {"codes": LOW}), ("count", {"states": ["x"]}),
    ("count-above", {"codes": NUMBERS, "thresholds": [0, 3]}),
])  # fmt: skip
def test_a_row_that_is_left_out_moves_a_table_by_no_more_than_another_value(
    query: str, item: dict[str, Any], how: str, tmp_path: Path
) -> None:
    assert 0 < moved(tmp_path, FILTERS[how], query, **item) <= 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", FILTERS)
@pytest.mark.parametrize(("query", "item"), [
    ("sum", {"codes": HIGH}), ("count-above", {"codes": HIGH, "thresholds": [0, 5]}),
    ("count", {"states": ["x", "y"], "allow_zero_noise": True}),
])  # fmt: skip
def test_a_table_that_shows_how_many_rows_are_left_out_is_refused(
    query: str, item: dict[str, Any], how: str, tmp_path: Path
) -> None:
    """A sum of 5 and 6 was charged for a change by 1, and told of each row whether it was left out."""
    with pytest.raises(CalibrationRefused, match="'tab' shows how many rows are left out"):
        moved(tmp_path, FILTERS[how], query, **item)


def test_where_each_step_has_a_state_nothing_is_left_out(tmp_path: Path) -> None:
    keys = FILTERS["where"] | {"rows": "events", "default_state": "y"}
    assert moved(tmp_path, keys, "sum", codes=HIGH) == 1

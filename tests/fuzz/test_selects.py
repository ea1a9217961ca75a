"""Some seeded SELECTs of the fuzzer, and whether it would see a judge that folds names as Python does."""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.fuzz.selects import FILES, KELVIN, compared, judged

from takifugu.data.sql import judge, scopes


@pytest.mark.slow
def test_a_cell_moves_what_the_judge_says_and_nothing_else() -> None:
    outcomes = [judged(f"test:{number}") for number in range(120)]
    assert not [words for outcome, words in outcomes if outcome == "fault"]
    assert Counter(outcome for outcome, _ in outcomes)["moved"] >= 10


@pytest.mark.mutants
def test_names_folded_as_python_does_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = f'select * replace (h as "{KELVIN}") from {FILES["k"][1]}'
    assert compared(sql, random.Random(1), tmp_path)[0] == "moved"
    for module in (judge, scopes):
        monkeypatch.setattr(module, "folded", str.lower)
    assert any(compared(sql, random.Random(seed), tmp_path)[0] == "fault" for seed in range(5))

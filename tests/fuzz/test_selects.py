"""Some seeded SELECTs of the fuzzer, and whether it would see a judge that folds names as Python does."""

from collections import Counter

import pytest
from tests.fuzz.selects import judged

from takifugu.data.sql import judge, scopes


@pytest.mark.slow
def test_a_cell_moves_what_the_judge_says_and_nothing_else() -> None:
    outcomes = [judged(f"test:{number}") for number in range(120)]
    assert not [words for outcome, words in outcomes if outcome == "fault"]
    assert Counter(outcome for outcome, _ in outcomes)["moved"] >= 10


@pytest.mark.mutants
def test_names_folded_as_python_does_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (judge, scopes):
        monkeypatch.setattr(module, "folded", str.lower)
    assert any(judged(f"test:{number}")[0] == "fault" for number in range(120))

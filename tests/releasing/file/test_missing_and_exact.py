"""What refuses a missing value, or an exact total, says what to write instead."""

from pathlib import Path
from typing import Any

import pytest
from tests.releasing.test_engine_in_files import SPEC
from tests.support.releases import refusal_of

from takifugu.core.errors import TakifuguError
from takifugu.data import Bins, Layout, Recode, open_frame, pieces
from takifugu.releasing.file.reading import called, codes_of, state_in, value_of


def test_each_refusal_of_missing_values_names_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("who,state\nAna,\n")
    table = open_frame(tmp_path / "d.csv")
    cases: list[tuple[Any, str]] = [
        (lambda: pieces(table, Layout("state"), Recode(("still",))), 'nulls = "unobserved"'),
        (lambda: pieces(table, Layout("who", unit="state"), Recode(("Ana",))), 'null_keys = "drop"'),
        (lambda: value_of(None, "state", {}, table), "under [belief]"),
        (lambda: called("person", "who", [None], may_drop=True), 'null_keys = "drop"'),
    ]
    for read, words in cases:
        with pytest.raises(TakifuguError) as caught:
            read()
        assert words in caught.value.fix


@pytest.mark.parametrize("mark", ["NA", "-999", "?"])
def test_a_mark_that_is_no_value_names_the_keys_and_is_not_quoted(tmp_path: Path, mark: str) -> None:
    (tmp_path / "d.csv").write_text(f"who,level\nAna,{mark}\nAna,7\n")
    table = open_frame(tmp_path / "d.csv")
    declared = {str(number): number for number in range(33)}
    numbers = Recode(("low",), bins=Bins({"low": (0, 10)}))
    refused: list[Any] = [
        lambda: pieces(table, Layout("level"), Recode((*declared,))),
        lambda: pieces(table, Layout("level"), numbers),
        lambda: state_in(-3, "level", numbers.bins or Bins({})),
        lambda: value_of(mark, "level", declared, table),
        lambda: codes_of([[mark]], ["level"], table, [*declared]),
    ]
    for read in refused:
        with pytest.raises(TakifuguError) as caught:
            read()
        assert 'missing = ["NA"]' in caught.value.fix
        assert "'10'" not in caught.value.fix, "thirty-three values are not listed"
        assert str(caught.value).replace(caught.value.fix, "").count(mark) == 0
        assert caught.value.fix.count(mark) <= 2, "the words are the same for all data"
    with pytest.raises(TakifuguError, match=r"\['0', '1', '2'\] and 30 more; .* under \[belief\]"):
        refused[0]()


@pytest.mark.parametrize("line", ["invariant = true", "invariants = ['total']", "exact_total = 100"])
def test_an_exact_total_is_refused_with_what_it_would_cost(line: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(SPEC.format(file="d.csv", name="t") + line)
    caught = refusal_of(tmp_path / "r.toml")
    assert "its epsilon would be infinite" in str(caught)
    assert caught.faults[0].place.startswith("release[0]")
    assert "a count or a sum with an epsilon of its own" in caught.faults[0].fix

"""What refuses a missing value, or an exact total, says what to write instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.releasing.test_every_source import SPEC

from takifugu.core.errors import SpecError, TakifuguError
from takifugu.data import Layout, Recode, open_frame, pieces
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.reading import called, value_of


def test_each_refusal_of_missing_values_names_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("who,state\nAna,\n")
    table = open_frame(tmp_path / "d.csv")
    cases: list[tuple[Any, str]] = [
        (lambda: pieces(table, Layout("state"), Recode(("still",))), 'nulls = "unobserved"'),
        (lambda: pieces(table, Layout("who", unit="state"), Recode(("Ana",))), 'null_keys = "drop"'),
        (lambda: value_of(None, "state", {}, table), "under [belief]"),
        (lambda: called("person", "who", "person", [None], may_drop=True), 'null_keys = "drop"'),
    ]
    for read, words in cases:
        with pytest.raises(TakifuguError) as caught:
            read()
        assert words in caught.value.fix


@pytest.mark.parametrize("line", ["invariant = true", "invariants = ['total']", "exact_total = 100"])
def test_an_exact_total_is_refused_with_what_it_would_cost(line: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(SPEC.format(file="d.csv", name="t") + line)
    with pytest.raises(SpecError, match="its epsilon would be infinite") as caught:
        load(tmp_path / "r.toml")
    assert caught.value.faults[0].place.startswith("release[0]")
    assert "a count or a sum with an epsilon of its own" in caught.value.faults[0].fix

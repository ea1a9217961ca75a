"""What is written: texts that read back as they are, keys, sources, and what is read back."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.encoding import canonical
from takifugu.core.errors import InputError


def test_equal_values_are_written_alike() -> None:
    assert canonical({"b": [1, "x"], "a": {"d": 1, "c": 2}}, "this") == '{"a":{"c":2,"d":1},"b":[1,"x"]}'


def test_a_character_that_json_writes_in_two_halves_is_kept() -> None:
    assert canonical({"x": "\U0001f421"}, "this") == '{"x":"\\ud83d\\udc21"}'


@pytest.mark.parametrize("value", [math.inf, math.nan, Fraction(1, 3), {1: 2}, (1, 2), {1, 2}, "half a \ud83d"])
def test_what_does_not_read_back_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"the charge .*: name states by strings or numbers"):
        canonical({"x": value}, "the charge")


def test_a_new_ledger_has_its_own_long_key(tmp_path: Path) -> None:
    keys = {Ledger.open(tmp_path / f"{n}.db").store.key for n in range(3)}
    assert [len(key) for key in keys] == [32] * 3


def test_a_new_source_has_no_budget_of_any_kind(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.db")
    new = ledger.source("data")
    assert (new.budget, new.budget_is_implied) == (None, False)
    assert ledger.source("data") == new
    (row,) = ledger.show()
    assert (row.budget, row.budget_is_implied, row.units, row.releases, row.unpublished) == (None, False, 0, 0, 0)

"""An engine from outside the package: its tables are opened as every other one's, under one name, and never quoted."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import duckdb
import polars
import pytest

from takifugu.core.errors import DataError, EngineError, InputError
from takifugu.data import Engine, Layout, Recode, open_frame, pieces
from takifugu.data import register_engine as register
from takifugu.data.engines import outside


class Ring:
    """A table of an unknown library."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = columns


COLUMNS = {"who": ["a", "a", "b"], "minute": [1, 0, 0], "state": ["s", "w", "s"]}
STATES = Recode(("s", "w"))


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_ENGINES", copy.deepcopy(outside._ENGINES))


@pytest.mark.parametrize("make", [
    polars.DataFrame, lambda columns: polars.LazyFrame(columns),
    lambda columns: duckdb.from_arrow(polars.DataFrame(columns).to_arrow()),
])  # fmt: skip
def test_its_tables_are_opened(make: Any) -> None:
    with pytest.raises(InputError, match="the data is a tests Ring"):
        open_frame(Ring(COLUMNS))
    register(Engine("ring", lambda data: isinstance(data, Ring), lambda ring: make(ring.columns)))
    table = open_frame(Ring(COLUMNS))
    assert table.names == ("who", "minute", "state")
    recorded = pieces(table, Layout("state", unit="who", order="minute"), STATES)
    assert [(piece.unit, piece.counts.tolist()) for piece in recorded] == [("a", [1, 1]), ("b", [1, 0])]
    with pytest.raises(DataError, match="keeps no order") as caught:
        pieces(table, Layout("state", unit="who"), STATES)
    assert caught.value.where == ("order",)


def test_rows_may_have_an_order_of_their_own() -> None:
    register(Engine("ring", lambda data: isinstance(data, Ring), lambda ring: polars.DataFrame(ring.columns), True))
    recorded = pieces(open_frame(Ring(COLUMNS)), Layout("state", unit="who"), STATES)
    assert [piece.length for piece in recorded] == [2, 1]


def test_what_narwhals_knows_is_not_taken_away() -> None:
    register(Engine("greedy", lambda data: True, lambda data: polars.DataFrame({"x": [1]})))
    assert open_frame(polars.DataFrame(COLUMNS)).names == ("who", "minute", "state")


def test_its_failures_are_not_quoted() -> None:
    def broken(ring: Ring) -> Any:
        raise RuntimeError(f"row {ring.columns['who']} is odd")

    register(Engine("ring", lambda data: isinstance(data, Ring), broken))
    with pytest.raises(EngineError, match="its engine failed") as caught:
        open_frame(Ring({"who": ["secret"]}))
    assert "secret" not in str(caught.value)
    assert b"secret" not in pickle.dumps(caught.value)


def test_bad_engines_are_refused() -> None:
    engine = Engine("ring", lambda data: False, lambda data: data)
    register(engine)
    for bad, rule in ((engine, "registered already"), (Engine("polars", bool, list), "registered already"),
                      (Engine("", bool, list), "under a name"), ("ring", "no engine"),
                      (Engine("odd", bool, 3), "no engine")):  # type: ignore[arg-type]  # fmt: skip
        with pytest.raises(InputError, match=rule):
            register(bad)  # type: ignore[arg-type]

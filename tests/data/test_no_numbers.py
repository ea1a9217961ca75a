"""Infinities are in the bin that has them, and NaN is no number, on every engine: none is taken for a missing value."""

from pathlib import Path
from typing import Any

import pytest
from tests.data.test_kinds_of_time import TYPED, source
from tests.support import engines

from takifugu.core.errors import DataError
from takifugu.data import Bins, Layout, Recode, Table, open_frame, pieces, tally

NAN, INF = float("nan"), float("inf")
OPEN = {"low": (0, 10), "high": (10, INF)}
#: What pandas makes of NaN in a column of numbers is null.
WITH_NAN = [engine for engine in TYPED if engine != "pandas"]


def counted(table: Table, states: Recode, nulls: str = "unobserved") -> list[int]:
    layout = Layout("value", order="n", nulls=nulls)
    (piece,) = pieces(table, layout, states)
    return piece.counts.tolist()  # type: ignore[no-any-return]


def binned(bins: dict[str, tuple[float, float]]) -> Recode:
    return Recode(tuple(bins), bins=Bins(bins))


def column(kind: str, values: list[Any]) -> engines.Columns:
    return {"value": (kind, values), "n": ("int", [*range(len(values))])}


@pytest.mark.parametrize("engine", ["csv", *TYPED])
@pytest.mark.parametrize("kind", ["float", "text"])
def test_infinity_is_in_the_bin_that_has_it(engine: str, kind: str, tmp_path: Path) -> None:
    """30 of 40 rows were infinite, and 10 were counted."""
    words = [5.0, 20.0] * 5 + [INF] * 30 if kind == "float" else ["5", "20"] * 5 + ["inf", "+Infinity", "INF"] * 10
    table = open_frame(source(engine, column(kind, words), tmp_path))
    for nulls in ("unobserved", "refuse"):
        assert counted(table, binned(OPEN), nulls) == [5, 35]
    assert tally(table, {"value": Bins(OPEN)}) == {(0,): 5, (1,): 35}


@pytest.mark.parametrize("engine", ["csv", *TYPED])
@pytest.mark.parametrize(("value", "edges"), [(INF, (0, 99)), (-INF, (0, INF)), (INF, (-INF, 99))])
@pytest.mark.parametrize("kind", ["float", "text"])
def test_infinity_is_in_no_other_bin(
    engine: str, value: float, edges: tuple[float, float], kind: str, tmp_path: Path
) -> None:
    values = [5.0, value] if kind == "float" else ["5", str(value)]
    with pytest.raises(DataError, match="in none of the bins"):
        counted(open_frame(source(engine, column(kind, values), tmp_path)), binned({"any": edges}))


@pytest.mark.parametrize("engine", ["csv", *TYPED])
def test_the_lowest_bin_may_have_minus_infinity(engine: str, tmp_path: Path) -> None:
    values = [5.0, -INF, 20.0]
    lowest = {"low": (-INF, 10.0), "high": (10.0, INF)}
    assert counted(open_frame(source(engine, column("float", values), tmp_path)), binned(lowest)) == [2, 1]


@pytest.mark.parametrize("engine", WITH_NAN)
def test_nan_is_no_number(engine: str, tmp_path: Path) -> None:
    table = open_frame(source(engine, column("float", [5.0, None, NAN, 20.0]), tmp_path))
    with pytest.raises(DataError, match="no numbers"):
        counted(table, binned(OPEN))
    assert tally(table, {"value": Bins(OPEN)}) == {(0,): 1, (-1,): 1, (-2,): 1, (1,): 1}


@pytest.mark.parametrize("engine", ["csv", *TYPED])
def test_a_text_nan_is_no_number_unless_it_is_declared_as_missing(engine: str, tmp_path: Path) -> None:
    data = source(engine, column("text", ["5", "NaN", "20"]), tmp_path)
    with pytest.raises(DataError, match="no numbers"):
        counted(open_frame(data), binned(OPEN))
    assert counted(open_frame(data, missing=["NaN"]), binned(OPEN)) == [1, 1]


@pytest.mark.parametrize("engine", WITH_NAN)
@pytest.mark.parametrize("value", [NAN, INF])
def test_a_state_that_is_no_number_is_no_missing_one(engine: str, value: float, tmp_path: Path) -> None:
    table = open_frame(source(engine, column("float", [1.0, value, 2.0, None]), tmp_path))
    with pytest.raises(DataError, match="is no state"):
        counted(table, Recode(("1", "2")))


def test_what_pandas_calls_nan_is_a_missing_value(tmp_path: Path) -> None:
    table = open_frame(source("pandas", column("float", [5.0, NAN, 20.0]), tmp_path))
    assert counted(table, binned(OPEN)) == [1, 1]
    with pytest.raises(DataError, match="missing states"):
        counted(table, binned(OPEN), "refuse")


def test_a_row_far_down_is_named_in_full() -> None:
    """A table may have more rows than 32 bits can number."""
    from takifugu.data.values.spellings import meant

    far = 2**31 + 5
    with pytest.raises(DataError) as refused:
        meant([("7", 1), ("07", far)], "who", "unit")
    assert f"in rows 2 and {far + 1}" in str(refused.value)

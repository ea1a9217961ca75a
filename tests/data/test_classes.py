"""Numbers in classes and strict bounds: the same on every engine, whatever is missing, infinite or no number."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.engines import ENGINES, Columns, write_csv

from takifugu.core.errors import DataError, InputError
from takifugu.data import UNKNOWN, UNOBSERVED, Bounded, Classes, open_frame, tally, totals

NAN, INF = float("nan"), float("inf")
ENDS = Classes([0, "0.1", 7])
ROWS: Columns = {
    "x.y": ("float", [-1.0, 0.0, -0.0, 0.1, 6.999, 7.0, NAN, None, INF, -INF, 1e308]),
    'g "1"': ("text", ["a", "b", "a", "a", "b", "a", "a", "b", "a", "a", " a"]),
}


def by_hand(value: float | None, ends: list[float], missing: int) -> int:
    if value is None or value != value or value in (INF, -INF):
        return missing
    return next((place for place, end in enumerate(ends) if value < end), len(ends))


@pytest.mark.parametrize("missing", [UNOBSERVED, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_puts_numbers_into_the_same_classes(engine: str, missing: int) -> None:
    tallied = tally(open_frame(ENGINES[engine](ROWS)), {"x.y": Classes(ENDS.ends, missing), 'g "1"': {"a": 0, "b": 1}})
    values, groups = (column for _, column in ROWS.values())
    codes = [by_hand(value, [0.0, 0.1, 7.0], missing) for value in values]
    assert tallied == Counter(zip(codes, ({"a": 0, "b": 1}[g.strip()] for g in groups), strict=True))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("kind", "values", "codes"),
    [
        ("text", ["0.1", " 7 ", "1e1", "nan", "-Inf", "many", "", None], [2, 3, 3, -1, -1, UNKNOWN, -1, -1]),
        ("int", [0, 7, None, -3], [1, 3, -1, 0]),
        ("bool", [True, False, None, True], [2, 1, -1, 2]),
    ],
)
def test_kinds_of_numbers(engine: str, kind: str, values: list[Any], codes: list[int]) -> None:
    data = open_frame(ENGINES[engine]({"n": (kind, values)}))
    assert tally(data, {"n": ENDS}) == {(code,): times for code, times in Counter(codes).items()}


@settings(max_examples=25)
@given(
    st.lists(st.one_of(st.none(), st.floats(), st.sampled_from([0.1, 0.3, 2.5, -0.0])), min_size=1, max_size=9),
    st.lists(st.one_of(st.floats(-5, 5), st.sampled_from([0.1, 0.3, 2.5])), min_size=1, max_size=4, unique=True),
)
def test_engines_agree_with_plain_words(values: list[float | None], ends: list[float]) -> None:
    known = {"n": Classes(sorted(ends))}
    plain = Counter((by_hand(value, sorted(ends), UNOBSERVED),) for value in values)
    for engine in ("pandas", "polars lazy", "pyarrow", "duckdb"):
        assert tally(open_frame(ENGINES[engine]({"n": ("float", values)})), known) == plain


@pytest.mark.parametrize("reader", ["duckdb", "polars"])
def test_csv_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    if reader == "polars":
        monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: None if name == "duckdb" else name)
    file = write_csv(tmp_path / "d.csv", {"n": ("text", ["0.1", "7", "nan", "many", ""])})
    assert tally(open_frame(file), {"n": ENDS}) == {(2,): 1, (3,): 1, (-1,): 2, (UNKNOWN,): 1}
    for values, words in (("3\nSENTINEL", "no numbers"), ("3\nnan", "missing or not finite"), ("3\n11", "outside")):
        (tmp_path / "e.csv").write_text(f"n\n{values}\n")
        with pytest.raises(DataError, match=words) as caught:
            totals(open_frame(tmp_path / "e.csv"), [Bounded("n", 0, 10, 1, missing=None, clips=False)])
        assert "SENTINEL" not in str(caught.value)
        assert "11" not in str(caught.value)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("values", "words"),
    [([3.0, 10.0, 0.0], ""), ([3.0, None], "missing"), ([NAN], "missing"), ([-INF, 11.0], "missing"),
     ([10.5], "outside"), ([-1e-9, 4.0], "outside")],
)  # fmt: skip
def test_strict_bounds_refuse(engine: str, values: list[float | None], words: str) -> None:
    data = open_frame(ENGINES[engine]({"n": ("float", values)}))
    strict = Bounded("n", 0, 10, "0.5", missing=None, clips=False)
    if not words:
        assert totals(data, [strict])[0].sums.tolist() == [26]
        return
    with pytest.raises(DataError, match=words):
        totals(data, [strict])
    assert totals(data, [Bounded("n", 0, 10, "0.5", missing=1)])[0].rows == len(values)


@pytest.mark.parametrize("ends", [[], [1, 1], [2, 1], [1, "1.00000000000000000001"]])
def test_ends_rise(ends: list[Any]) -> None:
    with pytest.raises(InputError, match="ends"):
        Classes(ends)

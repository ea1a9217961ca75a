"""Rows counted by the codes of their columns: the same on every engine, whatever is missing or not known."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.support.engines import ENGINES, Columns

from takifugu.core.errors import InputError
from takifugu.data import UNKNOWN, UNOBSERVED, Bounded, Classes, open_frame, tally, totals
from takifugu.releasing.file.reading import columns_of

ROWS: Columns = {
    'g "1"': ("text", ["a", " a", "b", "c", None, "b", "", "a", "a"]),
    "x.y": ("text", ["no", "yes", "no", "no", "yes", "never", None, "no ", "no"]),
}
KNOWN: dict[str, dict[str, int]] = {'g "1"': {"a": 0, "b": 1}, "x.y": {"yes": 1, "no": 0}}


def by_hand() -> Counter[tuple[int, ...]]:
    counts = Counter[tuple[int, ...]]()
    for texts in zip(*(values for _, values in ROWS.values()), strict=True):
        row = []
        for text, codes in zip(texts, KNOWN.values(), strict=True):
            word = (text or "").strip()
            row.append(codes.get(word, UNKNOWN) if word else UNOBSERVED)
        counts[tuple(row)] += 1
    return counts


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_alike(engine: str) -> None:
    assert tally(open_frame(ENGINES[engine](ROWS)), KNOWN) == by_hand()


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_are_read_by_their_texts(engine: str) -> None:
    data: Any = ENGINES[engine]({"n": ("int", [1, 2, 2, None, 7])})
    assert tally(open_frame(data), {"n": {"1": 0, "2": 1}}) == {(0,): 1, (1,): 2, (UNOBSERVED,): 1, (UNKNOWN,): 1}
    with pytest.raises(InputError, match="no column 'm'"):
        tally(open_frame(data), {"m": {}})


def test_without_duckdb(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: None if name == "duckdb" else name)
    path = tmp_path / "people.csv"
    rows = zip(*(values for _, values in ROWS.values()), strict=True)
    path.write_text("i,g,x\n" + "".join(f"{i},{g or ''},{x or ''}\n" for i, (g, x) in enumerate(rows)))
    tallied = tally(open_frame(path), {"g": KNOWN['g "1"'], "x": KNOWN["x.y"]})
    assert tallied == by_hand()


@pytest.mark.parametrize("engine", [True, False])
def test_rows_of_a_file_that_hold_nothing_are_none(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, engine: bool
) -> None:
    if not engine:
        monkeypatch.setattr("takifugu.data.files.formats.find_spec", lambda name: None if name == "duckdb" else name)
    path = tmp_path / "people.csv"
    path.write_text('i;g;n\n1;a;3\n;;\n2;;\n"";" ";\t\n3;b;4\n;;\n;;\n')
    assert tally(open_frame(path), {"g": {"a": 0, "b": 1}}) == {(0,): 1, (1,): 1, (UNOBSERVED,): 1}
    assert tally(open_frame(path), {"n": Classes([4], missing=0)}) == {(0,): 2, (1,): 1}
    assert [g.sums.tolist() for g in totals(open_frame(path), [Bounded("n", 0, 9, 1, missing=7)])] == [[14]]
    groups = totals(open_frame(path), [Bounded("n", 0, 9, 1, missing=7)], by=["g"], null_keys="keep")
    assert [(g.key, g.rows, g.sums.tolist()) for g in groups] == [(("a",), 1, [3]), (("b",), 1, [4]), ((None,), 1, [7])]


def test_columns_are_read_without_rows_that_hold_nothing(tmp_path: Any) -> None:
    (tmp_path / "people.csv").write_text("i,g\n1,a\n,\n2,\n , \n")
    table = open_frame(tmp_path / "people.csv")
    assert columns_of(table, ["i", "g"]) == [["1", "2"], ["a", None]]
    assert columns_of(table.head(2), ["i", "g"]) == [["1", "2"], ["a", None]]

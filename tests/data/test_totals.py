"""Bounded sums, and rows by the codes of their columns, are the same integers on every engine."""

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import engines, frames_oracle
from tests.support.engines import ENGINES, Columns

from takifugu.core.errors import DataError, InputError
from takifugu.data import UNKNOWN, UNOBSERVED, Bounded, Classes, open_frame, tally, totals
from takifugu.data.engines import sanitise
from takifugu.releasing.file.reading import columns_of

NAN, INF = float("nan"), float("inf")
TENTHS = Bounded("x.y", -2, 10, "0.1", missing="0.7")

#: Rows on which engines' own clips disagree, and worse: [1, NaN, 50] clipped to [0, 10] is 21, 11 or NaN by engine.
TRAP: Columns = {
    'g "1"': ("text", ["a", "a", "a", "b", "b", None, " a", "b", "b", ""]),
    "x.y": ("float", [1.0, NAN, 50.0, -INF, INF, 1.0, None, -0.0, 0.25, 3.0]),
}


def expected(columns: Columns, rule: Bounded, drop: bool) -> dict[str | None, tuple[int, int]]:
    sums: dict[str | None, tuple[int, int]] = {}
    (_, keys), (_, values) = columns.values()
    for key, value in zip(map(frames_oracle.name, keys), values, strict=True):
        if key is not None or not drop:
            rows, total = sums.get(key, (0, 0))
            unit = frames_oracle.units(value, rule.low, rule.high, rule.grid, rule.missing)
            sums[key] = (rows + 1, total + unit)
    return sums


def as_dict(data: Any, rule: Bounded, **rules: Any) -> dict[str | None, tuple[int, int]]:
    groups = totals(open_frame(data), [rule], by=['g "1"'], **rules)
    return {group.key[0]: (group.rows, int(group.sums[0])) for group in groups}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_trap(engine: str) -> None:
    data = ENGINES[engine](TRAP)
    plain = Bounded("x.y", 0, 10, 1, missing=0)
    assert as_dict(data, plain, null_keys="drop") == {"a": (4, 11), "b": (4, 0)}
    assert as_dict(data, TENTHS, null_keys="keep") == expected(TRAP, TENTHS, drop=False)
    with pytest.raises(DataError, match="missing values"):
        as_dict(data, TENTHS)


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-20, 20),
    st.integers(-400, 400).map(lambda n: n / 20),
    st.sampled_from([None, NAN, INF, -INF, -0.0, 0.05, 0.15, 0.25, 0.35, 2.5, -0.5, -1.5, 1e308, 5e-324]),
)
rules = st.builds(
    lambda low, span, grid, where: Bounded("x.y", low, low + span, grid, missing=low + span * where),
    st.fractions(-50, 50, max_denominator=40),
    st.fractions(0, 100, max_denominator=40),
    st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(1, 2), Fraction(3, 7), Fraction(1, 10**6), Fraction(25)]),
    st.fractions(0, 1, max_denominator=10),
)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", " a ", None]), numbers), min_size=1, max_size=12), rules)
def test_engines_agree_with_plain_words(rows: list[tuple[str | None, float | None]], rule: Bounded) -> None:
    columns: Columns = {'g "1"': ("text", [g for g, _ in rows]), "x.y": ("float", [x for _, x in rows])}
    plain = expected(columns, rule, drop=False)
    for engine in ("pandas", "polars lazy", "pyarrow", "duckdb"):
        assert as_dict(ENGINES[engine](columns), rule, null_keys="keep") == plain


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "values"), [
    ("int", [3, None, 2**60, -(2**60)]),
    ("decimal", [Decimal("2.5000"), None, Decimal("3.5000"), Decimal("-0.1000")]),
    ("text", ["2.5", "", " 1e1", "-Inf"]),
    ("bool", [True, None, False, True]),
])  # fmt: skip
def test_kinds_of_numbers(engine: str, kind: str, values: list[Any]) -> None:
    data: Columns = {"x.y": (kind, values)}
    rule = Bounded("x.y", -2, 10, 1, missing=5)
    plain = sum(
        frames_oracle.units(None if v == "" else v, rule.low, rule.high, rule.grid, rule.missing) for v in values
    )  # fmt: skip
    (group,) = totals(open_frame(ENGINES[engine](data)), [rule])
    assert (group.key, group.rows, group.sums.tolist()) == ((), 4, [plain])


digits = st.integers(0, 10**40).map(str)
number_texts = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.builds(lambda whole, part, power: f"-{whole}.{part}e{power}", digits, digits, st.integers(-99, 99)),
    st.builds(lambda whole, part: f"{whole}.{part}", digits, digits),
)


@settings(max_examples=20)
@given(st.lists(number_texts, min_size=1, max_size=60))
def test_texts_become_the_same_float64_on_every_engine(texts: list[str]) -> None:
    data: Columns = {"x": ("text", texts)}
    there = [float(text.strip()) for text in texts]
    for engine in ("pandas", "polars", "pyarrow", "duckdb"):
        frame = open_frame(ENGINES[engine](data)).pick({"x": "x"})
        read = frame.select(nw.col("x").str.strip_chars().cast(nw.Float64))
        collected = read.collect() if isinstance(read, nw.LazyFrame) else read
        assert collected["x"].to_list() == there


def test_csv_files(tmp_path: Path, reader: str) -> None:
    file = engines.write_csv(tmp_path / "d.csv", TRAP)
    assert as_dict(file, TENTHS, null_keys="keep") == expected(TRAP, TENTHS, drop=False)
    two = totals(open_frame(file), [TENTHS, Bounded("x.y", 0, 1, 1, missing=1)], by=['g "1"'], null_keys="drop")
    tenths = expected(TRAP, TENTHS, drop=True)
    assert [group.sums.tolist() for group in two] == [[tenths["a"][1], 4], [tenths["b"][1], 2]]
    (tmp_path / "e.csv").write_text("x\n1\nSENTINEL\n")
    (tmp_path / "f.csv").write_text("x\n")
    for name, words in (("e", "texts that are no numbers"), ("f", "no rows")):
        with pytest.raises(DataError, match=words) as caught:
            totals(open_frame(tmp_path / f"{name}.csv"), [Bounded("x", 0, 1, 1, missing=1)])
        assert "SENTINEL" not in str(caught.value)


def test_a_mutant_that_clips_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the replacement before the clip, an infinity becomes a bound: the checks above can fail."""

    def clipped_first(frame: Any, rules: Mapping[str, Bounded]) -> Any:
        for role, rule in rules.items():
            clipped = nw.col(role).clip(float(rule.low), float(rule.high))
            finite = nw.when(clipped.abs() < INF).then(clipped).otherwise(nw.lit(float(rule.missing)))
            frame = frame.with_columns((finite / float(rule.grid)).alias(role))
        return sanitise.round_half_even(frame, list(rules))

    monkeypatch.setattr(sanitise, "in_units", clipped_first)
    rule = Bounded("x.y", 0, 10, 1, missing=0)
    plain = expected(TRAP, rule, drop=True)
    assert all(as_dict(ENGINES[engine](TRAP), rule, null_keys="drop") != plain for engine in ENGINES)


def test_a_mutant_that_rounds_with_the_engine_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine_round(frame: Any, columns: list[str]) -> Any:
        return frame.with_columns(nw.col(c).round(0).cast(nw.Int64) for c in columns)

    monkeypatch.setattr(sanitise, "round_half_even", engine_round)
    halves: Columns = {'g "1"': ("text", ["a", "b"]), "x.y": ("float", [0.5, 2.5])}
    rule = Bounded("x.y", 0, 10, 1, missing=0)
    wrong = [e for e in ENGINES if as_dict(ENGINES[e](halves), rule) != expected(halves, rule, drop=False)]
    assert wrong


@pytest.mark.parametrize(("low", "high", "grid", "missing", "words"), [
    (1, 0, 1, 0, "bounded by 1 and 0"),
    (0, 1, 1, 2, "missing values count as 2"),
    (0, 1, 0, 0, "must be above 0"),
    (0, 1, -1, 0, "must be above 0"),
    (1, 0, 1, None, r"is bounded by 1 and 0: the lower bound must be at most the upper one; write \[0, 1\]"),
    (0, 1, "1e300", 0, "the grid of column 'x' is 1e300: neither its numerator nor"),
    (0, 2**60, 1, 0, "coarsen the grid"),
    (0, INF, 1, 0, "finite number"),
    (NAN, 1, 1, 0, "finite number"),
    (0, 1, "1/3e", 0, "finite number"),
])  # fmt: skip
def test_bounds_that_hold_nothing(low: Any, high: Any, grid: Any, missing: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Bounded("x", low, high, grid, missing)


@pytest.mark.parametrize(("column", "rules", "error", "words"), [
    ("x", {"by": ["y"]}, InputError, "no column 'y'"), ("x", {"null_keys": "none"}, InputError, "null_keys is 'none'"),
    ("x", {"by": ["l"]}, DataError, "name nothing"), ("l", {}, DataError, "are not numbers"),
])  # fmt: skip
def test_refusals(column: str, rules: dict[str, Any], error: type[Exception], words: str) -> None:
    table = open_frame(polars.DataFrame({"x": [1.0, 2.0], "l": [[1], [2]]}))
    with pytest.raises(error, match=words):
        totals(table, [Bounded(column, 0, 1, 1, missing=0)], **rules)


def test_sums_that_could_leave_64_bits_are_refused() -> None:
    table = open_frame(polars.DataFrame({"x": [1.0] * 5000}))
    with pytest.raises(DataError, match="64 bits"):
        totals(table, [Bounded("x", 0, 2**50, 1, missing=0)])
    (group,) = totals(table, [Bounded("x", 0, 2**49, 1, missing=0)])
    assert group.sums.tolist() == [5000]
    assert math.prod(Bounded("x", 0, 2**49, 1, missing=0).range) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_counted_without_any_column(engine: str) -> None:
    (everything,) = totals(open_frame(ENGINES[engine]({"a": ("text", ["x", None, "y"])})), [])
    assert (everything.key, everything.rows) == ((), 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_column_of_nothing_but_missing_values(engine: str) -> None:
    data = ENGINES[engine]({"town": ("text", [None, None]), "age": ("text", [None, "NA"])})
    age = Bounded("age", 0, 120, 1, missing=40)
    (group,) = totals(open_frame(data, ["NA"]), [age], by=["town"], null_keys="keep")
    assert (group.key, group.rows, group.sums.tolist()) == ((None,), 2, [80])


# Rows counted by the codes of their columns: the same on every engine, whatever is missing or not known.


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


def test_every_reader_counts_alike(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "people.csv"
    rows = zip(*(values for _, values in ROWS.values()), strict=True)
    path.write_text("i,g,x\n" + "".join(f"{i},{g or ''},{x or ''}\n" for i, (g, x) in enumerate(rows)))
    tallied = tally(open_frame(path), {"g": KNOWN['g "1"'], "x": KNOWN["x.y"]})
    assert tallied == by_hand()


def test_rows_of_a_file_that_hold_nothing_are_none(tmp_path: Path, reader: str) -> None:
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
    for read in (table, table.head(2)):
        assert columns_of(read, ["i", "g"]) == [["1", "2"], ["a", None]]

"""Rules of a layout: what breaks one is refused, on every engine in the same words, which never repeat the data."""

import re
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import duckdb
import narwhals
import pandas
import polars
import pytest
from tests.support.engines import ENGINES, IN_ROWS, Columns, entries
from tests.support.failing import raising

from takifugu.core.errors import DataError, EngineError, InputError
from takifugu.core.names import natural
from takifugu.data import Layout, Lengths, Recode, open_frame, parse_step, pieces, text_of, transitions
from takifugu.data.engines.faults import careful

STATES = Recode(("a", "b"), {"A": "a"})
FULL = Layout("v", "u", "p", "t")
STEPS = Layout("v", "u", "p", "t", 1)


def table(rows: list[tuple[Any, ...]]) -> Columns:
    kinds = dict(zip("uptv", ("text", "float", "int", "text"), strict=True))
    return {name: (kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(kinds.items())}


RULES = {
    "totals": ([("x", 1.0, 0, "a"), ("Total:", 1.0, 1, "b")], FULL, None, "column 'u' has a name of totals"),
    "ties": ([("x", 1.0, 0, "a"), ("x", 1.0, 0, "b")], FULL, None, "column 't' has ties within one recording"),
    "no unit": ([("x", 1.0, 0, "a"), (None, 1.0, 1, "b")], FULL, None, "column 'u' has missing values"),
    "blank unit": ([("x", 1.0, 0, "a"), ("  ", 1.0, 1, "b")], FULL, None, "'u' has missing values"),
    "no piece": ([("x", 1.0, 0, "a"), ("x", float("nan"), 1, "b")], FULL, None, "column 'p' has missing values"),
    "no order": ([("x", 1.0, 0, "a"), ("x", 1.0, None, "b")], FULL, None, "column 't' has values that are missing"),
    "unknown": ([("x", 1.0, 0, "a"), ("x", 1.0, 1, "SENTINEL")], FULL, None, "a value that is no state"),
    "no state": ([("x", 1.0, 0, "a"), ("x", 1.0, 1, " ")], FULL, None, "has missing states"),
    "no rows": ([], FULL, None, "no rows"),
    "no rows left": ([(None, 1.0, 0, "a")], Layout("v", "u", order="t", null_keys="drop"), None, "no rows"),
    "long": ([("x", 1.0, i, "a") for i in range(4)], FULL, Lengths(1, 3), "longer than the 3 steps"),
    "long by a gap": ([("x", 1.0, 0, "a"), ("x", 1.0, 5, "a")], STEPS, Lengths(1, 3), "than the 3"),
    "short": ([("x", 1.0, 0, "a"), ("y", 1.0, 0, "a")], FULL, Lengths(2), "no recording has the 2 steps"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("question", [pieces, entries])
def test_every_engine_refuses_in_the_same_words(rule: str, question: Any) -> None:
    rows, layout, lengths, words = RULES[rule]
    said = set()
    for engine in ENGINES:
        with pytest.raises(DataError, match=words) as caught:
            question(open_frame(ENGINES[engine](table(rows))), layout, STATES, lengths)
        said.add(str(caught.value))
    assert len(said) == 1
    assert "SENTINEL" not in said.pop()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("first", [2**62, 2**63, 10**25])
def test_numbers_that_no_engine_tells_apart_are_no_ties(engine: str, first: int) -> None:
    rows: Columns = {"t": ("text", [str(first), str(first + 1)]), "v": ("text", ["a", "b"])}
    with pytest.raises(DataError, match="column 't' has numbers so large that several are the same when they"):
        pieces(open_frame(ENGINES[engine](rows)), Layout("v", order="t"), STATES)
    with pytest.raises(DataError, match="column 't' has values that are missing, not finite, too large, or no date"):
        pieces(open_frame(ENGINES[engine](rows)), Layout("v", order="t", step=1), STATES)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("layout", [FULL, STEPS])
def test_rows_that_go_backwards_are_sorted(engine: str, mixed: bool, layout: Layout) -> None:
    rows = [("x", 1.0, 0, "a"), ("x", 1.0, 2, "b"), ("x", 1.0, 1, "a"), ("y", 1.0, 0, "a")]
    rows = [rows[0], rows[3], *rows[1:3]] if mixed else rows
    opened = open_frame(ENGINES[engine](table(rows)))
    read = entries(opened, layout, STATES)
    assert [(piece.unit, piece.values.tolist()) for piece in read] == [("x", [0, 0, 1]), ("y", [0])]
    assert transitions(opened, layout, STATES).tolist() == [[1, 1], [0, 0]]
    cut = pieces(opened, layout, STATES, Lengths(1, 2, "cut"))
    assert [piece.counts.tolist() for piece in cut] == [[2, 0], [1, 0]]
    with pytest.raises(DataError, match="has ties within one recording: two rows cannot be in one step"):
        pieces(open_frame(ENGINES[engine](table([*rows, ("x", 1.0, 0, "a")]))), layout, STATES)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", IN_ROWS)
@pytest.mark.parametrize("layout", [FULL, STEPS])
def test_of_rows_in_one_step_the_first_or_the_last_counts(engine: str, layout: Layout) -> None:
    rows = [("x", 1.0, 2, "b"), ("x", 1.0, 0, "a"), ("y", 1.0, 0, "b"), ("x", 1.0, 0, "b"), ("x", 1.0, 1, "a"),
            ("x", 1.0, 2, "a")]  # fmt: skip
    for keep in ("first", "last"):
        read = pieces(open_frame(ENGINES[engine](table(rows))), replace(layout, duplicates=keep), STATES)
        in_full = entries(open_frame(ENGINES[engine](table(rows))), replace(layout, duplicates=keep), STATES)
        late = [0, 0, 1] if keep == "first" else [1, 0, 0]
        assert [piece.values.tolist() for piece in in_full] == [late, [1]], keep
        assert [piece.counts.tolist() for piece in read] == [[2, 1], [0, 1]]


def test_where_rows_have_no_order_none_of_two_in_one_step_is_the_first() -> None:
    opened = open_frame(ENGINES["duckdb"](table([("x", 1.0, 0, "a"), ("x", 1.0, 0, "b")])))
    with pytest.raises(DataError, match="keeps no order of its rows: none of them is the first or the last"):
        pieces(opened, replace(FULL, duplicates="first"), STATES)


def test_a_step_back_between_two_pieces_is_none() -> None:
    rows = [("x", 1.0, 5, "a"), ("x", 2.0, 1, "a"), ("y", 2.0, 1, "b"), ("y", 1.0, 0, "b")]
    expected = [("x", "1", [1, 0]), ("x", "2", [1, 0]), ("y", "1", [0, 1]), ("y", "2", [0, 1])]
    for engine in ENGINES:
        recorded = pieces(open_frame(ENGINES[engine](table(rows))), FULL, STATES)
        assert [(p.unit, p.piece, p.counts.tolist()) for p in recorded] == expected


def test_what_is_private_is_not_shown() -> None:
    rows = [("x", 1.0, 0, "a"), ("x", 1.0, 1, "b")]
    opened = open_frame(ENGINES["polars"](table(rows)))
    for entrywise in (False, True):
        assert "array" not in repr(pieces(opened, FULL, STATES, entrywise=entrywise)[0])
    assert "'x'" not in repr(opened)


def test_an_engines_own_words_are_never_repeated() -> None:
    with pytest.raises(EngineError, match=r"its engine failed \(ValueError\)") as caught, careful("the file"):
        raise ValueError("could not convert SENTINEL")
    assert "SENTINEL" not in str(caught.value)
    assert caught.value.__suppress_context__
    with pytest.raises(DataError, match="more memory"), careful("the file"):
        raise MemoryError
    with pytest.raises(InputError, match="kept"), careful("the file"):
        raise InputError("kept")


def of_duckdb(name: str) -> type[Exception]:
    return type(name, (Exception,), {"__module__": "_duckdb"})


@pytest.mark.parametrize(
    "error",
    [of_duckdb("BinderException")("column SENTINEL not found"), ImportError("cannot import SENTINEL", name="duckdb")],
)
def test_an_engines_failure_names_the_engine_and_its_version_and_blames_no_column(error: Exception) -> None:
    with pytest.raises(EngineError) as caught, careful("the file"):
        raise error
    said = str(caught.value)
    assert f"duckdb {duckdb.__version__} with narwhals {narwhals.__version__} failed" in said
    assert "says nothing about the data" in said
    assert not re.search("column|type|SENTINEL", said.replace(type(error).__name__, ""))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
def test_an_engine_that_is_too_old_for_narwhals_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("narwhals.stable.v2.from_native", raising(ValueError("Minimum version is ...")))
    with pytest.raises(EngineError, match=r"failed \(ValueError\), which says nothing about the data"):
        open_frame(ENGINES[kind](table([("x", 1.0, 0, "a")])))


def test_kinds_that_are_mixed_are_refused() -> None:
    for values in (["a", 1], [1.5, "a"], [{}, "a"], [b"x", None]):
        frame = pandas.DataFrame({"v": pandas.Series(values, dtype=object), "t": [1, 2]})
        with pytest.raises(DataError, match=r"mixes kinds|are no states"):
            pieces(open_frame(frame), Layout("v", order="t"), STATES)
        with pytest.raises(DataError, match=r"mixes kinds|cannot order"):
            pieces(open_frame(frame.assign(w="a")), Layout("w", order="v"), STATES)


def test_pandas_columns_called_by_numbers() -> None:
    frame = pandas.DataFrame([["a", 1], ["b", 2]])
    (piece,) = pieces(open_frame(frame), Layout("0", order="1"), STATES)
    assert piece.counts.tolist() == [1, 1]
    frame.columns = [0, "0"]
    with pytest.raises(InputError, match="two columns called '0'"):
        open_frame(frame)


def test_categories_are_texts_and_one_column_may_have_two_roles() -> None:
    frame = polars.DataFrame({"v": ["a ", "b"], "u": ["x", "x"]}).cast(polars.Categorical)
    for data in (frame, frame.to_pandas(), frame.to_arrow()):
        (piece,) = pieces(open_frame(data), Layout("v", "u"), STATES)
        assert (piece.unit, piece.counts.tolist()) == ("x", [1, 1])
    twice = polars.DataFrame({"v": ["a", "b"], "t": [1, 2]})
    recorded = pieces(open_frame(twice), Layout("v", "v", order="t"), STATES)
    assert [(p.unit, p.counts.tolist()) for p in recorded] == [("a", [1, 0]), ("b", [0, 1])]


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Layout("v", nulls="drop"), "nulls is 'drop'"),
    (lambda: Layout("v", null_keys="own"), "null_keys is 'own'"),
    (lambda: Layout("v", step=1), "no order column"),
    (lambda: Layout("v", order="t", step="2 parsecs"), "1min"),
    (lambda: Recode(("a", "a")), "a name of its own"),
    (lambda: Recode((1, "1")), "a name of its own"),
    (lambda: Recode(("still",), {"x": "stil"}), "did you mean 'still'"),
    (lambda: Lengths(0), "at least 1"),
    (lambda: Lengths(5, 4), "no longer than"),
    (lambda: Lengths(longer="cut"), "no longest length"),
    (lambda: Lengths(longer="chop"), "'refuse' or 'cut'"),
])  # fmt: skip
def test_values_that_break_a_rule(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_steps() -> None:
    assert [parse_step(s) for s in ("1min", " 90 s ", "1h", "2d", "3")] == [
        timedelta(minutes=1), timedelta(seconds=90), timedelta(hours=1), timedelta(days=2), Fraction(3),
    ]  # fmt: skip
    assert parse_step(0.1) == Fraction(1, 10)
    for wrong in (0, -1, True, None, float("inf"), float("nan"), "0", "0min", "1 week", "-1min", "1.5h", "", "min"):
        with pytest.raises(InputError, match="the step is"):
            parse_step(wrong)  # type: ignore[arg-type]


def test_one_value_has_one_text_and_names_are_sorted_as_people_do() -> None:
    assert {text_of(v) for v in (3, 3.0, "3", " 3 ")} == {"3"}
    assert [text_of(v) for v in (None, float("nan"), pandas.NA, pandas.NaT, " ")] == [None] * 5
    names = ["run 10", "b", "9", "run 9", "10", "run", None, "run 9 b", "01"]
    assert sorted(names, key=natural) == ["01", "9", "10", "b", "run", "run 9", "run 9 b", "run 10", None]


@pytest.mark.parametrize(("states", "mapping"), [(("NA", "a"), {}), (("", "a"), {}), (("a", "b"), {"NA": "a"})])
def test_a_state_that_is_read_as_missing_is_refused(states: tuple[str, ...], mapping: dict[str, str]) -> None:
    table = open_frame(polars.DataFrame({"state": ["NA", "", "a"]}), missing=["NA"])
    with pytest.raises(InputError, match="counts as missing, so its secret"):
        pieces(table, Layout("state", nulls="unobserved"), Recode(states, mapping))


def test_a_format_that_says_utc_fits_no_other_clocks() -> None:
    said = {"order": "when", "order_format": "%d/%m/%Y %H:%M UTC"}
    for zone in ("UTC", "Etc/UTC", None):
        assert Layout("state", timezone=zone, **said).clock.form is not None
    for zone in ("Europe/Berlin", "Etc/GMT-1"):
        with pytest.raises(InputError, match="times are in UTC, or by clocks in a zone"):
            Layout("state", timezone=zone, **said)

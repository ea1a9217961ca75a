"""Every engine makes the same integers of the same rows, and they are the ones that plain words give."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import engines, frames_oracle
from tests.support.engines import ENGINES, IN_ROWS, Columns, counts_and_entries, entries

from takifugu.core.errors import DataError, InputError
from takifugu.data import Bounded, Layout, Lengths, Recode, open_frame, pieces, totals, transitions, transitions_by

NAMES = {"unit": 'Who "is" it?', "piece": "run.no", "at": "t [min], raw", "state": "état; `x`"}
STATES = Recode(("still", "walking", 7), {"sitting": "still", "Lying": "still"})
KNOWN = {"still": 0, "walking": 1, "7": 2, "sitting": 0, "Lying": 0}
NAN, INF = float("nan"), float("inf")


def columns(rows: list[dict[str, Any]], kinds: dict[str, str]) -> Columns:
    return {NAMES[role]: (kind, [row[role] for row in rows]) for role, kind in kinds.items()}


def layout(**rules: Any) -> Layout:
    return Layout(NAMES["state"], NAMES["unit"], NAMES["piece"], NAMES["at"], **rules)


def read_pieces(data: Any, rules: Layout, lengths: Lengths | None = None) -> list[frames_oracle.Sequenced]:
    """Return what frames make of the data, put together from each of its answers, which must agree."""
    table = open_frame(data)
    whole = []
    for piece, one in counts_and_entries(table, rules, STATES, lengths):
        states = [None if v < 0 else int(v) for v in one.values]
        assert (piece.unit, piece.piece, piece.length) == (one.unit, one.piece, len(states))
        assert piece.counts.tolist() == [states.count(code) for code in range(3)]
        seen = [i for i, state in enumerate(states) if state is not None]
        assert [i for run in piece.observed for i in run] == seen
        assert all(one.stop < other.start for one, other in zip(piece.observed, piece.observed[1:], strict=False))
        assert piece.weights().numbers.tolist() == [int(state is not None) for state in states]
        assert piece.complete == (len(seen) == len(states))
        whole.append((piece.unit, piece.piece, tuple(states)))
    return whole


def by_name(sequenced: list[frames_oracle.Sequenced]) -> list[frames_oracle.Sequenced]:
    return sorted(sequenced, key=lambda piece: (str(piece[0]), str(piece[1])))


START = datetime(2026, 1, 31, 23, 58)
TIMES: dict[str, tuple[str, Any, Any]] = {
    "whole numbers": ("int", lambda m: m * 3 - 20, 3),
    "numbers": ("float", lambda m: round((m - 4) * 0.1, 9), 0.1),
    "decimals": ("decimal", lambda m: Decimal(m - 4) / 4, 0.25),
    "times": ("time", lambda m: START + timedelta(minutes=m), "1min"),
    "times before 1970": ("time", lambda m: datetime(1969, 12, 31, 12) + timedelta(hours=m, microseconds=1), "1h"),
    "zoned times": ("zoned", lambda m: (START + timedelta(minutes=m)).replace(tzinfo=UTC), "60s"),
    "dates": ("date", lambda m: date(2024, 2, 27) + timedelta(days=m), "1d"),
    "texts of whole numbers": ("text", lambda m: f" {m * 3 - 20}", 3),
    "texts of numbers": ("text", lambda m: f"{(m - 4) * 0.5:.2f}", 0.5),
    "texts of times": ("text", lambda m: (START + timedelta(minutes=m)).isoformat(), "1min"),
    "texts of zoned times": ("text", lambda m: f"{START + timedelta(minutes=m - 90)}-01:30", "1min"),
}

SECONDS = {"1min": 60, "60s": 60, "1h": 3600, "1d": 86400}


def exactly(step: Any) -> Fraction:
    return Fraction(SECONDS.get(step, 0)) or Fraction(str(step))


#: unit, piece, minute, state; two units interleaved, gaps, blanks, rows without a unit or piece, missing states.
NASTY = [
    ("zoë", 1.0, 0, " sitting"), ("b, c", 1.0, 3, "walking"), ("zoë", 1.0, 1, "walking"), (None, 1.0, 2, "still"),
    ("b, c", 1.0, 4, None), (" zoë ", 1.0, 5, "7"), ("zoë", NAN, 6, "still"), ("", 2.0, 6, "still"),
    ("b, c", 1.0, 5, "Lying"), ("zoë", 2.0, 0, ""), ("zoë", 2.0, 1, "still"), ("b, c", -0.0, 9, "7 "),
    ("b, c", None, 9, "walking"), ("b, c", 1.0, 9, "7"),
]  # fmt: skip


def nasty(at: str) -> tuple[list[dict[str, Any]], Columns]:
    kind, make, _ = TIMES[at]
    rows = [{"unit": u, "piece": p, "at": make(m), "state": s} for u, p, m, s in NASTY]
    return rows, columns(rows, {"unit": "text", "piece": "float", "at": kind, "state": "text"})


@pytest.mark.sampled(11)
@pytest.mark.parametrize("at", TIMES)
@pytest.mark.parametrize("engine", ENGINES)
def test_nasty_rows(engine: str, at: str) -> None:
    rows, made = nasty(at)
    data, step = ENGINES[engine](made), TIMES[at][2]
    for rules, lengths, of_oracle in (
        ({"step": step, "null_keys": "drop"}, None, {"step": exactly(step), "null_keys": "drop"}),
        ({"null_keys": "keep"}, Lengths(2, 2, "cut"), {"null_keys": "keep", "shortest": 2, "longest": 2, "cut": True}),
    ):
        expected = frames_oracle.sequences(rows, KNOWN, order=True, nulls="unobserved", **of_oracle)
        assert by_name(read_pieces(data, layout(nulls="unobserved", **rules), lengths)) == by_name(expected)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("kind", "values"), [
    ("int", [3, 7, 7, None, 3]),
    ("float", [3.0, 7.0, 7.0, None, 3.0]),
    ("decimal", [Decimal("3.00"), Decimal(7), Decimal("7.0"), None, Decimal(3)]),
    ("text", ["3", "7 ", "\t7", " ", "3"]),
])  # fmt: skip
def test_states_that_are_numbers(engine: str, kind: str, values: list[Any]) -> None:
    data: Columns = {"v": (kind, values), "t": ("int", [1, 2, 3, 4, 5])}
    (piece,) = pieces(open_frame(ENGINES[engine](data)), Layout("v", order="t", nulls="unobserved"), Recode((7, 3)))
    assert piece.counts.tolist() == [2, 2]
    assert piece.observed == (range(3), range(4, 5))
    with pytest.raises(DataError, match="no state"):
        pieces(open_frame(ENGINES[engine](data)), Layout("v", order="t", nulls="unobserved"), Recode((7, "x")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_states_that_are_true_or_false(engine: str) -> None:
    data: Columns = {"v": ("bool", [True, None, False, True]), "t": ("int", [1, 2, 3, 4])}
    of_truth = Recode(("yes", "no"), {"true": "yes", "False": "no"})
    for states, counts in ((Recode((False, True)), [1, 2]), (of_truth, [2, 1])):
        (piece,) = pieces(open_frame(ENGINES[engine](data)), Layout("v", order="t", nulls="unobserved"), states)
        assert piece.counts.tolist() == counts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_transitions(engine: str) -> None:
    rows, data = nasty("whole numbers")
    rules = layout(step=3, nulls="unobserved", null_keys="drop")
    table = open_frame(ENGINES[engine](data))
    expected = frames_oracle.sequences(rows, KNOWN, order=True, step=Fraction(3), nulls="unobserved", null_keys="drop")
    pairs = [pair for *_, states in expected for pair in pairwise(states) if None not in pair]
    assert transitions(table, rules, STATES).tolist() == [[pairs.count((x, y)) for y in range(3)] for x in range(3)]
    cells = (1, 0, 0, 2)
    by_cell = [
        (cells[place % 4], *pair)
        for *_, states in expected for place, pair in enumerate(pairwise(states)) if None not in pair
    ]  # fmt: skip
    assert transitions_by(table, rules, STATES, cells).tolist() == [
        [[by_cell.count((cell, x, y)) for y in range(3)] for x in range(3)] for cell in range(3)
    ]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ENGINES)
def test_names_that_engines_read_as_patterns(engine: str) -> None:
    names = ("*", "^a$", "a", 'q"x', "^.*$")
    cells = (("text", ["u", "u", "v"]), ("int", [1, 2, 1]), ("text", ["z"] * 3), ("text", ["on", "off", "on"]))
    data = ENGINES[engine](dict(zip(names, (*cells, ("float", [0.5, 1.5, 2.0])), strict=True)))
    opened = open_frame(data)
    assert opened.names == names
    rules, states = Layout('q"x', unit="*", order="^a$"), Recode(("on", "off"))
    assert {piece.unit: piece.counts.tolist() for piece in pieces(opened, rules, states)} == {"u": [1, 1], "v": [1, 0]}
    assert transitions(opened, rules, states).tolist() == [[0, 1], [0, 0]]
    assert [group.sums for group in totals(opened, [Bounded("^.*$", 0, 2, 0.5, missing=0)])] == [(8,)]
    with pytest.raises(InputError, match="has no column 'b'"):
        opened.require(["b"])


def test_without_an_order_rows_are_taken_as_they_stand() -> None:
    rows = [("x", "a"), ("x", "b"), ("y", "b"), (None, "b"), ("y", None)]
    data: Columns = {"u": ("text", [u for u, _ in rows]), "v": ("text", [v for _, v in rows])}
    apart: Columns = {"u": ("text", ["x", "y", "x"]), "v": ("text", ["a", "a", "b"])}
    rules, states = Layout("v", "u", nulls="unobserved", null_keys="drop"), Recode(("a", "b"))
    for engine in IN_ROWS:
        read = entries(open_frame(ENGINES[engine](data)), rules, states)
        assert [(e.unit, e.values.tolist()) for e in read] == [("x", [0, 1]), ("y", [1, -1])]
        (whole,) = entries(open_frame(ENGINES[engine](data)), Layout("v", nulls="unobserved"), states)
        assert whole.values.tolist() == [0, 1, 1, 1, -1]
        with pytest.raises(DataError, match="not together"):
            pieces(open_frame(ENGINES[engine](apart)), rules, states)
    with pytest.raises(DataError, match="keeps no order of its rows"):
        pieces(open_frame(ENGINES["duckdb"](data)), rules, states)


def test_rows_in_any_order_where_the_engine_keeps_none() -> None:
    data: Columns = {"t": ("int", [3, 1, 2, 4]), "v": ("text", ["a", "b", "b", "a"])}
    rules, states = Layout("v", order="t"), Recode(("a", "b"))
    for engine in ("duckdb", *IN_ROWS):
        (read,) = entries(open_frame(ENGINES[engine](data)), rules, states)
        assert read.values.tolist() == [1, 1, 0, 0]


def test_integers_beyond_what_floats_hold_keep_their_order() -> None:
    """Nanoseconds since 1970 are above 2**53: as float64, neighbours would tie."""
    first = 1_767_225_600_000_000_001
    data: Columns = {
        "u": ("text", ["x", "y", "x", "y"]),
        "t": ("int", [first, first, first + 1, first + 2]),
        "v": ("text", ["a"] * 4),
    }
    for engine in ENGINES:
        read = pieces(open_frame(ENGINES[engine](data)), Layout("v", "u", order="t", step=1), Recode(("a",)))
        assert [(p.length, p.counts.tolist()) for p in read] == [(2, [2]), (3, [2])]


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, Any]], Columns, str]:
    """Draw rows of a few pieces, mixed with each other but each in order, now and then with a fault."""
    at = draw(st.sampled_from(sorted(TIMES)))
    kind, make, _ = TIMES[at]
    rows: list[dict[str, Any]] = []
    for unit in draw(st.lists(st.sampled_from(["a", "b ", "ö", None]), min_size=1, max_size=3, unique=True)):
        for piece in draw(st.lists(st.sampled_from([1.0, 2.0, 10.0, None, NAN]), min_size=1, max_size=2)):
            minutes = sorted(draw(st.sets(st.integers(0, 12), min_size=1, max_size=6)))
            faults = draw(st.sampled_from([()] * 6 + [("tie",), ("back",), ("unknown",), ("null",)]))
            minutes += minutes[-1:] if "tie" in faults else []
            minutes = draw(st.permutations(minutes)) if "back" in faults else minutes
            words = ["still", "walking", "sitting ", "7", "Lying"] + ["nap"] * ("unknown" in faults)
            words += [None, " "] * ("null" in faults)
            rows += [
                {"unit": unit, "piece": piece, "at": make(m), "state": draw(st.sampled_from(words))} for m in minutes
            ]  # fmt: skip
    if draw(st.booleans()):
        rows = [row for parity in (0, 1) for i, row in enumerate(rows) if i % 2 == parity]
    return rows, columns(rows, {"unit": "text", "piece": "float", "at": kind, "state": "text"}), at


@settings(max_examples=25)
@given(tables(), st.booleans(), st.sampled_from(["refuse", "unobserved"]), st.data())
def test_engines_agree_with_plain_words(
    table: tuple[list[dict[str, Any]], Columns, str], with_step: bool, nulls: str, data: st.DataObject
) -> None:
    rows, made, at = table
    null_keys = data.draw(st.sampled_from(["refuse", "drop", "keep"]))
    step = TIMES[at][2] if with_step else None
    exact = None if step is None else exactly(step)
    longest = data.draw(st.sampled_from([None, 3, 9]))
    cut = longest is not None and data.draw(st.booleans())
    lengths = Lengths(data.draw(st.integers(1, 3)), longest, "cut" if cut else "refuse")
    duplicates = data.draw(st.sampled_from(["refuse", "first", "last"]))
    rounded = step if with_step and data.draw(st.booleans()) else None
    rules = layout(step=step, nulls=nulls, null_keys=null_keys, duplicates=duplicates, round_to=rounded)
    for engine in data.draw(st.permutations(sorted(ENGINES)))[:3]:
        try:
            expected = frames_oracle.sequences(
                rows, KNOWN, order=True, step=exact, nulls=nulls, null_keys=null_keys, shortest=lengths.shortest,
                longest=longest, cut=cut, in_rows=engine in IN_ROWS, duplicates=duplicates,
                rounded=None if rounded is None else exactly(rounded),
            )  # fmt: skip
        except frames_oracle.Broken:
            with pytest.raises(DataError):
                pieces(open_frame(ENGINES[engine](made)), rules, STATES, lengths)
        else:
            assert by_name(read_pieces(ENGINES[engine](made), rules, lengths)) == by_name(expected)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("at", [at for at in TIMES if at != "zoned times"])
def test_files_are_read_like_frames(tmp_path: Path, reader: str, at: str) -> None:
    rows, data = nasty(at)
    expected = frames_oracle.sequences(rows, KNOWN, order=True, step=None, nulls="unobserved", null_keys="drop")
    rules = layout(nulls="unobserved", null_keys="drop")
    places = [engines.write_csv(tmp_path / "d.csv", data, ";")]
    places += [engines.write_parquet(tmp_path / "d.parquet", data)] if reader == "duckdb" else []
    plain = [(u, p and p.replace("-0", "0"), states) for u, p, states in expected]
    for place in places:
        read = read_pieces(open_frame(place, missing=["nan"]), rules)
        assert by_name([(u, p and p.removesuffix(".0").replace("-0", "0"), s) for u, p, s in read]) == by_name(plain)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", ["duckdb", "polars", "pyarrow", "pandas"])
def test_many_rows_in_many_row_groups(tmp_path: Path, engine: str) -> None:
    """Rows that an engine reads with several threads stay in order: lengths, gaps, cuts and pairs come out exactly."""
    rows = [(unit, minute) for unit in range(8) for minute in range(unit, 5000) if minute % 97 and minute % 40 != unit]
    states = [(unit * minute) % 7 % 3 for unit, minute in rows]
    file = tmp_path / "d.parquet"
    words = [f"s{state}" for state in states]
    table = pyarrow.table({"u": [unit for unit, _ in rows], "t": [minute * 5 for _, minute in rows], "v": words})
    pyarrow.parquet.write_table(table, file, row_group_size=3000)
    data = {"duckdb": file, "polars": polars.scan_parquet(file), "pyarrow": table, "pandas": table.to_pandas()}[engine]
    opened, rules, recode = open_frame(data), Layout("v", "u", order="t", step=5), Recode(("s0", "s1", "s2"))
    walks: dict[int, dict[int, int]] = {}
    for (unit, minute), state in zip(rows, states, strict=True):
        walks.setdefault(unit, {})[minute] = state
    for lengths, longest in ((None, 10**9), (Lengths(longest=3000, longer="cut"), 3000)):
        for piece, walk in zip(pieces(opened, rules, recode, lengths), walks.values(), strict=True):
            first = min(walk)
            seen = {minute - first: s for minute, s in walk.items() if minute - first < longest}
            assert piece.length == min(longest, max(walk) - first + 1)
            assert [i for run in piece.observed for i in run] == sorted(seen)
            assert piece.counts.tolist() == [list(seen.values()).count(state) for state in range(3)]
    pairs = [(s, walk[m + 1]) for walk in walks.values() for m, s in walk.items() if m + 1 in walk]
    assert transitions(opened, rules, recode).tolist() == [[pairs.count((x, y)) for y in range(3)] for x in range(3)]
    mixed = table.take(sorted(range(len(rows)), key=lambda i: (rows[i][1], rows[i][0])))
    assert [p.counts.tolist() for p in pieces(open_frame(mixed), rules, recode)] == [
        p.counts.tolist() for p in pieces(opened, rules, recode)
    ]
    back = pyarrow.concat_tables([table.slice(0, 20_000), table.slice(19_999)])
    with pytest.raises(DataError, match="has ties"):
        pieces(open_frame(engines.same_kind(back, data, tmp_path)), rules, recode)

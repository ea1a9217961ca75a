"""Answers, totals, transitions and states are what a loop in Python counts."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support import relation_oracle as oracle
from tests.support.relation_cases import random_case
from tests.support.rounds import rounds

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.keys import Column
from takifugu.data.relation.source import opened_table
from takifugu.data.sql.faults import RowFault
from takifugu.data.values.bins import Bins, Classes
from takifugu.data.values.bounded import Bounded

ANSWERS = {"rows": "answers", "unit": "who", "nulls": "unobserved"}


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_answers_are_counted_by_all_columns_at_once(form: str, tmp_path: Path) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        rows = [(f"p{n}", rng.choice(["yes", "no", None]), rng.choice([0.0, 5.5, 10.0, 20.0, None]),
                 rng.choice([17.0, 18.0, 40.5, 65.0]), rng.choice(["A", "B"])) for n in range(rng.randint(1,
                     40))]  # fmt: skip
        frame, keys = None, {**ANSWERS, "value": ["smokes", "score", "age"]}
        bins, classes = {"low": (0, 10), "high": (10, 20)}, Classes([18, 65])
        if form == "csv":
            lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
            (tmp_path / "a.csv").write_text("\n".join(["who,smokes,score,age,town", *lines]) + "\n")
            keys["file"] = "a.csv"
        else:
            names = ["who", "smokes", "score", "age", "town"]
            kinds = [pa.string(), pa.string(), pa.float64(), pa.float64(), pa.string()]
            columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
            frame = pa.table(columns, names=names)
        known = [["no", "yes"], Bins(bins), classes]
        with opened_table(keys, (), tmp_path, frame, public=["town"], known=known) as source:
            groups = source.answers()
        expected = Counter(
            ((-1 if smokes is None else ["no", "yes"].index(smokes), Bins(bins).code(score), classes.code(age)), town)
            for _, smokes, score, age, town in rows
        )
        keyed = zip(map(tuple, groups.codes.tolist()), groups.keys[0].tolist(), strict=True)
        assert dict(zip(keyed, groups.rows.tolist(), strict=True)) == expected


def test_a_unit_of_the_roster_without_a_row_has_no_answer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,v\nAna,x\nBen,y\n")
    keys = {**ANSWERS, "value": "v", "file": "a.csv", "roster": ["Ana", "Ben", "Cy", "Di"], "where": "v <> 'y'"}
    with opened_table(keys, ["x", "y"], tmp_path) as source:
        groups = source.answers()
    assert sorted(zip(groups.codes.tolist(), groups.rows.tolist(), strict=True)) == [([-1], 3), ([0], 1)]


@pytest.mark.parametrize(("lines", "keys", "cause", "row"), [
    (["Ana,x", "Ben,y", "Ana,x"], {}, "second answer", 3), (["Ana,x", "Ben,"], {"nulls": "refuse"}, "no value", 2),
    (["Ana,x", "Ben,z"], {}, "unknown state", 2), (["Ana,x", ",y"], {}, "no unit", 2), (["Ana,x", "7.0,y"], {},
    "number with a point", 2),
    (["Ana,x", "Ben,y"], {"roster": ["Ana"]}, "stranger", 2),
])  # fmt: skip
def test_answers_against_a_rule_are_told(
    lines: list[str], keys: dict[str, Any], cause: str, row: int, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["who,v", *lines]))
    with (
        opened_table({**ANSWERS, "value": "v", "file": "a.csv", **keys}, ["x", "y"], tmp_path) as source,
        pytest.raises(RowFault) as error,
    ):
            source.answers()
    assert (error.value.cause, error.value.row) == (cause, row)


def units(rule: Bounded, value: float | None) -> int:
    """Return the integer that a value becomes: replaced, clipped, and rounded to the grid, half to even."""
    missing, low, high = (float(number) for number in (rule.missing or 0, rule.low, rule.high))
    read = missing if value is None or not math.isfinite(value) else value
    return round(min(max(read, low), high) * float(rule.grid.denominator) / float(rule.grid.numerator))


def test_totals_are_sums_of_bounded_integers(tmp_path: Path) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        rules = [
            Bounded("a", -5, 5, Fraction(1, 4), missing=1),
            Bounded("b", 0, 120, Fraction(rng.choice([1, 3]), 7), missing=40),
        ]
        some = [None, math.nan, math.inf, -math.inf, 0.125, 0.375, 2.5, 119.999, 1e300, -0.0]
        rows = [
            (rng.choice("AB"), rng.choice([*some, rng.uniform(-9, 9)]), rng.choice([*some, rng.uniform(0, 150)]))
            for _ in range(50)
        ]
        columns = list(zip(*rows, strict=True))
        frame = pa.table(
            {"town": columns[0], "a": pa.array(columns[1], pa.float64()), "b": pa.array(columns[2], pa.float64())}
        )
        with opened_table({"rows": "answers", "value": ["a", "b"]}, (), tmp_path, frame, public=["town"]) as source:
            groups = source.totals(rules)
        for key, count, sums in zip(groups.keys[0], groups.rows.tolist(), groups.sums.tolist(), strict=True):
            mine = [row for row in rows if row[0] == key]
            assert count == len(mine)
            assert sums == [sum(units(rule, row[n + 1]) for row in mine) for n, rule in enumerate(rules)]


@pytest.mark.parametrize(("value", "rule", "cause"), [
    ("", Bounded("a", 0, 5, 1, missing=None), "no value"), ("nan", Bounded("a", 0, 5, 1, missing=None), "no value"),
    ("Geheim", Bounded("a", 0, 5, 1, missing=1), "no number"),
])  # fmt: skip
def test_totals_against_a_rule_are_told(value: str, rule: Bounded, cause: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"who,a\nA,3\nB,{value}\n")
    with (
        opened_table({"rows": "answers", "value": "a", "file": "a.csv"}, (), tmp_path) as source,
        pytest.raises(RowFault) as error,
    ):
            source.totals([rule])
    assert (error.value.cause, error.value.row) == (cause, 2)
    assert "Geheim" not in error.value.line


def test_a_sum_that_could_leave_64_bits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n" + "1\n" * 9000)
    with (
        opened_table({"rows": "answers", "value": "a", "file": "a.csv"}, (), tmp_path) as source,
        pytest.raises(TakifuguError, match="64 bits"),
    ):
            source.totals([Bounded("a", 0, 2**49, 1, missing=0)])


def expanded(case: Any) -> dict[tuple[str, str], list[str | None]]:
    """Return each piece's states step by step, as the oracle has them, from one window a step."""
    pieces = dict[tuple[str, str], list[str | None]]()
    origin = case.meaning.start
    by_piece: dict[tuple[str, str], dict[int, str | None]] = {}
    for unit, recording, tick, _, value in case.rows:
        start = (tick if origin is None else tick - origin) // case.meaning.step
        by_piece.setdefault((unit or "", recording or ""), {})[start] = value
    for piece, values in by_piece.items():
        window = range(min(values), max(values) + 1) if origin is None else range(case.meaning.size)
        pieces[piece] = [values.get(place) for place in window]
    return pieces


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(5, 30))
def test_transitions_and_states_are_those_of_a_loop(tmp_path: Path, seeds: range) -> None:
    compared = 0
    for seed in seeds:
        case = random_case(seed, tmp_path, ("samples",))
        if case.meaning.covers is not None:
            continue
        try:
            oracle.read(case.rows, case.meaning)
        except oracle.Refused:
            continue
        compared += 1
        cells = [0, 1, 1] if case.meaning.start is not None else [0]
        with opened_table(case.keys, case.meaning.states, tmp_path, case.frame) as source:
            result, states, names = source.transitions(cells), source.states(), source.counts().names
        pieces = expanded(case)
        expected = Counter[tuple[int, str, str]]()
        for values in pieces.values():
            for place, (one, other) in enumerate(itertools.pairwise(values)):
                if one is not None and other is not None:
                    expected[cells[place % len(cells)], one, other] += 1
        counted = {(c, "abc"[x], "abc"[y]): int(n) for (c, x, y), n in zip(
            ((c, x, y) for c in range(result.shape[0]) for x in range(3) for y in range(3)), result.ravel(),
            strict=True)}  # fmt: skip
        assert Counter(counted) == expected, seed
        listed: dict[Any, list[str | None]] = {piece: [None] * len(values) for piece, values in pieces.items()}
        keys = list(zip(*names, strict=True))
        for number, first, last, code in zip(
            *(part.tolist() for part in (states.piece, states.first, states.last, states.code)), strict=True
        ):
            for place in range(first, last):
                listed[keys[number]][place] = None if code < 0 else "abc"[code]
        assert listed == pieces, seed
    assert compared > len(seeds) // 6


def test_states_of_runs_are_their_steps(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,e,v\nAna,0,3,x\nAna,5,,y\nBen,1,2,\n")
    keys = {"rows": "stays", "unit": "who", "order": "t", "end": "e", "value": "v", "step": 1, "from": 0, "until": 8,
            "roster": ["Ana", "Ben"], "nulls": "unobserved", "file": "a.csv"}  # fmt: skip
    with opened_table(keys, ["x", "y"], tmp_path) as source:
        states = source.states(range(1, 8))
    assert states.piece.tolist() == [0, 0, 1]
    assert states.first.tolist() == [0, 4, 0]
    assert states.last.tolist() == [2, 7, 1]
    assert states.code.tolist() == [0, 1, -1]


def test_a_lookalike_is_told_by_its_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,t,v\nA,0,bar\nA,1,cinema\nA,2,Bar \n")
    keys = {"unit": "who", "order": "t", "value": "v", "step": 1, "file": "a.csv"}
    with opened_table(keys, ["bar"], tmp_path) as source, pytest.raises(TakifuguError) as error:
        source.refuse_lookalikes(["bar", "gym"], "place")
    assert error.value.line.startswith("place: row 3: a value in \"v\" that is a declared one")
    assert "Bar " not in error.value.line


@pytest.mark.parametrize("columns", [20, pytest.param(1100, marks=pytest.mark.mutants)])
def test_a_thousand_columns_are_read_row_by_row_and_each_fault_names_its_own(tmp_path: Path, columns: int) -> None:
    """A rule of every column at once would be nested deeper than DuckDB takes."""
    names = [f"c{number}" for number in range(columns)]
    rows = [["x" if (row + n) % 2 else "y" for n in range(len(names))] for row in range(3)]
    lines = [",".join(["who", *names]), *(",".join([f"p{row}", *cells]) for row, cells in enumerate(rows))]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    keys = {"rows": "answers", "unit": "who", "value": [Column(name) for name in names], "file": "a.csv"}
    with opened_table(keys, (), tmp_path, known=[["x", "y"]] * len(names)) as source:
        answers = source.listed()
    known = [["x", "y"], ["y"], *[["x", "y"]] * (len(names) - 2)]
    with opened_table(keys, (), tmp_path, known=known) as source, pytest.raises(RowFault) as error:
        source.listed()
    assert answers.codes.tolist() == [[0 if cell == "x" else 1 for cell in cells] for cells in rows]
    assert (answers.units.tolist(), answers.rows.tolist()) == (["p0", "p1", "p2"], [1, 2, 3])
    assert (error.value.row, error.value.more, error.value.words["column"], error.value.also) == (1, 1, "c1", ())


@pytest.mark.parametrize(("keys", "where"), [
    ({"roster": ["Ana"]}, "roster"), ({"bins": {"b": {"low": [0, 1]}}}, "bins"),
    ({"value": ["a", "b"], "bins": {"low": [0, 1]}}, "bins"),
    ({"value": ["a", "b"], "bins": {"a": {"low": [0, 1]}, "low": [0, 1]}}, "bins"),
])  # fmt: skip
def test_keys_of_answers_that_contradict_each_other(keys: dict[str, Any], where: str, tmp_path: Path) -> None:
    """With a roster of nobody rows would be taken for covered, and `where` could depend on what is hidden."""
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with (
        pytest.raises(TakifuguError) as error,
        opened_table({"rows": "answers", "value": "a", "file": "a.csv", "where": "a <> '1'", **keys}, (), tmp_path),
    ):
        pass
    assert error.value.where[0] == where

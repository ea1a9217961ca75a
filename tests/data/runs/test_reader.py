"""Runs counted where the rows are, against runs that are expanded step by step, to the integer."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support import engines
from tests.support.runs_oracle import MISSING, Cells, Refused, Row, Rules, Steps, counted, expanded

from takifugu.core.errors import DataError
from takifugu.data import Calendar, Layout, Recode, Zone, open_frame, parse_step
from takifugu.data.runs.reader import pieces_of_runs
from takifugu.data.runs.rules import RunRules
from takifugu.data.times.moments import EPOCH

START = 1_774_656_000_000_000  # 2026-03-28: clocks in Berlin change on the next day
SECOND = 1_000_000
STATES, KINDS = ("a", "b", "c"), ("changes", "stays", "events")
STEPS = {"1s": 1, "1min": 60, "7min": 420, "30min": 1800, "1h": 3600, "1d": 86_400, "7d": 604_800}
AXES = (("hour",), ("weekday",), ("date",), ("week",), ("month",), ("weekday", "hour"), ("date", "hour"))


def tables(chance: random.Random, rules: Rules) -> list[Row]:
    """Return random rows that keep most rules most of the time; times lie on steps, and between them."""
    rows = list[Row]()
    for unit, (first, last) in rules.covered.items():
        moment = first + chance.randrange(-3, 3) * rules.step
        for _ in range(chance.choice((0, 1, 2, 5, 9))):
            state = chance.choice((*STATES, None) if rules.nulls == "unobserved" else STATES)
            length = chance.choice((0, rules.step // 3, rules.step, chance.randrange(1, 9 * rules.step)))
            end: int | None = moment + length
            if chance.random() < 0.1:
                length = -length // 2 if chance.random() < 0.5 else length
            if rules.rows != "stays" or chance.random() < 0.05:
                end = None
            rows.append((unit, moment, state, end))
            overlaps = rules.overlap != "refuse" and rules.rows != "changes" and chance.random() < 0.5
            if rules.rows == "events" and not overlaps:
                length = max(length, rules.step)
            moment += max(length // 3 if overlaps else length, 0 if chance.random() < 0.05 else 1)
            moment = moment if chance.random() < 0.7 else moment + chance.randrange(rules.step * 3)
        while rows and rows[-1][0] == unit and chance.random() < 0.95 and not _inside(rows[-1], last):
            rows.pop()
    if chance.random() < 0.5:
        chance.shuffle(rows)
    return rows


def _inside(row: Row, last: int) -> bool:
    return (row[1] or 0) < last and (row[3] is None or row[3] <= last)


def rules_of(chance: random.Random, rows: str, step: int, size: int) -> Rules:
    start, until = START, START + size * step
    covered = {}
    for unit in ("Ana", "Ben", "Cleo")[: chance.choice((1, 3))]:
        first = start + chance.choice((0, 0, 2 * step, step // 2))
        covered[unit] = (
            first,
            chance.choice((until, until, max(first, until - 3 * step), max(first, until - step // 3))),
        )
    return Rules(
        rows, start, until, step, covered, STATES, chance.choice(("a", "b", None)), chance.choice(STATES),
        chance.choice(("refuse", "first", "last")), chance.choice(("refuse", "refuse", "first", "last")),
        chance.choice(("refuse", "unobserved")),
    )  # fmt: skip


def declared(rules: Rules) -> RunRules:
    return RunRules(
        rules.rows, dict(rules.covered), rules.before if rules.rows == "changes" else None,
        "end" if rules.rows == "stays" else None, None,
        None if rules.rows == "changes" else rules.otherwise, "refuse" if rules.rows == "changes" else rules.overlap,
    )  # fmt: skip


def layout_of(
    rules: Rules, window: range, gaps: str = "public", by: tuple[str, ...] = (), zone: str | None = None
) -> Layout:
    word = next(word for word, seconds in STEPS.items() if seconds * SECOND == rules.step)
    start, until = (EPOCH + timedelta(microseconds=moment) for moment in (rules.start, rules.until))
    calendar = Calendar.read(start, until, parse_step(word), None if zone is None else Zone(zone))
    return Layout(
        "state", "unit", order="start", step=word, nulls=rules.nulls, duplicates=rules.duplicates, calendar=calendar,
        window=window, gaps=gaps, by=by,
    )  # fmt: skip


def columns_of(rows: Sequence[Row], kind: str = "time") -> dict[str, tuple[str, list[Any]]]:
    def time(moment: int | None) -> Any:
        stamp = None if moment is None else datetime(1970, 1, 1) + timedelta(microseconds=moment)
        if stamp is not None and kind == "zoned":
            return stamp.replace(tzinfo=UTC)
        return None if stamp is None else stamp if kind == "time" else stamp.isoformat()

    return {
        "unit": ("text", [row[0] for row in rows]), "state": ("text", [row[2] for row in rows]),
        "start": (kind, [time(row[1]) for row in rows]), "end": (kind, [time(row[3]) for row in rows]),
    }  # fmt: skip


def window_of(chance: random.Random, size: int) -> range:
    first = chance.randrange(size)
    return range(size) if chance.random() < 0.3 else range(first, chance.randrange(first + 1, size + 1))


def oracle(rows: Sequence[Row], rules: Rules) -> Steps | None:
    try:
        return expanded(rows, rules)
    except Refused:
        return None


def cases(seed: int, number: int) -> Iterator[tuple[random.Random, Rules, list[Row], range]]:
    chance = random.Random(seed)
    for _ in range(number):
        size = chance.randrange(1, 30)
        rules = rules_of(chance, chance.choice(KINDS), STEPS[chance.choice((*STEPS,))] * SECOND, size)
        yield chance, rules, tables(chance, rules), window_of(chance, size)


def checked(data: Any, rules: Rules, rows: Sequence[Row], window: range, steps: Steps | None, gaps: str) -> None:
    table, layout = open_frame(data), layout_of(rules, window, gaps)
    read = lambda: pieces_of_runs(table, layout, Recode(STATES), declared(rules), entrywise=gaps == "public")  # noqa: E731
    if steps is None:
        with pytest.raises(DataError):
            read()
        return
    pieces, counts = {str(piece.unit): piece for piece in read()}, counted(steps, STATES, window)
    assert {unit: piece.counts.tolist() for unit, piece in pieces.items()} == counts
    for unit, piece in pieces.items():
        assert piece.length == len(window)
        mine = [-1 if s in (None, MISSING) else STATES.index(str(s)) for s in steps[unit][window.start : window.stop]]
        if gaps == "public":
            assert piece.values is not None
            assert piece.values.tolist() == mine
            assert (piece.weights() != 0).tolist() == [code >= 0 for code in mine]
        else:
            assert piece.complete


def in_file(folder: Path, rows: Sequence[Row]) -> Path:
    """Write rows as a CSV file; it is small, so that no engine opens it."""
    columns = columns_of(rows, "text")
    lines = [
        ",".join(columns),
        *(",".join(text or "" for text in row) for row in zip(*(c for _, c in columns.values()), strict=True)),
    ]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return folder / "log.csv"


@pytest.mark.parametrize("engine", [*engines.ENGINES, "csv"])
def test_runs_are_counted_as_if_each_step_had_a_row(engine: str, tmp_path: Path) -> None:
    refused, number = 0, 25
    for chance, rules, rows, window in cases(sum(map(ord, engine)), number):
        ruled = replace(rules, has_order=engine != "duckdb")
        steps, gaps = oracle(rows, ruled), chance.choice(("public", "hidden"))
        refused += steps is None
        data = in_file(tmp_path, rows) if engine == "csv" else engines.ENGINES[engine](columns_of(rows))
        checked(data, ruled, rows, window, steps, gaps)
    assert 0 < refused < number * 2 // 3


@pytest.mark.slow
def test_runs_of_many_tables_are_counted_as_if_each_step_had_a_row() -> None:
    for chance, rules, rows, window in cases(7, 1000):
        data = engines.ENGINES[chance.choice(("polars", "polars lazy", "duckdb"))]
        ruled = replace(rules, has_order=data is not engines.ENGINES["duckdb"])
        checked(data(columns_of(rows)), ruled, rows, window, oracle(rows, ruled), chance.choice(("public", "hidden")))


@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "Australia/Lord_Howe"])
def test_cells_of_runs_are_those_of_their_steps(zone: str | None) -> None:
    chance = random.Random(11)
    for number in range(40):
        step = STEPS[chance.choice(("30min", "1min" if zone is None else "30min", "7min" if zone is None else "30min"))]
        size = chance.choice((20, 200, 600, 3000)) if step < 1800 else chance.choice((30, 100, 400, 1200))
        rules = rules_of(chance, KINDS[number % 3], step * SECOND, size)
        rows, window, by = tables(chance, rules), window_of(chance, size), chance.choice(AXES)
        steps = oracle(rows, rules)
        layout = layout_of(rules, window, "hidden", by, zone)
        data = open_frame(engines.ENGINES[chance.choice(("polars", "duckdb"))](columns_of(rows, "zoned")))
        if steps is None or (not data.ordered and rules.duplicates != "refuse"):
            continue
        cells = Cells(by, zone or "UTC").count(steps, rules, window)
        for piece in pieces_of_runs(data, layout, Recode(STATES), declared(rules)):
            assert layout.slots is not None
            assert piece.by_cell is not None
            numbers = layout.slots.cells[0].tolist()
            named = {
                (layout.slots.label(number), STATES[code]): int(piece.by_cell[place, code])
                for place, number in enumerate(numbers) for code in np.flatnonzero(piece.by_cell[place])
            }  # fmt: skip
            assert named == dict(cells[str(piece.unit)])
            assert piece.counts.tolist() == piece.by_cell.sum(axis=0).tolist()


@pytest.mark.parametrize("times", [[0, 3, 7], [0.0, 2.5, 6.5], ["0", "2.5", "6.001"]])
def test_changes_along_numbers_hold_from_the_next_step_on(times: list[Any]) -> None:
    kind = {int: "int", float: "float", str: "text"}[type(times[0])]
    data = engines.ENGINES["polars"]({"at": (kind, times), "state": ("text", ["a", "b", "c"])})
    layout = Layout("state", order="at", step=1, calendar=Calendar.read(0, 10, Fraction(1)), window=range(10))
    (piece,) = pieces_of_runs(open_frame(data), layout, Recode(STATES), RunRules("changes"), entrywise=True)
    assert (piece.unit, piece.counts.tolist()) == (None, [3, 4, 3])
    assert piece.values is not None
    assert piece.values.tolist() == [0] * 3 + [1] * 4 + [2] * 3


def test_a_date_and_a_time_of_day_are_one_order(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("day,clock,state\n05/01/2026,00:00,a\n05/01/2026,10:15,b\n06/01/2026,05:00,a\n")
    calendar = Calendar.read("2026-01-05", "2026-01-07", timedelta(hours=1))
    layout = Layout(
        "state", order="day", time_of_day="clock", order_format="%d/%m/%Y %H:%M", step="1h", calendar=calendar,
        window=range(48),
    )  # fmt: skip
    (piece,) = pieces_of_runs(open_frame(file), layout, Recode(STATES), RunRules("changes"))
    assert piece.counts.tolist() == [30, 18, 0]

"""Runs counted where the rows are, against runs that are expanded step by step, to the integer."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise, product
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import engines
from tests.support.runs_cases import (
    AXES,
    KINDS,
    SECOND,
    START,
    STATES,
    STEPS,
    columns_of,
    declared,
    in_file,
    layout_of,
    oracle,
    rules_of,
    tables,
    window_of,
)
from tests.support.runs_oracle import MISSING, Cells, Row, Rules, Steps, counted

import takifugu as tf
from takifugu.core.errors import DataError
from takifugu.data import Calendar, Layout, Recode, Zone, open_frame
from takifugu.data.runs.cells import CellSums
from takifugu.data.runs.reader import pieces_of_runs
from takifugu.data.runs.rules import Ends, RunRules
from takifugu.data.times.cells import Slots

#: An hourly log of a day.
DAY = Layout(
    "state", unit="unit", order="at", step="1h", window=range(24),
    calendar=Calendar.read("2026-01-05", "2026-01-06", timedelta(hours=1)),
)  # fmt: skip


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
            assert (piece.weights().numbers != 0).tolist() == [code >= 0 for code in mine]
        else:
            assert piece.complete


@pytest.mark.sampled(8)
@pytest.mark.parametrize("engine", [*engines.ENGINES, "csv"])
def test_runs_are_counted_as_if_each_step_had_a_row(engine: str, tmp_path: Path) -> None:
    refused, number = 0, 15
    for chance, rules, rows, window in cases(sum(map(ord, engine)), number):
        ruled = replace(rules, has_order=engine != "duckdb")
        steps, gaps = oracle(rows, ruled), chance.choice(("public", "hidden"))
        refused += steps is None
        columns = columns_of(rows, ("time", "zoned", "text")[len(rows) % 3])
        data = in_file(tmp_path, rows) if engine == "csv" else engines.ENGINES[engine](columns)
        checked(data, ruled, rows, window, steps, gaps)
    assert 0 < refused < number * 2 // 3


@pytest.mark.slow
def test_runs_of_many_tables_are_counted_as_if_each_step_had_a_row() -> None:
    for chance, rules, rows, window in cases(7, 1000):
        data = engines.ENGINES[chance.choice(("polars", "polars lazy", "duckdb"))]
        ruled = replace(rules, has_order=data is not engines.ENGINES["duckdb"])
        checked(data(columns_of(rows)), ruled, rows, window, oracle(rows, ruled), chance.choice(("public", "hidden")))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", None])
def test_cells_of_runs_are_those_of_their_steps(zone: str | None) -> None:
    chance = random.Random(11)
    for number in range(25):
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


def shifts(chance: random.Random) -> list[tuple[str, datetime, datetime]]:
    """Return stays in order by clocks on a wall, each of a day at most."""
    rows = []
    for unit in ("Ana", "Ben"):
        free = datetime(2026, 3, 27)
        while free < datetime(2026, 3, 30):
            start = free + timedelta(minutes=30 * chance.choice((0, 1, 7, 20)))
            free = start + timedelta(minutes=30 * chance.choice((1, 16, 47, 48)))
            if not {start.hour, free.hour} & {2}:  # which clocks skip in one night
                rows.append((unit, start, free))
    return rows


@pytest.mark.sampled(7)
@pytest.mark.parametrize("engine", engines.ENGINES)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_stay_on_a_date_ends_at_the_next_such_time_of_day(engine: str, zone: str | None) -> None:
    chance, states = random.Random(engine), Recode(("on", "off"))
    calendar = Calendar.read("2026-03-27T00:00", "2026-04-01T00:00", timedelta(minutes=30), Zone(zone or "UTC"))
    layout = Layout("state", "unit", order="start", step="30min", timezone=zone, calendar=calendar, window=range(200))
    if zone is not None:
        layout = replace(layout, ambiguous="first")
    rules = RunRules("stays", {"Ana": (None, None), "Ben": (None, None)}, end="end", otherwise="off")
    dated = replace(layout, order="day", time_of_day="from", order_format="%d.%m.%Y %H:%M")
    for rows in (shifts(chance), shifts(chance)):
        units, starts, ends = zip(*rows, strict=True)
        whole = {"unit": ("text", units), "start": ("time", starts), "end": ("time", ends)}
        parts = {
            "unit": ("text", units), "day": ("text", [f"{start:%d.%m.%Y}" for start in starts]),
            "from": ("text", [f"{start:%H:%M}" for start in starts]), "end": ("text", [f"{end:%H:%M}" for end in ends]),
            "last day": ("text", [f"{end:%d.%m.%Y}" for end in ends]),
        }  # fmt: skip
        said = {"state": ("text", ["on"] * len(rows))}
        expected = pieces_of_runs(open_frame(engines.ENGINES[engine]({**whole, **said})), layout, states, rules)
        table = open_frame(engines.ENGINES[engine]({**parts, **said}))
        for end in ("end", ("last day", "end")):
            read = pieces_of_runs(table, dated, states, replace(rules, end=end))
            assert [piece.counts.tolist() for piece in read] == [piece.counts.tolist() for piece in expected]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("engine", engines.ENGINES)
def test_an_end_that_is_no_time_is_refused_and_no_stay_without_an_end(engine: str) -> None:
    rules = Rules("stays", START, START + 10 * SECOND, SECOND, {"Ana": (START, START + 10 * SECOND)}, STATES)
    for end, talking in (("2026-03-28T00:00:04+00:00", 4), (None, 10), ("soon", None)):
        columns = columns_of([("Ana", START, "b", None)], "text")
        columns |= {"start": ("text", ["2026-03-28T00:00:00+00:00"]), "end": ("text", [end])}
        table = open_frame(engines.ENGINES[engine](columns))
        if talking is None:
            with pytest.raises(DataError, match="it cannot order the rows"):
                pieces_of_runs(table, layout_of(rules, range(10)), Recode(STATES), declared(rules))
            continue
        (piece,) = pieces_of_runs(table, layout_of(rules, range(10)), Recode(STATES), declared(rules))
        assert piece.counts.tolist() == [10 - talking, talking, 0]


def test_durations_go_with_starts_that_tell_their_zone_and_seconds_since_1970_with_files(tmp_path: Path) -> None:
    rules = Rules("stays", START, START + 10 * SECOND, SECOND, {"Ana": (START, START + 10 * SECOND)}, STATES)
    file, layout = tmp_path / "log.csv", layout_of(rules, range(10))
    for start, form in (("2026-03-28T01:00:00+01:00", None), (str(START // SECOND), "epoch")):
        file.write_text(f"unit,start,length,state\nAna,{start},4,b\n")
        declares = replace(declared(rules), end=None, duration=("length", SECOND))
        (piece,) = pieces_of_runs(open_frame(file), replace(layout, order_format=form), Recode(STATES), declares)
        assert piece.counts.tolist() == [6, 4, 0]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("times", [
    ["2026-01-05 00:00:00", "2026-01-05 02:00:00", "2026-01-05 07:30:00.5"],
    ["2026-01-05T00:00:00", "2026-01-05T02:00:00", "2026-01-05T07:30:00"],
    ["2026-01-05 00:00", "2026-01-05 02:00", "2026-01-05 07:30"],
    ["2026-01-05T00:00", "2026-01-05T02:00", "2026-01-05T07:30"],
    ["2026-01-05T00:00", "2026-01-05 02:00:00", " 2026-01-05T07:30:00 "],
    ["2026-01-05T00:00:00Z", "2026-01-05T03:00:00+01:00", "2026-01-05T07:30:00Z"],
])  # fmt: skip
@pytest.mark.parametrize("states", [["a", "b", "c"], ["a", " b", "c "]])
@pytest.mark.parametrize("names", [["Ana"] * 3, ["Ana", " Ana", "Ana "]])
def test_texts_that_are_written_in_other_ways_say_the_same(
    times: list[str], states: list[str], names: list[str], tmp_path: Path
) -> None:
    lines = [",".join(row) for row in zip(names, times, states, strict=True)]
    (tmp_path / "log.csv").write_text("\n".join(["unit,at,state", *lines]) + "\n")
    rules = RunRules("changes", {"Ana": (None, None)})
    (piece,) = pieces_of_runs(open_frame(tmp_path / "log.csv"), DAY, Recode(STATES), rules)
    assert piece.counts.tolist() == [2, 6, 16]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("late", ["10000-01-01 00:00:00", "infinity", "2026-02-30 00:00:00", "2026-01-05 25:00:00"])
def test_a_time_that_only_an_engine_takes_for_one_is_refused(late: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(f"at,state\n2026-01-05 00:00:00,a\n{late},b\n")
    table = open_frame(tmp_path / "log.csv")
    with pytest.raises(DataError, match="at"):
        pieces_of_runs(table, replace(DAY, unit=None), Recode(STATES), RunRules("changes"))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("engine", engines.ENGINES)
@pytest.mark.parametrize(("units", "names"), [
    (("text", ["Ana", "Ben"]), ["Ana", "Ben"]),
    (("text", [" Ana", "Ben "]), ["Ana", "Ben"]),
    (("int", [7, 12]), ["7", "12"]),
    (("int", [7, 12]), ["007", "12"]),
    (("float", [7.0, 12.0]), ["7", "12"]),
    (("date", [date(2026, 1, 1), date(2026, 1, 2)]), ["2026-01-01", "2026-01-02"]),
])  # fmt: skip
def test_each_person_is_covered_as_declared_however_the_data_write_their_name(
    units: engines.Column, names: list[str], engine: str
) -> None:
    assert DAY.calendar is not None
    ends: dict[str | None, Ends] = {names[0]: (None, DAY.calendar.start + 2 * 3600 * SECOND), names[1]: (None, None)}
    columns = {"unit": units, "at": ("time", [datetime(2026, 1, 5)] * 2), "state": ("text", ["a", "b"])}
    data = open_frame(engines.ENGINES[engine](columns))
    read = pieces_of_runs(data, DAY, Recode(STATES), RunRules("changes", ends))
    assert {piece.unit: piece.counts.tolist() for piece in read} == {names[0]: [2, 0, 0], names[1]: [0, 24, 0]}


@pytest.mark.parametrize("rows", ["changes", "stays", "events"])
def test_totals_are_nobody_even_if_a_roster_has_them(rows: str) -> None:
    times = [datetime(2026, 1, 5)] * 2
    columns = {"unit": ("text", ["Ana", "Total"]), "at": ("time", times), "state": ("text", ["a", "b"])}
    columns["end"] = ("time", [datetime(2026, 1, 5, 3)] * 2)
    rules = RunRules(rows, {"Ana": (None, None), "Total": (None, None)}, None, "end" if rows == "stays" else None)
    with pytest.raises(DataError, match="name of totals"):
        pieces_of_runs(open_frame(engines.arrow(columns)), DAY, Recode(STATES), replace(rules, otherwise="a"))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("engine", engines.ENGINES)
@pytest.mark.parametrize("end", [2**61, -(2**61), 2**62 + 1, -(2**63)])
def test_numbers_that_are_too_large_for_times_are_refused(end: int, engine: str) -> None:
    columns: engines.Columns = {"start": ("int", [0, 1]), "end": ("int", [1, end]), "state": ("text", ["a", "b"])}
    layout = Layout("state", order="start", step=1, calendar=Calendar.read(0, 10, Fraction(1)), window=range(10))
    data = open_frame(engines.ENGINES[engine](columns))
    stays, events = RunRules("stays", end="end", otherwise="a"), RunRules("events", otherwise="a")
    for read, rules in ((layout, stays), (replace(layout, order="end"), events)):
        with pytest.raises(DataError, match="too large"):
            pieces_of_runs(data, read, Recode(STATES), rules)


# Cells of windows of any length, also of nearly a day.


def misses(sums: CellSums, window: range) -> list[range]:
    """Return the runs of a window whose cells are not those of their steps."""
    wrong = []
    for run in (window, window[1:], window[: len(window) // 2], window[-1:]):
        ends = [sums.stretch(np.array([place]), np.where) for place in (run.start, run.stop)]
        numbers, periods = (np.array([int(end[part][0]) for end in ends]) for part in (0, 1))
        signs = np.array([-1, 1])
        summed = sums.summed(numbers, signs, signs * np.array([run.start, run.stop]), signs * periods)
        wrong += [] if summed.tolist() == sums.between(run.start, run.stop).tolist() else [run]
    return wrong


@pytest.mark.sampled(3)
@pytest.mark.parametrize("zone", [None, "Australia/Lord_Howe", "Europe/Berlin"])
@pytest.mark.parametrize("axes", [("hour",), ("weekday",), ("weekday", "hour"), ("date", "hour")])
def test_a_window_may_end_in_the_hour_of_the_day_that_it_starts_in(axes: tuple[str, ...], zone: str | None) -> None:
    clocks = None if zone is None else Zone(zone)
    calendar = Calendar.read("2026-03-28T00:30:00+00:00", "2026-04-18T00:30:00+00:00", timedelta(minutes=30), clocks)
    for first in (0, 1, 52):
        for size in (1, 2, 3, 46, 47, 48, 49, 95, 96, 335, 336, 337):
            window = range(first, first + size)
            assert not misses(CellSums(Slots(calendar, window, axes)), window), (first, size)


# Why coverage is declared: read off the rows, a step of a person moves an answer by nearly all of the others.


LENGTH = 10
MATRIX = np.array([[0.01, 0.99], [0.01, 0.99]])
#: Of a belief in which something happens now and then.
RARE = np.array([[0.9, 0.1], [0.9, 0.1]])
AWAY_OR_TALKING = ("away", "talking")
SEQUENCES = np.array(list(product((0, 1), repeat=LENGTH)))


def law(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    start = matrix[0]
    return np.array([start[x[0]] * np.prod([matrix[a, b] for a, b in pairwise(x)]) for x in SEQUENCES])


def changes(sequence: npt.NDArray[np.int64]) -> list[int]:
    """Return at which steps somebody's log has a row, who was away before it began."""
    return [step for step, (one, other) in enumerate(pairwise([0, *sequence.tolist()])) if one != other]


def events(sequence: npt.NDArray[np.int64]) -> list[int]:
    return np.flatnonzero(sequence).tolist()  # type: ignore[no-any-return]


def times_between(sequence: npt.NDArray[np.int64], steps: Sequence[int], state: int) -> int:
    """Return how often somebody is in a state from the first of some steps to the last one."""
    return int((sequence[steps[0] : steps[-1]] == state).sum()) if steps else 0


def loss(answers: npt.NDArray[np.int64], scale: float, matrix: npt.NDArray[np.float64]) -> float:
    """Return the most that the log of an output's density differs between the two states of one step."""
    weights, worst = law(matrix), 0.0
    noise = np.array([[exp(-abs(z - answer) / scale) for z in range(LENGTH + 1)] for answer in range(LENGTH + 1)])
    for step in range(LENGTH):
        given = [(weights * (SEQUENCES[:, step] == state)) for state in (0, 1)]
        densities = [(mass / mass.sum()) @ noise[answers] for mass in given]  # extremes lie at the atoms
        worst = max(worst, *(abs(log(one / other)) for one, other in zip(*densities, strict=True)))
    return worst


def scale_of(matrix: npt.NDArray[np.float64], state: str) -> float:
    belief = tf.MarkovChain(matrix.tolist(), length=LENGTH, initial=matrix[0].tolist(), states=list(AWAY_OR_TALKING))
    framework = tf.Pufferfish(secrets=tf.every_entry(), beliefs=[belief])
    return float(tf.calibrate(framework, tf.Count(state), epsilon=0.5, mechanism="influence").scale)


@pytest.mark.parametrize(("matrix", "state", "steps_of", "most"), [
    pytest.param(MATRIX, 1, changes, 5, id="from the first row to the last"),
    pytest.param(RARE, 0, events, 3, id="from the first event to the last"),
])  # fmt: skip
def test_coverage_that_is_read_off_the_rows_costs_far_more_than_is_charged(
    matrix: npt.NDArray[np.float64], state: int, steps_of: Any, most: int
) -> None:
    scale = scale_of(matrix, AWAY_OR_TALKING[state])
    assert loss((state == SEQUENCES).sum(axis=1), scale, matrix) <= 0.5 + 1e-9  # as it is declared
    read_off = [times_between(sequence, steps_of(sequence), state) for sequence in SEQUENCES]
    assert loss(np.array(read_off), scale, matrix) > most * 0.5

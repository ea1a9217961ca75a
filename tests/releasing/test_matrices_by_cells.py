"""Release files whose matrices depend on the hour or the weekday: what the chain is, what is refused, what is told."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.release_files import EXPECT, Changes, believe, changed, publish, read_from, release_text, section
from tests.support.releases import assert_says, put, refusal_of

import takifugu as tf
from takifugu.core.assumptions import Assumption
from takifugu.model.beliefs.chains.matrices_by import cells_of
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import outlook
from takifugu.releasing.planning.plan import calibrated, imagined

MONDAY = datetime(2026, 1, 5)
FILE = release_text(
    read_from("ward", "ward.csv", value="state", order="time", step="1h", from_="2026-01-05", until=date(2026, 2, 2),
              budget=2.0),
    believe("markov-chain", states=["calm", "busy"], matrix_by="hour", source="the nurses' own estimate"),
    section("[belief.matrices]", **{"22-06": [[0.95, 0.05], [0.6, 0.4]], "07-21": [[0.8, 0.2], [0.3, 0.7]]}),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="quilt-exact", every="week"),
    output="out", expect=EXPECT,
)  # fmt: skip
BY_HOUR = ("22-06 = [[0.95, 0.05], [0.6, 0.4]]\n07-21 = [[0.8, 0.2], [0.3, 0.7]]\n", 'matrix_by = "hour"')

BY_WEEKDAY = (
    (BY_HOUR[0], "Monday-Friday = [[0.8, 0.2], [0.3, 0.7]]\nSaturday-Sunday = [[0.95, 0.05], [0.6, 0.4]]\n"),
    (BY_HOUR[1], 'matrix_by = "weekday"'),
)
MATRICES = "[belief.matrices]\n" + BY_HOUR[0]


def recorded(hours: int, start: datetime = MONDAY) -> list[tuple[datetime, str]]:
    times = [start + timedelta(hours=n) for n in range(hours)]
    return [(t, "busy" if 7 <= t.hour < 22 and t.hour * t.day % 3 else "calm") for t in times]


def written(folder: Path, *changes: tuple[str, str], rows: Any = None) -> Path:
    lines = [f"{t.isoformat()},{state}" for t, state in (recorded(672) if rows is None else rows)]
    return put(folder, {"ward.toml": changed(FILE, *changes), "ward.csv": "\n".join(["time,state", *lines, ""])})


def frameworks(path: Path) -> list[Any]:
    file = load(path)
    parts = [file.kind.part(file, item) for item in file.items]
    return [file.kind.framework_about(part, imagined(part)) for part in parts]


@pytest.mark.parametrize(("name", "by", "cells"), [
    ("7", "hour", [7]), ("22-06", "hour", [22, 23, *range(7)]), ("00-02, 5,23", "hour", [0, 1, 2, 5, 23]),
    ("Monday-Friday", "weekday", [0, 1, 2, 3, 4]), ("sat-sun", "weekday", [5, 6]), ("Sun-Mon", "weekday", [6, 0]),
])  # fmt: skip
def test_a_key_names_cells(name: str, by: str, cells: list[int]) -> None:
    assert list(cells_of(name, by)) == cells


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("step", "start", "zone"), [
    ("30min", "2026-01-07T15:30:00", ""), ("1h", "2026-01-10", ""), ("6h", "2026-01-05T03:00:00", ""),
    ("1d", "2026-01-06", ""), ("1h", "2026-01-10", 'timezone = "Asia/Kolkata"\n'),
    ("1h", "2026-01-10", 'timezone = "Europe/Berlin"\n'), ("90min", "2026-01-05T01:30:00", ""),
    ("1h", "2026-03-29T04:00:00", 'timezone = "Europe/Berlin"\n'),  # an hour after clocks were changed
])  # fmt: skip
@pytest.mark.parametrize("by", ["hour", "weekday"])
def test_cells_are_those_of_the_clock(tmp_path: Path, by: str, step: str, start: str, zone: str) -> None:
    cells = 24 if by == "hour" else 7
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    names = [f"{n:02}" if by == "hour" else days[n] for n in range(cells)]
    matrices = "\n".join(f"{name} = [[{1 - n / 100:.2f}, {n / 100}], [0.5, 0.5]]" for n, name in enumerate(names))
    changes = [
        ('step = "1h"', f'step = "{step}"\n{zone}'), ('"2026-01-05"', f'"{start}"'), (BY_HOUR[0], matrices + "\n"),
        ('every = "week"', ""), (BY_HOUR[1], f'matrix_by = "{by}"'),
    ]  # fmt: skip
    length = {"30min": 0.5, "1h": 1, "6h": 6, "1d": 24, "90min": 1.5}[step]
    last = datetime.fromisoformat(start) + timedelta(hours=length * 40)
    changes.append(("until = 2026-02-02", f'until = "{last.isoformat()}"'))
    chain = load(written(tmp_path, *changes)).belief
    for place in range(60):
        wall = datetime.fromisoformat(start) + timedelta(hours=length * place)  # as clocks show it
        cell = wall.hour if by == "hour" else wall.weekday()
        assert chain.step_matrices[place % chain.period][0, 1] == pytest.approx(cell / 100)


def test_stays_of_each_hour_are_matrices_in_words(tmp_path: Path) -> None:
    words = '[belief.mean_durations]\n22-06 = { calm = "20 h", busy = "100 min" }\n'
    words += '07-21 = { calm = "5 h", busy = "200 min" }\n'
    matrices = load(written(tmp_path)).belief
    stays = load(written(tmp_path, (MATRICES, words))).belief
    assert stays.step_matrices == pytest.approx(matrices.step_matrices)


def test_a_calendar_whose_start_moves_has_the_same_chain(tmp_path: Path) -> None:
    one = frameworks(written(tmp_path))[1]
    later = frameworks(written(tmp_path, ('"2026-01-05"', '"2026-01-09T05:00:00"')))[0]
    assert one.fingerprint() == later.fingerprint()


@pytest.mark.parametrize(("zone", "clock"), [
    ("", "on clocks as written in the table"), ('timezone = "UTC"\n', "in UTC"),
    ('timezone = "Asia/Kolkata"\n', "on clocks in Asia/Kolkata"),
])  # fmt: skip
def test_the_clock_of_the_matrices_is_that_of_the_table(zone: str, clock: str, tmp_path: Path) -> None:
    """A certificate said 'in UTC' of times that name no zone, and a line later that no zone is declared."""
    file = load(written(tmp_path, ('step = "1h"\n', f'step = "1h"\n{zone}')))
    said = [fact.text for fact in file.kind.assumptions(file) if isinstance(fact, Assumption)]
    assert f"Each step follows the matrix of the hour, {clock}, in which it starts." in said


@pytest.mark.slow
def test_weeks_cost_one_week_and_the_certificate_says_what_is_believed(tmp_path: Path) -> None:
    path = written(tmp_path)
    about = frameworks(path)
    assert len({framework.fingerprint() for framework in about}) == 1
    tf.release_file(path)
    assert_says(
        tmp_path / "out" / "busy-2026-W03.certificate.txt", "2 matrices in a period of 24 steps",
        "Each step follows the matrix of the hour, on clocks as written in the table, in which it starts",
        "Hour 22-06: on average 'calm' lasts about 20 hours at a time, 'busy' about 100 minutes.",
        "Hour 07-21: on average 'calm' lasts about 5 hours",
    )  # fmt: skip
    assert_says(tmp_path / "out" / "busy-2026-W03.certificate.json", "periodic-chain")
    costs = [float(row.epsilon) for row in outlook(load(path), 12).rows]
    assert costs == [costs[0]] * len(costs)
    assert 0 < costs[0] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("matrices", "by", "is_said"), [
    ("hour", "hour", False), ("hour", "weekday", True), ("weekday", "hour", True), ("weekday", "weekday", False),
])  # fmt: skip
def test_a_table_by_cells_is_at_odds_with_matrices_of_other_cells(
    tmp_path: Path, matrices: str, by: str, is_said: bool
) -> None:
    changes = {"hour": (), "weekday": BY_WEEKDAY}[matrices]
    path = written(tmp_path, *changes, ('every = "week"', f'window = "2026-W03"\nby = "{by}"'))
    tf.release_file(path, allow_useless=True)
    assumptions = json.loads((tmp_path / "out" / "busy.certificate.json").read_text(encoding="utf-8"))["assumptions"]
    checks = [line["text"] for line in assumptions if line["kind"] == "check"]
    said = f"The model treats all {by}s alike, but this table compares them."
    assert checks == [said] * is_said


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("changes", "message"), [
    ([("22-06", "22-05")], "belief.matrices: no matrix is that of 06"),
    ([("22-06", "21-06")], "belief.matrices.07-21: 21 is in '21-06' and in '07-21'"),
    ([("22-06", "22-24")], "belief.matrices.22-24: '22-24' names '24', which is no hour"),
    ([("22-06", "night")], "belief.matrices.night: 'night' names 'night', which is no hour"),
    ([("22-06", "22-01-06")], "belief.matrices.22-01-06: '22-01-06' has more than two ends"),
    ([(BY_HOUR[1], 'matrix_by = "weekday"')], "belief.matrices.22-06: '22-06' names '22', which is no weekday"),
    ([("[[0.8, 0.2]", "[[0.8, 0.1]")], "belief.matrices.07-21: the probabilities of row 0 of the matrix sum to 0.9"),
    ([("[[0.8, 0.2], [0.3, 0.7]]", "[[1.0]]")], "belief.matrices.07-21: there are 1 rows of the matrix and 2 states"),
    ([(BY_HOUR[1] + "\n", "")], "belief.matrix_by: is missing"),
    ([(BY_HOUR[1], BY_HOUR[1] + "\nmatrix = [[0.9, 0.1], [0.4, 0.6]]")], "belief.matrix: is given beside matrices"),
    ([(MATRICES, "")], "belief.matrices: is missing"),
    ([(MATRICES, ""), (BY_HOUR[1], BY_HOUR[1] + "\nmatrix = [[0.9, 0.1], [0.4, 0.6]]")],
     "belief.matrix: is one for all steps"),
    ([(MATRICES, ""), (BY_HOUR[1], BY_HOUR[1] + '\nfit = {file = "w.csv", confidence = 0.9}'),
      ], "belief.fit.confidence: is that of one matrix"),
    ([('from = "2026-01-05"\nuntil = 2026-02-02\n', ""), ('every = "week"', "")], "belief.matrix_by: needs a declared"),
    ([('step = "1h"', "step = 1"), ('"2026-01-05"', "0"), ("2026-02-02", "672"), ('every = "week"', "")],
     "belief.matrix_by: steps are numbers"),
    ([('step = "1h"', 'step = "1s"'), (BY_HOUR[0], "Mon-Sun = [[0.5, 0.5], [0.5, 0.5]]\n"),
      (BY_HOUR[1], 'matrix_by = "weekday"')], "belief.matrix_by: the matrices are the same again after 604,800 steps"),
    ([('step = "1h"', 'step = "1h"\ntimezone = "Europe/Berlin"'), ("until = 2026-02-02\n", "")],
     "belief.matrix_by: clocks in Europe/Berlin are changed inside the calendar, about 2026-03-2"),
    ([("matrix_by = \"hour\"", 'matrix_by = "minute"')], "belief.matrix_by"),
    ([(MATRICES, '[belief.mean_durations]\n22-06 = { calm = "8 h" }\n07-21 = { calm = 3, busy = "10 min" }\n')],
     "belief.mean_durations.07-21.busy: '10 min' is shorter than one step"),
    ([(MATRICES, '[belief.mean_durations]\n22-06 = { calm = "8 h" }\n07-21 = { calm = 3, busy = "2 h" }\n')],
     "belief.mean_durations.22-06: does not say how long 'busy' lasts"),
    ([(MATRICES, "[belief.mean_durations]\n22-06 = { calm = 8, busy = 2 }\n")],
     "belief.mean_durations: no matrix is that of 07, 08, 09, 10 and 11 more"),
    ([(MATRICES, "[belief.mean_durations]\n00-23 = { calm = 8, busy = 2 }\n"), (BY_HOUR[1] + "\n", "")],
     "belief.matrix_by: is missing"),
])  # fmt: skip
def test_what_is_wrong_is_told_at_its_key(tmp_path: Path, changes: Any, message: str) -> None:
    path = written(tmp_path, *changes)
    (tmp_path / "w.csv").write_text("time,state\n", encoding="utf-8")
    assert message in str(refusal_of(path))
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize(("zone", "windows", "last", "words"), [
    ("Europe/Berlin", 52, 11, "before clocks in Europe/Berlin are changed, about 2026-03-29: later windows"),
    ("Europe/Berlin", 11, 11, ""), ("Asia/Kolkata", 52, 52, ""),
])  # fmt: skip
def test_a_plan_ends_before_hours_become_others(
    tmp_path: Path, zone: str, windows: int, last: int, words: str
) -> None:
    """It said that a year costs what a week does; the first week in summer is charged a change of all winter weeks."""
    path = written(tmp_path, ('step = "1h"', f'step = "1h"\ntimezone = "{zone}"'))
    ahead = outlook(load(path), windows)
    assert ahead.rows[-1].releases == last
    assert words in ahead.ends
    assert bool(ahead.ends) == (last < windows)


@pytest.mark.parametrize(("name", "keys", "rows", "words"), [
    ("copy.csv", "", None, "belief.fit.file"),  # the private rows
    ("public.csv", "smoothing = 0\n", "time,state\n2025-01-01T00:00:00,calm\n",
     "in the hour 00 no transition out of state 'calm' was seen"),
])  # fmt: skip
def test_a_fit_to_private_data_or_no_row_is_refused(
    tmp_path: Path, name: str, keys: str, rows: str | None, words: str
) -> None:
    path = written(tmp_path, (MATRICES, f'[belief.fit]\nfile = "{name}"\n{keys}'))
    (tmp_path / name).write_text(rows or (tmp_path / "ward.csv").read_text())
    assert words in str(refusal_of(path))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("changes", "different"), [
    pytest.param((("every = \"week\"", "every = \"day\""),), 1, id="all days have the same hours"),
    pytest.param(
        ((MATRICES, ""), ('matrix_by = "hour"', "matrix = [[0.9, 0.1], [0.4, 0.6]]"),
         ('from = "2026-01-05"\nuntil = 2026-02-02', 'from = "2026-01-01"\nuntil = 2026-04-01'),
         ('every = "week"', 'every = "month"')), 2, id="months of 31 and of 28 days"),
    pytest.param(
        (('matrix_by = "hour"', 'matrix_by = "weekday"'), (BY_HOUR[0], "monday = [[0.95, 0.05], [0.6, 0.4]]\n"
         '"tuesday-sunday" = [[0.8, 0.2], [0.3, 0.7]]\n'), ('every = "week"', 'every = "day"')), 7,
        id="each weekday starts elsewhere in the week"),
])  # fmt: skip
def test_windows_share_noise_exactly_where_beliefs_are_the_same(
    tmp_path: Path, changes: Changes, different: int
) -> None:
    file = load(written(tmp_path, *changes))
    planned = calibrated(file)
    noises = {id(one): one for table in planned.tables for one in table.calibrations}
    assert len(noises) == different
    assert len({one.framework.fingerprint() for one in noises.values()}) == different
    for table in planned.tables[::4]:  # of the days of four weeks each weekday once
        (question,) = table.questions
        alone = calibrated(file.only([table.item])).tables[0].questions[0].calibration
        assert question.calibration.randomiser.scale == alone.randomiser.scale
        assert [one.framework.fingerprint() for one in question.readers.values()] == [alone.framework.fingerprint()]

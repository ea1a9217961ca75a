"""Clocks that are changed: days and weeks are local, steps are in UTC, and sums of unequal cells are told."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pandas
import pytest
from tests.support.release_files import believe, changed, publish, read_from, release_text
from tests.support.releases import put, refused

from takifugu.accounting.ledger import Ledger
from takifugu.data import Slots
from takifugu.data.times.calendar import Calendar
from takifugu.data.times.zones import Zone
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.sequences.cells import unequal_cells
from takifugu.releasing.publishing.run import release_file

WEEKLY = release_text(
    read_from("ward", "ward.csv", value="state", order="time", step="{step}", from_="{start}", until="{stop}",
              timezone="{zone}", budget=2.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="group-dp", every="{every}"),
    output="out",
)  # fmt: skip
#: A zone, the first and last local day of a recording around a change of its clocks, and a step in minutes.
CHANGES = [
    ("Europe/Berlin", date(2026, 3, 23), date(2026, 4, 6), 60),
    ("Europe/Berlin", date(2026, 10, 19), date(2026, 11, 2), 60),
    ("America/New_York", date(2026, 3, 2), date(2026, 3, 16), 60),
    ("America/New_York", date(2026, 10, 26), date(2026, 11, 9), 30),
    ("Australia/Lord_Howe", date(2026, 3, 30), date(2026, 4, 13), 30),
    ("Australia/Lord_Howe", date(2026, 9, 28), date(2026, 10, 12), 30),
]


def recorded(zone: str, first: date, last: date, minutes: int) -> list[tuple[datetime, str]]:
    """Return every step of some local days, as clocks show it, with its state."""
    local, rows = ZoneInfo(zone), []
    at = datetime(first.year, first.month, first.day, tzinfo=UTC) - timedelta(days=2)
    while (clock := at.astimezone(local)).date() < last:
        if clock.date() >= first:
            rows.append((clock, "busy" if len(rows) * len(rows) % 7 < 3 else "calm"))
        at += timedelta(minutes=minutes)
    return rows


def write_rows(folder: Path, rows: list[tuple[datetime, str]]) -> None:
    lines = [f"{time.isoformat()},{state}" for time, state in rows]
    (folder / "ward.csv").write_text("\n".join(["time,state", *lines]), encoding="utf-8")


def weekly(folder: Path, change: tuple[str, date, date, int], every: str = "day") -> Path:
    zone, first, last, minutes = change
    values = {"step": f"{minutes}min", "start": first, "stop": last, "zone": zone, "every": every}
    return put(folder, {"ward.toml": WEEKLY.format(**values)})


def windows_of(path: Path, data: Any = None) -> dict[str, tuple[int, int]]:
    """Return how many steps each window has, and how many of them are busy."""
    file, counts = load(path, data), {}
    for item in file.items:
        (unit,) = file.kind.units(file.kind.part(file, item))
        counts[item.name] = int(unit.data.lengths[unit.number]), int(unit.data.counts[unit.number, 1])
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=[f"{zone} {day}" for zone, day, *_ in CHANGES])
def test_days_and_weeks_are_those_of_clocks(tmp_path: Path, change: tuple[str, date, date, int]) -> None:
    rows = recorded(*change)
    write_rows(tmp_path, rows)
    days = Counter(f"busy-{time:%Y-%m-%d}" for time, _ in rows)
    busy = Counter(f"busy-{time:%Y-%m-%d}" for time, state in rows if state == "busy")
    assert windows_of(weekly(tmp_path, change)) == {day: (steps, busy[day]) for day, steps in days.items()}
    weeks = Counter("busy-{}-W{:02}".format(*time.isocalendar()[:2]) for time, _ in rows)
    assert set(weeks.values()) != {168 * 60 // change[3]}
    busy = Counter("busy-{}-W{:02}".format(*time.isocalendar()[:2]) for time, state in rows if state == "busy")
    path, counts = weekly(tmp_path, change, "week"), {week: (steps, busy[week]) for week, steps in weeks.items()}
    times, states = zip(*rows, strict=True)
    assert windows_of(path) == counts
    assert windows_of(path, pandas.DataFrame({"time": pandas.to_datetime(times, utc=True), "state": states})) == counts


@pytest.mark.mutants
@pytest.mark.parametrize(("query", "is_told"), [
    ('"count"\nstates = ["busy"]', True), ('"mean"\ncodes = {busy = 1, calm = 0}\ngrid = 0.01', False),
    ('"mode"', False),
])  # fmt: skip
def test_hours_that_are_shown_twice_have_larger_sums_and_the_certificate_says_so(
    tmp_path: Path, query: str, is_told: bool
) -> None:
    write_rows(tmp_path, recorded(*CHANGES[1]))
    path = weekly(tmp_path, CHANGES[1], "week")
    changes = [('"count"\nstates = ["busy"]', query + '\nby = "hour"'), ("[source]", '[source]\ngaps = "public"')]
    path.write_text(changed(path.read_text(encoding="utf-8"), *changes))
    (table,) = release_file(path, window="2026-W43", allow_useless=True).tables
    assert table.certificate is not None
    told = "The window has 8 steps in '02' and 7 in '00': a sum is larger where there are more of them."
    assert (told in [assumption.text for assumption in table.certificate.assumptions]) == is_told


@pytest.mark.parametrize(("first", "last", "axes", "words"), [
    ("2026-01-05", "2026-01-12", ("hour",), None), ("2026-01-05", "2026-01-12", ("weekday", "hour"), None),
    ("2026-01-01", "2026-02-01", ("weekday",), "The window has 120 steps in 'Thursday' and 96 in 'Monday'"),
    ("2026-01-01", "2026-03-01", ("month",), "The window has 744 steps in '2026-01' and 672 in '2026-02'"),
    ("2026-03-23", "2026-03-30", ("hour",), "The window has 7 steps in '00' and 6 in '02'"),
])  # fmt: skip
def test_cells_of_unequal_lengths_are_told(first: str, last: str, axes: tuple[str, ...], words: str | None) -> None:
    calendar = Calendar.read(first, last, timedelta(hours=1), Zone("Europe/Berlin"))
    told = [check.text.partition(":")[0] for check in unequal_cells(Slots(calendar, range(calendar.size or 0), axes))]
    assert told == ([] if words is None else [words])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("change", "words"), [
    (("timezone = ", "# "), "source.timezone: order holds moments (times with an offset from UTC, or Z)"),
    (('order = "time"', 'order = "left(time, 16)"'), "source.timezone: order holds times without an offset"),
    (('step = "60min"', 'step = "1d"'), "source.timezone: steps of 1 day do not fit clocks in 'Europe/Berlin'"),
    (("from = ", 'from = "2026-10-25T02:00"  # '), "source.from: is 2026-10-25 02:00:00, a time that clocks in"),
    (('"2026-11-02"', '"2026-10-25T02:30"'), "source.until: is 2026-10-25 02:30:00, a time that clocks in"),
    (('every = "day"', 'from = "2026-10-25T02:00"\nto = "2026-10-26"'), "table[0].from: is 2026-10-25 02:00:00"),
    (('every = "day"', 'window = "2026-W45"'), "table[0].window: the window 2026-W45 is not inside the calendar"),
    (('"2026-11-02"', '"2026-10-26"'), "source.until: row 170 and 167 more: a row that is before from"),
])  # fmt: skip
def test_what_is_refused_spends_nothing(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    write_rows(tmp_path, recorded(*CHANGES[1]))
    path = weekly(tmp_path, CHANGES[1])
    path.write_text(changed(path.read_text(encoding="utf-8"), change), encoding="utf-8")
    Ledger.open(tmp_path / "ledger.db")
    assert words in str(refused(path))

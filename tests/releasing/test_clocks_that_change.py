"""Clocks that are changed: days and weeks are local, steps are in UTC, and `ambiguous` reads an hour shown twice."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.support.engines import ENGINES, IN_ROWS, Columns
from tests.support.release_files import Changes, believe, changed, publish, read_from, release_text
from tests.support.releases import put, refusal_of, refused

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import SpecError
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.outlook import outlook
from takifugu.releasing.publishing.run import release_file

WEEKLY = release_text(
    read_from("ward", "ward.csv", value="state", order="time", step="{step}", from_="{start}", until="{stop}",
              timezone="{zone}", duplicates="refuse", budget=2.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="group", every="{every}"),
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
    lines = [f"{time.replace(tzinfo=None).isoformat()},{state}" for time, state in rows]
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
        counts[item.name] = unit.data[0].length, int(unit.data[0].counts[1])
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
    states = ("text", [state for _, state in rows])
    naive: Columns = {"time": ("time", [time.replace(tzinfo=None) for time, _ in rows]), "state": states}
    texts: Columns = {"time": ("text", [time.isoformat() for time, _ in rows]), "state": states}
    path = weekly(tmp_path, change, "week")
    for name in ENGINES:
        for columns in (naive, texts):
            if name in IN_ROWS or columns is texts:  # its rows have no order, so two passes cannot be told apart
                counts = windows_of(path, ENGINES[name](columns))
                assert counts == {week: (steps, busy[week]) for week, steps in weeks.items()}, name


@pytest.mark.slow
def test_a_week_with_a_change_is_published_and_says_whose_clocks_it_means(tmp_path: Path) -> None:
    write_rows(tmp_path, recorded(*CHANGES[1]))
    (table,) = release_file(weekly(tmp_path, CHANGES[1], "week"), window="2026-W43", anyway=True).tables
    assert table.certificate is not None
    page = " ".join(table.certificate.text().split())
    assert "the window is 2026-10-19 to 2026-10-26, to the end not included" in page
    assert "by clocks in Europe/Berlin" in page


@pytest.mark.slow
def test_a_calendar_is_planned_before_there_is_a_file(tmp_path: Path) -> None:
    path = weekly(tmp_path, CHANGES[0], "week")
    assert not (tmp_path / "ward.csv").exists()
    assert outlook(load(path), 52).rows[-1].releases == 52
    assert outlook(load(path, window="2026-W13"), 2).windows[0][1] == 167
    assert sorted(file.name for file in tmp_path.iterdir()) == ["ward.toml"]


@pytest.mark.parametrize(("change", "words"), [
    (("timezone = ", "# "), "source.order: column 'time' has ties within one recording: two rows cannot be in"),
    (('step = "60min"', 'step = "1d"'), "source.timezone: steps of 1 day do not fit clocks in 'Europe/Berlin'"),
    (("from = ", 'from = "2026-10-25T02:00"  # '), "source.from: is 2026-10-25 02:00:00, a time that clocks in"),
    (('"2026-11-02"', '"2026-10-25T02:30"'), "source.until: is 2026-10-25 02:30:00, a time that clocks in"),
    (('every = "day"', 'from = "2026-10-25T02:00"\nto = "2026-10-26"'), "table[0].from: is 2026-10-25 02:00:00"),
    (('every = "day"', 'window = "2026-W45"'), "table[0].window: the window 2026-W45 is not inside the calendar"),
    (('"2026-11-02"', '"2026-10-26"'), "source.from: column 'time' has rows outside the declared calendar"),
])  # fmt: skip
def test_what_is_refused_spends_nothing(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    write_rows(tmp_path, recorded(*CHANGES[1]))
    path = weekly(tmp_path, CHANGES[1])
    path.write_text(changed(path.read_text(encoding="utf-8"), change), encoding="utf-8")
    Ledger.open(tmp_path / "ledger.db").source("other", 1)
    assert words in str(refused(path))


def test_everything_else_says_that_the_file_is_missing(tmp_path: Path) -> None:
    refusal = refused(weekly(tmp_path, CHANGES[0], "week"), kind=SpecError)
    assert "source.file: ward.csv cannot be read (no such file or directory)" in str(refusal)


FILE = release_text(
    read_from("ward", "ward.csv", value="state", unit="ward", order="time", step="{step}", from_="2026-10-19",
              until="2026-11-02", timezone="Europe/Berlin", budget=100) + "\n{keys}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="group") + "\n{window}",
    output="out",
)  # fmt: skip
NIGHT = 'window = "2026-10-25"'
BEFORE, AFTER = 'window = "2026-10-24"', 'window = "2026-10-26"'
#: Half hours of the repeated hour: of the first pass, and of the second one.
FIRST, SECOND = (
    'from = "2026-10-25T02:00:00+02:00"\nto = "2026-10-25T02:00:00+01:00"',
    ('from = "2026-10-25T02:00:00+01:00"\nto = "2026-10-25T03:00"'),
)
CLEAR_ENDS = [
    'from = "2026-10-25T01:00"\nto = "2026-10-25T02:00:00+02:00"',
    'from = "2026-10-25T03:00"\nto = "2026-10-25T05:00"',
]


def written(folder: Path, keys: str = "", window: str = NIGHT, step: str = "30min") -> Path:
    return put(folder, {"ward.toml": FILE.format(keys=keys, window=window, step=step)})


def days(passes: int = 1, minutes: int = 30) -> list[tuple[datetime, str]]:
    """Return rows of three days by the clock, with the repeated hour so often; busy in it and from 08:00 to 10:00."""
    rows = []
    at = datetime(2026, 10, 24)
    while at < datetime(2026, 10, 27):
        rows.append((at, "busy" if at.hour in (8, 9) or (at.day, at.hour) == (25, 2) else "calm"))
        at += timedelta(minutes=minutes)
    after = next(i for i, (at, _) in enumerate(rows) if at == datetime(2026, 10, 25, 3))
    repeated = [row for row in rows if (row[0].day, row[0].hour) == (25, 2)]
    return rows[:after] + repeated * (passes - 1) + rows[after:]


def columns(rows: list[tuple[datetime, str]], kind: str = "time") -> Columns:
    """Return the rows as those of two units, not piece by piece."""
    both = [(ward, *row) for row in rows for ward in ("N", "S")]
    times: list[Any] = [at if kind == "time" else at.isoformat() for _, at, _ in both]
    return {"ward": ("text", [w for w, _, _ in both]), "time": (kind, times), "state": ("text", [s for *_, s in both])}


def as_csv(folder: Path, rows: list[tuple[datetime, str]]) -> None:
    lines = [f"{ward},{at.isoformat()},{state}" for at, state in rows for ward in ("N", "S")]
    (folder / "ward.csv").write_text("\n".join(["ward,time,state", *lines]), encoding="utf-8")


def read(path: Path, data: Any = None) -> list[tuple[int, int]]:
    """Return how many steps the window has for each unit, and how many of them are busy."""
    file = load(path, data)
    units = file.kind.units(file.kind.part(file, file.items[0]))
    return [(unit.data[0].length, int(unit.data[0].counts[1])) for unit in units]


#: What each ward has in windows without the hour, and right beside it: how many steps, and how many are busy.
CLEAR = {BEFORE: (48, 4), AFTER: (48, 4), **dict(zip(CLEAR_ENDS, ((2, 0), (4, 0)), strict=True))}


@pytest.mark.slow
@pytest.mark.parametrize(("passes", "engines"), [(3, [*ENGINES]), (1, ["duckdb"])])
def test_windows_without_the_hour_need_no_rule_for_it(tmp_path: Path, passes: int, engines: list[str]) -> None:
    """No order of rows says which of three passes is which, and rows without an order say it of no row."""
    rows = columns(days(passes))
    as_csv(tmp_path, days(passes))
    for window, counted in CLEAR.items():
        path = written(tmp_path, window=window)
        assert read(path) == [counted] * 2, window
        for name in engines:
            assert read(path, ENGINES[name](rows)) == [counted] * 2, (name, window)
    for window in (NIGHT, FIRST, SECOND):
        path = written(tmp_path, window=window)
        for name in engines:
            with pytest.raises(tf.TakifuguError, match="the rows does not tell which") as caught:
                read(path, ENGINES[name](rows))
            assert 'ambiguous = "first" or "last", or "drop"' in str(caught.value)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", ["time", "text"])
@pytest.mark.parametrize(
    ("rule", "night", "first", "second"), [("first", 6, 2, 0), ("last", 6, 0, 2), ("drop", 4, 0, 0)]
)
def test_rows_of_the_hour_are_read_by_the_rule(
    tmp_path: Path, rule: str, night: int, first: int, second: int, kind: str
) -> None:
    as_csv(tmp_path, days(1))
    for window, steps, busy in ((FIRST, 2, first), (SECOND, 2, second), (AFTER, 48, 4), (NIGHT, 50, night)):
        path = written(tmp_path, f'ambiguous = "{rule}"', window)
        assert read(path) == [(steps, busy)] * 2, window
    for name, engine in ENGINES.items():
        assert read(path, engine(columns(days(1), kind))) == [(50, night)] * 2, name


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "last", "drop"])
def test_rows_that_tell_their_offset_need_no_rule(tmp_path: Path, rule: str) -> None:
    rows = [f"N,2026-10-25T02:{minute}:00+0{ahead}:00,busy" for ahead in (2, 1) for minute in ("00", "30")]
    (tmp_path / "ward.csv").write_text("\n".join(["ward,time,state", *rows]), encoding="utf-8")
    for window in (FIRST, SECOND):
        assert read(written(tmp_path, f'ambiguous = "{rule}"', window)) == [(2, 2)]


@pytest.mark.slow
def test_two_rows_that_a_rule_puts_into_one_step_are_two_rows_in_one_step(tmp_path: Path) -> None:
    as_csv(tmp_path, days(2))
    assert read(written(tmp_path)) == [(50, 8)] * 2  # the order of the rows tells
    for rule in ("first", "last"):
        with pytest.raises(tf.TakifuguError, match="has ties within one recording"):
            read(written(tmp_path, f'ambiguous = "{rule}"'))
        assert read(written(tmp_path, f'ambiguous = "{rule}"\nduplicates = "first"')) == [(50, 6)] * 2
    assert read(written(tmp_path, 'ambiguous = "drop"')) == [(50, 4)] * 2


@pytest.mark.parametrize(("changes", "words"), [
    ((("{keys}", 'ambiguous = "earliest"'),), "source.ambiguous: is 'earliest'"),
    ((("{keys}", "ambiguous = true"),), "source.ambiguous:"),
    ((("{keys}", 'ambiguous = "first"'), ('timezone = "Europe/Berlin"', "")),
     "source.ambiguous: ambiguous is 'first' and no time zone is declared"),
    ((("{keys}", 'ambiguous = "drop"'), ('step = "{step}"', ""), ("{window}", ""),
      ('from = "2026-10-19"\nuntil = "2026-11-02"', "")),
     "source.ambiguous: ambiguous is 'drop' and no step is declared"),
])  # fmt: skip
def test_a_rule_that_there_is_not_is_refused(tmp_path: Path, changes: Changes, words: str) -> None:
    as_csv(tmp_path, days(1))
    text = changed(FILE, *changes).replace("{step}", "30min").replace("{window}", NIGHT).replace("{keys}", "")
    (tmp_path / "ward.toml").write_text(text, encoding="utf-8")
    caught = refusal_of(tmp_path / "ward.toml")
    line = next(line for line in caught.problems if line.startswith("source.ambiguous"))
    assert line.startswith(words), line
    fixes = ('"first" or "last" or "drop"', 'timezone = "Europe/Berlin"', 'step = "1h"')
    assert any(fix in line for fix in fixes), line


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "words"), [
    ("first", "a time that clocks showed twice is that of the first pass, unless its row tells the offset"),
    ("last", "a time that clocks showed twice is that of the last pass"),
    ("drop", "rows at a time that clocks showed twice are left out, and nothing is promised about them"),
])  # fmt: skip
def test_the_certificate_says_how_the_hour_is_read(tmp_path: Path, rule: str, words: str) -> None:
    as_csv(tmp_path, days(1))
    (table,) = tf.release_file(written(tmp_path, f'ambiguous = "{rule}"'), anyway=True).tables
    assert words in " ".join(table.certificate.text().split())


@pytest.mark.slow
def test_another_rule_is_another_reading_of_the_source(tmp_path: Path) -> None:
    as_csv(tmp_path, days(1))

    def spent(rule: str, window: str, **answer: bool) -> float:
        path = written(tmp_path, f'ambiguous = "{rule}"', window)
        path.write_text(path.read_text(encoding="utf-8").replace('name = "busy"', f'name = "busy-{rule}"'))
        tf.release_file(path, anyway=True, **answer)  # type: ignore[arg-type]
        return float(Ledger.open(tmp_path / "ledger.db").spent("ward").spent.epsilon)

    alone = spent("first", BEFORE)
    path = written(tmp_path, 'ambiguous = "last"', AFTER)
    assert any("ambiguous" in notice for notice in tf.open_study(path).compare().notices)
    assert spent("last", AFTER, same_entries=False) >= 2 * alone

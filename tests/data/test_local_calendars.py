"""Calendars by clocks that are changed, and their cells, against the standard library step by step."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cell_oracles

from takifugu.core.errors import InputError
from takifugu.data import Calendar, Slots, Zone, axes_of, parse_step
from takifugu.data.times.cells import AXES

#: A zone, the first and last local day of a recording around a change of its clocks, and a step in minutes.
CHANGES = [
    ("Europe/Berlin", date(2026, 3, 23), date(2026, 4, 6), 60),
    ("Europe/Berlin", date(2026, 10, 19), date(2026, 11, 2), 60),
    ("America/New_York", date(2026, 3, 2), date(2026, 3, 16), 60),
    ("America/New_York", date(2026, 10, 26), date(2026, 11, 9), 20),
    ("Australia/Lord_Howe", date(2026, 3, 30), date(2026, 4, 13), 30),
    ("Australia/Lord_Howe", date(2026, 9, 28), date(2026, 10, 12), 15),
    ("Asia/Kolkata", date(2026, 3, 30), date(2026, 4, 13), 60),
    ("America/Sao_Paulo", date(2018, 10, 29), date(2018, 11, 12), 60),  # clocks skipped midnight
    ("America/Havana", date(2026, 10, 26), date(2026, 11, 9), 60),  # they show midnight twice
]


def steps(zone: str, first: date, last: date, minutes: int) -> list[datetime]:
    """Return every step of some local days, as clocks show it; aware, so that what is shown twice differs."""
    local = ZoneInfo(zone)
    at = datetime(first.year, first.month, first.day, tzinfo=UTC) - timedelta(days=2)
    times = []
    while at.astimezone(local).date() < first:
        at += timedelta(minutes=15)
    while (clock := at.astimezone(local)).date() < last:
        times.append(clock)
        at += timedelta(minutes=minutes)
    return times


def read(zone: str, first: date, last: date | None, minutes: int) -> Calendar:
    return Calendar.read(first, last, timedelta(minutes=minutes), Zone(zone))


def cells(calendar: Calendar, kind: str, window: range) -> tuple[tuple[str, ...], Any]:
    """Return the names of the cells of a window, and the number of each step's."""
    slots = Slots(calendar, window, axes_of(kind, calendar))
    numbers, which = slots.cells
    return tuple(map(slots.label, numbers.tolist())), which


def named(clock: datetime) -> Iterator[tuple[str, str, str]]:
    """Yield what each kind of cell and period calls the step that starts at a time."""
    year, week, _ = clock.isocalendar()
    yield "hour", "", f"{clock:%H}"
    yield "weekday", "", f"{clock:%A}"
    yield "date", "day", f"{clock:%Y-%m-%d}"
    yield "week", "week", f"{year}-W{week:02}"
    yield "month", "month", f"{clock:%Y-%m}"


@pytest.mark.sampled(9)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change[0]} {change[1]}")
def test_windows_and_cells_are_those_of_clocks(change: tuple[str, date, date, int]) -> None:
    times, calendar = steps(*change), read(*change)
    assert calendar.size == len(times)
    assert calendar.moment_of(0) == times[0].timestamp() * 10**6
    wide = read(change[0], change[1] - timedelta(days=40), change[2] + timedelta(days=40), change[3])
    by_hour: dict[str, list[int]] = {}
    for place, clock in enumerate(times):
        by_hour.setdefault(f"{clock:%Y-%m-%dT%H}", []).append(place)
    assert {label: [*places] for label, places in calendar.periods("hour")} == by_hour
    assert {label: [*calendar.period(label)] for label in by_hour} == by_hour
    for number, (kind, period, _) in enumerate(named(times[0])):
        expected = [[*named(one)][number][2] for one in times]
        labels, cell = cells(calendar, kind, range(len(times)))
        assert [labels[k] for k in cell] == expected, kind
        assert sorted(set(expected)) == sorted(labels)
        middle = range(len(times) // 3, len(times) // 2)
        labels, cell = cells(calendar, kind, middle)
        assert [labels[k] for k in cell] == expected[middle.start : middle.stop], kind
        if period:
            for label in dict.fromkeys(expected) if period != "month" else ():
                places = calendar.period(label)
                assert [expected[k] for k in places] == [label] * expected.count(label), label
            whole = dict(wide.periods(period))
            assert all(len(places) == _steps_of(change[0], label, change[3]) for label, places in whole.items())
            assert len(whole) >= (12 if period == "week" else 2)


def _steps_of(zone: str, label: str, minutes: int) -> int:
    """Return how many steps a period has: the seconds between its ends, by the standard library."""
    if "W" in label:
        start = date.fromisocalendar(int(label[:4]), int(label[6:]), 1)
        end = start + timedelta(days=7)
    elif len(label) == 10:
        start = date.fromisoformat(label)
        end = start + timedelta(days=1)
    else:
        start = date(int(label[:4]), int(label[5:]), 1)
        end = (start + timedelta(days=31)).replace(day=1)
    local = ZoneInfo(zone)
    ends = [datetime(day.year, day.month, day.day, tzinfo=local).astimezone(UTC) for day in (start, end)]
    return int((ends[1] - ends[0]) / timedelta(minutes=minutes))


def test_hours_are_half_open_true_intervals_that_cover_all_time() -> None:
    """Also where clocks are set back over midnight: St. John's, at 00:01, to 23:01 of the day before."""
    calendar = read("America/St_Johns", date(2010, 11, 6), date(2010, 11, 8), 1)
    hours = [*calendar.periods("hour")]
    assert [place for _, places in hours for place in places] == [*range(calendar.size or 0)]
    assert [len(places) for _, places in hours[23:26]] == [60, 120, 60]
    berlin = read("Europe/Berlin", date(2026, 1, 5), None, 60)
    assert [len(berlin.period(f"2026-10-25T{hour:02}")) for hour in (1, 2, 3)] == [1, 2, 1]
    with pytest.raises(InputError, match="an hour that clocks in 'Europe/Berlin' skipped: write the hour before or"):
        berlin.period("2026-03-29T02")


@pytest.mark.parametrize(("minutes", "words"), [(60, "an hour, a day"), (15, "an hour"), (1440, "write a day, a")])
def test_the_message_for_an_unknown_window_names_hours_where_steps_are_no_longer(minutes: int, words: str) -> None:
    calendar = Calendar.read("2026-01-05", None, timedelta(minutes=minutes))
    with pytest.raises(InputError, match="the window is '2026-01-09T25'") as refused:
        calendar.period("2026-01-09T25")
    assert words in str(refused.value)
    assert ("2026-02-09T18" in str(refused.value)) is (minutes <= 60)


def test_a_window_is_written_by_the_clock() -> None:
    calendar = read("Europe/Berlin", date(2026, 1, 5), None, 60)
    assert calendar.written(calendar.period("2026-W43")) == "2026-10-19 to 2026-10-26"
    places = calendar.window("2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00")
    assert len(places) == 1
    assert calendar.written(places) == "2026-10-25T02:00:00+02:00 to 2026-10-25T02:00:00+01:00"
    assert calendar.window(*calendar.written(places).split(" to ")) == places


def test_what_a_place_means_to_a_ledger_does_not_depend_on_the_zone() -> None:
    local, utc = (
        read("Europe/Berlin", date(2026, 1, 5), None, 60),
        Calendar.read("2026-01-04T23:00", None, timedelta(hours=1)),
    )
    assert (local.at(7), local.moment_of(5000)) == (utc.at(7), utc.moment_of(5000))


@pytest.mark.parametrize(("step", "start", "stop", "words"), [
    ("1h", "2026-03-29T02:30", None, "from: is 2026-03-29 02:30:00, a time that clocks in 'Europe/Berlin' skipped"),
    ("1h", "2026-10-25T02:00", None, "from: is 2026-10-25 02:00:00, a time that clocks in 'Europe/Berlin' showed"),
    ("1h", "2026-01-05", "2026-10-25T02:00", "until: is 2026-10-25 02:00:00, a time that clocks"),
    ("1d", "2026-01-05", "2026-04-05", "timezone: steps of 1 day do not fit clocks in 'Europe/Berlin', which"),
    ("1d", "2026-01-05", None, "by 60 minutes on 2026-03-29"),
])  # fmt: skip
def test_times_that_clocks_do_not_tell_are_refused(step: str, start: str, stop: str | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Calendar.read(start, stop, parse_step(step), Zone("Europe/Berlin"))
    assert words in caught.value.line


def test_days_that_steps_do_not_divide_are_windows_by_from_and_to() -> None:
    """Nobody who wrote every = "day" had written a time that could be moved."""
    calendar = Calendar.read("2026-01-05", "2026-01-12", timedelta(minutes=7))
    for part in (lambda: list(calendar.periods("day")), lambda: calendar.period("2026-01-06")):
        with pytest.raises(InputError, match=r"starts or ends between two steps .* write from and to in its place"):
            part()
    assert len(calendar.window("2026-01-05T00:07", "2026-01-05T23:55")) == 204


@pytest.mark.parametrize(("zone", "first", "minutes", "fits"), [
    ("Australia/Lord_Howe", date(2026, 3, 30), 60, 30), ("Asia/Kathmandu", date(1985, 12, 30), 30, 15),
    ("Europe/Berlin", date(2026, 3, 23), 7, 1),
])  # fmt: skip
def test_steps_that_fit_no_change_of_clocks_are_refused_with_one_that_does(
    zone: str, first: date, minutes: int, fits: int
) -> None:
    """Of steps of 30 minutes, where clocks in Kathmandu moved by 15, it said to write 30 minutes."""
    last = first + timedelta(days=14)
    words = f'steps of .* do not fit clocks in {zone!r}, .* minutes on .*, such as step = "{fits}min"'
    with pytest.raises(InputError, match=words):
        read(zone, first, last, minutes)
    assert read(zone, first, last, fits).size


def test_a_calendar_without_a_change_fits_any_step() -> None:
    assert read("Australia/Lord_Howe", date(2026, 4, 6), date(2026, 9, 28), 60).size


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran"]),
    st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)),
)
def test_offsets_agree_with_the_standard_library(name: str, moment: datetime) -> None:
    zone, clock = Zone(name), moment.replace(tzinfo=UTC).astimezone(ZoneInfo(name))
    exact = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    offset = clock.utcoffset()
    assert offset is not None
    assert zone.offset(exact) == offset // timedelta(microseconds=1)
    wall = exact + zone.offset(exact)
    assert exact in zone.moments(wall)
    assert len(zone.moments(wall)) == 1 + (clock.replace(fold=0).utcoffset() != clock.replace(fold=1).utcoffset())


def test_a_calendar_of_too_many_windows_is_refused_before_they_are_counted() -> None:
    ages = Calendar.read("0001-01-01", "9999-12-31", timedelta(hours=1))
    for every in ("day", "week", "month"):
        with pytest.raises(InputError, match=f"more than 20,000 windows of a {every}: move until"):
            next(ages.periods(every))
    assert [name for name, _ in ages.periods("year")][::9997] == ["0001", "9998"]
    assert [name for name, _ in Calendar.read("9999-12-01", "9999-12-31", timedelta(hours=1)).periods("week")] == [
        "9999-W49", "9999-W50", "9999-W51",
    ]  # fmt: skip


@pytest.mark.parametrize(("zone", "first", "last", "minutes"), CHANGES)
def test_a_day_on_which_clocks_are_set_back_is_longest(zone: str, first: date, last: date, minutes: int) -> None:
    """A certificate said what a day of 24 hours costs where one of the window had 25."""
    days = Counter(clock.date() for clock in steps(zone, first, last, minutes))
    window = range(days.total())
    assert read(zone, first, last, minutes).most_steps_in(86_400, window) == max(days.values())


@pytest.mark.parametrize(("hours", "most"), [(1, 24), (5, 5), (7, 4), (24, 1), (36, 0)])
def test_a_day_has_a_step_more_where_steps_do_not_divide_it(hours: int, most: int) -> None:
    """A certificate said what 4 steps of 5 hours cost, and some days have 5."""
    calendar = Calendar.read("2026-01-05", None, timedelta(hours=hours))
    days = Counter((hours * place) // 24 for place in range(24))
    assert calendar.most_steps_in(86_400, range(24)) == most
    assert most == max(days.values()) or not most
    assert calendar.most_steps_in(86_400, range(2)) == min(most, 2)


ZONES = [None, "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]
STEPS = ["1s", "1min", "7min", "30min", "1h"]


@st.composite
def windows(draw: st.DrawFn) -> tuple[datetime, str, range, str | None]:
    """A calendar's start, its step, a window of it, and a zone; often where clocks change."""
    near = draw(st.sampled_from(["2025-03-30", "2025-10-26", "2026-03-08", "2024-12-30", "2011-12-29", "2024-02-29"]))
    start = datetime.fromisoformat(near) + timedelta(minutes=draw(st.integers(-3_000, 3_000)))
    first = draw(st.integers(0, 500))
    places = range(first, first + draw(st.integers(1, 300)))
    return start, draw(st.sampled_from(STEPS)), places, draw(st.sampled_from(ZONES))


axes = st.lists(st.sampled_from(list(AXES)), min_size=1, max_size=3, unique=True)


@settings(max_examples=80, deadline=None)
@given(windows(), axes)
def test_every_step_is_where_the_clock_says(window: Any, by: list[str]) -> None:
    start, step, places, zone = window
    length = parse_step(step)
    calendar = replace(Calendar.read(start, None, length), zone=None if zone is None else Zone(zone))
    slots = Slots(calendar, places, tuple(by))
    labels = cell_oracles.labels(start + places.start * length, length, len(places), by, zone)
    assert [slots.label(number) for number in slots.numbers.tolist()] == labels
    numbers, which = slots.cells
    assert [slots.label(int(numbers[place])) for place in which] == labels
    assert list(dict.fromkeys(labels)) == [slots.label(n) for n in dict.fromkeys(slots.numbers.tolist())]


@pytest.mark.parametrize(("step", "by", "words"), [
    ("1d", "hour", "and a step is 1 day: a cell is no shorter than a step; write one of ['weekday', 'date'"),
    ("1min", "houre", "did you mean 'hour'"),
    ("1min", ["hour", "hour"], "names 'hour' twice"),
    ("1min", [], "names nothing"),
    (1, "hour", "steps are numbers"),
])  # fmt: skip
def test_what_a_calendar_does_not_tell(step: Any, by: Any, words: str) -> None:
    start = 0 if step == 1 else "2026-01-05"
    with pytest.raises(InputError) as caught:
        axes_of(by, Calendar.read(start, None, parse_step(step)))
    assert words in str(caught.value)
    assert caught.value.where == ("by",)


def test_steps() -> None:
    assert [parse_step(step) for step in ("1min", "90s", "1h", "2d", 3)] == [
        timedelta(minutes=1), timedelta(seconds=90), timedelta(hours=1), timedelta(days=2), 3,
    ]  # fmt: skip
    wrong_texts = ("0", "3", "0min", "1 week", "-1min", "1.5h", "", "min", " 90 s ", "5sec")
    for wrong in (0, -1, 0.5, True, None, float("inf"), float("nan"), *wrong_texts):
        with pytest.raises(InputError, match="the step is"):
            parse_step(wrong)

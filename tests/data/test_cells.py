"""Cells of a calendar: every step against the standard library's clocks, and counts by cell on every engine."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import cell_oracles
from tests.support.counted_cells import BY, HALF, START, by_hand, columns_of, counts_by_cell, recording
from tests.support.engines import ENGINES

from takifugu.core.errors import InputError
from takifugu.data import Calendar, Slots, Zone, axes_of, open_frame, parse_step
from takifugu.data.times.cells import AXES

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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [*ENGINES, "file"])
def test_every_engine_counts_what_a_direct_count_finds(engine: str, tmp_path: Path) -> None:
    rows = recording()
    if engine == "file":
        lines = [f"{who},{state},{at:%Y-%m-%dT%H:%M:%S}Z" for who, at, state in rows]
        (tmp_path / "data.csv").write_text("\n".join(["who,state,at", *lines]), encoding="utf-8")
    data = tmp_path / "data.csv" if engine == "file" else ENGINES[engine](columns_of(rows))
    for by, zone in BY:
        assert counts_by_cell(open_frame(data), by, zone) == by_hand(rows, by, zone)


def test_clocks_without_offsets_are_put_on_the_same_steps(tmp_path: Path) -> None:
    """The hour that clocks in Berlin show twice holds four half hours, and rows say by their order which is which."""
    moments = [START + place * HALF for place in range(240)]
    local = [at.replace(tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin")) for at in moments]
    lines = [f"ana,lying,{at:%Y-%m-%dT%H:%M}" for at in local]
    (tmp_path / "data.csv").write_text("\n".join(["who,state,at", *lines]), encoding="utf-8")
    (counts,) = counts_by_cell(open_frame(tmp_path / "data.csv"), ("date", "hour"), "Europe/Berlin").values()
    assert counts["2025-10-26 02", "lying"] == 4
    assert counts["2025-10-26 03", "lying"] == 2

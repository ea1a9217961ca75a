"""Cells of windows of any length, also of nearly a day: sums by stretches against a count of each step."""

from datetime import timedelta

import numpy as np
import pytest

from takifugu.data import Calendar, Zone
from takifugu.data.runs.cells import CellSums
from takifugu.data.times.cells import Slots


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


@pytest.mark.parametrize("zone", [None, "Australia/Lord_Howe", "Europe/Berlin"])
@pytest.mark.parametrize("axes", [("hour",), ("weekday",), ("weekday", "hour"), ("date", "hour")])
def test_a_window_may_end_in_the_hour_of_the_day_that_it_starts_in(axes: tuple[str, ...], zone: str | None) -> None:
    clocks = None if zone is None else Zone(zone)
    calendar = Calendar.read("2026-03-28T00:30:00+00:00", "2026-04-18T00:30:00+00:00", timedelta(minutes=30), clocks)
    for first in (0, 1, 52):
        for size in (1, 2, 3, 46, 47, 48, 49, 95, 96, 335, 336, 337):
            window = range(first, first + size)
            assert not misses(CellSums(Slots(calendar, window, axes)), window), (first, size)

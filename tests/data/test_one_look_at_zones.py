"""Times on the wall of a zone are read with everything else; all are read for them only where their first rows mislead.

Oracle: the standard library's zoneinfo, row by row.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from takifugu.core.errors import DataError
from takifugu.data import Layout, Recode, open_frame, pieces
from takifugu.data.rows import local_time, picked

BERLIN = ZoneInfo("Europe/Berlin")
FEW = 3

Row = tuple[str, datetime]


def hours(unit: str, start: datetime, count: int) -> list[Row]:
    """Return rows of a unit, one for each hour that passes, as clocks in Berlin show it."""
    return [(unit, (start + timedelta(hours=hour)).astimezone(BERLIN)) for hour in range(count)]


def by_the_library(rows: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """Return by unit its hours from the first to the last row, and its rows."""
    moments: dict[str, list[datetime]] = {}
    for unit, clock in rows:
        moments.setdefault(unit, []).append(clock.astimezone(UTC))
    return {u: ((max(some) - min(some)) // timedelta(hours=1) + 1, len(some)) for u, some in moments.items()}


def read(rows: Iterable[Row], folder: Path, **rules: Any) -> dict[str, tuple[int, int]]:
    lines = [f"{unit},{clock:%Y-%m-%d %H:%M},a" for unit, clock in rows]
    (folder / "rows.csv").write_text("\n".join(["who,at,state", *lines, ""]))
    layout = Layout("state", unit="who", order="at", step="1h", timezone="Europe/Berlin", **rules)
    pieces_read = pieces(open_frame(folder / "rows.csv"), layout, Recode(("a", "b")))
    return {str(piece.unit): (piece.length, int(piece.counts.sum())) for piece in pieces_read}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rows each look for the zone alone has read."""
    read_rows = list[int]()

    def counted(frame: Any) -> Any:
        rows = [*collected(frame)]
        read_rows.append(int(rows[0][0]))
        return iter(rows)

    collected = local_time.collected
    monkeypatch.setattr(local_time, "collected", counted)
    monkeypatch.setattr(picked, "GUESSED_FROM", FEW)
    return read_rows


#: Half a day before clocks are set forward, a time between, and half a day before they are set back.
SPRING, SUMMER = datetime(2025, 3, 29, 12, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)
AUTUMN = datetime(2025, 10, 25, 12, tzinfo=UTC)


def test_one_look_reads_what_is_counted_where_no_hour_is_shown_twice(tmp_path: Path, looks: list[int]) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING, 30)
    assert read(rows, tmp_path) == by_the_library(rows)
    assert looks == [FEW]


def test_hours_that_are_shown_twice_are_told_apart_by_the_order_of_rows(tmp_path: Path, looks: list[int]) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", AUTUMN, 30)
    assert read(rows, tmp_path) == by_the_library(rows)
    assert looks == [FEW, FEW]  # all are read a second time


@pytest.mark.sampled(2)
@pytest.mark.parametrize("years", [-90, -5, 5, 60])
def test_rows_of_other_years_than_the_first_ones_are_looked_at_again(
    tmp_path: Path, looks: list[int], years: int
) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING.replace(year=2025 + years), 30)
    assert read(rows, tmp_path) == by_the_library(rows)
    assert looks[:2] == [FEW, len(rows)]


@pytest.mark.parametrize("rule", ["first", "last"])
def test_a_declared_pass_needs_no_other_look(tmp_path: Path, looks: list[int], rule: str) -> None:
    rows = hours("Ana", SUMMER, 10) + hours("Ben", AUTUMN, 10)
    assert read(rows, tmp_path, ambiguous=rule) == by_the_library(rows)
    assert looks == [FEW]


def test_dropped_hours_are_left_out(tmp_path: Path, looks: list[int]) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", AUTUMN, 30)
    length, count = by_the_library(rows)["Ben"]
    assert read(rows, tmp_path, ambiguous="drop")["Ben"] == (length, count - 2)


@pytest.mark.parametrize("years", [0, 40])
def test_skipped_hours_are_refused_however_far_they_are(tmp_path: Path, looks: list[int], years: int) -> None:
    clock = datetime(2025, 3, 30, 2, 30).replace(tzinfo=BERLIN)
    if years:
        clock = datetime(1986, 3, 30, 2, 30).replace(tzinfo=BERLIN)
    with pytest.raises(DataError, match="skipped"):
        read([*hours("Ana", SUMMER, 10), ("Ben", clock)], tmp_path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_times_are_read_alike(looks: list[int], library: str) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING.replace(year=1990), 30)
    columns = {"who": [u for u, _ in rows], "at": [c.replace(tzinfo=None) for _, c in rows], "state": ["a"] * len(rows)}
    frame = pytest.importorskip(library).DataFrame(columns)
    layout = Layout("state", unit="who", order="at", step="1h", timezone="Europe/Berlin")
    pieces_read = pieces(open_frame(frame), layout, Recode(("a", "b")))
    assert {str(piece.unit): (piece.length, int(piece.counts.sum())) for piece in pieces_read} == by_the_library(rows)
    assert looks[:2] == [FEW, len(rows)]


def test_mutant_far_years_by_the_clocks_of_the_first_rows_are_an_hour_off(
    tmp_path: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_time, "FAR", 0)
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING.replace(year=1990, day=24), 30)
    assert read(rows, tmp_path) != by_the_library(rows)

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
    return counted(folder / "rows.csv", layout)


def counted(data: Any, layout: Layout) -> dict[str, tuple[int, int]]:
    recorded = pieces(open_frame(data), layout, Recode(("a", "b")))
    return {str(piece.unit): (piece.length, int(piece.counts.sum())) for piece in recorded}


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


@pytest.mark.parametrize(("start", "count", "rules", "expected"), [
    pytest.param(SPRING, 30, {}, [FEW], id="no hour is shown twice: one look reads what is counted"),
    pytest.param(AUTUMN, 30, {}, [FEW, FEW], id="hours are told apart by the order of rows: all are read again"),
    *(pytest.param(SPRING.replace(year=2025 + years), 30, {}, [FEW, 60], id=f"{years} years later than the first ones")
      for years in (-90, -5, 5, 60)),
    pytest.param(AUTUMN, 10, {"ambiguous": "first"}, [FEW], id="a declared pass, the first"),
    pytest.param(AUTUMN, 10, {"ambiguous": "last"}, [FEW], id="a declared pass, the last"),
])  # fmt: skip
def test_rows_are_looked_at_again_only_where_the_first_ones_mislead(
    tmp_path: Path, looks: list[int], start: datetime, count: int, rules: dict[str, str], expected: list[int]
) -> None:
    rows = hours("Ana", SUMMER, count) + hours("Ben", start, count)
    assert read(rows, tmp_path, **rules) == by_the_library(rows)
    assert looks[:2] == expected


def test_dropped_hours_are_left_out(tmp_path: Path) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", AUTUMN, 30)
    length, count = by_the_library(rows)["Ben"]
    assert read(rows, tmp_path, ambiguous="drop")["Ben"] == (length, count - 2)


@pytest.mark.parametrize("year", [2025, 1986])
def test_skipped_hours_are_refused_however_far_they_are(tmp_path: Path, looks: list[int], year: int) -> None:
    with pytest.raises(DataError, match="skipped"):
        read([*hours("Ana", SUMMER, 10), ("Ben", datetime(year, 3, 30, 2, 30, tzinfo=BERLIN))], tmp_path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_times_are_read_alike(looks: list[int], library: str) -> None:
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING.replace(year=1990), 30)
    columns = {"who": [u for u, _ in rows], "at": [c.replace(tzinfo=None) for _, c in rows], "state": ["a"] * len(rows)}
    frame = pytest.importorskip(library).DataFrame(columns)
    layout = Layout("state", unit="who", order="at", step="1h", timezone="Europe/Berlin")
    assert counted(frame, layout) == by_the_library(rows)
    assert looks[:2] == [FEW, len(rows)]


def test_mutant_far_years_by_the_clocks_of_the_first_rows_are_an_hour_off(
    tmp_path: Path, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_time, "FAR", 0)
    rows = hours("Ana", SUMMER, 30) + hours("Ben", SPRING.replace(year=1990, day=24), 30)
    assert read(rows, tmp_path) != by_the_library(rows)

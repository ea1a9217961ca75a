"""One recording, counted by cells: by frames from any engine, and by hand."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support import cell_oracles
from tests.support.engines import Columns

from takifugu.data import Calendar, Layout, Recode, Zone, pieces

#: A recording of two people, every half hour, over the day on which clocks in Berlin were set back; a third is absent.
START, HALF = datetime(2025, 10, 24), timedelta(minutes=30)
WINDOW = range(40, 200)


def recording() -> list[tuple[str, datetime, str]]:
    draw = random.Random(5)
    places = [(who, place) for who in ("ana", "ben") for place in range(240) if draw.random() < 0.8]
    rows = [(who, START + place * HALF, draw.choice(["lying", "walking", "sitting"])) for who, place in places]
    return [*rows, ("cleo", START, "lying")]  # outside the window


def counts_by_cell(table: Any, by: tuple[str, ...], zone: str | None) -> dict[str, dict[tuple[str, str], int]]:
    """Return what is counted by cell and state, of each unit."""
    calendar = Calendar.read(START.replace(tzinfo=UTC), None, HALF, None if zone is None else Zone(zone))
    rules = {"unit": "who", "order": "at", "step": "30min", "calendar": calendar, "window": WINDOW, "gaps": "hidden"}
    layout = Layout("state", **rules, timezone=zone, by=by)
    states = ("lying", "walking", "sitting")
    slots, counts = layout.slots, {}
    assert slots is not None
    for piece in pieces(table, layout, Recode(states)):
        assert piece.by_cell is not None
        assert piece.cell is not None
        assert piece.complete
        assert piece.by_cell.sum(axis=0).tolist() == piece.counts.tolist()
        labels = [slots.label(int(number)) for number in slots.cells[0]]
        assert len(piece.cell) == len(WINDOW) == piece.length
        counts[str(piece.unit)] = {
            (label, state): int(count)
            for label, row in zip(labels, piece.by_cell, strict=True)
            for state, count in zip(states, row, strict=True) if count
        }  # fmt: skip
    return counts


def by_hand(rows: Any, by: tuple[str, ...], zone: str | None) -> dict[str, dict[tuple[str, str], int]]:
    ends = (START + WINDOW.start * HALF, START + WINDOW.stop * HALF)
    return {who: dict(cells) for who, cells in cell_oracles.table(rows, ends, by, zone).items()}


def columns_of(rows: list[tuple[str, datetime, str]]) -> Columns:
    return {
        "who": ("text", [who for who, *_ in rows]), "state": ("text", [state for *_, state in rows]),
        "at": ("zoned", [moment.replace(tzinfo=UTC) for _, moment, _ in rows]),
    }  # fmt: skip


#: What is counted by, in which zone.
BY = [(("hour",), "Europe/Berlin"), (("weekday", "hour"), None), (("month", "date"), "America/New_York"),
      (("week",), "Europe/Berlin")]  # fmt: skip

"""Cells of a calendar by definition: every step is put on its clock by the standard library. Imports no takifugu."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from tests.support.joint_losses import Law, largest_loss


def label(moment: datetime, axes: Sequence[str], zone: str | None) -> str:
    """Return the cell of a moment in UTC, on clocks in a zone."""
    local = moment.replace(tzinfo=UTC).astimezone(ZoneInfo(zone or "UTC"))
    year, week, _ = local.isocalendar()
    parts = {
        "hour": f"{local:%H}", "weekday": f"{local:%A}", "date": f"{local:%Y-%m-%d}", "month": f"{local:%Y-%m}",
        "week": f"{year:04}-W{week:02}",
    }  # fmt: skip
    return " ".join(parts[axis] for axis in axes)


def labels(start: datetime, step: timedelta, steps: int, axes: Sequence[str], zone: str | None) -> list[str]:
    """Return the cell of every step from a moment in UTC on."""
    return [label(start + n * step, axes, zone) for n in range(steps)]


def table(
    rows: Sequence[tuple[str, datetime, Any]], window: tuple[datetime, datetime], axes: Sequence[str], zone: str | None
) -> dict[str, Counter[tuple[str, Any]]]:
    """Return for each unit how many of its rows (unit, moment, state) in a window are in each cell and state."""
    counts: dict[str, Counter[tuple[str, Any]]] = {unit: Counter() for unit, _, _ in rows}
    for unit, moment, state in rows:
        if window[0] <= moment < window[1]:
            counts[unit][label(moment, axes, zone), state] += 1
    return counts


def joint_loss(law: Law, tables: Sequence[tuple[Sequence[Sequence[int]], float]]) -> float:
    """Return the largest loss of tables that count ones by cells of entries; a table is (its cells, its scale)."""
    paths = np.array(list(law))
    cells = [(list(chosen), scale) for table, scale in tables for chosen in table]
    counts = np.stack([paths[:, chosen].sum(axis=1) for chosen, _ in cells], axis=1)
    return largest_loss(law, counts, [scale for _, scale in cells], range(paths.shape[1]))

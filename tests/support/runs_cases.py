"""Random rows that are changes, stays or events, what is declared of them, and how the library reads them."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.runs_oracle import Refused, Row, Rules, Steps, expanded

from takifugu.data import Calendar, Layout, Zone, parse_step
from takifugu.data.runs.rules import RunRules
from takifugu.data.times.zones import EPOCH

START = 1_774_656_000_000_000  # 2026-03-28: clocks in Berlin change on the next day
SECOND = 1_000_000
STATES, KINDS = ("a", "b", "c"), ("changes", "stays", "events")
STEPS = {"1s": 1, "1min": 60, "7min": 420, "30min": 1800, "1h": 3600, "1d": 86_400, "7d": 604_800}
AXES = (("hour",), ("weekday",), ("date",), ("week",), ("month",), ("weekday", "hour"), ("date", "hour"))


def tables(chance: random.Random, rules: Rules) -> list[Row]:
    """Return random rows that keep most rules most of the time; times lie on steps, and between them."""
    rows = list[Row]()
    for unit, (first, last) in rules.covered.items():
        moment = first + chance.randrange(-3, 3) * rules.step
        for _ in range(chance.choice((0, 1, 2, 5, 9))):
            state = chance.choice((*STATES, None) if rules.nulls == "unobserved" else STATES)
            length = chance.choice((0, rules.step // 3, rules.step, chance.randrange(1, 9 * rules.step)))
            end: int | None = moment + length
            if chance.random() < 0.1:
                length = -length // 2 if chance.random() < 0.5 else length
            if rules.rows != "stays" or chance.random() < 0.05:
                end = None
            rows.append((unit, moment, state, end))
            overlaps = rules.overlap != "refuse" and rules.rows != "changes" and chance.random() < 0.5
            if rules.rows == "events" and not overlaps:
                length = max(length, rules.step)
            moment += max(length // 3 if overlaps else length, 0 if chance.random() < 0.05 else 1)
            moment = moment if chance.random() < 0.7 else moment + chance.randrange(rules.step * 3)
        while rows and rows[-1][0] == unit and chance.random() < 0.95 and not _inside(rows[-1], last):
            rows.pop()
    if chance.random() < 0.5:
        chance.shuffle(rows)
    return rows


def _inside(row: Row, last: int) -> bool:
    return (row[1] or 0) < last and (row[3] is None or row[3] <= last)


def rules_of(chance: random.Random, rows: str, step: int, size: int) -> Rules:
    start, until = START, START + size * step
    covered = {}
    for unit in ("Ana", "Ben", "Cleo")[: chance.choice((1, 3))]:
        first = start + chance.choice((0, 0, 2 * step, step // 2))
        covered[unit] = (
            first,
            chance.choice((until, until, max(first, until - 3 * step), max(first, until - step // 3))),
        )
    return Rules(
        rows, start, until, step, covered, STATES, chance.choice(("a", "b", None)), chance.choice(STATES),
        chance.choice(("refuse", "first", "last")), chance.choice(("refuse", "refuse", "first", "last")),
        chance.choice(("refuse", "unobserved")),
    )  # fmt: skip


def declared(rules: Rules) -> RunRules:
    return RunRules(
        rules.rows, dict(rules.covered), rules.before if rules.rows == "changes" else None,
        "end" if rules.rows == "stays" else None, None,
        None if rules.rows == "changes" else rules.otherwise, "refuse" if rules.rows == "changes" else rules.overlap,
    )  # fmt: skip


def layout_of(
    rules: Rules, window: range, gaps: str = "public", by: tuple[str, ...] = (), zone: str | None = None
) -> Layout:
    word = next(word for word, seconds in STEPS.items() if seconds * SECOND == rules.step)
    start, until = (EPOCH + timedelta(microseconds=moment) for moment in (rules.start, rules.until))
    calendar = Calendar.read(start, until, parse_step(word), None if zone is None else Zone(zone))
    return Layout(
        "state", "unit", order="start", step=word, nulls=rules.nulls, duplicates=rules.duplicates, calendar=calendar,
        window=window, gaps=gaps, by=by,
    )  # fmt: skip


def columns_of(rows: Sequence[Row], kind: str = "time") -> dict[str, tuple[str, list[Any]]]:
    def time(moment: int | None) -> Any:
        stamp = None if moment is None else datetime(1970, 1, 1) + timedelta(microseconds=moment)
        if stamp is not None and kind == "zoned":
            return stamp.replace(tzinfo=UTC)
        return None if stamp is None else stamp if kind == "time" else stamp.isoformat()

    return {
        "unit": ("text", [row[0] for row in rows]), "state": ("text", [row[2] for row in rows]),
        "start": (kind, [time(row[1]) for row in rows]), "end": (kind, [time(row[3]) for row in rows]),
    }  # fmt: skip


def window_of(chance: random.Random, size: int) -> range:
    first = chance.randrange(size)
    return range(size) if chance.random() < 0.3 else range(first, chance.randrange(first + 1, size + 1))


def oracle(rows: Sequence[Row], rules: Rules) -> Steps | None:
    try:
        return expanded(rows, rules)
    except Refused:
        return None


def in_file(folder: Path, rows: Sequence[Row]) -> Path:
    """Write rows as a CSV file; it is small, so that no engine opens it."""
    columns = columns_of(rows, "text")
    lines = [
        ",".join(columns),
        *(",".join(text or "" for text in row) for row in zip(*(c for _, c in columns.values()), strict=True)),
    ]
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    return folder / "log.csv"

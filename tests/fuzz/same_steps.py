"""The same steps written as samples, changes, stays, events and columns, as tables and in release files."""

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.fuzz.rows_written import Written, is_unclear, written
from tests.support.counting import said_of
from tests.support.relation_cases import STEPS, ZONES, Case
from tests.support.relation_oracle import EPOCH, Meaning, Row
from tests.support.release_files import EXPECT, believe, publish, release_text, section

from takifugu.core.errors import TakifuguError
from takifugu.data.relation.source import opened_table
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

WAYS = ("samples", "changes", "stays", "durations", "events", "wide")
STATES = ("a", "b", "c")
SECOND = 10**6
#: Shortly before clocks change in Berlin, on Lord Howe Island or in Saint John's, or a year begins in week 1.
STARTS = (
    "2026-03-28T00:00", "2026-03-29T00:30", "2025-10-26T00:00", "2026-04-04T14:00", "2025-10-04T14:30",
    "2026-03-08T04:30", "2024-12-29T12:00", "1969-12-31T21:00",
)  # fmt: skip
#: Steps that fit changes of clocks, which are moved by half an hour somewhere.
FITTING = ("10s", "15min", "30min")
AXES = (("hour",), ("weekday",), ("date",), ("weekday", "hour"), ("date", "hour"), ("week",), ("month",))


@dataclass(frozen=True)
class Same:
    """The state of each person in each step (None: missing), and what is read of it; most steps are `otherwise`."""

    steps: dict[str, list[str | None]]
    start: int
    word: str
    otherwise: str
    window: range
    gaps: str
    by: tuple[str, ...]
    zone: str | None

    @property
    def step(self) -> int:
        return STEPS[self.word] * SECOND

    @property
    def size(self) -> int:
        return len(next(iter(self.steps.values())))

    def at(self, step: int) -> int:
        return self.start + step * self.step

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of [source] that all ways have."""
        ends = [self.clock(self.at(0)), self.clock(self.at(self.size))]
        zone = {"timezone": self.zone} if self.zone else {}
        return {"unit": "who", "order": "t", "value": "what", "step": self.word, "from": ends[0], "until": ends[1],
                "nulls": "unobserved", "gaps": self.gaps, "roster": [*self.steps], **zone}  # fmt: skip

    def clock(self, tick: int) -> str:
        """Return what clocks show."""
        wall = (EPOCH + timedelta(microseconds=tick)).astimezone(ZoneInfo(self.zone or "UTC"))
        return wall.replace(tzinfo=None).isoformat()


def same_steps(c: random.Random, is_file: bool = False) -> Same:
    """Return random steps of some people, each of whom has one that is not missing."""
    while True:
        zone = c.choice((None, None, *ZONES))
        word = c.choice([*STEPS][:-1] if zone is None else FITTING)
        size = c.choice((c.randrange(2, 30), c.randrange(2, 30), 100))
        start = (datetime.fromisoformat(c.choice(STARTS)).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
        ends = (start, start + size * STEPS[word] * SECOND)
        if not any(is_unclear(tick, zone) for tick in ends) and start % (STEPS[word] * SECOND) == 0:
            break
    otherwise, sticky, missing = c.choice(STATES), c.random(), 0.0 if is_file else c.choice((0.0, 0.0, 0.2))
    steps = {}
    for unit in ("Ana", "Ben", "Cleo")[: c.choice((1, 3))]:
        state, listed = otherwise, list[str | None]()
        for _ in range(size):
            state = state if c.random() < sticky else c.choice((otherwise, *STATES))
            listed.append(None if c.random() < missing else state)
        listed[c.randrange(size)] = otherwise
        steps[unit] = listed
    first = c.randrange(size)
    by = c.choice(((), *AXES))
    if STEPS[word] > 3600 or 3600 % STEPS[word]:
        by = tuple(axis for axis in by if axis != "hour")
    window = c.choice((range(size), range(first, c.randint(first + 1, size))))
    return Same(
        steps, start, word, otherwise, window, "hidden" if is_file else c.choice(("public", "hidden")), by, zone
    )


def written_as(c: random.Random, same: Same, way: str, folder: Path) -> Written:
    """Return the steps as a table: what a row says, its kind and how its times are written."""
    rows_of = {"samples": _samples, "changes": _changes, "stays": _stays, "durations": _stays, "events": _events,
               "wide": _samples}[way]  # fmt: skip
    rows = [row for unit, listed in same.steps.items() for row in rows_of(c, same, unit, listed)]
    if way != "wide":
        c.shuffle(rows)
    keys = same.keys | {"rows": {"durations": "stays", "wide": "samples"}.get(way, way)}
    if way not in ("samples", "wide"):
        keys["default_state"] = same.otherwise
    if way == "stays":
        keys["end"] = "stop"
    if way == "durations":
        return _durations(c, keys, rows, same, folder)
    if way == "wide":
        return _wide(keys, rows, same, folder)
    meaning = Meaning(keys["rows"], STATES, same.step, True, same.start, same.size, same.zone)
    return written(c, Case([(unit, None, *rest) for unit, _, *rest in rows], meaning, keys, ""), folder)


def _durations(c: random.Random, keys: dict[str, Any], rows: Sequence[Row], same: Same, folder: Path) -> Written:
    sign = "Z" if same.zone else ""
    kind, unit = "timestamptz" if same.zone else "timestamp", c.choice(("s", "min"))
    column = {"s": "to_seconds(seconds::double)", "min": "to_minutes(1) * (seconds::double / 60)"}["s"]
    if unit == "min":
        column = "to_milliseconds((seconds::double * 1000)::bigint)"
    with (folder / "d.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["who", "t", "seconds", "what"])
        for who, _, tick, end, value in rows:
            assert tick is not None
            start = (EPOCH + timedelta(microseconds=tick)).replace(tzinfo=None).isoformat()
            lines.writerow([who, start + sign, "" if end is None else str((end - tick) // SECOND), value])
    keys |= {"file": "d.csv", "end": f"t::{kind} + {column}"}
    return Written(keys, [], f"durations by {column}")


def _wide(keys: dict[str, Any], rows: Sequence[Row], same: Same, folder: Path) -> Written:
    times, cells = sorted({row[2] or 0 for row in rows}), {(row[0], row[2]): row[4] for row in rows}
    sign = "Z" if same.zone else ""
    with (folder / "w.csv").open("w", newline="") as file:
        names = [(EPOCH + timedelta(microseconds=tick)).replace(tzinfo=None).isoformat() + sign for tick in times]
        csv.writer(file).writerows([["who", *names], *(
            [who, *(cells.get((who, tick)) for tick in times)] for who in same.steps
        )])  # fmt: skip
    sql = "from read_csv('w.csv') unpivot include nulls (what for t in (columns(* exclude (who))))"
    return Written(keys | {"sql": sql}, [], "wide")


def _samples(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    for step, state in enumerate(listed):
        if state is not None or c.random() < 0.5:
            yield unit, None, same.at(step), None, state


def _before(c: random.Random, same: Same, step: int) -> int:
    """Return a time from which on a step is the first to start; whole seconds, mostly on the step itself."""
    return same.at(step) - (c.randrange(same.step // SECOND) * SECOND if c.random() < 0.5 else 0)


def _changes(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    state: str | None = ""
    for step, now in enumerate(listed):
        if now != state or c.random() < 0.1:  # a row that says again what holds
            at = _before(c, same, step)
            yield unit, None, at, None, now
            if at - SECOND > same.at(step - 1) and c.random() < 0.2:  # and one that no step starts in
                yield unit, None, at - SECOND, None, c.choice((*STATES, None) if None in listed else STATES)
        state = now


def _stays(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    first, bounds = 0, dict[int, int]()
    for state, steps in groupby(listed):
        last = first + len(list(steps))
        if state != same.otherwise:
            start = bounds.setdefault(first, _before(c, same, first))
            end: int | None = bounds.setdefault(last, _before(c, same, last))
            if last == same.size:
                end = None if c.random() < 0.5 else same.at(last)
            yield unit, None, start, end, state
        first = last


def _events(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    for step, state in enumerate(listed):
        if state != same.otherwise or c.random() < 0.2:
            yield unit, None, same.at(step) + c.randrange(same.step // SECOND) * SECOND, None, state


def in_all_ways(c: random.Random, folder: Path) -> str:
    """Return what differs between the same steps written in several ways."""
    same = same_steps(c)
    differences, first = [f"{same}"], None
    for way in ("samples", *c.sample(WAYS[1:], 3)):
        made = written_as(c, same, way, folder)
        try:
            counts = opened_table(made.keys, STATES, folder, made.frame).counts(same.window, same.by)
        except TakifuguError as refused:
            differences.append(f"{way}: {made.how}\n{made.keys}\nrefused: {refused}")
            continue
        by_cell = None if counts.by_cell is None else counts.by_cell.tolist()
        observed = [counts.observed(piece) for piece in range(len(counts.lengths))]
        read = counts.names[0].tolist(), counts.lengths.tolist(), observed, counts.counts.tolist(), by_cell
        first = first or read
        if read != first:
            differences.append(f"{way}: {made.how}\n{made.keys}\n{read}\nnot {first}")
    return "\n".join(differences) if len(differences) > 1 else ""


def in_files(c: random.Random, folder: Path) -> str:
    """Return what differs between release files about the same steps: counts, noise."""
    same = same_steps(c, is_file=True)
    differences, first = [f"{same}"], None
    for way in WAYS:
        made = written_as(c, same, way, folder)
        while "bins" in made.keys or made.frame is not None:
            made = written_as(c, same, way, folder)
        (folder / "f.toml").write_text(_text(same, made.keys))
        try:
            read = _planned(folder / "f.toml")
        except TakifuguError as refused:
            differences.append(f"{way}: {made.how}\n{made.keys}\nrefused: {refused}")
            continue
        first = first or read
        if read != first:
            differences.append(f"{way}: {made.how}\n{made.keys}\n{read}\nnot {first}")
    return "\n".join(differences) if len(differences) > 1 else ""


def _text(same: Same, keys: Mapping[str, Any]) -> str:
    start, stop = (same.clock(same.at(step)) for step in (same.window.start, same.window.stop))
    by = {"by": [*same.by]} if same.by else {}
    return release_text(
        section("[source]", name="s", budget=100, **{"from_" if key == "from" else key: v for key, v in keys.items()}),
        believe("markov-chain", states=STATES, matrix=[[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]],
                units_independent=True),
        publish("t", "histogram", epsilon=1, from_=start, to=stop, **by), expect=EXPECT,
    )  # fmt: skip


def _planned(path: Path) -> object:
    planned = plan(load(path))
    counted = [said_of(question.data) for table in planned.tables for question in table.questions]
    return counted, [calibration.scale for table in planned.tables for calibration in table.calibrations]

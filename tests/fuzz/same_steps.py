"""The same steps written as samples, changes, stays, events and columns, as tables and in release files."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from tests.fuzz.runs_written import (
    ENGINES,
    FITTING,
    STARTS,
    TIMES,
    WITH_ZONE,
    ZONES,
    Case,
    frame_of,
    in_microseconds,
    rounded,
    stamp,
)
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.runs_cases import AXES, SECOND, STATES, STEPS, window_of
from tests.support.runs_oracle import Row, Rules

from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

WAYS = ("samples", "changes", "stays", "durations", "events", "wide")
#: No data are exported before they end.
LATEST = in_microseconds("2026-09-01T00:00")


@dataclass(frozen=True)
class Same:
    """The state of each person in each step (None: missing), and what is read of it; most steps are `otherwise`."""

    steps: dict[str, list[str | None]]
    start: int
    step: int
    otherwise: str
    window: range
    gaps: str
    by: tuple[str, ...]
    zone: str | None
    entrywise: bool

    @property
    def size(self) -> int:
        return len(next(iter(self.steps.values())))

    def at(self, step: int) -> int:
        return self.start + step * self.step


def same_steps(c: random.Random) -> Same:
    """Return random steps of some people, each of whom has one that is not missing."""
    zone = c.choice(ZONES)
    word = c.choice((*STEPS,) if zone is None else FITTING)
    step, size = STEPS[word] * SECOND, c.choice((c.randrange(1, 30), c.randrange(1, 30), 100))
    otherwise, sticky, missing = c.choice(STATES), c.random(), c.choice((0.0, 0.0, 0.2))
    steps = {}
    for unit in ("Ana", "Ben", "Cleo")[: c.choice((1, 3))]:
        state, listed = otherwise, list[str | None]()
        for _ in range(size):
            state = state if c.random() < sticky else c.choice((otherwise, *STATES))
            listed.append(None if c.random() < missing else state)
        listed[c.randrange(size)] = otherwise
        steps[unit] = listed
    gaps, by = c.choice(("public", "hidden")), c.choice(((), *AXES))
    return Same(
        steps, in_microseconds(c.choice(STARTS)), step, otherwise, window_of(c, size), gaps, by, zone,
        gaps == "public" and c.random() < 0.5,
    )  # fmt: skip


def written_as(c: random.Random, same: Same, way: str) -> Case:
    """Return the steps as a table: what a row says, its engine and how its times are written."""
    rows_of = {
        "samples": _samples, "changes": _changes, "stays": _stays, "durations": _stays, "events": _events,
        "wide": _samples,
    }[way]  # fmt: skip
    rows = [row for unit, listed in same.steps.items() for row in rows_of(c, same, unit, listed)]
    times = c.choice(WITH_ZONE if same.zone else TIMES)
    if way == "wide":
        times = "offset" if same.zone else c.choice(("text", "offset"))
    if times == "epoch_ms" and way != "samples":
        rows = [(unit, rounded(at), state, rounded(end)) for unit, at, state, end in rows]
    c.shuffle(rows)
    until = same.at(same.size)
    rules = Rules(
        "stays" if way == "durations" else way, same.start, until, same.step,
        dict.fromkeys(same.steps, (same.start, until)), STATES, None, same.otherwise, nulls="unobserved",
    )  # fmt: skip
    length = c.choice(("1s", "1min")) if way == "durations" else None
    return Case(
        rules, rows, c.choice(ENGINES), times, same.window, same.gaps, same.by, same.zone, "refuse", length,
        same.entrywise,
    )  # fmt: skip


def _samples(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    for step, state in enumerate(listed):
        if state is not None or c.random() < 0.5:
            yield unit, same.at(step), state, None


def _before(c: random.Random, same: Same, step: int) -> int:
    """Return a time from which on a step is the first to start; whole milliseconds, mostly on the step itself."""
    return same.at(step) - (c.randrange(same.step // 1000) * 1000 if c.random() < 0.5 else 0)


def _changes(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    state: str | None = ""
    for step, now in enumerate(listed):
        if now != state or c.random() < 0.1:  # a row that says again what holds
            at = _before(c, same, step)
            yield unit, at, now, None
            if at - 1000 > same.at(step - 1) and c.random() < 0.2:  # and one that no step starts in
                yield unit, at - 1000, c.choice((*STATES, None) if None in listed else STATES), None
        state = now


def _stays(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    first = 0
    bounds: dict[int, int] = {}
    for state, steps in groupby(listed):
        last = first + len(list(steps))
        if state != same.otherwise:
            start = bounds.setdefault(first, _before(c, same, first))
            end: int | None = bounds.setdefault(last, _before(c, same, last))
            if last == same.size:
                end = None if c.random() < 0.5 else same.at(last)
            yield unit, start, state, end
        first = last


def _events(c: random.Random, same: Same, unit: str, listed: Sequence[str | None]) -> Iterator[Row]:
    for step, state in enumerate(listed):
        if state != same.otherwise or c.random() < 0.2:
            yield unit, same.at(step) + c.randrange(same.step // 1000) * 1000, state, None


_FILE = release_text(
    read_from("s", "log.csv", unit="unit", value="state", step="{step}", from_="{start}", until="{until}", budget=100)
    + "\n{keys}\n{zone}",
    believe("markov-chain", states=["a", "b", "c"], matrix=[[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]],
            units_independent=True),
    publish("t", "histogram", epsilon=1) + "\n{window}",
    expect=EXPECT,
)  # fmt: skip
_KEYS = {
    "samples": 'order = "start"', "changes": 'order = "start"', "stays": 'order = "start"\nend = "end"',
    "durations": 'order = "start"\nduration = ["end", "{length}"]', "events": 'order = "start"',
    "wide": 'order = "start"\ncolumns = "*:*"',
}  # fmt: skip


def in_files(c: random.Random, folder: Path) -> str:
    """Return what differs between release files about the same steps: counts, noise."""
    same = same_steps(c)
    while same.at(same.size) > LATEST:
        same = same_steps(c)
    same = replace(same, gaps="hidden", entrywise=False)
    same = same if same.step < STEPS["1h"] * SECOND else replace(same, by=())
    steps = {unit: [state or same.otherwise for state in listed] for unit, listed in same.steps.items()}
    next(iter(steps.values()))[0] = next(state for state in STATES if state != same.otherwise)  # else some have no row
    same, differences, first = replace(same, steps=steps), [], None
    zone = 'timezone = "UTC"' if same.zone is None else f'timezone = "{same.zone}"'
    by = ", ".join(f'"{axis}"' for axis in same.by)
    window = f'from = "{_utc(same.at(same.window.start))}"\nto = "{_utc(same.at(same.window.stop))}"\n'
    for way in WAYS:
        case = replace(written_as(c, same, way), engine="csv", times="offset")
        frame_of(case, folder)
        keys = f'rows = "{case.rules.rows}"\n{_KEYS[way].format(length=case.length)}\n'
        keys += "" if way in ("samples", "wide") else f"roster = [{', '.join(f'{unit!r}' for unit in steps)}]\n"
        keys += f'default_state = "{same.otherwise}"\n' if way in ("stays", "durations", "events") else ""
        word = next(word for word, seconds in STEPS.items() if seconds * SECOND == same.step)
        (folder / "f.toml").write_text(_FILE.format(
            keys=keys, step=word, start=_utc(same.start), until=_utc(same.at(same.size)), zone=zone,
            window=window + (f"by = [{by}]" if by else ""),
        ))  # fmt: skip
        read_as = _planned(folder / "f.toml")
        first = read_as if first is None else first
        if read_as != first:
            differences.append(f"{case}\n{read_as}\nnot {first}")
    return "\n".join((f"{same}", *differences)) if differences else ""


def _utc(moment: int) -> str:
    return stamp(moment).isoformat()


def _planned(path: Path) -> object:
    planned = plan(load(path))
    counted = [
        (piece.unit, piece.length, piece.counts.tolist(), None if piece.by_cell is None else piece.by_cell.tolist())
        for table in planned.tables for question in table.questions for piece in question.data.pieces
    ]  # fmt: skip
    scales = [calibration.scale for table in planned.tables for calibration in table.calibrations]
    return counted, scales

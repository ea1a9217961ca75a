"""What rows say about steps, in plain Python: every run is expanded to the steps that it covers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.support.cell_oracles import label

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MISSING = "missing"

#: A unit, a time, a state (None: missing), and of a stay when it ends (None: it has not).
Row = tuple[str | None, int | None, str | None, int | None]
Steps = dict[str, list[str | None]]


class Refused(Exception):
    """Rows that break a rule; the text names it."""


@dataclass(frozen=True)
class Rules:
    """What a release file declares of rows; times are integers, `covered` has each unit's from and until."""

    rows: str
    start: int
    until: int
    step: int
    covered: Mapping[str, tuple[int, int]]
    states: Sequence[str] = ("a", "b")
    before: str | None = None
    otherwise: str = "a"
    overlap: str = "refuse"
    duplicates: str = "refuse"
    nulls: str = "refuse"
    has_order: bool = True

    @property
    def moments(self) -> range:
        return range(self.start, self.until, self.step)


def expanded(rows: Sequence[Row], rules: Rules) -> Steps:
    """Return the state of each unit in every step of the calendar; None where it is not covered."""
    of_unit: dict[str, list[Row]] = {unit: [] for unit in rules.covered}
    for row in rows:
        if row[0] is None or row[1] is None:
            raise Refused("missing")
        if row[0] not in of_unit:
            raise Refused("roster")
        if row[2] is None and rules.nulls == "refuse":
            raise Refused("nulls")
        if row[2] is not None and row[2] not in rules.states:
            raise Refused("states")
        of_unit[row[0]].append(row)
    return {unit: _of_unit(some, rules, *rules.covered[unit]) for unit, some in of_unit.items()}


def _of_unit(rows: list[Row], rules: Rules, first: int, last: int) -> list[str | None]:
    last = min(last, rules.until)
    if any(time is not None and time >= last for _, time, _, _ in rows):
        raise Refused("until")
    if any(end is not None and (end < (start or 0) or end > last) for _, start, _, end in rows):
        raise Refused("end")
    rows = _without_ties(rows, rules)
    if rules.rows == "events":
        _check_events(rows, rules)
    state_at = {"changes": _changes, "stays": _stays, "events": _events}[rules.rows]
    stays = _checked_stays(rows, rules, last) if rules.rows == "stays" else rows
    return [state_at(stays, rules, moment) if first <= moment < last else None for moment in rules.moments]


def _without_ties(rows: list[Row], rules: Rules) -> list[Row]:
    times = Counter(time for _, time, _, _ in rows)
    if max(times.values(), default=0) > 1:
        if rules.duplicates == "refuse" or not rules.has_order:
            raise Refused("duplicates")
        chosen: dict[int | None, Row] = {}
        for row in rows if rules.duplicates == "last" else reversed(rows):
            chosen[row[1]] = row
        rows = list(chosen.values())
    return sorted(rows, key=lambda row: row[1] or 0)


def _changes(rows: list[Row], rules: Rules, moment: int) -> str | None:
    in_force = [state or MISSING for _, time, state, _ in rows if time is not None and time <= moment]
    if not in_force and rules.before is None:
        raise Refused("before")
    return in_force[-1] if in_force else rules.before


def _checked_stays(rows: list[Row], rules: Rules, last: int) -> list[Row]:
    if any(end is None for _, _, _, end in rows[:-1]):
        raise Refused("open")
    closed = [(unit, start, state, last if end is None else end) for unit, start, state, end in rows]
    for number, (_, _, _, end) in enumerate(closed):
        if rules.overlap == "refuse" and any((row[1] or 0) < end for row in closed[number + 1 :]):
            raise Refused("overlap")
    return closed


def _stays(rows: list[Row], rules: Rules, moment: int) -> str | None:
    begun = [row for row in rows if (row[1] or 0) <= moment]
    if rules.overlap == "last":  # each stay ends where the next one of its unit starts
        begun = begun[-1:]
    covering = [state or MISSING for _, _, state, end in begun if moment < (end or 0)]
    return covering[0] if covering else rules.otherwise


def _check_events(rows: list[Row], rules: Rules) -> None:
    in_step = Counter(((time or 0) - rules.start) // rules.step for _, time, _, _ in rows)
    if rules.overlap == "refuse" and max(in_step.values(), default=0) > 1:
        raise Refused("overlap")


def _events(rows: list[Row], rules: Rules, moment: int) -> str | None:
    inside = [state or MISSING for _, time, state, _ in rows if moment <= (time or 0) < moment + rules.step]
    if not inside:
        return rules.otherwise
    return inside[-1] if rules.overlap == "last" else inside[0]


def counted(steps: Steps, states: Sequence[str], window: range) -> dict[str, list[int]]:
    """Return how many steps of a window each unit is in each state."""
    return {unit: [list(listed[window.start : window.stop]).count(s) for s in states] for unit, listed in steps.items()}


@dataclass
class Cells:
    """How many steps of a window each unit is in each state, by part of the calendar on the clock of a zone."""

    by: tuple[str, ...]
    zone: str = "UTC"
    counts: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)

    def count(self, steps: Steps, rules: Rules, window: range) -> dict[str, Counter[tuple[str, str]]]:
        moments = rules.moments
        for unit, listed in steps.items():
            cells: Counter[tuple[str, str]] = Counter()
            for place in window:
                state = listed[place]
                if state not in (None, MISSING):
                    moment = EPOCH + timedelta(microseconds=moments[place])
                    cells[label(moment, self.by, self.zone), str(state)] += 1
            self.counts[unit] = cells
        return self.counts

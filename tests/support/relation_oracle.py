"""What rows say about steps, in plain Python: each row is placed, each run is expanded. Imports nothing of the library.

A row is (unit, recording, tick, end, value) with ticks as integers (microseconds since 1970, or numbers) and None for
what is missing. Faults are the numbers of the rows, from 1, that break each rule.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.support.cell_oracles import label

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: 1900 and 2100 in microseconds since 1970.
FIRST, LAST = -2_208_988_800_000_000, 4_102_444_800_000_000
Row = tuple[str | None, str | None, int | None, int | None, str | None]
Piece = tuple[str, str]


@dataclass(frozen=True)
class Meaning:
    """What is declared of rows; `covers` has each unit's first tick and the one behind the last, or is None."""

    rows: str
    states: Sequence[str]
    step: int
    is_time: bool = True
    start: int | None = None
    size: int | None = None
    zone: str | None = None
    window: range | None = None
    by: Sequence[str] = ()
    gaps: str = "public"
    nulls: str = "refuse"
    default: str | None = None
    covers: Mapping[str, tuple[int, int]] | None = None
    has_unit: bool = True
    has_recording: bool = False


@dataclass
class Counted:
    """What a piece has: its length, the steps with a state, and how many there are by state, and by cell and state.

    `values` are the states of its steps, None where there is none.
    """

    length: int
    observed: tuple[range, ...]
    values: Sequence[str | None] = ()
    counts: Counter[str] = field(default_factory=Counter)
    by_cell: Counter[tuple[str, str]] = field(default_factory=Counter)


class Refused(Exception):
    """Rows break rules: the rows of each cause."""

    def __init__(self, causes: Mapping[str, list[int]]) -> None:
        self.causes = {cause: rows for cause, rows in causes.items() if rows}
        super().__init__(str(sorted(self.causes)))


def read(rows: Sequence[Row], meaning: Meaning) -> dict[Piece, Counted]:
    """Return each piece's steps, or raise Refused."""
    causes = _causes(rows, meaning)
    if any(causes.values()):
        raise Refused(causes)
    if meaning.rows == "samples":
        if not rows:
            raise Refused({"no rows": [0]})
        return _samples(rows, meaning)
    return _runs(rows, meaning)


def _causes(rows: Sequence[Row], meaning: Meaning) -> dict[str, list[int]]:
    causes: dict[str, list[int]] = defaultdict(list)
    for number, (unit, recording, tick, end, value) in enumerate(rows, 1):
        faults = {
            "no unit": meaning.has_unit and not unit,
            "no recording": meaning.has_recording and not recording,
            "no order": tick is None,
            "no value": value is None and meaning.nulls == "refuse",
            "unknown state": value is not None and value not in meaning.states,
            "blanks around": bool(unit) and unit != str(unit).strip(),
            "number with a point": bool(unit) and _has_point(str(unit)),
            "year": meaning.is_time and tick is not None and not FIRST <= tick < LAST,
            "end year": meaning.is_time and end is not None and not FIRST <= end < LAST,
            "backwards": tick is not None and end is not None and end < tick,
            "stranger": bool(unit) and meaning.covers is not None and unit not in meaning.covers,
        }
        for cause, is_so in faults.items():
            if is_so:
                causes[cause].append(number)
    by_piece: dict[Piece, list[tuple[int, Row]]] = defaultdict(list)
    for number, row in enumerate(rows, 1):
        if row[2] is not None and number not in causes["stranger"]:
            by_piece[row[0] or "", row[1] or ""].append((number, row))
    for (unit, _), some in by_piece.items():
        check = _check_samples if meaning.rows == "samples" else _check_runs
        for cause, number in check(unit, some, meaning):
            causes[cause].append(number)
    return causes


def _check_samples(unit: str, rows: list[tuple[int, Row]], meaning: Meaning) -> list[tuple[str, int]]:
    faults, seen = list[tuple[str, int]](), set[int]()
    low, high = (meaning.covers or {}).get(unit, (-(2**62), 2**62))
    origin = rows[0][1][2] if meaning.start is None else meaning.start
    for number, row in rows:
        place, rest = divmod((row[2] or 0) - (origin or 0), meaning.step)
        if rest:
            faults.append(("between steps", number))
        is_away = meaning.start is not None and (place < 0 or (meaning.size is not None and place >= meaning.size))
        if is_away or not low <= (row[2] or 0) < high:
            faults.append(("outside", number))
        if place in seen:
            faults.append(("tie", number))
        seen.add(place)
    return faults


def _check_runs(unit: str, rows: list[tuple[int, Row]], meaning: Meaning) -> list[tuple[str, int]]:
    faults = list[tuple[str, int]]()
    _, high = (meaning.covers or {}).get(unit, (0, 2**62))
    for number, row in rows:
        start, end = row[2] or 0, row[3]
        if start >= high:
            faults.append(("outside", number))
        later = [other[2] or 0 for n, other in rows if n != number and (other[2] or 0) >= start]
        if any(tick == start for tick in later):
            faults.append(("tie", number))
        if meaning.rows == "events" and any(_step(tick, meaning) == _step(start, meaning) for tick in later):
            faults.append(("tie", number))
        if meaning.rows == "stays" and end is None and later:
            faults.append(("open", number))
        if end is not None and any(start < tick < end for tick in later):
            faults.append(("overlap", number))
    return faults


def _step(tick: int, meaning: Meaning) -> int:
    return (tick - (meaning.start or 0)) // meaning.step


def _has_point(name: str) -> bool:
    digits = name.lstrip("+-").lower().replace("e+", "e").replace("e-", "e")
    whole, _, exponent = digits.partition("e")
    before, point, after = whole.partition(".")
    is_number = before.isdigit() and (not after or after.isdigit()) and ("e" not in digits or exponent.isdigit())
    return is_number and bool(point or "e" in digits) and digits.count(".") < 2


def _samples(rows: Sequence[Row], meaning: Meaning) -> dict[Piece, Counted]:
    by_piece: dict[Piece, dict[int, str | None]] = defaultdict(dict)
    if meaning.covers is not None:
        for unit in meaning.covers:
            by_piece[unit, ""] = {}
    for unit, recording, tick, _, value in rows:
        by_piece[unit or "", recording or ""][_step(tick or 0, meaning)] = value
    counted = {}
    for piece, values in by_piece.items():
        window = meaning.window
        if window is None and meaning.size is not None:
            window = range(meaning.size)
        if window is None:
            window = range(min(values), max(values) + 1)
        counted[piece] = _counted([values.get(place) for place in window], window, meaning)
    return counted


def _runs(rows: Sequence[Row], meaning: Meaning) -> dict[Piece, Counted]:
    counted = {}
    start, size = meaning.start or 0, meaning.size or 0
    window = range(size) if meaning.window is None else meaning.window
    for unit, (low, high) in (meaning.covers or {}).items():
        of_unit = sorted((row for row in rows if (row[0] or "") == unit), key=lambda row: row[2] or 0)
        covered = [place for place in range(size) if low <= start + place * meaning.step < high]
        if meaning.rows == "changes" and meaning.default is None and covered:
            first = start + covered[0] * meaning.step
            if not of_unit or (of_unit[0][2] or 0) > first:
                raise Refused({"no state at the start": [0]})
        values = list[str | None]()
        for place in window:
            values.append(_state(of_unit, start + place * meaning.step, meaning) if place in covered else None)
        counted[unit, ""] = _counted(values, window, meaning)
    return counted


def _state(rows: Sequence[Row], tick: int, meaning: Meaning) -> str | None:
    """Return the state of a step, None where a row says that it is missing, or no row says one."""
    if meaning.rows == "changes":
        inside = [row for row in rows if (row[2] or 0) <= tick]
    elif meaning.rows == "stays":
        inside = [row for row in rows if (row[2] or 0) <= tick and (row[3] is None or tick < row[3])]
    else:
        inside = [row for row in rows if tick <= (row[2] or 0) < tick + meaning.step]
    return inside[-1][4] if inside else meaning.default


def _counted(values: Sequence[str | None], window: range, meaning: Meaning) -> Counted:
    """Return the counts of a window's states; steps without a state are gaps."""
    counted = Counted(len(window), (range(len(window)),), values)
    seen = list[int]()
    for place, value in zip(window, values, strict=True):
        if value is not None:
            seen.append(place - window.start)
            counted.counts[value] += 1
        if value is not None and meaning.by:
            moment = EPOCH + timedelta(microseconds=(meaning.start or 0) + place * meaning.step)
            counted.by_cell[label(moment, meaning.by, meaning.zone), value] += 1
    if meaning.gaps == "public":
        counted.observed = _ranges(seen)
    return counted


def _ranges(places: Sequence[int]) -> tuple[range, ...]:
    faults: list[range] = []
    for place in places:
        if faults and faults[-1].stop == place:
            faults[-1] = range(faults[-1].start, place + 1)
        else:
            faults.append(range(place, place + 1))
    return tuple(faults)

"""Changes of a release file: keys with new values, as lines to paste under their section, and those that may help.

`what_if` is a change that tells what a belief costs. It is no remedy: it supposes what is not believed.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from takifugu.core.column_words import people_of
from takifugu.core.plain import Json, Plain, toml_of
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.worth import GOOD

Place = tuple[str | int, ...]
_SHORTER = "If everything lasted half as long as the belief says"
_FEWER = "If nobody was at more than {most} of the places (most = {most} under [belief])"
_STAY = re.compile(r"(\d+(?:\.\d+)?)(\s*\D+)")


@dataclass(frozen=True)
class Change:
    """One key of the release file and its new value; None takes the key out. `table` is the [[table]] it is of."""

    where: Place
    value: object
    table: str = ""

    @property
    def key(self) -> str:
        return str(self.where[-1])

    @property
    def section(self) -> str:
        """Return the section's header, as in the file."""
        if self.where[0] == "table":
            return f"[[table]] {toml_of(self.table)}" if self.table else "[[table]]"
        return ".".join(map(str, self.where[:-1])).join("[]") if len(self.where) > 1 else "the top of the file"

    @property
    def words(self) -> str:
        return f"no {self.key}" if self.value is None else f"{self.key} = {toml_of(self.value)}"

    @property
    def line(self) -> str:
        """Return the key's new line of TOML, or a removing comment."""
        return f"# take out the line {self.key} = ..." if self.value is None else self.words


def by_section(changes: Sequence[Change]) -> dict[str, list[Change]]:
    """Return changes by their section, in order."""
    sections: dict[str, list[Change]] = {}
    for change in changes:
        sections.setdefault(change.section, []).append(change)
    return sections


def words_of(changes: Sequence[Change]) -> str:
    """Return changes in a sentence."""
    parts = []
    for section, changes_in_section in by_section(changes).items():
        words = " and ".join(change.words for change in changes_in_section)
        parts.append(f"{words} in {section}")
    return ", ".join(parts)


def applied(raw: Plain, changes: Sequence[Change]) -> Json:
    """Return the parsed file with its changes."""
    new: Json = deepcopy(dict(raw))
    for change in changes:
        *sections, key = change.where
        place: Any = new
        for section in sections:
            place = place[section]
        if change.value is None:
            place.pop(key, None)
        else:
            place[key] = change.value
    return new


def in_text(text: str, changes: Sequence[Change]) -> str:
    """Return a drafted text with changes: a key's line is replaced, a new one stands at its section's start."""
    raw: Any = tomllib.loads(text)
    lines = text.splitlines()
    for change in changes:
        raw = applied(raw, [change])
        section, *steps = change.where
        number = steps.pop(0) if section == "table" else 0
        header = "[[table]]" if section == "table" else f"[{section}]"
        keys = raw[section][number] if section == "table" else raw[section] if steps else raw
        key = str(steps[0] if steps else section)
        first = [n for n, line in enumerate(lines, 1) if line == header][int(number)] if steps else 0
        last = next((n for n, line in enumerate(lines) if n >= first and line.startswith("[")), len(lines))
        old = next((n for n in range(first, last) if lines[n].startswith(f"{key} = ")), None)
        new = [f"{key} = {toml_of(keys[key])}"] if key in keys else []
        lines[slice(first, first) if old is None else slice(old, old + 1)] = new
    return "\n".join(lines)


def what_if(raw: Plain) -> tuple[Change, str] | None:
    """Return any belief of less noise, with its assumption in words."""
    shorter = half_as_long(raw)
    if shorter is not None:
        return shorter, _SHORTER
    belief = raw.get("belief", {})
    grid = belief.get("grid")
    if belief.get("kind") != "asymmetric" or not isinstance(grid, dict):
        return None
    declared, columns, rows = belief.get("most"), grid.get("columns"), grid.get("rows")
    if not isinstance(columns, int) or not isinstance(rows, int):
        return None
    # A person is at half as many places as declared, or at a tenth of the places of a grid.
    most = declared // 2 if isinstance(declared, int) else columns * rows // 10
    if most < 1:
        return None
    return Change(("belief", "most"), most), _FEWER.format(most=most)


def half_as_long(raw: Plain) -> Change | None:
    """Return the change to half as long stays, if any. The file must have stays or a matrix."""
    belief = raw.get("belief", {})
    if belief.get("kind") != "markov-chain":
        return None
    if isinstance(belief.get("mean_duration"), dict):
        stays = _half_of_stays(belief["mean_duration"])
        return None if stays is None else Change(("belief", "mean_duration"), stays)
    if isinstance(belief.get("mean_durations"), dict):
        by_cells = {name: _half_of_stays(stays) for name, stays in belief["mean_durations"].items()}
        return None if None in by_cells.values() else Change(("belief", "mean_durations"), by_cells)
    matrix = belief.get("matrix")
    if not isinstance(matrix, list):
        return None
    halved = []
    for state, row in enumerate(matrix):
        if not isinstance(row, list) or len(row) != len(matrix) or 2 * (1 - row[state]) > 1:
            return None
        leaving = [2 * p for p in row]
        leaving[state] = 1 - sum(p for i, p in enumerate(leaving) if i != state)
        halved.append(leaving)
    return Change(("belief", "matrix"), halved)


def _half_of_stays(stays: Mapping[str, object]) -> dict[str, object] | None:
    """Halve stays in steps or time ("6 h"), if all are readable."""
    halved: dict[str, object] = {}
    for state, stay in stays.items():
        if isinstance(stay, str) and (in_time := _STAY.fullmatch(stay)):
            halved[state] = f"{float(in_time[1]) / 2:g}{in_time[2]}"
        elif isinstance(stay, int | float) and not isinstance(stay, bool):
            halved[state] = stay / 2
        else:
            return None
    return halved


Idea = tuple[tuple[Change, ...], str]
#: Windows and calendar cells from fine to coarse.
_WINDOWS = ("day", "week", "month", "year")
_CALENDAR_CELLS = ("date", "week", "month")
#: A grid with fewer columns or rows tells hardly where anything is.
_FEWEST_BOXES = 3


def of_table(raw: Plain, index: int, key: str, value: object) -> Change:
    """Return the change of a key of one [[table]]."""
    return Change(("table", index, key), value, str(raw["table"][index].get("name", "")))


def ideas(raw: Plain, ratios: Mapping[int, float]) -> Iterator[Idea]:
    """Yield possible remedies, cheap ones first in case time runs out."""
    # `ratios` are those of the judged [[table]]s by number: a remedy of one that is not good is applied to all
    source, items = raw.get("source", {}), raw["table"]
    poor = [(index, items[index]) for index, ratio in ratios.items() if ratio > GOOD]
    people = people_of(source.get("unit"), source.get("called"))
    pooled, first_cells, last_cells, free = list[Change](), list[Change](), list[Change](), list[Change]()
    for i, item in poor:
        if item.get("per") in ("unit", "both"):
            pooled.append(of_table(raw, i, "per", "pooled"))
        if cells := list(_coarser(item)):
            first_cells.append(of_table(raw, i, "by", cells[0]))
            last_cells.append(of_table(raw, i, "by", cells[-1]))
        if item.get("mechanism", "auto") != "auto":
            free += [of_table(raw, i, key, None) for key in ("mechanism", "metric") if key in item]
    yield tuple(pooled), f"one table for {people.whose('pooled')}"
    yield from _windows(raw, poor)
    yield tuple(first_cells), "fewer cells"
    yield tuple(last_cells), "fewer cells"
    yield from _grids(raw)
    yield tuple(free), "the mechanism that adds least"
    if not source.get("single_release") and len(items) == 1:
        price = f"the price: nothing else may ever be released about these {people.many}"
        yield (Change(("source", "single_release"), True),), price
    yield from _shared(raw, items, ratios)


def _coarser(item: Plain) -> Iterator[str]:
    """Yield coarser `by`: one of two axes, or longer calendar cells."""
    by = item.get("by")
    if isinstance(by, list) and len(by) > 1:
        yield from by
    elif isinstance(by, str) and by in _CALENDAR_CELLS[:-1]:
        yield _CALENDAR_CELLS[_CALENDAR_CELLS.index(by) + 1]


def number_of(written: Number) -> float:
    """Read an epsilon, perhaps a text such as "1/3"."""
    return float(as_fraction(written, "epsilon"))


def _windows(raw: Plain, poor: Sequence[tuple[int, Plain]]) -> Iterator[Idea]:
    """Yield the calendar's next two longer windows, and the whole source."""
    for further in (1, 2):
        longer = []
        for i, item in poor:
            if item.get("every") in _WINDOWS[:-further]:
                coarser = _WINDOWS[_WINDOWS.index(item["every"]) + further]
                longer.append(of_table(raw, i, "every", coarser))
        yield tuple(longer), "a longer window"
    ends: list[Change] = []
    for i, item in poor:
        ends += [of_table(raw, i, key, None) for key in ("from", "to") if key in item]
    yield tuple(ends), "the whole window of the source"


def _grids(raw: Plain) -> Iterator[Idea]:
    """Yield a grid with places four times as large, if still informative."""
    belief = raw.get("belief", {})
    grid = belief.get("grid")
    if belief.get("kind") != "asymmetric" or not isinstance(grid, dict):
        return
    boxes = {key: grid[key] for key in ("columns", "rows") if isinstance(grid.get(key), int)}
    fewer = {key: count // 2 for key, count in boxes.items() if count // 2 >= _FEWEST_BOXES}
    if fewer:
        yield (Change(("belief", "grid"), {**grid, **fewer}),), "coarser places"


def _shared(raw: Plain, items: Sequence[Plain], ratios: Mapping[int, float]) -> Iterator[Idea]:
    """Yield other splits of several tables' epsilon: equal worth, or joint."""
    separate = [number_of(item["epsilon"]) for item in items if "epsilon" in item]
    if len(separate) < 2 or len(separate) < len(items) or len(ratios) < len(items):
        return
    parts = [epsilon * ratios[i] for i, epsilon in enumerate(separate)]
    total = math.fsum(separate)
    split = [math.floor(1000 * total * part / math.fsum(parts)) / 1000 for part in parts]
    if all(map(math.isfinite, parts)) and all(split):
        changes = tuple(of_table(raw, i, "epsilon", epsilon) for i, epsilon in enumerate(split))
        yield changes, "the same epsilon in all, split so that the tables are worth the same"
    taken_out = tuple(of_table(raw, i, "epsilon", None) for i in range(len(items)))
    yield (Change(("joint_epsilon",), total), *taken_out), "the tables share what they cost together"

"""What may help the tables of a release file at the same epsilon: each idea for all tables that it applies to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from takifugu.core.column_words import people_of
from takifugu.core.plain import Plain
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.changes import Change
from takifugu.releasing.advice.worth import GOOD
from takifugu.releasing.file.kinds import owner_column

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
    """Yield possible remedies, cheap ones first in case time runs out.

    `ratios` are those of the [[table]]s that are judged, by their number: what helps one that is not good is done to
    all of these.
    """
    source, items = raw.get("source", {}), raw["table"]
    poor = [(index, items[index]) for index, ratio in ratios.items() if ratio > GOOD]
    unit = owner_column(raw)
    pooled, first_cells, last_cells, free = list[Change](), list[Change](), list[Change](), list[Change]()
    for i, item in poor:
        if item.get("per") in ("unit", "both"):
            pooled.append(of_table(raw, i, "per", "pooled"))
        if cells := list(_coarser(item)):
            first_cells.append(of_table(raw, i, "by", cells[0]))
            last_cells.append(of_table(raw, i, "by", cells[-1]))
        if item.get("mechanism", "auto") != "auto":
            free += [of_table(raw, i, key, None) for key in ("mechanism", "metric") if key in item]
    whom = "the people in these data"
    if unit is not None:
        people = people_of(unit, source.get("called"))
        whom = f"these {people.many}"
        yield tuple(pooled), f"one table for {people.whose('pooled')}"
    yield from _windows(raw, poor)
    yield tuple(first_cells), "fewer cells"
    yield tuple(last_cells), "fewer cells"
    yield from _grids(raw)
    yield tuple(free), "the mechanism that adds least"
    if not source.get("single_release") and len(items) == 1:
        price = f"the price: nothing else may ever be released about {whom}"
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

"""What would make a table worth more: changes of the release file, each with the error that it promises.

A remedy changes what is published or what it may cost, never the belief. Each is the file itself with a few keys
changed, read and calibrated as the file was: applying it gives the error that it names.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takifugu.core.errors import TakifuguError
from takifugu.core.plain import Json, Plain
from takifugu.numbers.rationals import Number, as_fraction
from takifugu.releasing.advice.advising import TableAdvice, advice_of, poorest
from takifugu.releasing.advice.worth import GOOD, Worth, worst
from takifugu.releasing.file.guessing.column_words import people_of
from takifugu.releasing.file.loading import checked
from takifugu.releasing.file.problems import toml_of
from takifugu.releasing.planning.plan import calibrated

#: A search for remedies calibrates no more files, and begins none after so many seconds of work (a busy machine does
#: not change what is advised).
MOST_TRIED, SECONDS = 10, 10.0
#: No remedy asks for a larger epsilon: a suspicion of 1 % could become one of 60 %.
LARGEST_EPSILON = 5.0
#: Windows and calendar cells from fine to coarse.
_WINDOWS = ("day", "week", "month", "year")
_CALENDAR_CELLS = ("date", "week", "month")

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Change:
    """One key of the release file and its new value; None takes the key out."""

    where: Place
    value: object

    @property
    def words(self) -> str:
        """Write the change as a line of TOML, after the section that it belongs to."""
        key = str(self.where[-1])
        return f"without {key}" if self.value is None else f"{key} = {toml_of(self.value)}"


@dataclass(frozen=True)
class Remedy:
    """Changes of the release file, and what its worst table is worth with them."""

    changes: tuple[Change, ...]
    table: str
    why: str
    worth: Worth
    measured_in: str = ""

    @property
    def words(self) -> str:
        """Write the changes as they stand in the file."""
        return "; ".join(change.words for change in self.changes)

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        changes = [{"where": list(change.where), "value": change.value} for change in self.changes]
        return {
            "table": self.table, "changes": changes, "why": self.why, "verdict": str(self.worth.verdict),
            "ratio": self.worth.ratio_or_none, "error_of_a_cell": self.worth.cell.width,
            "error_of_a_difference": None if self.worth.difference is None else self.worth.difference.width,
        }  # fmt: skip


def remedies(
    raw: Plain, path: Path, tables: Sequence[TableAdvice], data: object = None, seconds: float = SECONDS
) -> tuple[Remedy, ...]:
    """Return what helps the worst table, the best first, then what changes fewest keys.

    `raw` is the parsed release file that lies at `path`, `tables` what its tables are worth now. What does not help,
    and what the file refuses, is left out. Ten files are tried at most, and none is begun after so many
    `seconds` of work.
    """
    judged = poorest(tables)
    if judged is None:
        return ()
    table, now = judged
    search = _Search(raw, path, data, table, now, seconds)
    for changes, why in _candidates(raw, table):
        search.tries(changes, why)
    structural = min(search.better, key=lambda remedy: remedy.worth.ratio, default=None)
    _enough_epsilon(search, (), now.ratio)
    if structural is not None:
        _enough_epsilon(search, structural.changes, structural.worth.ratio)
    useful = [remedy for remedy in search.better if remedy.worth.verdict.is_useful]
    return tuple(sorted(useful or search.better, key=lambda remedy: (remedy.worth.ratio, len(remedy.changes))))


class _Search:
    """The changes that were tried, within the limits, and those that helped."""

    def __init__(
        self, raw: Plain, path: Path, data: object, table: TableAdvice, now: Worth, seconds: float
    ) -> None:
        self.raw, self.path, self.data, self.table, self.now = raw, path, data, table, now
        self.ends, self.tried = time.process_time() + seconds, 0
        self.better: list[Remedy] = []

    def tries(self, changes: tuple[Change, ...], why: str) -> Worth | None:
        """Return what the worst table is worth with these changes; None where they are refused, or time is over."""
        if self.tried >= MOST_TRIED or time.process_time() > self.ends:
            return None
        self.tried += 1
        made = worth_with(self.raw, self.path, changes, self.data)
        if made is not None and made.ratio < self.now.ratio:
            self.better.append(Remedy(changes, self.table.name, why, made, self.table.measured_in))
        return made


def _enough_epsilon(search: _Search, with_changes: tuple[Change, ...], ratio: float) -> None:
    """Try larger epsilons until the table is good: the error falls faster than one over epsilon, or more slowly.

    `with_changes` are made, too; with them and the file's epsilon the ratio is `ratio`.
    """
    item, at = _item_of(search.raw, search.table)
    key: Place = (*at, "epsilon") if "epsilon" in item else ("joint_epsilon",)
    if any(change.where == key for change in with_changes):
        return
    epsilon = _number(item.get("epsilon", search.raw.get("joint_epsilon", 1)))
    while ratio > GOOD:
        wanted = min(_two_digits(epsilon * ratio / GOOD), LARGEST_EPSILON)
        if wanted <= epsilon:
            return
        made = search.tries((*with_changes, Change(key, wanted)), "a weaker promise: suspicions may grow more")
        if made is None:
            return
        epsilon, ratio = wanted, made.ratio


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


def worth_with(raw: Plain, path: Path, changes: Sequence[Change], data: object) -> Worth | None:
    """Return what the worst table of the changed file is worth; None where it is refused, or a table has no verdict."""
    try:
        tables = advice_of(calibrated(checked(applied(raw, changes), path, data)))
    except TakifuguError:
        return None
    worths = [table.worth for table in tables if table.worth is not None]
    return worst(worths) if len(worths) == len(tables) else None


def _candidates(raw: Plain, table: TableAdvice) -> Iterator[tuple[tuple[Change, ...], str]]:
    """Yield what may help: cheap ideas first, so that a limit of time leaves out the far-fetched ones."""
    item, at = _item_of(raw, table)
    items = raw["release"]
    source = raw.get("source", {})
    if item.get("per") in ("unit", "both") and "unit" in source:
        yield (Change((*at, "per"), "pooled"),), f"one table for {people_of(str(source['unit'])).whose('pooled')}"
    for coarser in _coarser(item):
        yield (Change((*at, "by"), coarser),), "fewer cells"
    if item.get("every") in _WINDOWS[:-1]:
        longer = _WINDOWS[_WINDOWS.index(item["every"]) + 1]
        yield (Change((*at, "every"), longer),), "a longer window"
    if item.get("mechanism", "auto") != "auto":
        yield (Change((*at, "mechanism"), None),), "the mechanism that adds least"
    if not source.get("only_release") and len(items) == 1:
        yield (Change(("source", "only_release"), True),), "nothing else is ever released about these data"
    separate = [i for i, one in enumerate(items) if "epsilon" in one]
    if len(separate) > 1 and len(separate) == len(items):
        together = math.fsum(_number(one["epsilon"]) for one in items)
        taken_out = tuple(Change(("release", i, "epsilon"), None) for i in separate)
        yield (Change(("joint_epsilon",), together), *taken_out), "the tables share what they cost together"


def _coarser(item: Plain) -> Iterator[str]:
    """Yield what a table could be by instead: one of its two axes, or longer cells of the calendar."""
    by = item.get("by")
    if isinstance(by, list) and len(by) > 1:
        yield from by
    elif isinstance(by, str) and by in _CALENDAR_CELLS[:-1]:
        yield _CALENDAR_CELLS[_CALENDAR_CELLS.index(by) + 1]


def _item_of(raw: Plain, table: TableAdvice) -> tuple[Plain, Place]:
    """Return the [[release]] that a table comes from, and its place in the file."""
    items = raw["release"]
    names = [str(item.get("name")) for item in items]
    index = max((i for i, name in enumerate(names) if table.name.startswith(name)), key=lambda i: len(names[i]))
    return items[index], ("release", index)


def _two_digits(value: float) -> float:
    """Round up to two significant digits."""
    if not 0 < value < math.inf:
        return math.inf
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(value / step - 1e-9) * step, 10)


def _number(written: Number) -> float:
    """Read an epsilon, which may be a text such as "1/3"."""
    return float(as_fraction(written, "epsilon"))

"""Changes of a release file: keys with new values, as lines that can be pasted under the section that they are of.

`what_if` is a change that tells what a belief costs. It is no remedy: it supposes what is not believed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from takifugu.core.plain import Json, Plain, toml_of

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
    """Return changes by their section, in order.

    >>> split = Change(("table", 0, "epsilon"), 0.5, "use"), Change(("source", "budget"), 2)
    >>> list(by_section(split))
    ['[[table]] "use"', '[source]']
    """
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
    """Return a drafted text with changes: a key's line is replaced, a new one stands at its section's start.

    >>> print(in_text("[source]\\nbudget = 1 # most", [Change(("source", "budget"), 2)]))
    [source]
    budget = 2
    """
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
    """Return the change to half as long stays, if any.

    The file must have stays or a matrix.
    """
    belief = raw.get("belief", {})
    if belief.get("kind") != "markov-chain":
        return None
    if isinstance(belief.get("mean_duration"), dict):
        return _half_of_stays(belief["mean_duration"])
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


def _half_of_stays(stays: Mapping[str, object]) -> Change | None:
    """Halve stays in steps or time ("6 h"), if all are readable."""
    halved: dict[str, object] = {}
    for state, stay in stays.items():
        if isinstance(stay, str) and (in_time := _STAY.fullmatch(stay)):
            halved[state] = f"{float(in_time[1]) / 2:g}{in_time[2]}"
        elif isinstance(stay, int | float) and not isinstance(stay, bool):
            halved[state] = stay / 2
        else:
            return None
    return Change(("belief", "mean_duration"), halved)

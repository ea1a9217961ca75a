"""Changes of a release file: keys with new values, as lines that can be pasted under the section that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from takifugu.core.plain import Json, Plain
from takifugu.core.text.toml import toml_of

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Change:
    """One key of the release file and its new value; None takes the key out. `table` is the [[release]] it is of."""

    where: Place
    value: object
    table: str = ""

    @property
    def key(self) -> str:
        return str(self.where[-1])

    @property
    def section(self) -> str:
        """Return the section's header, as in the file."""
        if self.where[0] == "release":
            return f"[[release]] {toml_of(self.table)}" if self.table else "[[release]]"
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

    >>> split = Change(("release", 0, "epsilon"), 0.5, "use"), Change(("source", "budget"), 2)
    >>> list(by_section(split))
    ['[[release]] "use"', '[source]']
    """
    sections: dict[str, list[Change]] = {}
    for change in changes:
        sections.setdefault(change.section, []).append(change)
    return sections


def lines_of(changes: Sequence[Change]) -> list[str]:
    """Return changes as lines of the file, under comments naming sections."""
    lines = []
    for section, ones in by_section(changes).items():
        lines += [f"# in {section}", *(change.line for change in ones)]
    return lines


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

"""Guess what the columns of a table mean: the unit of a row, its piece, its order, its state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from takifugu.frames import Table, column_kinds, text_of
from takifugu.frames.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO

#: How many rows are inspected.
LOOKED_AT = 10_000
#: A column with more distinct values than this is not taken for a column of states.
MOST_STATES = 20

#: Words in a column's name that suggest a role.
_WORDS = {
    "unit": (
        "unit person participant user subject patient individual respondent customer client member device phone sensor "
        "household home vehicle car animal id uid pid who name student employee worker station cow owner"
    ),
    "piece": "piece segment bout session run trip episode block night visit recording part sequence seq track stay",
    "order": (
        "order time timestamp ts date datetime minute min hour second sec day week month year step t tick index idx "
        "position pos frame epoch at when nr number"
    ),
    "value": (
        "value state status activity posture behaviour behavior label class category mode event condition location "
        "place room zone level diagnosis result code action phase stage symptom"
    ),
}


@dataclass(frozen=True)
class Column:
    """A column's name, the kind of its values, and the role that it seems to have; `labels` are private."""

    name: str
    kind: str
    role: str | None
    labels: tuple[str, ...] = field(repr=False)


def look_at(table: Table) -> tuple[Column, ...]:
    """Return the columns of a table with their guessed kinds and roles, from their names and their first rows.

    Raises DataError for a table that cannot be read.
    """
    start = table.head(LOOKED_AT)
    rows, kinds = _first_rows(start), column_kinds(start)
    seen = {name: _Seen(name, kinds[name], values) for name, values in rows.items()}
    found: dict[str, str] = {}
    for role in ("order", "value", "unit", "piece"):
        scores = {name: column.score(role) for name, column in seen.items() if name not in found.values()}
        best = max(scores, key=lambda name: scores[name], default=None)
        if best is not None and scores[best] >= 2:
            found[role] = best
    for role in ("unit", "piece"):
        if role not in found and (by := _what_sorts(rows, seen, found)) is not None:
            found[role] = by
    roles = {name: role for role, name in found.items()}
    return tuple(Column(s.name, s.kind, roles.get(s.name), s.labels) for s in seen.values())


def _what_sorts(rows: dict[str, list[str | None]], seen: dict[str, _Seen], found: dict[str, str]) -> str | None:
    """Return the column without which the rows of a unit would not rise in the order column, if there is one."""
    order = found.get("order")
    if order is None:
        return None
    ranks = _ranks([v or "0" for v in rows[order]], seen[order].kind)
    keys = [found[role] for role in ("unit", "piece") if role in found]
    if _rises(ranks, [rows[key] for key in keys]):
        return None
    free = (c for c in seen.values() if c.name not in found.values() and c.kind in (WHOLE, TEXTS) and len(c.labels) > 1)
    return next((c.name for c in free if _rises(ranks, [rows[key] for key in (*keys, c.name)])), None)


def _rises(ranks: Sequence[Any], keys: Sequence[Sequence[str | None]]) -> bool:
    last: dict[tuple[str | None, ...], Any] = {}
    for rank, *key in zip(ranks, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None and not before < rank:
            return False
        last[tuple(key)] = rank
    return True


def _first_rows(table: Table) -> dict[str, list[str | None]]:
    names = [name for name in dict.fromkeys(table.names) if name]
    if table.in_python:
        lists = table.lists({name: name for name in names})
        return {name: [_present(v, table) for v in values] for name, values in lists.items()}
    from takifugu.frames.engines import careful, collected

    with careful(table.source):
        frame = table.pick({f"c{i}": name for i, name in enumerate(names)})
        rows = list(collected(frame))
    return {name: [_present(row[i], table) for row in rows] for i, name in enumerate(names)}


def _present(value: Any, table: Table) -> str | None:
    text = value.isoformat(" ") if isinstance(value, datetime) else text_of(value)
    return None if text is None or text in table.missing else text


class _Seen:
    """What the first rows of a column look like."""

    def __init__(self, name: str, kind: str, values: Sequence[str | None]) -> None:
        present = [v for v in values if v is not None]
        self.name, self.rows, self.kind = name, len(present), kind
        self.labels = tuple(dict.fromkeys(present))
        self.runs = sum(a != b for a, b in pairwise(present)) + 1
        ranks = _ranks(present, self.kind)
        self.rising = sum(a < b for a, b in pairwise(ranks)) / max(len(ranks) - 1, 1)
        self.words = {w for w in re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()) if w}

    def named(self, role: str) -> int:
        return 3 * bool(self.words & set(_WORDS[role].split()))

    def score(self, role: str) -> int:
        """Return how much the column looks like one of this role: 2 is enough."""
        different = len(self.labels)
        if not self.rows:
            return 0
        named = self.named(role)
        if role == "order":
            if self.kind not in (TIMES, WHOLE, NUMBERS) or different < 2:
                return 0
            return named + 3 * int(self.kind == TIMES) + 2 * int(self.rising >= 0.8) + int(different > MOST_STATES)
        if role == "value":
            if different > MOST_STATES or self.kind in (TIMES, NUMBERS) or self.rows < 2:
                return 0
            recurs = 1 if self.runs > different else -1
            return named + 2 * (self.kind in (TEXTS, YES_NO)) + recurs - self.named("unit") - self.named("piece")
        if role == "unit":
            if self.kind == NUMBERS or different > max(1, self.rows // 2):
                return 0
            return named + 2 * (different > 1 and self.runs == different)
        return named if self.kind in (WHOLE, TEXTS) and different <= max(1, self.rows // 2) else 0


def _ranks(values: Sequence[str], kind: str) -> list[Any]:
    if kind in (WHOLE, NUMBERS):
        return [float(v) for v in values]
    return list(values) if kind == TIMES else []



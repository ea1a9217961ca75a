"""Guess what the columns of a table mean: the unit of a row, its piece, its order, its state."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

from takifugu.data import Numerals, Table, TimeFormat, Written, column_kinds, text_of
from takifugu.data.files.sniff import numerals_of, time_format
from takifugu.data.kinds import NUMBERS, TEXTS, TIMES, WHOLE, YES_NO
from takifugu.releasing.file.column_words import GROUPS, WHEN, WORDS, words_in

#: How many rows are inspected, at most, and of a wide table how many cells.
LOOKED_AT, CELLS = 10_000, 1_000_000
#: A column with more distinct values than this is not taken for a column of states.
MOST_STATES = 20


@dataclass(frozen=True)
class Column:
    """A column's name, the kind of its values, the role that it seems to have, why, and how sure that is.

    `form` is the format of its times, where that is not ISO 8601, and `written` how its table is written; `labels` are
    private.
    """

    name: str
    kind: str
    role: str | None
    labels: tuple[str, ...] = field(repr=False)
    why: str = ""
    sure: str = ""
    form: str | None = None
    written: Written = field(default_factory=Written, repr=False)


#: The keys of [source] that name a column of sequences, and what such a column must look like.
SEQUENCE_ROLES: Mapping[str, str] = {"order": "order", "value": "value", "unit": "unit", "piece": "piece"}
#: What a guess of so many points is called, and how far the next best must be behind.
_SURE, _LIKELY, _ENOUGH = 5, 3, 2


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What the first rows of a table look like, column by column, and how the table is written; all of it is private.

    `rows` are the texts of the inspected rows by column, None where one is missing.
    """

    columns: Mapping[str, Seen]
    rows: Mapping[str, Sequence[str | None]] = field(repr=False)
    written: Written = field(repr=False)


def looked_at(columns: int) -> int:
    """Return how many rows of a table of so many columns are inspected.

    >>> looked_at(3), looked_at(600)
    (10000, 1666)
    """
    return min(LOOKED_AT, CELLS // max(columns, 1))


def first_look(table: Table) -> FirstLook:
    """Read the first rows of a table, and of each column what it holds; DataError for one that cannot be read."""
    start = table.head(looked_at(len(table.names)))
    rows = _first_rows(start)
    texts = {name: [v for v in values if v is not None] for name, values in rows.items()}
    forms = {name: time_format(some) for name, some in texts.items()}
    numerals = numerals_of([some for name, some in texts.items() if forms[name] is None])
    written = replace(start.written, numerals=numerals) if start.numerals.usual else start.written
    start = replace(start, written=written)
    kinds = {**column_kinds(start, texts), **{name: TIMES for name, form in forms.items() if form is not None}}
    seen = {name: Seen(name, kinds[name], values, written.numerals, forms[name]) for name, values in rows.items()}
    return FirstLook(seen, rows, written)


def with_roles(look: FirstLook, roles: Mapping[str, str] = SEQUENCE_ROLES) -> tuple[Column, ...]:
    """Return the columns with the roles that they seem to have.

    `roles` are the keys of [source] that name columns, each with what its column looks like: in "order", a "value", a
    "unit" or "piece" of several rows, a "person" of one row, a "group".
    """
    seen, rows = look.columns, look.rows
    column_of: dict[str, str] = {}
    reasons: dict[str, tuple[str, str]] = {}
    for role, like in roles.items():
        scores = {name: column.score(like) for name, column in seen.items() if name not in column_of.values()}
        best = max(scores, key=lambda name: scores[name].points, default=None)
        if best is not None and scores[best].points >= _ENOUGH:
            column_of[role] = best
            reasons[best] = (scores[best].why, _how_sure(best, scores))
    for role in ("unit", "piece"):
        if role in roles and role not in column_of and (by := _what_sorts(rows, seen, column_of)) is not None:
            column_of[role] = by
            reasons[by] = ("without it the order would not rise", "likely")
    named = {name: role for role, name in column_of.items()}
    return tuple(
        Column(s.name, s.kind, named.get(s.name), s.labels, *reasons.get(s.name, ("", "")), form, look.written)
        for s, form in ((s, s.epoch if named.get(s.name) == "order" else s.form) for s in seen.values())
    )


def _how_sure(best: str, scores: Mapping[str, Score]) -> str:
    points = scores[best].points
    next_best = max((score.points for name, score in scores.items() if name != best), default=0)
    if points >= _SURE and next_best < _ENOUGH:
        return "sure"
    return "likely" if points >= _LIKELY and next_best < points else "a guess"


@dataclass(frozen=True)
class Score:
    """How much a column looks like one of a role, and what speaks for it."""

    points: int = 0
    why: str = ""


def _what_sorts(
    rows: Mapping[str, Sequence[str | None]], seen: Mapping[str, Seen], column_of: dict[str, str]
) -> str | None:
    """Return the column without which the rows of a unit would not rise in the order column, if there is one."""
    order = column_of.get("order")
    if order is None:
        return None
    ranks = seen[order].ranks(rows[order])
    keys = [column_of[role] for role in ("unit", "piece") if role in column_of]
    if _rises(ranks, [rows[key] for key in keys]):
        return None
    left = (c for c in seen.values() if c.name not in column_of.values() and not c.tells_when)
    free = (c for c in left if c.kind in (WHOLE, TEXTS) and len(c.labels) > 1)
    return next((c.name for c in free if _rises(ranks, [rows[key] for key in (*keys, c.name)])), None)


def _rises(ranks: Sequence[Hashable], keys: Sequence[Sequence[str | None]]) -> bool:
    last: dict[tuple[str | None, ...], Hashable] = {}
    for rank, *key in zip(ranks, *keys, strict=True):
        before = last.get(tuple(key))
        if before is not None and not before < rank:
            return False
        last[tuple(key)] = rank
    return True


def _first_rows(table: Table) -> dict[str, list[str | None]]:
    names = [name for name in dict.fromkeys(table.names) if name and table.names.count(name) == 1]
    if table.in_python:
        lists = table.lists({name: name for name in names})
        return {name: _all_present(values, table) for name, values in lists.items()}
    from takifugu.data.engines.differences import careful, collected

    with careful(table.source):
        frame = table.pick({f"c{i}": name for i, name in enumerate(names)})
        rows = list(collected(frame))
    return {name: _all_present([row[i] for row in rows], table) for i, name in enumerate(names)}


def _all_present(values: Sequence[Hashable], table: Table) -> list[str | None]:
    known = {value: _present(value, table) for value in {value for value in values if type(value) is str}}
    return [known[value] if type(value) is str else _present(value, table) for value in values]


def _present(value: object, table: Table) -> str | None:
    text = value.isoformat(" ") if isinstance(value, datetime) else text_of(value)
    return None if text is None or text in table.missing else text


class Seen:
    """What the first rows of a column look like."""

    def __init__(
        self, name: str, kind: str, values: Sequence[str | None], numerals: Numerals, form: str | None
    ) -> None:
        present = [v for v in values if v is not None]
        self.name, self.rows, self.kind, self.numerals, self.form = name, len(present), kind, numerals, form
        self.labels = tuple(dict.fromkeys(present))
        self.runs = sum(a != b for a, b in pairwise(present)) + 1
        ranks = self.ranks(present)
        self.rising = sum(a < b for a, b in pairwise(ranks)) / max(len(ranks) - 1, 1)
        self.words = words_in(name)

    @cached_property
    def stem(self) -> str:
        """Return the name without what tells two like it apart: a digit or one letter at its end."""
        return re.sub(r"(?i)(?:[ _-]?[0-9]+|[ _-][abij])$", "", self.name).strip().lower()

    @property
    def decimals(self) -> int:
        """Return how many digits most numbers have behind the point."""
        behind = sorted(len(self.numerals.plain(text).partition(".")[2]) for text in self.labels)
        return behind[len(behind) // 2] if behind else 0

    @property
    def is_epoch(self) -> bool:
        """Return whether the column rises in seconds or milliseconds since 1970."""
        return self.kind in (WHOLE, NUMBERS) and self.epoch is not None

    @property
    def epoch(self) -> str | None:
        """Return the format of the column's times, "epoch" and "epoch_ms" for whole numbers since 1970."""
        if self.kind not in (WHOLE, NUMBERS) or not self.labels:
            return self.form
        first = float(self.numerals.plain(self.labels[0]))
        return "epoch" if 1e9 <= first < 1e10 else "epoch_ms" if 1e12 <= first < 1e13 else None

    @property
    def tells_when(self) -> bool:
        """Return whether the column holds dates or times, or numbers of days, months or years."""
        return self.kind == TIMES or bool(self.words & WHEN)

    def ranks(self, values: Sequence[str | None]) -> list[Any]:
        """Return what the values are compared by; missing ones are the least."""
        if self.form is not None:
            read = TimeFormat(self.form).read
            return [(None if v is None else read(v)) or datetime.min for v in values]
        if self.kind in (WHOLE, NUMBERS):
            number = {v: float("-inf") if v is None else float(self.numerals.plain(v)) for v in set(values)}
            return [number[v] for v in values]
        return [v or "" for v in values] if self.kind == TIMES else []

    def named(self, role: str) -> int:
        return 3 * bool(self.words & WORDS[role])

    def score(self, role: str) -> Score:
        """Return how much the column looks like one of this role: 2 points are enough."""
        if not self.rows:
            return Score()
        named = {self.named(role): "its name"} if role in WORDS else {}
        scores = {"order": self._order, "value": self._value, "unit": self._unit, "piece": self._piece,
                 "person": self._person, "group": self._group}[role]()  # fmt: skip
        if scores is None:
            return Score()
        reasons = [*named.items(), *scores]
        return Score(sum(points for points, _ in reasons), ", ".join(why for points, why in reasons if points > 0))

    def _order(self) -> list[tuple[int, str]] | None:
        different = len(self.labels)
        if self.kind not in (TIMES, WHOLE, NUMBERS) or different < 2:
            return None
        return [
            (3 * (self.kind == TIMES), "it holds times"), (2 * (self.rising >= 0.8), "it rises"),
            (int(different > MOST_STATES), "many values"),
        ]  # fmt: skip

    def _value(self) -> list[tuple[int, str]] | None:
        different = len(self.labels)
        if different > MOST_STATES or self.kind in (TIMES, NUMBERS) or self.rows < 2:
            return None
        return [
            (2 * (self.kind in (TEXTS, YES_NO)), "a few words"),
            (1 if self.runs > different else -1, "they recur"), (-self.named("unit") - self.named("piece"), ""),
        ]  # fmt: skip

    def _unit(self) -> list[tuple[int, str]] | None:
        different = len(self.labels)
        if self.kind == NUMBERS or self.tells_when or different > max(1, self.rows // 2):
            return None
        return [(2 * (different > 1 and self.runs == different), "rows of one stand together")]

    def _piece(self) -> list[tuple[int, str]] | None:
        different = len(self.labels)
        return [] if self.kind in (WHOLE, TEXTS) and different <= max(1, self.rows // 2) else None

    def _person(self) -> list[tuple[int, str]] | None:
        if self.kind not in (WHOLE, TEXTS) or self.tells_when or self.rows < 2 or len(self.labels) < self.rows:
            return None
        return [(self.named("unit"), "its name"), (2, "each row has another")]

    def _group(self) -> list[tuple[int, str]] | None:
        different = len(self.labels)
        if self.kind not in (WHOLE, TEXTS) or self.tells_when or not 1 < different <= MOST_STATES:
            return None
        return [(3 * bool(self.words & GROUPS), "its name"), (different * 3 <= self.rows, "a few values recur")]

"""Which values can be told from their noise, before they are published and afterwards: the one rule for all.

A value is readable if it is at least as large as its 95 % error: before, what is expected of it; afterwards, what was
published. A mean is readable if its error is at most the difference that matters to its reader, whatever its size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from takifugu.core.plain import Json, Plain, Row
from takifugu.releasing.certificates.cells import READABLE

#: What counts something: its answers are never below 0.
_COUNTS = ("count", "count-above", "histogram", "count-rows", "cross-table", "visitors")
#: Numbers of which the size says nothing of how well they are known.
_SIZELESS = ("mean", "quantile")
#: One person's own value, often a code: it is judged by the error of one value, and not by its size.
_OF_ONE = "identity"


def is_off_zero(low: float, high: float, can_be_negative: bool = False) -> bool:
    """Return whether an interval tells its value from 0.

    >>> is_off_zero(44 - 63, 44 + 63), is_off_zero(0, 126), is_off_zero(-133, -7), is_off_zero(-133, -7, True)
    (False, True, False, True)
    """
    return low >= 0 or (can_be_negative and high <= 0)


def counts(query: Plain) -> bool:
    """Return whether a written query's cells count something."""
    return _kind(query) in _COUNTS


def _kind(query: Plain) -> str:
    """Return the kind of query in each cell."""
    inner_query = query.get("query")
    return str(query.get("kind")) if inner_query is None else _kind(inner_query)


@dataclass(frozen=True)
class Rule:
    """What decides of the rows of one table: the kind of its query, and which difference matters, where that is known.

    >>> rule = Rule({"kind": "count"})
    >>> rule.of({"value": 44, "low": -19, "high": 107}), rule.of({"value": 7, "low": None, "high": None})
    (False, None)
    """

    query: Plain
    matters: float | None = None

    def of(self, row: Row) -> bool | None:
        """Return whether a published value is readable, or None without error bounds."""
        value, low, high = map(row.get, ("value", "low", "high"))
        if low is None or high is None or not isinstance(value, int | float) or _kind(self.query) == _OF_ONE:
            return None
        if _kind(self.query) in _SIZELESS:
            return None if self.matters is None else max(value - low, high - value) <= self.matters
        return is_off_zero(low, high, not counts(self.query))

    def added(self, rows: Iterable[Row]) -> list[Json]:
        """Return rows with the rule's column, unless it is empty."""
        judged = [{**row, READABLE: self.of(row)} for row in rows]
        if all(row[READABLE] is None for row in judged):
            for row in judged:
                del row[READABLE]
        return judged

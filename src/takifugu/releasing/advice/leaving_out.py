"""Rows that do not count, counted for their owner alone: where they may be many, no table is good."""

from __future__ import annotations

from dataclasses import dataclass

from takifugu.core.errors import TakifuguError
from takifugu.core.sections import written
from takifugu.data.relation.source import Table
from takifugu.releasing.file.kind import ReleaseFile

#: A table is not good where more than one row in so many does not count.
ONE_IN = 10


@dataclass(frozen=True)
class LeftOut:
    """How many of a table's rows `where` leaves out; private."""

    rows: int
    dropped: int
    rule: str

    @property
    def words(self) -> str:
        """Say how many rows do not count, and by which rule."""
        return f"{self.dropped:,} of {self.rows:,} rows do not count ({self.rule})"


def rules_that_drop(file: ReleaseFile) -> list[str]:
    """Return the declared rules that may leave rows out: `where`, a filter in `sql`, and missing states."""
    rules, keys = list[str](), dict(file.source)
    if keys.get("where") is not None:
        rules.append(f"where = {keys['where']}")
    if isinstance(file.opened, Table) and file.opened.opened.filters:
        rules.append("a filter in sql")
    if written(file.source, ("nulls",)) and keys.get("nulls") == "unobserved":
        rules.append('nulls = "unobserved"')
    return rules


def left_out(file: ReleaseFile) -> LeftOut | None:
    """Count the rows that `where` leaves out; None where they cannot be counted."""
    if dict(file.source).get("where") is None:
        return None
    try:
        rows, dropped = file.table.left_out()
        return LeftOut(rows, dropped, f"where = {dict(file.source)['where']}")
    except TakifuguError:
        return None  # what is wrong with them is said by what reads them


def in_place_of_good(file: ReleaseFile, is_seen: bool = False) -> str:
    """Return the words in place of a verdict "good", "" where it may stand."""
    rules = rules_that_drop(file)
    if not rules:
        return ""
    # published words depend on no row; the count is for a terminal that nobody but the owner sees
    if is_seen and len(rules) == 1 and (lost := left_out(file)) is not None:
        return lost.words if lost.dropped * ONE_IN > lost.rows else ""
    return f"rows may be left out ({' and '.join(rules)})"

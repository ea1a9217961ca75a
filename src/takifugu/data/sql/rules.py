"""What a role may depend on: whose, when and which rows not on what is hidden, and a value on one row alone."""

from __future__ import annotations

from collections.abc import Mapping

from takifugu.data.sql.faults import wrong_key
from takifugu.data.sql.scopes import LINES, NOTHING, Cells, together

#: What to write in place of a filter by what is hidden, where rows have a time, and where they have none.
_COVERED = 'declare a roster, and of steps from, until and gaps = "hidden"; or filter by other columns'
_KEPT = (
    "keep such rows with a value of their own, such as CASE WHEN answer <> 'no' THEN answer ELSE 'other' END; or "
    "filter by other columns"
)
_UNPIVOT = "; or write UNPIVOT INCLUDE NULLS, if it is UNPIVOT that leaves out empty cells"


def check_dependence(
    roles: Mapping[str, Cells], filters: Cells, is_distinct: bool, is_covered: bool, has_ties: bool,
    rows: str = "samples", order: Cells = NOTHING,
) -> None:  # fmt: skip
    """Raise InputError for a role, or for rows, that depend on what is hidden."""
    # A value of a record must go into one row: else it changes several, and is charged once. Who, when and which rows
    # must not depend on hidden values: else lengths, gaps or the presence of a unit publish them exactly. So `filters`
    # (which rows `sql` gives) may look at values only if it `is_covered`: units, lengths and gaps are then declared.
    # `has_ties` says that two rows of one unit (and of one step) are refused. Of visits nothing of this is public, and
    # a filter may look at the place; but that there is a visit is hidden itself, so that each counts by itself alone.
    # `order` decides in which order rows are published one by one: sorted by a value, each would tell its rank.
    hidden = {cell: places for cell, places in roles.get("value", {}).items() if cell[0] != LINES}
    if rows == "visits":
        _check_visits(together(*roles.values(), filters))
    for key, cells in (("value", hidden), ("where", roles.get("where", {})), ("sql", filters)):
        reached = together(hidden, cells)
        several = sorted({repr(name[:60]) for scan, name in hidden if len(reached[scan, name]) > 1})
        if several:
            raise wrong_key(
                key, f"a value of {', '.join(several)} goes into several rows, or decides about others", "it has one",
                "take value from the table that FROM names first, without windows over it; filter by other columns",
            )  # fmt: skip
    for role, cells in roles.items():
        both = _common(cells, hidden) if role not in ("value", "where") else ""
        if both:
            key = "group" if role.startswith("by") else role
            raise wrong_key(
                key, f"{key} depends on {both}, as value does", "whose a row is, and when, is public",
                f"compute {key} from other columns",
            )  # fmt: skip
    for key, cells in (("where", roles.get("where", {})), ("sql", filters)):
        both = _common(cells, hidden)
        if both and not is_covered and rows != "visits":
            raise wrong_key(
                key, f"which rows there are depends on {both}, as value does",
                "lengths, gaps and people are public, and would show the value",
                (_KEPT if rows == "answers" else _COVERED) + (_UNPIVOT if key == "sql" else ""),
            )  # fmt: skip
    if both := _common(order, hidden):
        raise wrong_key(
            "sql", f"the order of rows depends on {both}, as value does",
            "each row is published at its place, which would show the value",
            "leave out what sorts or compares by it, such as ORDER BY and DISTINCT; or sort by other columns",
        )  # fmt: skip
    if is_distinct and not has_ties and _common(together(*roles.values(), filters), hidden):
        raise wrong_key(
            "sql", "DISTINCT over rows that are nobody's", "two people with the same answers are two",
            "name the person; or leave DISTINCT out",
        )  # fmt: skip


def _check_visits(cells: Cells) -> None:
    """Raise InputError where a visit decides about another one, or about its row."""
    # what is left of a visit then follows from its record alone: one that is taken away takes its rows and no others,
    # as the same move among the declared places does, or takes away none
    visited = {scan for (scan, _), places in cells.items() if any("*" not in place for place in places)} | {LINES}
    for (scan, name), places in cells.items():
        if scan in visited and any("*" in place for place in places):
            raise wrong_key(
                "sql", f"{name[:60]!r} of one visit decides about others (by a window, a DISTINCT inside, or a join)",
                "that there is a visit is hidden: without it all others stay as they are",
                "each row by its own columns alone, and by tables of others",
            )  # fmt: skip


def _common(one: Cells, other: Cells) -> str:
    return ", ".join(sorted({repr(name[:60]) for scan, name in one if (scan, name) in other}))

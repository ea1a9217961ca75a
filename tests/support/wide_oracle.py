"""A wide table, read cell by cell in plain Python: which person was in which state in which step."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Row = Mapping[str, str | None]


def cells(
    rows: Sequence[Row], person: str, steps: Mapping[str, int], states: Mapping[str, int], empty: str | None = None
) -> dict[str, dict[int, int]]:
    """Return each person's state, by its number, in each step; -1 where a cell is empty and means nothing.

    `steps` has the number of the step that each column is.
    """
    read: dict[str, dict[int, int]] = {}
    for row in rows:
        mine = read.setdefault(str(row[person]), {})
        for column, step in steps.items():
            text = (row[column] or "").strip()
            text = empty if empty is not None and not text else text
            mine[step] = states[text] if text else -1
    return read


def long_rows(rows: Sequence[Row], person: str, steps: Mapping[str, str], empty: str | None = None) -> list[list[str]]:
    """Return the same data with a row a step: a person, the text of the step, the state."""
    return [
        [str(row[person]), text, (row[column] or "").strip() or empty or ""]
        for row in rows for column, text in steps.items()
    ]  # fmt: skip


#: Whose, in which step, which state; None where a table is refused.
Reading = dict[tuple[str, str], str | None] | None


def entries(columns: Mapping[str, Any], person: str, row: Mapping[str, str]) -> Reading:
    """Return what a stored layout makes of a table of one row; headers are steps as they stand."""
    steps, others = columns["columns"], columns["others"]
    read: dict[tuple[str, str], str | None] = {}
    used = set[str]()
    for name, text in row.items():
        fitting = [step for step in steps if name == step or (isinstance(steps, list) and fnmatchcase(name, step))]
        if len(fitting) + (name in others) + (name == person) != 1:
            return None
        used.update(fitting)
        if fitting and not name.isdecimal():
            return None
        if fitting:
            step = name if isinstance(steps, list) else steps[name]
            read[row[person], step] = text or columns["empty"]
    return read if used == {*steps} else None

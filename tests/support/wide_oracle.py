"""A wide table, read cell by cell in plain Python: which person was in which state in which step."""

from collections.abc import Mapping, Sequence

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

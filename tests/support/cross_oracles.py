"""Cross tables of a few records, the slow way: every pair of data sets. It imports nothing of the library."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

Row = tuple[Any, ...]


def table(data: Sequence[Row], places: Sequence[int], cells: Sequence[Row]) -> list[int]:
    """Return how many records have each combination of the columns at these places."""
    held = Counter(tuple(row[place] for place in places) for row in data)
    return [held[cell] for cell in cells]


def change_of_records(
    rows: Sequence[Row], records: int, moved: int, places: Sequence[int], cells: Sequence[Row]
) -> int:
    """Return the largest L1 change when the first `moved` records change at will among the possible rows."""
    worst = 0
    for rest in product(rows, repeat=records - moved):
        tables = [table([*first, *rest], places, cells) for first in product(rows, repeat=moved)]
        worst = max(worst, *(distance(a, b) for a in tables for b in tables))
    return worst


def change_of_columns(
    rows: Sequence[Row], records: int, columns: Collection[int], places: Sequence[int], cells: Sequence[Row]
) -> int:
    """Return the largest L1 change when every record may change at will, in these columns only."""
    others = [place for place in range(len(rows[0])) if place not in columns]
    alike: dict[Any, list[list[int]]] = {}  # the tables of data sets that agree in the other columns
    for data in product(rows, repeat=records):
        key = tuple(row[place] for row in data for place in others)
        alike.setdefault(key, []).append(table(data, places, cells))
    return max(distance(one, other) for tables in alike.values() for one in tables for other in tables)


def distance(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))

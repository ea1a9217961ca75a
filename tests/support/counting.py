"""Walks of states counted one entry at a time."""

from collections.abc import Sequence

import numpy as np

from takifugu.data import Counts


def counts_of(walks: Sequence[Sequence[int | None]], states: int, cells: Sequence[int] | None = None) -> Counts:
    """Count walks of numbers of states (None: not observed) by state, and by the cell of each step if there are any."""
    observed = [[value is not None for value in walk] for walk in walks]
    runs = list[tuple[int, int, int]]()
    by_cell = np.zeros((len(walks), 1 + max(cells or [0]), states), dtype=np.int64)
    for number, walk in enumerate(walks):
        for place, value in enumerate(walk):
            if value is not None:
                by_cell[number, cells[place] if cells else 0, value] += 1
        if not all(observed[number]):
            edges = np.flatnonzero(np.diff([False, *observed[number], False])).tolist()
            runs += [(number, start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]
    columns = np.array(runs, dtype=np.int64).reshape(-1, 3).T
    return Counts(
        np.array(list(map(len, walks))), np.array(list(map(all, observed))), (columns[0], columns[1], columns[2]),
        by_cell.sum(axis=1), by_cell if cells else None, np.array(cells) if cells else None,
        (np.array([f"p{number}" for number in range(len(walks))], object), np.full(len(walks), "", object)),
    )  # fmt: skip


def said_of(counts: Counts) -> list[object]:
    """Return the name, length, counts and counts by cell of each piece."""
    by_cell = [None] * len(counts) if counts.by_cell is None else counts.by_cell.tolist()
    return list(zip(counts.names[0].tolist(), counts.lengths.tolist(), counts.counts.tolist(), by_cell, strict=True))

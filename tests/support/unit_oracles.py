"""Units and pieces looked at one by one: what the library does once for all that are alike."""

from collections.abc import Hashable, Sequence
from typing import Any


def looks(lengths: Sequence[int], *rows: Sequence[int]) -> list[Hashable]:
    """Return what is to be seen of each piece: its length, and the numbers that its entries have in every row."""
    appearances: list[Hashable] = []
    start = 0
    for length in lengths:
        appearances.append((length, *(tuple(row[start : start + length]) for row in rows)))
        start += length
    return appearances


def mean_piece_by_piece(mean: Any, belief: Any, answer: Any) -> Any:
    """Return the sum of what each piece is expected to add."""
    runs = enumerate(belief.components())
    return sum(mean(belief.component(n), answer.restrict(slice(run.start, run.stop))) for n, run in runs)

"""Tables of influences are shared by chains that differ in length only; the last few are kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import permutations
from typing import Any, TypeVar

Table = TypeVar("Table")

#: How many tables are kept: each may be large.
MOST = 3

_CACHE: dict[Hashable, Any] = {}


def shared(
    law: tuple[Hashable, ...],
    states: int,
    pairs: Iterable[tuple[int, int]] | None,
    make: Callable[[tuple[tuple[int, int], ...]], Table],
) -> Table:
    """Return the table of a law for pairs of value indices, in both orders.

    >>> shared(("a chain",), 2, None, list), shared(("a chain",), 2, [(1, 0)], tuple)
    ([(0, 1), (1, 0)], [(0, 1), (1, 0)])
    """
    if pairs is None:
        value_pairs = tuple(permutations(range(states), 2))
    else:
        one_way = set(pairs)
        value_pairs = tuple(sorted(one_way | {(b, a) for a, b in one_way}))
    table: Table = _CACHE.pop((law, value_pairs)) if (law, value_pairs) in _CACHE else make(value_pairs)
    while len(_CACHE) >= MOST:
        _CACHE.pop(next(iter(_CACHE)))
    _CACHE[law, value_pairs] = table  # the one used last goes last
    return table


def forget() -> None:
    """Drop the cached tables."""
    _CACHE.clear()

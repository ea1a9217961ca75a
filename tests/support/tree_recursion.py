"""The losses of the entries of a tree of variables with two or three values, message by message, in mpmath's numbers.

Impossible values are left out. For up to three values all extreme rays of a closed cone are e^rho(., v) and
e^-rho(v, .), so that each supremum is a maximum of so many ratios. Nothing here imports takifugu.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any

import mpmath

Table = Sequence[Sequence[Any]]


def losses_on_a_tree(parents: Sequence[int | None], tables: Sequence[Table], moves: Sequence[Table]) -> list[Any]:
    """Return {(a, b): loss} of each entry; `tables` are P(v | parent) row by row, one row for a root.

    Floats count as what they are, each row divided by its sum.
    """
    size = len(parents)
    rows = [[[mpmath.mpf(x) / sum(map(mpmath.mpf, row)) for x in row] for row in table] for table in tables]
    laws: list[list[Any]] = []
    for v, above in enumerate(parents):
        before = [mpmath.mpf(1)] if above is None else laws[above]
        both = list(zip(before, rows[v], strict=True))
        laws.append([mpmath.fsum(p * row[x] for p, row in both) for x in range(len(moves[v]))])
    can = [[x for x, mass in enumerate(law) if mass > 0] for law in laws]
    near: list[list[int]] = [[] for _ in range(size)]
    for v, above in enumerate(parents):
        if above is not None:
            near[v].append(above)
            near[above].append(v)

    def given(w: int, v: int, a: int) -> dict[int, Any]:
        """P(w | v = a)."""
        if parents[w] == v:
            return {x: rows[w][a][x] for x in can[w]}
        return {x: laws[w][x] * rows[v][x][a] / laws[v][a] for x in can[w]}

    @cache
    def message(w: int, v: int) -> dict[tuple[int, int], Any]:
        ratio = charged(w, v)
        for middle, x, y in product(can[w], repeat=3):
            ratio[x, y] = min(ratio[x, y], ratio[x, middle] + ratio[middle, y])
        rays = [{x: mpmath.exp(ratio[x, top]) for x in can[w]} for top in can[w]]
        rays += [{x: mpmath.exp(-ratio[bottom, x]) for x in can[w]} for bottom in can[w]]
        means = {a: [mpmath.fsum(p * ray[x] for x, p in given(w, v, a).items()) for ray in rays] for a in can[v]}
        return {
            (a, b): max(mpmath.log(p / q) for p, q in zip(means[a], means[b], strict=True))
            for a, b in product(can[v], repeat=2)
        }

    def charged(w: int, without: int | None = None) -> dict[tuple[int, int], Any]:
        """c of an entry plus all messages to it, but for that of one neighbour."""
        total = {(x, y): mpmath.mpf(moves[w][x][y]) for x, y in product(can[w], repeat=2)}
        for other in near[w]:
            if other != without:
                for pair, loss in message(other, w).items():
                    total[pair] += loss
        return total

    return [charged(v) for v in range(size)]

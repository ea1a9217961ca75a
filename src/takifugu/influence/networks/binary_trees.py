"""`trees` for two states each: messages are two numbers, and a network of ten thousand variables takes a moment.

For two rows over two states the cone of rho has the two rays (1, e^rho(1, 0)) and (e^rho(0, 1), 1), so that S is in
closed form. Numbers instead of arrays: arrays of four numbers would take ten times as long.
"""

from __future__ import annotations

import math

from takifugu.influence.chains.two_states import Rows, step
from takifugu.influence.networks.conditionals import TRUSTED
from takifugu.numbers.outward_rounding import UNIT

#: (R(0, 1), R(1, 0)) of a variable, or its two probabilities.
Pair = tuple[float, float]
NONE: Pair = (0.0, 0.0)


def plus(first: Pair, second: Pair) -> Pair:
    """Return at least the sum of two messages."""
    if first == NONE:
        return second
    if second == NONE:
        return first
    return math.nextafter(first[0] + second[0], math.inf), math.nextafter(first[1] + second[1], math.inf)


def supremum(rows: Rows, ratio: Pair, error: float) -> Pair:
    """Return S of two rows, both ways, rounded up; `error` bounds the relative error of their numbers."""
    if ratio == NONE:
        return NONE
    rise, fall = step(rows, error, ratio[1], ratio[0])
    return fall, rise


def binary_losses(
    parents: list[int | None], tables: list[Rows], possible: list[tuple[bool, ...]], moves: list[Pair]
) -> list[Pair]:
    """Return (loss of 0 against 1, of 1 against 0) of each variable of a forest, parents before children.

    `tables` are P(variable | parent), two equal rows where there is none; `moves` are (c(0, 1), c(1, 0)).
    """
    size = len(parents)
    children: list[list[int]] = [[] for _ in range(size)]
    upward, below = [NONE] * size, list(moves)
    for v in reversed(range(size)):
        parent = parents[v]
        if parent is not None:
            children[parent].append(v)
            upward[v] = supremum(tables[v], below[v], 2 * UNIT)
            below[parent] = plus(below[parent], upward[v])
    laws: list[Pair] = []
    units: list[int] = []
    from_parent, losses = [NONE] * size, []
    for u in range(size):
        parent = parents[u]
        a, b = (1.0, 0.0) if parent is None else laws[parent]
        (p0, p1), (q0, q1) = tables[u]
        laws.append((a * p0 + b * q0, a * p1 + b * q1))
        units.append(1 if parent is None else units[parent] + 3)
        here = plus(moves[u], from_parent[u])  # c, the parent's message, and those of the children before
        after = [NONE]  # the messages of the children behind the last, the last two, ...
        for v in children[u][:0:-1]:
            after.append(plus(after[-1], upward[v]))
        for v in children[u]:
            ratio = plus(here, after.pop())
            rows = reversed_rows(laws[u], tables[v], possible[u])
            largest = max(ratio)
            from_parent[v] = (largest, largest) if rows is None else supremum(rows, ratio, (2 * units[u] + 6) * UNIT)
            here = plus(here, upward[v])
        losses.append(here)
    return losses


def reversed_rows(law: Pair, table: Rows, possible: tuple[bool, ...]) -> Rows | None:
    """Return P(parent | child), the row of an impossible value copied from the other; None where digits may be lost."""
    rows: list[Pair | None] = []
    for value in (0, 1):
        joint = law[0] * table[0][value], law[1] * table[1][value]
        for u in (0, 1):
            if joint[u] < TRUSTED and possible[u] and table[u][value] > 0:
                return None
        total = joint[0] + joint[1]
        rows.append((joint[0] / total, joint[1] / total) if total > 0 else None)
    first = rows[0] or rows[1]
    second = rows[1] or rows[0]
    return None if first is None or second is None else (first, second)

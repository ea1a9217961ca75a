"""`trees` for two states each: messages are two numbers, and a network of ten thousand variables takes a moment.

For two rows over two states the cone of rho has the two rays (1, e^rho(1, 0)) and (e^rho(0, 1), 1), so that S is in
closed form. Numbers instead of arrays: arrays of four numbers would take ten times as long.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
    """Return S of two rows, both ways, rounded up."""
    if ratio == NONE:
        return NONE
    rise, fall = step(rows, error, ratio[1], ratio[0])
    return fall, rise


@dataclass(frozen=True, eq=False)
class BinaryForest:
    """A forest of binary variables, parents before children, for any profile.

    `inward` are P(variable | parent), two equal rows where there is none, and `outward` P(parent | variable) with the
    relative error of its numbers, None where digits may be lost.
    """

    parents: list[int | None]
    children: list[list[int]]
    inward: list[Rows]
    outward: list[Rows | None]
    errors: list[float]

    @staticmethod
    def of(parents: list[int | None], tables: list[Rows], possible: list[tuple[bool, ...]]) -> BinaryForest:
        """Return a forest from P(variable | parent) and the possible values."""
        children: list[list[int]] = [[] for _ in parents]
        laws: list[Pair] = []
        units, errors = [1] * len(parents), [0.0] * len(parents)
        outward: list[Rows | None] = [None] * len(parents)
        for v, (parent, ((p0, p1), (q0, q1))) in enumerate(zip(parents, tables, strict=True)):
            a, b = (1.0, 0.0) if parent is None else laws[parent]
            laws.append((a * p0 + b * q0, a * p1 + b * q1))
            if parent is not None:
                units[v] = units[parent] + 3
                errors[v] = (2 * units[parent] + 6) * UNIT
                outward[v] = reversed_rows(laws[parent], tables[v], possible[parent])
                children[parent].append(v)
        return BinaryForest(parents, children, tables, outward, errors)

    def losses(self, moves: list[Pair]) -> list[Pair]:
        """Return each variable's losses of 0 against 1 and back."""
        upward, below = [NONE] * len(moves), list(moves)
        for v in reversed(range(len(moves))):
            parent = self.parents[v]
            if parent is not None:
                upward[v] = supremum(self.inward[v], below[v], 2 * UNIT)
                below[parent] = plus(below[parent], upward[v])
        from_parent, losses = [NONE] * len(moves), []
        for u, children in enumerate(self.children):
            message = plus(moves[u], from_parent[u])  # c, the parent's message, and those of the children before
            after = [NONE]  # the messages of the children behind the last, the last two, ...
            for v in children[:0:-1]:
                after.append(plus(after[-1], upward[v]))
            for v in children:
                ratio, rows = plus(message, after.pop()), self.outward[v]
                largest = max(ratio)
                if rows is None:
                    from_parent[v] = largest, largest
                else:
                    from_parent[v] = supremum(rows, ratio, self.errors[v])
                message = plus(message, upward[v])
            losses.append(message)
        return losses


def reversed_rows(law: Pair, table: Rows, possible: tuple[bool, ...]) -> Rows | None:
    """Return P(parent | child), or None for lost digits."""
    rows: list[Pair] = []
    for value in (0, 1):
        joint = law[0] * table[0][value], law[1] * table[1][value]
        for u in (0, 1):
            if joint[u] < TRUSTED and possible[u] and table[u][value] > 0:
                return None
        total = joint[0] + joint[1]
        if total > 0:
            rows.append((joint[0] / total, joint[1] / total))
    return (rows[0], rows[-1]) if rows else None

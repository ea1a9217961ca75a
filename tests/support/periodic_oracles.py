"""Slow, obviously right: chains whose matrix depends on the step, by listing every sequence. Imports no takifugu."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
from tests.support.chain_oracles import Joint, stationary_vector
from tests.support.sweep_oracles import product_of

Array = npt.NDArray[np.float64]
Rows = Sequence[Sequence[Fraction]]


def steps_of(matrices: Sequence[Rows], matrix_of: Sequence[int], start: int, count: int) -> list[Rows]:
    """Return the matrix of each of so many steps, the first of which is step `start` of the period."""
    return [matrices[matrix_of[(start + t) % len(matrix_of)]] for t in range(count)]


def periodic_law(matrices: Sequence[Rows], matrix_of: Sequence[int], start: int) -> list[Fraction]:
    """Return the law of X_0 that is the same a period later, of which there is to be one."""
    period = len(matrix_of)
    return stationary_vector(product_of(steps_of(matrices, matrix_of, start, period), 0, period))


def joint_of_steps(steps: Sequence[Rows], initial: Sequence[Fraction]) -> Joint:
    """Return P(X_0 = x_0, ..., X_n = x_n) for every sequence of positive probability, n the number of steps."""
    joint: Joint = {}
    for path in product(range(len(initial)), repeat=len(steps) + 1):
        mass = initial[path[0]]
        for t, step in enumerate(steps):
            mass = mass * step[path[t]][path[t + 1]]
        if mass > 0:
            joint[path] = mass
    return joint


def tensor_of(joint: Joint, k: int) -> Array:
    """Return a joint law as an array with one axis per entry."""
    table = np.zeros((k,) * len(next(iter(joint))))
    for path, mass in joint.items():
        table[path] = float(mass)
    return table


def joint_cost_of_steps(steps: Sequence[Array], law: Array | None, costs: Array) -> float:
    """Return the joint quilt cost of a recording whose steps have these matrices without zeros and cost so much.

    `law` is that of X_0; None is any law, whose supremum over point starts is charged. Every entry, every ordered pair
    of values and every pair of nodes is looked at, with products of the very matrices between them.
    """
    size, k = len(costs), len(steps[0])
    sums = np.concatenate([[0.0], np.cumsum(costs)])

    def between(i: int, j: int) -> Array:
        matrix = np.eye(k)
        for t in range(i, j):
            matrix = matrix @ steps[t]
        return np.log(matrix)

    worst = 0.0
    for i in range(size):
        if law is None:
            prior = np.log(np.linalg.multi_dot([np.eye(k), *steps[:i], np.eye(k)])) if i else np.zeros((k, k))
        else:
            prior = np.log(np.linalg.multi_dot([law[None], *steps[:i], np.eye(k)]))
        before, after = [between(n, i) for n in range(i)], [between(i, n) for n in range(i + 1, size)]
        for a, b in product(range(k), repeat=2):
            if a == b:
                continue
            mine = float((prior[:, b] - prior[:, a]).max())
            lefts = [float((p[:, a] - p[:, b]).max()) + mine + sums[i] - sums[n + 1] for n, p in enumerate(before)]
            rights = [float((p[a] - p[b]).max()) + sums[i + n + 1] - sums[i + 1] for n, p in enumerate(after)]
            left, right = min([sums[i], *lefts]), min([sums[-1] - sums[i + 1], *rights])
            worst = max(worst, left + costs[i] + right)
    return min(worst, float(sums[-1])) if math.isfinite(worst) else float(sums[-1])

"""Slow, obviously right: chains drawn from classes, and their exact influences from powers. Imports no takifugu."""

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def row_in_box(rng: np.random.Generator, lower: Array, upper: Array) -> Array:
    """Return a law in a box: often at its ends, for they are the dangerous ones."""
    law = np.array(lower, dtype=float)
    kind = rng.integers(3)
    for y in rng.permutation(len(law)):
        room = max(0.0, min(upper[y] - lower[y], 1 - law.sum()))
        law[y] += room if kind else room * rng.random()
    for y in rng.permutation(len(law)):  # what is still missing
        law[y] += min(upper[y] - law[y], max(0.0, 1 - law.sum()))
    return law / law.sum()


def matrix_in_box(rng: np.random.Generator, lower: Array, upper: Array) -> Array:
    return np.array([row_in_box(rng, low, high) for low, high in zip(lower, upper, strict=True)])


def random_box(rng: np.random.Generator, k: int, width: float, zeros: bool = False) -> tuple[Array, Array]:
    """Return the ends of intervals around a random matrix, cut to [0, 1]."""
    center = rng.dirichlet(np.full(k, 0.5 if zeros else 2.0), size=k)
    below, above = (rng.random((k, k)) * width for _ in range(2))
    return np.clip(center - below, 0, 1), np.clip(center + above, 0, 1)


def products(steps: Sequence[Array]) -> Array:
    result = np.eye(len(steps[0]))
    for step in steps:
        result = result @ step
    return result


def log_ratio(p: Array, q: Array) -> float:
    """Return max log p/q over p > 0."""
    held = p > 0
    if (q[held] == 0).any():
        return math.inf
    return max((math.log(x) - math.log(y) for x, y in zip(p[held].tolist(), q[held].tolist(), strict=True)), default=0)


def influence(
    start: Array, before: Sequence[Array], left: Sequence[Array], right: Sequence[Array], s: int, t: int
) -> float:
    """Return log-ratio of the laws of both nodes given X_i = s and X_i = t.

    `start` is the law of X_0, `before` the steps up to the node before, `left` those from it to the entry, `right`
    those on to the node after; no steps mean no node. Nodes are independent given the entry.
    """
    first = np.array(start) @ products(before) if before else np.array(start)
    total = 0.0
    if left:
        joint = first[:, None] * products(left)
        masses = joint.sum(axis=0)
        if not (masses[s] > 0 and masses[t] > 0):
            return 0.0  # such a secret is not compared
        total += log_ratio(joint[:, s] / masses[s], joint[:, t] / masses[t])
    elif first[s] == 0 or first[t] == 0:
        return 0.0
    if right:
        after = products(right)
        total += log_ratio(after[s], after[t])
    return total


def birkhoff(lower: Array, upper: Array, a: int | None, b: int | None) -> float:
    """Return D(tau^(a-1) + tau^(b-1)) for a box of two states, D its projective diameter: the printed bound."""
    diameter = math.log(
        max(
            upper[0, 0] * upper[1, 1] / (lower[0, 1] * lower[1, 0]),
            upper[0, 1] * upper[1, 0] / (lower[0, 0] * lower[1, 1]),
        )
    )
    tau = math.tanh(diameter / 4)
    return sum(diameter * tau ** (n - 1) for n in (a, b) if n is not None)


def mixture_excludes(s: int, n: int, p: float, miss: float) -> bool:
    """Return whether B(s + 1/2, n - s + 1/2)/B(1/2, 1/2) >= p^s (1 - p)^(n - s)/miss, with 40 digits."""
    with mpmath.workdps(40):
        ratio = mpmath.beta(mpmath.mpf(2 * s + 1) / 2, mpmath.mpf(2 * (n - s) + 1) / 2) / mpmath.beta(0.5, 0.5)
        return bool(ratio * miss >= mpmath.mpf(p) ** s * (1 - mpmath.mpf(p)) ** (n - s))


def walk(rng: np.random.Generator, matrix: Array, length: int, start: int = 0) -> list[int]:
    """Return a sequence of a chain that starts in one state."""
    ends = np.cumsum(matrix, axis=1)
    states, draws = [start], rng.random(length - 1)
    for u in draws:
        states.append(min(int(np.searchsorted(ends[states[-1]], u, side="right")), len(matrix) - 1))
    return states


def most_misses(runs: int, rate: float, level: float = 1e-6) -> int:
    """Return the number of misses that a binomial law with this rate exceeds with probability below `level`."""
    tail = 0.0
    for count in range(runs, -1, -1):
        tail += math.exp(
            math.lgamma(runs + 1) - math.lgamma(count + 1) - math.lgamma(runs - count + 1)
            + count * math.log(rate) + (runs - count) * math.log1p(-rate)
        )  # fmt: skip
        if tail >= level:
            return count
    return 0

"""Members of classes of beliefs, drawn at random, and the law of a count under one; imports no takifugu."""

from collections.abc import Iterable, Sequence
from math import lgamma
from typing import Any

import numpy as np

FloatArray = Any


def reversible(chance: np.random.Generator, pi: float, gap: float, states: int = 2) -> list[list[float]]:
    """Return the matrix of a reversible chain with stationary masses >= pi and an eigengap >= gap."""
    while True:
        law = pi + (1 - states * pi) * chance.dirichlet([0.5] * states)
        largest = chance.choice([1 - gap, -(1 - gap), chance.uniform(-1, 1) * (1 - gap)])
        matrix = largest * np.eye(states) + (1 - largest) * law
        if states > 2:  # more of the way between two states, for less of the way from each to itself
            flow = chance.uniform(-0.3, 0.3) * law.min()
            a, b = chance.choice(states, 2, replace=False)
            for x, y in ((a, b), (b, a)):
                matrix[x, y] += flow / law[x]
                matrix[x, x] -= flow / law[x]
        roots = np.sqrt(law)[:, None]
        values = np.sort(np.abs(np.linalg.eigvalsh(roots * matrix / roots.T)))
        if matrix.min() >= 0 and values[-2] <= 1 - gap + 1e-12:
            return matrix.tolist()


def count_law(pieces: Iterable[tuple[Any, Sequence[float], int]]) -> FloatArray:
    """Return the law of the number of steps in state 1, of independent pieces (matrix, start, length)."""
    total, known = np.ones(1), dict[Any, FloatArray]()
    for matrix, start, length in pieces:
        key = repr((matrix, list(start), length))
        if key not in known:
            known[key] = _of_piece(np.array(matrix), np.array(start), length)
        total = np.convolve(total, known[key])
    return total


def _of_piece(matrix: FloatArray, start: FloatArray, length: int) -> FloatArray:
    masses = np.zeros((length + 1, len(start)))  # by how many steps were in state 1, and the state
    masses[0] = start
    for step in range(length):
        masses[1:, 1], masses[0, 1] = masses[:-1, 1].copy(), 0
        if step < length - 1:
            masses = masses @ matrix
    return masses.sum(axis=1)


def binomial(size: int, share: float) -> FloatArray:
    """Return the law of a binomial number."""
    counts = np.arange(size + 1)
    ways = np.array([lgamma(size + 1) - lgamma(k + 1) - lgamma(size - k + 1) for k in counts.tolist()])
    return np.exp(ways + counts * np.log(share) + (size - counts) * np.log1p(-share))

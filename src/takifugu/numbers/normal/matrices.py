"""Small matrices of rationals: solved, and judged positive semidefinite, without rounding.

A covariance as declared is a matrix of decimals. Whether it is positive semidefinite, what a conditional law is, and
whether noise covers a direction are then decided exactly, and singular blocks need no tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from takifugu.numbers.atoms import Array
from takifugu.numbers.rationals import as_mpf

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Rows = Sequence[Sequence[Fraction]] | Array

#: Digits of an eigenvalue, in bits, next to the largest number in the matrix.
_BITS = 160
#: Above this size eigenvalues are found in float64: they stay upper bounds, and are less tight.
_MOST_WITH_DIGITS = 12


def is_semidefinite(matrix: Rows) -> bool:
    """Return whether a symmetric matrix has no negative eigenvalue."""
    remaining = np.array(matrix, dtype=object)
    while len(remaining):
        k = int(remaining.diagonal().argmax())
        pivot = remaining[k, k]
        if pivot <= 0:
            return bool(pivot == 0 and not remaining.any())
        further = np.delete(np.arange(len(remaining)), k)
        shares = np.outer(remaining[further, k], remaining[k, further]) / pivot
        remaining = remaining[np.ix_(further, further)] - shares
    return True


def solved(matrix: Rows, right: Sequence[Fraction]) -> Vector | None:
    """Return some x with matrix x = right, if any."""
    size = len(right)
    rows = np.array([[*row, value] for row, value in zip(matrix, right, strict=True)], dtype=object)
    free, pivots = list(range(size)), list[int]()
    while free:
        k = max(free, key=lambda i: rows[i, i])
        if rows[k, k] == 0:
            break
        free.remove(k)
        pivots.append(k)
        rows[k] = rows[k] / rows[k, k]
        for i in range(size):
            if i != k and rows[i, k]:
                rows[i] = rows[i] - rows[i, k] * rows[k]
    if any(rows[i, size] for i in free):
        return None
    solution = [Fraction(0)] * size
    for k in pivots:
        solution[k] = rows[k, size]
    return tuple(solution)


def pivots(matrix: Rows) -> Vector:
    """Return each number's variance given those before it."""
    remaining, pivots = np.array(matrix, dtype=object), list[Fraction]()
    while len(remaining):
        pivot, to_first = remaining[0, 0], remaining[0, 1:]
        pivots.append(pivot)
        remaining = remaining[1:, 1:]
        if pivot:
            remaining = remaining - np.outer(to_first, to_first) / pivot
    return tuple(pivots)


def unit(place: int, size: int) -> Vector:
    """Return the vector of zeros with a 1 at one place."""
    return tuple(Fraction(place == number) for number in range(size))


def times(matrix: Rows, vector: Sequence[Fraction]) -> Vector:
    """Return the product of a matrix and a column."""
    products = []
    for row in matrix:
        products.append(dot(row, vector))
    return tuple(products)


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products of two rows."""
    return sum((a * x for a, x in zip(left, right, strict=True)), Fraction(0))


def form(left: Sequence[Fraction], matrix: Rows, right: Sequence[Fraction]) -> Fraction:
    """Return left' matrix right: the covariance of two weighted sums."""
    return dot(left, times(matrix, right))


def least_eigenvalue(matrix: Rows) -> Fraction:
    """Return a lower bound of the least eigenvalue, exact for one number."""
    return -largest_eigenvalue(-np.array(matrix, dtype=object))


def largest_eigenvalue(matrix: Rows) -> Fraction:
    """Return an upper bound of the largest eigenvalue, exact for one number."""
    exact = np.array(matrix, dtype=object)
    largest: Fraction = np.abs(exact).max()
    if len(exact) == 1 or not largest:
        return Fraction(exact[0, 0])
    identity, scaled = np.eye(len(exact), dtype=int).astype(object), exact / largest
    # At most 2**-120 of the largest entry too large (2**-44 above twelve rows), as each guess is judged exactly.
    guess, step = _guessed(scaled)
    while not is_semidefinite(guess * identity - scaled):
        guess, step = guess + step, 2 * step
    return guess * largest


def _guessed(matrix: Array) -> tuple[Fraction, Fraction]:
    if len(matrix) > _MOST_WITH_DIGITS:
        eigenvalues = np.linalg.eigvalsh(matrix.astype(float))
        return Fraction(float(eigenvalues[-1])), Fraction(1, 2**50)
    from mpmath import mp

    with mp.workprec(_BITS):
        approximate = mp.matrix(np.frompyfunc(as_mpf, 1, 1)(matrix).tolist())
        top = max(mp.eigsy(approximate, eigvals_only=True))
        return Fraction(int(mp.floor(mp.ldexp(top, 128))), 2**128), Fraction(1, 2**128)

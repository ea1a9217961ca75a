"""Small matrices of rationals: solved, and judged positive semidefinite, without rounding.

A covariance as declared is a matrix of decimals. Whether it is positive semidefinite, what a conditional law is, and
whether noise covers a direction are then decided exactly, and singular blocks need no tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]

#: Digits of an eigenvalue, in bits, next to the largest number in the matrix.
_BITS = 160
#: Above this size eigenvalues are found in float64: they stay upper bounds, and are less tight.
_MOST_WITH_DIGITS = 12


def is_semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Return whether a symmetric matrix has no negative eigenvalue.

    >>> is_semidefinite([[Fraction(4), Fraction(6)], [Fraction(6), Fraction(9)]])
    True
    >>> is_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]])
    False
    """
    remaining = [list(row) for row in matrix]
    while remaining:
        k = max(range(len(remaining)), key=lambda i: remaining[i][i])
        pivot = remaining[k][k]
        if pivot <= 0:
            return pivot == 0 and not any(any(row) for row in remaining)
        further = [i for i in range(len(remaining)) if i != k]
        remaining = [[remaining[i][j] - remaining[i][k] * remaining[k][j] / pivot for j in further] for i in further]
    return True


def solved(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector | None:
    """Return some x with matrix x = right, if any.

    >>> solved([[Fraction(4), Fraction(6)], [Fraction(6), Fraction(9)]], [Fraction(2), Fraction(3)])
    (Fraction(0, 1), Fraction(1, 3))
    >>> solved([[Fraction(0)]], [Fraction(1)]) is None
    True
    """
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    free, pivots = list(range(size)), list[int]()
    while free:
        k = max(free, key=lambda i: rows[i][i])
        if rows[k][k] == 0:
            break
        free.remove(k)
        pivots.append(k)
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [value - factor * above for value, above in zip(rows[i], rows[k], strict=True)]
    if any(rows[i][size] for i in free):
        return None
    return tuple(rows[i][size] if i in pivots else Fraction(0) for i in range(size))


def pivots(matrix: Sequence[Sequence[Fraction]]) -> Vector:
    """Return each number's variance given those before it.

    >>> pivots([[Fraction(4), Fraction(2)], [Fraction(2), Fraction(9)]])
    (Fraction(4, 1), Fraction(8, 1))
    """
    remaining, pivots = [list(row) for row in matrix], list[Fraction]()
    while remaining:
        first, *below = remaining
        pivots.append(first[0])
        shares = [row[0] / first[0] if first[0] else Fraction(0) for row in below]
        remaining = [
            [value - share * above for value, above in zip(row[1:], first[1:], strict=True)]
            for row, share in zip(below, shares, strict=True)
        ]
    return tuple(pivots)


def times(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> Vector:
    """Return the product of a matrix and a column."""
    return tuple(sum((a * x for a, x in zip(row, vector, strict=True)), Fraction(0)) for row in matrix)


def form(left: Sequence[Fraction], matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Fraction:
    """Return left' matrix right: the covariance of two weighted sums.

    >>> form([Fraction(1), Fraction(2)], [[Fraction(3), Fraction(1)], [Fraction(1), Fraction(5)]], [Fraction(1)] * 2)
    Fraction(16, 1)
    """
    return sum((a * x for a, x in zip(left, times(matrix, right), strict=True)), Fraction(0))


def least_eigenvalue(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return a lower bound of the least eigenvalue, exact for one number.

    >>> 2 - least_eigenvalue([[Fraction(3), Fraction(1)], [Fraction(1), Fraction(3)]]) < Fraction(1, 2**100)
    True
    """
    return -largest_eigenvalue([[-value for value in row] for row in matrix])


def largest_eigenvalue(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return an upper bound of the largest eigenvalue, exact for one number.

    A guess is raised until guess I - matrix is positive semidefinite, which is decided exactly. It lies at most
    2**-120 of the largest entry above the eigenvalue (2**-44 for more than twelve rows).
    """
    size = len(matrix)
    if size == 1:
        return matrix[0][0]
    largest = max(abs(value) for row in matrix for value in row)
    if not largest:
        return Fraction(0)
    scaled = [[value / largest for value in row] for row in matrix]
    guess, step = _guessed(scaled)
    while True:
        if is_semidefinite([[guess * (i == j) - scaled[i][j] for j in range(size)] for i in range(size)]):
            return guess * largest
        guess, step = guess + step, 2 * step


def _guessed(matrix: list[list[Fraction]]) -> tuple[Fraction, Fraction]:
    if len(matrix) > _MOST_WITH_DIGITS:
        eigenvalues = np.linalg.eigvalsh(np.array([[float(value) for value in row] for row in matrix]))
        return Fraction(float(eigenvalues[-1])), Fraction(1, 2**50)
    from mpmath import mp

    with mp.workprec(_BITS):
        approximate = mp.matrix([[mp.mpf(value.numerator) / value.denominator for value in row] for row in matrix])
        top = max(mp.eigsy(approximate, eigvals_only=True))
        return Fraction(int(mp.floor(mp.ldexp(top, 128))), 2**128), Fraction(1, 2**128)

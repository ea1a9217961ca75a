"""Slow, obviously right: every joint state of a chain or table, and what follows from listing them.

Probabilities may be Fractions (exact), mpmath numbers or floats; nothing here imports takifugu.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath

Joint = dict[tuple[int, ...], Any]
Law = dict[Any, Any]


def exact_rows(matrix: Iterable[Iterable[float | Fraction]]) -> list[list[Fraction]]:
    """Return the rows as Fractions that sum to exactly one (floats are read exactly, then each row is normalised)."""
    rows = [[Fraction(p) for p in row] for row in matrix]
    return [[p / sum(row) for p in row] for row in rows]


def stationary_vector(matrix: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Return the unique pi = pi P in Fractions, by Gaussian elimination on (P' - I) with the row sum(pi) = 1."""
    k = len(matrix)
    system = [[Fraction(matrix[j][i]) - (i == j) for j in range(k)] + [Fraction(0)] for i in range(k)]
    system[-1] = [Fraction(1)] * (k + 1)
    for column in range(k):
        pivot = next(r for r in range(column, k) if system[r][column] != 0)
        system[column], system[pivot] = system[pivot], system[column]
        for r in range(k):
            if r != column and system[r][column] != 0:
                factor = system[r][column] / system[column][column]
                system[r] = [a - factor * b for a, b in zip(system[r], system[column], strict=True)]
    return [system[i][k] / system[i][i] for i in range(k)]


def joint_law(matrix: Sequence[Sequence[Any]], length: int, initial_vector: Sequence[Any]) -> Joint:
    """Return P(X_0 = x_0, ..., X_{length-1} = x_{length-1}) for every state sequence of positive probability."""
    joint: Joint = {}
    for path in product(range(len(matrix)), repeat=length):
        mass = initial_vector[path[0]]
        for before, after in pairwise(path):
            mass = mass * matrix[before][after]
        if mass > 0:
            joint[path] = mass
    return joint


def table_law(rows: Iterable[Sequence[int]], probabilities: Iterable[Any]) -> Joint:
    """Return a joint table (rows of value indices) in the same form as `joint_law`."""
    return {tuple(row): p for row, p in zip(rows, probabilities, strict=True) if p > 0}


def answer_of(path: Sequence[int], contribution: Sequence[Sequence[Any]]) -> Any:
    """Return sum_i contribution[i][path[i]]; contributions are integers, or tuples for a vector answer."""
    parts = [contribution[i][x] for i, x in enumerate(path)]
    if isinstance(parts[0], tuple):
        return tuple(sum(coordinate) for coordinate in zip(*parts, strict=True))
    return sum(parts)


def marginal_mass(joint: Joint, entry: int, value: int) -> Any:
    return sum(mass for path, mass in joint.items() if path[entry] == value)


def answer_law_given(joint: Joint, contribution: Sequence[Sequence[Any]], entry: int, value: int) -> Law:
    """Return the law of the answer given X_entry = value as {answer: probability}, sorted; {} if that is impossible."""
    law: Law = {}
    for path, mass in joint.items():
        if path[entry] == value:
            answer = answer_of(path, contribution)
            law[answer] = law.get(answer, 0) + mass
    total = sum(law.values())
    return {answer: law[answer] / total for answer in sorted(law)}


def w_infinity_of(p: Mapping[Any, Any], q: Mapping[Any, Any]) -> Any:
    """Return the largest |F^-1(u) - G^-1(u)| by walking both quantile functions (exact for Fractions)."""
    left, right = sorted(p.items()), sorted(q.items())
    i = j = 0
    here, there = left[0][1], right[0][1]
    largest = abs(left[0][0] - right[0][0])
    while True:
        step = min(here, there)
        largest = max(largest, abs(left[i][0] - right[j][0]))
        here, there = here - step, there - step
        if here == 0:
            i += 1
            if i == len(left):
                return largest
            here = left[i][1]
        if there == 0:
            j += 1
            if j == len(right):
                return largest
            there = right[j][1]


def w_one_of(p: Mapping[Any, Any], q: Mapping[Any, Any]) -> Any:
    """Return the earth mover's distance: the sum of |F - G| times the gaps between atoms."""
    atoms = sorted({*p, *q})
    total: Any = 0
    difference: Any = 0
    for atom, following in pairwise(atoms):
        difference = difference + p.get(atom, 0) - q.get(atom, 0)
        total = total + abs(difference) * (following - atom)
    return total


def laplace_loss(p: Mapping[Any, Any], q: Mapping[Any, Any], scale: Any, digits: int = 60) -> mpmath.mpf:
    """Return sup_y log[(p * Laplace(scale))(y) / (q * Laplace(scale))(y)]: between atoms it is monotone, so at atoms.

    With scale 0 it is the largest log p(y)/q(y), infinite where q has no mass on an atom of p.
    """
    with mpmath.workdps(digits):
        if scale == 0:
            ratios = [mpmath.log(as_mpf(m) / as_mpf(q[y])) if q.get(y, 0) > 0 else mpmath.inf for y, m in p.items()]
            return max(ratios)
        b = as_mpf(scale)

        def mass(law: Mapping[Any, Any], y: Any) -> mpmath.mpf:
            return mpmath.fsum(as_mpf(m) * mpmath.exp(-as_mpf(abs(y - x)) / b) for x, m in law.items())

        return max(mpmath.log(mass(p, y) / mass(q, y)) for y in sorted({*p, *q}))


def as_mpf(number: Any) -> mpmath.mpf:
    if isinstance(number, Fraction):
        return mpmath.mpf(number.numerator) / number.denominator
    return mpmath.mpf(number)


def answer_laws_by_recurrence(
    matrix: Sequence[Sequence[Fraction]],
    start: Sequence[Fraction],
    contribution: Sequence[Sequence[int]],
    entry: int,
) -> list[Law]:
    """Return the law of the answer given each state of one entry, {} if impossible; by dynamic programming."""
    states = range(len(matrix))

    def add(law: Law, answer: int, mass: Fraction) -> None:
        if mass:
            law[answer] = law.get(answer, Fraction(0)) + mass

    upto: list[Law] = [{contribution[0][s]: start[s]} if start[s] else {} for s in states]
    for row in contribution[1 : entry + 1]:
        following: list[Law] = [{} for _ in states]
        for u, s in product(states, states):
            for answer, mass in upto[u].items():
                add(following[s], answer + row[s], mass * matrix[u][s])
        upto = following
    behind: list[Law] = [{0: Fraction(1)} for _ in states]
    for row in reversed(contribution[entry + 1 :]):
        before: list[Law] = [{} for _ in states]
        for u, s in product(states, states):
            for answer, mass in behind[s].items():
                add(before[u], answer + row[s], mass * matrix[u][s])
        behind = before
    laws = []
    for s in states:
        law: Law = {}
        for one, mass in upto[s].items():
            for other, weight in behind[s].items():
                add(law, one + other, mass * weight)
        total = sum(law.values())
        laws.append({answer: law[answer] / total for answer in sorted(law)})
    return laws

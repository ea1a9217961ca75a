"""Slow, obviously right: every joint state of a chain or table, and what follows from listing them.

Probabilities may be Fractions (exact), mpmath numbers or floats; nothing here imports takifugu.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import mpmath
from tests.support.laws_oracles import as_mpf, noised_mass

Joint = dict[tuple[int, ...], Any]
Law = dict[Any, Any]


def exact_rows(matrix: Iterable[Iterable[float | Fraction]]) -> list[list[Fraction]]:
    """Return the rows as Fractions that sum to exactly one (floats are read exactly, then each row is normalised)."""
    rows = [[Fraction(p) for p in row] for row in matrix]
    return [[p / sum(row) for p in row] for row in rows]


def stationary_vector(matrix: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Return the unique pi = pi P in Fractions, by the Markov chain tree theorem: no system of equations is solved.

    pi_i is proportional to the sum, over all spanning trees whose edges lead to i, of the products of their transition
    probabilities (Freidlin and Wentzell 1984, Lemma 6.3.1; Leighton and Rivest 1986).
    """
    weights = [_trees_into(root, matrix) for root in range(len(matrix))]
    return [weight / sum(weights) for weight in weights]


def _trees_into(root: int, matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the sum of the weights of all trees into the root: every other state has one edge, and no edges cycle."""
    others = [state for state in range(len(matrix)) if state != root]
    choices = [[t for t in range(len(matrix)) if t != s and matrix[s][t] > 0] for s in others]
    total = Fraction(0)
    for chosen in product(*choices):
        following = dict(zip(others, chosen, strict=True))
        if all(_leads_to(root, state, following) for state in others):
            total += math.prod((Fraction(matrix[s][t]) for s, t in following.items()), start=Fraction(1))
    return total


def _leads_to(root: int, state: int, following: Mapping[int, int]) -> bool:
    for _ in following:
        if state != root:
            state = following[state]
    return state == root


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


def float_law(matrix: Sequence[Sequence[float]], length: int, initial_vector: Sequence[Any] | None = None) -> Law:
    """Return the joint law of a chain in floats: of its stationary start, or of another one."""
    rows = exact_rows(matrix)
    law = joint_law(rows, length, stationary_vector(rows) if initial_vector is None else initial_vector)
    return {path: float(mass) for path, mass in law.items()}


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


def largest_over_pairs(joint: Joint, contribution: Sequence[Sequence[Any]], measure: Callable[[Law, Law], Any]) -> Any:
    """Return the largest measure of the laws of the answer given any two values of an entry; 0 of none."""
    largest: Any = 0
    for entry, row in enumerate(contribution):
        laws = [answer_law_given(joint, contribution, entry, value) for value in range(len(row))]
        largest = max([largest, *(measure(p, q) for p, q in permutations(filter(None, laws), 2))])
    return largest


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


def laplace_loss(p: Mapping[Any, Any], q: Mapping[Any, Any], scale: Any, digits: int = 60) -> mpmath.mpf:
    """Return sup_y log[(p * Laplace(scale))(y) / (q * Laplace(scale))(y)]: between atoms it is monotone, so at atoms.

    With scale 0 it is the largest log p(y)/q(y), infinite where q has no mass on an atom of p.
    """
    with mpmath.workdps(digits):
        if scale == 0:
            ratios = [mpmath.log(as_mpf(m) / as_mpf(q[y])) if q.get(y, 0) > 0 else mpmath.inf for y, m in p.items()]
            return max(ratios)
        return max(mpmath.log(noised_mass(p, y, scale) / noised_mass(q, y, scale)) for y in sorted({*p, *q}))


def largest_laplace_loss(p: Mapping[Any, Any], q: Mapping[Any, Any], scale: Any) -> mpmath.mpf:
    """Return the larger `laplace_loss` of both ways."""
    return max(laplace_loss(p, q, scale), laplace_loss(q, p, scale))


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

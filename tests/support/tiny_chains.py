"""Chains whose steps are almost never possible, and what they lose, in numbers of any size."""

from collections.abc import Sequence

import mpmath
import numpy as np
from tests.support.sweep_oracles import DIGITS

TINY = (1e-308, 1e-200, 1e-160)
Rows = Sequence[Sequence[float]]


def tiny_chain(random: np.random.Generator, states: int) -> tuple[list[list[float]], list[float]]:
    """A matrix and a start with tiny masses and zeros, which floats sum to one."""
    return [_law(random, states) for _ in range(states)], _law(random, states)


def _law(random: np.random.Generator, states: int) -> list[float]:
    law = [float(random.choice([0.0, *TINY, 0.25])) for _ in range(states)]
    place = int(random.integers(states))
    law[place] = 0.0
    law[place] = 1.0 - sum(law)
    return law


def followed(matrix: Rows, start: Sequence[float], steps: int) -> list[list[mpmath.mpf]]:
    """The laws of the first steps in many digits: exponents have no limit, so that only what is impossible is 0."""
    with mpmath.workdps(DIGITS):
        laws = [[mpmath.mpf(mass) for mass in start]]
        for _ in range(steps - 1):
            laws.append([
                mpmath.fsum(mass * mpmath.mpf(row[s]) for mass, row in zip(laws[-1], matrix, strict=True))
                for s in range(len(start))
            ])  # fmt: skip
        return laws


def loss_by_response(matrix: Rows, start: Sequence[float], change: float, length: int) -> mpmath.mpf:
    """The loss of the worst randomised responses about a chain of two states (influence, Theorem 3).

    R and L by their two rays, from the exact laws, and c + R + L of every entry with two possible values.
    """
    with mpmath.workdps(DIGITS):
        laws = followed(matrix, start, length)
        ahead = [[mpmath.mpf(p) for p in row] for row in matrix]
        right = [_zero()]
        for _ in range(length - 1):
            right.append(_stepped(ahead, right[-1], change))
        left = [_zero()]
        for law in laws[:-1]:
            joint = [[law[u] * ahead[u][s] for u in range(2)] for s in range(2)]
            possible = next(row for row in joint if sum(row))
            left.append(_stepped([row if sum(row) else possible for row in joint], left[-1], change))
        best = mpmath.mpf(0)
        for law, before, after in zip(laws, left, reversed(right), strict=True):
            if all(law):
                best = max(best, *(change + before[pair] + after[pair] for pair in ((0, 1), (1, 0))))
        return best


def _zero() -> dict[tuple[int, int], mpmath.mpf]:
    return {(0, 1): mpmath.mpf(0), (1, 0): mpmath.mpf(0)}


def _stepped(
    rows: Sequence[Sequence[mpmath.mpf]], behind: dict[tuple[int, int], mpmath.mpf], change: float
) -> dict[tuple[int, int], mpmath.mpf]:
    laws = [[mass / sum(row) for mass in row] for row in rows]
    rays = [(mpmath.exp(change + behind[0, 1]), 1), (1, mpmath.exp(change + behind[1, 0]))]
    means = [[law[0] * ray[0] + law[1] * ray[1] for law in laws] for ray in rays]
    return {(a, b): max(mpmath.log(mean[a] / mean[b]) for mean in means) for a, b in behind}

"""Random pairs of small laws, one per seed, and what is promised about them, for mechanisms that compare two laws."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from scipy.special import ndtr

from takifugu.analysis.bounds import Bound, Mechanism
from takifugu.analysis.problem import Problem
from takifugu.model.frameworks import Framework, distribution_pair
from takifugu.model.queries import Identity, Query
from takifugu.numbers.distributions.pmf import Pmf

Law = dict[int, Fraction]


def pair_of(laws: tuple[Law, Law]) -> Framework:
    """Return the comparison of two laws."""
    return distribution_pair(*(Pmf(list(law), list(law.values())) for law in laws))


def bound_by(
    mechanism: Mechanism, framework: Framework, query: Query | None = None, epsilon: Any = 1, delta: Any = 0
) -> Bound:
    """Return what a mechanism promises, which serves this question; of two laws the answer itself is published."""
    bounded = mechanism.bound(Problem(framework, query or Identity(), Fraction(epsilon), Fraction(delta)))
    assert isinstance(bounded, Bound), bounded
    return bounded


def random_pair(seed: int, reach: int = 12) -> tuple[Law, Law]:
    """Two laws with up to 8 atoms between 0 and `reach`, exact masses; often sharing atoms, sometimes one-sided."""
    generator = np.random.default_rng(seed)
    return _law(generator, reach), _law(generator, reach)


def random_budget(seed: int) -> Fraction:
    return [Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5)][seed % 5]


def _law(generator: Any, reach: int) -> Law:
    size = int(generator.integers(1, 9))
    atoms = sorted(generator.choice(reach + 1, size=size, replace=False).tolist())
    masses = generator.integers(1, 30, size=size).tolist()
    return {x: Fraction(m, sum(masses)) for x, m in zip(atoms, masses, strict=True)}


def rounded_normal_delta(p: Law, q: Law, sigma: Fraction, epsilon: Fraction) -> float:
    """Return sum over integers k of (P(k | p) - e^epsilon P(k | q))_+ for round(x + N(0, sigma^2)); integer atoms.

    In float64; every mass is taken on the left of the centre, so the sum is right to 1e-13.
    """
    reach, atoms = int(sigma * 13) + 2, sorted({*p, *q})
    outputs = np.arange(atoms[0] - reach, atoms[-1] + reach + 1)

    def masses(law: Law) -> Any:
        return sum(float(m) * step(np.abs(outputs - x)) for x, m in law.items())

    def step(distance: Any) -> Any:
        return ndtr((0.5 - distance) / float(sigma)) - ndtr((-0.5 - distance) / float(sigma))

    return float(np.maximum(masses(p) - math.exp(epsilon) * masses(q), 0).sum())


def relaxed_by_hand(plan: dict[tuple[int, int], Fraction], epsilon: Any, theta: Any) -> bool:
    """Whether the sums of Ding22 Theorem 2 hold as inequalities at theta (errata N1), for a plan {(x, x'): mass}."""
    with mpmath.workdps(40):
        for side in (0, 1):
            for place in {pair[side] for pair in plan}:
                run = [(pair, mass) for pair, mass in plan.items() if pair[side] == place]
                total = sum(mass for _, mass in run)
                left = mpmath.fsum(
                    mpmath.exp(abs(x - y) / mpmath.mpf(theta)) * m.numerator / m.denominator for (x, y), m in run
                )
                if left > mpmath.exp(mpmath.mpf(epsilon)) * total.numerator / total.denominator:
                    return False
        return True


def monotone_by_hand(p: Law, q: Law) -> dict[tuple[int, int], Fraction]:
    """Return the plan that moves the leftmost mass first."""
    plan: dict[tuple[int, int], Fraction] = {}
    left, right = sorted(p.items()), sorted(q.items())
    i = j = 0
    a, b = left[0][1], right[0][1]
    while True:
        moved = min(a, b)
        plan[left[i][0], right[j][0]] = moved
        a, b = a - moved, b - moved
        if not a:
            i += 1
        if not b:
            j += 1
        if i == len(left) or j == len(right):
            return plan
        a, b = a or left[i][1], b or right[j][1]

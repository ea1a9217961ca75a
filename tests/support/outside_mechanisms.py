"""150 mechanisms from outside: 100 whose additive noise is too little for what they claim, 50 whose noise is enough.

The oracle lists every sequence of a binary chain and takes the largest log-ratio, or hockey-stick divergence, of the
noisy count under two values of one step. It knows nothing of Takifugu.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from takifugu.analysis.bounds import Bound, Cost, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal

MATRIX = ((0.9, 0.1), (0.4, 0.6))
START = (0.8, 0.2)  # the stationary distribution
#: Outputs of discrete noise that are looked at, beyond the answers.
_BEYOND = 60


def laws(length: int) -> Iterator[tuple[dict[int, float], dict[int, float]]]:
    """Yield the laws of the count of state 1 given that a step is 0, and that it is 1."""
    for step in range(length):
        given: tuple[dict[int, float], dict[int, float]] = ({}, {})
        for states in product((0, 1), repeat=length):
            mass = START[states[0]]
            for one, other in pairwise(states):
                mass *= MATRIX[one][other]
            law = given[states[step]]
            law[sum(states)] = law.get(sum(states), 0.0) + mass
        yield tuple({count: mass / sum(law.values()) for count, mass in law.items()} for law in given)  # type: ignore[misc]


def pure_loss(length: int, scale: float) -> float:
    """Return the largest log-ratio of the count with discrete Laplace noise of a scale; infinite without noise."""
    worst = 0.0
    for p, q in laws(length):
        for output in range(-_BEYOND, length + _BEYOND):
            left, right = (_noisy(law, output, scale) for law in (p, q))
            if left != right:
                worst = max(worst, math.inf if not (left and right) else abs(math.log(left / right)))
    return worst


def _noisy(law: dict[int, float], output: int, scale: float) -> float:
    if not scale:
        return law.get(output, 0.0)
    return math.fsum(mass * math.exp(-abs(output - count) / scale) for count, mass in law.items())


def normal_delta(length: int, sigma: float, epsilon: float) -> float:
    """Return the largest mass of the noisy count that exceeds e^epsilon times the other, on a fine grid."""
    worst = 0.0
    for pair in laws(length):
        for p, q in (pair, pair[::-1]):
            total, width = 0.0, sigma / 50
            for step in range(int(-8 * sigma / width), int((length + 8 * sigma) / width)):
                at = step * width
                left, right = (
                    math.fsum(m * math.exp(-((at - count) ** 2) / (2 * sigma**2)) for count, m in law.items())
                    for law in (p, q)
                )
                total += max(0.0, left - math.exp(epsilon) * right) * width
            worst = max(worst, total / (sigma * math.sqrt(2 * math.pi)))
    return worst


@dataclass(frozen=True)
class Foreign:
    """A mechanism of another package: noise, and a claim about it."""

    noise: Callable[[Any], Any]
    epsilon: Callable[[Fraction], Fraction]
    covers: Covers
    name: str
    has_delta: bool = False
    source: str = "another package"

    def cost(self, problem: Any) -> Cost:
        return Cost(1.0)

    def bound(self, problem: Any) -> Bound:
        delta = problem.delta if self.has_delta else Fraction(0)
        claimed = self.epsilon(problem.epsilon)
        return Bound(self.noise(problem), claimed, delta, self.covers, Witness("a against b"))


@dataclass(frozen=True)
class Case:
    """A mechanism that is asked about chains of a length, at epsilon and delta; `scale` is that of its noise."""

    mechanism: Foreign
    length: int
    epsilon: Fraction
    delta: Fraction
    scale: Fraction
    claimed: Fraction


def discrete(scale: Fraction) -> Callable[[Any], Any]:
    return lambda problem: DiscreteLaplace(scale / problem.grid, problem.grid, problem.cells)


def rounded(scale: Fraction) -> Callable[[Any], Any]:
    return lambda problem: RoundedLaplace(scale, problem.grid, problem.cells)


def normal(scale: Fraction) -> Callable[[Any], Any]:
    return lambda problem: RoundedNormal(scale, problem.grid, problem.cells)


def nothing(scale: Fraction) -> Callable[[Any], Any]:
    return lambda problem: Exact(problem.grid, problem.cells)


def as_requested(epsilon: Fraction) -> Fraction:
    return epsilon


def a_fifth(epsilon: Fraction) -> Fraction:
    return epsilon / 5


def cases(is_enough: bool) -> list[Case]:
    """Return 40 mechanisms with too little noise, or 20 with enough."""
    one, half, two = Fraction(1), Fraction(1, 2), Fraction(2)
    every, single, output = Covers.EVERYTHING, Covers.ENTRIES, Covers.OUTPUT
    made = list[Case]()

    def add(kind: str, noise: Any, scale: Fraction, claim: Any, covers: Covers, length: int, epsilon: Fraction,
            delta: Fraction = Fraction(0)) -> None:  # fmt: skip
        name = f"{kind}-{length}-{epsilon.numerator}-{epsilon.denominator}-{covers}"
        mechanism = Foreign(noise(scale), claim, covers, name.replace("/", "-"), delta > 0)
        made.append(Case(mechanism, length, epsilon, delta, scale, claim(epsilon)))

    small = Fraction(1, 10**4)
    for length, epsilon in zip((3, 5, 7, 8, 9, 5), (half, one, two, one, two, half), strict=True):
        if is_enough:
            add("group-dp", discrete, length / epsilon, as_requested, every, length, epsilon)
            add("wide", rounded, 3 * length / epsilon, as_requested, single, length, epsilon)
            add("modest", discrete, 6 * length / epsilon, a_fifth, output, length, epsilon)
            continue
        add("record-dp", discrete, 1 / epsilon, as_requested, single, length, epsilon)
        add("record-dp", rounded, 1 / epsilon, as_requested, output, length, epsilon)
        add("upside-down", discrete, epsilon / 4, as_requested, every, length, epsilon)
        add("boasting", discrete, length / epsilon / 2, a_fifth, output, length, epsilon)
        add("nothing", nothing, Fraction(0), as_requested, every, length, epsilon)
        add("faint", rounded, Fraction(1, 8), as_requested, Covers.COMPONENT, length, epsilon)
    for length in (3, 8) if is_enough else (8,):
        if is_enough:
            add("normal", normal, Fraction(20 * length), as_requested, output, length, one, small)
            continue
        for number in (1, 2, 3, 5):
            add(f"normal{number}", normal, Fraction(number, 5), as_requested, output, length, one, small)
    return made

"""The smallest Laplace noise: the least scale b after which no comparison's largest log-ratio exceeds epsilon.

For laws mu, nu of the answer under the two sides of a comparison the ratio of the noised densities is monotone between
neighbouring atoms, so its extremes are at atoms, and it falls when b grows: the least b is found by search, comparison
by comparison, and the largest of them serves all (docs/theory/one-answer.md, Theorem 4); for any initial
distribution the ratio is taken over all at once. It is never above W-infinity / epsilon (Song17 Theorem 3.2). The same
b serves discrete Laplace noise on the grid. Where the laws differ by at most epsilon themselves, no noise is needed. An
answer of several cells that moves along one line, such as a histogram over two states, counts as one number, with the
smallest scale again (`lines`). It is a promise about this one answer's law and does not compose (errata E12).

The least is rounded up by at most 1e-10 relative. Where rounded masses could move a log-ratio by r, r / epsilon
relative is added (1e-12 / epsilon at 1,000 steps).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from takifugu.analysis.answer_laws.minimax_start import over_all_starts
from takifugu.analysis.problem import Problem
from takifugu.analysis.questions.compared import Compared
from takifugu.mechanisms.common.answer_families import Located, Loss, families_at_hand
from takifugu.mechanisms.common.answer_noise import laplace_noise
from takifugu.mechanisms.common.continuous import OF_NOISE, ComparedDensities
from takifugu.mechanisms.common.largest_need import Bools, stacked
from takifugu.mechanisms.common.noise_by_laws import NoiseByLaws, OfDensities

#: The scale that other comparisons are tried with lies this much above the largest found so far, relatively.
HEADROOM = Fraction(1, 2**35)
#: Fewer families than this are gone through as they come.
_FEW = 16


def _needs(located: Located, scale: Fraction, epsilon: Fraction) -> Iterator[tuple[Fraction, Compared]]:
    """Solve for the worst comparison until none loses more than epsilon."""
    family, solved = over_all_starts(located.family), set[int]()
    comparisons = family.compared
    while True:
        losses = family.losses(scale)
        failing = [i for i, loss in enumerate(losses) if loss > epsilon and i not in solved]
        if not failing:
            return
        index = max(failing, key=losses.__getitem__)
        needed = comparisons[index].smallest_scale(epsilon)
        if needed > scale:
            scale = min(needed * (1 + HEADROOM), Fraction(comparisons[index].reach) / epsilon)
            yield scale, comparisons[index]
        solved.add(index)


def _start(problem: Problem) -> Fraction:
    """Return a scale to start from, or 0, without changing the result."""
    located = families_at_hand(problem, lines=True)
    stacks = stacked(located) if len(located) >= _FEW else []
    families = [family_at.family for family_at in located]
    if not stacks or any(over_all_starts(family) is not family for family in families):
        return Fraction(0)
    comparisons = [compared for family in families for compared in family.compared]
    largest, place = Fraction(0), len(comparisons) // 2
    for _ in range(4):
        largest = max(largest, comparisons[place].smallest_scale(problem.epsilon))
        losses = np.concatenate([stack.losses(largest) for stack in stacks])
        place = int(losses.argmax())
        if losses[place] <= problem.epsilon:
            break

    def served(scale: Fraction) -> Bools:
        return np.concatenate([stack.keeps(problem.epsilon, scale) for stack in stacks])

    # A need of at most `below` leaves a scale under the wider one: where all others need more, only they decide.
    for width in (4, 8, 16, 32, 64):
        below = largest * (1 - (width + 2) * HEADROOM)
        at_most = served(below)
        if np.array_equal(at_most, served(largest * (1 - width * HEADROOM))) and not at_most.all():
            return below
    return Fraction(0)


def _needed_of_densities(problem: Problem, compared: ComparedDensities) -> Fraction:
    from takifugu.numbers.after_noise.laplace_densities import least_laplace_noise

    return least_laplace_noise(compared.p, compared.q, problem.epsilon, compared.rounding)


def _lost(problem: Problem, scale: Fraction) -> Loss:
    def lost(located: Located, enough: float) -> float:
        return max(enough, *over_all_starts(located.family).losses(scale), 0.0)

    return lost


MECHANISM = NoiseByLaws(
    "laplace-exact",
    "largest log-ratio of two distributions after Laplace noise, at atoms; "
    "never above Song, Wang and Chaudhuri (arXiv 1603.03977v1), Theorem 3.2",
    laplace_noise, lambda problem: partial(_needs, epsilon=problem.epsilon), scans=150.0, start=_start,
    nothing="no comparison: the distributions differ by less than epsilon without noise",
    detail="the log-ratio reaches epsilon here first",
    densities=OfDensities(
        _needed_of_densities, OF_NOISE, "the log-ratio of the noisy densities reaches epsilon here first",
    ),
    lost=_lost,
)  # fmt: skip

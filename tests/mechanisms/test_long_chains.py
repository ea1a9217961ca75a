"""A chain of 10,000 steps: the noise of a count, against laws worked out in the long range of 80-bit floats."""

import re
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from takifugu.analysis.problem import Bound, Problem
from takifugu.mechanisms import laplace_exact, wasserstein
from takifugu.model.beliefs.chains.chain import MarkovChain
from takifugu.model.frameworks import Pufferfish
from takifugu.model.queries import Count
from takifugu.model.secrets.of_entries import every_entry

Floats = npt.NDArray[np.longdouble]

LENGTH, EPSILON = 10_000, Fraction(1)
MATRIX = [[0.9, 0.1], [0.4, 0.6]]
CHANCES, STATIONARY = np.array(MATRIX, dtype=np.longdouble), np.array([0.8, 0.2], dtype=np.longdouble)


def same(masses: Floats) -> Floats:
    return np.concatenate((masses, [0]))


def larger(masses: Floats) -> Floats:
    """Return the law of a count that is one larger."""
    return np.concatenate(([0], masses))


def laws_at(entry: int) -> tuple[Floats, Floats]:
    """Return P(count = n | X_entry = s) for s = 0 and 1, by two recurrences and a sum over where they meet."""
    before = same(STATIONARY[:1]), larger(STATIONARY[1:])
    for _ in range(entry):
        out, into = (before[0] * CHANCES[0, s] + before[1] * CHANCES[1, s] for s in (0, 1))
        before = same(out), larger(into)
    behind = np.ones(1, dtype=np.longdouble), np.ones(1, dtype=np.longdouble)
    for _ in range(LENGTH - 1 - entry):
        out, into = same(behind[0]), larger(behind[1])
        behind = out * CHANCES[0, 0] + into * CHANCES[0, 1], out * CHANCES[1, 0] + into * CHANCES[1, 1]
    laws = []
    for s in (0, 1):
        total = np.zeros(LENGTH + 1, dtype=np.longdouble)
        for count, mass in enumerate(before[s]):
            total[count : count + len(behind[s])] += mass * behind[s]
        laws.append(total / total.sum())
    return laws[0], laws[1]


def noised(masses: Floats, scale: float) -> Floats:
    """Return the density of the count plus Laplace noise, up to a factor."""
    left, right, reach = masses.copy(), masses.copy(), 1
    decay = np.longdouble(1) / np.longdouble(scale)
    while reach < len(masses):
        left[reach:] += left[:-reach] * np.exp(-reach * decay)
        right[:-reach] += right[reach:] * np.exp(-reach * decay)
        reach *= 2
    left[:-1] += right[1:] * np.exp(-decay)
    return left


def loss(laws: tuple[Floats, Floats], scale: float) -> float:
    return float(np.abs(np.log(noised(laws[0], scale) / noised(laws[1], scale))).max())


def tails(masses: Floats) -> Floats:
    """Return P(count >= n)."""
    return np.cumsum(masses[::-1])[::-1]


@pytest.mark.slow
def test_ten_thousand_steps() -> None:
    assert np.finfo(np.longdouble).minexp < -16_000
    problem = Problem(Pufferfish(every_entry(), MarkovChain(MATRIX, LENGTH)), Count(1), EPSILON)
    exact, moving = laplace_exact.MECHANISM.bound(problem), wasserstein.MECHANISM.bound(problem)
    assert isinstance(exact, Bound)
    assert isinstance(moving, Bound)
    scale, farthest = float(exact.randomiser.scale), round(float(moving.randomiser.scale))
    named = re.match(r"step (\d+) ", exact.witness.comparison)
    assert named
    for entry in {0, LENGTH // 2, int(named[1])}:
        laws = laws_at(entry)
        assert loss(laws, scale) <= 1 + 1e-9
        at_least = tails(laws[0]), tails(laws[1])
        # A plan without a move longer than w: P(count >= n | 1) <= P(count >= n - w | 0), and the other way round.
        for one, other in (at_least, at_least[::-1]):
            assert (one[farthest:] <= other[:-farthest] + 1e-9).all()
        if entry == int(named[1]):
            assert loss(laws, scale * (1 - 1e-7)) > 1
        if entry == LENGTH // 2:
            assert (at_least[1][farthest - 1 :] > at_least[0][: 1 - farthest] + 1e-6).any()
    assert scale < farthest

"""What a reader thinks of each step of a chain given a noisy table, by listing all recordings; imports no takifugu."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.support.estimate_oracles import chain_states


def step_posteriors(
    matrices: Sequence[Any], length: int, start: Sequence[float], adds: Callable[[int, int], Sequence[int]],
    published: Sequence[float], scale: float,
) -> tuple[Any, Any]:  # fmt: skip
    """Return P(X_t = v) and P(X_t = v | published), shape (length, states) each.

    `adds(step, value)` is what a step adds to each cell, in units of the scale. The noise is Laplace noise on whole
    numbers, whose mass at a distance d is proportional to e^(-|d|/scale).
    """
    joint = np.zeros((2, length, len(start)))
    for states, mass in chain_states(matrices, length, start):
        cells = np.sum([adds(step, value) for step, value in enumerate(states)], axis=0)
        likelihood = math.exp(-math.fsum(abs(y - cell) for y, cell in zip(published, cells, strict=True)) / scale)
        for step, value in enumerate(states):
            joint[:, step, value] += mass, mass * likelihood
    before, after = joint
    return before, after / after.sum(axis=1, keepdims=True)


def most_moved(before: Any, after: Any) -> float:
    """Return how far the log of the odds of two values of a step moved at most."""
    worst = 0.0
    for was, now in zip(before, after, strict=True):
        for a in range(len(was)):
            for b in range(len(was)):
                if was[a] > 0 and was[b] > 0:
                    worst = max(worst, math.log(now[a] / now[b]) - math.log(was[a] / was[b]))
    return worst

"""Releases about windows of one long recording, step by step and in floats. Nothing here imports takifugu.

Every step of the recording is looked at, with every pair of nodes; nothing is left out, shifted or known in advance.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from tests.support.joint_losses import Law, largest_loss

Array = npt.NDArray[np.float64]

#: Laws of a first step to try where any is possible: point starts are not the worst.
STARTS = [[Fraction(1, 2)] * 2, [Fraction(99, 100), Fraction(1, 100)], [Fraction(1, 1000), Fraction(999, 1000)]]


def step_costs(size: int, windows: Sequence[tuple[int, Sequence[float], float]]) -> Array:
    """Return sum_k D_k({i})/b_k of every step; a window is (start, what its steps move, scale)."""
    cost = np.zeros(size)
    for start, changes, scale in windows:
        for offset, change in enumerate(changes):
            cost[start + offset] += change / scale
    return cost


def true_window_loss(law: Law, windows: Sequence[tuple[int, int, float]], values: int = 2) -> float:
    """Return the largest loss of windows that count the last value, over every entry and pair.

    A window is (start, length, scale) of Laplace noise.
    """
    paths = np.array(list(law))
    counts = np.stack([(paths[:, s : s + n] == values - 1).sum(axis=1) for s, n, _ in windows], axis=1)
    return largest_loss(law, counts, [scale for *_, scale in windows], range(paths.shape[1]))


def loss_about_a_step(law: Law, step: int, windows: Sequence[tuple[int, Sequence[float], float]]) -> float:
    """Return the largest loss about one step; a window is (start, what value 1 of each step adds, scale)."""
    paths = np.array(list(law))
    sums = np.stack([paths[:, s : s + len(w)] @ np.array(w, dtype=float) for s, w, _ in windows], axis=1)
    return largest_loss(law, sums, [scale for *_, scale in windows], [step])


def long_quilt_cost(matrix: Sequence[Sequence[float]], costs: Array, any_start: bool = False) -> float:
    """Return the joint quilt cost of a recording under a chain without zeros that starts stationary, or anyhow."""
    size, k = len(costs), len(matrix)
    powers = [np.eye(k)]
    for _ in range(size):
        powers.append(powers[-1] @ np.array(matrix))
    logs = [np.log(np.maximum(p, 1e-300)) for p in powers]
    stationary = None if any_start else np.linalg.matrix_power(np.array(matrix), 2**14)[0]
    sums = np.concatenate([[0.0], np.cumsum(costs)])
    worst = 0.0
    for a in range(k):
        for b in range(k):
            if a == b:
                continue
            after = [float((logs[d][a] - logs[d][b]).max()) for d in range(1, size)]
            before = [float((logs[d][:, a] - logs[d][:, b]).max()) for d in range(1, size)]
            for i in range(size):
                prior = 0.0
                if stationary is not None:
                    prior = math.log(stationary[b] / stationary[a])
                elif i:
                    prior = float((logs[i][:, b] - logs[i][:, a]).max())
                left = min([sums[i], *(before[d - 1] + prior + sums[i] - sums[i - d + 1] for d in range(1, i + 1))])
                right = min(
                    [sums[-1] - sums[i + 1], *(after[d - 1] + sums[i + d] - sums[i + 1] for d in range(1, size - i))]
                )
                worst = max(worst, left + costs[i] + right)
    return worst

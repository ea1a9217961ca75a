"""quilt-exact on long chains, next to the direct Algorithm 3 where that ends; the 9 x 9 grid of chains; one number."""

from __future__ import annotations

import math
import resource

import numpy as np
import numpy.typing as npt

import takifugu as tf
from measure import compared, row, seconds, span, title

EPSILON = 1.0
FloatArray = npt.NDArray[np.float64]


def activity_chain() -> FloatArray:
    """Return a slow chain of 4 states, much like minutes of activity: its best quilt is about 400 wide."""
    counts = np.array(
        [[3139, 32, 34, 35], [30, 15994, 198, 508], [31, 232, 9077, 562], [41, 443, 583, 109148]], dtype=float
    )
    return counts / counts.sum(axis=1, keepdims=True)


def neighbour_chain(states: int, restart: float = 0.2) -> FloatArray:
    """Return a chain that moves to a neighbouring state, and with probability `restart` to any."""
    matrix = np.full((states, states), restart / states)
    for state in range(states):
        for step in (-1, 0, 1):
            matrix[state, min(max(state + step, 0), states - 1)] += (1 - restart) / 3
    return matrix


def scale(matrix: FloatArray, length: int, mechanism: str = "quilt-exact", query: object = None) -> float:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length))
    return tf.calibrate(framework, query or tf.Histogram(), EPSILON, mechanism=mechanism, allow_zero_noise=True).scale


def direct(matrix: FloatArray, length: int) -> float:
    """Return the scale for a histogram by Algorithm 3 as printed: every node, every quilt, no pruning (stationary)."""
    law = np.linalg.matrix_power(matrix, 100_000)[0]
    back = (matrix * law[:, None]).T / law[:, None]
    ahead_power, back_power = np.eye(len(law)), np.eye(len(law))
    ahead, behind = [math.inf], [math.inf]
    for _ in range(length):
        ahead_power, back_power = ahead_power @ matrix, back_power @ back
        ahead.append(float(np.max(np.log(ahead_power[:, None, :] / ahead_power[None, :, :]))))
        behind.append(float(np.max(np.log(back_power[:, None, :] / back_power[None, :, :]))))
    return max(_node(i, length, ahead, behind) for i in range(length))


def _node(i: int, length: int, ahead: list[float], behind: list[float]) -> float:
    best = 2 * length / EPSILON
    for a in range(1, i + 2):
        left = behind[a] if a <= i else 0.0
        for b in range(1, length - i + 1):
            influence = left + (ahead[b] if i + b < length else 0.0)
            if influence < EPSILON:
                best = min(best, 2 * (a + b - 1) / (EPSILON - influence))
    return best


def main() -> None:
    slow, fast = activity_chain(), neighbour_chain(51)
    title("quilt-exact for a histogram, epsilon 1, best of 2")
    for name, matrix, lengths in (
        ("4 states, best quilt about 400 wide", slow, (10_000, 100_000)),
        ("51 states, best quilt about 40 wide", fast, (10_000, 1_000_000)),
    ):
        first = seconds(lambda m=matrix, t=lengths[0]: scale(m, t), runs=2)
        longer = seconds(lambda m=matrix, t=lengths[1]: scale(m, t), runs=2)
        row(f"{name}, T = {lengths[0]:,}", span(first))
        times = f"{lengths[1] // lengths[0]} times as long takes {longer / first:.1f} times the time"
        row(f"{name}, T = {lengths[1]:,}", span(longer), times)
    row("largest memory so far", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")

    length, four = 400, neighbour_chain(4)
    title(f"next to the direct Algorithm 3, 4 states, T = {length}")
    ours, theirs = seconds(lambda: scale(four, length)), seconds(lambda: direct(four, length), runs=1)
    row("quilt-exact", span(ours), compared(ours, theirs, "the direct search"))
    row("its scale", f"{scale(four, length):.6f}", f"the direct search's {direct(four, length):.6f}")

    title("the 9 x 9 grid: p0, p1 in 0.1, ..., 0.9; T = 100, a count")
    chains = [np.array([[p, 10 - p], [10 - q, q]]) / 10 for p in range(1, 10) for q in range(1, 10)]
    for mechanism in ("quilt-exact", "quilt-approx", "wasserstein"):
        took = seconds(lambda m=mechanism: [scale(c, 100, m, tf.Count(1)) for c in chains], runs=1)
        row(f"{mechanism}, 81 chains", span(took))

    title("one number, T = 1,000, 4 states")
    for mechanism in ("wasserstein", "laplace-exact"):
        row(mechanism, span(seconds(lambda m=mechanism: scale(slow, 1000, m, tf.Count(2)), runs=1)))


if __name__ == "__main__":
    main()

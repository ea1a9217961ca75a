"""quilt-exact on long chains, next to the direct Algorithm 3 where that ends; the 9 x 9 grid of chains; one number."""

from __future__ import annotations

import resource
from fractions import Fraction

import numpy as np
import numpy.typing as npt

import takifugu as tf
from measure import compared, row, seconds, span, title
from takifugu.analysis.problem import Problem
from takifugu.influence.quilts.chain import shared
from takifugu.influence.quilts.chain.joint_cost import joint_cost

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


def ring_chain(states: int, step: float = 0.3) -> FloatArray:
    """Return a chain that stays or moves to a neighbour on a ring: of 51 states, its best quilt is 1,583 wide."""
    matrix = (1 - 2 * step) * np.eye(states)
    for state in range(states):
        matrix[state, (state - 1) % states] += step
        matrix[state, (state + 1) % states] += step
    return matrix


def scale(matrix: FloatArray, length: int, mechanism: str = "quilt-exact", query: object = None) -> float:
    """Return a scale found afresh: no table of influences is left from an earlier call."""
    shared.forget()
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length))
    return tf.calibrate(framework, query or tf.Histogram(), EPSILON, mechanism=mechanism, allow_zero_noise=True).scale


def periodic_scale(matrices: list[FloatArray], length: int, matrix_of: npt.NDArray[np.int64]) -> float:
    """Return the scale of a count where each step of a period has its own matrix, found afresh."""
    shared.forget()
    chain = tf.PeriodicChain(matrices, length, matrix_of.tolist())
    return tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), EPSILON, mechanism="quilt-exact").scale


def two_releases(matrix: FloatArray, length: int) -> float:
    """Return the joint cost of a histogram and a count on one sequence."""
    shared.forget()
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length))
    parts = [Problem(framework, query, Fraction(1)).parts[0] for query in (tf.Histogram(), tf.Count(1))]
    return joint_cost(parts[0], [(part.answer.entry_changes(), Fraction(10_000)) for part in parts])[0]


def direct(matrix: FloatArray, length: int) -> float:
    """Return the scale for a histogram by Algorithm 3: every node, every quilt, every pair, no pruning (stationary)."""
    law = np.log(np.linalg.matrix_power(matrix, 100_000)[0])
    pairs = ~np.eye(len(law), dtype=bool)
    none = np.zeros(pairs.sum())
    power, ahead, behind = np.eye(len(law)), [none], [none]
    for _ in range(length):
        power = power @ matrix
        logs = np.log(power)
        ahead.append((logs[:, None, :] - logs[None, :, :]).max(axis=2)[pairs])
        backward = (logs.T[:, None, :] - logs.T[None, :, :]).max(axis=2)
        behind.append((backward + law[None, :] - law[:, None])[pairs])
    return max(_node(i, length, ahead, behind) for i in range(length))


def _node(i: int, length: int, ahead: list[FloatArray], behind: list[FloatArray]) -> float:
    best = 2 * length / EPSILON
    for a in range(1, i + 2):
        left = behind[a] if a <= i else behind[0]
        for b in range(1, length - i + 1):
            influence = float((left + (ahead[b] if i + b < length else ahead[0])).max())
            if influence < EPSILON:
                best = min(best, 2 * (a + b - 1) / (EPSILON - influence))
    return best


def main() -> None:
    slow, fast, ring = activity_chain(), neighbour_chain(51), ring_chain(51)
    title("quilt-exact for a histogram, epsilon 1, tables built afresh, best of 2")
    for name, matrix, lengths in (
        ("4 states, best quilt about 400 wide", slow, (10_000, 100_000)),
        ("51 states, best quilt about 40 wide", fast, (10_000, 1_000_000)),
        ("51 states, best quilt 1,583 wide", ring, (10_000, 1_000_000)),
    ):
        first = seconds(lambda m=matrix, t=lengths[0]: scale(m, t), runs=2)
        longer = seconds(lambda m=matrix, t=lengths[1]: scale(m, t), runs=2)
        row(f"{name}, T = {lengths[0]:,}", span(first))
        times = f"{lengths[1] // lengths[0]} times as long takes {longer / first:.1f} times the time"
        row(f"{name}, T = {lengths[1]:,}", span(longer), times)
        row("largest memory so far", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    both = seconds(lambda: two_releases(ring, 1_000_000), runs=1)
    row("joint cost of two releases, T = 1,000,000", span(both), f"{both / longer:.1f} times the calibration of one")

    length, four = 150, neighbour_chain(4)
    title(f"next to the direct Algorithm 3, 4 states, T = {length}")
    ours, theirs = seconds(lambda: scale(four, length)), seconds(lambda: direct(four, length), runs=1)
    row("quilt-exact", span(ours), compared(ours, theirs, "the direct search"))
    row("its scale", f"{scale(four, length):.9f}", f"the direct search's {direct(four, length):.9f}")

    title("the 9 x 9 grid: p0, p1 in 0.1, ..., 0.9; T = 100, a count")
    chains = [np.array([[p, 10 - p], [10 - q, q]]) / 10 for p in range(1, 10) for q in range(1, 10)]
    for mechanism in ("quilt-exact", "quilt-approx", "wasserstein"):
        took = seconds(lambda m=mechanism: [scale(c, 100, m, tf.Count(1)) for c in chains], runs=1)
        row(f"{mechanism}, 81 chains", span(took))

    night, day = neighbour_chain(4, 0.02), neighbour_chain(4, 0.3)
    title("a matrix for each hour of the day: a year of hours, and of minutes; a count, tables built afresh")
    for name, times, length in (("hours", 1, 8_760), ("minutes", 60, 525_600)):
        by_hour = np.repeat([0] * 7 + [1] * 15 + [0] * 2, times)
        took = seconds(lambda n=length, order=by_hour: periodic_scale([night, day], n, order), runs=1)
        one = seconds(lambda n=length: scale(night, n, query=tf.Count(1)), runs=1)
        row(f"quilt-exact, {name}, T = {length:,}, period {24 * times:,}", span(took), f"one matrix: {span(one)}")

    title("one number, T = 1,000, 4 states")
    for mechanism in ("wasserstein", "laplace-exact"):
        row(mechanism, span(seconds(lambda m=mechanism: scale(slow, 1000, m, tf.Count(2)), runs=1)))


if __name__ == "__main__":
    main()

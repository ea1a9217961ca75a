"""Noise that hides a property of columns: every value of a share among 32,561 records, normal columns, quilts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

import takifugu as tf
from measure import compared, row, seconds, span, title

ADULT = 32_561
JOINT = {("Black", ">50K"): 0.011, ("Black", "<=50K"): 0.085, ("other", ">50K"): 0.225, ("other", "<=50K"): 0.679}
RICH = tf.Count(">50K", entries=["income"])


def share(records: int, mechanism: str) -> float:
    """Return the scale that hides all values of a share from each other, the belief made afresh."""
    table = tf.JointTable(list(JOINT), list(JOINT.values()), names=["race", "income"])
    framework = tf.Pufferfish(tf.dataset_property("race", "share", of="Black"), tf.Records(table, records))
    return tf.calibrate(framework, RICH, 1, mechanism=mechanism, allow_zero_noise=True).scale


def every_pair(records: int) -> float:
    """Return the largest move between any two values of the share, from the law of the count given each, in floats."""
    one, other = 11 / 96, 225 / 904
    below = []
    for total in range(records + 1):
        law = np.ones(1)
        for chance in (*[one] * total, *[other] * (records - total)):
            law = np.convolve(law, [1 - chance, chance])
        below.append(np.cumsum(law))
    levels = np.linspace(0, 1, 10 * records + 1)[1:-1]
    reached = [np.searchsorted(law, levels) for law in below]
    return float(max(np.abs(a - b).max() for a, b in combinations(reached, 2)))


def normal(columns: int) -> tf.MultivariateNormal:
    """Return normal columns that all depend on each other a little."""
    shared = [[Fraction(1) if i == j else Fraction(1, 3) for j in range(columns)] for i in range(columns)]
    return tf.MultivariateNormal([0] * columns, shared, [f"c{i}" for i in range(columns)], 500)


def least(columns: int) -> float:
    """Return the deviation of the least normal noise for the first column's mean, all the others hidden."""
    secrets = [tf.dataset_property(f"c{i}", "mean", max_difference=1) for i in range(1, columns)]
    framework = tf.Pufferfish(secrets, normal(columns))
    return tf.calibrate(framework, tf.Mean("c0"), 1, delta="1e-5", mechanism="attribute-gaussian-exact").scale


def by_floats(columns: int) -> float:
    """Return the same by a root finder in floats, which proves nothing."""
    shift, conditional = 1 / 3, (1 - 1 / 9) / 500

    def excess(deviation: float) -> float:
        half, tilt = shift / (2 * deviation), deviation / shift
        return float(ndtr(half - tilt) - np.e * ndtr(-half - tilt) - 1e-5)

    return max(brentq(excess, 1e-3, 1e3, xtol=1e-14) ** 2 - conditional for _ in range(1, columns)) ** 0.5


def tree(size: int) -> tf.BayesianNetwork:
    """Return a binary tree of parameters, each like its parent with probability 0.7."""
    root = ("c0", [0, 1], [], [0.5, 0.5])
    like = [[0.7, 0.3], [0.3, 0.7]]
    return tf.BayesianNetwork([root, *((f"c{i}", [0, 1], [f"c{(i - 1) // 2}"], like) for i in range(1, size))])


def columns_of(size: int) -> float:
    """Return the scale that hides one parameter at the root of a tree, where a leaf's column is counted."""
    chances = {0: {0: "0.8", 1: "0.2"}, 1: {0: "0.2", 1: "0.8"}}
    belief = tf.Parameters(tree(size), {f"c{i}": chances for i in range(size)}, 500)
    framework = tf.Pufferfish(tf.distribution_parameter("c0"), belief)
    query = tf.Count(1, entries=[f"c{i}" for i in range(3)])
    return tf.calibrate(framework, query, 2, mechanism="attribute-quilt", allow_zero_noise=True).scale


def entries_of(size: int) -> float:
    """Return the scale of `quilt-exact` for a count of the same nodes, each one bit."""
    framework = tf.Pufferfish(tf.every_entry("c0"), tree(size))
    query = tf.Count(1, entries=[f"c{i}" for i in range(3)])
    return tf.calibrate(framework, query, 2, mechanism="quilt-exact", allow_zero_noise=True).scale


def main() -> None:
    title("a count, hiding the share of a group: all values of it compared with each other, epsilon 1")
    few = 150
    for mechanism in ("wasserstein", "laplace-exact"):
        ours, theirs = seconds(lambda m=mechanism: share(few, m)), seconds(lambda: every_pair(few), runs=1)  # type: ignore[misc]
        row(f"{mechanism}, {few} records", span(ours), compared(ours, theirs, "every pair of laws, in floats,"))
    row("its longest move", f"{share(few, 'wasserstein'):g}", f"at least {every_pair(few):g} by every pair")
    for mechanism in ("wasserstein", "laplace-exact"):
        times = [seconds(lambda m=mechanism, n=n: share(n, m), runs=1) for n in (ADULT // 8, ADULT)]  # type: ignore[misc]
        longer = f"8 times the records take {times[1] / times[0]:.1f} times the time"
        row(f"{mechanism}, {ADULT:,} records", span(times[1]), longer)

    title("normal columns, 500 records: hide the mean of each of the others, epsilon 1, delta 1e-5")
    for count in (5, 40):
        ours, theirs = seconds(lambda n=count: least(n)), seconds(lambda n=count: by_floats(n))  # type: ignore[misc]
        row(f"attribute-gaussian-exact, {count} columns", span(ours), compared(ours, theirs, "a root finder in floats"))

    title("parameters of columns on a binary tree: hide the root's, epsilon 2")
    for size in (15, 127):
        ours, theirs = seconds(lambda n=size: columns_of(n)), seconds(lambda n=size: entries_of(n))  # type: ignore[misc]
        row(f"attribute-quilt, {size} columns", span(ours), compared(ours, theirs, "quilt-exact, one bit a node,"))


if __name__ == "__main__":
    main()

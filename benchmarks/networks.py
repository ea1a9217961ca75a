"""Quilts of Bayesian networks: every secret of alarm with separators of growing size, trees up to 10,000 nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title
from takifugu.core.cache import forget
from takifugu.influence.quilts.network import candidates as network_quilts

EPSILON = 3.0
ALARM = Path(__file__).parents[2] / "shared/data/bif/alarm.bif"


def tree(size: int) -> tf.BayesianNetwork:
    """Return a binary tree of bits, each like its parent with probability 0.7."""
    root = ("n0", [0, 1], [], [0.5, 0.5])
    return tf.BayesianNetwork(
        [root, *((f"n{i}", [0, 1], [f"n{(i - 1) // 2}"], [[0.7, 0.3], [0.3, 0.7]]) for i in range(1, size))]
    )


def random_tree(size: int) -> tf.BayesianNetwork:
    """Return a random recursive tree of bits: every node hangs below any earlier one, with a table of its own."""
    random = np.random.default_rng(1)
    nodes: list[tuple[str, list[int], list[str], object]] = [("n0", [0, 1], [], [0.5, 0.5])]
    for i in range(1, size):
        a, b = random.uniform(0.3, 0.7, 2).round(3).tolist()
        nodes.append((f"n{i}", [0, 1], [f"n{random.integers(i)}"], [[a, 1 - a], [b, 1 - b]]))
    return tf.BayesianNetwork(nodes)


def scale(network: tf.BayesianNetwork, secret: object, query: object, mechanism: str) -> float:
    framework = tf.Pufferfish(secret, network)
    return tf.calibrate(framework, query, EPSILON, mechanism=mechanism, allow_zero_noise=True).scale


def every_secret(network: tf.BayesianNetwork, mechanism: str) -> list[float]:
    """Return the scale for each variable as the only secret, with no table of influences left from before."""
    forget(network)
    query = tf.Count(["HIGH", "TRUE"])
    return [scale(network, tf.every_entry(name), query, mechanism) for name in network.names]


def alarm() -> None:
    network = tf.read_network(ALARM)
    title(f"alarm, {network.size} secrets one by one, Count(HIGH or TRUE), epsilon {EPSILON:g}: separators by size")
    chosen = network_quilts.SEPARATOR_SIZE
    group = every_secret(network, "group-dp")
    for size in (1, 2, chosen):
        network_quilts.SEPARATOR_SIZE = size
        scales: list[float] = []
        time = seconds(lambda: scales.extend(every_secret(network, "quilt-exact")), runs=1)  # noqa: B023
        less = sum(a < b for a, b in zip(scales, group, strict=False))
        row(f"separators up to {size}", span(time), f"less than group-dp for {less} of {network.size}")
    network_quilts.SEPARATOR_SIZE = chosen
    forget(network)
    time = seconds(lambda: scale(network, tf.every_entry(), tf.Count(["HIGH", "TRUE"]), "quilt-exact"), runs=1)
    row(f"all {network.size} at once, up to {chosen}", span(time))


def trees(sizes: list[int]) -> None:
    for kind, plant in (("binary", tree), ("random", random_tree)):
        title(f"{kind} trees, every node secret, Count(1), epsilon {EPSILON:g}: quilt-exact")
        for size in sizes:
            network, scales = plant(size), []
            time = seconds(lambda: scales.append(scale(network, tf.every_entry(), tf.Count(1), "quilt-exact")), runs=1)  # noqa: B023
            row(f"{size:,} nodes", span(time), f"scale {scales[0]:.4g}, group-dp {size / EPSILON:.4g}")


def local() -> None:
    title("a chain of 100 steps, every entry secret, Count(1), epsilon 1")
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 100))
    for mechanism in ("quilt-exact", "wasserstein", "laplace-exact"):
        scales: list[float] = []
        time = seconds(
            lambda: scales.append(tf.calibrate(framework, tf.Count(1), 1, mechanism=mechanism).scale),  # noqa: B023
            runs=1,
        )
        row(mechanism, span(time), f"scale {scales[0]:.6g}")


def main() -> None:
    local()
    trees([100, 1_000] if "--short" in sys.argv else [100, 1_000, 10_000])
    if ALARM.is_file():
        alarm()


if __name__ == "__main__":
    main()

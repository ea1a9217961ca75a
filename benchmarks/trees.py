"""The law of a count given every node of a tree: two passes for all nodes, next to one plan per node; the whole job."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import takifugu as tf
from measure import compared, row, seconds, span, title
from takifugu.analysis.answer_laws import network as laws
from takifugu.analysis.problem import Problem
from takifugu.mechanisms import laplace_exact, wasserstein
from takifugu.model.secrets.families import Family

#: The parent of node i of each shape, for i above 0.
SHAPES: dict[str, Callable[[int, np.random.Generator], int]] = {
    "star": lambda i, rng: 0,
    "binary tree": lambda i, rng: (i - 1) // 2,
    "random tree": lambda i, rng: int(rng.integers(i)),
    "path": lambda i, rng: i - 1,
}


def tree(shape: str, size: int) -> tf.BayesianNetwork:
    """Return a tree of bits, each node with probabilities of its own."""
    rng = np.random.default_rng(0)
    nodes = [("n0", [0, 1], [], [0.5, 0.5])]
    for i in range(1, size):
        a, b = rng.uniform(0.55, 0.9, size=2)
        nodes.append((f"n{i}", [0, 1], [f"n{SHAPES[shape](i, rng)}"], [[a, 1 - a], [1 - b, b]]))
    return tf.BayesianNetwork(nodes)


def against_one_plan_each(size: int, sample: int = 10) -> None:
    title(f"the law of a count given each of {size} nodes: two passes, next to one elimination per node")
    for shape in SHAPES:
        network = tree(shape, size)
        answer = tf.Count(1).resolve(network)
        network.possible(0)

        def solve(entries: range) -> None:
            for _ in laws.NetworkLaw(network, answer, Family(entries)).families():  # noqa: B023
                pass

        ours = seconds(lambda: solve(range(size)), runs=1)
        some = np.linspace(0, size - 1, sample).astype(int).tolist()
        each = seconds(lambda: [solve(range(v, v + 1)) for v in some], runs=1)  # noqa: B023
        row(shape, span(ours), compared(ours, each * size / sample, "one elimination per node"))


def whole_job(size: int, shapes: list[str]) -> None:
    title(f"noise for a count on {size:,} nodes, every node secret, epsilon 1")
    for shape in shapes:
        for mechanism in (laplace_exact.MECHANISM, wasserstein.MECHANISM):
            started = time.perf_counter()
            framework = tf.Pufferfish(tf.every_entry(), tree(shape, size))
            problem = Problem(framework, tf.Count(1), Fraction(1))
            predicted = mechanism.cost(problem).operations
            scale = float(mechanism.bound(problem).randomiser.scale)
            took = time.perf_counter() - started
            row(f"{mechanism.name}, {shape}", span(took), f"scale {scale:.5g}; {predicted:.1e} operations predicted")


def main() -> None:
    short = "--short" in sys.argv
    against_one_plan_each(200 if short else 500)
    whole_job(1_000, list(SHAPES))
    if not short:
        whole_job(2_000, ["path"])
        whole_job(10_000, ["star", "binary tree", "random tree"])


if __name__ == "__main__":
    main()

"""Quilts with the laws of their near sets next to the least of all other Laplace noise: how often they need less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title
from takifugu.analysis.problem import Problem
from takifugu.calibration.registry import find
from takifugu.calibration.trials import POSSIBLE, attempt

LOCAL = "quilt-local-exact"
OTHERS = ("group", "influence", "quilt-exact", "quilt-approx", "wasserstein", "laplace-exact", "kantorovich-relaxed")
EPSILONS = (0.3, 1.0, 2.0, 5.0)
#: Scales that differ by less than this, relatively, are one: each is rounded up by as much as 1e-10.
TIE = 1e-9

Case = tuple[str, Any, Any, float]


def matrix(random: np.random.Generator, states: int) -> Any:
    """Return a random matrix of one class: sticky, alternating, plain, or with zeros."""
    rows = random.dirichlet(np.full(states, random.choice([0.5, 1.0, 5.0])), size=states)
    kind = random.choice(["plain", "sticky", "alternating", "zeros"])
    around = np.roll(np.eye(states), 1, axis=1)
    if kind == "zeros":
        rows = np.where(random.random((states, states)) < 0.3, 0.0, rows) + around * 0.2
    elif kind != "plain":
        rows = 0.3 * rows + 0.7 * (np.eye(states) if kind == "sticky" else around)
    return rows / rows.sum(axis=1, keepdims=True)


def start(random: np.random.Generator, states: int) -> Any:
    given = random.dirichlet(np.ones(states))
    return [str(random.choice(["any", "stationary"])), given][int(random.integers(2))]


def question(random: np.random.Generator, size: int) -> Any:
    """Return a count, a sum or weights: gaps (weight 0), a window, and both signs among them."""
    kind = random.choice(["count", "sum", "weights", "signed", "gaps", "window"])
    if kind in ("count", "sum"):
        return tf.Count(1) if kind == "count" else tf.Sum()
    low, high = {"weights": (1, 4), "signed": (-2, 3), "gaps": (0, 2), "window": (1, 2)}[str(kind)]
    weights = random.integers(low, high, size=size)
    if kind == "window":
        weights[: size // 3] = weights[2 * size // 3 :] = 0
    return tf.Linear(weights.tolist(), grid=1) if weights.any() else tf.Count(1)


def chains(random: np.random.Generator, count: int, longest: int = 60) -> Iterator[tuple[Any, int]]:
    for _ in range(count):
        states, size = int(random.integers(2, 5)), int(random.integers(2, longest))
        yield tf.MarkovChain(matrix(random, states), size, start(random, states)), size


def pieces(random: np.random.Generator, count: int) -> Iterator[tuple[Any, int]]:
    for _ in range(count):
        states, lengths = int(random.integers(2, 4)), random.integers(1, 12, size=3).tolist()
        chain = tf.MarkovChain(matrix(random, states), max(lengths))
        yield tf.IndependentPieces(chain, lengths), sum(lengths)


def network(random: np.random.Generator, size: int, parents: int) -> Any:
    """Return a random network of bits: a forest for one parent, with loops and colliders for two."""
    nodes: list[Any] = []
    for i in range(size):
        above = random.choice(i, size=min(i, int(random.integers(min(i, 1), parents + 1))), replace=False).tolist()
        table = random.dirichlet([1, 1], size=(2,) * len(above)).round(3)
        if random.random() < 0.2:
            table[..., 0] = table[..., 0].round()
        table[..., 1] = 1 - table[..., 0]
        nodes.append((f"n{i}", [0, 1], [f"n{j}" for j in above], table.tolist()))
    return tf.BayesianNetwork(nodes)


def networks(random: np.random.Generator, count: int, parents: int) -> Iterator[tuple[Any, int]]:
    for _ in range(count):
        size = int(random.integers(2, 13))
        yield network(random, size, parents), size


def corpus(random: np.random.Generator) -> Iterator[Case]:
    """Yield (kind, belief, query, epsilon)."""
    for kind, beliefs in (
        ("chains", chains(random, 150)), ("pieces", pieces(random, 40)),
        ("trees", networks(random, 60, 1)), ("networks with loops", networks(random, 60, 2)),
    ):  # fmt: skip
        for belief, size in beliefs:
            yield kind, belief, question(random, size), float(random.choice(EPSILONS))


def long_corpus() -> Iterator[Case]:
    """Yield chains too long for the law of a count: the share of ones that stay, and what follows a zero."""
    for stay, follow in ((0.8, 0.1), (0.5, 0.3), (0.4, 0.5), (0.5, 0.6), (0.35, 0.9), (0.1, 0.7)):
        belief = tf.MarkovChain([[1 - follow, follow], [1 - stay, stay]], 10_000)
        kind = "positive" if stay > follow else "negative"
        yield f"10,000 steps, {kind} correlation", belief, tf.Count(1), 1.0


def scales(case: Case) -> dict[str, float]:
    """Return the scale of each mechanism that `compare` would run."""
    _, belief, query, epsilon = case
    problem = Problem(tf.Pufferfish(tf.every_entry(), belief), query, Fraction(str(epsilon)))
    trials = {name: attempt(find(name), problem, allow_zero_noise=True, limited=True) for name in (LOCAL, *OTHERS)}
    return {
        name: float(trial.bound.randomiser.scale)
        for name, trial in trials.items()
        if trial.status == POSSIBLE and trial.bound
    }


def main() -> None:
    title("quilt-local-exact next to the least of the others: problems where it needs less, of those that it solves")
    ratios: dict[str, list[float]] = defaultdict(list)

    def compare_all() -> None:
        for case in [*corpus(np.random.default_rng(21)), *long_corpus()]:
            by_name = scales(case)
            least = min(by_name[name] for name in OTHERS if name in by_name)
            if LOCAL in by_name:
                ratios[case[0]].append(by_name[LOCAL] / least if least else 1.0 + by_name[LOCAL])

    time = seconds(compare_all, runs=1)
    for kind, each in ratios.items():
        less = sum(ratio < 1 - TIE for ratio in each)
        row(kind, f"{less} of {len(each)}", f"{min(each):.4f} to {max(each):.4f} times the least of the others")
    row("all", span(time))


if __name__ == "__main__":
    main()

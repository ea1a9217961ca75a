"""Quilts with the laws of near sets next to the least of the other Laplace noises: how often they are less."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import takifugu as tf
from measure import row, seconds, span, title
from takifugu.calibration.registry import find
from takifugu.calibration.trials import POSSIBLE, attempt
from takifugu.problem import Problem

LOCAL = ("quilt-local", "quilt-local-exact")
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


def grid(side: int, stay: float) -> Any:
    """Return a square grid of bits, each like each of its neighbours above and left with probability `stay`."""
    one = np.log(stay / (1 - stay))
    nodes: list[Any] = []
    for i, j in np.ndindex(side, side):
        above = [f"n{a}-{b}" for a, b in ((i - 1, j), (i, j - 1)) if min(a, b) >= 0]
        votes = np.indices((2,) * len(above)).sum(axis=0) * 2 - len(above) if above else np.array(0)
        up = 1 / (1 + np.exp(-one * votes))
        nodes.append((f"n{i}-{j}", [0, 1], above, np.stack([1 - up, up], axis=-1).tolist()))
    return tf.BayesianNetwork(nodes)


def corpus(random: np.random.Generator) -> Iterator[Case]:
    """Yield (kind, belief, query, epsilon)."""
    for kind, beliefs in (
        ("chains", chains(random, 150)), ("pieces", pieces(random, 40)),
        ("trees", networks(random, 60, 1)), ("networks with loops", networks(random, 60, 2)),
    ):  # fmt: skip
        for belief, size in beliefs:
            yield kind, belief, question(random, size), float(random.choice(EPSILONS))


def long_corpus(random: np.random.Generator) -> Iterator[Case]:
    """Yield what the law of the whole answer is too large for, or nearly."""
    for length in (3_000, 30_000):
        for a in (0.1, 0.4, 0.6, 0.9):
            rows = [[1 - a, a], [a / 2 + 0.2, 0.8 - a / 2]]
            yield f"chains of {length:,} steps", tf.MarkovChain(rows, length), tf.Count(1), 1.0
        yield f"chains of {length:,} steps", tf.MarkovChain(matrix(random, 3), length), tf.Sum(), 1.0
    for side in (6, 9):
        for stay in (0.4, 0.55, 0.6, 0.7):
            yield f"grids of {side} x {side}", grid(side, stay), tf.Count(1), 2.0


def scales(case: Case) -> dict[str, float]:
    """Return the scale of each mechanism that `compare` would run."""
    _, belief, query, epsilon = case
    problem = Problem(tf.Pufferfish(tf.every_entry(), belief), query, Fraction(str(epsilon)))
    trials = {name: attempt(find(name), problem, allow_zero_noise=True, limited=True) for name in (*LOCAL, *OTHERS)}
    return {
        name: float(trial.bound.randomiser.scale)
        for name, trial in trials.items()
        if trial.status == POSSIBLE and trial.bound
    }


def main() -> None:
    random = np.random.default_rng(21)
    cases = [*corpus(random), *(() if "--short" in sys.argv else long_corpus(random))]
    tallies: dict[tuple[str, str], list[float]] = defaultdict(list)
    def work():
     for n, case in enumerate(cases):
        import time
        t = time.perf_counter()
        found = scales(case)
        t = time.perf_counter() - t
        least = min(found[name] for name in OTHERS if name in found)
        for name in LOCAL:
            if name in found:
                tallies[case[0], name].append(found[name] / least if least else (1.0 if not found[name] else float("inf")))
                if found[name] < least * (1 - TIE) or t > 3:
                    print(n, case[0], case[1].describe()[:90], type(case[2]).__name__, case[3], {k: round(v, 5) for k, v in found.items()}, f"{t:.1f}s", flush=True)
    taken = seconds(work, runs=1)
    title("near laws")
    for (kind, name), ratios in tallies.items():
        wins = [ratio for ratio in ratios if ratio < 1 - TIE]
        row(f"{kind}: {name}", f"{len(wins)} of {len(ratios)}", f"at best {min(ratios):.6g} times the least of the others")
    row("all", span(taken))


if __name__ == "__main__":
    main()

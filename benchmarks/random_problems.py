"""Draw random chains, networks and queries that add up, for the other benchmarks."""

from __future__ import annotations

from typing import Any

import numpy as np

import takifugu as tf

#: Scales that differ by less than this, relatively, are one: each is rounded up by as much as 1e-10.
TIE = 1e-9


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

"""Quilts of several releases about the same entries, next to influence: how often they cost less, and by how much."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import takifugu as tf
from measure import row, title
from random_problems import TIE, matrix, network, question, start
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.influence import joint_cost
from takifugu.core.errors import Unsupported
from takifugu.influence.curves import Release, influence_loss


def beliefs(random: np.random.Generator, count: int) -> Iterator[tuple[str, Any, int]]:
    """Yield (kind, belief, entries)."""
    for _ in range(count):
        size = int(random.integers(2, 60))
        for kind, fewest, most in (("2 states", 2, 2), ("3 and 4 states", 3, 4), ("5 to 12 states", 5, 12)):
            states = int(random.integers(fewest, most + 1))
            chain = tf.MarkovChain(matrix(random, states), size, start(random, states))
            yield f"chains, {kind}, {'any' if chain.starts_anyhow else 'known'} start", chain, size
        yield "classes, (pi, g)", tf.MarkovChainClass(0.1, float(random.uniform(0.1, 0.9)), size), size
        yield "classes, intervals", tf.BinaryChainInterval(float(random.uniform(0.05, 0.4)), size), size
        some = int(random.integers(2, 13))
        yield "trees", network(random, some, 1), some
        yield "networks with loops", network(random, some, 2), some
        yield "networks, three parents", network(random, some, 3), some
    for _ in range(max(count // 10, 1)):
        yield "chains, 20 states", tf.MarkovChain(matrix(random, 20), 100, "stationary"), 100


def releases(random: np.random.Generator, belief: Any, size: int) -> tuple[Part, list[Release]]:
    """Return one to four releases with noise of their own, as the first component reads them."""
    framework = tf.Pufferfish(tf.every_entry(), belief)
    queries = [question(random, size) for _ in range(int(random.integers(1, 5)))]
    parts = [Problem(framework, query, Fraction(1)).parts[0] for query in queries]
    scales = [Fraction(str(round(float(np.exp(random.uniform(0, 4))), 3))) for _ in parts]
    made = [Release(p.answer.entry_changes(), scale, p.answer) for p, scale in zip(parts, scales, strict=True)]
    return parts[0], made


def main(count: str = "40") -> None:
    title("joint quilts next to influence, one to four releases: sets that they charge less, of those that both charge")
    random, ratios, alone = np.random.default_rng(21), defaultdict[str, list[float]](list), defaultdict[str, int](int)
    for kind, belief, size in beliefs(random, int(count)):
        part, made = releases(random, belief, size)
        ours = influence_loss(part, made)
        try:
            quilts = joint_cost(part, [(one.changes, one.scale) for one in made])[0]
        except Unsupported:
            continue
        if ours is None:
            alone[kind] += 1
        elif ours[0] > 0:
            ratios[kind].append(quilts / ours[0])
    for kind, each in ratios.items():
        less = sum(ratio < 1 - TIE for ratio in each)
        without = f"; without influence {alone[kind]}" if alone[kind] else ""
        span = f"{min(each):.4f} to {max(each):.4g} times influence, median {float(np.median(each)):.4g}{without}"
        row(kind, f"{less} of {len(each)}", span)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What a set of releases is charged, against its true joint loss by enumeration: never less, and seldom much more."""

import math
import statistics
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.chain_oracles import float_law
from tests.support.ledger_tools import charge, worst_joint_loss

import takifugu as tf
from takifugu.accounting.composition import joint
from takifugu.analysis.guarantee import Covers

LENGTH, QUILT = 5, Covers.ENTRIES


def chain(rows: Any, start: str = "stationary") -> tuple[Any, np.ndarray, tuple[int, ...]]:
    belief = tf.MarkovChain(rows, LENGTH, start)
    law = belief.marginal(0) if start == "stationary" else np.full(len(rows), 1 / len(rows))
    matrices = [np.array(rows)] * (LENGTH - 1)
    return belief, oracle.chain_law(np.asarray(law, dtype=float), matrices), (len(rows),) * LENGTH


def tree(draw: np.random.Generator) -> tuple[Any, np.ndarray, tuple[int, ...]]:
    """A tree of five binary nodes of which each is likely to be as its parent is."""
    nodes, tables = [], []
    for number in range(LENGTH):
        stay = draw.uniform(0.5, 0.95, size=2).round(3)
        parent = [] if number == 0 else [int(draw.integers(number))]
        rows = [[0.5, 0.5]] if not parent else [[stay[0], 1 - stay[0]], [1 - stay[1], stay[1]]]
        table = rows if parent else rows[0]
        nodes.append((f"n{number}", [0, 1], [f"n{p}" for p in parent], table))
        tables.append((parent, np.array(table)))
    return tf.BayesianNetwork(nodes), oracle.network_law(tables), (2,) * LENGTH


def releases(draw: np.random.Generator, states: int, kind: str) -> Iterator[tuple[Any, Any]]:
    """Yield one to four queries with the same as the oracle knows them, and Laplace noise of whole scales."""
    shape = (states,) * LENGTH
    for _ in range(int(draw.integers(1, 3 if kind == "histogram" else 5))):  # the oracle takes every corner
        scale = int(draw.integers(1, 12))
        first, last = sorted(draw.integers(0, LENGTH + 1, size=2).tolist())
        window = range(first, last) if first < last else range(LENGTH)
        if kind == "histogram":
            yield (tf.Histogram(entries=tuple(window)), scale), oracle.histogram(shape, scale, window)
        elif kind == "signed":
            weights = [int(w) or 1 for w in draw.integers(-2, 3, size=LENGTH)]
            values = [[float(w * v) for v in range(states)] for w in weights]
            yield (tf.Linear(weights), scale), oracle.weighted(shape, values, scale)
        else:
            yield (tf.Count(1, entries=tuple(window)), scale), oracle.count(shape, [1], scale, window)


def case(kind: str, seed: int) -> tuple[float, float]:
    """Return what a random set of releases is charged, and its true joint loss."""
    draw = np.random.default_rng(seed)
    if kind == "tree":
        belief, law, shape = tree(draw)
    elif kind == "histogram":
        belief, law, shape = chain((draw.dirichlet([1.0] * 3, size=3) * 0.97 + 0.01).tolist())
    else:
        low, high = (0.05, 0.5) if kind == "negative" else (0.5, 0.97)
        p, q = draw.uniform(low, high, size=2).round(3)
        belief, law, shape = chain([[p, 1 - p], [1 - q, q]], "any" if kind == "any start" else "stationary")
    framework = tf.Pufferfish(tf.every_entry(), belief)
    made = list(releases(draw, shape[0], kind))
    charges = [charge(framework, query, scale / query.resolve(belief).grid, QUILT) for (query, scale), _ in made]
    by_noise = [replace(one, framework="another", epsilon=Fraction(0)) for one in charges]  # whatever each promises
    charged = float(joint(framework, by_noise).epsilon)
    true = max(float(oracle.joint_losses(law, [noise for _, noise in made], entry).max()) for entry in range(LENGTH))
    return charged, true


def ratios(kind: str, count: int) -> list[float]:
    quotients = []
    for seed in range(count):
        charged, true = case(kind, seed)
        assert charged >= true * (1 - 1e-9), (kind, seed)
        if true > 0:
            quotients.append(charged / true)
    return quotients


#: Why a case may be charged much more than it loses.
REASONS = {
    "positive": "", "tree": "", "histogram": "three states: no mechanism with the profile need be Laplace noise",
    "negative": "negative correlation: the signs of the worst likelihood alternate, those of a count do not",
    "signed": "signed weights: as for negative correlation", "any start": "any start: the recursion's bound of L",
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", REASONS)
def test_no_set_is_charged_less_than_it_loses(kind: str) -> None:
    quotients = ratios(kind, 12)
    if not REASONS[kind]:
        assert max(quotients) <= 1 + 1e-9  # the truth: two states, positive correlation, weights of one sign


@pytest.mark.slow
def test_what_is_charged_is_nearly_what_is_lost() -> None:
    everything = []
    for kind, why in REASONS.items():
        quotients = ratios(kind, 50)
        everything += quotients
        print(f"{kind}: median {statistics.median(quotients):.4f}, most {max(quotients):.3f} {why}")
        assert why or max(quotients) <= 1 + 1e-9
        assert max(quotients) < math.inf
    assert statistics.median(everything) <= 1.05


def in_pieces(seed: int) -> tuple[float, float]:
    """Return what releases about two or three recordings are charged, which were longer and shorter between them."""
    draw = np.random.default_rng(seed)
    rows = [[0.6, 0.4], [0.4, 0.6]] if draw.random() < 0.5 else [[0.2, 0.8], [0.7, 0.3]]
    lengths, frameworks, made = draw.integers(1, 5, size=int(draw.integers(2, 4))), list[Any](), list[Any]()
    for _ in range(int(draw.integers(2, 4))):
        about = tf.IndependentPieces(tf.MarkovChain(rows, 4), lengths.tolist())
        frameworks.append(tf.Pufferfish(tf.every_entry(), about))
        weights, scale = draw.choice([0, 0, 0, 1, 1, 2, -1], size=about.size).tolist(), int(draw.integers(1, 4))
        weights[0] = weights[0] or 1
        grid = tf.Linear(weights).resolve(about).grid
        one = charge(frameworks[-1], tf.Linear(weights), scale / grid, QUILT)
        made.append((np.split(weights, np.cumsum(lengths)[:-1]), scale, one))
        lengths = draw.permutation(lengths) + (draw.random(len(lengths)) < 0.2)
    true = 0.0
    for recording in range(len(lengths)):
        longest = max(len(parts[recording]) for parts, _, _ in made)
        read = [([[0, w] for w in np.pad(parts[recording], (0, longest - len(parts[recording])))], scale)
                for parts, scale, _ in made]  # fmt: skip
        law = float_law(rows, longest, tuple(tf.MarkovChain(rows, 1).marginal(0)))
        true = max(true, worst_joint_loss(law, read, longest))
    by_noise = [replace(one, framework="another", epsilon=Fraction(0)) for _, _, one in made]
    return max(float(joint(framework, by_noise).epsilon) for framework in frameworks), true


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 400), marks=pytest.mark.slow)])
def test_recordings_that_change_their_lengths_are_not_charged_less_than_they_lose(seeds: range) -> None:
    """As many steps in all were once the same steps, however they were cut."""
    for seed in seeds:
        charged, true = in_pieces(seed)
        assert charged >= true * (1 - 1e-9), seed

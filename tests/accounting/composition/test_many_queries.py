"""Many different queries, about the same entries or any: they cost a sum, found in work that grows with how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import chain_framework, charge, contributions_of, worst_joint_loss

import takifugu as tf
from takifugu.accounting.composition import Charge, joint, sums
from takifugu.analysis.guarantee import Covers
from takifugu.influence.curves import FEW, added
from takifugu.influence.profiles.profile import Profile
from takifugu.model.frameworks import Framework
from takifugu.model.queries import Query

WHOLE, DATA, QUILT, SINGLE = Covers
THREE = [[0.7, 0.2, 0.1], [0.15, 0.6, 0.25], [0.3, 0.1, 0.6]]


def query(chance: np.random.Generator, size: int, states: int) -> Query:
    """Return a count, a table or weights, signed ones among them, about some of the entries."""
    low, high = sorted(chance.choice(size + 1, 2, replace=False).tolist())
    kind = chance.integers(3)
    if kind == 0:
        return tf.Count(int(chance.integers(states)), entries=range(low, high))
    if kind == 1:
        return tf.Histogram(entries=range(low, high))
    codes = {state: int(code) for state, code in enumerate(chance.integers(-3, 4, size=states))}
    weights = [int(w) for w in chance.integers(-2, 3, size=size)]
    return tf.Linear([*weights[:-1], 1], {**codes, 0: 5})


def different(
    chance: np.random.Generator, framework: Framework, many: int, states: int, kinds: Sequence[Covers], **how: Any
) -> list[Charge]:
    size = framework.beliefs[0].size
    made = []
    for _ in range(many):
        scale = Fraction(int(chance.integers(10**6, 10**8)), int(chance.integers(10**4, 10**5)))
        kind = kinds[int(chance.integers(len(kinds)))]
        one = charge(framework, query(chance, size, states), scale, kind, **how)
        made.append(replace(one, epsilon=Fraction(1, 10**9)))  # less than any costs: the joint loss counts
    return made


def pieces() -> Framework:
    chain = tf.MarkovChain([[0.7, 0.3], [0.4, 0.6]], length=1)
    return tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, (3, 5)))


FRAMEWORKS = {
    "two": (chain_framework(7, 0.8), 2),
    "three": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=6)), 3),
    "any start": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=5, initial="any")), 3),
    "given start": (tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, length=5, initial=[1, 0, 0])), 3),
    "one pair": (tf.Pufferfish(tf.entry(2, 0, 2), tf.MarkovChain(THREE, length=5)), 3),
    "pieces": (pieces(), 2),
}  # fmt: skip
PLACES: dict[str, dict[str, Any]] = {
    "one reading": {"reading": "file"}, "one window": {"reading": "", "at": 4, "calendar": "hours"},
    "anywhere": {"reading": ""},
}  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_is_the_true_loss_of_two_values(seed: int) -> None:
    """By listing all data and all outputs that are atoms: one release of each query stands for all of its scales."""
    chance = np.random.default_rng(seed)
    framework = chain_framework(3, 0.7)
    law = {path: _mass(path, 0.7) for path in np.ndindex(2, 2, 2)}
    counts = [tf.Count(1, entries=range(low, high)) for low, high in ((0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3))]
    scales = [Fraction(int(n), 7) for n in chance.integers(20, 90, size=3 * len(counts))]
    charges = [charge(framework, counts[n % 6], b, QUILT) for n, b in enumerate(scales)]
    releases = []
    for number, count in enumerate(counts):
        rate = sum(1 / b for n, b in enumerate(scales) if n % 6 == number)
        releases.append((contributions_of(framework, count), 1 / rate))
    cost = joint(framework, charges).epsilon
    true = worst_joint_loss(law, releases, 3)
    assert true <= float(cost) <= true * (1 + 1e-9)


def _mass(path: Sequence[int], stay: float) -> float:
    mass = 0.5
    for one, two in pairwise(path):
        mass *= stay if one == two else 1 - stay
    return mass


@pytest.mark.parametrize("how", PLACES)
@pytest.mark.parametrize("name", ["two", "three", "any start"])
def test_another_release_never_makes_a_set_cheaper(name: str, how: str) -> None:
    framework, states = FRAMEWORKS[name]
    charges = different(np.random.default_rng(1), framework, 2 * FEW, states, (QUILT,), **PLACES[how])
    costs = [joint(framework, charges[:many]).epsilon for many in range(1, len(charges) + 1)]
    assert all(after >= before for before, after in pairwise(costs))


@pytest.mark.parametrize("how", PLACES)
def test_the_order_of_releases_counts_for_nothing(how: str) -> None:
    framework, states = FRAMEWORKS["three"]
    charges = different(np.random.default_rng(2), framework, 3 * FEW, states, (QUILT, WHOLE), **PLACES[how])
    costs = [float(joint(framework, listed).epsilon) for listed in (charges, charges[::-1], charges[5:] + charges[:5])]
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-12)


@pytest.mark.parametrize("how", PLACES)
def test_each_release_is_looked_at_as_often_however_many_there_are(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One promise beside whole changes of all others was once added up anew for each of them."""
    framework, states = FRAMEWORKS["two"]
    calls, real = [0], sums.whole_cost

    def counted(*about: Any) -> Fraction:
        calls[0] += 1
        return real(*about)

    monkeypatch.setattr(sums, "whole_cost", counted)
    for many in (10, 40):
        charges = different(np.random.default_rng(many), framework, many, states, (QUILT,), **PLACES[how])
        calls[0] = 0
        joint(framework, charges)
        assert 0 < calls[0] <= len(charges)


@pytest.mark.parametrize("seed", range(6))
def test_many_profiles_in_halves_are_their_sum(seed: int) -> None:
    chance = np.random.default_rng(seed)
    size, states, many = 7, 3, int(chance.integers(1, 5 * FEW))
    profiles, exact = [], np.full((size, states, states), Fraction(0))
    for _ in range(many):
        weights = chance.integers(0, 5, size=(size, states))
        distances = np.abs(weights[:, :, None] - weights[:, None, :])
        scale = Fraction(int(chance.integers(1, 999)), 97)
        profiles.append(Profile.by_entry([table / float(scale) * (1 + 1e-15) for table in distances]))
        exact = exact + np.vectorize(Fraction)(distances.astype(object)) / scale
    total = added(profiles)
    for entry in range(size):
        for u, v in np.ndindex(states, states):
            true, listed = exact[entry, u, v], float(total.at(entry)[u, v])
            assert true <= Fraction(listed)
            assert listed <= float(true) * (1 + 1e-13)

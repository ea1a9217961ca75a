"""Losses over classes of chains against linear programs over the chains inside them, and against quilts and group."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.support import influence_oracle as oracle
from tests.support.class_oracles import matrix_in_box, random_box

import takifugu as tf
from takifugu.influence.chains import class_chains
from takifugu.influence.chains.class_chains import class_loss, class_sweep
from takifugu.influence.chains.class_sides import RowsOfRegion, jumps, sides_of_class, sides_of_region
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family

STAY = np.array([[0.9, 0.1], [0.4, 0.6]])


def random_tables(rng, states, length):
    tables = []
    for _ in range(length):
        upper = np.triu(rng.exponential(rng.choice([0.2, 1.0]), (states, states)), 1)
        tables.append((upper + upper.T) * (rng.random() < 0.8))
    return tables


def lost(belief, tables):
    return class_loss(belief, Profile.by_entry(tables), Family(range(len(tables)))).epsilon


def worst_of(start, steps, tables):
    """The loss of the worst mechanism with a profile, by a linear program for each secret."""
    law = oracle.chain_law(start, steps)
    return max(float(oracle.worst_pairs(law, tables, entry).max()) for entry in range(len(tables)))


def random_start(rng, states):
    """Any law, mostly one that is nearly certain."""
    start = rng.dirichlet(np.full(states, rng.choice([0.01, 0.1, 1.0])))
    return (start + 1e-6) / (start + 1e-6).sum()


def corner_in_box(rng, lower, upper):
    """A matrix whose rows are extreme points: all but one entry at an end of its interval."""
    rows = []
    for low, high in zip(lower, upper, strict=True):
        row, left = low.copy(), 1 - low.sum()
        for place in rng.permutation(len(row)):
            added = min(left, high[place] - low[place])
            row[place], left = row[place] + added, left - added
        rows.append(row)
    return np.array(rows)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("states", "length"), [(2, 5), (3, 3)])
def test_no_chain_of_a_region_loses_more(states, length, seed):
    rng = np.random.default_rng(100 * states + seed)
    lower, upper = random_box(rng, states, float(rng.choice([0.02, 0.2, 0.5])), zeros=seed % 4 == 0)
    region = tf.ChainRegion(lower, upper, length)
    tables = random_tables(rng, states, length)
    bound = lost(region, tables)
    for _ in range(4):
        draw = corner_in_box if rng.random() < 0.6 else matrix_in_box
        steps = [draw(rng, region.lower, region.upper) for _ in range(length - 1)]  # each step has its own matrix
        steps = steps if rng.random() < 0.5 else [steps[0]] * (length - 1)
        assert worst_of(random_start(rng, states), steps, tables) <= bound * (1 + 1e-7) + 1e-9


@pytest.mark.mutants
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_all_extreme_matrices_of_a_binary_region_and_all_starts_lose_no_more(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0.05, 0.6, 2)
    high = np.minimum(low + rng.uniform(0, 0.35, 2), 0.95)
    lower = [[low[0], 1 - high[0]], [1 - high[1], low[1]]]
    region = tf.ChainRegion(lower, [[high[0], 1 - low[0]], [1 - low[1], high[1]]], 4)
    tables = random_tables(rng, 2, 4)
    bound, worst = lost(region, tables), 0.0
    for stays in product(*zip(low, high, strict=True)):
        matrix = np.array([[stays[0], 1 - stays[0]], [1 - stays[1], stays[1]]])
        for p in (1e-4, 0.03, 0.3, 0.7, 0.97, 1 - 1e-4):
            worst = max(worst, worst_of(np.array([p, 1 - p]), [matrix] * 3, tables))
    assert worst <= bound * (1 + 1e-7)
    assert bound <= 1.6 * worst


def reversible(rng, states):
    """A random reversible chain, its stationary law and its eigengap."""
    flows = rng.exponential(size=(states, states)) ** 2 + rng.choice([0.0, 3.0]) * np.eye(states)
    flows = flows + flows.T
    mass = flows.sum(axis=1)
    moduli = np.sort(np.abs(np.linalg.eigvals(flows / mass[:, None])))
    return flows / mass[:, None], mass / mass.sum(), 1 - float(moduli[-2])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("states", "length"), [(2, 5), (3, 3)])
def test_no_reversible_chain_with_the_constants_loses_more(states, length, seed):
    rng = np.random.default_rng(100 * states + seed)
    tables = random_tables(rng, states, length)
    for _ in range(4):
        matrix, law, g = reversible(rng, states)
        chains = tf.MarkovChainClass(law.min() * (1 - 1e-9), g * (1 - 1e-9), length, states=range(states))
        bound = lost(chains, tables)
        assert worst_of(random_start(rng, states), [matrix] * (length - 1), tables) <= bound * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_rows_of_reversible_chains_deviate_by_no_more_than_their_constants_allow(distance):
    rng = np.random.default_rng(distance)
    for _ in range(200):
        matrix, law, g = reversible(rng, int(rng.integers(2, 6)))
        deviation = np.abs(np.linalg.matrix_power(matrix, distance) / law - 1).max()
        assert deviation <= (1 - g) ** distance * (1 / law.min() - 1) * (1 + 1e-9) + 1e-13


CLASSES = [
    tf.MarkovChainClass(0.1, 0.2, 60),
    tf.MarkovChainClass(0.3, 0.6, 60, states=range(3)),
    tf.ChainRegion([[0.1, 0.1], [0.1, 0.1]], [[0.9, 0.9], [0.9, 0.9]], 60),
    tf.ChainRegion([[0.0, 0.1], [0.1, 0.1]], [[0.9, 1.0], [0.9, 0.9]], 60),
    tf.ChainRegion(
        [[0.6, 0.1, 0.1], [0.1, 0.5, 0.1], [0.0, 0.3, 0.5]], [[0.8, 0.3, 0.3], [0.4, 0.8, 0.2], [0.1, 0.5, 0.7]], 60
    ),
]


@pytest.mark.parametrize("belief", CLASSES, ids=lambda belief: belief.describe()[:60])
@pytest.mark.parametrize("query", [tf.Count(1), tf.Histogram(), tf.Count(0, entries=(0, 30, 59))])
def test_a_class_needs_no_more_than_quilts_or_group(belief, query):
    framework = tf.Pufferfish(tf.every_entry(), belief)
    for epsilon in (0.5, 3):
        needed = {
            name: tf.calibrate(framework, query, epsilon, mechanism=name).scale
            for name in ("influence", "quilt-approx", "group")
        }
        assert needed["influence"] <= min(needed.values()) * (1 + Fraction(1, 10**9))
        if query == tf.Count(1):
            assert needed["influence"] < 0.95 * min(needed["quilt-approx"], needed["group"])


def test_a_region_of_all_stays_loses_what_the_interval_does():
    everything = tf.ChainRegion([[0.1, 0.1], [0.1, 0.1]], [[0.9, 0.9], [0.9, 0.9]], 100)
    for belief in (everything, tf.BinaryChainInterval(0.1, 100)):
        scale = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), 1, mechanism="influence").scale
        assert float(scale) == pytest.approx(8.7779, abs=1e-4)


@pytest.mark.parametrize("belief", CLASSES, ids=lambda belief: belief.describe()[:60])
def test_a_long_stretch_is_bounded_by_what_it_settles_at(belief):
    table = 0.05 * (1 - np.eye(len(belief.states)))
    long = belief.with_length(900)
    in_one = class_loss(long, Profile.of(table, 900), Family(range(900))).epsilon
    by_step = class_loss(long, Profile.by_entry([table] * 900), Family(range(900))).epsilon
    for_ever = class_loss(belief.with_length(10**9), Profile.of(table, 10**9), Family(range(10**9))).epsilon
    assert by_step * (1 - 1e-12) <= in_one <= by_step * (1 + 1e-8)
    assert for_ever >= in_one * (1 - 1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_a_further_release_never_makes_a_set_cheaper(seed):
    rng = np.random.default_rng(seed)
    belief = CLASSES[seed % len(CLASSES)].with_length(9)
    tables = random_tables(rng, len(belief.states), 9)
    more = [table.copy() for table in tables]
    more[int(rng.integers(9))] += 0.3 * (1 - np.eye(len(belief.states)))
    assert lost(belief, more) >= lost(belief, tables) * (1 - 1e-12)


def test_jumps_see_through_zeros_and_over_gaps():
    zeros = tf.ChainRegion([[0.0, 0.98], [0.7, 0.26]], [[0.02, 1.0], [0.74, 0.3]], 40)
    count = np.array([[0, 1.0], [1.0, 0]])
    ahead, _ = sides_of_region(zeros)
    steps = RowsOfRegion(ahead.distances[:1], ahead.most[:1], ahead.tanh[:1], ahead.odds[:1], ahead.spread[:1])
    by_steps, by_jumps = (class_sweep(side, Profile.of(count, 40))[0].explicit[-1].max() for side in (steps, ahead))
    assert by_jumps < 0.1 * by_steps
    near = [count] * 3 + [0 * count] * 30 + [count] * 3
    assert lost(zeros.with_length(36), near) < lost(zeros.with_length(6), [count] * 6)


MUTANTS = {
    "what is jumped over is free": ("_least", lambda real: lambda side, between, *more: real(side, 0 * between, *more)),
    "sizes are halved": ("_least", lambda real: lambda side, between, s, most: real(side, between, s / 2, most)),
    "a stretch ends at once": ("_bound_of_all", lambda real: lambda side, table, explicit, most: explicit[0]),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_below_what_a_mechanism_attains(name, monkeypatch):
    region = tf.ChainRegion(STAY, STAY, 8)
    count = 0.3 * (1 - np.eye(2))
    profile, family = Profile.of(count, 8), Family(range(8))
    worst = max(worst_of(np.array([p, 1 - p]), [STAY] * 7, [count] * 8) for p in (0.02, 0.98))
    assert class_loss(region, profile, family).epsilon >= worst * (1 - 1e-7)
    function, mutant = MUTANTS[name]
    monkeypatch.setattr(class_chains, function, mutant(getattr(class_chains, function)))
    monkeypatch.setattr(class_chains, "EVERY", 2)
    assert class_loss(region, profile, family).epsilon < worst * (1 - 1e-3)


def test_jumps_are_dense_near_and_sparse_far():
    tried = jumps(4096)
    assert tried[:16].tolist() == list(range(1, 17))
    assert (tried[1:] <= tried[:-1] * 1.1 + 1).all()
    assert jumps(1).tolist() == [1]
    assert len(sides_of_class(tf.MarkovChainClass(0.5, 1.0, 9))[0].distances) == len(tried)

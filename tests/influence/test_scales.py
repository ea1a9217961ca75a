"""Scales are those of a slow search: never below need, and hardly above; the same for a sequence of any length."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.support.quilt_cases import problem, random_chain
from tests.support.scale_oracles import loss_entry_by_entry

import takifugu as tf
from takifugu.analysis.sensitivity import part_change
from takifugu.core.errors import Unsupported
from takifugu.mechanisms.influence import part_scale, quilts_tried
from takifugu.model.queries import Count, Histogram, Linear

EPSILONS = ["1/10", "1", "3", "8"]


def random_problem(rng):
    """Return a problem over a chain: of any start or period, few steps or some, all read or with gaps, any weights."""
    k, length = int(rng.choice([2, 2, 2, 3, 4])), int(rng.choice([1, 2, 3, 7, 12, 25]))
    start = rng.choice(["stationary", "any", "given"])
    initial = rng.dirichlet(np.ones(k)).tolist() if start == "given" else str(start)
    chain = random_chain(rng, k, length, initial)
    if rng.random() < 0.2:
        matrices = [random_chain(rng, k, 2).matrix.tolist() for _ in range(int(rng.integers(2, 4)))]
        chain = tf.PeriodicChain(matrices, length, initial=initial)
    kind = rng.random()
    if kind < 0.4:
        query = Count(1)
    elif kind < 0.6:
        query = Count(0, entries=sorted(set(rng.integers(length, size=length).tolist())))
    elif kind < 0.8:
        query = Histogram()
    else:
        query = Linear(rng.integers(-2, 3, size=length).tolist())
    return problem(chain, query, Fraction(str(rng.choice(EPSILONS))))


def bounded_otherwise(part, epsilon):
    """Return the least scale in grid units that quilts or the change of everything need."""
    least = Fraction(part_change(part)) / epsilon
    search = quilts_tried(part, epsilon)
    try:
        return least if search is None else min(least, Fraction(search.worst(epsilon).scale))
    except Unsupported:
        return least


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_scales_are_those_of_one_table_an_entry(seed):
    rng, strict = np.random.default_rng(seed), 0
    for _ in range(50):
        posed = random_problem(rng)
        for part in posed.parts:
            if not part_change(part):
                continue
            scale, _ = part_scale(part, posed.epsilon, Fraction(0))
            otherwise = bounded_otherwise(part, posed.epsilon)
            assert scale <= otherwise * (1 + Fraction(1, 10**9))
            if scale < otherwise:
                assert loss_entry_by_entry(part, scale) <= float(posed.epsilon) * (1 + 1e-12)
            below = scale * (1 - Fraction(1, 10**9))
            if below * 10**6 * posed.epsilon > part.answer.entry_changes().max():
                assert loss_entry_by_entry(part, below) > posed.epsilon * (1 - Fraction(1, 10**12))
                strict += 1
    assert strict > 25


@pytest.mark.parametrize("stay", [0.99, 0.998])
@pytest.mark.parametrize("start", ["stationary", "any", pytest.param([0.0, 1.0], marks=pytest.mark.slow)])
def test_scales_of_runs_that_forget_slowly_are_those_of_one_table_an_entry(stay, start):
    chain = tf.MarkovChain([[stay, 1 - stay], [(1 - stay) / 3, 1 - (1 - stay) / 3]], 1500, start)
    posed = problem(chain, Count(1), 1)
    (part,) = posed.parts
    scale, _ = part_scale(part, Fraction(1), Fraction(0))
    assert loss_entry_by_entry(part, scale * (1 + Fraction(1, 10**9))) <= 1
    assert loss_entry_by_entry(part, scale * (1 - Fraction(1, 10**9))) > 1


BELIEFS = {
    "stationary": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length),
    "slow": lambda length: tf.MarkovChain([[0.998, 0.002], [0.004, 0.996]], length),
    "any start": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length, "any"),
    "given start": lambda length: tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length, [1.0, 0.0]),
    "three states": lambda length: tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], length),
    "period": lambda length: tf.PeriodicChain([[[0.9, 0.1], [0.4, 0.6]], [[0.5, 0.5], [0.3, 0.7]]], length),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_a_sequence_of_any_length_needs_what_a_long_one_does(name):
    def calibrated(length):
        framework = tf.Pufferfish(tf.every_entry(), [BELIEFS[name](length)])
        return tf.calibrate(framework, Count(1), epsilon=1)

    one, other = calibrated(20_000), calibrated(10**9)
    assert other.scale == pytest.approx(one.scale, rel=1e-9)
    assert math.isfinite(other.scale)
    rows = [[row.name for row in calibration.alternatives] for calibration in (one, other)]
    assert rows[0] == rows[1]


def test_means_sums_and_histograms_of_any_length_are_calibrated():
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**9)
    framework = tf.Pufferfish(tf.every_entry(), [chain])
    count = tf.calibrate(framework, Count(1), epsilon=1).scale
    assert tf.calibrate(framework, tf.Mean(), epsilon=1).scale == pytest.approx(count / 10**9, rel=1e-9)
    assert tf.calibrate(framework, tf.Sum(), epsilon=1).scale == pytest.approx(count, rel=1e-9)
    assert tf.calibrate(framework, Histogram(), epsilon=1).scale == pytest.approx(2 * count, rel=1e-9)
    assert tf.calibrate(framework, Count(1), epsilon=1, delta=1e-6).scale <= count * (1 + 1e-9)

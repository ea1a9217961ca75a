"""Influence noise: never above quilts or group, the least of any Laplace noise where that is known; it composes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.analysis.problem import Problem
from takifugu.influence.curves import Release, joint_loss

STAY = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]


def random_chain(rng, states, start):
    matrix = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0])), size=states)
    return matrix, rng.dirichlet(np.ones(states)) if start == "given" else start


@pytest.mark.parametrize("seed", range(12))
def test_no_more_than_quilts_or_group(seed):
    rng = np.random.default_rng(seed)
    matrix, start = random_chain(rng, int(rng.integers(2, 5)), ["stationary", "given"][seed % 2])
    length = int(rng.integers(3, 40))
    chain = tf.MarkovChain(matrix, length, initial=start)
    framework = tf.Pufferfish(tf.every_entry(), chain)
    for query in (tf.Count(1), tf.Histogram(), tf.Count(0, entries=(0, length - 1))):
        names = ("influence", "quilt-exact", "group")
        needed = {name: tf.calibrate(framework, query, 1, mechanism=name).scale for name in names}
        assert needed["influence"] <= min(needed.values()) * (1 + Fraction(1, 10**9))


def test_the_scale_of_the_readme_is_the_smallest_of_any_laplace_noise():
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(STAY, 100))
    composing = tf.calibrate(framework, tf.Count(1), 1)
    single = tf.calibrate(framework, tf.Count(1), 1, mechanism="laplace-exact")
    assert composing.mechanism == "influence"
    assert float(composing.scale) == pytest.approx(3.3364089220140187, rel=1e-10)
    assert composing.scale <= single.scale * (1 + Fraction(1, 10**9))
    assert tf.compose([composing]).epsilon <= 1


def test_what_is_known_value_by_value_counts_so():
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(THREE, 20))
    part = Problem(framework, tf.Count(2), Fraction(1)).parts[0]
    changes = part.answer.entry_changes()
    exact = joint_loss(part, [Release(changes, Fraction(4), part.answer)])[0]
    blind = joint_loss(part, [Release(changes, Fraction(4))])[0]
    assert exact < blind

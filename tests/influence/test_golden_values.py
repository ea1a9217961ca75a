"""Values that another program computed: scales, losses for ever, several beliefs, the worst place."""

import math
from fractions import Fraction

import numpy as np
import pytest

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.influence.chains import kernels, sides, two_states
from takifugu.influence.chains.chains import chain_loss
from takifugu.influence.chains.class_chains import OfReversible
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.normal import log_share
from takifugu.influence.profiles.profile import Profile
from takifugu.model.secrets.families import Family

WALK = [[0.9, 0.1], [0.4, 0.6]]
THREE = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]


def of_chain(matrix, length):
    return tf.Pufferfish(tf.every_entry(), tf.MarkovChain(matrix, length))


def loss(framework, state, scale):
    """Return what a count of one state with Laplace noise of this scale loses."""
    return float(tf.with_scale(framework, tf.Count(state), scale).epsilon)


@pytest.mark.parametrize(("matrix", "length", "state", "scale"), [
    (WALK, 5, 1, 2.6340080907113226), (WALK, 100, 1, 3.3364089220140187), (WALK, 3000, 1, 3.3364089220153064),
    (THREE, 30, 2, 3.6772379966852932),
])  # fmt: skip
def test_scales(matrix, length, state, scale):
    needed = tf.calibrate(of_chain(matrix, length), tf.Count(state), 1, mechanism="influence")
    assert float(needed.scale) == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize(("matrix", "scale", "expected"), [
    (WALK, 2, 1.7320423746291353), ([[0.9, 0.1], [0.1, 0.9]], 4, 1.9380122275435764),
])  # fmt: skip
def test_losses_for_ever(matrix, scale, expected):
    assert loss(of_chain(matrix, 3000), 1, scale) == pytest.approx(expected, rel=1e-9)


def test_a_cycle_loses_no_more_than_without_jumps():
    cycle = of_chain([[0.3, 0.7, 0], [0, 0.3, 0.7], [0.7, 0, 0.3]], 30)
    assert loss(cycle, 2, 3.98) <= 1.000167885331893 * (1 + 1e-9)


def test_two_beliefs_lose_what_the_worse_one_does():
    both = tf.Pufferfish(tf.every_entry(), [tf.MarkovChain(m, 8) for m in (WALK, [[0.8, 0.2], [0.1, 0.9]])])
    assert loss(of_chain(WALK, 8), 1, 3) == pytest.approx(1.0115357207234577, rel=1e-9)
    assert loss(both, 1, 3) == pytest.approx(1.4654035472081491, rel=1e-9)


def test_two_windows_at_their_worst_places():
    long, short = (tf.with_scale(of_chain(WALK, length), tf.Count(1), scale) for length, scale in ((10, 3), (4, 2)))
    charges = [[charge_of(long, at=4), charge_of(short, at=at)] for at in range(15)]
    assert max(float(joint(long.framework, both).epsilon) for both in charges) == pytest.approx(2.28770663906131)


@pytest.mark.parametrize(("matrix", "change", "rising", "falling"), [
    (WALK, 0.5, 0.61602118731456763, 0.36819971577627847),
    ([[0.9, 0.1], [0.1, 0.9]], 0.25, 0.84400611377178822, 0.84400611377178822),
])  # fmt: skip
def test_what_one_side_loses_for_ever(matrix, change, rising, falling):
    _, repeated = two_states.run(np.array([matrix]), 0.0, change, (change, change), 10**9)
    assert repeated[0][1, 0] == pytest.approx(rising, rel=1e-11)
    assert repeated[0][0, 1] == pytest.approx(falling, rel=1e-11)


def test_an_interval_with_any_start_needs_a_little_more_than_its_worst_chain():
    worst = tf.calibrate(of_chain([[0.9, 0.1], [0.1, 0.9]], 100), tf.Count(1), 1, mechanism="influence")
    assert float(worst.scale) == pytest.approx(8.6404410315719285, rel=1e-9)
    interval = tf.Pufferfish(tf.every_entry(), tf.BinaryChains(0.1, 100))
    needed = tf.calibrate(interval, tf.Count(1), 1, mechanism="influence")
    assert 1 < float(needed.scale) / 8.6404410315719285 < 1.02


def test_rows_near_the_stationary_law():
    side = OfReversible(2, np.array([1]), np.array([0.3]), 2.0)
    assert side.after(np.array([0.7]))[0, 1, 0] == pytest.approx(0.20251463021785597, rel=1e-12)


def test_the_delta_of_a_secret_from_that_of_one_entry():
    share = math.exp(log_share(Fraction(1), Fraction("6.0497467040005443e-7")))
    assert share * math.expm1(0.25) == pytest.approx(1e-7, rel=1e-8)


def test_one_pair_for_all_of_three_states(monkeypatch):
    """Looser: likelihoods in [m, m e^s] for the largest pair s."""
    count = loss(of_chain(THREE, 12), 2, 3)


    def by_the_largest(rows, ratios, *_):
        if ratios.ndim > 2:
            return np.array([by_the_largest(rows, ratio) for ratio in ratios])
        return Levels(rows).bound(float(ratios.max()))

    for module in (kernels, sides):
        monkeypatch.setattr(module, "suprema", by_the_largest)
    monkeypatch.setattr(kernels, "MOST_STATES", 0)  # one jump after the other
    chain = tf.MarkovChain(THREE, 12)
    table = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]) / 3
    computed = chain_loss(chain, Profile.of(table, 12), Family(range(12)), jumps=())
    assert computed.epsilon == pytest.approx(1.4719055631323541, rel=1e-9)
    assert count < computed.epsilon


def test_a_gap_step_by_step_costs_more_than_with_a_jump():
    cycle = tf.MarkovChain([[0.3, 0.7, 0], [0, 0.3, 0.7], [0.7, 0, 0.3]], 8)
    each = 2.0 * (1 - np.eye(3))
    tables = [each if step in (0, 1, 6, 7) else 1e-12 * each for step in range(8)]  # nothing to jump over
    stepped = chain_loss(cycle, Profile.by_entry(tables), Family(range(8)), jumps=())
    assert stepped.epsilon == pytest.approx(4.5798026461825037, rel=1e-9)

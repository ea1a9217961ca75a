"""Values that another program computed: scales, losses for ever, several beliefs, unknown places."""

import pytest

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint

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


def test_windows_of_unknown_place_lose_more_than_at_the_worst_place_and_less_than_for_ever():
    windows = [tf.with_scale(of_chain(WALK, length), tf.Count(1), scale) for length, scale in ((10, 3), (4, 2))]
    charged = joint(windows[0].framework, [charge_of(window) for window in windows]).epsilon
    assert 2.28770663906131 <= charged <= 2.8391968921976 * (1 + 1e-9)

"""Normal releases that were fixed in advance: what they promise together, against all recordings and binned outputs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.test_influence_gaussian import framework_of, true_delta

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.numbers.after_noise.gaussian import gaussian_delta

STAY = [[0.9, 0.1], [0.4, 0.6]]
COUNT, LAST = tf.Count(1), tf.Count(1, entries=(2, 3))
WEIGHTS = {COUNT: [[0, 1]] * 4, LAST: [[0, 0], [0, 0], [0, 1], [0, 1]]}


def normal(query, epsilon, delta, framework=None):
    return tf.calibrate(framework or framework_of(STAY, 4), query, epsilon, delta, mechanism="influence-gaussian")


@pytest.mark.parametrize("laplace", [True, False])
def test_two_releases_promise_no_less_than_they_lose(laplace):
    first = normal(COUNT, 1, 0.01)
    framework = framework_of(STAY, 4)
    second = tf.calibrate(framework, LAST, 1, mechanism="influence") if laplace else normal(LAST, 1, 0.01)
    promise = tf.compose([first, second], fixed_in_advance=True)
    assert promise.delta == first.guarantee.delta + second.guarantee.delta
    assert 1 < promise.epsilon < 2.2
    releases = [(WEIGHTS[one.query], float(one.scale), not (laplace and one is second)) for one in (first, second)]
    assert true_delta(np.array(STAY), [0.8, 0.2], 4, releases, float(promise.epsilon)) <= promise.delta
    assert true_delta(np.array(STAY), [0.8, 0.2], 4, releases, float(promise.epsilon) / 2) > promise.delta


@pytest.mark.parametrize("number", [10, 100])
def test_many_releases_lose_as_one_of_the_root_of_their_number(number):
    one = normal(COUNT, 0.2, 1e-4 / number)
    promise = tf.compose([one] * number, fixed_in_advance=True)
    assert promise.epsilon < 0.2 * number / 2
    mean = float(one.scale) / math.sqrt(number)
    true = true_delta(np.array(STAY), [0.8, 0.2], 4, [(WEIGHTS[COUNT], mean, True)], float(promise.epsilon))
    assert true <= promise.delta


def test_what_may_have_been_chosen_after_an_output_is_refused():
    one = normal(COUNT, 1, 1e-5)
    with pytest.raises(CompositionRefused, match="no joint promise"):
        tf.compose([one, one])


def test_any_normal_noise_counts_by_its_changes():
    """gaussian-exact relies on what the belief leaves open; beside others only its noise counts."""
    framework = framework_of(STAY, 4)
    exact = tf.calibrate(framework, COUNT, 1, 1e-3, mechanism="gaussian-exact")
    ours = normal(COUNT, 1, 1e-3)
    assert exact.scale < ours.scale
    together = [tf.compose([one, one], fixed_in_advance=True).epsilon for one in (exact, ours)]
    assert together[0] > together[1] > 1


def test_independent_users_who_move_an_answer_by_other_tables():
    """One moves two cells by 1, the other one cell by 2: alike in L1, and not in L2."""
    users = tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 2)
    framework = tf.Pufferfish(tf.every_entry(), users)
    parts = [tf.Histogram(entries=(0,)), tf.Sum(codes={0: 0, 1: 2}, entries=(1,))]
    laplace = charge_of(tf.calibrate(framework, tf.Together(parts), 1, mechanism="group"), reading="one")
    sigma, delta = Fraction(5), Fraction(1, 10**4)
    noise = RoundedNormal(sigma, Fraction(1), 3).to_dict()
    normal_one = replace(
        laplace, scale=None, delta=delta, covers=Covers.OUTPUT, randomiser=noise, fixed_in_advance=True
    )
    promise = joint(framework, [normal_one] * 2)
    assert gaussian_delta(2, sigma / Fraction(math.sqrt(2)), promise.epsilon) == pytest.approx(2e-4, rel=1e-5)


def test_other_noise_is_refused_beside_it():
    framework = framework_of(STAY, 4)
    finite = tf.calibrate(framework, COUNT, 1, mechanism="kantorovich-exponential")
    with pytest.raises(CompositionRefused):
        tf.compose([finite, normal(COUNT, 1, 1e-5)], fixed_in_advance=True)
    mode = tf.calibrate(framework, tf.Mode(), 1, mechanism="influence")  # a choice loses by its scale, as Laplace does
    assert tf.compose([mode, normal(COUNT, 1, 1e-5)], fixed_in_advance=True).epsilon > 1

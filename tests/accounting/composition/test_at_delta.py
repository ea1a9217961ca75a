"""Normal releases that were fixed in advance: what they promise together, against all recordings and binned outputs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.mechanisms.test_influence_gaussian import framework_of, true_delta
from tests.support.ledger_tools import laplace

import takifugu as tf
from takifugu.accounting.composition import charge_of, joint
from takifugu.accounting.composition.at_delta import joint_at_delta, least_epsilon, loss_at, planned_together
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.core.errors import CompositionRefused
from takifugu.numbers.after_noise.gaussian import gaussian_delta

STAY = [[0.9, 0.1], [0.4, 0.6]]
COUNT, LAST = tf.Count(1), tf.Count(1, entries=(2, 3))
WEIGHTS = {COUNT: [[0, 1]] * 4, LAST: [[0, 0], [0, 0], [0, 1], [0, 1]]}
HALF = Fraction(1, 2)


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


# Independent users: each loses what the normal law says.

DELTA = Fraction(1, 10**4)
USERS = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * 3))


def noisy(weights, sigma=None, scale=None, **changes):
    """Return a release about three users, with normal noise or else Laplace noise, that claims next to nothing."""
    made = charge_of(laplace(USERS, tf.Linear(weights), 1, Covers.ENTRIES), reading="one")
    claims = {"epsilon": Fraction(1, 1000), "fixed_in_advance": True, **changes}
    if sigma is None:
        return replace(made, scale=Fraction(scale), **claims)
    noise = RoundedNormal(Fraction(sigma), Fraction(1)).to_dict()
    return replace(made, **{"scale": None, "delta": DELTA, "covers": Covers.OUTPUT, "randomiser": noise, **claims})


def at_delta(*charges):
    return joint_at_delta(View(USERS, USERS.fingerprint()), charges)


@pytest.mark.parametrize("order", [(1, 2, 0), (2, 0, 1)])
def test_the_user_who_loses_most_in_all_releases_decides(order):
    weights = [[row[n] for n in order] for row in ([3, 1, 2], [1, 1, 5])]
    promise = at_delta(noisy(weights[0], 5), noisy(weights[1], 10))
    move = Fraction(math.hypot(2 / 5, 5 / 10))
    assert gaussian_delta(move, 1, promise.epsilon) == pytest.approx(float(2 * DELTA), rel=1e-5)
    assert gaussian_delta(move, 1, promise.epsilon) <= 2 * DELTA
    assert (promise.delta, promise.rule, promise.covers) == (2 * DELTA, "joint loss at delta", Covers.OUTPUT)
    assert promise.witness is not None


def test_laplace_noise_counts_for_each_user_beside_the_normal_noise_that_user_has():
    alone = at_delta(noisy([3, 0, 0], 5))
    assert at_delta(noisy([3, 0, 0], 5), noisy([0, 1, 0], None, 2)).epsilon == alone.epsilon
    for order in ([9, 0], [0, 9]):
        pure = [noisy([0, *order], None, 1), noisy([0, *order], None, 2)]
        assert at_delta(noisy([3, 0, 0], 5), *pure).epsilon == pytest.approx(13.5)
    both = at_delta(noisy([3, 0, 0], 5), noisy([1, 0, 0], None, 2)).epsilon
    assert alone.epsilon < both <= alone.epsilon + HALF * (1 + Fraction(1, 10**8))
    assert at_delta(noisy([1, 0, 0], 50)).epsilon < HALF  # the others, who are not read, lose nothing
    exact = noisy([0, 9, 0], None, 0)
    with pytest.raises(CompositionRefused, match="without any noise"):
        at_delta(noisy([3, 0, 0], 5), exact)
    silent = noisy([0, 0, 0], None, 0)
    assert at_delta(noisy([3, 0, 0], 5), silent).epsilon == alone.epsilon


def test_no_set_costs_less_than_one_of_its_releases_claims():
    assert at_delta(noisy([3, 0, 0], 5, epsilon=Fraction(7)), noisy([1, 1, 1], 50)).epsilon == 7
    least = at_delta(noisy([3, 0, 0], 5)).epsilon
    claimed = least * Fraction(99, 100)
    assert at_delta(noisy([3, 0, 0], 5, epsilon=claimed)).epsilon == pytest.approx(float(least), rel=1e-8)


def test_the_rule_is_the_joint_one_from_the_second_release_on():
    one, two = noisy([3, 0, 0], 50), noisy([1, 1, 1], 50)
    alone = joint(USERS, [one])
    assert (alone.epsilon, alone.rule) == (one.epsilon, "alone")
    together = joint(USERS, [one, two])
    assert (together.epsilon, together.rule) == (at_delta(one, two).epsilon, "joint loss at delta")
    mixed = joint(USERS, [one, noisy([1, 1, 1], None, 50)])  # by the change of everything that is less
    assert (mixed.epsilon, mixed.rule) == (one.epsilon + Fraction(3, 50), "single and whole")


def test_what_does_not_add_up_value_by_value_is_refused():
    foreign = noisy([1, 1, 1], 9, framework="another belief", answers=("unknown",))
    with pytest.raises(CompositionRefused, match="no sum over the values"):
        at_delta(noisy([1, 1, 1], 9), foreign)
    assert loss_at([], [], Fraction(1), DELTA) == (0, None)


def test_what_is_planned_together():
    one, pure = noisy([1, 1, 1], 9), noisy([1, 1, 1], None, 9)
    assert planned_together([one, pure, one])
    assert planned_together([replace(one, at=3), replace(pure, at=3)])
    assert not planned_together([])
    assert not planned_together([pure, pure])
    for wrong in ({"fixed_in_advance": False}, {"scope": "pooled"}, {"reading": "two"}, {"reading": "", "at": 3}):
        assert not planned_together([one, replace(one, **wrong)])
        assert not planned_together([one, pure, replace(pure, **wrong)])
    assert not planned_together([one, replace(one, randomiser={"kind": "exponential"})])
    assert not planned_together([replace(one, at=3), replace(pure, at=4)])


def test_the_least_epsilon_is_searched_from_above():
    for least in (Fraction(1, 7), Fraction(5, 3), Fraction(5000)):
        for start in (least * Fraction(9, 10), least / 5):
            epsilon = least_epsilon(lambda _, least=least: (least, None), start)
            assert least <= epsilon <= least * (1 + Fraction(2, 10**9))
        assert least_epsilon(lambda _, least=least: (least, None), least) == pytest.approx(float(least), rel=1e-11)
        assert least_epsilon(lambda _: (Fraction(0), None), least * 3) == pytest.approx(float(least * 3), rel=1e-11)
    assert least_epsilon(lambda _: (Fraction(9500), None), Fraction(5000)) >= 9500  # doubled once, up to the limit
    with pytest.raises(CompositionRefused, match="promise nothing"):
        least_epsilon(lambda epsilon: (epsilon + 1, None), Fraction(1))

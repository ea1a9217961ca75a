"""The virtual competitor and the true ceilings, against the best mechanism by linear program on small data sets."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy.stats import binomtest
from tests.support import policies

from takagi.virtual import ceiling, coins, one_way_ceiling, virtual_beta
from takifugu.core.errors import InputError
from takifugu.mechanisms.one_sided.answers import sanitiser
from takifugu.mechanisms.one_sided.questions import at_least, at_most
from takifugu.mechanisms.one_sided.tails import Pointing, count_noise
from takifugu.numbers.noise import InsecureSeededEntropyForTests

BITS = [0, 1]
GRID = list(itertools.product([0.0, 1e-4, 0.05, 0.3], [0.2, 1.0, 2.0], [0.0, 1e-3, 0.1]))


def counted(data):
    return sum(data)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("threshold", [0, 1, 2])
@pytest.mark.parametrize(("alpha", "epsilon", "delta"), GRID)
def test_the_ceiling_is_the_best_mechanism_over_all_data_sets(threshold, alpha, epsilon, delta):
    data = policies.datasets(BITS, 4)
    for m in range(threshold + 1):
        target = (1,) * m + (0,) * (4 - m)
        k = policies.distances(target, data, policies.anything)
        steps = min(d for other, d in k.items() if counted(other) > threshold)
        assert steps == at_most(threshold).distance(m)
        best = policies.best_yes(
            data, policies.anything, lambda x: counted(x) > threshold, target, alpha, epsilon, delta
        )
        true = ceiling(alpha, epsilon, delta, steps)
        assert best == pytest.approx(true, abs=1e-7)
        assert true <= virtual_beta(alpha, epsilon, delta, steps)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("threshold", [0, 1, 2])
@pytest.mark.parametrize(("alpha", "epsilon", "delta"), GRID)
def test_the_one_way_ceiling_is_the_best_mechanism_under_the_policy(threshold, alpha, epsilon, delta):
    data, related = policies.datasets(BITS, 4), policies.policy(lambda x: x == 0)
    for m in range(threshold + 1):
        target = (1,) * m + (0,) * (4 - m)
        best = policies.best_yes(data, related, lambda x: counted(x) > threshold, target, alpha, epsilon, delta)
        assert best == pytest.approx(one_way_ceiling(alpha, epsilon, delta, threshold + 1 - m), abs=1e-7)


@given(
    st.one_of(st.just(0.0), st.floats(1e-300, 0.9)),
    st.fractions("0.01", 5, max_denominator=100),
    st.sampled_from([0, 1e-4, 0.2]),
    st.integers(0, 12),
)
def test_ceilings_are_ordered_rounded_up_and_the_formula_is_the_papers(alpha, epsilon, delta, steps):
    assert ceiling(alpha, epsilon, delta, steps) <= min(
        virtual_beta(alpha, epsilon, delta, steps), one_way_ceiling(alpha, epsilon, delta, steps)
    )
    with mp.workdps(400):
        e = mp.mpf(epsilon.numerator) / epsilon.denominator
        a, d = mp.mpf(repr(alpha)), mp.mpf(str(delta))
        printed = min(mp.mpf(1), a * mp.exp(steps * e) + d * sum(mp.exp((i - 1) * e) for i in range(1, steps + 1)))
        computed = virtual_beta(alpha, epsilon, delta, steps)
        assert printed * (1 - mp.mpf(2) ** -52) <= computed <= float(printed) * (1 + 1e-12)
        if delta == 0:
            closed = 1 - (1 - a) * mp.exp(-steps * e)
            computed = one_way_ceiling(alpha, epsilon, 0, steps)
            assert closed * (1 - mp.mpf(2) ** -52) <= computed <= float(closed) * (1 + 1e-12)


@given(st.fractions("0.01", 5, max_denominator=100), st.integers(1, 12))
def test_without_false_answers_only_delta_or_a_policy_says_anything(epsilon, steps):
    assert ceiling(0, epsilon, 0, steps) == 0
    noise = count_noise(epsilon)
    reached = sanitiser(at_most(steps - 1), noise).beta(0)
    assert one_way_ceiling(0, epsilon, 0, steps) == pytest.approx(reached, rel=1e-12)


@pytest.mark.parametrize(("epsilon", "alpha"), [("0.5", "1e-3"), (1, "1e-3"), (2, "0.05"), (1, "0.3")])
@pytest.mark.parametrize("question", [at_most(5), at_least(6)])
def test_two_sided_noise_stays_below_the_ceiling(epsilon, alpha, question):
    for whole in (True, False):
        made = sanitiser(question, count_noise(epsilon, 1, Pointing.BOTH, whole), alpha)
        for m in range(12):
            if question.holds(m):
                assert made.beta(m) <= ceiling(made.alpha, epsilon, 0, question.distance(m)) * (1 + 1e-12)


def test_coins_land_as_often_as_they_should():
    entropy = InsecureSeededEntropyForTests(3)
    betas = np.repeat([0.0, 0.05, 0.5, 1.0], 20_000).reshape(4, -1)
    yes = coins(betas, entropy).sum(axis=1)
    assert yes[0] == 0
    assert yes[3] == 20_000
    for number, chance in ((1, 0.05), (2, 0.5)):
        assert binomtest(int(yes[number]), 20_000, chance).pvalue > 1e-6
        assert binomtest(int(yes[number]), 20_000, chance * 1.2 if chance < 0.5 else 0.45).pvalue < 1e-6
    for bad in ([1.1], [-0.1], [math.nan]):
        with pytest.raises(InputError, match="probability"):
            coins(bad, entropy)

"""Mangat's randomised response: the law, one way only, the estimate, draws."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.goodness_of_fit import coin_p

from takagi.mangat import Mangat
from takifugu.mechanisms.one_sided.tails import geometric_law
from takifugu.numbers.noise import InsecureSeededEntropyForTests


@given(st.fractions(F(1, 50), 20))
def test_one_way_only_and_it_is_ageo_of_one_person(epsilon: F) -> None:
    mangat = Mangat(epsilon)
    loss = math.log(mangat.probability(True, True) / mangat.probability(False, True))
    assert loss == pytest.approx(float(epsilon))
    assert mangat.probability(True, False) == 0  # an answer of no is true: alpha = 0, and infinite the other way
    for bit in (True, False):
        assert mangat.probability(bit, True) + mangat.probability(bit, False) == pytest.approx(1)
        law = dict(geometric_law(int(bit), 1, epsilon).items())
        assert law.get(1, 0) == pytest.approx(mangat.probability(bit, True))


def test_draws() -> None:
    assert Mangat(1).randomise([]).size == 0
    bits = np.array([True, False] * 20_000)
    answers = Mangat("1/2").randomise(bits, InsecureSeededEntropyForTests(1))
    assert answers[bits].all()
    yes = int(answers[~bits].sum())
    assert coin_p(yes, 20_000, math.exp(-0.5)) > 1e-6
    assert coin_p(yes, 20_000, math.exp(-1)) < 1e-6


def test_the_estimate_is_unbiased_and_the_number_of_yes_an_upper_bound() -> None:
    bits, entropy = np.arange(400) < 100, InsecureSeededEntropyForTests(2)
    estimates = []
    for _ in range(400):
        yes = int(Mangat(1).randomise(bits, entropy).sum())
        assert yes >= 100
        estimates.append(Mangat(1).estimate(yes, 400)[0])
    deviation = math.sqrt(300 * math.exp(-1) / (1 - math.exp(-1)))
    assert abs(np.mean(estimates) - 100) < 5 * deviation / 20
    assert np.std(estimates) == pytest.approx(deviation, rel=0.15)
    assert Mangat(1).estimate(100 + round(300 * math.exp(-1)), 400)[1] == pytest.approx(deviation, rel=0.01)

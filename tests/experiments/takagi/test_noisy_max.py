"""The largest of several counts, one-sided: exact law, loss epsilon however many counts fall, never below any count."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import asymmetric as oracle
from tests.support.goodness_of_fit import fits

from takagi.noisy_max import NoisyMax
from takifugu.numbers.noise import InsecureSeededEntropyForTests

HALF = F(1, 2)  # e^-epsilon
EPSILON = F(math.log(2))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_the_law_is_that_of_the_steps(counts: list[int]) -> None:
    true = oracle.noisy_max(counts, HALF, 8)
    for (place, value), mass in true.items():
        probability = math.exp(NoisyMax(EPSILON).log_probability(counts, place, value))
        assert probability == pytest.approx(float(mass), rel=1e-12)
    total = sum(true.values())
    assert 0 < total < 1
    assert all(value >= max(counts) for _, value in true)
    assert NoisyMax(EPSILON).log_probability(counts, 0, max(counts) - 1) == -math.inf


@pytest.mark.mutants
def test_draws_follow_the_law() -> None:
    counts, draws, entropy = (2, 1, 2), 8000, InsecureSeededEntropyForTests(1)
    seen = Counter(NoisyMax(1).draw(counts, entropy) for _ in range(draws))
    assert all(value >= 2 for _, value in seen)
    outputs = product(range(3), range(2, 12))
    masses = {output: math.exp(NoisyMax(1).log_probability(counts, *output)) for output in outputs}
    assert fits(seen, masses, draws, least=10)

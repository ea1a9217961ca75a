"""The largest of several counts, one-sided: exact law, loss epsilon however many counts fall, never below any count."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import asymmetric as oracle
from tests.support.goodness_of_fit import fits

from takagi.noisy_max import NoisyMax
from takifugu.core.errors import DataError, InputError
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


def test_mutants_of_the_largest_count() -> None:
    """Half the scale loses 2; two-sided noise may say less than a count; counts that can rise lose more."""
    one, other = (oracle.noisy_max(counts, HALF**2, 7) for counts in ((2, 2, 2), (1, 1, 1)))
    assert oracle.steps(one, other, HALF) == 2
    two_sided: dict[Any, float] = {}
    for values, mass in oracle.together([oracle.laplace(0.5, 12)] * 2).items():
        noisy = [2 + values[0], 1 + values[1]]
        key = noisy.index(max(noisy)), max(noisy)
        two_sided[key] = two_sided.get(key, 0.0) + mass
    assert sum(mass for (_, value), mass in two_sided.items() if value < 2) > 0.1
    swapped = [oracle.noisy_max(counts, HALF, 9) for counts in ((1, 0), (0, 1))]
    assert oracle.steps(*swapped, HALF) == 2
    rising = [oracle.noisy_max(counts, HALF, 9) for counts in ((2, 2), (1, 3))]
    assert oracle.steps(*rising, HALF) == math.inf


def test_the_first_of_several_largest_is_named() -> None:
    assert NoisyMax(1000).draw([3, 8, 8]) == (1, 8)
    assert NoisyMax(1000).draw(np.array([8, 3, 8])) == (0, 8)
    assert NoisyMax(1000).draw([2**70, 5]) == (0, 2**70)


def test_draws_follow_the_law() -> None:
    counts, draws, entropy = (2, 1, 2), 8000, InsecureSeededEntropyForTests(1)
    seen = Counter(NoisyMax(1).draw(counts, entropy) for _ in range(draws))
    assert all(value >= 2 for _, value in seen)
    outputs = product(range(3), range(2, 12))
    masses = {output: math.exp(NoisyMax(1).log_probability(counts, *output)) for output in outputs}
    assert fits(seen, masses, draws, least=10)


def test_a_count_that_is_none_is_refused_and_not_told() -> None:
    with pytest.raises(DataError, match="whole number") as refusal:
        NoisyMax(1).draw([-77777])
    assert "77777" not in str(refusal.value)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="no place"):
        NoisyMax(1).draw([])
    with pytest.raises(InputError, match="above 0"):
        NoisyMax(0)

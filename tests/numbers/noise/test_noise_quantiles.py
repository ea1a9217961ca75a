"""Tails of the noise in integers, against mpmath, and the search for quantiles."""

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takifugu.numbers.noise_quantiles import first_not_exceeded, laplace_above, laplace_survival, normal_survival

TRUTH = [
    (laplace_survival, lambda z: mpmath.exp(-z)),
    (normal_survival, lambda z: mpmath.erfc(z / mpmath.sqrt(2))),
]


@given(st.fractions(0, 200), st.sampled_from([1, 8, 64, 127, 191, 600]))
@settings(max_examples=150, deadline=None)
def test_enclosures_hold_the_truth_and_are_narrow(z: Fraction, bits: int) -> None:
    for enclose, survival in TRUTH:
        low, high = enclose(z, bits)
        with mpmath.workprec(bits + 1000):
            truth = survival(mpmath.mpf(z.numerator) / z.denominator) * mpmath.mpf(2) ** bits
            assert low <= truth <= high
        assert high - low <= 2


@pytest.mark.parametrize("enclose", [laplace_survival, normal_survival])
def test_enclosures_at_their_ends(enclose: Any) -> None:
    assert enclose(Fraction(0), 64) == enclose(Fraction(-5, 3), 64) == (2**64, 2**64)
    assert enclose(Fraction(10**300), 64) == (0, 1)
    low, high = enclose(Fraction(1, 10**300), 64)
    assert 2**64 - 1 <= low <= high <= 2**64


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
@settings(max_examples=100, deadline=None)
def test_the_search_finds_the_first(answer: int, guess: int) -> None:
    tried = []

    def exceeds(j: int) -> bool:
        tried.append(j)
        return j < answer

    assert first_not_exceeded(exceeds, guess) == answer
    assert len(tried) <= (2 if guess == answer else 46)


def test_an_exponential_is_bounded_from_above() -> None:
    with mpmath.workdps(50):
        above = laplace_above(Fraction(1))
        excess = mpmath.mpf(above.numerator) / above.denominator - mpmath.exp(-1)
        assert 0 <= excess <= mpmath.mpf(2) ** -120

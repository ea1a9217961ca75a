"""What Laplace noise leaves of rows of weights, against sums in mpmath."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.wide_numbers import random_wide

from takifugu.numbers.extended import laplace_smoothing as module
from takifugu.numbers.extended.floats import UNIT, Wide, normalised
from takifugu.numbers.extended.laplace_smoothing import Chunks, decayed, roundings


def number(mantissa: float, exponent: int) -> mpmath.mpf:
    return mpmath.ldexp(mpmath.mpf(mantissa), int(exponent))


def agree(weights: Wide, decay: Fraction, computed: Chunks) -> None:
    """Every number, padding too, is within the stated roundings of the sum by definition."""
    rows, size = weights.mantissas.shape
    _, chunks, places = computed.numbers.shape
    with mpmath.workdps(60):
        power = [mpmath.exp(-mpmath.mpf(i * decay.numerator) / decay.denominator) for i in range(chunks * places)]
        for row in range(rows):
            held = [(x, number(weights.mantissas[row, x], weights.exponents[row, x])) for x in range(size)
                    if weights.mantissas[row, x]]  # fmt: skip
            for y in range(chunks * places):
                expected = mpmath.fsum(w * power[abs(y - x)] for x, w in held)
                exponent = computed.exponents[row, y // places]
                got = number(computed.numbers[row, y // places, y % places], exponent)
                assert abs(got - expected) <= 2 * roundings(size) * UNIT * expected


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 10**9), 10), st.integers(1, module.CHUNK))
def test_powers_inside_a_chunk_are_rounded_once(decay: Fraction, places: int) -> None:
    with mpmath.workdps(80):
        powers = [float(mpmath.exp(-mpmath.mpf(i * decay.numerator) / decay.denominator)) for i in range(places)]
    assert module._kernel(decay, places)[1].tolist() == powers


@settings(max_examples=30)
@given(st.fractions(0, 2**50))
def test_an_exponential_far_below_float64_is_rounded_once(exponent: Fraction) -> None:
    with mpmath.workdps(80):
        mantissa, order = mpmath.frexp(mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator))
    rounded, more = math.frexp(float(mantissa))  # which may be 1
    assert module._exponential(exponent) == (rounded, order + more)


decays = st.sampled_from(["1/100000", "1/300", "1/3", "1", "17/2", "40", "1000"]).map(Fraction)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(1, 60), decays, st.sampled_from([0, 30, 3000]))
def test_sums_are_right_at_any_decay(seed: int, rows: int, size: int, decay: Fraction, orders: int) -> None:
    weights = random_wide(seed, (rows, size), orders)
    if not weights.mantissas.any(axis=1).all():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", 7)
        agree(weights, decay, decayed(weights, decay))


@pytest.mark.parametrize("decay", [Fraction(1, 3), Fraction(1, 50), Fraction(12)])
def test_chunks_of_the_usual_size(decay: Fraction) -> None:
    places = np.arange(200)
    steep = normalised(np.full((2, 200), 0.6), -((places - 100) ** 2)[None, :] * np.array([[1], [2]]))
    agree(steep, decay, decayed(steep, decay))


def test_one_atom_far_away_reaches_everything() -> None:
    mantissas, exponents = np.zeros((1, 300)), np.full((1, 300), -(2**50))
    mantissas[0, 299], exponents[0, 299] = 0.5, -9000
    weights = Wide(mantissas, exponents)
    for decay in (Fraction(1, 7), Fraction(30)):
        agree(weights, decay, decayed(weights, decay))


def test_rows_as_wide_numbers_are_the_chunks_without_what_is_to_spare() -> None:
    weights = random_wide(5, (2, 130), 50)
    chunks = decayed(weights, Fraction(1, 2))
    wide = chunks.wide()
    assert wide.mantissas.shape == (2, 130)
    for row, place in ((0, 0), (1, 63), (0, 64), (1, 129)):
        chunk, at = divmod(place, chunks.numbers.shape[2])
        number_there = chunks.numbers[row, chunk, at] * 2.0 ** float(chunks.exponents[row, chunk])
        assert wide[row, place].floats(0) == number_there


def test_a_decay_that_is_a_little_off_is_seen() -> None:
    weights = random_wide(6, (1, 100), 10)
    with pytest.raises(AssertionError):
        agree(weights, Fraction(1, 3), decayed(weights, Fraction(1, 3) * (1 + Fraction(1, 10**11))))


def test_forgetting_what_comes_in_from_behind_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "moved", lambda rows, places: Wide(0 * rows.mantissas, rows.exponents))
    weights = random_wide(7, (1, 100), 10)
    with pytest.raises(AssertionError):
        agree(weights, Fraction(1, 30), decayed(weights, Fraction(1, 30)))

"""The divergence of exact masses against mpmath, at its edges."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from takifugu.numbers.distributions.divergence import divergence, sum_of_powers

F = Fraction
MASSES = st.fractions(0, 1, max_denominator=60)


def real(value):
    return mp.mpf(value.numerator) / value.denominator


@given(st.lists(st.tuples(MASSES, MASSES), max_size=6), st.fractions(0, 60, max_denominator=7))
def test_both_ends_are_next_to_the_exact_sum(pairs, epsilon):
    with mp.workdps(80):
        exact = mp.fsum(max(real(p) - mp.exp(real(epsilon)) * real(q), 0) for p, q in pairs)
        bracket = divergence(pairs, epsilon)
        assert bracket.low <= exact <= bracket.high
        assert math.nextafter(math.nextafter(bracket.low, math.inf), math.inf) >= bracket.high


def test_where_e_to_the_epsilon_is_beyond_floats():
    assert divergence([(F(1), F(0)), (F(1), F(1))], F(10**300)).high == 1
    assert divergence([(F(1), F(0)), (F(1), F(1))], F(10**300)).low == 1
    tiny = F(1, 2**20_000)
    assert divergence([(F(1, 2), tiny)], F(10_001)).high == 0.5
    assert divergence([(F(1, 2), tiny)], F(10_001)).low == 0
    assert 0.49 < divergence([(F(1, 2), tiny)], F(10_000)).low <= 0.5


def test_masses_that_are_nearly_e_to_the_epsilon_apart():
    """The next whole number above and below e^epsilon times a mass of 200 bits: 0 on one side alone."""
    with mp.workdps(150):
        for epsilon in (F(1, 3), F(1), F(7)):
            product = mp.exp(real(epsilon)) * mp.mpf(2) ** 200
            for p in (int(mp.ceil(product)), int(mp.floor(product))):
                bracket = divergence([(F(p, 2**220), F(1, 2**20))], epsilon)
                exact = max((p - product) / mp.mpf(2) ** 220, 0)
                assert bracket.low <= exact <= bracket.high < 2.0**-119


def test_ties_are_none():
    assert divergence([(F(1, 3), F(1, 3))], F(0)).high == 0
    assert divergence([], F(1)).high == 0


@given(st.fractions(0, 3, max_denominator=9), st.integers(0, 6))
def test_the_sum_of_powers(epsilon, count):
    with mp.workdps(60):
        exact = mp.fsum(mp.exp(k * real(epsilon)) for k in range(count))
        bracket = sum_of_powers(epsilon, count)
        assert bracket.low <= exact <= bracket.high
    assert bracket.high <= bracket.low * (1 + 2.0**-51)


def test_a_sum_of_powers_beyond_floats_is_infinite():
    assert sum_of_powers(F(701), 2).high == math.inf
    assert sum_of_powers(F(10**9), 1).high == 1
    assert sum_of_powers(F(350), 3).high < math.inf

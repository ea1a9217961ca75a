"""The divergence of exact masses against mpmath, what is decided exactly, and orders between laws."""

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support.laws_oracles import as_mpf, gaussian_divergence, laplace_divergence
from tests.support.strategies import exact_laws

from takifugu.numbers.distributions.divergence import divergence
from takifugu.numbers.distributions.exact_ratio import (
    exact_excess,
    exact_law,
    lattice_step,
    likelihood_ratio_ordered,
    log_concave,
    log_share,
    masses_need_noise,
    ratio_exceeds,
    stochastically_ordered,
)
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import given_count

F = Fraction
MASSES = st.fractions(0, 1, max_denominator=60)


@given(st.lists(st.tuples(MASSES, MASSES), max_size=6), st.fractions(0, 60, max_denominator=7))
def test_both_ends_are_next_to_the_exact_sum(pairs, epsilon):
    with mp.workdps(80):
        exact = mp.fsum(max(as_mpf(p) - mp.exp(as_mpf(epsilon)) * as_mpf(q), 0) for p, q in pairs)
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
            product = mp.exp(as_mpf(epsilon)) * mp.mpf(2) ** 200
            for p in (int(mp.ceil(product)), int(mp.floor(product))):
                bracket = divergence([(F(p, 2**220), F(1, 2**20))], epsilon)
                exact = max((p - product) / mp.mpf(2) ** 220, 0)
                assert bracket.low <= exact <= bracket.high < 2.0**-119


def test_ties_are_none():
    assert divergence([(F(1, 3), F(1, 3))], F(0)).high == 0
    assert divergence([], F(1)).high == 0





#: Short expansions of e from both sides: what a float of the logarithm does not tell apart from it.
NEXT_TO_E = [F(1457, 536), F(2721, 1001), F(23225, 8544), F(848456353, 312129649), F(2124008553358849, 781379079653017)]


def exceeds(one: Fraction, other: Fraction, epsilon: Fraction) -> bool:
    with mp.workdps(60):
        gap = mp.mpf(one.numerator) / one.denominator - mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator) * (
            mp.mpf(other.numerator) / other.denominator
        )
        return bool(gap > 0)


EXACT = exact_laws(largest=3, fractional=False)
FLOATS = exact_laws(largest=3, fractional=False).map(lambda law: Pmf(law.values, law.probabilities))


@settings(max_examples=25)
@given(st.tuples(EXACT, EXACT) | st.tuples(FLOATS, FLOATS), st.fractions("1/8", 3, max_denominator=8))
def test_the_masses_of_what_exceeds_are_those_of_the_definition(laws: tuple[Pmf, Pmf], epsilon: Fraction) -> None:
    for one, other in (laws, laws[::-1]):
        first, second = ({x: F(m) for x, m in law.items()} for law in (one, other))
        over = [x for x, mass in first.items() if exceeds(mass, second.get(x, F(0)), epsilon)]
        masses = tuple(sum((of.get(x, F(0)) for x in over), F(0)) for of in (first, second))
        assert exact_excess(one, other, epsilon) == masses
        need = set(first) != set(second) or any(
            exceeds(*pair, epsilon) for x in first for pair in ((first[x], second[x]), (second[x], first[x]))
        )
        assert masses_need_noise(one, other, epsilon) == need


@pytest.mark.parametrize("ratio", NEXT_TO_E)
@pytest.mark.parametrize("power", [1, 2])
def test_a_ratio_next_to_a_power_of_e_is_decided(ratio: Fraction, power: int) -> None:
    over = exceeds(ratio, F(1), F(1))
    assert over == (ratio > F(math.e)) or abs(ratio - F(math.e)) < F(1, 10**15)
    assert ratio_exceeds(ratio**power, F(power)) is over
    assert ratio_exceeds(1 / ratio**power, -F(power)) is not over
    rest = 1 - F(1, 100) * ratio**power
    p, q = Pmf([0, 1], [1 - rest, rest]), Pmf([0, 1], [F(1, 100), F(99, 100)])
    assert exact_excess(p, q, F(power)) == ((1 - rest, F(1, 100)) if over else (0, 0))
    assert masses_need_noise(p, q, F(power)) is over
    assert masses_need_noise(q, p, F(power)) is over


LAWS = exact_laws(atoms=4, largest=4, count=5, fractional=False)


def masses(law):
    return {int(x): Fraction(m) for x, m in law.items()}


def ordered_by_ratio(p, q):
    """q(y) p(x) >= q(x) p(y) for all x < y."""
    one, other = masses(p), masses(q)
    atoms = sorted({*one, *other})
    return all(other.get(y, 0) * one.get(x, 0) >= other.get(x, 0) * one.get(y, 0) for x, y in combinations(atoms, 2))


@given(LAWS, LAWS)
def test_likelihood_ratio_order_by_all_pairs_of_atoms(p, q):
    assert likelihood_ratio_ordered(p, q) == ordered_by_ratio(p, q)
    if likelihood_ratio_ordered(p, q):
        assert stochastically_ordered(p, q)


@given(LAWS, LAWS)
def test_stochastic_order_by_all_thresholds(p, q):
    one, other = masses(p), masses(q)
    held = all(
        sum(m for y, m in one.items() if y >= x) <= sum(m for y, m in other.items() if y >= x) for x in {*one, *other}
    )
    assert stochastically_ordered(p, q) == held


@given(LAWS)
def test_log_concavity_by_its_definition(law):
    held, step = masses(law), lattice_step(law)
    places = range(min(held), max(held) + 1, step)
    gapless = all(x in held for x in places)
    bent = all(held.get(x, 0) ** 2 >= held.get(x - step, 0) * held.get(x + step, 0) for x in places)
    assert log_concave(law, step) == (gapless and bent)


def test_float_masses_are_read_as_they_are():
    tenth = Pmf([0, 1, 2], [0.1, 0.2, 0.7])
    assert not log_concave(tenth, 1)
    assert likelihood_ratio_ordered(tenth, tenth)


@pytest.mark.mutants
@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=3),
    st.lists(st.integers(1, 5), min_size=2, max_size=3),
    st.integers(2, 3),
)
def test_the_outermost_comparison_is_the_worst_after_log_concave_noise(zeros, ones, records):
    """For log-concave laws in likelihood-ratio order, under normal and Laplace noise, at every delta (theory page)."""
    zero, one = (Pmf.from_counts(range(len(counts)), counts) for counts in (zeros, ones))
    assume(log_concave(zero, 1) and log_concave(one, 1))
    assume(likelihood_ratio_ordered(zero, one) or likelihood_ratio_ordered(one, zero))
    laws = {a: masses(law) for a, law in given_count(zero, one, records, range(records + 1)).items()}
    with mpmath.workdps(30):
        for divergence, size, epsilon in ((gaussian_divergence, 1, 0.5), (laplace_divergence, 1, 0.3)):
            first, last = laws[0], laws[records]
            worst = max(divergence(*pair, size, epsilon) for pair in ((first, last), (last, first)))
            for a, b in combinations(laws, 2):
                for one_way, other in ((a, b), (b, a)):
                    assert divergence(laws[one_way], laws[other], size, epsilon) <= worst + mpmath.mpf(10) ** -12


def test_shares_of_any_size_have_a_logarithm() -> None:
    assert log_share(2**2990, 2**3000) == pytest.approx(-10 * math.log(2), rel=1e-15)


def test_float_masses_become_integers() -> None:
    assert exact_law(Pmf([0, 1], [0.25, 0.75])).total == 4

"""Orders between laws, by their definitions; and what they are used for: the outermost comparison is the worst."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import mpmath
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.laws_oracles import gaussian_divergence, laplace_divergence
from tests.support.strategies import exact_laws

from takifugu.numbers.distributions.orders import (
    lattice_step,
    likelihood_ratio_ordered,
    log_concave,
    stochastically_ordered,
)
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.distributions.record_sums import given_count

LAWS = exact_laws(atoms=4, largest=4, count=5, fractional=False)


def masses(law):
    return {int(x): Fraction(m) for x, m in law.items()}


def ordered_by_ratio(p, q):
    """q(y) p(x) >= q(x) p(y) for all x < y."""
    one, other = masses(p), masses(q)
    atoms = sorted({*one, *other})
    return all(
        other.get(y, 0) * one.get(x, 0) >= other.get(x, 0) * one.get(y, 0) for x, y in combinations(atoms, 2)
    )


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

"""Tupling: the exact delta against its definition, golden values, and what it refuses."""

from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden
from tests.support.population_oracles import laws
from tests.support.tuples import tuple_delta

from takifugu.core.errors import InputError
from takifugu.mechanisms.local.tupling import Tupling
from takifugu.numbers import Pmf


def law(outputs):
    return laws(outputs).map(lambda masses: list(masses.values()))


@st.composite
def cases(draw):
    outputs = draw(st.integers(1, 5))
    dummies = draw(st.integers(0, 4 if outputs < 4 else 2))
    p, q, nu = draw(law(outputs)), draw(law(outputs)), draw(law(outputs))
    return p, q, nu, dummies, draw(st.fractions(0, 3, max_denominator=8))


@given(cases())
@settings(max_examples=30)
def test_both_enclosures_contain_the_definition(case):
    p, q, nu, dummies, epsilon = case
    tupling, exact = Tupling(dummies, nu), tuple_delta(p, q, nu, dummies, epsilon)
    listed = tupling.bracket(p, q, epsilon)
    assert listed.low * (1 - 1e-14) <= exact <= listed.high * (1 + 1e-14)
    assert listed.high - listed.low <= 1e-14
    kinds, apart = tupling.kinds(p, q)
    transformed = tupling.by_transform(kinds, epsilon, apart)
    assert transformed.low * (1 - 1e-12) <= exact <= transformed.high * (1 + 1e-12) + 1e-300
    assert transformed.high - transformed.low <= 1e-6 * transformed.high + 1e-11


@pytest.mark.parametrize("name", list(golden()["tupling_exact"]))
def test_golden_deltas(name):
    which, dummies = name.split(",k=")
    p, q = ([F(x) for x in row] for row in golden()["tupling_laws"][which])
    for key, value in golden()["tupling_exact"][name].items():
        if key.startswith("delta@"):
            assert Tupling(int(dummies)).delta(p, q, key[6:]) == pytest.approx(value, abs=1e-12)


def test_pmfs_are_laws_over_the_outputs_of_the_dummies():
    """Values without mass are left out of them: over fewer outputs uniform dummies give too small a delta."""
    p, q = Pmf([0, 1, 2], [1, 0, 0]), Pmf([0, 1, 2], [F(1, 10), F(9, 10), 0])
    with pytest.raises(InputError, match="two Pmfs do not say over which outputs"):
        Tupling(1).delta(p, q, F(1, 10))
    uniform = Tupling(1).delta([1, 0, 0], [F(1, 10), F(9, 10), 0], F(1, 10))
    assert Tupling(1, Pmf([0, 1, 2], [F(1, 3)] * 3)).delta(p, q, F(1, 10)) == uniform
    p, q = Pmf([0], [1]), Pmf([5], [1])
    spread = Pmf(list(range(8)), [F(1, 8)] * 8)
    assert Tupling(3, spread).delta(p, q, 0) == Tupling(3).delta([1] + [0] * 7, [0, 1] + [0] * 6, 0)

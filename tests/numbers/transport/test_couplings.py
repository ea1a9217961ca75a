"""The least largest cost of moving one population into another, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import population_oracles as oracles

from takifugu.numbers.transport import couplings

F = Fraction


def marginals(plan):
    left, right = {}, {}
    for (x, y), mass in plan.items():
        left[x], right[y] = left.get(x, F(0)) + mass, right.get(y, F(0)) + mass
    return left, right


@given(oracles.laws(4), oracles.laws(4), st.data())
@settings(max_examples=60)
def test_the_least_largest_cost_of_any_table(p, q, data):
    table = data.draw(st.lists(st.lists(st.sampled_from([0.0, 1.5, 2.0, 7.0, math.inf]), min_size=4, max_size=4),
                               min_size=4, max_size=4))  # fmt: skip
    least, plan = couplings.least_largest(p, q, lambda x, y: table[x][y])
    assert least == oracles.least_largest(
        {x: m for x, m in p.items() if m}, {y: m for y, m in q.items() if m}, lambda x, y: table[x][y]
    )
    assert max(table[x][y] for x, y in plan) == least
    assert marginals(plan)[0] == {x: m for x, m in p.items() if m}


def test_values_without_mass_are_nowhere():
    assert couplings.support({0: F(1), 99: F(0)}) == [0]

"""The interior-point method for constraints that are the same for every output, next to HiGHS on the whole program."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from takifugu.core.errors import Unsupported
from takifugu.numbers.column_programs import solve


def by_highs(cost, limits):
    """Return the least cost, with a variable for each entry."""
    inputs, outputs = cost.shape
    whole = np.kron(limits, np.eye(outputs))
    sums = np.kron(np.eye(inputs), np.ones((1, outputs)))
    solution = linprog(
        cost.ravel(), whole, np.zeros(len(whole)), sums, np.ones(inputs), bounds=(0, None), method="highs"
    )
    assert solution.status == 0
    return solution.fun


@st.composite
def programs(draw):
    inputs, outputs = draw(st.integers(2, 6)), draw(st.integers(1, 5))
    costs = st.lists(st.integers(0, 9), min_size=outputs, max_size=outputs)
    cost = np.array(draw(st.lists(costs, min_size=inputs, max_size=inputs)), dtype=float)
    pairs = [(i, j) for i in range(inputs) for j in range(inputs) if i != j]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=len(pairs), unique=True))
    limits = np.zeros((len(chosen), inputs))
    for row, (i, j) in zip(limits, chosen, strict=True):
        row[i], row[j] = math.exp(-draw(st.sampled_from([0.01, 0.3, 1.0, 4.0]))), -1.0
    return cost, limits


@given(programs())
@settings(max_examples=60)
def test_it_finds_the_least_cost_from_both_sides(case):
    cost, limits = case
    solution, least = solve(cost, csr_array(limits)), by_highs(cost, limits)
    scale = cost.max() + 1e-6
    assert solution.least - 1e-9 * scale <= least <= solution.cost + 1e-9 * scale
    assert solution.cost - solution.least <= 1e-6 * scale
    assert (solution.matrix > 0).all()
    assert (limits @ solution.matrix <= 1e-15).all()
    assert solution.matrix.sum(axis=1) == pytest.approx(1, abs=1e-14)
    assert solution.cost == pytest.approx((cost * solution.matrix).sum(), rel=1e-12, abs=1e-12)


def test_constraints_that_are_found_late_are_kept():
    """All pairs of a line of 12 places are more than are taken at first."""
    places = np.arange(12.0)
    apart = abs(places[:, None] - places[None, :])
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    limits = np.zeros((len(pairs), 12))
    for row, (i, j) in zip(limits, pairs, strict=True):
        row[i], row[j] = math.exp(-0.3 * math.sqrt(apart[i, j])), -1.0
    assert len(pairs) > 8 * 12
    cost = apart / 12
    solution = solve(cost, csr_array(limits))
    assert (limits @ solution.matrix <= 1e-15).all()
    assert solution.cost == pytest.approx(by_highs(cost, limits), abs=1e-7)


def test_constraints_without_an_inside_are_refused():
    with pytest.raises(Unsupported, match="strictly"):
        solve(np.ones((2, 2)), csr_array([[1.0, -1.0]]))

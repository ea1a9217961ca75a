"""Couplings: the least largest cost of moving one population into another, in any metric."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from tests.support import population_oracles as oracles
from tests.support.laws_oracles import bottleneck_by_hall
from tests.support.strategies import exact_laws

from takifugu.core.errors import InputError
from takifugu.numbers import Pmf, w_infinity
from takifugu.numbers.transport import bottleneck as couplings
from takifugu.numbers.transport.bottleneck import bottleneck, max_flow

F = Fraction


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
    assert oracles.marginals(plan)[0] == {x: m for x, m in p.items() if m}


def test_values_without_mass_are_nowhere():
    assert couplings.support({0: F(1), 99: F(0)}) == [0]


HALF = [Fraction(1, 2), Fraction(1, 2)]


def taxicab(x: Any, y: Any) -> int:
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def euclidean(x: Any, y: Any) -> float:
    return float(np.hypot(x[0] - y[0], x[1] - y[1]))


@st.composite
def planar_laws(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Fraction]]:
    points = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=5, unique=True))
    counts = draw(st.lists(st.integers(1, 6), min_size=len(points), max_size=len(points)))
    return points, [Fraction(c, sum(counts)) for c in counts]


@settings(max_examples=60)
@given(planar_laws(), planar_laws(), st.sampled_from([taxicab, euclidean]))
def test_the_plan_has_the_marginals_and_the_least_largest_move(left: Any, right: Any, metric: Any) -> None:
    plan = bottleneck(*left, *right, metric)
    for side, (points, masses) in enumerate((left, right)):
        sums = {point: sum((m for *move, m in plan.moves if move[side] == point), Fraction(0)) for point in points}
        assert sums == dict(zip(points, masses, strict=True))
    assert max(metric(x, y) for x, y, _ in plan.moves) == plan.distance
    p, q = (dict(zip(*law, strict=True)) for law in (left, right))
    assert plan.distance == bottleneck_by_hall(p, q, metric)
    assert bottleneck(*right, *left, metric).distance == plan.distance


@given(exact_laws(), exact_laws())
def test_on_the_line_it_is_w_infinity(p: Pmf, q: Pmf) -> None:
    sides = [x for law in (p, q) for x in zip(*law.items(), strict=True)]
    assert bottleneck(*sides, lambda x, y: abs(x - y)).distance == w_infinity(p, q)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.floats(0.1, 1.0))
def test_the_flow_is_as_large_as_scipys(seed: int, n: int, m: int, density: float) -> None:
    random = np.random.default_rng(seed)
    supply, demand = random.integers(0, 20, n).tolist(), random.integers(0, 20, m).tolist()
    allowed = random.random((n, m)) < density
    flow = np.array(max_flow(supply, demand, allowed))
    assert (flow >= 0).all()
    assert not flow[~allowed].any()
    assert (flow.sum(axis=1) <= supply).all()
    assert (flow.sum(axis=0) <= demand).all()
    capacities = np.zeros((n + m + 2, n + m + 2), dtype=np.int32)
    capacities[0, 1 : n + 1], capacities[n + 1 : -1, -1] = supply, demand
    capacities[1 : n + 1, n + 1 : -1] = allowed * 1000
    assert flow.sum() == maximum_flow(csr_array(capacities), 0, n + m + 1).flow_value


def test_masses_beyond_64_bits_and_floats() -> None:
    big = 10**40
    p, q = [Fraction(1, big), 1 - Fraction(1, big)], [Fraction(2, big), 1 - Fraction(2, big)]
    assert bottleneck([0, 1], p, [0, 1], q, lambda x, y: abs(x - y)).distance == 1
    assert bottleneck([0, 1], p, [0, 1], p, lambda x, y: abs(x - y)).distance == 0
    floats = bottleneck(np.array([[0.0, 0.0], [3.0, 4.0]]), [0.5, 0.5], np.array([[0.0, 1.0], [3.0, 5.0]]),
                        np.array([0.5, 0.5]), euclidean)  # fmt: skip
    assert floats.distance == 1.0


def test_two_bits_of_errata_e12() -> None:
    assert bottleneck([(0, 0), (10, 10)], HALF, [(1, 11), (11, 1)], HALF, taxicab).distance == 12
    assert bottleneck(["0", "1"], HALF, ["1", "2"], HALF, lambda x, y: int(x != y)).distance == 1


@pytest.mark.parametrize(("metric", "words"), [
    (lambda x, y: x - y, "negative"),
    (lambda x, y: 1, "itself"),
    (lambda x, y: max(0, x - y), "symmetric"),
    (lambda x, y: (x - y) ** 2, "triangle"),
    (lambda x, y: float("nan"), "finite"),
])  # fmt: skip
def test_what_is_no_metric(metric: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        bottleneck([0, 1], HALF, [2, 3], HALF, metric)


@pytest.mark.parametrize(
    ("points", "masses"), [([0, 0], HALF), ([0], HALF), ([0, 1], [0.5, 0.4]), ([], []), ([0, 1], [2, -1])]
)
def test_what_is_no_law(points: Any, masses: Any) -> None:
    with pytest.raises(InputError):
        bottleneck(points, masses, [0, 1], HALF, lambda x, y: abs(x - y))

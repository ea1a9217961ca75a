"""Couplings: the least largest cost of moving one population into another, in any metric, and over boxes."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from tests.support import population_oracles as oracles
from tests.support.golden import golden
from tests.support.laws_oracles import bottleneck_by_hall
from tests.support.strategies import exact_laws

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.numbers.transport import bottleneck as couplings
from takifugu.numbers.transport.bottleneck import bottleneck, max_flow
from takifugu.numbers.transport.draws import (
    Draws,
    farthest_move,
    float_gap,
    largest_loss,
    number_of,
    quantile_gap,
    weights_of,
)

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
def test_on_the_line_it_is_w_infinity(p: tf.Pmf, q: tf.Pmf) -> None:
    sides = [x for law in (p, q) for x in zip(*law.items(), strict=True)]
    assert bottleneck(*sides, lambda x, y: abs(x - y)).distance == tf.w_infinity(p, q)


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


CHANCES = st.fractions(0, 1, max_denominator=12)


def law(chances: list[Fraction]) -> list[Fraction]:
    """Return the law of the number of ones, draw by draw."""
    masses = [F(1)]
    for p in chances:
        masses = [a * (1 - p) + b * p for a, b in zip([*masses, F(0)], [F(0), *masses], strict=True)]
    return masses


def largest_move(p: list[Fraction], q: list[Fraction]) -> int:
    """Return the least w with P(X <= x) <= Q(Y <= x + w) and the same exchanged, for every x."""

    def cdf(masses: list[Fraction], x: int) -> Fraction:
        return sum(masses[: max(x + 1, 0)], F(0))

    n = len(p)
    return min(w for w in range(n) if all(cdf(p, x) <= cdf(q, x + w) and cdf(q, x) <= cdf(p, x + w) for x in range(n)))


def loss(p: list[Fraction], q: list[Fraction], scale: Fraction) -> float:
    """Return the largest |log-ratio| after Laplace noise, at every output, with 40 digits."""
    if not scale:
        if any(bool(a) != bool(b) for a, b in zip(p, q, strict=True)):
            return math.inf
        return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True) if a)
    with mp.workdps(40):

        def mass(masses: list[Fraction], y: int) -> object:
            t = mp.mpf(scale.denominator) / scale.numerator
            return mp.fsum(mp.mpf(m.numerator) / m.denominator * mp.exp(-abs(y - x) * t) for x, m in enumerate(masses))

        return float(max(abs(mp.log(mass(p, y) / mass(q, y))) for y in range(len(p))))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), CHANCES), min_size=1, max_size=3))
def test_the_number_of_ones_by_draw(draws: list[tuple[int, Fraction]]) -> None:
    expected = law([p for count, p in draws for _ in range(count)])
    weights = number_of(draws)
    assert [F(mass, sum(weights)) for mass in weights] == expected


@settings(max_examples=80, deadline=None)
@given(st.lists(CHANCES, min_size=1, max_size=5), st.data())
def test_gaps_of_quantiles(p: list[Fraction], data: st.DataObject) -> None:
    q = data.draw(st.lists(CHANCES, min_size=len(p), max_size=len(p)))
    high, low = number_of([(1, x) for x in p]), number_of([(1, x) for x in q])
    both = max(quantile_gap(high, low), quantile_gap(low, high))
    assert both == largest_move(law(p), law(q))
    rounded = float_gap(weights_of([(1, x) for x in p]), weights_of([(1, x) for x in q]))
    assert quantile_gap(high, low) <= rounded <= quantile_gap(high, low) + 1  # ties may be lost to rounding


@settings(max_examples=10, deadline=None)
@given(st.integers(70, 120), st.integers(1, 11), st.integers(1, 11))
def test_gaps_of_many_draws(count: int, a: int, b: int) -> None:
    p, q = [(count, F(a, 12)), (5, F(1, 3))], [(count, F(b, 12)), (5, F(1, 3))]
    exact = quantile_gap(number_of(p), number_of(q))
    assert exact <= float_gap(weights_of(p), weights_of(q)) <= exact + (a == b)


def test_the_boxes_of_example_2() -> None:
    """F given that `a` of four people have X_2 = 1 is Bin(a, p1) + Bin(4 - a, p2), both in the box."""
    for box, (expected, _) in golden()["attribute_wasserstein_theta_grid_001_example2"].items():
        low, high = (F(end) for end in box.strip("[]").split(","))
        farthest = max(
            farthest_move(
                lambda c, a=a, b=b: [
                    Draws(b, c[0], c[0], same=True), Draws(4 - a, c[1], c[1], same=True), Draws(a - b, c[0], c[1])
                ],
                ((low, high), (low, high)),
            )
            for a in range(5) for b in range(a)
        )  # fmt: skip
        assert farthest == int(expected)


_BOX = st.tuples(CHANCES, CHANCES).map(lambda ends: (min(ends), max(ends)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2), _BOX, _BOX, st.sampled_from([F(0), F(1, 3), F(1), F(5)]))
def test_no_point_of_a_box_is_above_the_bounds(
    count: int, shared: int, one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction], scale: Fraction
) -> None:
    """Two columns that follow the secret in opposite ways, and one that does not: corners and inner points."""

    def sides(cell) -> list[Draws]:
        flipped = [(1 - high, 1 - low) for low, high in cell[:2]]
        others = Draws(shared, cell[2], cell[2], same=True)
        return [Draws(count, cell[0], cell[1]), Draws(1, flipped[0], flipped[1]), others]

    cell = (one, one, other)
    move, lost = farthest_move(sides, cell, 60), largest_loss(sides, cell, scale, 40)
    inner = [[low, high, low + (high - low) / 3] for low, high in cell]
    for a, b, c in itertools.product(*inner):
        p, q = ([x] * count + [1 - x] + [c] * shared for x in (a, b))
        assert largest_move(law(p), law(q)) <= move
        assert loss(law(p), law(q), scale) <= lost * (1 + 1e-9) + 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), CHANCES, CHANCES, st.sampled_from([F(1, 4), F(1), F(7)]))
def test_the_bound_on_a_loss_is_reached_where_all_draws_move_one_way(
    count: int, p: Fraction, q: Fraction, scale: Fraction
) -> None:
    largest = largest_loss(lambda c: [Draws(count, c[0], c[1])], ((p, p), (q, q)), scale)
    assert largest == pytest.approx(loss(law([p] * count), law([q] * count), scale), rel=1e-9, abs=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [1, 7, 300])
@pytest.mark.parametrize("scale", [F(0), F(2, 3), F(50)])
def test_the_loss_of_known_chances_is_rounded_up(count: int, scale: Fraction) -> None:
    """Of one draw with chances p and q: the largest log f/g after noise e^(-|x|/scale), at 0 and at 1."""
    for a, b in itertools.permutations(range(1, 12), 2):
        p, q = F(a, 12), F(b, 12)
        with mp.workdps(40):
            decay = mp.exp(-mp.mpf(scale.denominator) / scale.numerator) if scale else mp.mpf(0)

            def at(x: int, chance: Fraction, decay: object = decay) -> object:
                one = mp.mpf(chance.numerator) / chance.denominator
                return one + (1 - one) * decay if x else (1 - one) + one * decay

            exact = count * max(abs(mp.log(at(x, p) / at(x, q))) for x in (0, 1))
            loss = largest_loss(lambda cell, p=p, q=q: [Draws(count, (p, p), (q, q))], (), scale)
            assert exact <= loss <= exact * (1 + mp.mpf(10) ** -9)

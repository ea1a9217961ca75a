"""Plans and largest moves: golden values, every-subset oracles, linear programs, and the rule for ties."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import golden, transport_laws
from tests.support.laws_oracles import least_distance, transport_cost, unmatched_by_hall
from tests.support.strategies import exact_laws, float_laws

from takifugu.core.errors import InputError
from takifugu.numbers import monotone_coupling, w_infinity
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.transport.on_the_line import (
    _largest_safe,
    exact_levels,
    level_tolerance,
    unmatched_mass,
    w_infinity_candidates,
)

FLU = Pmf.from_counts([0, 1, 2, 3], [3, 1, 1, 1]), Pmf.from_counts([1, 2, 3, 4], [1, 1, 1, 1])


@st.composite
def dyadic_laws(draw: st.DrawFn) -> Pmf:
    """Exact laws whose levels are sixteenths: floats hold them as they are."""
    cuts = sorted(draw(st.sets(st.integers(1, 15), max_size=6)))
    masses = [b - a for a, b in itertools.pairwise([0, *cuts, 16])]
    values = sorted(draw(st.sets(st.integers(-9, 9), min_size=len(masses), max_size=len(masses))))
    return Pmf.from_counts(values, masses)


def law(masses: dict[int, Fraction]) -> Pmf:
    return Pmf(list(masses), list(masses.values()))


@pytest.mark.parametrize("name", transport_laws())
def test_golden_plans(name: str) -> None:
    expected = golden()["transport"][name]
    p, q = map(law, transport_laws()[name])
    plan = monotone_coupling(p, q)
    assert [[str(x), str(y), str(mass)] for x, y, mass in plan.items()] == expected["plan"]
    assert str(w_infinity(p, q)) == expected["winf"] == str(plan.largest_move)
    if "joint_pmf" in expected:
        assert [[str(m) for m in row] for row in plan.joint_pmf_table()] == expected["joint_pmf"]
    floats = Pmf(p.values, p.probabilities), Pmf(q.values, q.probabilities)
    assert w_infinity(*floats) == w_infinity(p, q) == monotone_coupling(*floats).largest_move


@given(exact_laws(), exact_laws())
def test_plan_has_the_marginals_and_the_least_largest_move(p: Pmf, q: Pmf) -> None:
    plan = monotone_coupling(p, q)
    left: dict[Any, Fraction] = {}
    right: dict[Any, Fraction] = {}
    for x, y, mass in plan.items():
        assert mass > 0
        left[x] = left.get(x, Fraction(0)) + Fraction(mass)
        right[y] = right.get(y, Fraction(0)) + Fraction(mass)
    assert (left, right) == (dict(p.items()), dict(q.items()))
    assert plan.largest_move == w_infinity(p, q) == least_distance(dict(p.items()), dict(q.items()))
    assert isinstance(w_infinity(p, q), int | Fraction)


@settings(max_examples=40)
@given(exact_laws(), exact_laws())
def test_plan_has_the_least_cost(p: Pmf, q: Pmf) -> None:
    for power in (1, 2):
        cost = sum(abs(x - y) ** power * mass for x, y, mass in monotone_coupling(p, q).items())
        assert float(cost) == pytest.approx(transport_cost(dict(p.items()), dict(q.items()), power), abs=1e-8)


@given(exact_laws(), exact_laws(), exact_laws(), st.fractions(-3, 3, max_denominator=4))
def test_w_infinity_is_a_metric_that_scales(p: Pmf, q: Pmf, r: Pmf, factor: Fraction) -> None:
    assert w_infinity(p, q) == w_infinity(q, p)
    assert (w_infinity(p, q) == 0) == (p == q)
    assert w_infinity(p, r) <= w_infinity(p, q) + w_infinity(q, r)
    assert w_infinity(p.scale(factor), q.scale(factor)) == abs(factor) * w_infinity(p, q)
    assert w_infinity(p.convolve(r), q.convolve(r)) <= w_infinity(p, q)


# Partial transport: the table of errata E11.
E11 = [
    (FLU, [Fraction(1, 2), Fraction(1, 4), 0]),
    ((Pmf.from_counts([0, 50], [99, 1]), Pmf.from_counts([0, 1], [99, 1])), [Fraction(1, 100)] * 49 + [0]),
    ((Pmf.from_counts([0, 3], [1, 1]), Pmf.from_counts([0, 1, 3], [4, 3, 3])), [Fraction(3, 10), Fraction(1, 5), 0]),
]


@pytest.mark.parametrize(("pair", "unmatched"), E11)
def test_errata_e11(pair: tuple[Pmf, Pmf], unmatched: list[Any]) -> None:
    assert [unmatched_mass(*pair, w) for w in range(len(unmatched))] == unmatched
    for delta in {*unmatched} - {0}:
        assert w_infinity(*pair, delta) == unmatched.index(delta) == w_infinity(*reversed(pair), delta)
    assert w_infinity(*pair) == len(unmatched) - 1


@given(exact_laws(atoms=5), exact_laws(atoms=5), st.fractions(0, Fraction(9, 10), max_denominator=20))
def test_partial_transport_is_exact(p: Pmf, q: Pmf, delta: Fraction) -> None:
    first, second = dict(p.items()), dict(q.items())
    reach = w_infinity(p, q, delta)
    assert reach == least_distance(first, second, delta) == w_infinity(q, p, delta)
    for distance in (reach, reach / 2, 1):
        assert unmatched_mass(p, q, distance) == unmatched_by_hall(first, second, distance)


@settings(max_examples=50)
@given(float_laws(atoms=4), float_laws(atoms=4), st.sampled_from([1e-9, 0.01, 0.25]))
def test_partial_transport_of_floats_is_not_too_short(p: Pmf, q: Pmf, delta: float) -> None:
    distance = w_infinity(p, q, delta)
    spare = Fraction(1, 2**40)
    exact = dict(p.items()), dict(q.items())
    assert unmatched_by_hall(*exact, Fraction(distance)) <= Fraction(delta) + spare
    if distance:
        assert unmatched_by_hall(*exact, Fraction(distance) * (1 - Fraction(1, 2**45))) >= Fraction(delta) - spare


def test_what_float_masses_miss_of_one_is_not_left_over() -> None:
    p, q = Pmf([0, 1, 2], [0.1, 0.2, 0.7]), Pmf([0, 1], [0.5, 0.5])
    assert sum(map(Fraction, [0.1, 0.2, 0.7])) < 1
    assert unmatched_mass(p, q, 2) == unmatched_mass(q, p, 2) == 0


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, float("nan")])
def test_bad_delta(delta: float) -> None:
    with pytest.raises(InputError, match="delta"):
        w_infinity(*FLU, delta)


# Float masses: levels that tie in exact arithmetic and differ by rounding must not pair the wrong atoms.
def test_float_levels_that_tie() -> None:
    p, q = Pmf([0, 1, 2], [0.1, 0.2, 0.7]), Pmf([0, 1, 2], [0.1 + 0.2 - 0.2, 0.2, 0.7])
    assert w_infinity(p, q) == 0 == monotone_coupling(p, q).largest_move
    assert w_infinity_candidates(p, q) == (0, 1)
    near = Pmf([0, 1, 5], [0.1 + 0.2, 0.2, 0.5]), Pmf([1, 2, 6], [0.3, 0.2, 0.5])
    assert w_infinity(*near) == 1 == monotone_coupling(*near).largest_move


@given(dyadic_laws(), dyadic_laws())
def test_a_plan_of_floats_is_the_exact_plan_where_no_level_is_rounded(p: Pmf, q: Pmf) -> None:
    floats = [Pmf(law.values, law.probabilities) for law in (p, q)]
    expected = [(x, y, float(mass)) for x, y, mass in monotone_coupling(p, q).items()]
    for left, right in (floats, (p, floats[1]), (floats[0], q)):  # one exact law alone does not make a plan exact
        plan = monotone_coupling(left, right)
        assert list(plan.items()) == expected
        assert plan.mass.dtype == np.float64
        assert w_infinity(left, right) == w_infinity(p, q) == w_infinity_candidates(left, right)[0]
        assert w_infinity_candidates(left, right) == w_infinity_candidates(*floats)  # the safe one is among them
        assert isinstance(unmatched_mass(left, right, 1), float)
        assert unmatched_mass(left, right, 1) == unmatched_mass(p, q, 1)
    assert w_infinity_candidates(p, q) == (w_infinity(p, q),)


def test_levels_need_masses_and_a_tolerance_counts_atoms() -> None:
    exact, floats = Pmf.from_counts([0, 1], [1, 3]), Pmf([0, 1, 2], [0.25, 0.25, 0.5])
    assert level_tolerance(exact, floats) == 8 * 5 * 2.0**-53
    for pair in ((exact, floats), (floats, exact)):
        with pytest.raises(InputError, match="exact levels need exact masses"):
            exact_levels(*pair)


def test_tiny_tails_count_on_both_sides() -> None:
    p, q = Pmf([0, 1], [1 - 1e-30, 1e-30]), Pmf([0, 51], [1 - 1e-30, 1e-30])
    assert w_infinity(p, q) == 50 == w_infinity(p.scale(-1), q.scale(-1)) == monotone_coupling(p, q).largest_move
    assert w_infinity_candidates(p, q)[0] == 50


@given(float_laws(), float_laws())
def test_float_candidates_reach_the_exact_value(p: Pmf, q: Pmf) -> None:
    candidates = w_infinity_candidates(p, q)
    exact = w_infinity(*(Pmf(law.values, _exactly(law)) for law in (p, q)))
    assert list(candidates) == sorted(set(candidates))
    assert candidates[-1] >= exact
    assert w_infinity(p, q) in candidates
    assert monotone_coupling(p, q).largest_move == w_infinity(p, q)
    masses = monotone_coupling(p, q).mass
    assert masses.sum() == pytest.approx(1, abs=1e-9)


def test_float_moves_are_rounded_up() -> None:
    p, q = Pmf([0.1], [1]), Pmf([0.7], [1])
    assert Fraction(w_infinity(p, q)) >= Fraction(0.7) - Fraction(0.1)
    assert w_infinity(p, q) == pytest.approx(0.6)


@given(st.floats(-(10**6), 10**6), st.floats(-(10**6), 10**6))
def test_a_float_move_is_the_least_float_that_is_long_enough(x: float, y: float) -> None:
    move, exact = w_infinity(Pmf([x], [1]), Pmf([y], [1])), abs(Fraction(x) - Fraction(y))
    assert isinstance(move, float)
    assert Fraction(move) >= exact
    assert exact == 0 or Fraction(math.nextafter(move, 0)) < exact


def test_of_float_moves_that_look_alike_the_longest_counts() -> None:
    """1 - (-2^-60) and 3 - 2 are both 1.0 in floats."""
    p, q = Pmf.from_counts([1.0, 3.0], [1, 1]), Pmf.from_counts([-(2.0**-60), 2.0], [1, 1])
    for left, right in ((p, q), (q, p), (p.scale(-1), q.scale(-1))):
        assert Fraction(w_infinity(left, right)) >= 1 + Fraction(1, 2**60)
        assert Fraction(monotone_coupling(left, right).largest_move) >= 1 + Fraction(1, 2**60)


@pytest.mark.parametrize(("off", "reaches"), [(1.5, True), (2.5, False)])
def test_the_safe_candidate_lets_levels_within_two_tolerances_change_places(off: float, reaches: bool) -> None:
    tolerance, level = 2.0**-10, 0.25
    x, left = np.array([0, 1]), np.array([level, 0.75])
    before, after = level * (1 - off * tolerance), level * (1 + off * tolerance)
    # The atom 1 of p starts at the level where the atom -50 of q has just ended.
    assert _largest_safe(x, left, np.array([-50, 0, 1]), np.array([before, 0.4, 1]), tolerance) == 50 + reaches
    # The atom 0 of p ends at the level before the atom 50 of q starts.
    near, far = np.array([0, 50]), np.array([after, 1])
    assert _largest_safe(x[:1], left[:1], near, far, tolerance) == (50 if reaches else 0)


def test_each_half_looks_at_its_own_levels() -> None:
    whole = np.array([1.0])
    assert _largest_safe(np.array([0]), whole, np.array([0, 100]), np.array([0.6, 1.0]), 2.0**-40) == 0
    assert w_infinity_candidates(Pmf([0], [1.0]), Pmf([0, 100], [0.6, 0.4]))[-1] == 100


def test_partial_transport_of_masses_beyond_64_bits() -> None:
    p, q = Pmf.from_counts([0, 3], [10**30, 10**30]), Pmf.from_counts([0, 1, 3], [4 * 10**30, 3 * 10**30, 3 * 10**30])
    assert [unmatched_mass(p, q, w) for w in range(3)] == [Fraction(3, 10), Fraction(1, 5), 0]
    assert w_infinity(p, q, Fraction(1, 5)) == 1


@settings(max_examples=25)
@given(float_laws(atoms=12), float_laws(atoms=12))
def test_plan_costs_what_pot_says(p: Pmf, q: Pmf) -> None:
    cost = sum(float(abs(x - y)) * float(m) for x, y, m in monotone_coupling(p, q).items())
    theirs = ot.emd2_1d(
        p.values.astype(float), q.values.astype(float), p.probabilities.copy(), q.probabilities.copy(), "euclidean"
    )
    assert cost == pytest.approx(theirs, abs=1e-9)


@pytest.mark.mutants
def test_a_million_atoms() -> None:
    random = np.random.default_rng(7)
    size = 10**6
    left, right = random.integers(1, 100, size), random.integers(1, 100, size)
    p, q = Pmf.from_counts(np.arange(size), left), Pmf.from_counts(np.arange(size), right)
    plan = monotone_coupling(p, q)
    assert plan.largest_move == w_infinity(p, q)
    assert int(plan.masses.sum()) == plan.total
    floats = Pmf(p.values, p.probabilities), Pmf(q.values, q.probabilities)
    assert w_infinity(*floats) == w_infinity(p, q)


def _exactly(law: Pmf) -> list[Fraction]:
    masses = [Fraction(m) for _, m in law.items()]
    return [m / sum(masses) for m in masses]

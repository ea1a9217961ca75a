"""Families of dense laws with masses of any size, made by hand, against sums in mpmath."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.chain_oracles import largest_laplace_loss, w_infinity_of
from tests.support.strategies import laws_off_by

from takifugu.analysis.answer_laws.dense import DenseFamily
from takifugu.analysis.questions.compared import Compared
from takifugu.numbers.extended.floats import Wide, stack
from takifugu.numbers.search import smallest_noise

Mass = tuple[int, int]


def row(masses: list[Mass]) -> Wide:
    numbers, exponents = np.array(masses).T
    return Wide.of(numbers, exponents)


def family(first: list[Mass], second: list[Mass], step: int = 1, error: float = 0.0) -> DenseFamily:
    rows, starts = {0: (0,), 1: (1,)}, {0: (0,), 1: (0,)}
    return DenseFamily(0, ((0, 1), (1, 0)), rows, starts, stack([row(first), row(second)]), 0, step, error)


def compared(first: list[Mass], second: list[Mass], step: int = 1, error: float = 0.0) -> Compared:
    (both,) = family(first, second, step, error).compared
    return both


def law(masses: list[Mass], step: int = 1) -> dict[int, Fraction]:
    weights = {step * i: Fraction(m) * Fraction(2) ** e for i, (m, e) in enumerate(masses) if m}
    return {value: weight / sum(weights.values()) for value, weight in weights.items()}


masses = st.lists(st.tuples(st.integers(0, 9), st.integers(-3000, 0)), min_size=7, max_size=7).filter(
    lambda masses: any(m for m, _ in masses)
)


@settings(max_examples=60)
@given(masses, masses, st.sampled_from(["1/200", "1/7", "1", "40"]), st.sampled_from([1, 3]))
def test_noise_on_masses_far_below_float64(first: list[Mass], second: list[Mass], scale: str, step: int) -> None:
    p, q, b = law(first, step), law(second, step), Fraction(scale)
    (loss,) = family(first, second, step).losses(b)
    expected = largest_laplace_loss(p, q, b)
    assert expected <= loss <= expected + 1e-13 * (20 + expected)


@settings(max_examples=30)
@given(masses, masses, st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(20)]))
def test_scales_are_enough_and_the_smallest(first: list[Mass], second: list[Mass], epsilon: Fraction) -> None:
    one, p, q = compared(first, second), law(first), law(second)

    def loss(scale: Fraction) -> float:
        return largest_laplace_loss(p, q, scale)

    smallest, (move, wasserstein) = one.smallest_scale(epsilon), one.wasserstein(epsilon)
    assert loss(smallest) <= epsilon
    assert smallest <= Fraction(1, 100) or loss(smallest * Fraction(999, 1000)) > epsilon
    assert smallest <= wasserstein * (1 + Fraction(1, 10**10))
    assert loss(wasserstein) <= epsilon
    assert move <= one.reach


@settings(max_examples=30)
@given(masses, masses, st.sampled_from([1, 3]))
def test_losses_without_noise_and_the_farthest_atoms(first: list[Mass], second: list[Mass], step: int) -> None:
    laws, p, q = family(first, second, step), law(first, step), law(second, step)
    assert compared(first, second, step).reach == max(abs(x - y) for x in p for y in q)
    for one, other in ((laws, q), (family(first, first, step), p)):
        (loss,) = one.losses(Fraction(0))
        expected = largest_laplace_loss(p, other, 0)
        assert expected <= loss <= expected + 1e-13 * (20 + expected)


@settings(max_examples=20)
@given(st.data(), st.sampled_from([Fraction(1, 2), Fraction(2)]), st.sampled_from([Fraction(1, 8), Fraction(1, 64)]))
def test_what_is_promised_holds_for_laws_as_far_off_as_they_may_be(
    data: st.DataObject, epsilon: Fraction, error: Fraction
) -> None:
    (first, p), (second, q) = (data.draw(laws_off_by(error)) for _ in range(2))
    one, other = ([(int(10**6 * mass), 0) for mass in rounded.values()] for rounded in (first, second))
    laws, both = family(one, other, 1, float(error) + 1e-4), compared(one, other, 1, float(error) + 1e-4)

    def loss(scale: Fraction) -> float:
        return largest_laplace_loss(p, q, scale)

    for scale in (Fraction(0), Fraction(1, 3), Fraction(2)):
        assert loss(scale) <= laws.losses(scale)[0] <= loss(scale) + 5 * error
    if laws.losses(Fraction(5) / epsilon)[0] <= epsilon:
        assert loss(both.smallest_scale(epsilon)) <= epsilon
        assert loss(both.wasserstein(epsilon)[1]) <= epsilon


def test_laws_that_are_one_up_to_their_errors_lose_what_these_may_hide() -> None:
    (loss,) = family([(1, 0), (1, 0)], [(1, 0), (1, 0)], 1, 0.1).losses(Fraction(0))
    assert math.log(1.1 / 0.9) <= loss <= 0.22 + 1e-12


def test_a_proposed_move_that_ignores_mass_which_matters_does_not_stand() -> None:
    # Levels that differ by 1e-10 of the mass may count as equal in a proposal (move 1), but here they matter.
    half, tiny = 2**40, 200
    first = [(half, 0), *[(0, 0)] * 24, (tiny, 0), *[(0, 0)] * 24, (half, 0), (0, 0)]
    second = [(half, 0), *[(0, 0)] * 50, (half, 0)]
    laws = compared(first, second)
    assert laws.moves()[0] == 1
    assert laws.loss(Fraction(1)) > 1.5
    move, scale = laws.wasserstein(Fraction(1))
    assert move == w_infinity_of(law(first), law(second)) == 26
    assert scale >= move


@pytest.mark.parametrize("epsilon", [Fraction(1, 7), Fraction(3)])
def test_a_shift_needs_just_more_than_its_length_where_masses_are_rounded(epsilon: Fraction) -> None:
    masses = [(3, 0), (1, 0), (2, 0)]
    laws = compared([*masses, (0, 0), (0, 0)], [(0, 0), (0, 0), *masses], error=1e-12)
    move, scale = laws.wasserstein(epsilon)
    assert (move, laws.reach) == (2, 4)
    assert 2 / epsilon < scale <= 2 / epsilon * (1 + Fraction(1, 10**9))


def test_equal_laws_need_no_noise() -> None:
    same = [(1, 0), (2, -5)]
    assert compared(same, same).smallest_scale(Fraction(1)) == 0
    assert compared(same, same).wasserstein(Fraction(1)) == (0, Fraction(0))
    point = compared([(1, 0), (0, 0)], [(1, 0), (0, 0)])
    assert (point.reach, point.smallest_scale(Fraction(1))) == (0, 0)


@pytest.mark.parametrize("power", [1, 3])
def test_the_search_stops_on_the_safe_side(power: int) -> None:
    calls = []

    def loss(scale: Fraction) -> float:
        calls.append(scale)
        return 3 / float(scale) ** power if scale else float("inf")

    scale = smallest_noise(loss, Fraction(2), Fraction(1000), Fraction(1, 100))
    assert 0 <= float(scale) / 1.5 ** (1 / power) - 1 < 2**-36
    assert loss(scale) <= 2
    assert len(calls) < 40


def test_the_search_gives_up_below_the_smallest_scale() -> None:
    scale = smallest_noise(lambda b: 1.0 if b else 3.0, Fraction(2), Fraction(1000), Fraction(1, 100))
    assert 0 < scale <= Fraction(1, 100) * (1 + Fraction(1, 2**36))

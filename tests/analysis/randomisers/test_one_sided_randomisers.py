"""One-sided randomisers: masses from the definition in mpmath, one-way losses, draws that never err towards danger."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.goodness_of_fit import fits
from tests.support.laws_oracles import laplace_below

from takifugu.analysis.randomisers import Direction
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.audit.noise_masses import cell_mass
from takifugu.core.errors import DataError, InputError, Unsupported
from takifugu.numbers.noise import InsecureSeededEntropyForTests, SystemEntropy

F = Fraction
UP, DOWN, EITHER = Direction.UP, Direction.DOWN, Direction.EITHER
units = st.builds(F, st.integers(1, 60), st.integers(1, 12))
moves = st.sampled_from([UP, DOWN, EITHER])


def definition(noise: Any, answer: Fraction, output: int) -> Any:
    """P(output | answer) of one cell in grid units, integrated or summed from the printed densities (E5, N5)."""
    with mpmath.workdps(50):
        u = mpmath.mpf(noise.units.numerator) / noise.units.denominator
        a, x = mpmath.exp(-1 / u), mpmath.mpf(answer.numerator) / answer.denominator
        (move,) = noise.moves
        if noise.kind == "one-sided-exponential":
            if move is EITHER:
                return laplace_below((output + 0.5 - x) / u) - laplace_below((output - 0.5 - x) / u)
            low, high = (output - 1 - x, output - x) if move is DOWN else (x - output - 1, x - output)
            return mpmath.quad(lambda e: mpmath.exp(-e / u) / u, [max(low, 0), max(high, 0)])
        if move is EITHER:
            return (1 - a) / (1 + a) * a ** abs(output - x)
        distance = output - x if move is DOWN else x - output
        if distance < 0:
            return mpmath.mpf(0)
        if noise.kind == "one-sided-truncated":
            end = noise.most if move is DOWN else 0
            if output == end:
                return a**distance
            if not 0 <= output <= noise.most:
                return mpmath.mpf(0)
        return (1 - a) * a**distance


@st.composite
def noises(draw: st.DrawFn) -> Any:
    u, grid, move = draw(units), draw(st.sampled_from([F(1), F(1, 10), F(7)])), (draw(moves),)
    law = draw(st.sampled_from([OneSidedGeometric, OneSidedTruncated, OneSidedExponential]))
    if law is OneSidedTruncated:
        return law(u, grid, 1, (draw(st.sampled_from([UP, DOWN])),), draw(st.integers(1, 12)))
    return law(u, grid, 1, move)


@given(noises(), st.integers(0, 12), st.integers(-25, 40), st.fractions(-1, 1, max_denominator=9))
@settings(max_examples=150, deadline=None)
def test_masses_are_those_of_the_definition(noise: Any, answer: int, output: int, part: Fraction) -> None:
    x = F(min(answer, getattr(noise, "most", 12)))
    if noise.kind == "one-sided-exponential":
        x += part
    true, computed = definition(noise, x, output), noise.log_density([x], [output * noise.grid])
    if true < mpmath.mpf(10) ** -40:
        assert computed < math.log(1e-30)
    else:
        assert computed == pytest.approx(float(mpmath.log(true)), rel=1e-9, abs=1e-10)
    with mpmath.workdps(50):
        assert cell_mass(noise)(output, x) == pytest.approx(true, rel=1e-20, abs=1e-40)


@given(noises(), st.integers(0, 6), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_the_loss_is_the_largest_log_ratio_of_the_law_one_way_and_nothing_bounds_the_other(
    noise: Any, answer: int, step: int
) -> None:
    low, high = answer, answer + step
    most = getattr(noise, "most", 50)
    if high > most:
        return
    for direction, (left, right) in ((DOWN, (high, low)), (UP, (low, high))):
        ratios = [
            noise.log_density([left], [y * noise.grid]) - noise.log_density([right], [y * noise.grid])
            for y in range(-60, 61)
            if noise.log_density([left], [y * noise.grid]) > -math.inf
        ]
        loss = noise.loss(step * noise.grid, direction)
        assert max(ratios) <= loss + 1e-9
        if step == 0:
            assert loss == 0
        elif noise.moves[0] in (direction, EITHER):
            assert loss == step / noise.units
            assert noise.kind == "one-sided-truncated" or max(ratios) == pytest.approx(float(loss))
        else:
            assert max(ratios) == loss == math.inf
        assert noise.loss(step * noise.grid) >= loss


@given(units, units, st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_corollary_v5_the_mean_of_both_laws(u: Fraction, grid: Fraction, cells: int) -> None:
    """E|ALap - f| = Delta / epsilon before rounding, and 1 / (e^(epsilon / Delta) - 1) steps for the geometric law."""
    whole = OneSidedGeometric(u, grid, cells)
    assert whole.expected_error() == pytest.approx(cells * float(grid) / math.expm1(float(1 / u)))
    real = OneSidedExponential(u, grid, cells, on_grid=False)
    assert real.expected_error() == pytest.approx(cells * float(u * grid + grid / 2))
    fine = OneSidedExponential(u * 10**9, F(1, 10**9), 1, on_grid=False)
    assert fine.expected_error() == pytest.approx(float(u), rel=1e-6)


@given(noises())
@settings(max_examples=60, deadline=None)
def test_errors_are_those_of_the_law(noise: Any) -> None:
    answers = [0] if noise.kind != "one-sided-truncated" else [0, noise.most // 2, noise.most]
    reach = min(1200, int(60 * noise.units) + 60)
    if noise.units > 15:
        return
    moments = []
    for x in answers:
        masses = {y: math.exp(noise.log_density([x], [y * noise.grid])) for y in range(-reach, reach + 1)}
        assert math.fsum(masses.values()) == pytest.approx(1, abs=1e-9)
        moments.append([math.fsum(p * abs(y - x) ** k for y, p in masses.items()) for k in (1, 2)])
    grid = float(noise.grid)
    assert noise.expected_error() == pytest.approx(grid * max(first for first, _ in moments), rel=1e-7, abs=1e-12)
    assert noise.variance() == pytest.approx(grid**2 * max(second for _, second in moments), rel=1e-7, abs=1e-12)


@given(noises(), st.sampled_from([0.5, 0.9, 0.999]), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_half_widths_are_the_least_that_hold(noise: Any, level: float, cells: int) -> None:
    steps = int(noise.half_width(level, cells) / noise.grid)
    answers = range(noise.most + 1) if noise.kind == "one-sided-truncated" else [0]

    def within(h: int) -> float:
        return min(float(sum(definition(noise, F(x), y) for y in range(x - h, x + h + 1))) for x in answers) ** cells

    assert within(steps) >= level * (1 - 1e-9)
    assert steps == 0 or within(steps - 1) < level * (1 + 1e-9)


@pytest.mark.mutants
def test_off_the_grid_a_half_width_holds_for_every_answer() -> None:
    noise = OneSidedExponential(F(3), F(1), on_grid=False)
    steps = int(noise.half_width(0.9))
    parts = [F(k, 10) for k in range(1, 11)]
    worst = [float(sum(definition(noise, x, y) for y in range(1, steps + 1) if y - x <= steps)) for x in parts]
    assert min(worst) >= 0.9
    assert min(worst) < 0.93
    assert OneSidedExponential(F(3), F(1)).half_width(0.9) == steps - 1


KINDS = [
    OneSidedGeometric(F(2), F(1, 2), 3, (DOWN, UP, EITHER)),
    OneSidedTruncated(F(2), F(1, 2), 3, (DOWN, UP, DOWN), 6),
    OneSidedExponential(F(2), F(1, 2), 3, (DOWN, UP, EITHER)),
]


@pytest.mark.mutants
@pytest.mark.parametrize("noise", KINDS)
def test_cells_that_move_differently_have_their_own_law_and_draws_follow_it(noise: Any) -> None:
    answer, draws, entropy = (3, 4, 2), 6000, InsecureSeededEntropyForTests(2)
    seen = [Counter[Fraction]() for _ in range(3)]
    many = replace(noise, cells=3 * draws, moves=noise.moves * draws).draw(answer * draws, entropy)
    for first in range(0, 3 * draws, 3):
        output = many[first : first + 3]
        assert noise.log_density(answer, output) > -math.inf
        assert output[0] >= answer[0] * noise.grid
        assert output[1] <= answer[1] * noise.grid
        for cell, y in enumerate(output):
            seen[cell][y] += 1
    for cell in range(3):
        masses = [float(definition(noise.cell(cell), F(answer[cell]), y)) for y in range(-20, 30)]
        right, shifted = ({(y + step) * noise.grid: mass for y, mass in enumerate(masses, -20)} for step in (0, 1))
        assert fits(seen[cell], right, draws)
        assert not fits(seen[cell], shifted, draws)
    parts = [noise.cell(c).log_density([answer[c]], [output[c]]) for c in range(3)]
    assert noise.log_density(answer, output) == pytest.approx(sum(parts))
    assert noise.expected_error() == pytest.approx(sum(noise.cell(c).expected_error() for c in range(3)))
    assert noise.half_width(0.9) == max(noise.cell(c).half_width(0.9, 3) for c in range(3))
    for direction in Direction:
        assert noise.loss(F(1), direction) == math.inf


def test_answers_off_the_grid_are_rounded_away_from_the_danger() -> None:
    entropy = SystemEntropy()
    up, down = OneSidedExponential(F(1, 100), F(1)), OneSidedExponential(F(1, 100), F(1), 1, (UP,))
    assert {up.draw([F(27, 5)], entropy)[0] for _ in range(300)} <= {6, 7}
    assert {down.draw([F(27, 5)], entropy)[0] for _ in range(300)} <= {5, 4}
    assert up.log_density([F(27, 5)], [F(5)]) == down.log_density([F(27, 5)], [F(6)]) == -math.inf


@pytest.mark.sampled(9)
@pytest.mark.parametrize("noise", [OneSidedGeometric(F(2), F(1), 1, (m,)) for m in (UP, DOWN, EITHER)]
                         + [OneSidedTruncated(F(2), F(1), 1, (m,), 9) for m in (UP, DOWN)]
                         + [OneSidedExponential(F(2), F(1), 1, (m,)) for m in (UP, DOWN, EITHER)])  # fmt: skip
def test_a_column_is_drawn_as_its_answers_would_be_one_by_one(noise: Any) -> None:
    answers = np.array([2, 5] * 20_000, dtype=np.uint8)
    drawn = noise.draw_column(answers, InsecureSeededEntropyForTests(3))
    assert len(drawn) == len(answers)
    for answer in (2, 5):
        mine = drawn[answers == answer]
        masses = {y: float(definition(noise, F(answer), y)) for y in range(-10, 20)}
        assert fits(Counter(mine.tolist()), masses, len(mine))


def test_a_column_of_cells_that_differ_is_refused() -> None:
    with pytest.raises(InputError, match="one way"):
        KINDS[0].draw_column(np.array([1]), SystemEntropy())
    for wrong in ([0.5], [[1]], ["a"]):
        with pytest.raises(InputError, match="whole steps of the grid"):
            OneSidedGeometric(F(2), F(1)).draw_column(np.array(wrong), SystemEntropy())


def test_what_they_are_not_asked() -> None:
    for noise in KINDS:
        with pytest.raises(Unsupported, match="no unbounded two-sided noise"):
            noise.log_reach(F(1))
        assert noise.laplace_scale is None
        assert not noise.hides(F(1), F(100), F(0))


def test_an_answer_beyond_its_public_range_is_refused_without_a_word_about_it() -> None:
    noise = OneSidedTruncated(F(1), F(1), 2, (DOWN,), 10)
    for answer in ([3, 11], [-1, 3]):
        with pytest.raises(DataError, match="outside its public range") as refusal:
            noise.draw(answer, SystemEntropy())
        assert "11" not in str(refusal.value)
    with pytest.raises(DataError, match="outside its public range"):
        noise.draw_column(np.array([11]), SystemEntropy())


@pytest.mark.parametrize("make", [
    lambda: OneSidedGeometric(F(0), F(1)), lambda: OneSidedGeometric(F(1), F(0)),
    lambda: OneSidedGeometric(F(1), F(1), 3, (DOWN, UP)), lambda: OneSidedTruncated(F(1), F(1), 1, (DOWN,), 0),
    lambda: OneSidedTruncated(F(1), F(1), 1, (EITHER,), 3), lambda: OneSidedGeometric(F(1), F(1), 1, ("down",)),
    lambda: OneSidedGeometric(F(1), F(1)).draw([1, 2], SystemEntropy()),
    lambda: OneSidedGeometric(F(1), F(1)).draw([F(1, 2)], SystemEntropy()),
    lambda: OneSidedGeometric(F(1), F(1)).half_width(1.0),
])  # fmt: skip
def test_bad_input(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_numbers_beyond_64_bits() -> None:
    for noise in (OneSidedGeometric(F(2), F(1), 2, (DOWN, UP)), OneSidedExponential(F(2), F(1), 2, (DOWN, UP))):
        above, below = noise.draw((2**63 - 1, -(2**70)), SystemEntropy())
        assert 2**63 - 1 <= above < 2**63 + 200
        assert -(2**70) - 200 < below <= -(2**70)

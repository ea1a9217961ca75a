"""Randomisers: their laws against their draws and against mpmath, errors, intervals, plain forms, bad input."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.goodness_of_fit import fits
from tests.support.laws_oracles import laplace_below

from takifugu.analysis.randomisers import (
    KINDS,
    LABEL,
    NUMBER,
    ONE_SIDED,
    PARTS,
    Base,
    Direction,
    DiscreteLaplace,
    Exact,
    Kind,
    Randomiser,
    RoundedLaplace,
    RoundedNormal,
    answered,
    from_dict,
    laplace_or_exact,
    register,
)
from takifugu.analysis.randomisers.choices import ChannelChoice
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric
from takifugu.core.errors import InputError, Unsupported
from takifugu.numbers.distributions.channel import Channel
from takifugu.numbers.noise import InsecureSeededEntropyForTests, SystemEntropy

scales = st.builds(Fraction, st.integers(1, 400), st.integers(1, 40))
grids = st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(3, 7), Fraction(50)])


@st.composite
def randomisers(draw: st.DrawFn) -> DiscreteLaplace | RoundedLaplace | RoundedNormal:
    law = draw(st.sampled_from([DiscreteLaplace, RoundedLaplace, RoundedNormal]))
    scale, grid = draw(scales), draw(grids)
    return law(scale if law is DiscreteLaplace else scale * grid, grid, draw(st.integers(1, 5)))


def mass(noise: Randomiser, difference: Fraction) -> Any:
    """P(output - answer = difference) of one cell in grid units, in mpmath, from the definition of each noise."""
    with mpmath.workdps(60):
        ratio = mpmath.mpf(noise.scale.numerator) / noise.scale.denominator / (
            mpmath.mpf(noise.grid.numerator) / noise.grid.denominator
        )  # fmt: skip
        step = mpmath.mpf(difference.numerator) / difference.denominator
        if noise.kind == "discrete-laplace":
            a = mpmath.exp(-1 / ratio)
            return (1 - a) / (1 + a) * a ** abs(step)
        cdf = mpmath.ncdf if noise.kind == "rounded-normal" else laplace_below
        near, far = (abs(step) - 0.5) / ratio, (abs(step) + 0.5) / ratio
        return cdf(-near) - cdf(-far)


@given(randomisers(), st.integers(-300, 300))
@settings(max_examples=150)
def test_masses_are_those_of_the_definition(noise: Any, step: int) -> None:
    true = mass(noise, Fraction(step))
    if true > mpmath.mpf(10) ** -300:
        assert noise.log_mass(step) == pytest.approx(float(mpmath.log(true)), rel=1e-9, abs=1e-11)


@given(st.sampled_from([RoundedLaplace, RoundedNormal]), scales, st.fractions(-20, 20, max_denominator=50))
def test_masses_around_an_answer_off_the_grid(law: Any, scale: Fraction, difference: Fraction) -> None:
    noise = law(scale, Fraction(1))
    true = mass(noise, difference)
    if true > mpmath.mpf(10) ** -300:
        assert noise.log_mass(difference) == pytest.approx(float(mpmath.log(true)), rel=1e-9, abs=1e-11)


@pytest.mark.mutants
@given(st.builds(Fraction, st.integers(1, 60), st.integers(1, 9)), st.sampled_from([DiscreteLaplace, RoundedLaplace]))
def test_masses_add_up_to_one_and_give_the_expected_error(units: Fraction, law: Any) -> None:
    add_up(law(units, Fraction(1)), math.ceil(60 * units) + 60)


@pytest.mark.parametrize("sigma", [Fraction(1, 5), Fraction(3), Fraction(250)])
def test_normal_masses_add_up_to_one_and_give_the_expected_error(sigma: Fraction) -> None:
    add_up(RoundedNormal(sigma, Fraction(1)), math.ceil(12 * sigma) + 3)


def add_up(noise: Any, reach: int) -> None:
    masses = {k: math.exp(noise.log_mass(k)) for k in range(-reach, reach + 1)}
    assert math.fsum(masses.values()) == pytest.approx(1, abs=1e-12)
    assert math.fsum(p * abs(k) for k, p in masses.items()) == pytest.approx(noise.expected_error())
    assert math.fsum(p * k * k for k, p in masses.items()) == pytest.approx(noise.variance())


def test_errors_add_over_cells_and_scale_with_the_grid() -> None:
    one, four = DiscreteLaplace(Fraction(5), Fraction(1)), DiscreteLaplace(Fraction(5), Fraction(1, 10), 4)
    assert four.expected_error() == pytest.approx(one.expected_error() * 4 / 10)
    assert four.variance() == pytest.approx(one.variance() / 100)
    assert four.scale == Fraction(1, 2)


def test_far_masses_do_not_vanish() -> None:
    assert DiscreteLaplace(Fraction(1, 10), Fraction(1)).log_mass(1000) == pytest.approx(-10_000)
    assert RoundedLaplace(Fraction(1, 10), Fraction(1)).log_mass(1000) < -9_990
    assert RoundedNormal(Fraction(1), Fraction(1)).log_mass(100) == pytest.approx(-0.5 * 99.5**2, rel=1e-2)
    assert DiscreteLaplace(Fraction(1, 2000), Fraction(1)).expected_error() == 0.0


@given(randomisers(), st.sampled_from([0.5, 0.9, 0.95, 0.999]), st.integers(1, 30))
@settings(max_examples=60)
def test_half_widths_are_the_least_that_hold_in_all_cells(noise: Any, level: float, cells: int) -> None:
    width = noise.half_width(level, cells)
    steps = int(width / noise.grid)
    assert steps * noise.grid == width

    def all_within(h: int) -> Any:
        with mpmath.workdps(40):
            return (1 - 2 * mpmath.fsum(tail(noise, h))) ** cells

    assert all_within(steps) >= level * (1 - 1e-12)
    assert steps == 0 or all_within(steps - 1) < level * (1 + 1e-12)


def tail(noise: Randomiser, h: int) -> list[Any]:
    """P(output - answer > h) of one cell, in closed form."""
    with mpmath.workdps(40):
        ratio = mpmath.mpf((noise.scale / noise.grid).numerator) / (noise.scale / noise.grid).denominator
        if noise.kind == "discrete-laplace":
            return [mpmath.exp(-(h + 1) / ratio) / (1 + mpmath.exp(-1 / ratio))]
        z = (h + mpmath.mpf(1) / 2) / ratio
        return [mpmath.ncdf(-z) if noise.kind == "rounded-normal" else mpmath.exp(-z) / 2]


def test_half_widths_take_the_randomisers_own_cells() -> None:
    noise = DiscreteLaplace(Fraction(10), Fraction(1), 6)
    assert noise.half_width(0.95) == noise.half_width(0.95, cells=6) > noise.half_width(0.95, cells=1)


@given(randomisers(), st.builds(Fraction, st.integers(0, 300), st.integers(1, 10)))
def test_reach_is_the_tail_before_rounding(noise: Any, distance: Fraction) -> None:
    with mpmath.workdps(40):
        ratio = mpmath.mpf(noise.scale.numerator) / noise.scale.denominator
        z = mpmath.mpf(distance.numerator) / distance.denominator / ratio
        if distance == 0:
            true = mpmath.mpf(1)
        elif noise.kind == "discrete-laplace":
            true = 2 * tail(noise, math.ceil(distance / noise.grid) - 1)[0]
        else:
            true = 2 * mpmath.ncdf(-z) if noise.kind == "rounded-normal" else mpmath.exp(-z)
        assert noise.log_reach(distance) == pytest.approx(float(mpmath.log(true)), rel=1e-9, abs=1e-9)


@pytest.mark.mutants
@pytest.mark.parametrize("noise", [
    DiscreteLaplace(Fraction(2), Fraction(1, 2), 2),
    RoundedLaplace(Fraction(1), Fraction(1, 2), 2),
    RoundedNormal(Fraction(1), Fraction(1, 2), 2),
])  # fmt: skip
def test_draws_follow_the_masses(noise: Any) -> None:
    entropy = InsecureSeededEntropyForTests(5)
    answer = (3, -4)
    seen = [Counter[int](), Counter[int]()]
    draws = 2000
    for _ in range(draws):
        output = noise.draw(answer, entropy)
        assert noise.log_density(answer, output) > -math.inf
        for of_cell, x, y in zip(seen, answer, output, strict=True):
            of_cell[int(y / noise.grid) - x] += 1
    for of_cell in seen:
        assert fits(of_cell, {k: math.exp(noise.log_mass(k)) for k in range(-6, 7)}, draws)
        assert not fits(of_cell, dict.fromkeys(range(-6, 7), 1 / 13), draws)


def test_rounded_draws_take_any_real_centre_and_land_on_the_grid() -> None:
    noise = RoundedLaplace(Fraction(1), Fraction(1, 4))
    entropy = InsecureSeededEntropyForTests(2)
    outputs = [noise.draw((Fraction(1, 3),), entropy)[0] for _ in range(300)]
    assert all((y / noise.grid).denominator == 1 for y in outputs)
    assert abs(float(sum(outputs)) / 300 - 1 / 12) < 0.5


def test_exact_answers_are_what_they_are() -> None:
    noise = Exact(Fraction(1, 4), 2)
    assert noise.draw((3, -1), SystemEntropy()) == (Fraction(3, 4), Fraction(-1, 4))
    assert (noise.scale, noise.expected_error(), noise.half_width(0.99)) == (0, 0.0, 0)
    assert noise.log_density((3, -1), (Fraction(3, 4), Fraction(-1, 4))) == 0
    assert noise.log_density((3, -1), (Fraction(3, 4), Fraction(0))) == -math.inf
    assert (noise.log_reach(Fraction(0)), noise.log_reach(Fraction(1))) == (0, -math.inf)


def test_outputs_off_the_grid_are_impossible() -> None:
    assert DiscreteLaplace(Fraction(1), Fraction(1)).log_density((0,), (Fraction(1, 2),)) == -math.inf
    assert DiscreteLaplace(Fraction(1), Fraction(1)).log_mass(Fraction(1, 2)) == -math.inf


def test_rounded_noise_has_a_density_at_answers_off_the_grid() -> None:
    noise = RoundedLaplace(Fraction(2), Fraction(1))
    assert noise.log_density((Fraction(1, 3),), (Fraction(2),)) == noise.log_mass(Fraction(5, 3))


def test_no_scale_means_no_noise() -> None:
    assert laplace_or_exact(Fraction(0), Fraction(1), 3) == Exact(Fraction(1), 3)
    assert laplace_or_exact(Fraction(2), Fraction(1), 3) == DiscreteLaplace(Fraction(2), Fraction(1), 3)


@pytest.mark.parametrize(("make", "says"), [
    (lambda: DiscreteLaplace(Fraction(0), Fraction(1)), "above 0"),
    (lambda: RoundedLaplace(Fraction(-1), Fraction(1)), "above 0"),
    (lambda: RoundedNormal(Fraction(1), Fraction(0)), "above 0"),
    (lambda: Exact(Fraction(1), 0), "whole number"),
    (lambda: Exact(Fraction(1), True), "whole number"),
    (lambda: from_dict({"kind": "discrete-laplac"}), "did you mean 'discrete-laplace'"),
    (lambda: DiscreteLaplace(Fraction(1), Fraction(1)).half_width(1.0), "below 1"),
    (lambda: DiscreteLaplace(Fraction(1), Fraction(1)).half_width(0), "above 0"),
    (lambda: DiscreteLaplace(Fraction(1), Fraction(1)).half_width(float("nan")), "below 1"),
    (lambda: DiscreteLaplace(Fraction(1), Fraction(1)).draw((1, 2), SystemEntropy()), "2 cells"),
])  # fmt: skip
def test_bad_input_says_what_to_write(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_answers_are_never_repeated_in_messages() -> None:
    for noise in (DiscreteLaplace(Fraction(1), Fraction(1)), Exact(Fraction(1))):
        with pytest.raises(InputError) as caught:
            noise.draw((Fraction(12345, 7),), SystemEntropy())
        assert "12345" not in str(caught.value)


F = Fraction
FLIP = ChannelChoice(Channel.of([0, 1], [0, 1], [[F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]]), F(1), (0.5, 0.5))
LAPLACE = [DiscreteLaplace(F(3), F(1, 2)), RoundedLaplace(F(3, 2), F(1, 2))]


@pytest.mark.parametrize("noise", LAPLACE)
def test_the_loss_of_laplace_noise_is_the_largest_log_ratio_of_its_law(noise: Any) -> None:
    for steps in range(4):
        ratios = [noise.log_density([0], [y * noise.grid]) - noise.log_density([steps], [y * noise.grid])
                  for y in range(-60, 61)]  # fmt: skip
        for direction in Direction:
            assert float(noise.loss(steps * noise.grid, direction)) == pytest.approx(max(ratios), abs=1e-9)


def test_a_loss_is_nothing_without_a_change_and_infinite_where_nothing_bounds_it() -> None:
    for noise in (*LAPLACE, Exact(F(1)), RoundedNormal(F(2), F(1)), FLIP):
        assert noise.loss(F(0)) == 0
    assert Exact(F(1)).loss(F(1)) == math.inf
    assert RoundedNormal(F(2), F(1)).loss(F(1)) == math.inf
    assert float(FLIP.loss(F(1))) == pytest.approx(math.log(3))
    assert FLIP.loss(F(1)) >= math.log(3) * (1 - 1e-12)


def test_what_a_change_is_hidden_by() -> None:
    assert DiscreteLaplace(F(2), F(1)).hides(F(2), F(1), F(0))
    assert not DiscreteLaplace(F(2), F(1)).hides(F(3), F(1), F(0))
    assert RoundedNormal(F(10), F(1)).hides(F(1), F(1), F(1, 100))
    assert not RoundedNormal(F(1, 10), F(1)).hides(F(1), F(1), F(1, 100))
    assert FLIP.hides(F(1), F(11, 10), F(0))
    assert not FLIP.hides(F(1), F(1), F(0))


@pytest.mark.parametrize("noise", [*LAPLACE, RoundedNormal(F(2), F(1, 2)), Exact(F(1, 2)), FLIP])
def test_a_column_is_drawn_as_its_answers_would_be_one_by_one(noise: Any) -> None:
    answers = np.array([0, 1] * 20_000)
    drawn = noise.draw_column(answers, InsecureSeededEntropyForTests(3))
    assert (len(drawn), drawn.dtype) == (len(answers), np.int64)
    for answer in (0, 1):
        mine = drawn[answers == answer]
        masses = {y: math.exp(noise.log_density([answer], [y * noise.grid])) for y in range(-6, 8)}
        assert fits(Counter(mine.tolist()), masses, len(mine))


def test_a_column_keeps_numbers_beyond_64_bits() -> None:
    huge = np.array([2**63, -(2**70), 5], dtype=object)
    for noise in (DiscreteLaplace(F(2), F(1)), RoundedLaplace(F(2), F(1)), Exact(F(1))):
        drawn = noise.draw_column(huge, InsecureSeededEntropyForTests(1))
        assert all(abs(int(y) - x) < 100 for x, y in zip(huge.tolist(), drawn.tolist(), strict=True))
    near = np.array([2**63 - 1] * 50)
    assert all(abs(int(y) - int(near[0])) < 100 for y in DiscreteLaplace(F(2), F(1)).draw_column(near, SystemEntropy()))


def test_a_column_is_whole_numbers() -> None:
    for wrong in ([0.5], [[1]], ["a"]):
        with pytest.raises(InputError, match="whole steps of the grid"):
            LAPLACE[0].draw_column(np.array(wrong), SystemEntropy())
    between = np.array([F(1, 2), F(2)], dtype=object)
    for noise in (DiscreteLaplace(F(2), F(1)), Exact(F(1)), OneSidedGeometric(F(2), F(1))):
        with pytest.raises(InputError, match="not a multiple of the grid"):
            noise.draw_column(between, SystemEntropy())


@pytest.mark.parametrize(("output", "value"), [
    (NUMBER, F(-7, 3)), (LABEL, "yes, 3"), (PARTS, (F(1, 3), F(2))), (PARTS, ((F(1), F(2)), (F(3), F(4)))),
    (PARTS, ()), (ONE_SIDED, None), (ONE_SIDED, F(5)),
])  # fmt: skip
def test_every_type_of_output_reads_back_from_its_text(output: Any, value: Any) -> None:
    assert output.read(output.write(value)) == value


def test_a_question_may_have_a_reason_instead_of_an_answer() -> None:
    class Label(Base):
        kind = "label"  # type: ignore[assignment]
        output = LABEL

    questions: list[Any] = [
        lambda: Label().scale, Label().expected_error, Label().variance, lambda: Label().half_width(0.95),
        lambda: Label().log_reach(F(1)),
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(Unsupported, match="label"):
            question()
    assert answered(Label().variance) is None
    assert (Label().laplace_scale, Label().loss(F(1)), Label().loss(F(0))) == (None, math.inf, 0)


def test_a_kind_registers_once() -> None:
    register("test-flip", Kind(lambda data: FLIP, "a flip", "a coin decides"))
    assert from_dict({"kind": "test-flip"}) is FLIP
    for taken in ("test-flip", "channel"):
        with pytest.raises(InputError, match="registered already"):
            register(taken, KINDS.find("channel"))

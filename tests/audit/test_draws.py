"""The G-test of draws: its p-values under the law itself, and what it must notice."""

import math
from dataclasses import replace
from fractions import Fraction as F
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from takifugu.analysis.randomisers import Direction, DiscreteLaplace, Exact, RoundedLaplace, RoundedNormal
from takifugu.analysis.randomisers.one_sided import OneSidedGeometric, OneSidedTruncated, Whole
from takifugu.analysis.randomisers.one_sided_real import OneSidedExponential
from takifugu.analysis.randomisers.selection import PermuteAndFlip
from takifugu.audit.draws import LEAST, fit
from takifugu.audit.noise_masses import DIGITS, LOST, cell_mass, cell_tail, places, places_near, places_of_mass
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.queries.choices.candidates import MostFrequent
from takifugu.numbers.noise import InsecureSeededEntropyForTests

UP, DOWN = (Direction.UP,), (Direction.DOWN,)
#: A randomiser, an answer in grid units, and the field that is its scale.
NOISES: tuple[tuple[Any, tuple[Any, ...], str], ...] = (
    (DiscreteLaplace(F(3), F(1, 2), 2), (0, 7), "units"),
    (RoundedLaplace(F(2), F(1, 2)), (3,), "scale"),
    (RoundedLaplace(F(2), F(1), 1, on_grid=False), (F(7, 3),), "scale"),
    (RoundedNormal(F(2), F(1)), (F(1, 3),), "scale"),
    (OneSidedGeometric(F(3), F(1), 2, DOWN), (4, 0), "units"),
    (OneSidedGeometric(F(3), F(1), 1, UP), (4,), "units"),
    (OneSidedTruncated(F(3), F(1), 1, DOWN, 9), (4,), "units"),
    (OneSidedTruncated(F(3), F(1), 1, UP, 9), (4,), "units"),
    (OneSidedExponential(F(3), F(1), 1, DOWN), (F(5, 2),), "units"),
    (SafeCells(F(2), F(1), 2, (1,), 1, F(2)), (2, 1), "units"),
    (PermuteAndFlip(F(2), ("a", "b", "c"), MostFrequent(2)), (3, 2, 0, 0), "units"),
)  # fmt: skip


def draws(noise: Any, answer: Any, count: int = 2000) -> list[Any]:
    entropy = InsecureSeededEntropyForTests(7)
    return [noise.draw(answer, entropy) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("noise", "answer", "field"), NOISES)
def test_draws_follow_their_law_and_halved_noise_does_not(noise: Any, answer: Any, field: str) -> None:
    good = fit(noise, answer, draws(noise, answer))
    assert good.draws == 2000
    assert good.p > 1e-3
    halved = replace(noise, **{field: getattr(noise, field) / 2})
    assert fit(noise, answer, draws(halved, answer)).p < 1e-6


@settings(max_examples=60)
@given(
    st.sampled_from([noise for noise, *_ in NOISES[:9]]), st.lists(st.fractions(0, 9, max_denominator=3), min_size=2)
)
def test_outputs_that_are_looked_at_have_every_ratio_and_nearly_all_mass(noise: Any, atoms: list[F]) -> None:
    part = noise.cell(0) if hasattr(noise, "cell") else noise
    xs = [F(round(x)) if isinstance(part, DiscreteLaplace | Whole) else x for x in atoms[:3]]
    with mp.workdps(DIGITS):
        mass = cell_mass(part)
        for x in xs:
            assert mp.fsum(mass(y, x) for y in places_of_mass(part, xs)) >= 1 - 2 * mp.mpf(LOST)
        if isinstance(part, RoundedNormal):
            return  # its ratios grow without end

        def largest(outputs: Any) -> list[Any]:
            ratios = [[mass(y, x) / mass(y, z) if mass(y, z) else mp.inf for y in outputs if mass(y, x)]
                      for x, z in permutations(xs, 2)]  # fmt: skip
            return list(map(max, ratios))

        every = largest(range(-30, 40))
        for outputs in (places(part, xs), places_near(part, xs)):
            assert largest(outputs) == pytest.approx(every, rel=1e-30)


@pytest.mark.parametrize(("noise", "answer", "field"), NOISES[:9])
def test_tails_are_sums_of_masses(noise: Any, answer: Any, field: str) -> None:
    part = noise.cell(0) if hasattr(noise, "cell") else noise
    x = F(answer[0])
    with mp.workdps(DIGITS):
        mass, tail = cell_mass(part), cell_tail(part)
        for y in range(-5, 12):
            assert abs(tail(y, x) - tail(y + 1, x) - mass(y, x)) < mp.mpf(10) ** -40
        assert tail(-500, x) > 1 - mp.mpf(10) ** -20
        assert tail(900, x) < mp.mpf(10) ** -20


@pytest.mark.slow
def test_p_values_are_uniform_under_the_law() -> None:
    entropy = InsecureSeededEntropyForTests(3)
    noise = DiscreteLaplace(F(2), F(1))
    chances = [fit(noise, (0,), [noise.draw((0,), entropy) for _ in range(400)]).p for _ in range(24)]
    assert 0.3 < np.mean(chances) < 0.7
    assert sum(p < 0.2 for p in chances) <= 12


def test_an_output_that_is_impossible_has_no_chance() -> None:
    assert fit(Exact(F(1)), (3,), [(F(3),)] * 50).p == 1
    assert fit(Exact(F(1)), (3,), [(F(3),)] * 49 + [(F(4),)]).p == 0
    choice = PermuteAndFlip(F(2), ("a", "b"), MostFrequent(1))
    assert fit(choice, (3, 2, 0), [("c",)] * 10).p == 0
    geometric = OneSidedGeometric(F(3), F(1), 1, DOWN)
    assert fit(geometric, (4,), [(F(3),)] * 10).p == 0


def test_many_pooled_outputs_are_no_fault() -> None:
    """With 5 draws to each output G was 5 % too large on average: of 500 outputs, p < 1e-4 came 37 times too often."""
    mass, mean = math.exp(-LEAST), 0.0
    for count in range(10 * LEAST):
        mean += mass * 2 * (count * math.log(max(count, 1) / LEAST) - count + LEAST)
        mass *= LEAST / (count + 1)
    assert 1 < mean < 1.01

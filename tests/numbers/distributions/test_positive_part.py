"""The mean positive part of a sum: always between its two ends, and these close together."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.tuples import mean_positive

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.positive_part import mean_positive_part, split, step_of

VALUES = st.lists(st.integers(-64, 64), min_size=1, max_size=4, unique=True)


@given(VALUES, st.data(), st.integers(1, 7))
@settings(max_examples=25)
def test_the_exact_mean_is_enclosed(values, data, count):
    weights = data.draw(st.lists(st.integers(1, 32), min_size=len(values), max_size=len(values)))
    masses = [Fraction(w, sum(weights)) for w in weights]
    exact = mean_positive([Fraction(v, 16) for v in values], masses, count)
    mean = mean_positive_part(np.array(values) / 16, np.array([float(m) for m in masses]), count)
    assert mean.low * (1 - 1e-12) <= exact <= mean.high * (1 + 1e-12)
    assert mean.high - mean.low <= 1e-6 * mean.high + 1e-12


@pytest.mark.mutants
@given(st.lists(st.floats(-4, 4), min_size=1, max_size=3), st.integers(-3, 3), st.integers(1, 5))
@settings(max_examples=40)
def test_values_next_to_a_lattice_are_enclosed_as_they_are(values, places, count):
    """Atoms within rounding of a common lattice are moved onto it, and that is charged."""
    values = [*values, 0.1 * places, np.nextafter(0.1 * places, 9), 0.3, -0.3]
    masses = [Fraction(1, len(values))] * len(values)
    exact = mean_positive([Fraction(v) for v in values], masses, count)
    mean = mean_positive_part(np.array(values), np.array([float(m) for m in masses]), count)
    assert mean.low * (1 - 1e-12) <= exact <= mean.high * (1 + 1e-12)


def test_sums_that_cancel_are_exactly_0_although_other_values_are_off_every_lattice():
    values, masses = np.array([-0.1, 0.1, 0.2, 2**0.5, -(3**0.5)]), np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    exact = mean_positive([Fraction(v) for v in values.tolist()], [Fraction(m) for m in masses.tolist()], 6)
    mean = mean_positive_part(values, masses, 6)
    assert mean.low <= exact <= mean.high
    assert mean.high - mean.low <= 1e-6 * mean.high


def test_a_lattice_holds_the_heaviest_values():
    step = step_of(np.array([0.3, -0.5, 2**0.5]), np.array([1.0, 1.0, 1e-3]), 0.003)
    assert 0.003 <= step < 0.006
    lattice = split(np.array([0.3, -0.5, 2**0.5]), np.array([0.25, 0.25, 0.5]), step)
    assert lattice.whole.tolist() == [True, True, False, False]
    assert lattice.places[:2] * step == pytest.approx([0.3, -0.5], abs=1e-15)
    assert (lattice.places * step) @ lattice.masses == pytest.approx(0.25 * 0.3 - 0.25 * 0.5 + 0.5 * 2**0.5)
    assert lattice.moved <= 1e-15
    assert step_of(np.array([0.0, 0.0]), np.ones(2), 0.5) == 0.5
    noisy = np.array([0.3, -0.5, 0.0, 1e-15, 1e-17])
    assert step_of(noisy, np.ones(5), 0.003) == pytest.approx(step, rel=1e-12)
    assert split(noisy, np.full(5, 0.2), step).whole.tolist() == [True] * 4 + [False] * 2
    assert step_of(np.array([2**0.5, 1.0]), np.ones(2), 0.3) == pytest.approx(2**0.5 / 4)


@pytest.mark.mutants
def test_a_far_tail_keeps_its_relative_width():
    exact = mean_positive([Fraction(-1), Fraction(7)], [Fraction(15, 16), Fraction(1, 16)], 30)
    rare = mean_positive_part(np.array([-9.0, 1.0]), np.array([0.999, 0.001]), 8)
    assert rare.low <= 8 * 0.001**8 <= rare.high * (1 + 1e-9)
    mean = mean_positive_part(np.array([-1.0, 7.0]), np.array([15 / 16, 1 / 16]), 30)
    assert mean.low <= exact <= mean.high
    assert mean.high - mean.low < 1e-5 * mean.high


def test_a_sum_that_is_never_positive_or_always():
    assert mean_positive_part(np.array([-1.0, 0.0]), np.array([0.5, 0.5]), 9).high == 0
    mean = mean_positive_part(np.array([1.0, 3.0]), np.array([0.5, 0.5]), 5)
    assert mean.low <= 10 <= mean.high
    assert mean.high - mean.low < 1e-12


@pytest.mark.parametrize(("values", "masses", "count"), [
    ([1.0], [0.5, 0.5], 1),
    ([], [], 1),
    ([np.nan], [1.0], 1),
    ([1.0], [-1.0], 1),
    ([1.0], [0.0], 1),
    ([1.0], [1.0], 0),
])  # fmt: skip
def test_what_is_no_law_is_refused(values, masses, count):
    with pytest.raises(InputError):
        mean_positive_part(np.array(values), np.array(masses), count)


def test_the_smallest_step_is_never_called_certain_when_values_are_off_the_lattice():
    """The lower end uses what splitting adds; on a coarse first lattice it must still be below the exact value."""
    rng = np.random.default_rng(7)
    for count in (2, 5, 9):
        values, masses = np.round(rng.normal(-0.3, 1, 3), 4), np.array([0.25, 0.25, 0.5])
        exact = mean_positive(
            [Fraction(v) for v in values.tolist()], [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)], count
        )
        coarse = mean_positive_part(values, masses, count, narrow=1.0)
        assert coarse.low <= exact <= coarse.high


@pytest.mark.mutants
def test_weights_that_underflow_when_they_are_tilted_are_no_fault():
    values, masses = np.array([-1e4, -1.0, 3.0]), np.array([0.5, 0.5 - 1e-9, 1e-9])
    mean = mean_positive_part(values, masses, 3)
    exact = mean_positive([Fraction(v) for v in values.tolist()], [Fraction(m) for m in masses.tolist()], 3)
    assert mean.low <= exact * (1 + 1e-9)
    assert exact <= mean.high * (1 + 1e-9)


def of_two(low, high, chance, count):
    """E[(S)_+] of a sum of `count` copies of `high` with this chance, else `low`; exact."""
    masses = [math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]
    sums = [k * high + (count - k) * low for k in range(count + 1)]
    return sum((total * mass for total, mass in zip(sums, masses, strict=True) if total > 0), Fraction(0))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize(
    ("low", "high"), [(-1, 1), (-7, 1), (-1, 3), (-0.1, 0.3), (-1 / 3, 1), (-1000, 1), (-1e-9, 1), (-0.7, 0.1)]
)
def test_sums_of_two_values_are_enclosed_with_no_tolerance(low, high, count):
    """However rare the upper one is: what is asked for may be 10^-300, and sums may cancel."""
    for bits in (1, 3, 20, 45):
        chance = Fraction(1, 2**bits)
        exact = of_two(Fraction(low), Fraction(high), chance, count)
        mean = mean_positive_part(np.array([low, high]), np.array([1 - float(chance), float(chance)]), count, 1.0)
        assert mean.low <= exact <= mean.high
        assert mean.high <= count * high * chance * (1 + Fraction(1, 10**8))
        if exact > count * Fraction(1, 10**5):
            assert mean.high - mean.low <= exact / 100


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_laws_that_are_tilted_far_are_enclosed(count):
    """Some values on a lattice, others on none, and the positive ones nearly never taken."""
    masses = [2.0**-k for k in (100, 50, 60, 3)]
    masses.append(0.875)  # the rest, rounded: that sum is 1 in floats
    whole, unit = sum(map(Fraction, masses)), Fraction(1, 2**45)
    for values in ([2.0, -1.0, 3.0, -4.0, -8.0], [2**0.5, -1.0, 0.3, -(3**0.5), -900.0], [1.0, 1e-9, 1e-7, -1.0, -3.0]):
        exact = mean_positive([Fraction(v) for v in values], [Fraction(m) / whole for m in masses], count)
        mean = mean_positive_part(np.array(values), np.array(masses), count, 1.0)
        assert mean.low * (1 - unit) <= exact <= mean.high * (1 + unit)

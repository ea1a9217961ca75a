"""Densities that are tables: heights, masses, moments and divergences against textbook sums in many digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.core.errors import InputError
from takifugu.numbers.densities import from_dict
from takifugu.numbers.densities.excess import density_hockey_stick


@st.composite
def tables(draw: st.DrawFn) -> tf.Tabulated:
    count = draw(st.integers(2, 6))
    steps = draw(st.lists(st.integers(1, 40), min_size=count, max_size=count))
    points = [sum(steps[: k + 1]) / 10 for k in range(count)]
    heights = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count).filter(any))
    integral = sum((b - a) * (y + z) / 2 for a, b, y, z in zip(points, points[1:], heights, heights[1:], strict=False))
    return tf.Tabulated(points, [height / integral for height in heights])


@given(tables(), st.floats(-1, 25), st.floats(0, 10))
def test_masses_and_bounds_hold_what_they_say(table, low, width):
    high = low + width
    least, most = (float(end[0]) for end in table.mass(np.array([low]), np.array([high])))
    with mp.workdps(30):
        exact = oracle.mass(table.to_dict(), mp.mpf(low), mp.mpf(high))
        assert least <= exact <= most
        assert most - least <= 1e-12
    lowest, highest = (float(end[0]) for end in table.bounds(np.array([low]), np.array([high])))
    for share in (0.001, 0.3, 0.7, 0.999):
        place = low + width * share
        if low < place < high:
            assert lowest <= oracle.height(table.to_dict())(place) <= highest


@given(tables())
def test_mean_and_deviation_are_the_integrals(table):
    height, points = oracle.height(table.to_dict()), list(table.points)
    mean = mp.quad(lambda x: x * height(x), points)
    square = mp.quad(lambda x: (x - mean) ** 2 * height(x), points)
    assert math.isclose(table.mean, mean, rel_tol=1e-9)
    assert math.isclose(table.deviation, mp.sqrt(square), rel_tol=1e-9)
    assert from_dict(table.to_dict()) == table


@given(tables(), tables(), st.sampled_from([0.1, 1.0]))
def test_divergences_are_those_of_quadrature(p, q, epsilon):
    assert density_hockey_stick(p, q, epsilon) == pytest.approx(oracle.hockey_stick(p, q, epsilon), abs=1e-8)


@pytest.mark.parametrize(("points", "heights", "key", "words"), [
    ([0, 1], [1.0000011, 1.0000011], "heights", "integrates to 1.0000011"), ([0, 1], [2, -1], "heights", "below 0"),
    ([0, 1], [math.nan, 1], "heights", "finite"), ([0, math.inf], [1, 1], "points", "finite"),
    ([1, 1], [1, 1], "points", "points rise"), ([0], [1], "points", "two or more"),
    ([0, 1, 2], [1, 1], "points", "one height"), ([0, 1], [0, 0], "heights", "integrates to 0"),
])  # fmt: skip
def test_what_is_no_density_is_refused(points, heights, key, words):
    with pytest.raises(InputError, match=words) as refusal:
        tf.Tabulated(points, heights)
    assert refusal.value.where == (key,)


def test_a_little_is_scaled():
    table = tf.Tabulated([0, 1], [1.0000009, 1.0000009])
    assert table.mass(np.array([0.0]), np.array([1.0]))[1][0] == 1.0

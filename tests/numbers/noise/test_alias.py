"""Alias tables hold exactly the masses that they were made of, and draws follow them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.numbers.noise.alias import TOTAL, AliasTables


@st.composite
def rows(draw):
    weights = draw(st.lists(st.integers(0, 2**40) | st.just(0), min_size=1, max_size=12).filter(any))
    masses = [w * TOTAL // sum(weights) for w in weights]
    masses[max(range(len(weights)), key=weights.__getitem__)] += TOTAL - sum(masses)
    return masses


@given(rows())
def test_columns_add_up_to_the_masses(masses):
    table, count = AliasTables.of([masses]), len(masses)
    owned = [0] * count
    for column in range(count):
        height = table.height(0, column)
        owned[column] += height
        owned[int(table.others[0, column])] += TOTAL - height
    assert owned == [mass * count for mass in masses]


def test_draws_follow_the_rows_and_a_wrong_row_is_noticed():
    masses = [[TOTAL // 2, TOTAL // 4, TOTAL // 4, 0], [TOTAL // 8, TOTAL // 8, TOTAL // 4, TOTAL // 2]]
    row = np.repeat([0, 1], 200_000)
    drawn = AliasTables.of(masses).draw(row, InsecureSeededEntropyForTests(3))
    for number, law in enumerate(masses):
        seen = np.bincount(drawn[row == number], minlength=4)
        expected = np.array([m / TOTAL for m in law]) * 200_000
        alive = expected > 0
        assert not seen[~alive].any()
        assert stats.chisquare(seen[alive], expected[alive]).pvalue > 1e-6
        wrong = expected[alive] * np.linspace(0.95, 1.05, alive.sum())
        assert stats.chisquare(seen[alive], wrong * seen.sum() / wrong.sum()).pvalue < 1e-6


def test_a_tie_of_the_upper_bits_is_decided_by_the_lower_ones():
    """Two outputs, one with a single unit of mass: its column is its own up to 2 only."""
    table = AliasTables.of([[1, TOTAL - 1]])
    assert table.height(0, 0) == 2

    class Zeros:
        private = False

        def bytes(self, n):
            return bytes(n)

    assert table.draw(np.array([0]), Zeros()).tolist() == [0]


@pytest.mark.parametrize("masses", [[1, 2], [TOTAL, -1, 1], [TOTAL + 1, -1]])
def test_rows_that_are_no_law(masses):
    with pytest.raises(ValueError, match="add up"):
        AliasTables.of([masses])

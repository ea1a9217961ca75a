"""Sums of convolutions as matrix products, against Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.wide_numbers import close, fractions, random_wide

from takifugu.numbers.extended.convolution import ORDERS, convolve, convolve_many
from takifugu.numbers.extended.floats import Wide, normalised, stack


def exact(rows: Wide, kernels: Wide, kernel: int) -> list[Fraction]:
    """Return the sum of convolutions for one kernel, by the definition."""
    count, size = rows.mantissas.shape
    places = kernels.mantissas.shape[1]
    result = [Fraction(0)] * (size + places - 1)
    for r in range(count):
        row, weights = fractions(rows[r]), fractions(kernels[r, :, kernel])
        for i, weight in enumerate(weights):
            for t, number in enumerate(row):
                result[t + i] += weight * number
    return result


@pytest.mark.slow
@pytest.mark.mutants
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 30), st.integers(1, 7), st.integers(1, 4),
       st.integers(0, ORDERS // 2))  # fmt: skip
def test_products_are_right_however_far_rows_and_kernels_are_apart(
    seed: int, count: int, size: int, places: int, columns: int, orders: int
) -> None:
    rows = random_wide(seed, (count, size), orders)
    kernels = random_wide(seed + 1, (count, places, columns), orders)
    rows = normalised(rows.mantissas, rows.exponents - 5000)
    kernels = normalised(kernels.mantissas, kernels.exponents + 70_000)
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    for column in range(columns):
        assert close(convolved[column], exact(rows, kernels, column), count * places + 4)


def test_many_slabs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.numbers.extended.convolution._HELD", 20)
    rows, kernels = random_wide(1, (2, 40), 100), random_wide(2, (2, 3, 2), 100)
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    assert close(convolved[1], exact(rows, kernels, 1), 10)


def test_rows_that_fall_without_end_are_fine_while_a_window_is_narrow() -> None:
    row = normalised(np.full((1, 400), 0.75), -40 * np.arange(400)[None, :])
    kernel = normalised(np.full((1, 5, 1), 0.5), -90 * np.arange(5)[None, :, None])
    convolved = convolve_many(row, kernel)
    assert convolved is not None
    assert close(convolved[0], exact(row, kernel, 0), 12)


@pytest.mark.parametrize("beyond", [0, 1])
def test_what_float64_would_lose_is_refused(beyond: int) -> None:
    """The product 1 * 2**-ORDERS is the only term of its sum; one order more and nothing is promised."""
    rows = normalised(np.array([[1.0, 1.0]]), np.array([[-ORDERS + 1 - beyond, 0]]))
    kernels = normalised(np.array([[[1.0], [1.0]]]), np.array([[[0], [-1]]]))
    convolved = convolve_many(rows, kernels)
    assert (convolved is None) == (beyond > 0)
    if convolved is not None:
        assert close(convolved[0], exact(rows, kernels, 0), 4)


def test_zeros_stay_zeros() -> None:
    rows = stack([Wide.of(np.zeros(6)), Wide.of(np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))])
    kernels = Wide.of(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.0], [0.0, 0.0]]]))
    convolved = convolve_many(rows, kernels)
    assert convolved is not None
    assert convolved[0].floats(0).tolist() == [0, 0, 0.5, 0, 0, 0, 0]
    assert not convolved[1].mantissas.any()


def test_one_row_and_one_kernel_are_a_convolution() -> None:
    row, kernel = random_wide(3, (1, 90), 300), random_wide(4, (1, 9, 1), 200)
    convolved = convolve_many(row, kernel)
    assert convolved is not None
    assert close(convolved[0], fractions(convolve(row[0], kernel[0, :, 0])), 200)

"""Channels: sums written out, ratios of every output, and repair of what a solver returns."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.core.errors import InputError
from takifugu.numbers.distributions.channel import Channel, largest_log_ratio, repair


@st.composite
def channels(draw: st.DrawFn, inputs: int = 3, outputs: int = 3, least: int = 0) -> Channel:
    rows = []
    for _ in range(inputs):
        counts = draw(st.lists(st.integers(least, 6), min_size=outputs, max_size=outputs).filter(any))
        rows.append([Fraction(c, sum(counts)) for c in counts])
    return Channel.of(range(inputs), range(outputs), rows)


@given(channels(), channels(), st.lists(st.integers(0, 5), min_size=3, max_size=3).filter(any))
def test_lift_and_compose_are_sums(one: Channel, two: Channel, counts: list[int]) -> None:
    law = {x: Fraction(c, sum(counts)) for x, c in enumerate(counts)}
    expected = {y: sum(m * one.row(x).get(y, Fraction(0)) for x, m in law.items()) for y in range(3)}
    assert one.lift(law) == {y: m for y, m in expected.items() if m}
    assert one.compose(two).lift(law) == two.lift(one.lift(law))
    assert all(sum(row) == one.total for row in one.masses)


@given(channels(least=1), channels(least=1))
def test_measures_are_the_largest_ratios_and_post_processing_helps(one: Channel, two: Channel) -> None:
    worst = max(one.row(a)[y] / one.row(b)[y] for a in range(3) for b in range(3) for y in range(3))
    assert one.measure() == pytest.approx(math.log(worst), abs=1e-12)
    assert one.measure() >= math.log(worst) - 1e-15
    assert one.compose(two).measure() <= one.measure() + 1e-15
    pair = one.measure([(0, 1)])
    assert pair == pytest.approx(math.log(max(one.row(0)[y] / one.row(1)[y] for y in range(3))), abs=1e-12)
    lifted = [one.lift({0: Fraction(1, 2), k: Fraction(1, 2)}) for k in (1, 2)]
    assert largest_log_ratio(*lifted) <= one.measure() + 1e-15


@pytest.mark.parametrize("a", [3, 10**30])
def test_one_sided_channels(a: int) -> None:
    channel = Channel.of([0, 1], [0, 1], [[Fraction(1, a), 1 - Fraction(1, a)], [0, 1]])
    assert channel.measure([(1, 0)]) == pytest.approx(-math.log1p(-1 / a), rel=1e-9)
    assert channel.measure([(1, 0)]) > 0
    assert channel.measure() == channel.measure([(0, 1)]) == math.inf
    assert channel.measure([(0, 0)]) == 0.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_repair_gives_exact_rows_nearby(seed: int, n: int, m: int) -> None:
    random = np.random.default_rng(seed)
    matrix = random.random((n, m)) * (random.random((n, m)) < 0.8) + 1e-9
    matrix = matrix / matrix.sum(axis=1, keepdims=True) + random.uniform(-1e-9, 1e-9, (n, m))
    channel = repair(range(n), range(m), matrix)
    repaired = np.array([[float(channel.row(x).get(y, 0)) for y in range(m)] for x in range(n)])
    assert all(sum(row) == channel.total for row in channel.masses)
    assert np.abs(repaired - matrix).max() < 2e-8
    assert math.isfinite(channel.measure())


def test_solver_noise_beside_zero_costs_nothing() -> None:
    matrix = np.array([[0.7, 0.3, 1e-17], [0.3, 0.7, -1e-12], [0.5, 0.5, 0.0]])
    assert repair("abc", "xyz", matrix).measure() == pytest.approx(math.log(7 / 3), abs=1e-6)
    repaired = repair([0, 1], [0, 1], np.array([[1.0, 0.0], [0.5, 0.5]]), blend=Fraction(0))
    assert repaired.row(0) == {0: 1}
    assert repaired.measure([(0, 1)]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(("inputs", "outputs", "rows"), [
    ([0, 1], [0, 1], [[1, 0]]),
    ([0], [0, 1], [[1]]),
    ([0, 0], [0, 1], [[1, 0], [0, 1]]),
    ([0], [0, 0], [[1, 0]]),
    ([], [], []),
    ([0], [0, 1], [[Fraction(1, 2), Fraction(1, 3)]]),
    ([0], [0, 1], [[2, -1]]),
    ([0], [0, 1], [[0.5, 0.5]]),
])  # fmt: skip
def test_bad_channels(inputs: Any, outputs: Any, rows: Any) -> None:
    with pytest.raises(InputError):
        Channel.of(inputs, outputs, rows)


def test_bad_repairs_and_labels() -> None:
    good = np.array([[0.5, 0.5]])
    for matrix in (np.array([0.5, 0.5]), np.array([[0.5, 0.6]]), np.array([[1.1, -0.1]]), np.array([[np.nan, 1.0]])):
        with pytest.raises(InputError):
            repair([0], [0, 1], matrix)
    with pytest.raises(InputError, match="blend"):
        repair([0], [0, 1], good, blend=Fraction(2))
    with pytest.raises(InputError, match="did you mean 'yes'"):
        Channel.of(["yes"], [0], [[1]]).row("yess")

"""The best channel by linear programming: erratum X5, exact masses, and that it keeps what it promises."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takagi.optimal import best_channel, best_count
from takifugu.mechanisms.one_sided.tails import geometric_law

F = Fraction


def ageo(maximum: int, epsilon: float, prior: list[Any]) -> float:
    return math.fsum(
        float(weight) * math.fsum(mass * (z - count) for z, mass in geometric_law(count, maximum, epsilon).items())
        for count, weight in enumerate(prior)
    )


def test_ageo_is_not_the_best_among_all() -> None:
    """X5: n = 1, epsilon = 1/2, prior (0.9, 0.1): always 0 loses 0.1, AGeo 0.546."""
    prior = [F(9, 10), F(1, 10)]
    assert best_count(1, "1/2", prior, never_below=False).loss == pytest.approx(0.1, abs=1e-7)
    assert ageo(1, 0.5, prior) == pytest.approx(0.9 * math.exp(-0.5))
    assert best_count(3, "1/2", never_below=False).loss == pytest.approx(0.6452, abs=5e-5)
    assert ageo(3, 0.5, [F(1, 4)] * 4) == pytest.approx(0.6946, abs=5e-5)


@given(st.integers(1, 4), st.sampled_from(["0.2", "1/2", 1, 3]), st.data())
@settings(max_examples=25, deadline=None)
def test_ageo_is_the_best_that_never_answers_below(maximum: int, epsilon: Any, data: Any) -> None:
    weights = [data.draw(st.integers(1, 9)) for _ in range(maximum + 1)]
    prior = [F(weight, sum(weights)) for weight in weights]
    best = best_count(maximum, epsilon, prior, never_below=True)
    assert best.loss == pytest.approx(ageo(maximum, float(F(epsilon)), prior), abs=1e-6)
    assert best_count(maximum, epsilon, prior, never_below=False).loss <= best.loss + 1e-6


@pytest.mark.parametrize("never_below", [True, False])
def test_what_is_measured_keeps_epsilon_with_exact_masses(never_below: bool) -> None:
    best = best_count(5, 1, never_below=never_below)
    rows, total = best.channel.masses, best.channel.total
    assert all(sum(row) == total for row in rows)
    for x in range(1, 6):
        for one, other in zip(rows[x], rows[x - 1], strict=True):
            assert one == 0 or math.log(one / other) <= 1
    assert best.measured <= 1
    assert best.loss == pytest.approx(best.solved, abs=1e-6)
    if never_below:
        assert all(rows[x][y] == 0 for x in range(6) for y in range(x))


@pytest.mark.parametrize(("maximum", "epsilon"), [(30, 1), (40, "0.01"), (20, 4)])
def test_masses_below_what_the_solver_resolves_are_raised_to_what_the_moves_need(maximum: int, epsilon: Any) -> None:
    """e^-30 is far below the solver's tolerance: without raising, ratios of such masses would be anything."""
    best = best_count(maximum, epsilon, never_below=True)
    assert best.measured <= float(F(epsilon))
    true = ageo(maximum, float(F(epsilon)), [F(1, maximum + 1)] * (maximum + 1))
    assert true - 1e-9 < best.loss < true + 2e-5


def test_two_places_at_once() -> None:
    """Pairs of counts of one person at A and B: the policy {not A, not B} allows every fall and no swap."""
    inputs = [(0, 0), (1, 0), (0, 1), (1, 1)]
    moves = [(x, y) for x in inputs for y in inputs if all(b <= a for a, b in zip(x, y, strict=True)) and x != y]

    def far(x: Any, y: Any) -> float:
        return float(sum(abs(a - b) for a, b in zip(x, y, strict=True)))

    best = best_channel(inputs, inputs, moves, 1, [F(1, 4)] * 4, loss=far)
    ordinary = [(x, y) for x in inputs for y in inputs if x != y]
    assert best.loss < best_channel(inputs, inputs, ordinary, 1, [F(1, 4)] * 4, loss=far).loss
    assert best.channel.measure(moves) <= 1
    assert best.channel.measure([((1, 0), (0, 1))]) > 1

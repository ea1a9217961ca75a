"""Planar noise remapped into a box: cells by integration, metric privacy kept, and who fills a box."""

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from kawamoto import channels
from takifugu.core.errors import InputError
from takifugu.mechanisms.local import weights
from takifugu.mechanisms.local.measuring import metric_loss

GRID = [(2.0 * i, 0.5 * j) for i in range(3) for j in range(4)]


def density(radius, rate):
    return rate**2 / (2 * math.pi) * math.exp(-rate * radius)


def by_integration(x, y, rate):
    """Return the mass of planar Laplace noise around x in the cell of y: cells on the border reach to infinity."""
    reach = 60 / rate
    low = [y[a] - h if y[a] > least else x[a] - reach for a, (h, least) in enumerate(((1.0, 0.0), (0.25, 0.0)))]
    high = [y[a] + h if y[a] < most else x[a] + reach for a, (h, most) in enumerate(((1.0, 4.0), (0.25, 1.5)))]

    def line(first):
        between = [x[1]] if low[1] < x[1] < high[1] else None
        return integrate.quad(
            lambda second: density(math.hypot(first - x[0], second - x[1]), rate), low[1], high[1],
            points=between, epsabs=1e-13, epsrel=1e-10, limit=400,
        )[0]  # fmt: skip

    between = [x[0]] if low[0] < x[0] < high[0] else None
    return integrate.quad(line, low[0], high[0], points=between, epsabs=1e-11, epsrel=1e-8, limit=400)[0]


@pytest.mark.parametrize("rate", [0.7, 2.0])
def test_cells_by_integration(rate):
    masses = weights.laplace_masses(weights.cells_of(GRID), rate)
    for i, j in ((0, 0), (0, 5), (5, 5), (5, 6), (4, 11), (11, 0)):
        assert masses[i, j] == pytest.approx(by_integration(GRID[i], GRID[j], rate), rel=1e-7, abs=1e-11)


@given(st.floats(1e-6, 1e3))
@settings(max_examples=40)
def test_rows_are_laws_and_masses_far_away_are_right(rate):
    cells = weights.cells_of(GRID)
    for masses in (weights.laplace_masses(cells, rate), weights.normal_masses(cells, rate)):
        assert masses.sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert (masses > 0).all()


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "3", "20"])
def test_remapped_noise_keeps_its_metric_epsilon_and_renormalised_noise_does_not(epsilon):
    measured = metric_loss(channels.remapped_laplace(GRID, epsilon), math.dist)
    assert measured <= float(epsilon) * (1 + 1e-9) + 1e-12
    if epsilon == "0.3":
        assert measured > 0.15
        assert 0.3 < metric_loss(channels.planar_laplace(GRID, epsilon), math.dist) <= 0.6


def test_normal_noise_is_a_product_of_intervals():
    from scipy.stats import norm

    channel = channels.remapped_normal(GRID, "0.8")
    one, two = GRID[5], GRID[6]
    across = norm.cdf(1, 0, 0.8) - norm.cdf(-1, 0, 0.8)
    up = norm.cdf(0.75, 0, 0.8) - norm.cdf(0.25, 0, 0.8)
    assert float(channel.row(one)[two]) == pytest.approx(across * up, rel=1e-12)


@given(st.integers(1, 4), st.integers(2, 4), st.floats(0.1, 10), st.floats(-50, 50), st.randoms())
def test_any_order_of_a_full_box_is_found(columns, rows, step, corner, random):
    places = [(corner + i * step, -corner + j * step / 3) for i, j in product(range(columns), range(rows))]
    random.shuffle(places)
    cells = weights.cells_of(places)
    assert cells is not None
    for place, column, row in zip(places, *cells.index, strict=True):
        assert (cells.along[0][column], cells.along[1][row]) == place
    assert weights.cells_of(places[1:]) is None or min(columns, rows) == 1


@pytest.mark.parametrize(
    "places", [[(0.0, 0.0), (1.0, 0.0), (3.0, 0.0)], [(0.0, 0.0), (0.0, 0.0)], [(0.0, math.nan)], ["a", "b"], [1, 2]]
)
def test_places_that_fill_no_box(places):
    assert weights.cells_of(places) is None
    with pytest.raises(InputError):
        channels.remapped_laplace(places, 1)
    with pytest.raises(InputError):
        channels.remapped_normal(places, 1)


def test_a_normal_noise_needs_a_deviation():
    with pytest.raises(InputError):
        channels.remapped_normal(GRID, 0)

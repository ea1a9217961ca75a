"""Named mechanisms against closed forms and integrals, and who fills a box."""

import math
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp
from scipy import integrate

from kawamoto import channels
from takifugu.core.errors import InputError
from takifugu.mechanisms.local import measuring, weights

GRID = [(2.0 * i, float(j)) for i in range(3) for j in range(3)]


def exponential_loss(values, outputs, epsilon):
    """Return max over y, x, x' of (d(x', y) - d(x, y)) epsilon/2 + log Z(x')/Z(x), in 60 digits."""
    with mp.workdps(60):
        rate = mp.mpf(F(epsilon).numerator) / F(epsilon).denominator / 2
        logs = {x: mp.log(mp.fsum(mp.exp(-rate * abs(x - y)) for y in outputs)) for x in values}
        return float(
            max(rate * (abs(z - y) - abs(x - y)) + logs[z] - logs[x] for x in values for z in values for y in outputs)
        )


@given(
    st.sets(st.integers(-9, 9), min_size=2, max_size=6), st.sets(st.integers(-9, 9), min_size=2, max_size=6),
    st.fractions("1/50", 2, max_denominator=50),
)  # fmt: skip
def test_the_local_epsilon_of_the_exponential_mechanism(values, outputs, epsilon):
    channel = channels.exponential(sorted(values), sorted(outputs), lambda x, y: abs(x - y), epsilon)
    assert measuring.local_loss(channel) == pytest.approx(exponential_loss(values, outputs, epsilon), abs=1e-12)


NAMED = {
    "randomised response": lambda e: channels.randomised_response(GRID, e),
    "exponential": lambda e: channels.exponential(GRID, GRID, math.dist, e),
    "planar Laplace": lambda e: channels.planar_laplace(GRID, e),
    "planar normal": lambda e: channels.planar_normal(GRID, 1 / F(e)),
    "restricted Laplace": lambda e: channels.restricted_laplace(GRID, e, 3),
}


@pytest.mark.parametrize(("name", "weight"), [
    ("exponential", lambda d: math.exp(-0.7 * d / 2)),
    ("planar Laplace", lambda d: math.exp(-0.7 * d)),
    ("planar normal", lambda d: math.exp(-(d**2) * 0.7**2 / 2)),
    ("restricted Laplace", lambda d: math.exp(-0.7 * d) if d <= 3 else 0.0),
    ("randomised response", lambda d: 1.0 if d == 0 else math.exp(-0.7)),
])  # fmt: skip
def test_rows_are_in_proportion_to_what_defines_the_mechanism(name, weight):
    channel = NAMED[name]("0.7")
    for x in GRID:
        whole = [weight(math.dist(x, y)) for y in GRID]
        row = [float(channel.row(x).get(y, 0)) for y in GRID]
        assert row == pytest.approx([w / math.fsum(whole) for w in whole], rel=1e-12)


BOX = [(2.0 * i, 0.5 * j) for i in range(3) for j in range(4)]


def by_integration(x, y, rate):
    """Return the mass of planar Laplace noise around x in the cell of y: cells on the border reach to infinity."""
    reach = 60 / rate
    low = [y[a] - h if y[a] > least else x[a] - reach for a, (h, least) in enumerate(((1.0, 0.0), (0.25, 0.0)))]
    high = [y[a] + h if y[a] < most else x[a] + reach for a, (h, most) in enumerate(((1.0, 4.0), (0.25, 1.5)))]

    def line(first):
        between = [x[1]] if low[1] < x[1] < high[1] else None
        return integrate.quad(
            lambda second: rate**2 / (2 * math.pi) * math.exp(-rate * math.hypot(first - x[0], second - x[1])),
            low[1], high[1], points=between, epsabs=1e-13, epsrel=1e-10, limit=400,
        )[0]  # fmt: skip

    between = [x[0]] if low[0] < x[0] < high[0] else None
    return integrate.quad(line, low[0], high[0], points=between, epsabs=1e-11, epsrel=1e-8, limit=400)[0]


@pytest.mark.parametrize("rate", [0.7, 2.0])
def test_cells_by_integration(rate):
    masses = weights.laplace_masses(weights.cells_of(BOX), rate)
    for i, j in ((0, 0), (0, 5), (5, 5), (5, 6), (4, 11), (11, 0)):
        assert masses[i, j] == pytest.approx(by_integration(BOX[i], BOX[j], rate), rel=1e-7, abs=1e-11)


@pytest.mark.parametrize("epsilon", ["0.001", "0.3", "3", "20"])
def test_remapped_noise_keeps_its_metric_epsilon_and_renormalised_noise_does_not(epsilon):
    measured = measuring.metric_loss(channels.remapped_laplace(BOX, epsilon), math.dist)
    assert measured <= float(epsilon) * (1 + 1e-9) + 1e-12
    if epsilon == "0.3":
        assert measured > 0.15
        assert 0.3 < measuring.metric_loss(channels.planar_laplace(BOX, epsilon), math.dist) <= 0.6


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

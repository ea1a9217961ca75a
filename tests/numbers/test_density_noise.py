"""Normal and Laplace noise on densities of every kind: against quadrature, point masses and limits far out."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from tests.support import density_oracles as oracle

import takifugu as tf
from takifugu.core.errors import Unsupported
from takifugu.numbers import Bates, PiecewiseLinear
from takifugu.numbers.after_noise import laplace_densities
from takifugu.numbers.after_noise.hockey_stick import gaussian_hockey_stick
from takifugu.numbers.after_noise.laplace_densities import laplace_loss, least_laplace_noise
from takifugu.numbers.after_noise.noisy_densities import least_normal_noise, noisy_delta, point_masses
from takifugu.numbers.transport.partial_moves import farthest_but

F = Fraction
TRIANGLE, BOX = PiecewiseLinear([0, 1, 2], [0, 1, 0]), PiecewiseLinear([0, 2], [0.5, 0.5])
HALF = tf.Truncated(tf.Normal(0, 1), low=0)
SIGMAS = st.floats(0.1, 4)


def below_with_noise(law, sigma, y):
    """Return P(X + N <= y) by quadrature between kinks."""
    described = law.to_dict()
    height = oracle.height(described)
    kinks = sorted(
        {*oracle._kinks(described), *(x for x in (y - sigma, y, y + sigma) if law.range[0] < x < law.range[1])}
    )
    return mp.quad(lambda x: height(x) * mp.ncdf((y - x) / sigma), kinks)


def of_nodes(law, sigma, y):
    masses, _ = point_masses(law, sigma)
    pairs = zip(masses.values.tolist(), masses.masses.tolist(), strict=True)
    return mp.fsum(mass * mp.ncdf((y - x) / sigma) for x, mass in pairs)


@pytest.mark.mutants
@given(st.one_of(oracle.normals, oracle.cut_or_drawn), SIGMAS, st.floats(-4, 4))
@settings(max_examples=6, deadline=None)
def test_point_masses_are_within_their_distance(law, sigma, y):
    distance = point_masses(law, sigma)[1]
    assert distance < 1e-10
    with mp.workdps(25):
        assert abs(of_nodes(law, sigma, y) - below_with_noise(law, sigma, y)) <= distance + 1e-15


@pytest.mark.mutants
@given(oracle.cut_or_drawn, st.one_of(oracle.normals, oracle.cut_or_drawn), st.floats(0.3, 2), st.floats(0, 2))
@settings(max_examples=4, deadline=None)
def test_the_noisy_delta_is_that_of_many_point_masses(p, q, sigma, epsilon):
    slow = max(oracle.noisy_hockey_stick(*pair, sigma, epsilon, 400) for pair in ((p, q), (q, p)))
    assert math.isclose(noisy_delta(p, q, sigma, max(epsilon, 1e-9)), slow, abs_tol=1e-2)


def test_normals_as_point_masses_need_what_normals_need():
    first, second = tf.Normal(0, 1), tf.Normal(1, 2)
    sigma = least_normal_noise(first, second, F(1), F(1, 10**5))
    (p, _), (q, _) = point_masses(first, sigma), point_masses(second, sigma)
    most = max(gaussian_hockey_stick(p, q, sigma, 1)[1], gaussian_hockey_stick(q, p, sigma, 1)[1])
    assert math.isclose(most, 1e-5, rel_tol=1e-6)


@pytest.mark.parametrize(("p", "q"), [(TRIANGLE, BOX), (HALF, BOX), (Bates(3, 0, 6), Bates(3, 1, 9))])
def test_the_least_normal_noise_is_least(p, q):
    sigma = least_normal_noise(p, q, F(1, 2), F(1, 1000))
    assert math.isclose(noisy_delta(p, q, sigma, 0.5), 1e-3, rel_tol=1e-6)
    assert noisy_delta(p, q, sigma * (1 - 1e-6), 0.5) > 1e-3


@pytest.mark.mutants
def test_a_delta_below_what_is_in_doubt_is_refused():
    with pytest.raises(Unsupported, match="give a larger one"):
        least_normal_noise(TRIANGLE, BOX, F(1), F(1, 10**16))
    with pytest.raises(Unsupported, match="give a larger one"):
        farthest_but(TRIANGLE, BOX, F(1, 10**16))


def test_noise_that_is_tiny_beside_the_densities_is_not_taken_for_enough():
    assert noisy_delta(TRIANGLE, BOX, 1e-9, 1.0) == 1.0
    assert laplace_loss(TRIANGLE, BOX, 1e-9) == math.inf


@pytest.mark.mutants
@given(oracle.cut_or_drawn, oracle.cut_or_drawn, st.floats(0.3, 3))
@settings(max_examples=4, deadline=None)
def test_the_loss_of_laplace_noise_is_that_of_many_point_masses(p, q, scale):
    if math.isinf(max(*p.range, *q.range) - min(*p.range, *q.range)):
        return  # limits are looked at below
    slow, fast = oracle.noisy_log_ratio(p, q, scale, 300), laplace_loss(p, q, scale)
    assert slow - 0.1 / scale <= fast <= slow + 0.1 / scale


@pytest.mark.parametrize(
    ("first", "second", "scale"), [((0, 1), (1, 2), 2), ((0, 1), (1, 3), 2), ((2, 1), (-1, 1.5), 3)]
)
def test_far_out_normals_lose_the_limit(first, second, scale):
    p, q = tf.Normal(*first), tf.Normal(*second)
    limit = oracle.far_log_ratio(p.to_dict(), q.to_dict(), scale)
    assert limit <= laplace_loss(p, q, scale) <= limit * 1.001


def test_densities_far_apart_lose_their_distance_though_no_float_holds_what_is_left_there():
    assert 1000 <= laplace_loss(PiecewiseLinear([0, 1], [1, 1]), PiecewiseLinear([100, 101], [1, 1]), 0.1) <= 1000.01


@pytest.mark.mutants
@pytest.mark.parametrize("ends", [(-300, 60), (None, 800), (-1e4, 1e4)])
def test_a_cut_far_out_costs_no_noise(ends):
    p, q = tf.Normal(0, 3), tf.NormalMixture([0.8, 0.2], [2, 5], [3, 3.5])
    whole = laplace_loss(p, q, 3.0)
    cut = laplace_loss(tf.Truncated(p, *ends), tf.Truncated(q, *ends), 3.0)
    assert cut == pytest.approx(whole, rel=1e-6)


@pytest.mark.mutants
def test_unequal_deviations_have_a_pure_promise():
    """1/b + 3/(2 b^2) = 1: far out, the ratio of E e^(X/b) and E e^(Y/b)."""
    scale = least_laplace_noise(tf.Normal(0, 1), tf.Normal(1, 2), F(1), F(0))
    assert (1 + math.sqrt(7)) / 2 <= scale <= (1 + math.sqrt(7)) / 2 * 1.0001


@pytest.mark.mutants
def test_it_is_never_more_than_by_w_infinity():
    assert least_laplace_noise(tf.Normal(0, 1), tf.Normal(3, 1), F(2), F(0)) <= F(3, 2) * (1 + F(1, 2**40))


@pytest.mark.mutants
def test_it_is_none_where_none_is_needed():
    sides = PiecewiseLinear([0, 1], [0.8, 1.2]), PiecewiseLinear([0, 1], [1.2, 0.8])
    assert least_laplace_noise(*sides, F(1, 2), F(0)) == 0
    assert least_laplace_noise(*sides, F(2, 5), F(0)) > 0
    assert least_laplace_noise(*sides, F(1, 2), F(1, 100)) > 0  # a number that is rounded has no density


@pytest.mark.mutants
def test_a_rounding_costs_its_move_twice():
    exact, read = (least_laplace_noise(TRIANGLE, BOX, F(1, 10), rounding) for rounding in (F(0), F(1, 100)))
    loss = laplace_loss(TRIANGLE, BOX, float(read)) + 0.02 / float(read)
    assert exact < read
    assert math.isclose(loss, 0.1, rel_tol=1e-6)


def test_masses_without_the_width_of_their_cells_are_noticed(monkeypatch):
    """Two narrow boxes at the far ends of two cells: with their middles alone half the loss would be seen."""
    near, far = PiecewiseLinear([0, 0.01], [100, 100]), PiecewiseLinear([0.99, 1], [100, 100])
    monkeypatch.setattr(laplace_densities, "CELLS", 2)
    loss = laplace_loss(near, far, 2.0)
    assert loss - 0.5 / 2 < 0.4 < oracle.noisy_log_ratio(near, far, 2.0) <= loss


@pytest.mark.mutants
@pytest.mark.parametrize("share", [F(1, 4), F(1, 10), F(1, 1000)])
def test_all_but_a_share_moves_as_far_as_it_must(share):
    """From [0, 1] to [0, 2]: a bit at 1 - u moves u further at most, and what is above 1 + w stays."""
    distance = farthest_but(PiecewiseLinear([0, 1], [1, 1]), PiecewiseLinear([0, 2], [0.5, 0.5]), share)
    assert 1 - 2 * float(share) <= distance <= 1 - 2 * float(share) + 0.0015


def test_normals_of_two_deviations_move_finitely_far_but_for_delta():
    share = F(1, 10**5)
    distance = farthest_but(tf.Normal(0, 1), tf.Normal(1, 2), share)
    assert 4.9 < distance < 5.2  # as two lists of 2,000 values have it

"""What is never rounded down: sums, shortest paths and suprema, against numbers of 60 digits, with no tolerance."""

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from takifugu.influence.chains import two_states
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.suprema import LARGEST_POWER, suprema
from takifugu.numbers.outward_rounding import closed, exp_up, log_ratio_error, sum_up, up

#: Sums of whole multiples of this are exact, those of tenths are not.
TENTHS = np.arange(1, 60) / 10


def exact(number):
    return mpmath.mpf(float(number))


def log_mean(row, phi):
    """Return log of the mean of phi under the probabilities that floats stand for, which add up to 1."""
    whole = sum(map(exact, row))
    return mpmath.log(sum(exact(x) * y for x, y in zip(row, phi, strict=True)) / whole)


def log_ratio(p, q, phi):
    return log_mean(p, phi) - log_mean(q, phi)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def test_sums_are_never_below_the_exact_ones_and_zeros_change_nothing():
    below = 0
    for a, b in product(TENTHS, repeat=2):
        true = Fraction(float(a)) + Fraction(float(b))
        below += Fraction(float(a + b)) < true
        assert true <= Fraction(sum_up(float(a), float(b))) <= true * (1 + Fraction(1, 2**51))
    assert below > 100, "plain sums are"
    pairs = np.array(list(product(TENTHS, repeat=2))).T
    assert sum_up(*pairs).tolist() == [sum_up(float(a), float(b)) for a, b in pairs.T]
    assert sum_up(0.0, 0.1) == sum_up(0.1, 0.0) == 0.1
    assert sum_up(np.array([0.0, 0.1, 0.0]), np.array([0.3, 0.0, 0.0])).tolist() == [0.3, 0.1, 0.0]
    assert up(1.0) == 1 + 2.0**-52
    assert up(0.0) > 0


def test_exponentials_are_never_below_the_exact_ones():
    for exponent in (0, 1e-300, *TENTHS.tolist(), *(Fraction(n, 7) for n in range(-70, 4200, 13)), 600):
        true = mpmath.exp(mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator)
        bound = exp_up(exponent)
        assert true < mpmath.mpf(bound.numerator) / bound.denominator < true * (1 + mpmath.mpf(2) ** -41), exponent


@pytest.mark.parametrize("states", [2, 3, 4, 5])
def test_shortest_paths_are_never_below_the_exact_ones(states):
    rng = np.random.default_rng(states)
    rounded = 0
    for _ in range(60):
        ratio = rng.choice(TENTHS, (states, states)) + (rng.random((states, states)) < 0.1) * 1e-9
        true = [[Fraction(0) if u == v else Fraction(float(ratio[u, v])) for v in range(states)] for u in range(states)]
        for middle, u, v in product(range(states), repeat=3):
            true[u][v] = min(true[u][v], true[u][middle] + true[middle][v])
        computed = closed(ratio)
        for u, v in product(range(states), repeat=2):
            assert true[u][v] <= Fraction(float(computed[u, v])) <= true[u][v] * (1 + Fraction(1, 2**48))
            rounded += Fraction(float(computed[u, v])) > true[u][v]
        assert (computed <= ratio).all() or (np.diag(computed) == 0).all()
    assert rounded or states == 2


def random_rows(rng, count, states):
    rows = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0, 5.0])), size=count)
    rows = np.maximum(rows, 1e-6)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.4, 3.0, 40.0, 290.0])
def test_suprema_of_two_states_are_never_below_the_exact_ones(size):
    """The cone has two rays: phi = (e^r, 1) and (1, e^s)."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        rows, (r, s) = random_rows(rng, 2, 2), size * rng.uniform(0.3, 1, 2)
        computed = suprema(rows, np.array([[0, r], [s, 0]]))
        rays = [(mpmath.exp(exact(r)), mpmath.mpf(1)), (mpmath.mpf(1), mpmath.exp(exact(s)))]
        for a, b in ((0, 1), (1, 0)):
            true = max(*(log_ratio(rows[a], rows[b], ray) for ray in rays), mpmath.mpf(0))
            assert true <= exact(computed[a, b]) <= true + 1e-13 * max(size, 1)
        assert computed[0, 0] == computed[1, 1] == 0


@pytest.mark.parametrize("error", [2.0**-40, 1e-6, 0.05])
def test_what_the_rows_may_be_off_by_is_added(error):
    rows, ratio = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    plain, wider = suprema(rows, ratio), suprema(rows, ratio, error)
    most = mpmath.log((1 + exact(error)) / (1 - exact(error)))
    ray = (mpmath.e, mpmath.mpf(1))
    assert log_ratio(rows[0], rows[1], ray) + most <= exact(wider[0, 1])
    assert wider[0, 1] <= plain[0, 1] + 3 * error
    assert wider[0, 0] == 0


@pytest.mark.sampled(11)
@pytest.mark.parametrize("states", [3, 4, 5])
@pytest.mark.parametrize("size", [1e-6, 0.5, 20.0])
def test_no_bound_is_below_what_a_likelihood_of_the_cone_reaches(states, size):
    """e^rho(., v) and e^-rho(v, .) are in the cone of rho, of shortest paths: a bound that is rounded down is below."""
    rng = np.random.default_rng(states)
    reached = 0
    for _ in range(12):
        rows, ratio = random_rows(rng, 2, states), closed(size * rng.uniform(0.2, 1, (states, states)))
        inside = [[mpmath.exp(exact(ratio[u, v])) for u in range(states)] for v in range(states)]
        inside += [[mpmath.exp(-exact(ratio[v, u])) for u in range(states)] for v in range(states)]
        bounds = [Programs().bound(rows, ratio), suprema(rows, ratio), Levels(rows).bound(float(ratio.max()))]
        for a, b in ((0, 1), (1, 0)):
            least = max(log_ratio(rows[a], rows[b], phi) for phi in inside)
            assert all(least <= exact(bound[a, b]) for bound in bounds)
            reached += exact(bounds[0][a, b]) <= least + 1e-12 * max(size, 1)
    assert reached


@pytest.mark.mutants
@pytest.mark.parametrize("never", [0.0, 0.15])
def test_two_levels_are_never_below_the_largest_of_all_sets(never):
    """A value that is impossible on one side or both is in the set, or not, as that is worse."""
    rng = np.random.default_rng(9)
    for size in (1e-6, 0.7, 30.0) * 4:
        rows = random_rows(rng, 3, 4)
        rows[rows < never] = 0
        rows /= rows.sum(axis=1, keepdims=True)
        computed = Levels(rows).bound(size)
        for a, b in product(range(3), repeat=2):
            sets = product((mpmath.mpf(1), mpmath.exp(exact(size))), repeat=4)
            true = max(log_ratio(rows[a], rows[b], phi) for phi in sets)
            assert true <= exact(computed[a, b]) <= true + 1e-12 * max(size, 1)


def test_ratios_that_are_too_large_leave_the_largest_ratio_of_masses():
    rows = np.array([[0.5, 0.5], [0.4, 0.6]])
    for size, possible in product((LARGEST_POWER, np.nextafter(LARGEST_POWER, np.inf)), (None, rows > 0)):
        bounds = suprema(rows, size * (1 - np.eye(2)), possible=possible)
        assert math.log(1.25) <= bounds[0, 1] <= math.log(1.25) * (1 + 1e-12)
        assert bounds[0, 0] == 0
    assert suprema(rows, np.zeros((2, 2))).tolist() == [[0, 0], [0, 0]]
    assert suprema(rows[:1], np.ones((2, 2))).tolist() == [[0]]


@pytest.mark.parametrize("power", [1e-9, 0.3, 8.0, 30.0, 36.0, 290.0])
def test_steps_of_two_states_are_never_below_the_exact_ones(power):
    """A value that cannot follow leaves a ratio near zero, which must not come from a difference."""
    zeros = [((1.0, 0.0), (0.0, 1.0)), ((0.75, 0.25), (0.0, 1.0)), ((0.5, 0.5), (1.0, 0.0)), ((0.0, 1.0), (0.25, 0.75))]
    rng = np.random.default_rng(1)
    shares = rng.integers(1, 1024, (20, 2)) / 1024  # so that rows add up to 1 exactly
    drawn = [tuple((1 - share, share) for share in pair) for pair in shares.tolist()]
    for rows in (*zeros, *drawn):
        up_ratio, down_ratio = power, power * 0.7
        computed = two_states.step(rows, 0.0, up_ratio, down_ratio)
        rays = [(mpmath.mpf(1), mpmath.exp(exact(up_ratio))), (mpmath.mpf(1), mpmath.exp(-exact(down_ratio)))]
        for loss, a, b in ((computed[0], 1, 0), (computed[1], 0, 1)):
            means = [[sum(exact(p) * x for p, x in zip(rows[row], ray, strict=True)) for row in (a, b)] for ray in rays]
            true = max(0, *(mpmath.log(p / q) for p, q in means))
            assert true * (1 - mpmath.mpf(10) ** -30) <= exact(loss)
            assert exact(loss) <= true * (1 + mpmath.mpf(2) ** -45) + mpmath.mpf(2) ** -52


def test_a_log_ratio_is_off_by_at_most_the_bound_of_its_masses():
    for error in (Fraction(1, 2**place) for place in range(1, 60)):
        bound = log_ratio_error(error)
        assert mpmath.log((1 + exact(error)) / (1 - exact(error))) * bound.denominator <= bound.numerator
    assert log_ratio_error(0.25) == 0.625

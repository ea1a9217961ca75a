"""The Rényi divergence of normal releases (Theorem 17, which nothing uses): couplings against the exact integral."""

from itertools import pairwise, product

import numpy as np
import pytest

from takifugu.numbers import Pmf, monotone_coupling

ORDERS = (1.5, 2, 4, 10)


def counts_given(matrix, start, length, entry, value):
    """The distribution of the number of ones given X_entry = value, from all sequences."""
    masses = np.zeros(length + 1)
    for states in product((0, 1), repeat=length):
        if states[entry] == value:
            steps = (matrix[u][v] for u, v in pairwise(states))
            masses[sum(states)] += start[states[0]] * np.prod(list(steps))
    possible = np.flatnonzero(masses)
    return Pmf(possible, masses[possible] / masses.sum())


def integral(p, q, sigma, order):
    """(alpha - 1) D_alpha of two laws after normal noise, by a sum over a fine line."""
    ends = min(p.values.min(), q.values.min()) - 40 * sigma, max(p.values.max(), q.values.max()) + 40 * sigma
    line, step = np.linspace(*ends, 10_001, retstep=True)

    def log_density(law):
        exponents = -((line[:, None] - law.values) ** 2) / (2 * sigma**2) + np.log(law.probabilities)
        return np.logaddexp.reduce(exponents, axis=1) - np.log(sigma * np.sqrt(2 * np.pi))

    return np.logaddexp.reduce(order * log_density(p) + (1 - order) * log_density(q)) + np.log(step)


def by_coupling(p, q, sigma, order):
    plan = monotone_coupling(p, q)
    moves = (plan.left - plan.right).astype(float) / sigma
    return np.log(np.asarray(plan.mass, dtype=float) @ np.exp(order * (order - 1) * moves**2 / 2))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_no_coupling_is_below_the_integral(seed):
    rng = np.random.default_rng(seed)
    matrix, start = rng.dirichlet([1, 1], size=2), rng.dirichlet([1, 1])
    length = int(rng.integers(1, 8))
    entry = int(rng.integers(length))
    p, q = (counts_given(matrix, start, length, entry, value) for value in (0, 1))
    for sigma, order in product((2.0, 8.0), ORDERS):
        assert by_coupling(p, q, sigma, order) >= integral(p, q, sigma, order) - 1e-9


@pytest.mark.parametrize("order", ORDERS)
def test_of_a_single_value_it_is_the_integral(order):
    p, q = (counts_given([[0.9, 0.1], [0.4, 0.6]], [0.8, 0.2], 1, 0, value) for value in (0, 1))
    assert by_coupling(p, q, 3.0, order) == pytest.approx(order * (order - 1) / 18)
    assert integral(p, q, 3.0, order) == pytest.approx(order * (order - 1) / 18)


def test_no_curve_of_the_profile_serves():
    """X_1 = X_2 is a fair bit: the sum loses 4r, each value with noise of its own 2r together, of one profile."""
    order, sigma = 2, 5.0
    r = order / (2 * sigma**2)
    of_the_sum = integral(Pmf([0], [1]), Pmf([2], [1]), sigma, order) / (order - 1)
    of_each = 2 * integral(Pmf([0], [1]), Pmf([1], [1]), sigma, order) / (order - 1)
    assert (of_the_sum, of_each) == (pytest.approx(4 * r), pytest.approx(2 * r))

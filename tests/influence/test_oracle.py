"""The oracle itself, against numbers that are known by hand or from elsewhere."""

import math

import numpy as np
import pytest
from tests.support import influence_oracle as oracle

MATRIX = np.array([[0.9, 0.1], [0.4, 0.6]])
START = np.array([0.8, 0.2])


def test_binary_chain_of_a_count_the_program_the_recursion_and_the_release_agree():
    law = oracle.chain_law(START, [MATRIX] * 5)
    releases = [oracle.count(law.shape, [1], 1.3)]
    tables = oracle.profile_of(releases, law.shape)
    for entry in range(6):
        program = oracle.worst_pairs(law, tables, entry)
        assert program == pytest.approx(oracle.lp_chain_losses(START, [MATRIX] * 5, tables, entry), abs=1e-10)
        assert program == pytest.approx(oracle.joint_losses(law, releases, entry), abs=1e-10)


def test_joint_loss_at_corners_is_the_largest_on_a_fine_grid():
    law = oracle.chain_law(START, [MATRIX] * 2)
    releases = [oracle.weighted(law.shape, [[0, 1], [0, -2], [0, 1]], 0.7), oracle.count(law.shape, [1], 1.0, [0, 1])]
    a, b = (oracle.conditional(law, oracle.given(law, 1, value)) for value in (0, 1))
    cells = np.indices(law.shape).reshape(3, -1)
    first = cells[0] - 2 * cells[1] + cells[2]
    second = cells[0] + cells[1]
    worst = -math.inf
    for y in np.linspace(-3, 4, 71):
        for z in np.linspace(-1, 3, 41):
            density = np.exp(-np.abs(y - first) / 0.7 - np.abs(z - second))
            worst = max(worst, math.log((a @ density) / (b @ density)))
    exact = oracle.joint_loss(law, releases, oracle.given(law, 1, 0), oracle.given(law, 1, 1))
    assert exact == pytest.approx(worst, abs=1e-12)  # the grid holds all corners


def test_the_program_is_never_below_the_releases_and_may_be_above():
    rng = np.random.default_rng(1)
    matrices = [rng.dirichlet(np.ones(3), size=3) for _ in range(3)]
    start = rng.dirichlet(np.ones(3))
    law = oracle.chain_law(start, matrices)
    releases = [oracle.histogram(law.shape, 2.0), oracle.count(law.shape, [0, 2], 1.5, [1, 2])]
    tables = oracle.profile_of(releases, law.shape)
    losses, program = oracle.joint_losses(law, releases, 1), oracle.worst_pairs(law, tables, 1)
    assert np.all(losses <= program + 1e-12)
    assert np.all(program <= oracle.lp_chain_losses(start, matrices, tables, 1) + 1e-10)


def test_impossible_values_and_sets_of_values():
    law = oracle.chain_law(np.array([1.0, 0, 0]), [np.array([[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]])] * 2)
    tables = [0.4 * (1 - np.eye(3))] * 3
    assert oracle.worst_pairs(law, tables, 1)[2].max() == 0
    one = oracle.worst_likelihood(law, tables, oracle.given(law, 1, 0), oracle.given(law, 1, 1))
    with_impossible = oracle.worst_likelihood(law, tables, oracle.given(law, 1, [0, 2]), oracle.given(law, 1, 1))
    assert one == pytest.approx(with_impossible, abs=1e-12)


def test_events_reach_the_delta_of_the_theorem():
    law = np.full((2,), 0.5)
    table, delta = np.array([[0, 0.5], [0.5, 0]]), np.array([[0, 1e-3], [1e-3, 0]])
    worst = oracle.worst_event(law, [table], [delta], oracle.given(law, 0, 0), oracle.given(law, 0, 1), 0.5)
    assert worst == pytest.approx(1e-3, rel=1e-6)


def test_an_alternating_supremum_needs_more_than_rays():
    rho = np.array([[0, 1, 1, 2], [1, 0, 2, 1], [1, 2, 0, 1], [2, 1, 1, 0]], float)  # a square
    p, q = np.array([0.4, 0.1, 0.1, 0.4]), np.array([0.1, 0.4, 0.4, 0.1])
    rays = [np.exp(rho[:, v]) for v in range(4)] + [np.exp(-rho[v]) for v in range(4)]
    best_ray = max(math.log(p @ ray) - math.log(q @ ray) for ray in rays)
    alternating = np.exp([1, 0, 0, 1])
    reached = math.log(p @ alternating) - math.log(q @ alternating)
    assert oracle.lp_supremum(p, q, rho) == pytest.approx(reached, abs=1e-12)
    assert best_ray < reached - 0.01

"""Programs over the pairs that no third state implies: linear programs, any flow, states that are nearly equal."""

from itertools import product

import numpy as np
import pytest
from tests.support.influence_oracle import lp_supremum

from takifugu.influence.profiles import certified, sparse
from takifugu.influence.profiles.certified import Programs
from takifugu.influence.profiles.levels import Levels
from takifugu.influence.profiles.sparse import Cone, SparsePrograms, joined_states, not_implied, proved, star
from takifugu.influence.profiles.suprema import suprema
from takifugu.numbers.outward_rounding import closed

BOTH = np.array([[0, 1], [1, 0]])


def sum_over_variables(moves, sizes):
    """rho of joint values: a sum over variables, each losing `moves` for any change."""
    values = np.array(list(product(*map(range, sizes))))
    return ((values[:, None] != values) * np.asarray(moves)).sum(axis=2)


def rows_of(rng, states, zeros):
    rows = rng.dirichlet(np.full(states, rng.choice([0.1, 1.0])), size=2)
    if zeros:
        rows[rows < 0.3 / states] = 0.0
    return rows / rows.sum(axis=1, keepdims=True)


def in_the_cone(rng, ratio):
    """A random phi of the cone."""
    return np.exp((ratio + rng.uniform(-ratio.max(), 0, len(ratio))).min(axis=1))


def test_of_sums_over_variables_only_changes_of_one_variable_count():
    ratio = sum_over_variables([0.3, 1, 2, 0.1, 5, 0.7, 1.1], [2] * 7)
    first, second = not_implied(ratio)
    assert len(first) == 896  # of 16,256
    values = np.array(list(product((0, 1), repeat=7)))
    assert (np.abs(values[first] - values[second]).sum(axis=1) == 1).all()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
def test_programs_are_linear_programs(seed):
    rng = np.random.default_rng(seed)
    sizes = [[2, 3, 2], [2] * 4, [3, 3, 2], [2] * 5][seed % 4]
    states = int(np.prod(sizes))
    ratio = sum_over_variables(rng.uniform(0.05, [0.5, 2.0][seed % 2], len(sizes)), sizes)
    if seed % 3 == 0:  # no sum, but any closed rho
        ratio = closed(ratio * rng.uniform(0.7, 1, (states, states)))
    rows = rows_of(rng, states, zeros=seed % 2 == 0)
    programs = SparsePrograms()
    for gain in (1.0, 1.01, 0.5, 2.0):  # trees and pairs are remembered
        bounds, solved = programs.bound(rows, ratio * gain, BOTH)
        assert solved.all()
        for (a, b), bound in zip(BOTH, bounds, strict=True):
            assert bound == pytest.approx(lp_supremum(rows[a], rows[b], ratio * gain), abs=1e-7)


@pytest.mark.parametrize("largest", [1e-12, 1e-8, 1.0, 12.0, 20.0])
def test_programs_of_all_gains_are_solved_and_never_below_what_is_attained(largest):
    rng = np.random.default_rng(3)
    for size in (3, 5, 7):
        ratio = sum_over_variables(largest * rng.uniform(0.3, 1, size), [2] * size)
        rows = rows_of(rng, 2**size, zeros=size == 5)
        bounds, solved = SparsePrograms().bound(rows, ratio, BOTH)
        assert solved.all()
        for _ in range(20):
            phi = rows @ in_the_cone(rng, ratio)
            assert np.log(phi[0] / phi[1]) <= bounds[0] + 1e-15
            assert np.log(phi[1] / phi[0]) <= bounds[1] + 1e-15


def test_any_tree_bounds_the_supremum():
    rng = np.random.default_rng(8)
    for states in (4, 9, 17):
        for _ in range(15):
            ratio = closed(rng.uniform(0.05, rng.choice([0.3, 2.0]), (states, states)) * (1 - np.eye(states)))
            rows = rows_of(rng, states, zeros=bool(rng.random() < 0.5))
            first_tree = star(rows[1], rows[0], Cone(ratio, not_implied(ratio)))  # of the pair turned round
            bound, _ = proved(first_tree, rows[0], rows[1], ratio)
            assert bound >= lp_supremum(rows[0], rows[1], ratio) - 1e-9


def test_a_search_that_does_not_end_leaves_no_trace(monkeypatch):
    """Either the supremum or the least of two levels, which depends on the largest rho alone."""
    rng = np.random.default_rng(2)
    monkeypatch.setattr(sparse, "PIVOTS", 0)
    monkeypatch.setattr(certified, "PIVOTS", 0)
    unfinished = 0
    for states in (8, 32):
        for _ in range(5):
            ratio = closed(rng.uniform(0.05, 2, (states, states)) * (1 - np.eye(states)))
            rows = rows_of(rng, states, zeros=False)
            bound, levels = Programs().bound(rows, ratio)[0, 1], Levels(rows).bound(ratio.max())[0, 1]
            if bound == levels:
                unfinished += 1
            else:
                assert bound == pytest.approx(lp_supremum(rows[0], rows[1], ratio), abs=1e-7)
    assert unfinished > 5


@pytest.mark.parametrize("hardly", [0.0, 1e-15, 4e-10, 6e-10, 1e-6])
def test_states_that_are_nearly_equal_are_joined_and_what_that_lowers_is_added(hardly):
    rng = np.random.default_rng(4)
    ratio = sum_over_variables([0.5, hardly, 0.3, 0.7, hardly], [2] * 5)
    rows = rows_of(rng, 32, zeros=False)
    without = sum_over_variables([0.5, 0.3, 0.7], [2] * 3)
    sums = rows.reshape(2, 2, 2, 2, 2, 2).sum(axis=(2, 5)).reshape(2, 8)
    bounds, solved = SparsePrograms().bound(rows, ratio, BOTH)
    least, _ = SparsePrograms().bound(sums, without, BOTH)
    assert solved.all()
    assert (least - 1e-13 <= bounds).all()
    assert (bounds <= least + 2 * hardly + 1e-10).all()
    joined, lower, lowered = joined_states(rows, ratio)
    assert len(lower) == joined.shape[1] == (8 if hardly < 5e-10 else 32)
    assert lowered >= (2 * hardly if hardly < 5e-10 else 0.0) * (1 - 1e-6)


def test_gains_that_are_hardly_computable_are_bounded():
    rng = np.random.default_rng(6)
    ratio = sum_over_variables([60.0, 50.0, 45.0, 70.0, 60.0], [2] * 5)
    rows = rows_of(rng, 32, zeros=True)
    bound = suprema(rows, ratio, programs=Programs())
    for _ in range(50):
        phi = np.log(rows @ in_the_cone(rng, ratio))
        assert phi[0] - phi[1] <= bound[0, 1] <= 285 + 1e-9

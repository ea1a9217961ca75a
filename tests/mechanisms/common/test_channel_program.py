"""The one linear program over channels, against the same program written out entry by entry."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

from takifugu.core.errors import Unsupported
from takifugu.mechanisms.common.channel_program import check_size, exact_channel, ratio_limits, solved, together

LAWS = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]) / 3


def ratios(epsilon):
    return np.array([LAWS[a] - np.exp(epsilon) * LAWS[b] for a, b in ((0, 1), (1, 0))])


def least_cost(rows, delta, mixing=None, allowed=None):
    """Return the least cost, with a variable for each entry and each t_ry and a constraint for each, in loops."""
    parts = np.eye(3) if mixing is None else mixing
    entry = {pair: n for n, pair in enumerate(itertools.product(range(len(parts)), range(3)))}
    spare = {pair: len(entry) + n for n, pair in enumerate(itertools.product(range(len(rows)), range(3)))}
    count = len(entry) + len(spare)
    limits, bounds, sums = [], [], []
    for r, row in enumerate(rows):
        for y in range(3):
            line = np.zeros(count)
            for part in range(len(parts)):
                line[entry[part, y]] = row[part]
            line[spare[r, y]] = -1.0
            limits.append(line)
            bounds.append(0.0)
        line = np.zeros(count)
        line[[spare[r, y] for y in range(3)]] = 1.0
        limits.append(line)
        bounds.append(delta)
    costs = np.zeros(count)
    for x in range(3):
        line = np.zeros(count)
        for part, y in entry:
            line[entry[part, y]] += parts[part][x]
            costs[entry[part, y]] += parts[part][x] * COST[x, y]
        sums.append(line)
    can = [allowed is None or allowed[part][y] for part, y in entry] + [True] * len(spare)
    ends = [(0, None if may else 0) for may in can]
    return linprog(costs, limits, bounds, sums, np.ones(3), bounds=ends).fun


@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_program_is_the_one_that_is_stated(epsilon, delta):
    matrix = solved(COST, ratio_limits(ratios(epsilon), 3, delta)).matrix
    assert (matrix * COST).sum() == pytest.approx(least_cost(ratios(epsilon), delta), abs=1e-7)
    assert matrix.sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-12)


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_parts_that_are_mixed_and_entries_that_are_not_allowed(delta):
    mixing = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    rows = np.column_stack([ratios(0.3), ratios(0.3).sum(axis=1)])
    matrix = solved(COST, ratio_limits(rows, 3, delta), csr_array(mixing)).matrix
    assert (matrix * COST).sum() == pytest.approx(least_cost(rows, delta, mixing), abs=1e-7)
    allowed = [[y >= x for y in range(3)] for x in range(3)]
    upper = solved(COST, ratio_limits(ratios(0.3), 3, delta), allowed=allowed).matrix
    assert (upper * COST).sum() == pytest.approx(least_cost(ratios(0.3), delta, allowed=allowed), abs=1e-7)
    assert (np.tril(upper, -1) == 0).all()


def test_several_limits_hold_together_and_what_nothing_keeps_is_refused():
    strict, loose = ratio_limits(ratios(0.1), 3, 0.2), ratio_limits(ratios(1.0), 3)
    matrix = solved(COST, together([loose, strict, loose], COST.size)).matrix
    assert (ratios(1.0) @ matrix).max() <= 1e-7
    assert np.maximum(ratios(0.1) @ matrix, 0).sum(axis=1).max() <= 0.2 + 1e-7
    with pytest.raises(Unsupported, match="found no channel"):
        solved(COST, ratio_limits(np.array([[1.0, 0, 0]]), 3))
    with pytest.raises(Unsupported, match="would have 11 numbers, and at most 10"):
        check_size(11, 10, "ask for less")


def test_only_a_channel_that_keeps_what_is_measured_is_returned():
    matrix = np.array([[1.0, 0.0], [0.0, 1.0]])
    blends = [Fraction(0), Fraction(1, 2), Fraction(1)]
    even = exact_channel([0, 1], [0, 1], matrix, blends, lambda channel: channel.measure() <= 2)
    assert even is not None
    assert even.row(0) == {0: Fraction(3, 4), 1: Fraction(1, 4)}
    assert exact_channel([0, 1], [0, 1], matrix, blends, lambda channel: False) is None

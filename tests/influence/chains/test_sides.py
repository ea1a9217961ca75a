"""What one step does, in many digits: laws by Fractions, the rounding of products covered, bounds never below."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from tests.support.chain_oracles import as_mpf
from tests.support.sweep_oracles import DIGITS, backwards, by_tanh, product_of, supremum

import takifugu as tf
from takifugu.influence.chains import sides
from takifugu.influence.chains.chains import backward_side
from takifugu.influence.chains.sides import BackwardFromAnyStart, Forward, contracted, reversed_kernel, spread
from takifugu.numbers.outward_rounding import UNIT

UNITS = 2**30  # masses are multiples of 2^-30, so that rows sum to one exactly and products of two are rounded


def rows_of(random, states, sticky=0.0, zeros=False):
    """A stochastic matrix of floats that are exact Fractions, and those."""
    matrix = []
    for row in range(states):
        law = random.dirichlet(np.ones(states)) * (1 - sticky)
        law[row] += sticky
        if zeros:
            law[(row + 1) % states] = 0.0
        counts = [int(share / law.sum() * UNITS) for share in law]
        counts[row] += UNITS - sum(counts)
        matrix.append([Fraction(count, UNITS) for count in counts])
    return np.array([[float(p) for p in row] for row in matrix]), matrix


def chain_of(seed, states, period, sticky=0.0, zeros=False):
    random = np.random.default_rng(seed)
    both = [rows_of(random, states, sticky, zeros) for _ in range(period)]
    return np.array([one for one, _ in both]), [exact for _, exact in both]


class Seen:
    """The rows and the error of the last call of `suprema`, which goes on."""

    def __init__(self, monkeypatch):
        suprema = sides.suprema

        def watched(rows, ratio, relative_error=0.0, *more):
            self.rows, self.error = rows, relative_error
            return suprema(rows, ratio, relative_error, *more)

        monkeypatch.setattr(sides, "suprema", watched)


def assert_covered(seen, exact, ratio, loss):
    """The rows are the exact laws up to the error that is charged, and no pair of them loses more than is said."""
    possible = [s for s, row in enumerate(exact) if row]
    for row, law in zip(seen.rows, exact, strict=True):
        if not law:
            assert any((row == seen.rows[s]).all() for s in possible)
            continue
        for mass, true in zip(row.tolist(), law, strict=True):
            assert abs(Fraction(mass) - true) <= Fraction(seen.error) * true
    for a, b in product(possible, possible):
        if a != b:
            true = supremum(exact[a], exact[b], ratio)
            assert true * (1 - mpmath.mpf(10) ** -40) <= loss[a, b] <= max(true, 0) + 3 * seen.error + 1e-13
    assert not loss.diagonal().any()


RATIO = np.array([[0.0, 1.0, 0.25], [0.5, 0.0, 0.75], [1.5, 0.5, 0.0]])
CASES = [(2, 1, 0.0), (2, 3, 0.5), (3, 1, 0.0), (3, 2, 0.9)]


@pytest.mark.parametrize(("states", "period", "sticky"), CASES)
@pytest.mark.parametrize("zeros", [False, True])
def test_forwards_rows_are_the_laws_of_what_follows(states, period, sticky, zeros, monkeypatch):
    matrices, exact = chain_of(1, states, period, sticky, zeros and states > 2)
    side, seen, ratio = Forward(matrices, 61), Seen(monkeypatch), RATIO[:states, :states]
    for position in (1, 2, 3, 7, 19):
        for distance in (d for d in (1, 2, 3, 7, 19) if d <= position):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, product_of(exact, 60 - position, 60 - position + distance), ratio, loss)
            assert seen.error <= 6 * distance * (states + 2) * UNIT * (distance > 1)


STARTS = ["stationary", "given", "one value", "several that repeat"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("states", "period", "sticky"), CASES[:3])
def test_backwards_rows_are_the_laws_of_what_went_before(states, period, sticky, start, monkeypatch):
    matrices, exact = chain_of(2, states, period, sticky)
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 500)
    if start == "several that repeat":
        matrices[:], exact = np.eye(states), [[[Fraction(a == b) for b in range(states)] for a in range(states)]]
    law = None if start == "stationary" else [Fraction(n, 8) for n in ([1, 7], [1, 4, 3])[states - 2]]
    law = [Fraction(s == 1) for s in range(states)] if start == "one value" else law
    chain = tf.PeriodicChain(list(matrices), 99, initial="stationary" if law is None else [float(p) for p in law])
    side, seen, ratio = backward_side(chain), Seen(monkeypatch), RATIO[:states, :states]
    limit = side.settled_from if start != "several that repeat" else 12
    for position in (1, 2, 5, 8, *range(max(limit, 9), limit + 5)):
        for distance in (d for d in (1, 2, 3, 7) if d <= position):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, backwards(exact, law, position, distance), ratio, loss)
            assert seen.error < 1e-10 if position >= limit else 1e-12


def test_a_start_that_settles_slowly_is_taken_for_settled_only_where_the_error_covers_it(monkeypatch):
    """An eigenvalue of 0.9: what is left at that time is no rounding."""
    matrix, seen = np.array([[0.953125, 0.046875], [0.0625, 0.9375]]), Seen(monkeypatch)
    exact, law = [[[Fraction(p) for p in row] for row in matrix.tolist()]], [Fraction(1, 1024), Fraction(1023, 1024)]
    side = backward_side(tf.MarkovChain(matrix, 10**4, [float(p) for p in law]))
    settled, ratio = side.settled_from, RATIO[:2, :2]
    assert 200 < settled < 375
    for position in (settled - 1, settled, settled + 1, settled + 3):
        for distance in (1, 2, 4):
            loss = side.step(position, distance, ratio)
            assert_covered(seen, backwards(exact, law, position, distance), ratio, loss)
            assert seen.error < (1e-12 if position < settled else 1.2e-11)


def test_a_start_whose_laws_are_rounded_too_often_never_settles(monkeypatch):
    monkeypatch.setattr(sides, "MOST_UNSETTLED", 4000)
    slow = np.array([[0.99, 0.01], [0.01, 0.99]])
    assert backward_side(tf.MarkovChain(slow, 10**4, [1.0, 0.0])).settled_from == 4000
    assert backward_side(tf.MarkovChain(slow, 10**4, [0.5, 0.5])).settled_from < 10


def test_laws_that_floats_cannot_hold_are_reversed_by_their_logarithms():
    """Masses of e^-1000 and less; the third value is impossible there, and its row is one that is possible."""
    before = [Fraction(1, 2**1500), Fraction(3, 2**1501), Fraction(0)]
    matrix = [[Fraction(1, 4), Fraction(3, 4), Fraction(0)], [Fraction(1, 2), Fraction(1, 2), Fraction(0)],
              [Fraction(0), Fraction(1, 2), Fraction(1, 2)]]  # fmt: skip
    here = [sum(before[u] * matrix[u][s] for u in range(3)) for s in range(3)]
    logs = [[float(mpmath.log(as_mpf(mass))) if mass else -np.inf for mass in law] for law in (before, here)]
    rows = reversed_kernel(np.array(logs[0]), np.array(matrix, dtype=float), np.array(logs[1]))
    for s in (0, 1):
        exact = [float(before[u] * matrix[u][s] / here[s]) for u in range(3)]
        assert rows[s] == pytest.approx(exact, rel=1e-12, abs=0)
    assert (rows[2] == rows[0]).all()


def height(columns, a, b):
    """h(a, b) of Fractions [x][a], and infinite where some start tells a and b apart for sure."""
    ratios = [(row[a], row[b]) for row in columns if row[a] or row[b]]
    if a == b or not ratios:
        return mpmath.mpf(0)
    if not all(one and other for one, other in ratios):
        return mpmath.inf
    shares = [one / other for one, other in ratios]
    return mpmath.log(as_mpf(max(shares) / min(shares)))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(("states", "period", "sticky"), CASES)
def test_a_step_back_to_any_start_is_lemma_2(states, period, sticky, zeros):
    matrices, exact = chain_of(3, states, period, sticky, zeros)
    side = BackwardFromAnyStart(matrices)
    assert side.has_zeros == zeros
    for position, distance, size in product(range(4, 4 + period), (1, 2, 4), (1e-9, 0.3, 2.0, 60.0)):
        ratio = size * (1 - np.eye(states)) * np.linspace(0.5, 1, states)
        columns = product_of(exact, position - distance, position)
        loss = side.step(position, distance, ratio)
        for a, b in product(range(states), repeat=2):
            with mpmath.workdps(DIGITS):
                apart = height(columns, a, b)
                true = by_tanh(mpmath.tanh(apart / 4), ratio.max(), 4) if a != b else mpmath.mpf(0)
                assert true * (1 - mpmath.mpf(10) ** -30) <= loss[a, b] <= float(ratio.max())
                assert loss[a, b] <= true + 40 * UNIT * (distance * states + 1 + 2 * ratio.max())


def test_the_contraction_is_never_below_its_formula():
    heights = [1e-9, 1e-3, 0.5, 3.0, 40.0, 900.0, 1401.0, 3000.0, np.inf]
    for size in (1e-9, 1e-3, 0.7, 5.0, 300.0, 1500.0, 4000.0):
        table = np.array([heights])
        values = np.minimum(sides.contraction(table, size), size)[0]
        square = contracted(np.where(np.eye(2) > 0, 0.0, heights[4]), size)
        assert square[0, 1] == values[4]
        assert not square.diagonal().any()
        for apart, value in zip(heights, values.tolist(), strict=True):
            with mpmath.workdps(1000):
                true = 4 * mpmath.atanh(mpmath.tanh(mpmath.mpf(apart) / 4) * mpmath.tanh(mpmath.mpf(size) / 4))
                true = true if apart < np.inf else mpmath.mpf(size)
                assert true * (1 - mpmath.mpf(10) ** -30) <= value
                assert value <= true + 20 * UNIT * (min(apart, size + 1400) + size + 1)
    assert not contracted(np.full((2, 2), np.inf), 0.0).any()


def test_the_spread_of_columns_is_theirs_where_some_are_impossible():
    columns = np.array([[0.5, 0.0, 0.25, 0.25], [0.25, 0.0, 0.5, 0.25], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    exact = [[Fraction(p) for p in row] for row in columns.T.tolist()]  # [x][a]
    heights = spread(columns)
    for a, b in product(range(4), repeat=2):
        true = height(exact, a, b)
        assert true <= heights[a, b] <= true * (1 + 32 * UNIT) + 1e-300 or (heights[a, b] == true == mpmath.inf)

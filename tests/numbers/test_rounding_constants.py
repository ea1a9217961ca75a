"""The margins that docs/theory/rounding.md derives: each holds, within a stated factor of the errors that occur."""

import math
from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest

from takifugu import MarkovChain
from takifugu.influence.quilts.chain.class_influence import ClassInfluence, lemma_b4
from takifugu.influence.quilts.chain.constants import Constants, reversible_constants
from takifugu.influence.quilts.chain.region import longer
from takifugu.numbers.log_ratios import UNIT, product_error

#: A worst case of so many operations, against errors that cancel.
PRODUCTS, ROWS, STATIONARY = 200, 100, 1000


def random_counts(states: int, seed: int) -> list[list[int]]:
    rng = Random(seed)
    sizes = (1, 10, 10**3, 10**6)
    return [[rng.randint(1, 9) * rng.choice(sizes) for _ in range(states)] for _ in range(states)]


def exact_rows(counts: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(count, sum(row)) for count in row] for row in counts]


def as_mpf(value: Fraction | float) -> mpmath.mpf:
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


@pytest.mark.parametrize("states", [2, 3, 5, 8])
def test_the_error_of_products_is_within_its_bound(states: int) -> None:
    """Theorem 1: log-ratios in a column of powers, against 60 digits."""
    nearest = 0.0
    with mpmath.workdps(60):
        for seed in range(6):
            rows = exact_rows(random_counts(states, seed))
            power, exact = np.eye(states), mpmath.eye(states)
            step = mpmath.matrix([[as_mpf(p) for p in row] for row in rows])
            matrix = MarkovChain(rows, length=2).matrix
            for length in range(1, 65):
                power, exact = power @ matrix, exact * step
                if length & (length - 1):
                    continue
                bound = float(product_error(np.array([length]), states)[0])
                for y in range(states):
                    errors = [float(mpmath.log(as_mpf(power[x, y]) / exact[x, y])) for x in range(states)]
                    off = max(errors) - min(errors)
                    assert off <= bound
                    nearest = max(nearest, off / bound)
    assert nearest >= 1 / PRODUCTS


def filled(low: list[Fraction], high: list[Fraction], values: list[Fraction]) -> Fraction:
    """Return the largest mean of the values over the laws of a box."""
    total, free = Fraction(0), 1 - sum(low)
    for place in sorted(range(len(low)), key=lambda n: -values[n]):
        share = min(free, high[place] - low[place])
        total, free = total + (low[place] + share) * values[place], free - share
    return total


@pytest.mark.parametrize(("states", "trials"), [(2, 60), (3, 60), (6, 60), (12, 20)])
def test_the_best_row_of_a_box_is_never_below_the_exact_one(states: int, trials: int) -> None:
    """Theorem 3: the allowance of 32 (k + 1) units, against rationals; errors reach a hundredth of it."""
    rng, nearest = Random(states), 0.0
    for trial in range(trials):
        low = np.array([[rng.random() / (2 * states) for _ in range(states)] for _ in range(states)])
        room = np.array([[rng.choice([1.0, 1e-3, 0.0]) * rng.random() for _ in range(states)] for _ in range(states)])
        high = np.minimum(low + np.maximum(room, 1.2 / states if trial % 2 else 0.9 * room + 0.7 / states), 1.0)
        after = np.array([[rng.random() for _ in range(states)] for _ in range(states)])
        if (high.sum(axis=1) < 1).any():
            continue
        most, least = longer(low, high, after, largest=True), longer(low, high, after, largest=False)
        allowance = 32 * (states + 1) * UNIT * after.max(axis=0)
        for x in range(states):
            ends = [list(map(Fraction, row[x].tolist())) for row in (low, high)]
            for y in range(states):
                values = list(map(Fraction, after[:, y].tolist()))
                above = float(Fraction(most[x, y]) - filled(*ends, values))
                under = float(-filled(*ends, [-v for v in values]) - Fraction(least[x, y]))
                assert above >= 0 or most[x, y] == 1.0
                assert under >= 0
                nearest = max(
                    nearest, abs(above - allowance[y]) / allowance[y], abs(under - allowance[y]) / allowance[y]
                )
    assert 1 / ROWS <= nearest <= 1


def test_a_defect_is_charged_in_full_and_no_more() -> None:
    """Theorem 2: rows that are off by a relative d, once to each side: the first step reaches 2d."""
    defect = 1e-6
    charged = ClassInfluence(0.5, 0.999, defect)._right[0, 0] - float(lemma_b4(np.array([1]), 0.5, 0.999)[0])
    off = math.log((1 + defect) / (1 - defect))
    assert off <= charged <= 1.02 * off


def test_the_constants_of_a_nearly_reversible_chain_are_those_of_a_reversible_one() -> None:
    """The reversible chain of the flows is within `defect` of the given one, entry by entry, and not far below it."""
    nearest = 0.0
    for seed in range(20):
        rng = Random(seed)
        weights = [[rng.randint(1, 1000) for _ in range(4)] for _ in range(4)]
        flows = [[weights[x][y] + weights[y][x] for y in range(4)] for x in range(4)]
        chain = MarkovChain([[Fraction(f, sum(row)) for f in row] for row in flows], length=2)
        constants = reversible_constants(chain)
        assert isinstance(constants, Constants)
        total = sum(map(sum, flows))
        assert constants.pi <= min(sum(row) for row in flows) / total
        for x, row in enumerate(flows):
            for y, flow in enumerate(row):
                off = abs(Fraction(float(chain.matrix[x, y])) / Fraction(flow, sum(row)) - 1)
                assert off <= constants.defect
                nearest = max(nearest, float(off) / constants.defect)
    assert nearest >= 1 / PRODUCTS


@pytest.mark.parametrize("states", [2, 3, 5])
def test_stationary_laws_are_within_their_bound(states: int) -> None:
    """Theorem 5, against rationals: log pi(s')/pi(s) within (k^3 + 15 k^2 + 10) units."""
    nearest, bound = 0.0, (states**3 + 15 * states**2 + 10) * UNIT
    for seed in range(10):
        rows = exact_rows(random_counts(states, seed))
        law = MarkovChain(rows, length=2).stationary_laws[0]
        true = stationary(rows)
        with mpmath.workdps(40):
            masses = zip(law.mantissas.tolist(), law.exponents.tolist(), strict=True)
            exact = [
                mpmath.log(as_mpf(Fraction(m) * Fraction(2) ** e) / as_mpf(p))
                for (m, e), p in zip(masses, true, strict=True)
            ]
        off = float(max(exact) - min(exact))
        assert off <= bound
        nearest = max(nearest, off / bound)
    assert nearest >= 1 / STATIONARY


def stationary(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the stationary law by elimination in rationals."""
    size = len(rows)
    system = [[rows[x][y] - (x == y) for x in range(size)] + [Fraction(0)] for y in range(size - 1)]
    system.append([Fraction(1)] * (size + 1))
    for column in range(size):
        pivot = next(n for n in range(column, size) if system[n][column])
        system[column], system[pivot] = system[pivot], system[column]
        system[column] = [value / system[column][column] for value in system[column]]
        for n in range(size):
            if n != column:
                factor = system[n][column]
                system[n] = [a - factor * b for a, b in zip(system[n], system[column], strict=True)]
    return [row[-1] for row in system]

"""The margins that docs/theory/rounding.md derives: each holds, within a stated factor of the errors that occur."""

import math
from fractions import Fraction
from random import Random

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from tests.support.chain_oracles import exact_rows, stationary_vector
from tests.support.laws_oracles import as_mpf

from takifugu import MarkovChain
from takifugu.influence.chains.region_bounds import longer
from takifugu.influence.quilts.mqm_approx import ClassInfluence, Constants, lemma_b4, reversible_constants
from takifugu.numbers import Pmf
from takifugu.numbers.after_noise.gaussian_pair import GaussianPair
from takifugu.numbers.densities.normal import Normal, _relative
from takifugu.numbers.outward_rounding import UNIT, product_error
from takifugu.numbers.transport.partial_moves import _ROUNDING, CELLS, _read

#: A worst case of so many operations, against errors that cancel.
PRODUCTS, ROWS, STATIONARY = 200, 100, 1000
NORMALS, PAIRS, CELLS_IN_DOUBT = 100, 100, 100


def random_counts(states: int, seed: int) -> list[list[int]]:
    rng = Random(seed)
    sizes = (1, 10, 10**3, 10**6)
    return [[rng.randint(1, 9) * rng.choice(sizes) for _ in range(states)] for _ in range(states)]


@pytest.mark.sampled(9)
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


@pytest.mark.sampled(6)
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
    charged = ClassInfluence(0.5, 0.999, defect).after(0, 1)[0, 0] - float(lemma_b4(np.array([1]), 0.5, 0.999)[0])
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
        true = stationary_vector(rows)
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


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (0.3, 0.7), (-1e6, 1e-3), (1234.5678, 3e5)])
def test_heights_and_tails_of_normal_laws_are_within_their_margin(mean: float, deviation: float) -> None:
    """Theorem 6, against 60 digits."""
    rng, law = Random(3), Normal(mean, deviation)
    places = np.array([mean + deviation * rng.uniform(-37, 37) for _ in range(300)])
    heights, standard = law.pdf(places), (places - mean) / deviation
    lower = ndtr(np.minimum(standard, -standard))
    margins, nearest = _relative(standard), 0.0
    with mpmath.workdps(60):
        for x, height, tail, margin in zip(places.tolist(), heights.tolist(), lower.tolist(), margins, strict=True):
            z = (as_mpf(x) - as_mpf(mean)) / as_mpf(deviation)
            true_height = mpmath.exp(-z * z / 2) / (as_mpf(deviation) * mpmath.sqrt(2 * mpmath.pi))
            true_tail = mpmath.erfc(abs(z) / mpmath.sqrt(2)) / 2
            for value, true in ((height, true_height), (tail, true_tail)):
                off = float(abs(as_mpf(value) / true - 1))
                assert off <= margin
                nearest = max(nearest, off / margin)
    assert nearest >= 1 / NORMALS


@pytest.mark.parametrize("sigma", [1e-4, 0.01, 0.3, 2.0])
def test_two_laws_after_normal_noise_are_within_their_margin(sigma: float) -> None:
    """Theorem 7, against 60 digits, where both laws are above e^-1250: the means are within 256 margins."""
    rng, nearest, compared = Random(5), 0.0, 0
    for _ in range(4):
        values = [sorted({*rng.sample(range(40), 4), 39}) for _ in range(2)]
        weights = [[rng.choice([1, 10**6, 10**12]) * rng.randint(1, 9) for _ in row] for row in values]
        p, q = (Pmf.from_counts(places, counts) for places, counts in zip(values, weights, strict=True))
        pair = GaussianPair(p, q, sigma, 0.7)
        atoms = [*pair.x, *pair.y]
        places = np.sort(np.array([rng.choice(atoms) + rng.uniform(-45, 45) for _ in range(20)]))
        places = places[(places > -38) & (places < pair.right + 38)]
        rows = pair.points(places)
        with mpmath.workdps(60):
            origin = min(*values[0], *values[1])
            for column, y in enumerate(places.tolist()):
                margin = float(rows[pair.MARGIN, column])
                (log_a, mean_a), (log_b, mean_b) = (
                    noised(places, counts, origin, sigma, y) for places, counts in zip(values, weights, strict=True)
                )
                if min(log_a, log_b) < -1250:
                    continue
                compared += 1
                offs = [rows[pair.LOG_A, column] - log_a, rows[pair.RATIO, column] - as_mpf(0.7) - (log_b - log_a)]
                for off in map(float, map(abs, offs)):
                    assert off <= margin
                    nearest = max(nearest, off / margin)
                for row, mean in ((pair.MEAN_A, mean_a), (pair.MEAN_B, mean_b)):
                    assert abs(rows[row, column] - mean) <= 256 * margin
    assert compared >= 10
    assert nearest >= 1 / PAIRS


def noised(
    places: list[int], counts: list[int], origin: int, sigma: float, y: float
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return the log of a law's density after noise at a point, in deviations, and the mean of its atoms there."""
    atoms = [mpmath.mpf(place - origin) / as_mpf(sigma) for place in places]
    parts = []
    for atom, count in zip(atoms, counts, strict=True):
        parts.append(mpmath.mpf(count) / sum(counts) * mpmath.exp(-((as_mpf(y) - atom) ** 2) / 2))
    total = mpmath.fsum(parts)
    middle = mpmath.fsum(atom * part for atom, part in zip(atoms, parts, strict=True)) / total
    return mpmath.log(total / mpmath.sqrt(2 * mpmath.pi)), middle


@pytest.mark.mutants
@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (0.3, 2.0), (-1.5, 0.25)])
def test_what_is_in_doubt_of_cells_covers_what_they_miss(mean: float, deviation: float) -> None:
    """Theorem 8, against 60 digits: what a law does not share with itself as read is charged."""
    law = Normal(mean, deviation)
    first, last = -12.0, 12.0
    read, doubt = _read(law, first, last)
    cuts = np.linspace(first, last, CELLS + 1).tolist()
    with mpmath.workdps(60):
        unit = as_mpf(deviation) * mpmath.sqrt(2)
        tails = [mpmath.erfc((as_mpf(cut) - as_mpf(mean)) / unit) / 2 for cut in cuts]
        whole = mpmath.fsum(map(as_mpf, read.masses))
        shared = mpmath.mpf(0)
        for number, mass in zip(read.values.tolist(), read.masses, strict=True):
            shared += min(as_mpf(mass) / whole, tails[number] - tails[number + 1])
        missed = float(1 - shared)
        for number, cut in enumerate(cuts):
            exact = Fraction(first) + Fraction(last - first) * Fraction(number, CELLS)
            assert abs(Fraction(cut) - exact) <= Fraction(_ROUNDING) / 2 * 12
    assert missed <= doubt <= CELLS_IN_DOUBT * missed

"""Draws from few outcomes: permute-and-flip and alias tables."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.support.choice_oracles import first_heads
from tests.support.goodness_of_fit import chi_squared_p

from takifugu.core.errors import InputError
from takifugu.numbers.noise import InsecureSeededEntropyForTests, permute_and_flip
from takifugu.numbers.noise.alias import TOTAL, AliasTables
from takifugu.numbers.permute_and_flip import chances, missed, worst_mean

TINY = Fraction(1, 10**9)
COINS = [[1], [1, 1], [1, Fraction(1, 3)], [Fraction(1, 7), 1, Fraction(2, 3)], [1, TINY, 1, 0, Fraction(1, 2)]]


@pytest.mark.parametrize("coins", COINS, ids=str)
def test_uniform_among_the_heads_is_the_first_head_of_a_random_order(coins):
    """Exact, in rationals: what is drawn (all coins, then one of the heads) is what the paper's algorithm draws."""
    exact = [Fraction(coin) for coin in coins]
    drawn = [Fraction(0)] * len(exact)
    for heads in product((False, True), repeat=len(exact)):
        mass = math.prod(p if head else 1 - p for p, head in zip(exact, heads, strict=True))
        for place in range(len(exact)) if mass else ():
            drawn[place] += mass * heads[place] / sum(heads)
    assert drawn == first_heads(exact)
    assert sum(drawn) == 1
    assert chances(np.array([float(coin) for coin in exact])) == pytest.approx([float(x) for x in drawn], rel=1e-12)


def counted(deficits, rate, tries=6_000):
    entropy = InsecureSeededEntropyForTests(3)
    drawn = [permute_and_flip(deficits, rate, entropy) for _ in range(tries)]
    return np.bincount(drawn, minlength=len(deficits))


@pytest.mark.mutants
@pytest.mark.parametrize(("deficits", "rate"), [
    ([0, 1, 5], Fraction(1, 3)), ([Fraction(1, 2), 0, 0, Fraction(9, 4)], Fraction(7, 5)),
    ([3, 0], Fraction(10**20 + 1, 10**20)),
])  # fmt: skip
def test_draws_follow_the_law_and_not_that_of_another_rate(deficits, rate):
    counts = counted(deficits, rate)
    coins = {factor: [math.exp(-float(d * rate) * factor) for d in deficits] for factor in (1, 1.2)}
    assert chi_squared_p(counts, chances(np.array(coins[1]))) > 1e-6
    assert chi_squared_p(counts, chances(np.array(coins[1.2]))) < 1e-6


@pytest.mark.mutants
def test_one_candidate_is_always_drawn_and_an_equal_one_as_often():
    assert permute_and_flip([0], Fraction(1), InsecureSeededEntropyForTests(1)) == 0
    assert chi_squared_p(counted([0, 0, 0], Fraction(1, 10**12)), np.full(3, 1 / 3)) > 1e-6
    assert counted([10**6, 0], Fraction(1), tries=50).tolist() == [0, 50]


@pytest.mark.parametrize("candidates", [2, 3, 10, 400])
def test_it_misses_most_where_all_others_are_alike(candidates):
    rng = np.random.default_rng(candidates)
    for exponent in (0.0, 1e-9, 0.5, 3.0, 12.0):
        alike = chances(np.exp(-np.array([0.0] + [exponent] * (candidates - 1))))
        assert missed(exponent, candidates) == pytest.approx(float(alike[1:].sum()), rel=1e-6, abs=1e-25)
        for _ in range(5):
            far = np.concatenate([[0.0], rng.exponential(exponent + 1, candidates - 1)])
            law = chances(np.exp(-far))
            short = (far >= exponent) & (np.arange(candidates) > 0)
            assert law[short].sum() <= missed(exponent, candidates) + 1e-12
            assert law @ far <= worst_mean(candidates)


@pytest.mark.parametrize("candidates", [2, 3, 100, 10**6])
def test_the_worst_mean_is_no_less_than_the_largest_one(candidates):
    """That of a grid was 2e-8 of it too small."""

    def mean(x):
        heads = mp.exp(-x)
        return x * (1 - (1 - (1 - heads) ** candidates) / (candidates * heads))

    with mp.workdps(40):
        last = math.log(candidates) + 10
        near = max((last * n / 500 for n in range(1, 501)), key=mean)
        largest = mean(mp.findroot(partial(mp.diff, mean), near))
        assert largest <= worst_mean(candidates) <= largest * (1 + mp.mpf(10) ** -11)


@pytest.mark.parametrize(("deficits", "rate", "words"), [
    *((deficits, Fraction(1), "no candidate is the best one") for deficits in ([], [1, 2], [-1, 0])),
    *(([0, 1], rate, "the rate is") for rate in (Fraction(0), Fraction(-1), 0.5)),
])  # fmt: skip
def test_there_is_a_best_candidate_and_the_rate_is_an_exact_number_above_0(deficits, rate, words):
    with pytest.raises(InputError, match=words):
        permute_and_flip(deficits, rate, InsecureSeededEntropyForTests(1))


@st.composite
def rows(draw):
    weights = draw(st.lists(st.integers(0, 2**40) | st.just(0), min_size=1, max_size=12).filter(any))
    masses = [w * TOTAL // sum(weights) for w in weights]
    masses[max(range(len(weights)), key=weights.__getitem__)] += TOTAL - sum(masses)
    return masses


@given(rows())
def test_columns_add_up_to_the_masses(masses):
    table, count = AliasTables.of([masses]), len(masses)
    owned = [0] * count
    for column in range(count):
        height = table.height(0, column)
        owned[column] += height
        owned[int(table.others[0, column])] += TOTAL - height
    assert owned == [mass * count for mass in masses]


def test_draws_follow_the_rows_and_a_wrong_row_is_noticed():
    masses = [[TOTAL // 2, TOTAL // 4, TOTAL // 4, 0], [TOTAL // 8, TOTAL // 8, TOTAL // 4, TOTAL // 2]]
    row = np.repeat([0, 1], 200_000)
    drawn = AliasTables.of(masses).draw(row, InsecureSeededEntropyForTests(3))
    for number, law in enumerate(masses):
        seen = np.bincount(drawn[row == number], minlength=4)
        expected = np.array([m / TOTAL for m in law]) * 200_000
        alive = expected > 0
        assert not seen[~alive].any()
        assert stats.chisquare(seen[alive], expected[alive]).pvalue > 1e-6
        wrong = expected[alive] * np.linspace(0.95, 1.05, alive.sum())
        assert stats.chisquare(seen[alive], wrong * seen.sum() / wrong.sum()).pvalue < 1e-6


def test_a_tie_of_the_upper_bits_is_decided_by_the_lower_ones():
    """Two outputs, one with a single unit of mass: its column is its own up to 2 only."""
    table = AliasTables.of([[1, TOTAL - 1]])
    assert table.height(0, 0) == 2

    class Zeros:
        private = False

        def bytes(self, n):
            return bytes(n)

    assert table.draw(np.array([0]), Zeros()).tolist() == [0]


@pytest.mark.parametrize("masses", [[1, 2], [TOTAL, -1, 1], [TOTAL + 1, -1]])
def test_rows_that_are_no_law(masses):
    with pytest.raises(ValueError, match="add up"):
        AliasTables.of([masses])

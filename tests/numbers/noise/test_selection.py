"""Permute-and-flip: its law by every order and every coin, draws that follow it, and how far it misses at worst."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.support.choice_oracles import first_heads
from tests.support.goodness_of_fit import chi_squared_p

from takifugu.core.errors import InputError
from takifugu.numbers.noise import InsecureSeededEntropyForTests, permute_and_flip
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


def counted(deficits, rate, tries=12_000):
    entropy = InsecureSeededEntropyForTests(3)
    drawn = [permute_and_flip(deficits, rate, entropy) for _ in range(tries)]
    return np.bincount(drawn, minlength=len(deficits))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("deficits", "rate"), [
    ([0, 1, 5], Fraction(1, 3)), ([Fraction(1, 2), 0, 0, Fraction(9, 4)], Fraction(7, 5)),
    ([3, 0], Fraction(10**20 + 1, 10**20)),
])  # fmt: skip
def test_draws_follow_the_law_and_not_that_of_another_rate(deficits, rate):
    counts = counted(deficits, rate)
    coins = {factor: [math.exp(-float(d * rate) * factor) for d in deficits] for factor in (1, 1.2)}
    assert chi_squared_p(counts, chances(np.array(coins[1]))) > 1e-6
    assert chi_squared_p(counts, chances(np.array(coins[1.2]))) < 1e-6


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
            assert law @ far <= worst_mean(candidates) * (1 + 1e-6)


@pytest.mark.parametrize("deficits", [[], [1, 2], [-1, 0]])
def test_there_is_a_best_candidate(deficits):
    with pytest.raises(InputError, match="no candidate is the best one"):
        permute_and_flip(deficits, Fraction(1), InsecureSeededEntropyForTests(1))


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), 0.5])
def test_the_rate_is_an_exact_number_above_0(rate):
    with pytest.raises(InputError, match="the rate is"):
        permute_and_flip([0, 1], rate, InsecureSeededEntropyForTests(1))

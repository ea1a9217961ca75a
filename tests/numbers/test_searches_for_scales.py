"""Searches end on the safe side: what they return was tried there, and held."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.numbers.rationals import round_up, short_below
from takifugu.numbers.search import (
    Search,
    are_neighbours,
    between,
    doubled,
    geometric_mean,
    halved,
    least_factor,
    lowest,
    mean,
    next_to,
    side_by_side,
    smallest_noise,
    smallest_safe,
    smallest_scale,
)


@pytest.mark.parametrize("loss", [
    lambda b: 2 / b,
    lambda b: 1 / b**3,
    lambda b: math.expm1(1 / b),
    lambda b: 5.0 if b < 3 else 0.25,  # a jump
    lambda b: 5.0 if b < 3 else 0.0,
])  # fmt: skip
def test_a_scale_was_tried_and_a_little_less_fails(loss):
    tried = {}

    def watched(scale):
        tried[scale] = float(loss(scale)) if scale else math.inf
        return tried[scale]

    epsilon, low, high = Fraction(1, 2), Fraction(1, 100), Fraction(50)
    scale = smallest_scale(watched, epsilon, high, low)
    assert tried[scale] <= epsilon
    assert loss(scale * (1 - Fraction(1, 10**9))) > epsilon
    assert len(tried) < 60


def test_a_scale_that_is_known_to_be_safe_need_not_be_judged_so():
    """Whoever proved it knows more than the bound that judges: nothing is returned that was not proven or judged."""
    assert smallest_scale(lambda b: 2.0, Fraction(1), Fraction(1, 3), Fraction(0)) == Fraction(1, 3)
    only_judged_at_last = smallest_safe(lambda b: 1 / b if b > 5 else 1 + 1e-15, 10.0, 1.0)
    assert 5 < only_judged_at_last < 5 * (1 + 2**-36)


def test_no_noise_where_none_is_needed():
    assert smallest_noise(lambda b: 1.0, Fraction(1), Fraction(3), Fraction(1)) == 0
    for low in (Fraction(1, 2), Fraction(2)):
        assert smallest_noise(lambda b: float(1 / b) if b else math.inf, 1 / low, Fraction(3), low) == low


def test_where_even_the_lowest_scale_holds_it_was_tried():
    """It was returned untried: a scale a little below the float that was."""
    tried = []

    def loss(scale):
        tried.append(scale)
        return 0.1

    scale = smallest_scale(loss, Fraction(1), Fraction(20), Fraction(1, 3))
    assert scale in tried
    assert float(scale) == pytest.approx(1 / 3)


def test_halving_by_integers_reals_and_logarithms():
    assert halved(lambda n: n >= 17, 1000, 0, next_to, between) == 17
    assert halved(lambda n: n <= 17, 0, 1000, next_to, between) == 17
    real = halved(lambda x: x * x >= 2, 2.0, 1.0, lambda good, bad: good - bad < 1e-9, mean)
    assert real * real >= 2
    assert real == pytest.approx(math.sqrt(2), abs=2e-9)
    log = halved(lambda x: x < 1e-5, 1e-9, 1e9, lambda good, bad: bad / good < 1.001, geometric_mean)
    assert log < 1e-5 < 1.001 * log


def test_the_lowest_place_of_a_valley():
    assert lowest(lambda x: (abs(x - 2), x), -1.0, 7.0, 30, key=lambda one: one[0])[1] == pytest.approx(2, abs=1e-5)


@pytest.mark.parametrize("least", [Fraction(5, 4), Fraction(2), Fraction(9, 4), Fraction(77), Fraction(2**19)])
def test_the_factor_that_is_offered_fits_and_is_nearly_the_least(least: Fraction) -> None:
    factor = least_factor(lambda factor: factor >= least)
    assert factor is not None
    assert least <= factor <= least * Fraction(105, 100)
    assert least_factor(lambda factor: factor > 2**19) is None


@given(
    st.lists(st.tuples(st.floats(0.1, 4), st.floats(0.01, 100)), min_size=1, max_size=3),
    st.lists(st.tuples(st.floats(0.05, 40), st.floats(0, 10)), max_size=2),
    st.lists(st.floats(0.05, 5), min_size=1, max_size=6, unique=True),
)  # fmt: skip
def test_searches_end_at_the_least_scale_of_any_falling_loss(
    curves: list[tuple[float, float]], jumps: list[tuple[float, float]], targets: list[float]
) -> None:
    """Of kinks, of jumps, and of losses that never fall to nothing."""

    def loss(scale: float) -> float:
        smooth = max(size / float(scale) ** power for power, size in curves)
        return smooth + sum(height for place, height in jumps if scale < place)

    asked = list[Fraction]()

    def losses(scales: list[Fraction]) -> list[float]:
        asked.extend(scales)
        return list(map(loss, scales))

    low, safe = Fraction(1, 10**6), dict[float, Fraction]()
    for target in targets:
        safe[target] = Fraction(max([40.0, *((size / target) ** (1 / power) for power, size in curves)])) * 2
    found = side_by_side([Search(safe[t], t, low) for t in targets], losses)
    for target, scale in zip(targets, found, strict=True):
        assert loss(scale) <= target
        assert scale == safe[target] or round_up(scale) == scale
        assert short_below(scale) < low or loss(short_below(scale)) > target
    assert len(asked) <= 50 * len(targets)
    assert len(set(asked)) == len(asked)
    # no path to a scale matters: what is priced beside others is drawn alone
    assert found == [Search(safe[t], t, low).alone(loss) for t in targets]


def test_a_search_beside_others_goes_as_alone() -> None:
    """What is priced for several epsilons is drawn for one of them, to the last bit."""
    rounds = list[int]()

    def loss(scale: Fraction) -> float:
        return math.log1p(9 * math.expm1(1 / scale) / (1 + math.exp(1 / scale)))

    def losses(scales: list[Fraction]) -> list[float]:
        rounds.append(len(scales))
        return list(map(loss, scales))

    targets = [Fraction(10 + number, 40) for number in range(50)]
    searches = [Search(4 / target, target, Fraction(1, 1000)) for target in targets]
    assert side_by_side(searches, losses) == [search.alone(loss) for search in searches]
    assert len(rounds) <= 10


def test_no_float_lies_between_neighbours() -> None:
    assert are_neighbours(1.0, 1 + 2**-52)
    assert not are_neighbours(1.0, 1 + 2**-51)
    assert halved(lambda x: x < 0.3, 0.0, 1.0, are_neighbours, mean) == math.nextafter(0.3, 0)


def test_a_place_is_doubled_until_it_holds_or_given_up() -> None:
    assert doubled(lambda b: 5 / b, 1.0, 1, 10) == 8
    assert doubled(lambda b: 5 / b, 1.0, 1, 3) is None

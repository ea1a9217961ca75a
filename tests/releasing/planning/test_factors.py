"""The largest factor of all epsilons that a budget allows, against a search by halves, and how many costs it takes."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from takifugu.releasing.planning.factors import (
    FINENESS,
    MORE_THAN_HALVING,
    MOST_DOUBLINGS,
    factor_of,
    largest_factor,
    number_of,
)

Cost = Callable[[Fraction], Fraction | None]


def by_halves(cost: Cost, budget: Fraction, now: Fraction) -> Fraction | None:
    """Return the largest factor: the powers of 2 around it, then halves of what is between them."""

    def fits(factor: Fraction) -> bool:
        charged = cost(factor)
        return charged is not None and charged <= budget

    low, high = Fraction(0), Fraction(1)
    if now <= budget:
        low, high = Fraction(1), Fraction(2)
    while low and high <= 64 and fits(high):
        low, high = high, high * 2
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low or None


def watched(cost: Cost, factors: list[Fraction]) -> Cost:
    def watching(factor: Fraction) -> Fraction | None:
        factors.append(factor)
        return cost(factor)

    return watching


def as_by_halves(cost: Cost, budget: Fraction) -> int:
    """See that both searches find the same, and return how many costs the quick one took."""
    now = cost(Fraction(1))
    assert now is not None
    factors: list[Fraction] = []
    largest = largest_factor(watched(cost, factors), budget, now)
    assert largest == by_halves(cost, budget, now)
    assert len(factors) == len(set(factors)) <= (FINENESS * MOST_DOUBLINGS).bit_length() + MORE_THAN_HALVING
    if largest is not None:
        charged = cost(largest)
        assert charged is not None
        assert charged <= budget
    return len(factors)


LINE: Cost = lambda factor: 3 * factor  # noqa: E731
NEARLY: Cost = lambda factor: 3 * factor + factor * factor / 50  # noqa: E731
SQUARE: Cost = lambda factor: factor * factor  # noqa: E731
ROOT: Cost = lambda factor: Fraction(float(factor) ** 0.5)  # noqa: E731
STEPS: Cost = lambda factor: Fraction(int(factor * 7), 7)  # noqa: E731
FLAT: Cost = lambda _: Fraction(1)  # noqa: E731
KINKED: Cost = lambda factor: max(factor / 10, 20 * factor - 100)  # noqa: E731
BUDGETS = ["0.002", "0.0029", "0.003", "0.01", "0.5", "0.999", "1", "1.001", "2", "3", "7", "10", "40", "383", "5000"]


def up_to(most: str, cost: Cost) -> Cost:
    """Return a cost that is refused from a factor on."""
    return lambda factor: cost(factor) if factor < Fraction(most) else None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_largest_factor_is_the_one_that_halving_finds(budget: str) -> None:
    for cost in (LINE, NEARLY, SQUARE, ROOT, STEPS, FLAT, KINKED):
        for most in ("1000", "64", "50.3", "3", "1.0005"):
            as_by_halves(up_to(most, cost), Fraction(budget))


def test_a_cost_in_proportion_takes_two_costs_and_one_nearly_so_few_more() -> None:
    assert max(as_by_halves(LINE, Fraction(budget)) for budget in ("0.5", "1", "2", "4", "6", "40")) <= 2
    assert max(as_by_halves(NEARLY, Fraction(budget)) for budget in ("0.5", "1", "2", "4", "6", "40")) <= 5


@given(
    st.lists(st.tuples(st.integers(1, 9000), st.fractions(0, 50, max_denominator=64)), max_size=6),
    st.fractions(0, 20, max_denominator=64), st.fractions("1/64", 100, max_denominator=64), st.integers(1025, 9000),
)  # fmt: skip
def test_rising_costs_of_any_shape_end_where_halving_ends(
    rises: list[tuple[int, Fraction]], slope: Fraction, budget: Fraction, refused: int
) -> None:
    def cost(factor: Fraction) -> Fraction | None:
        number = number_of(factor)
        if number >= refused:
            return None
        return slope * factor + sum((size for place, size in rises if number >= place), Fraction(0))

    as_by_halves(cost, budget)


def test_factors_are_numbered_in_order() -> None:
    numbers = range(1, FINENESS * (1 + MOST_DOUBLINGS))
    factors = list(map(factor_of, numbers))
    assert all(low < high <= low * (1 + Fraction(1, FINENESS)) for low, high in pairwise(factors[FINENESS - 1 :]))
    assert list(map(number_of, factors)) == list(numbers)
    assert [number_of(factor + Fraction(1, 10**6)) for factor in factors] == list(numbers)

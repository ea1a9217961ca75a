"""The factor of epsilons that a budget allows: the one that halving finds, from far fewer calibrations."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from takifugu.releasing.planning.outlook import largest_factor

Costs = Callable[[Fraction], Fraction | None]


def by_halving(cost: Costs, budget: Fraction, now: Fraction) -> Fraction | None:
    """Return the last of 1,024 places of an interval between two powers of 2 (or 0 and 1) that fits."""

    def fits(factor: Fraction) -> bool:
        charged = cost(factor)
        return charged is not None and charged <= budget

    good, bad = (Fraction(1), Fraction(2)) if now <= budget else (Fraction(0), Fraction(1))
    while good and bad <= 64 and fits(bad):
        good, bad = bad, bad * 2
    for _ in range(10):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good or None


def curved(power: int, slope: Fraction) -> Costs:
    return lambda factor: slope * (factor + factor**power / 5)


COSTS: dict[str, Costs] = {
    "a line": lambda factor: factor * Fraction(13, 10),
    "a curve": curved(2, Fraction(1, 3)),
    "a steep curve": curved(5, Fraction(1, 50)),
    "a line with a bend": lambda factor: factor if factor < 3 else 3 + (factor - 3) * 9,
    "nothing from a place on": lambda factor: factor if factor < Fraction(37, 10) else None,
    "nothing below a place": lambda factor: factor + 5,
    "a step": lambda factor: Fraction(1) if factor < 2 else Fraction(50),
}


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize(
    "budget", [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(4), Fraction(70), Fraction(10**4)]
)
def test_the_factor_is_that_of_halving(name: str, budget: Fraction) -> None:
    cost = COSTS[name]
    now = cost(Fraction(1))
    assert now is not None
    assert largest_factor(cost, budget, now) == by_halving(cost, budget, now)


def test_a_line_takes_two_calibrations() -> None:
    asked = list[Fraction]()

    def cost(factor: Fraction) -> Fraction:
        asked.append(factor)
        return factor * Fraction(13, 10)

    largest_factor(cost, Fraction(4), Fraction(13, 10))
    assert len(asked) == 2

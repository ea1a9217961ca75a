"""Amounts, as they are compared, written and left: every rounding is against the one who spends."""

from fractions import Fraction
from typing import Any

import pytest

from takifugu.accounting.amounts import NOTHING, SMALLEST_SPEND, Amount, as_budget, most, short
from takifugu.core.errors import InputError

MUCH_EPSILON, MUCH_DELTA = Amount(Fraction(3)), Amount(Fraction(1), Fraction(1, 10))


def test_the_most_is_the_largest_epsilon_and_the_largest_delta_and_an_amount_fits_in_both() -> None:
    assert most(MUCH_EPSILON, MUCH_DELTA) == most(MUCH_DELTA, MUCH_EPSILON) == Amount(Fraction(3), Fraction(1, 10))
    assert most() == NOTHING
    assert MUCH_EPSILON.fits(MUCH_EPSILON)
    assert not MUCH_EPSILON.fits(MUCH_DELTA)
    assert not MUCH_DELTA.fits(MUCH_EPSILON)


@pytest.mark.parametrize("gap", [Fraction(0), Fraction(1, 10**8), Fraction(1, 10**30), Fraction(-1, 10**9)])
@pytest.mark.parametrize("budget", [Fraction("0.0150300689"), Fraction(2, 3), Fraction("12345.678"), Fraction(1, 7)])
def test_what_is_spent_and_a_budget_are_written_in_their_true_order(budget: Fraction, gap: Fraction) -> None:
    spent = budget - gap
    words = Amount(spent, spent / 10**9).with_budget(Amount(budget, budget / 10**9))
    amounts = [[Fraction(part.split()[-1].replace(",", "")) for part in text.split(", delta")] for text in words]
    for written, most_written in zip(*amounts, strict=True):
        assert (written < most_written, written == most_written) == (spent < budget, spent == budget)
    assert amounts[0][0] >= spent
    assert gap == 0 or amounts[1][0] <= budget


@pytest.mark.parametrize(("value", "up", "down"), [
    (Fraction(1, 3), "0.333334", "0.333333"),
    (Fraction(673, 7), "96.1429", "96.1428"),
    (Fraction(123456789), "123,456,789", "123,456,789"),
    (Fraction(1234567891), "1.23457e9", "1.23456e9"),
    (Fraction(1000001, 3000000), "0.333334", "0.333333"),
    (Fraction(2**40 + 1, 2**40), "1.00001", "1"),
])  # fmt: skip
def test_what_is_spent_is_written_up_and_what_is_left_down(value: Fraction, up: str, down: str) -> None:
    assert (short(value, up=True), short(value, up=False)) == (up, down)
    assert Fraction(up.replace(",", "")) >= value >= Fraction(down.replace(",", ""))
    assert str(Amount(value, value)) == f"epsilon {up}, delta {up}"
    assert Amount(value).text(up=False) == f"epsilon {down}"


def test_what_is_left_is_never_below_nothing() -> None:
    spent, budget = Amount(Fraction(1, 2), Fraction(1, 100)), Amount(Fraction(2), Fraction(3, 100))
    assert budget.beyond(spent) == Amount(Fraction(3, 2), Fraction(1, 50))
    assert spent.beyond(budget) == NOTHING


def test_no_sum_of_deltas_is_above_one() -> None:
    assert MUCH_DELTA.times(20) == Amount(Fraction(20), Fraction(1))
    assert MUCH_DELTA.plus(Amount(Fraction(1), Fraction(19, 20))) == Amount(Fraction(2), Fraction(1))


def test_the_smallest_budget() -> None:
    assert as_budget(SMALLEST_SPEND).epsilon == SMALLEST_SPEND
    assert as_budget(Amount(Fraction(1), Fraction(1, 9))).delta == Fraction(1, 9)
    with pytest.raises(InputError, match=r"epsilon is 2\.22285e-308: it is too small to be meant"):
        as_budget(SMALLEST_SPEND * Fraction(999, 1000))


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "much", 5e-324, 1e-310, (1, 1), (1, -0.1), True])
def test_a_budget_that_is_no_amount_is_refused(budget: Any) -> None:
    with pytest.raises(InputError, match="budget"):
        as_budget(budget)


def test_amounts_read_back_as_they_are_written() -> None:
    for amount in (NOTHING, MUCH_DELTA, Amount(Fraction(1, 3), Fraction(2, 7))):
        assert Amount.of_texts(amount.texts) == amount

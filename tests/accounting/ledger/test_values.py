"""Amounts, as they are compared, written and left: every rounding is against the one who spends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from takifugu.accounting.ledger import Amount
from takifugu.accounting.ledger.values import NOTHING, SMALLEST_SPEND, Spent, as_budget, most, short
from takifugu.core.errors import InputError

MUCH_EPSILON, MUCH_DELTA = Amount(Fraction(3), Fraction(0)), Amount(Fraction(1), Fraction(1, 10))


def test_the_most_is_the_largest_epsilon_and_the_largest_delta() -> None:
    assert most([MUCH_EPSILON, MUCH_DELTA]) == most([MUCH_DELTA, MUCH_EPSILON]) == Amount(Fraction(3), Fraction(1, 10))
    assert most([]) == NOTHING


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (Fraction(1, 3), "1/3", "1/3"),
        (Fraction(123456789), "123,456,789", "123,456,789"),
        (Fraction(1234567891), "1.23457e9", "1.23456e9"),
        (Fraction(1000001, 3000000), "0.333334", "0.333333"),
        (Fraction(2**40 + 1, 2**40), "1.00001", "1"),
    ],
)
def test_what_is_spent_is_written_up_and_what_is_left_down(value: Fraction, up: str, down: str) -> None:
    assert (short(value, up=True), short(value, up=False)) == (up, down)
    assert Fraction(up.replace(",", "")) >= value >= Fraction(down.replace(",", ""))
    assert str(Amount(value, value)) == f"epsilon {up}, delta {up}"
    assert Amount(value, Fraction(0)).text(up=False) == f"epsilon {down}"


def test_an_amount_fits_in_both_numbers() -> None:
    assert MUCH_EPSILON.fits(MUCH_EPSILON)
    assert not MUCH_EPSILON.fits(MUCH_DELTA)
    assert not MUCH_DELTA.fits(MUCH_EPSILON)


def test_what_is_left_is_never_below_nothing() -> None:
    spent, budget = Amount(Fraction(1, 2), Fraction(1, 100)), Amount(Fraction(2), Fraction(3, 100))
    assert Spent(spent, budget, ()).left == Amount(Fraction(3, 2), Fraction(1, 50))
    assert Spent(budget, spent, ()).left == NOTHING
    assert Spent(spent, None, ()).left is None


def test_the_smallest_budget() -> None:
    assert as_budget(SMALLEST_SPEND).epsilon == SMALLEST_SPEND
    assert as_budget(Amount(Fraction(1), Fraction(1, 9))).delta == Fraction(1, 9)
    with pytest.raises(InputError, match="too small to be meant"):
        as_budget(SMALLEST_SPEND * Fraction(999, 1000))

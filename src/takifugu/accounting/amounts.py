"""An epsilon with a delta: exact in every sum, and in words rounded to the side that is not too small."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from takifugu.core.errors import InputError
from takifugu.core.escaping import at_least, at_most
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction, to_text

ZERO, ONE = Fraction(0), Fraction(1)
#: A smaller epsilon is an accident (an underflow), not a promise.
SMALLEST_SPEND = Fraction(sys.float_info.min)


class Amount(NamedTuple):
    """An epsilon and a delta, exact."""

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO

    def __str__(self) -> str:
        return self.text(up=True)

    def text(self, up: bool) -> str:
        """Write the amount to six digits, rounded up (spent) or down (left)."""
        return _in_words(short(self.epsilon, up), short(self.delta, up))

    def with_budget(self, budget: Amount) -> tuple[str, str]:
        """Write this expense and a budget in their true order."""
        epsilon, most_epsilon = in_order(self.epsilon, budget.epsilon)
        delta, most_delta = in_order(self.delta, budget.delta)
        return _in_words(epsilon, delta), _in_words(most_epsilon, most_delta)

    def beyond(self, other: Amount) -> Amount:
        """Return the excess of this amount over the other, at least nothing."""
        return Amount(max(self.epsilon - other.epsilon, ZERO), max(self.delta - other.delta, ZERO))

    def plus(self, other: Amount) -> Amount:
        """Add up two amounts; no delta is above 1."""
        return Amount(self.epsilon + other.epsilon, min(self.delta + other.delta, ONE))

    def times(self, count: int) -> Amount:
        """Return so many such amounts together."""
        return Amount(count * self.epsilon, min(count * self.delta, ONE))

    def fits(self, other: Amount) -> bool:
        """Return whether this amount is within the other."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def spent_by(self, source: str, budget: Amount) -> str:
        """Say that a source has spent this of its budget."""
        return f"the source {source!r} has spent {' of '.join(self.with_budget(budget))}"

    @property
    def texts(self) -> tuple[str, str]:
        """The amount as a ledger keeps it."""
        return to_text(self.epsilon), to_text(self.delta)

    def to_dict(self) -> dict[str, str]:
        """Return plain data for JSON."""
        return dict(zip(self._fields, self.texts, strict=True))

    @staticmethod
    def of_texts(texts: Iterable[str]) -> Amount:
        epsilon, delta = texts
        return Amount(as_fraction(epsilon, "an epsilon"), as_fraction(delta, "a delta"))


NOTHING = Amount()
Budget = Number | tuple[Number, Number] | Amount


def most(*amounts: Amount) -> Amount:
    """Return the largest epsilon and the largest delta."""
    largest = NOTHING
    for amount in amounts:
        largest = Amount(max(largest.epsilon, amount.epsilon), max(largest.delta, amount.delta))
    return largest


def as_budget(budget: Budget) -> Amount:
    """Read a budget, epsilon or (epsilon, delta); raises InputError for what is none."""
    if isinstance(budget, tuple) and len(budget) != 2:
        raise InputError(f"the budget has {len(budget)} parts", fix="write epsilon, or (epsilon, delta)").at("budget")
    epsilon, delta = budget if isinstance(budget, tuple) else (budget, 0)
    amount = Amount(as_epsilon(epsilon, "the budget's epsilon"), as_delta(delta, "the budget's delta"))
    if amount.epsilon < SMALLEST_SPEND:
        raise InputError(
            f"the budget's epsilon is {short(amount.epsilon, up=True)}", rule="it is too small to be meant",
            fix="write for example 1.0",
        ).at("budget")
    return amount


def in_order(spent: Fraction, budget: Fraction) -> tuple[str, str]:
    """Write an expense rounded up and a budget rounded down, with as many digits as show the true order."""
    if spent == budget:
        return short(spent, up=True), short(spent, up=True)
    digits = 6
    while True:
        words, limit = short(spent, up=True, digits=digits), short(budget, up=False, digits=digits)
        if spent > budget or Fraction(words.replace(",", "")) < Fraction(limit.replace(",", "")):
            return words, limit
        digits += 1


def short(value: Fraction, up: bool, digits: int = 6) -> str:
    """Write a number exactly if it is a short decimal, else to so many rounded digits."""
    exact = to_text(value)
    if len(exact) > 9 or "/" in exact:
        return at_most(value, digits) if up else at_least(value, digits)
    return re.sub(r"^\d{4,}(?=\.|$)", lambda match: f"{int(match[0]):,}", exact)


def three_digits(value: Fraction) -> Fraction:
    """Return a number rounded up to three digits, so that a command may name it."""
    context = Context(prec=3, rounding=ROUND_CEILING)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _in_words(epsilon: str, delta: str) -> str:
    return f"epsilon {epsilon}" if delta == "0" else f"epsilon {epsilon}, delta {delta}"

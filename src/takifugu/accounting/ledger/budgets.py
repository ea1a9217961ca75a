"""What to say of budgets: the command that sets one, how much is enough, and where no budget is worth a release."""

from __future__ import annotations

from takifugu.accounting.amounts import Amount, three_digits
from takifugu.accounting.suspicion import MUCH, warning
from takifugu.core.escaping import command
from takifugu.numbers.rationals import to_text


def setting(ledger: object, name: str, budget: Amount) -> str:
    """Return the command to set a source's budget."""
    delta = ("--delta", to_text(budget.delta)) if budget.delta else ()
    return command("ledger", "set-budget", str(ledger), name, to_text(budget.epsilon), *delta)


def enough(cost: Amount) -> Amount:
    """Return a cost rounded up to three digits, as a short budget."""
    return Amount(three_digits(cost.epsilon), three_digits(cost.delta))


def worthless(cost: Amount, budget: Amount) -> str:
    """Say why no budget is worth a release's cost, or "".

    Whoever declares a budget of that size has decided otherwise.

    >>> worthless(Amount(0, 0.1), Amount(1, 0)), worthless(Amount(10, 0), Amount(1, 0))[:24]
    ('', 'no budget is worth that:')
    """
    if not budget.epsilon < MUCH <= cost.epsilon:
        return ""
    return f"no budget is worth that: {warning(cost.epsilon)}"

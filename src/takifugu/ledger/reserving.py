"""A refusal in words and numbers: what is spent, required and left, and what would fit."""

from __future__ import annotations

from fractions import Fraction

from takifugu.errors import BudgetExceeded
from takifugu.ledger.accounts import what_fits
from takifugu.ledger.asking import Asked
from takifugu.ledger.tallying import Account, AccountKind, asked_items
from takifugu.ledger.values import Amount


class TooMuch(Exception):
    """A unit's joint cost is above the budget; it leaves the transaction before it is put into words."""

    def __init__(self, asked: Asked, account: Account, unit: tuple[bytes, AccountKind], budget: Amount) -> None:
        super().__init__(unit[0].hex())
        self.asked, self.account, self.budget = asked, account, budget
        self.tag, self.kind = unit


def refusal(found: TooMuch) -> BudgetExceeded:
    """Return the error that says what is spent, required and left, and what would fit, in words and in numbers."""
    account, kind, budget = found.account, found.kind, found.budget
    source, accounts = account.source, account.accounts
    asked = [item for item in accounts.items[kind] if item.release in found.asked.ids.values()]
    spent, total = kind.spent, account.costs[kind]
    left = Amount(max(budget.epsilon - spent.epsilon, Fraction(0)), max(budget.delta - spent.delta, Fraction(0)))
    charges = [item.charge for item in asked_items(found.asked, kind.shape)]
    wanted = Amount(sum((c.epsilon for c in charges), Fraction(0)), sum((c.delta for c in charges), Fraction(0)))
    whose = _whose(found) if found.asked.names_units else ""
    implied = (
        " No budget was declared, so it is what the first release cost: declare one (budget=..., "
        "takifugu ledger budget, or Ledger.set_budget) if more may be spent."
        if source.budget_is_implied
        else ""
    )
    if kind.is_asked_elsewhere:
        asks = f"this release is about another source of the same people and requires {wanted}"
    else:
        asks = f"this release requires {wanted}" if asked else "this release is about a unit pooled with it"
    fit = "nothing" if account.mixed else what_fits(accounts, kind, asked, spent, budget)
    why = f" This is so because {account.mixed}." if account.mixed else ""
    return BudgetExceeded(
        f"the source {source.name!r} has spent {spent}{whose}, of a budget of {budget.text(up=False)}; left: "
        f"{left.text(up=False)}; {asks}, and all together would cost {total}. What would fit: {fit}.{implied}{why}",
        spent=spent.pair, asked=wanted.pair, left=left.pair, total=total.pair, budget=budget.pair, fits=fit,
    ).at("budget")  # fmt: skip


def _whose(found: TooMuch) -> str:
    """Return which unit it is, by its number among those that are named now: its name is not kept, and its tag says
    nothing to anybody."""
    tags, tag = list(found.asked.units), found.tag
    if tag not in found.asked.units:
        return " for a unit that this release does not name"
    return f" for unit {tags.index(tag) + 1:,} of {len(tags):,}, in the order in which the release names them"

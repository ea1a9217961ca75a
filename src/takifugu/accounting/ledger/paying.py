"""Paying for releases in one transaction: all accounts are within their budgets, and then the event is written.

A refusal says in words and numbers what is spent, required and left, and what would fit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import what_fits
from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.asking import Request
from takifugu.accounting.ledger.budgets import enough, setting, source_with, write_budget
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.facts import paid
from takifugu.accounting.ledger.kinds import Account, AccountKind, request_items
from takifugu.accounting.ledger.tallying import Tally
from takifugu.accounting.ledger.values import Amount, Reservation
from takifugu.core.errors import BudgetExceeded
from takifugu.core.plain import Plain


@dataclass(frozen=True)
class Order:
    """A reservation's terms: budget, identity, recipe, and people."""

    budget: Amount | None
    identity: str | None
    recipe: Plain
    text: str
    same_people: bool | None


class TooMuch(Exception):
    """A unit's joint cost above the budget, not yet in words.

    The exception leaves the transaction before a remedy is sought.
    """

    def __init__(self, request: Request, account: Account, unit: tuple[bytes, AccountKind], budget: Amount) -> None:
        super().__init__(unit[0].hex())
        self.request, self.account, self.budget = request, account, budget
        self.tag, self.kind = unit


def pay(connection: Connection, tally: Tally, order: Order) -> Reservation:
    """Check every touched account against its budget; note the payment.

    Raises TooMuch for a unit that would spend more, and then nothing may be written.
    """
    source = source_with(connection, tally.source.name, order.budget)
    allowed = source.budget
    if allowed is None:
        allowed = tally.mine.cost
        write_budget(connection, source.name, allowed, implied=True)
    account_after = replace(tally.mine, source=replace(source, budget=allowed))
    excess = excess_of(tally.request, (account_after, *tally.theirs))
    if excess is not None:
        raise excess
    group = token_hex(8)
    reserved.refuse_twice(connection, source.number, tally.request.ids, order.recipe)
    details = (group, order.identity, order.text, order.same_people)
    note(connection, paid(connection, source.name, tally.original, *details), tally)
    spent = rows.most_spent(connection, source.number)
    same = rows.people_of(connection, source.number)
    return Reservation(source.name, dict(tally.request.ids), spent, allowed, same, group)


def excess_of(request: Request, accounts: Iterable[Account]) -> TooMuch | None:
    """Return the first unit above its source's budget, or None."""
    for account in accounts:
        budget = account.source.budget
        over = None if budget is None else account.worst_over(budget)
        if budget is not None and over is not None:
            return TooMuch(request, account, over, budget)
    return None


def refusal(excess: TooMuch, ledger: object) -> BudgetExceeded:
    """Return the error with the amounts spent, required, left and fitting.

    Its fix is the command that gives the source of the `ledger` a sufficient budget.
    """
    account, kind, budget = excess.account, excess.kind, excess.budget
    source, accounts = account.source, account.accounts
    new = [item for item in accounts.items[kind] if item.release in excess.request.ids.values()]
    spent, total = kind.spent, account.costs[kind]
    left = budget.beyond(spent)
    charges = [item.charge for item in request_items(excess.request, kind.shape)]
    required = Amount(sum((c.epsilon for c in charges), Fraction(0)), sum((c.delta for c in charges), Fraction(0)))
    whose = _whose(excess) if excess.request.names_units else ""
    implied = ""
    if source.budget_is_implied:
        implied = ". No budget was declared, so it is what the first release cost"
    if kind.is_elsewhere:
        asks = f"this release is about another source of the same people and requires {required}"
    else:
        if new:
            asks = f"this release requires {required}"
        else:
            asks = "this release is about a person pooled with it"
    fit = "nothing" if account.mixed else what_fits(accounts, kind, new, spent, budget)
    why = f". This is so because {account.mixed}" if account.mixed else ""
    error = BudgetExceeded(
        f"the source {source.name!r} has spent {spent}{whose}, of a budget of {budget.text(up=False)}; left: "
        f"{left.text(up=False)}; {asks}, and all together would cost {total}. What would fit: {fit}{implied}{why}",
        spent=spent.pair, requested=required.pair, left=left.pair, total=total.pair, budget=budget.pair, fits=fit,
        source=source.name,
    ).at("budget")  # fmt: skip
    error.fix = f"a budget that is enough: {setting(ledger, source.name, enough(total))}"
    return error


def _whose(excess: TooMuch) -> str:
    """Name a unit by its number among the current ones.

    Its name is not kept, and its tag says nothing to anybody.
    """
    tags, tag = list(excess.request.units), excess.tag
    if tag not in excess.request.units:
        return " for a person that this release does not name"
    return f" for person {tags.index(tag) + 1:,} of {len(tags):,}, in the order in which the release names them"

"""Paying for releases in one transaction: all accounts are within their budgets, and then the event is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from secrets import token_hex

from sqlalchemy import Connection

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.budgets import source_with, write_budget
from takifugu.accounting.ledger.facts import paid
from takifugu.accounting.ledger.reserving import TooMuch
from takifugu.accounting.ledger.tallying import Tally
from takifugu.accounting.ledger.values import Amount, Reservation
from takifugu.core.plain import Plain


@dataclass(frozen=True)
class Order:
    """What a reservation says beside its debits: a budget, what it is, how it is completed, and of whom it is."""

    budget: Amount | None
    identity: str | None
    recipe: Plain
    text: str
    same_people: bool | None


def pay(connection: Connection, tally: Tally, order: Order) -> Reservation:
    """Check every account that releases touch against its budget, and note that they are paid for.

    Raises TooMuch for a unit that would spend more, and then nothing may be written.
    """
    number, source = source_with(connection, tally.source.name, order.budget)
    allowed = source.budget
    if allowed is None:
        allowed = tally.mine.cost
        write_budget(connection, source.name, allowed, implied=True)
    mine = replace(tally.mine, source=replace(source, budget=allowed))
    for account in (mine, *tally.theirs):
        budget = account.source.budget
        over = account.worst_over(budget) if budget is not None else None
        if budget is not None and over is not None:
            raise TooMuch(tally.request, account, over, budget)
    group = token_hex(8)
    reserved.refuse_twice(connection, number, tally.request.ids, order.recipe)
    details = (group, order.identity, order.text, order.same_people)
    note(connection, paid(connection, source.name, tally.original, *details), tally)
    spent = rows.most_spent(connection, number)
    same = rows.people_of(connection, number)
    return Reservation(source.name, dict(tally.request.ids), spent, allowed, same, group)

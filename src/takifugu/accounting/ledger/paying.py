"""Paying for releases in one transaction: all accounts are within their budgets, and then the event is written.

A refusal says in words and numbers what is spent, required and left, and what would fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex

from takifugu.accounting.amounts import short
from takifugu.accounting.composition import joint
from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import Accounts, Item, total_of
from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.asking import Request
from takifugu.accounting.ledger.budgets import enough, setting, source_with, worthless, write_budget
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.facts import paid
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.kinds import Account, AccountKind, request_items
from takifugu.accounting.ledger.store import Store
from takifugu.accounting.ledger.tallying import Tally, tally
from takifugu.accounting.ledger.values import Amount, Reservation
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import BudgetExceeded, CompositionRefused
from takifugu.core.lists import without
from takifugu.core.plain import Plain
from takifugu.numbers.search import least_factor

#: How often costs are recomputed because another process wrote meanwhile, before the others have to wait.
TRIES = 20


@dataclass(frozen=True)
class Order:
    """A reservation's terms: budget, identity, recipe, and people."""

    budget: Amount | None
    identity: str | None
    recipe: Plain
    text: str
    same_people: bool | None
    same_entries: bool | None


class TooMuch(Exception):
    """A unit's joint cost above the budget, not yet in words.

    The exception leaves the transaction before a remedy is sought.
    """

    def __init__(self, request: Request, account: Account, unit: tuple[bytes, AccountKind], budget: Amount) -> None:
        super().__init__(unit[0].hex())
        self.request, self.account, self.budget = request, account, budget
        self.tag, self.kind = unit


def reserve(store: Store, name: str, request: Request, computed: Tally | None, order: Order) -> Reservation:
    """Pay for releases at costs computed without the write lock.

    `computed` counts while the ledger is as it was. Raises BudgetExceeded.
    """
    try:
        for _ in range(TRIES):  # so that nobody else waits while costs are computed
            if computed is None:
                with store.reading() as connection:
                    seals.check(connection)
                    computed = tally(connection, name, request, order.same_people, order.same_entries)
            with store.writing() as connection:
                if computed.is_of(connection):
                    return pay(connection, computed, order)
            computed = None
        with store.writing() as connection:  # others were faster each time: now they wait
            last = tally(connection, name, request, order.same_people, order.same_entries)
            return pay(connection, last, order)
    except TooMuch as too_much:
        error = refusal(too_much, store.path)
    raise error


def pay(connection: Connection, computed: Tally, order: Order) -> Reservation:
    """Check every touched account against its budget; note the payment.

    Raises TooMuch for a unit that would spend more, and then nothing may be written.
    """
    source = source_with(connection, computed.source.name, order.budget)
    allowed = source.budget
    if allowed is None:
        allowed = computed.mine.cost
        write_budget(connection, source.name, allowed, implied=True)
    account_after = replace(computed.mine, source=replace(source, budget=allowed))
    excess = excess_of(computed.request, (account_after, *computed.theirs))
    if excess is not None:
        raise excess
    group = token_hex(8)
    reserved.refuse_twice(connection, source.number, computed.request.ids, order.recipe)
    details = (group, order.identity, order.text, order.same_people, computed.answer)
    note(connection, paid(connection, source.name, computed.original, *details), computed)
    spent = rows.most_spent(connection, source.number)
    same = rows.people_of(connection, source.number)
    same_entries = tuple(rows.read_readings(connection, source.number).declared)
    return Reservation(source.name, dict(computed.request.ids), spent, allowed, same, group, same_entries)


def excess_of(request: Request, accounts: Iterable[Account]) -> TooMuch | None:
    """Return the first unit above its source's budget, or None."""
    for account in accounts:
        budget = account.source.budget
        if budget is None:
            continue
        over = account.worst_over(budget)
        if over is not None:
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
    required = total_of(request_items(excess.request, kind.shape))
    release = "this release"
    if kind.is_elsewhere:
        release = "this release about another source of the same people"
    rule = f"{source.name!r} has {left.text(up=False)} left of a budget of {budget.text(up=False)}"
    if source.budget_is_implied:
        rule += ", what its first release cost (no budget was declared)"
    if account.mixed:
        rule += f"; {account.mixed}"
        fit, share = "nothing", None
    else:
        fit, share = what_fits(accounts, kind, new, spent, budget)
    cost = total.beyond(spent)
    way = worthless(cost, budget) or f"to spend that much, run\n{setting(ledger, source.name, enough(total))}"
    return BudgetExceeded(
        f"{release} would cost {_whose(excess)}{cost}", rule=rule, fix=f"fits: {fit};\n{way}",
        spent=spent.pair, requested=required.pair, left=left.pair, total=total.pair, budget=budget.pair, fits=fit,
        source=source.name, share=share,
    ).at("budget")  # fmt: skip


def _whose(excess: TooMuch) -> str:
    """Name a unit by its number in the request, never by name."""
    if not excess.request.names_units:
        return ""
    tags = list(excess.request.units)
    if excess.tag not in tags:
        return "a person that it does not name "
    return f"person {tags.index(excess.tag) + 1:,} of {len(tags):,} (in its order) "


def what_fits(
    accounts: Accounts[AccountKind], kind: AccountKind, new: Sequence[Item], spent: Amount, budget: Amount
) -> tuple[str, Fraction | None]:
    """Say in words the releases within a unit's budget, as alternatives, and the share of their epsilons."""
    history = without(accounts.items[kind], new)

    def cost(items: Sequence[Item]) -> Amount:
        return replace(accounts, items={**accounts.items, kind: [*history, *items]}).cost(kind)

    def fits(factor: Fraction) -> bool:
        try:
            return cost([_quieter(item, factor) for item in new]).fits(budget)
        except CompositionRefused:
            return False

    if spent.epsilon >= budget.epsilon:
        return "nothing more", None
    if any(item.charge.delta > budget.delta for item in new):
        return "perhaps the same with a smaller delta, or with delta 0", None
    total = total_of(new).epsilon
    if not any(item.charge.covers is Covers.ENTRIES for item in accounts.items[kind]):
        as_sum = total / (budget.epsilon - spent.epsilon)
        is_sum = fits(as_sum) and not fits(as_sum * Fraction(99, 100))
        factor = as_sum if is_sum else least_factor(fits)
        if factor is not None:
            words = "epsilon" if len(new) == 1 else "epsilons that add up to"
            return f"{words} at most {short(total / factor, up=False)}", 1 / factor
    factor = least_factor(fits)
    if factor is None:
        return "nothing more", None
    costs = []
    for item in new:
        framework, charge = accounts.frameworks[item.fingerprint], _quieter(item, factor).charge
        costs.append(joint(framework, [charge], False, item.fingerprint).epsilon)
    worth = short(max(costs), up=False)
    share = max(costs) / max(item.charge.epsilon for item in new)
    return f"noise of {short(factor, up=True)} times the scale (alone, epsilon {worth})", min(share, Fraction(1))


def _quieter(item: Item, factor: Fraction) -> Item:
    """Return a debit with `factor` times the noise.

    A quilt release is then charged by its noise alone.
    """
    charge = item.charge
    quieter = replace(charge, epsilon=charge.epsilon / factor)
    if charge.scale is not None:
        quieter = replace(quieter, scale=charge.scale * factor)
    if charge.covers is Covers.ENTRIES:
        quieter = replace(quieter, framework="")
    return replace(item, charge=quieter)

"""What releases would cost, before anything is paid: nothing is written, and no ledger is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

from takifugu.composition import joint
from takifugu.errors import CompositionRefused, LedgerError
from takifugu.ledger import store as rows
from takifugu.ledger.accounts import Accounts, Item
from takifugu.ledger.book import Budget, Ledger, path_of
from takifugu.ledger.reserving import Attempt, TooMuch, attempt, drafts_of, refusal
from takifugu.ledger.values import NOTHING, Amount, Debit, Source, as_budget, most, short


@dataclass(frozen=True)
class Charged:
    """What units of one kind would be charged: what is asked, alone, and what it adds to what they have spent."""

    units: int
    alone: Amount
    charged: Amount
    reason: str


@dataclass(frozen=True)
class Preview:
    """What a source has spent before and would have after; `after` is None where there is no joint promise.

    Without a declared budget `budget` is what the first release cost, or would cost. `words` say what would be refused,
    and are empty where it `fits`.
    """

    before: Amount
    after: Amount | None
    budget: Amount | None
    budget_is_declared: bool
    charges: tuple[Charged, ...]
    fits: bool
    words: str


def preview(
    where: str | Path | None, source: str, debits: Sequence[Debit], budget: Budget | None = None, recharge: bool = False
) -> Preview:
    """Return what `Ledger.reserve` would do, without doing it; a ledger that does not exist is an empty one.

    Raises what `reserve` raises for what cannot be counted, and LedgerError for a file that is no ledger.
    """
    wanted = None if budget is None else as_budget(budget)
    found, before = Source(source, "", None, False), Accounts({}, {})
    tag: Callable[[str], str] = lambda unit: sha256(unit.encode()).hexdigest()  # noqa: E731
    if where is not None and path_of(where).exists():
        book = Ledger.open(where, create=False)
        tag = book.unit_tag
        with book.store.reading() as connection:
            known = rows.read_source(connection, source)
            if known is not None:
                found, before = known[1], rows.read_accounts(connection, known[0])
    declared = None if found.budget_is_implied else found.budget
    if wanted is not None and declared is not None and wanted != declared:
        raise LedgerError(
            f"the source {source!r} has a budget of {declared}, and now {wanted} is declared: leave the budget out, or "
            "change it on purpose (takifugu ledger budget, or Ledger.set_budget)"
        )
    declared = declared or wanted
    drafts = drafts_of(debits, tag, recharge)
    spent = most([before.cost(unit) for unit in before.items])
    try:
        tried = attempt(before, drafts, tag(""))
    except CompositionRefused as refused:
        return Preview(spent, None, declared or found.budget, declared is not None, (), False, str(refused))
    limit = declared or found.budget or tried.cost
    told = Source(found.name, found.id, limit, declared is None)
    over = next((unit for unit, cost in tried.costs.items() if not cost.fits(limit)), None)
    words = "" if over is None else refusal(TooMuch(tried, over, told))
    after = most([spent, tried.cost])
    return Preview(spent, after, limit, declared is not None, _charges(tried), over is None, words)


def _charges(tried: Attempt) -> tuple[Charged, ...]:
    kinds: Counter[tuple[Amount, Amount, str]] = Counter()
    for unit, cost in tried.costs.items():
        old, new = tried.before.items.get(unit, ()), tried.after.items[unit]
        asked, spent = new[len(old) :], tried.before.cost(unit)
        alone = _alone(tried.after, asked)
        added = Amount(max(cost.epsilon - spent.epsilon, Fraction(0)), max(cost.delta - spent.delta, Fraction(0)))
        kinds[alone, added, _reason(old, asked, alone, added)] += 1
    return tuple(Charged(count, *kind) for kind, count in kinds.items())


def _alone(accounts: Accounts, asked: Sequence[Item]) -> Amount:
    total = NOTHING
    for item in asked:
        promise = joint(accounts.frameworks[item.fingerprint], [item.charge], item.recharge, item.fingerprint)
        total = Amount(total.epsilon + promise.epsilon, total.delta + promise.delta)
    return total


def _reason(old: Sequence[Item], asked: Sequence[Item], alone: Amount, added: Amount) -> str:
    if not asked:
        return "nothing is asked about it, but a pooled answer ties it to units about which something is"
    if added.epsilon == alone.epsilon:
        return "its own epsilon is added"
    if added.epsilon < alone.epsilon:
        return "it shares what entries tell about each other with the other releases, so that this is paid once"
    ratio = short(added.epsilon / alone.epsilon, up=True) if alone.epsilon else "many"
    if {item.fingerprint for item in old} - {item.fingerprint for item in asked}:
        return (
            f"{ratio} times its own epsilon: earlier releases were made under another belief, or for another length, "
            "and every belief is charged for every release"
        )
    return f"{ratio} times its own epsilon: together with the other releases its noise hides less than alone"

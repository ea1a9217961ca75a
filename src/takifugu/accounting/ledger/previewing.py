"""What releases would cost, before anything is paid: nothing is written, and no ledger is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import Item, total_of
from takifugu.accounting.ledger.asking import Request, request_of
from takifugu.accounting.ledger.book import Ledger
from takifugu.accounting.ledger.budgets import Budget, other_budget, spent_already
from takifugu.accounting.ledger.disk.places import path_of, place_of
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.readings import CUT, cut_differently
from takifugu.accounting.ledger.kinds import request_items
from takifugu.accounting.ledger.paying import excess_of, refusal
from takifugu.accounting.ledger.same_people import Declaration, not_declared
from takifugu.accounting.ledger.tallying import Tally, tally
from takifugu.accounting.ledger.values import Amount, Debit, Debits, Source, as_budget, most
from takifugu.core.errors import (
    BudgetExceeded,
    CompositionRefused,
    InputError,
    PeopleUndeclared,
    ReadingChanged,
    TakifuguError,
)
from takifugu.core.lists import without
from takifugu.core.names import normalised

#: What its owner alone knows about a source, and has to say once.
Question = ReadingChanged | PeopleUndeclared


@dataclass(frozen=True)
class Charged:
    """The charge for units of one kind, alone and beside their past."""

    units: int
    alone: Amount
    charged: Amount
    reason: str


@dataclass(frozen=True)
class Preview:
    """A source's spending before and after a release.

    `after` is None where there is no joint promise. Without a declared budget `budget` is what the first release cost,
    or would cost. `words` say what would be refused, and are empty where it `fits`; `over` is the error of a budget.
    `reading` says that the source is read as several kinds of entries, and what that costs. `asks` is what has to be
    answered before anything is paid; all else is then what the source comes to if entries, or people, are the same, or
    where they cannot be, if they are others. `tally` is the basis, which `Ledger.reserve` takes where the ledger is
    still the same.
    """

    before: Amount
    after: Amount | None
    budget: Amount | None
    budget_is_declared: bool
    charges: tuple[Charged, ...]
    fits: bool
    words: str
    reading: str = ""
    asks: Question | None = field(default=None, repr=False, compare=False)
    tally: Tally | None = field(default=None, repr=False, compare=False)
    over: BudgetExceeded | None = field(default=None, repr=False, compare=False)


def preview(
    where: str | Path | None,
    source: str,
    debits: Sequence[Debit | Debits],
    budget: Budget | None = None,
    as_composing: bool = False,
    same_people: bool | None = None,
    same_entries: bool | None = None,
) -> Preview:
    """Rehearse `Ledger.reserve`, on an empty ledger if none exists.

    Raises what `reserve` raises for what cannot be counted, and LedgerError for a file that is no ledger.
    """
    new_budget = None if budget is None else as_budget(budget)
    name = normalised(source)
    with as_it_is(where) as book:
        request = request_of(debits, book.tag_of, as_composing)
        with book.store.reading() as connection:
            seals.check(connection)
            former = rows.read_source(connection, name)
            spent = rows.most_spent(connection, former.number)
            declared = _declared(where, former, spent, new_budget)
            try:
                declaration = Declaration(name, former.number, request.names_units, same_people)
                asks: Question | None = not_declared(connection, declaration)
                computed, asks = _tallied(connection, name, request, same_people, same_entries, asks)
            except CompositionRefused as refused:
                limit = declared or former.budget
                return Preview(spent, None, limit, declared is not None, (), False, str(refused))
    limit = declared or former.budget or computed.mine.cost
    source_after = replace(computed.source, budget=limit, budget_is_implied=declared is None)
    account_after = replace(computed.mine, source=source_after)
    excess = excess_of(request, (account_after, *computed.theirs))
    over = None if excess is None else refusal(excess, where)
    return Preview(
        spent, most([spent, computed.mine.cost]), limit, declared is not None, _charges(computed), over is None,
        "" if over is None else str(over), computed.mine.mixed, asks, computed, over,
    )  # fmt: skip


def _declared(where: str | Path | None, source: Source, spent: Amount, new: Amount | None) -> Amount | None:
    """Return a source's declared budget, former or new, if any."""
    former = None if source.budget_is_implied else source.budget
    if new is not None and former is not None and new != former:
        raise other_budget(where, source.name, former, new)
    if new is not None and not spent.fits(new):
        raise spent_already(source.name, spent, new)
    return former or new


def _tallied(
    connection: Connection, name: str, request: Request, same_people: bool | None, same_entries: bool | None,
    asks: Question | None,
) -> tuple[Tally, Question | None]:  # fmt: skip
    """Return what releases would cost, and what has to be asked before, with the price of either answer."""
    question = asks
    if question is None:
        try:
            return tally(connection, name, request, same_people, same_entries), None
        except (ReadingChanged, PeopleUndeclared) as open_question:
            question = open_question
    prices, tallies, refusals = list[str](), list[Tally](), list[TakifuguError]()
    for answer in (True, False):
        people, entries = answer, bool(same_entries)  # what else is asked is asked afterwards
        if isinstance(question, ReadingChanged):
            people, entries = bool(same_people) if same_people is None else same_people, answer
        try:
            computed = tally(connection, name, request, people, entries)
        except (CompositionRefused, InputError) as refused:
            refusals.append(refused)
            prices.append(f"refused, {refused.message}")
        else:
            tallies.append(computed)
            spent = rows.most_spent(connection, computed.source.number)
            prices.append(f"{name!r} goes from {spent} to {most([spent, computed.mine.cost])}")
    if not tallies:
        raise refusals[-1]
    if isinstance(question, ReadingChanged):
        return tallies[0], ReadingChanged(name, question.before, question.now, *prices)
    return tallies[0], PeopleUndeclared(name, question.other, *prices)


def question_of(where: str | Path, source: str, reading: str) -> ReadingChanged | None:
    """Return what has to be asked where a source is read like this.

    Raises LedgerError for a ledger that cannot be read: nothing can be paid from it, either.
    """
    if not place_of(path_of(where)).exists():
        return None
    with as_it_is(where) as book, book.store.reading() as connection:
        former = rows.read_source(connection, normalised(source))
        try:
            rows.read_readings(connection, former.number).answered(former.name, reading, None)
        except ReadingChanged as changed:
            return changed
    return None


@contextmanager
def as_it_is(where: str | Path | None) -> Iterator[Ledger]:
    """Yield the ledger as it is, an empty one if none exists."""
    path = None if where is None else path_of(where)
    if path is not None and place_of(path).exists():
        yield Ledger.open(path, create=False)
        return
    with TemporaryDirectory(prefix="takifugu-") as folder:
        yield Ledger.open(Path(folder) / "ledger.db")


def _charges(computed: Tally) -> tuple[Charged, ...]:
    kinds: Counter[tuple[Amount, Amount, str]] = Counter()
    for kind, members in computed.mine.kinds.items():
        if kind not in computed.mine.costs:
            continue
        cost, items = computed.mine.costs[kind], computed.mine.accounts.items[kind]
        new = request_items(computed.request, kind.shape)
        old = without(items, new)
        alone, added = total_of(new), cost.beyond(kind.spent)
        kinds[alone, added, _reason(computed, old, new, alone, added)] += members.count
    return tuple(Charged(count, *charge) for charge, count in kinds.items())


def _reason(computed: Tally, old: Sequence[Item], new: Sequence[Item], alone: Amount, added: Amount) -> str:
    if computed.mine.mixed:
        return "the source was read as other entries before"
    if cut_differently(item.charge for item in (*old, *new) if not item.is_foreign):
        return CUT
    if not new:
        return "nothing is released about it, but a pooled answer ties it to people about whom something is"
    if added.epsilon == alone.epsilon:
        return "its own epsilon is added"
    if added.epsilon < alone.epsilon and not old and len(new) == 1:
        return "its noise loses less than it promises"
    if added.epsilon < alone.epsilon:
        return "what values reveal about each other is paid for once, together with the other releases"
    if any(item.is_adopted for item in old):
        return (
            "releases of which only the certificates are left count for everybody, at the cost of a change of the "
            "whole data"
        )
    if any(item.is_foreign for item in old):
        return (
            "releases about another source of the same people count here, too, at the cost of a change of their whole "
            "data"
        )
    if not {item.fingerprint for item in old}.issubset(item.fingerprint for item in new):
        return (
            "earlier releases were made under another belief, or for another length, and every belief is charged for "
            "every release"
        )
    return "together with the other releases its noise hides less than alone"

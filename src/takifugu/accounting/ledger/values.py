"""What a ledger answers with: what was paid for, what became of it, and what a payment would come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from takifugu.accounting.amounts import NOTHING, Amount, most
from takifugu.accounting.ledger import fitting
from takifugu.accounting.ledger.events import OVER, SESSION, Same
from takifugu.accounting.ledger.fitting import Charged
from takifugu.accounting.ledger.trials import Order, Trial, trial_of, unnamed
from takifugu.accounting.ledger.view import Group, View
from takifugu.core.errors import (
    BudgetExceeded,
    CompositionRefused,
    InputError,
    LedgerError,
    PeopleUndeclared,
    ReadingChanged,
    TakifuguError,
)
from takifugu.core.plain import Plain
from takifugu.core.readings import with_entries


def declarations(view: View, source: str) -> Iterator[tuple[Same, str, str]]:
    """Yield the owner's declarations that entries of a source are the same, and how they were read before and after."""
    for event in view.source(source).same:
        before, *others = (with_entries(view.content(reading).decode(), name) for reading, name in event.tables)
        for other in others:
            yield event, before, other


@dataclass(frozen=True, eq=False)
class Payment:
    """Releases that were paid for together: their ids by name, what became of them, what their source spent."""

    group: str
    source: str
    ids: Mapping[str, str]
    state: str
    identity: str
    created: str
    recipe: Plain
    spent: Amount
    budget: Amount
    #: By each release.
    promised: Mapping[str, Amount]
    software: str
    is_adopted: bool
    #: Those that wait from the draw until they are out.
    values: bytes | None = None
    why: str = ""
    #: The name of the entries, None where nobody named them.
    entries: str | None = None

    @property
    def fate(self) -> str:
        """What became of it: reserved, drawn, published, closed (never published, `why`), or adopted."""
        if self.is_adopted:
            return "adopted"
        ended = "closed" if self.why else "published"
        return ended if self.state == OVER else self.state

    @property
    def once(self) -> Any:
        """The key under which it was paid for, None without one."""
        return self.recipe.get("once")

    @property
    def is_session(self) -> bool:
        return bool(self.recipe.get("kind") == SESSION["kind"])


def payment_of(view: View, group: Group) -> Payment:
    """Return a payment without its values."""
    paid, there, promised = group.paid, view.source(group.paid.source), dict[str, Amount]()
    try:
        recipe: Plain = view.recipe(group)
    except LedgerError as error:
        recipe = {"unreadable": error.message}
    for line in paid.lines:
        charge = view.charge(line.charge)
        promised[line.release] = most(promised.get(line.release, NOTHING), Amount(charge.epsilon, charge.delta))
    return Payment(
        paid.group, paid.source, paid.ids, group.state, paid.identity, paid.created, recipe, there.spent,
        there.budget or there.spent, promised, paid.software, paid.adopted, why=group.why,
        entries=None if paid.entries == unnamed(paid.group) else paid.entries,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Preview:
    """What a source has spent before and would after a release."""

    before: Amount
    after: Amount
    budget: Amount
    budget_is_declared: bool
    #: Of unlike units.
    charges: tuple[Charged, ...]
    #: The error where a budget does not allow it.
    over: BudgetExceeded | None
    #: To be answered before anything is paid.
    asks: ReadingChanged | PeopleUndeclared | None
    #: None where it was pickled: the ledger's events stay with it, and paying computes them again.
    trial: Trial | None
    order: Order

    @property
    def fits(self) -> bool:
        return self.over is None

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "trial": None}


def preview_of(view: View, order: Order) -> Preview:
    """Return what a payment would come to, and what is asked before, with the price of each answer."""
    asks: ReadingChanged | PeopleUndeclared | None = None
    try:
        trial: Trial | TakifuguError = trial_of(view, order)
    except ReadingChanged as changed:
        same, price = _tried(view, replace(order, same_entries=True, why=order.why or "a rehearsal"))
        others, price_of_others = _tried(view, replace(order, same_entries=False))
        trial = same if isinstance(same, Trial) else others
        is_refused = not isinstance(same, Trial)
        asks = ReadingChanged(order.source, changed.before, changed.now, price, price_of_others, is_refused)
    except PeopleUndeclared as undeclared:
        trial, price = _tried(view, replace(order, same_people=True))
        if isinstance(trial, ReadingChanged):  # which is asked afterwards
            trial, price = _tried(view, replace(order, same_people=True, same_entries=False))
        asks = PeopleUndeclared(undeclared.source, undeclared.other, price)
    if not isinstance(trial, Trial):
        raise asks if isinstance(asks, PeopleUndeclared) else trial
    before, after = view.source(order.source), trial.view.source(order.source)
    assert after.budget is not None, "an implied budget is one"
    return Preview(
        before.spent, after.spent, after.budget, not after.is_implied, fitting.charges(trial), fitting.excess(trial),
        asks, trial, order,
    )  # fmt: skip


def _tried(view: View, order: Order) -> tuple[Trial | TakifuguError, str]:
    """Return what a payment comes to by some answer, or why it is refused, and either in words."""
    try:
        trial = trial_of(view, order)
    except (InputError, LedgerError, CompositionRefused) as refused:
        return refused, f"refused, {refused.message}"
    name = order.source
    return trial, f"{name!r} goes from {view.source(name).spent} to {trial.view.source(name).spent}"

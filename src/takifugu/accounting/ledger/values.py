"""What a ledger answers with: what was paid for, what became of it, and what a payment would come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from takifugu.accounting.amounts import Amount
from takifugu.accounting.ledger.events import SESSION
from takifugu.accounting.ledger.fitting import Charged
from takifugu.accounting.ledger.trials import Order, Trial
from takifugu.core.errors import BudgetExceeded, PeopleUndeclared, ReadingChanged
from takifugu.core.plain import Plain


@dataclass(frozen=True)
class Declared:
    """An owner's word that entries are the same, as they were read before and after, and why."""

    created: str
    why: str
    readings: tuple[str, str]


@dataclass(frozen=True, eq=False)
class Payment:
    """Releases that were paid for together: their random ids by name, what became of them, and what their source spent.

    `values` wait from the draw until they are out.
    """

    group: str
    source: str
    ids: Mapping[str, str]
    state: str
    identity: str
    created: str
    recipe: Plain
    spent: Amount
    budget: Amount
    values: bytes | None = None
    why: str = ""

    @property
    def once(self) -> Any:
        """The key under which it was paid for, None without one."""
        return self.recipe.get("once")

    @property
    def is_session(self) -> bool:
        return bool(self.recipe.get("kind") == SESSION["kind"])


@dataclass(frozen=True, eq=False)
class Preview:
    """What a source has spent before and would after a release; `over` is the error where a budget does not allow it.

    `asks` is what has to be answered before anything is paid. `charges` are those of unlike units.
    """

    before: Amount
    after: Amount
    budget: Amount
    budget_is_declared: bool
    charges: tuple[Charged, ...]
    over: BudgetExceeded | None
    asks: ReadingChanged | PeopleUndeclared | None
    trial: Trial
    order: Order

    @property
    def fits(self) -> bool:
        return self.over is None

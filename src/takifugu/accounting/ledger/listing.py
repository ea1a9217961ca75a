"""What a ledger says of its releases, one by one: what each promised, and what became of it. Nothing is added up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from takifugu.accounting.amounts import Amount, most
from takifugu.accounting.ledger.events import OVER
from takifugu.accounting.ledger.view import View


@dataclass(frozen=True)
class Listed:
    """One release: its state is reserved, drawn, published, closed (never published, `why`), or adopted."""

    name: str
    id: str
    created: str
    state: str
    promised: Amount
    software: str
    why: str


def listed_in(view: View, source: str) -> Iterator[Listed]:
    """Yield the releases about a source, oldest first."""
    for group in view.groups_of(source):
        paid, state = group.paid, group.state
        if paid.adopted:
            state = "adopted"
        elif state == OVER:
            state = "closed" if group.why else "published"
        for name, release in paid.ids.items():
            charges = [view.charge(line.charge) for line in paid.lines if line.release == name]
            promised = most(*(Amount(charge.epsilon, charge.delta) for charge in charges))
            yield Listed(name, release, paid.created, state, promised, paid.software, group.why)

"""Whether a ledger is what its events say: all of them read again, and every total computed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from takifugu.accounting.amounts import NOTHING, Amount
from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.events import DRAWN, Event, Paid
from takifugu.accounting.ledger.totals import longest, most_of
from takifugu.accounting.ledger.view import View
from takifugu.core.errors import LedgerError

#: So many payments are computed anew one by one; of all later ones only what they come to in the end.
RECOMPUTED = 300


def differences(view: View, events: Iterable[Event], values: Callable[[View, str], object]) -> Iterator[str]:
    """Say what differs between events, each just taken by the view, and what they note.

    `values` reads those of a payment that wait.
    """
    noted, whole = dict[str, Amount](), {""}
    for event in events:
        if not isinstance(event, Paid):
            continue
        for name in {event.reading, event.recipe} - whole:
            view.content(name)
            whole.add(name)
        spent = {name: Amount.of_texts(texts) for name, texts in event.spent.items()}
        for name, amount in spent.items():
            if not noted.get(name, NOTHING).fits(amount):
                yield f"event {view.number - 1} notes less of {name!r} than an earlier one"
            noted[name] = amount
        if len(view.groups) <= RECOMPUTED:
            yield from words.unlike(view.number - 1, most_of(view, longest(view, view.touched(event))), spent)
    yield from words.unlike(view.number - 1, most_of(view, longest(view, view.everyone())), noted)
    for group in view.groups.values():
        if group.state == DRAWN:
            try:
                values(view, group.paid.group)
            except LedgerError as error:
                yield error.message

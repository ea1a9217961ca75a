"""The events of a ledger: what they say, and how one more is written. What was written stays, whatever follows.

Nobody waits for a computation: a change is decided on a view of all events, and written only if that view is still the
newest. Who has lost that race three times takes the lock first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import local

from takifugu.accounting.ledger.events import RESTORE, Event, Paid, chained, decoding, in_chain, keyed, to_text
from takifugu.accounting.ledger.events.stores import AT_ONCE, Store, content_of, contents_of
from takifugu.accounting.ledger.trials import Change
from takifugu.accounting.ledger.view import View
from takifugu.core.errors import LedgerError

#: How often a change is decided again because another process wrote meanwhile, before the others have to wait.
LOST = 3


@dataclass(eq=False)
class Log:
    """The events in a store, with the view of those that were read: each thread has its own, which no other changes."""

    store: Store
    _views: local = field(default_factory=local, repr=False)

    def close(self) -> None:
        """Close what is open; the next call opens it again."""
        self.store.close()

    @property
    def id(self) -> str:
        """The ledger's random id, equal in all copies."""
        return self.view().id

    @property
    def is_new(self) -> bool:
        """Whether this very `open` made the ledger, without memory of earlier releases."""
        return self.store.is_new

    def view(self) -> View:
        """Return what all events say; raises LedgerError where they do not follow from one another."""
        view = self._views.__dict__.pop("newest", None) or View(self._content)
        rows = self.store.after(max(view.number - 1, 0))
        if view.number and (not rows or rows[0][1] != view.head):  # another copy was put in its place
            view, rows = View(self._content), self.store.after(0)
        elif view.number:
            rows = rows[1:]
        for _ in self._applied(view, rows):
            pass
        if not view.number:
            raise LedgerError(f"the ledger {self.store.name!r} has no first event", fix=RESTORE)
        self._views.newest = view
        return view

    def _applied(self, view: View, rows: Sequence[tuple[str, str]]) -> Iterator[Event]:
        """Let a view take the events of rows, and yield each; the charges of several of them are read at once."""
        for start in range(0, len(rows), AT_ONCE):
            events = list(in_chain(rows[start : start + AT_ONCE], view.key, view.head, view.number))
            named = {line.charge for event, _ in events if isinstance(event, Paid) for line in event.lines}
            with decoding():
                view.read_charges(contents_of(self.store, named - view.charges.keys()))
            for event, digest in events:
                with decoding():
                    view.apply(event, digest)
                yield event

    @property
    def _content(self) -> Callable[[str], bytes]:
        """How a view reads contents: it knows the store only, so that this is closed with its last ledger."""
        return partial(content_of, self.store)

    def _change(self, decide: Callable[[View], Change]) -> View:
        """Write what is decided on the newest view; decide again where that is no longer the newest."""
        for _ in range(LOST):
            if self._written(decide):
                return self.view()
        with self.store.alone():
            assert self._written(decide), "nobody else can have written"
        return self.view()

    def _written(self, decide: Callable[[View], Change]) -> bool:
        view, rows = self.view(), list[tuple[str, str]]()
        number, newest = view.number, view.head  # of what is decided on, whatever is read meanwhile
        change = decide(view)
        head = newest
        for event in change.events:
            text = to_text(event)
            head = chained(view.key, head, text)
            rows.append((text, head))
        return not rows or self.store.append(number, newest, rows, change.contents, change.waiting, change.done)

    def tag(self, kind: str, content: bytes) -> str:
        """Return this ledger's keyed hash of `content`, different by `kind`."""
        return keyed(self.view().key, kind, content)

"""How far a release has come: what the ledger says after each of its steps, including one that failed half-way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from takifugu.core.errors import BudgetExceeded, CompositionRefused, InputError, LedgerError, TakifuguError
from takifugu.core.errors import ReleaseState as State
from takifugu.core.lasting import lasting

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Ledger, Payment, Preview
    from takifugu.releasing.publishing.bundle import Bundle

#: Refusals of a reservation: the transaction was rolled back, so certainly nothing happened.
_REFUSALS = (BudgetExceeded, CompositionRefused, InputError)
_STATES = {"reserved": State.PAID, "drawn": State.DRAWN, "over": State.DONE}


class Progress:
    """The state of one release, told with any exception: an interrupt and a fault, too."""

    def __init__(self) -> None:
        # before each step: the state if it fails without an answer; after it, the state that holds
        self.state: State = State.NOTHING
        # the names of the published files; None where a release has none
        self.public: Callable[[], Sequence[str]] | None = None
        # tables of an earlier payment, which this call has published first
        self.before: list[str] = []
        # the ledger that is paid from
        self.ledger: str | None = None

    def completed(self, tables: Iterable[str]) -> None:
        """Note an earlier call's published tables, and begin anew."""
        self.before += tables
        self.state, self.public = State.NOTHING, None

    def over(self) -> None:
        """Note that all is published: what only shows it from now on cannot fail the release."""
        self.state, self.before = State.DONE, []

    @contextmanager
    def telling(self) -> Iterator[None]:
        try:
            with lasting():
                yield
        except BaseException as error:
            facts = vars(error)
            facts.setdefault("state", self.state)
            if self.ledger is not None:
                facts.setdefault("ledger", self.ledger)
            if self.before:
                facts.setdefault("completed", tuple(self.before))
            if self.public is not None and "public" not in facts:
                facts["public"] = tuple(self.public())
            raise

    def pay(self, book: Ledger, preview: Preview, identity: bytes) -> Payment:
        """Pay in the ledger, and ask it again after a failure. A commit can fail after it was written."""
        self.state = State.PAID
        try:
            return book.pay(preview)
        except _REFUSALS:
            self.state = State.NOTHING
            raise
        except BaseException as error:
            answer: State | None = None
            with suppress(Exception):  # whatever it is, it is reported in the place of what came before
                answer = State.PAID if book.pending(preview.order.source, identity) else State.NOTHING
            self.state = answer or State.PAID
            if answer is not None or not isinstance(error, LedgerError):
                raise
            words = f"{error}; it does not say whether the epsilon was spent, so count it as spent"
        raise LedgerError(words)

    def keep(self, book: Ledger, paid: Payment, bundle: Bundle) -> bytes:
        """Keep the noisy values, and return those in the ledger. Another process may have drawn them."""
        self.state = State.PAID
        try:
            content = book.keep(paid.group, bundle.to_bytes())
        except BaseException:
            self.state = state_of(book, paid) or State.PAID
            raise
        self.state = State.DRAWN
        return content

    def record(self, book: Ledger, paid: Payment, certificates: Sequence[bytes], before: State) -> None:
        """Note the publication of these certificates, ignoring failures after it was noted."""
        self.state = before
        try:
            book.publish(paid.group, certificates)
        except BaseException as error:
            if state_of(book, paid) is not State.DONE:
                raise
            self.state = State.DONE
            if not isinstance(error, TakifuguError):
                raise
        self.state = State.DONE


def state_of(book: Ledger, paid: Payment) -> State | None:
    """Return a reservation's state, or None if unknown or unanswered."""
    try:
        group = book.view().groups.get(paid.group)
    except Exception:
        return None
    return None if group is None else _STATES[group.state]

"""The ledger that releases go through: reserve, draw, publish; what was reserved is spent, whatever happens after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from takifugu.accounting.ledger import moving
from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.adopting import Adoption, adopt, published_as
from takifugu.accounting.ledger.applying import differences, rebuild
from takifugu.accounting.ledger.asking import request_of
from takifugu.accounting.ledger.budgets import Budget, known_source, set_budget, source_name, source_with
from takifugu.accounting.ledger.disk import outputs
from takifugu.accounting.ledger.disk.backup import in_memory
from takifugu.accounting.ledger.disk.places import path_of
from takifugu.accounting.ledger.encoding import canonical
from takifugu.accounting.ledger.merging import Merged, merge
from takifugu.accounting.ledger.moving import Answered
from takifugu.accounting.ledger.opening import open_store
from takifugu.accounting.ledger.paying import Order, reserve
from takifugu.accounting.ledger.store import Store
from takifugu.accounting.ledger.tallying import Tally
from takifugu.accounting.ledger.values import (
    Amount,
    Debit,
    Debits,
    Entry,
    Event,
    Payment,
    Pending,
    Reservation,
    Source,
    SourceRow,
    Spent,
    as_budget,
)
from takifugu.core.names import budget_name
from takifugu.core.plain import Plain


@dataclass(frozen=True, eq=False)
class Ledger:
    """The record of all spending on the same data, in one file.

    Epsilons and deltas are exact rationals. Kept are promises, queries, noise, beliefs and keyed hashes of unit
    identifiers; never data, answers, or identifiers in clear. Whoever names units declares them independent.
    """

    store: Store

    @property
    def is_new(self) -> bool:
        """Whether this very `open` made the file, without memory of earlier releases."""
        return self.store.is_new

    @property
    def id(self) -> str:
        """The ledger's random id, equal in all copies, for `ledger_id` of files."""
        return self.store.public_id

    @staticmethod
    def open(where: str | Path, timeout: float = 30.0, create: bool = True) -> Ledger:
        """Open the ledger at a path or sqlite:/// URL, or make one.

        `timeout` is how many seconds to wait for another process that writes. Raises LedgerError, with the fix, for a
        file that is no ledger, is damaged, empty, locked, unreadable or of a newer version, and, with create=False, for
        one that is not there. A ledger of an older format is upgraded, and kept beside the new one.

        >>> import os, tempfile
        >>> Ledger.open(os.path.join(tempfile.mkdtemp(), "ledger.db")).show()
        ()
        """
        book = Ledger(open_store(path_of(where), timeout, create))
        outputs.sweep(book.store.place, partial(reserved.published_of, book.store))
        return book

    def source(self, name: str, budget: Budget | None = None) -> Source:
        """Return the source of this name, made if it is new.

        A budget is epsilon, or (epsilon, delta). Without a budget a new source gets exactly what its first release
        costs. Raises LedgerError for a budget that differs from the one declared before, or is below what is spent.
        """
        with self.store.writing() as connection:
            return source_with(connection, source_name(name), None if budget is None else as_budget(budget))

    def set_budget(self, name: str, budget: Budget) -> Source:
        """Give a source another budget.

        Raises LedgerError where more is spent already, or there is no such source.
        """
        with self.store.writing() as connection:
            return set_budget(connection, known_source(connection, name), as_budget(budget))

    @staticmethod
    def upgrade(where: str | Path, timeout: float = 30.0) -> Path | None:
        """Upgrade a ledger of an older format; return the old one's place.

        None for a ledger of this format. A ledger of any length is upgraded. Raises LedgerError for any other file.
        """
        return open_store(path_of(where), timeout, False, at_most=None).upgraded_from

    def check(self) -> tuple[str, ...]:
        """Return all differences from the events, in words."""
        with self.store.reading() as connection:
            return differences(connection)

    def merge(self, other: Ledger | str | Path, is_rehearsal: bool = False) -> Merged:
        """Replay the further payments of another copy, or rehearse it.

        Totals are computed anew. Raises LedgerError for a file that is no copy of this ledger, and CompositionRefused
        where the copies cannot be counted together; then nothing was written.
        """
        theirs = other if isinstance(other, Ledger) else Ledger.open(other, create=False)
        return merge(self.store, theirs.store, is_rehearsal)

    def rebuild(self) -> None:
        """Compute the ledger's tables from its events again.

        Raises LedgerError where the events themselves were edited.
        """
        with self.store.writing() as connection:
            rebuild(connection)

    def reserve(
        self,
        source: str | Source,
        debits: Sequence[Debit | Debits],
        budget: Budget | None = None,
        as_composing: bool = False,
        *,
        identity: bytes | None = None,
        recipe: Plain | None = None,
        same_people: bool | None = None,
        same_entries: bool | None = None,
        computed: Tally | None = None,
    ) -> Reservation:
        """Pay for all releases before any drawing, or for none.

        In one transaction the joint cost of every unit that is touched is recomputed under every framework that any
        release about it was made for. `identity` is what the releases are (only a keyed hash is kept), to find them in
        `pending`; `recipe`, plain JSON and never data, says how to complete them, and a release of one name is paid for
        once under the key that it has as "once". `as_composing` gives promises up that are alone and that a release
        with a delta leaves no place, and charges their noise, from then on. `same_people` says whether units that
        another source of this ledger names alike are the same people; it is required where there are any. Of a source
        that names none it says so about all others that name none, which then have to say it, too (`same_people`).
        `same_entries` says whether a source that is read otherwise than before has the same entries; it is required
        then, and once. `computed` is what a preview rests on: it counts if it is of these very debits, and nothing
        changed since.

        Raises BudgetExceeded with what is spent, required, left and would fit, CompositionRefused where there is no
        joint promise, ReadingChanged where it has to be said whether the entries are the same, LedgerError and
        InputError for what cannot be counted; then nothing was written.
        """
        name = source_name(source.name if isinstance(source, Source) else source)
        everything = self.tag_of("")  # another ledger has other keys
        if computed is None or not computed.is_for(name, debits, as_composing, same_people, same_entries, everything):
            computed, request = None, request_of(debits, self.tag_of, as_composing)
        else:
            request = computed.original
        declared = None if budget is None else as_budget(budget)
        identity_tag = None if identity is None else self.tag("identity", identity)
        text = canonical(recipe or {}, "the recipe")
        order = Order(declared, identity_tag, recipe or {}, text, same_people, same_entries)
        return reserve(self.store, name, request, computed, order)

    def pending(self, source: str | None = None, identity: bytes | None = None) -> tuple[Pending, ...]:
        """Return unpublished payments, oldest first, of a source and an `identity`."""
        with self.store.reading() as connection:
            number = None if source is None else rows.read_source(connection, source_name(source)).number
            tag = None if identity is None else self.tag("identity", identity)
            return reserved.read_pending(connection, self.store.place, number, tag)

    def payments(self, source: str) -> tuple[Payment, ...]:
        """Return all payments about a source, oldest first."""
        with self.store.reading() as connection:
            return reserved.read_payments(connection, rows.read_source(connection, source_name(source)).number)

    def drawn(self, reservation: Reservation | Pending, bundle: bytes, certificates: Sequence[str] = ()) -> bytes:
        """Note the draw and keep its noisy values, before any other writing.

        Only one draw is ever public: where another process drew first, its values are returned, and these are to be
        thrown away. `certificates` are the keyed digests by which the published values are known later. Raises
        LedgerError where the values were published already, or are gone.
        """
        return moving.draw(self.store, reservation.group, bundle, certificates)

    def session_of(self, reservation: Reservation | Pending) -> tuple[Answered, ...]:
        """Return a `Session`'s questions with their answers.

        Raises LedgerError for a closed session.
        """
        with self.store.reading() as connection:
            return moving.read_session(connection, self.store.place, reservation.group)

    def answer(self, reservation: Reservation | Pending, number: int, question: Answered) -> str:
        """Keep the answer to question `number`; return the first to come."""
        with self.store.writing() as connection:
            return moving.keep_answer(connection, self.store.place, reservation.group, number, question)[number][1]

    def close_session(self, reservation: Reservation | Pending) -> None:
        """Note the end of a session, with all of it spent."""
        with self.store.writing() as connection:
            moving.close_session(connection, self.store.place, reservation.group)

    def publish(self, reservation: Reservation | Pending) -> None:
        """Note the publication of values and drop them.

        Raises LedgerError before they are drawn.
        """
        with self.store.writing() as connection:
            moving.set_published(connection, reservation.group)
        outputs.clear(self.store.place, reservation.group)

    def history(self, name: str) -> tuple[Entry, ...]:
        """Return every release about a source, oldest first.

        Raises LedgerError for an unknown source.
        """
        with self.store.reading() as connection:
            return rows.read_history(connection, known_source(connection, name).number)

    def release_ids(self, name: str) -> frozenset[str]:
        """Return the random ids of a source's releases.

        Raises LedgerError for an unknown source.
        """
        with self.store.reading() as connection:
            return rows.read_release_ids(connection, known_source(connection, name).number)

    def adopt(
        self, offers: Sequence[Sequence[Adoption]], is_rehearsal: bool = False
    ) -> tuple[tuple[Adoption, Amount], ...]:
        """Enter published releases, new to this ledger, as spent, or rehearse it.

        The budget does not limit them. Of every offer the first that can be counted is entered: it is returned with
        what its source has spent then. Raises CompositionRefused where nothing bounds what a release costs beside
        others, and LedgerError for one that the ledger knows; then nothing was written.
        """
        if is_rehearsal:
            with self.store.reading() as connection, in_memory(connection) as copied:
                return adopt(copied, offers, self.tag_of)
        with self.store.writing() as connection:
            return adopt(connection, offers, self.tag_of)

    def published_as(self, name: str) -> dict[str, frozenset[str]]:
        """Return the digests of a source's certificates by release id.

        An unknown source has none. Raises LedgerError for a ledger that was edited.
        """
        with self.store.reading() as connection:
            return published_as(connection, source_name(name))

    def readings(self, name: str) -> tuple[str, ...]:
        """Return how a source was read, as texts; none of an unknown source."""
        with self.store.reading() as connection:
            readings = rows.read_readings(connection, rows.read_source(connection, source_name(name)).number)
        return readings.members

    def finish(self, reservation: Pending, why: str) -> None:
        """Close a payment, without another draw, for a reason in the history."""
        with self.store.writing() as connection:
            known_source(connection, reservation.source)
            moving.finish(connection, reservation.group, why)
        outputs.clear(self.store.place, reservation.group)

    def events(self, name: str) -> tuple[Event, ...]:
        """Return a source's changes of budget and reading, oldest first.

        Raises LedgerError for an unknown source.
        """
        with self.store.reading() as connection:
            return rows.read_notes(connection, known_source(connection, name).number)

    def spent(self, name: str) -> Spent:
        """Return the most spent by any unit, and each unit's amount.

        Units go by their keyed hashes. Raises LedgerError for an unknown source.
        """
        with self.store.reading() as connection:
            source = known_source(connection, name)
            units, spent = rows.read_spent(connection, source.number), rows.most_spent(connection, source.number)
        return Spent(spent, source.budget, units)

    def show(self) -> tuple[SourceRow, ...]:
        """Return one row per source."""
        with self.store.reading() as connection:
            return rows.read_rows(connection)

    def unit_tag(self, unit: str) -> str:
        """Return the keyed hash of a unit in `spent`."""
        return self.tag_of(budget_name(unit)).hex()

    def tag_of(self, unit: str) -> bytes:
        """Return the keyed hash of a `budget_name`, as bytes."""
        return self.store.tag_of_unit(unit)

    def tag(self, kind: str, content: bytes) -> str:
        """Return this ledger's keyed hash of `content`, different by `kind`."""
        return self.store.tag(kind, content).hex()

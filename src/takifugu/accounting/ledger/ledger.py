"""The ledger that releases go through: reserve, draw, keep, publish. What was reserved is spent, whatever follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from takifugu.accounting.amounts import NOTHING, Amount, Budget, as_budget
from takifugu.accounting.ledger import fitting, words
from takifugu.accounting.ledger.certificates import entered
from takifugu.accounting.ledger.events import DRAWN, OVER, Budgeted, first_row
from takifugu.accounting.ledger.events.sqlite import Memory, Sqlite
from takifugu.accounting.ledger.events.stores import MissingLedger, Store, is_address, named
from takifugu.accounting.ledger.log import Log
from takifugu.accounting.ledger.people import set_of
from takifugu.accounting.ledger.totals import spent_by
from takifugu.accounting.ledger.trials import Change, Debit, Order, Trial, order_of, trial_of
from takifugu.accounting.ledger.values import Payment, Preview, payment_of, preview_of
from takifugu.accounting.ledger.view import COMING, EVERYBODY, Source, View
from takifugu.core.errors import LedgerError
from takifugu.core.lasting import open_things
from takifugu.core.plain import Plain
from takifugu.core.rules import check_type


class Ledger(Log):
    """Hold the ledger of all releases about one set of people.

    Units of one name are one person, in all sources. `Ledger.open` opens one.

    Args:
        store: Where its events are kept.

    Examples:
        >>> Ledger.blank().show()
        ()
    """

    @staticmethod
    def open(where: str | Path, timeout: float = 30.0, create: bool = True) -> Ledger:
        """Open the ledger at a path or URL, or make one.

        Args:
            where: A path, sqlite:///PATH, or postgresql://HOST/DATABASE?ledger=NAME.
            timeout: Seconds to wait for another process that writes.
            create: Whether to make a missing ledger.

        Returns:
            The ledger.

        Raises:
            LedgerError: For a ledger that is damaged, locked, unreadable, of another format, or missing with
                `create=False`.

        Examples:
            >>> import os, tempfile
            >>> Ledger.open(os.path.join(tempfile.mkdtemp(), "ledger.db")).show()
            ()
        """
        return Ledger._at(where, timeout, first_row() if create else None)

    @staticmethod
    def _at(where: str | Path, timeout: float, first: tuple[str, str] | None) -> Ledger:
        """Return the ledger at a place, which is opened once a command; without a first event none is made."""
        things, key = open_things(), ("ledger", str(where))
        if things is not None and key in things:
            return cast(Ledger, things[key])
        store: type[Store] = Sqlite
        if is_address(where):
            from takifugu.accounting.ledger.events.postgres import Postgres as store  # psycopg is an extra
        ledger = Ledger(store.open(where, timeout, first))
        if things is not None:
            things[key] = ledger
        return ledger

    @staticmethod
    def coming(where: str | Path, announce: Callable[[], None] = lambda: None) -> Ledger:
        """Return the ledger at a path or URL, which is made when something is first written.

        Until then it is in memory only, so neither a question nor a refused release makes a ledger.

        Args:
            where: A path or URL, as in `open`.
            announce: Called before the ledger is made.

        Returns:
            The ledger.
        """

        def opens(first: tuple[str, str] | None) -> Store:
            if first is not None:
                announce()
            return Ledger._at(where, 30.0, first).store

        try:
            return Ledger.open(where, create=False)
        except MissingLedger:
            return Ledger(Memory(named(where), opens))

    @staticmethod
    def blank(name: str = "ledger.db") -> Ledger:
        """Return a new ledger in memory, for rehearsals.

        Args:
            name: The ledger's name in errors.

        Returns:
            The ledger.

        Examples:
            >>> Ledger.blank().show()
            ()
        """
        return Ledger(Memory(name))

    # What is paid for

    def reserve(
        self, source: str, debits: Sequence[Debit], budget: Budget | None = None, *, reading: str = "",
        entries: str | None = None, same_entries: bool | None = None, same_people: bool = False, why: str = "",
        identity: bytes | None = None, recipe: Plain | None = None,
    ) -> Payment:  # fmt: skip
        """Pay for all releases before any noise is drawn, or for none.

        Releases of one `entries` name are about the same entries, or about windows of one calendar. A source whose
        releases had another reading or name raises ReadingChanged until the owner answers.

        Args:
            source: Name of the data.
            debits: The charges, each of a release and its units.
            budget: The most privacy loss of a unit; required once.
            reading: How rows became entries, in words.
            entries: Name of the entries; None for entries of these releases alone.
            same_entries: True declares, with `why`, that the entries are those of earlier releases. False counts each
                release beside those about other entries by its loss when all data change.
            same_people: Declares that a further source of this ledger is about the same people.
            why: The reason for `same_entries`, which certificates print.
            identity: What the releases are; only a keyed hash is kept.
            recipe: How to complete the releases: plain JSON, never data. A release with a key "once" is paid for once
                under it.

        Returns:
            The payment.

        Raises:
            BudgetExceeded: With the spent, required, remaining and fitting loss.
            CompositionRefused: Where there is no joint guarantee.
            ReadingChanged: Where the owner must say whether the entries are the same.
            PeopleUndeclared: Where the owner must say whether the people are the same.
            LedgerError: For a ledger that cannot be used.
            InputError: For arguments that cannot be counted. After every error nothing was written.
        """
        terms = (budget, reading, entries, same_entries, same_people, why, identity, recipe)
        return self._paid(order_of(source, debits, *terms), None)

    def pay(self, preview: Preview) -> Payment:
        """Pay for what was previewed. What was computed counts while nothing else was written.

        Args:
            preview: What `preview` returned.

        Returns:
            The payment.

        Raises:
            LedgerError: As `reserve`, and for a preview that was paid for.
        """
        check_type(preview, Preview, "a preview", "give what preview(...) returns", "preview")
        if preview.asks is not None:
            raise preview.asks
        return self._paid(preview.order, preview.trial)

    def _paid(self, order: Order, trial: Trial | None) -> Payment:
        def decide(view: View) -> Change:
            now = trial
            if now is None or now.head != view.head:
                now = trial_of(view, order)
            if order.group in view.groups:
                raise LedgerError("this preview was paid for before", fix="preview it again: each payment has one")
            words.refuse_twice(view, order.source, order.ids, order.recipe)
            over = fitting.excess(now)
            if over is not None:
                raise over
            return now.change

        view = self._change(decide)
        return payment_of(view, view.groups[order.group])

    def preview(
        self, source: str, debits: Sequence[Debit], budget: Budget | None = None, *, reading: str = "",
        entries: str | None = None, same_entries: bool | None = None, same_people: bool = False, why: str = "",
        identity: bytes | None = None, recipe: Plain | None = None,
    ) -> Preview:  # fmt: skip
        """Rehearse `reserve`; nothing is written.

        Args:
            source: As in `reserve`.
            debits: As in `reserve`.
            budget: As in `reserve`.
            reading: As in `reserve`.
            entries: As in `reserve`.
            same_entries: As in `reserve`.
            same_people: As in `reserve`.
            why: As in `reserve`.
            identity: As in `reserve`.
            recipe: As in `reserve`.

        Returns:
            The preview, for `pay`.

        Raises:
            InputError: As `reserve`, for what cannot be counted.
            LedgerError: As `reserve`.
        """
        terms = (budget, reading, entries, same_entries, same_people, why, identity, recipe)
        return preview_of(self.view(), order_of(source, debits, *terms))

    # What the owner says

    def budget(self, source: str, budget: Budget) -> None:
        """Give a source another budget.

        Args:
            source: Name of the data.
            budget: The most privacy loss of a unit.

        Raises:
            LedgerError: Where more is spent already, and for an unknown source.
        """
        declared = as_budget(budget)

        def decide(view: View) -> Change:
            there = self._source(view, source)
            words.check_spent(there, declared)
            return Change([Budgeted(there.name, *declared.texts)])

        self._change(decide)

    def adopt(
        self, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()
    ) -> dict[str, Amount]:
        """Charge published releases from their certificates.

        They count for all units of the source, present and future, whatever its budget. Releases that the ledger knows
        are left alone. One that it knows with other values was drawn twice, and is charged once more.

        Args:
            certificates: The certificates.
            bodies: Their texts, which tell other values.

        Returns:
            The loss of each source then.

        Raises:
            CompositionRefused: Where nothing bounds that; then none is charged.
        """
        given = [*certificates], [*bodies]
        self._change(lambda view: entered(view, *given)[0])
        return {source.name: source.spent for source in self.show()}

    # What it says

    def payments(self, source: str | None = None) -> tuple[Payment, ...]:
        """List payments, oldest first.

        Args:
            source: Name of the data; None for all sources.

        Returns:
            The payments.
        """
        view = self.view()
        groups = view.groups.values() if source is None else view.groups_of(source)
        return tuple(payment_of(view, group) for group in groups)

    def pending(self, source: str | None = None, identity: bytes | None = None) -> tuple[Payment, ...]:
        """List the payments of unfinished releases, oldest first.

        Args:
            source: Name of the data; None for all sources.
            identity: What the releases are; None for any.

        Returns:
            The payments. A drawn one has the noisy values that wait, if they are not lost.
        """
        waiting, wanted = list[Payment](), None if identity is None else self.tag("identity", identity)
        for payment in self.payments(source):
            if payment.state == OVER or wanted not in (None, payment.identity):
                continue
            if payment.state == DRAWN and not payment.is_session:
                with suppress(LedgerError):
                    payment = replace(payment, values=self._values(self.view(), payment.group)[0])
            waiting.append(payment)
        return tuple(waiting)

    def show(self) -> tuple[Source, ...]:
        """List every source with its budget and the loss of the unit that lost most; nothing is computed.

        Returns:
            The sources.
        """
        return tuple(self.view().sources.values())

    def spent(self, source: str, unit: str | None = None) -> Amount:
        """Return the privacy loss of a source.

        Args:
            source: Name of the data.
            unit: One unit, "" for those without a name; None for the unit that lost most.

        Returns:
            Epsilon and delta.
        """
        view = self.view()
        there = self._source(view, source)
        if unit is None:
            return there.spent
        number: int | None = EVERYBODY
        if unit:
            number = view.people.class_of(int(set_of(view.key, [unit])[0]))
        steps = view.past(COMING if number is None else number, view.shared())
        return spent_by(view, [view.steps[step] for step in steps], number == EVERYBODY).get(there.name, NOTHING)

    def _source(self, view: View, source: str) -> Source:
        name = words.source_name(source)
        if name not in view.sources:
            known = f"it has {sorted(view.sources)}"
            raise LedgerError(f"the ledger {self.store.name!r} has no source {name!r}", fix=known).at("source")
        return view.sources[name]

    def check(self) -> tuple[str, ...]:
        """Read all events again, and compute the loss of every unit anew.

        Returns:
            The differences, in words; empty if there are none.
        """
        return tuple(self._differences())

"""The ledger that releases go through: reserve, draw, keep, publish. What was reserved is spent, whatever follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from takifugu.accounting.amounts import NOTHING, Amount, Budget, as_budget
from takifugu.accounting.ledger import fitting, words
from takifugu.accounting.ledger.asking import check_same
from takifugu.accounting.ledger.certificates import (
    Lacking,
    adopted,
    certificate_of,
    in_payments,
    lacking_in,
)
from takifugu.accounting.ledger.checking import differences
from takifugu.accounting.ledger.events import (
    DRAWN,
    OVER,
    Budgeted,
    Same,
    first_row,
)  # fmt: skip
from takifugu.accounting.ledger.events.coming import Coming
from takifugu.accounting.ledger.events.memory import Memory
from takifugu.accounting.ledger.events.sqlite import Sqlite
from takifugu.accounting.ledger.events.stores import MissingLedger, Store, is_address, named
from takifugu.accounting.ledger.listing import Listed, listed_in
from takifugu.accounting.ledger.people import set_of
from takifugu.accounting.ledger.previewing import preview_of
from takifugu.accounting.ledger.totals import longest, most_of, spent_by
from takifugu.accounting.ledger.trials import Change, Debit, new_entries, order_of, trial_of
from takifugu.accounting.ledger.values import Declared, Payment, Preview, Reservation
from takifugu.accounting.ledger.view import COMING, EVERYBODY, Group, Source, View
from takifugu.accounting.ledger.waiting import Waiting
from takifugu.core.errors import (
    CompositionRefused,
    LedgerError,
    ReadingChanged,
)
from takifugu.core.lasting import open_things
from takifugu.core.lists import take
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.core.readings import with_entries


def _store_at(where: str | Path, timeout: float, first: tuple[str, str] | None) -> Store:
    if is_address(where):
        from takifugu.accounting.ledger.events.postgres import Postgres  # psycopg is an extra

        return Postgres.open(str(where), timeout, first)
    return Sqlite.open(where, timeout, first)


class Ledger(Waiting):
    """The record of all spending of one set of people. Units of one name are one person, in all of its sources."""

    @staticmethod
    def open(where: str | Path, timeout: float = 30.0, create: bool = True) -> Ledger:
        """Open the ledger at a path or URL (sqlite:///, postgresql://host/database?ledger=name), or make one.

        `timeout` is how many seconds to wait for another process that writes. Raises LedgerError, with the fix, for
        what is no ledger, is damaged, locked, unreadable or of another format, and, with create=False, is not there.

        >>> import os, tempfile
        >>> Ledger.open(os.path.join(tempfile.mkdtemp(), "ledger.db")).show()
        ()
        """
        things, key = open_things(), ("ledger", str(where))
        if things is not None and key in things:  # one opening a command
            return cast(Ledger, things[key])
        ledger = Ledger(_store_at(where, timeout, first_row() if create else None))
        if things is not None:
            things[key] = ledger
        return ledger

    @staticmethod
    def coming(where: str | Path, announce: Callable[[], None] = lambda: None) -> Ledger:
        """Return the ledger at a path or URL, or one that is made there with what is first written.

        Until then it is in memory only, so that neither a question nor a refused release makes a ledger; `announce` is
        called before one is made.
        """

        def opens(first: tuple[str, str] | None) -> Store:
            store, things = _store_at(where, 30.0, first), open_things()
            if things is not None:
                things.setdefault(("ledger", str(where)), Ledger(store))
            return store

        try:
            return Ledger.open(where, create=False)
        except MissingLedger:
            return Ledger(Coming(named(where), opens, announce))

    @staticmethod
    def blank(name: str = "ledger.db") -> Ledger:
        """Return a new ledger in memory, for rehearsals; `name` is what a refusal calls it.

        >>> Ledger.blank().show()
        ()
        """
        return Ledger(Memory(name))

    # What is paid for

    def reserve(
        self, source: str, debits: Sequence[Debit], budget: Budget | None = None, *, reading: str = "",
        entries: str | None = None, same_entries: bool | None = None, same_people: bool = False, why: str = "",
        identity: bytes | None = None, recipe: Plain | None = None, computed: Preview | None = None,
    ) -> Reservation:  # fmt: skip
        """Pay for all releases before any drawing, or for none.

        `reading` says how rows became entries, and `entries` names those: releases of one name are about the same
        entries, or about windows of one calendar. A source that had others is asked (ReadingChanged): `same_entries`
        with a `why` declares, in an event, that they are the same; without it each release counts beside those about
        other entries by what it loses when all data change (same_entries=False). Without a name the entries are a
        release's own, which is asked, too. All sources of a ledger are about the same people: the first release about a
        second one is asked (PeopleUndeclared), which same_people=True answers. `identity` is what the releases are
        (only a keyed hash is kept); `recipe`, plain JSON and never data, says how to complete them, and a release of
        one name is paid for once under the key that it has as "once". `computed` is a preview of all this: it counts
        while nothing else was written.

        Raises BudgetExceeded with what is spent, required, left and would fit, CompositionRefused where there is no
        joint promise, LedgerError and InputError for what cannot be counted; then nothing was written.
        """
        given = (source, budget, reading, entries, same_entries, same_people, why, identity, recipe)
        trial = None if computed is None else computed.trial
        if trial is not None and trial.order is not None and trial.order.is_of(debits, self.id, *given):
            order = trial.order
        else:
            trial, order = None, order_of(self.view(), debits, *given)

        def decide(view: View) -> Change:
            nonlocal order
            if order.ledger != view.id:  # another process made the ledger meanwhile, with another key
                order = order_of(view, debits, *given)
            now = trial
            if now is None or now.head != view.head:
                now = trial_of(self.store.name, view, order)
            if order.group in view.groups:
                raise LedgerError("this preview was paid for before", fix="preview it again: each payment has one")
            words.refuse_twice(view, order.source, order.ids, order.recipe)
            over = fitting.excess(now, self.store.name)
            if over is not None:
                raise over
            return now.change

        view = self._change(decide)
        there = view.source(order.source)
        return Reservation(order.group, order.source, order.ids, there.spent, there.budget or there.spent)

    def preview(
        self, source: str, debits: Sequence[Debit], budget: Budget | None = None, *, reading: str = "",
        entries: str | None = None, same_entries: bool | None = None, same_people: bool = False, why: str = "",
        identity: bytes | None = None, recipe: Plain | None = None,
    ) -> Preview:  # fmt: skip
        """Rehearse `reserve`: nothing is written. Raises what it raises for what cannot be counted."""
        given = (source, budget, reading, entries, same_entries, same_people, why, identity, recipe)
        view = self.view()
        return preview_of(self.store.name, view, order_of(view, debits, *given))

    def question(self, source: str, reading: str, entries: str | None) -> ReadingChanged | None:
        """Return what a release of a source will be asked about its entries, without a price; None for nothing."""
        view = self.view()
        name = None if entries is None else normalised(entries)
        new = new_entries(view, words.source_name(source), reading, name)
        return None if new is None else new.question

    # What the owner says

    def budget(self, source: str, budget: Budget) -> None:
        """Give a source another budget; raises LedgerError where more is spent already, or there is no such source."""
        declared = as_budget(budget)

        def decide(view: View) -> Change:
            there = self._source(view, source)
            words.check_spent(there, declared)
            return Change([Budgeted(there.name, *declared.texts)])

        self._change(decide)

    def same_entries(self, source: str, tables: Sequence[tuple[str, str]], why: str) -> None:
        """Declare that entries, by (reading, name), are the same: every later certificate says so, with the reason.

        Raises LedgerError where nothing was released about the first of them, and InputError where two readings show
        without any row that they are not the same.
        """

        def decide(view: View) -> Change:
            there, change = self._source(view, source), Change()
            declared = tuple((change.keep(reading.encode()), normalised(entries)) for reading, entries in tables)
            if len(declared) < 2 or declared[0] not in there.tables:
                raise LedgerError("nothing was released about these entries", fix="name those of a release")
            before, *others = tables
            for other in others:
                check_same(source, with_entries(*before), with_entries(*other), why)
            change.events.append(Same(there.name, declared, why))
            trial = view.copy(self._content)
            trial.apply(change.events[0], "")
            for name, total in most_of(trial, longest(trial, trial.everyone())).items():
                if words.is_more(total, view.source(name).spent):  # a series has a rule of its own
                    raise CompositionRefused(
                        f"taken as the same entries, these releases would cost {name!r} {total}, which is more"
                    )
            return change

        self._change(decide)

    def adopt(
        self, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()
    ) -> dict[str, Amount]:
        """Enter published releases from what their certificates say (`certificate`); `prices` rehearses it.

        They count for all units of the source that are or will be, in the table that they name, whatever its budget.
        What the ledger knows is left alone; a release that it knows with other values (`bodies`: the certificates'
        texts) was drawn twice, and is entered once more. Returns what each source has spent then. Raises
        CompositionRefused where nothing bounds that; the earlier ones of the certificates are entered then.
        """
        for one in in_payments(lacking_in(self.view(), certificates, bodies)):

            def decide(view: View, one: Lacking = one) -> Change:
                is_known = view.releases.keys() & {*one.ids.values()}  # since another process was faster
                return Change() if is_known else adopted(view, one).change

            self._change(decide)
        return {source.name: source.spent for source in self.show()}

    def prices(
        self, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()
    ) -> tuple[tuple[Lacking, dict[str, Amount]], ...]:
        """Return the payments that `adopt` would enter, and what each source would have spent after each of them."""
        view, contents, prices = self.view(), dict[str, bytes](), list[tuple[Lacking, dict[str, Amount]]]()

        def content(digest: str) -> bytes:
            return contents[digest] if digest in contents else self._content(digest)

        for one in in_payments(lacking_in(view, certificates, bodies)):
            trial = adopted(view, one)
            contents |= trial.change.contents
            view, trial.view.content = trial.view, content
            prices.append((one, {name: source.spent for name, source in view.sources.items()}))
        return tuple(prices)

    # What it says

    def certificate(self, group: str) -> dict[str, Any]:
        """Return what a certificate says of the ledger: enough to notice a lost event, and to enter it elsewhere."""
        view = self.view()
        return certificate_of(view, self._group(view, group))

    def missing(self, certificates: Iterable[Mapping[str, Any]], bodies: Iterable[bytes] = ()) -> tuple[str, ...]:
        """Say which published certificates this ledger does not know: an old copy was restored, or it was edited.

        `bodies` are their texts; by them a second draw of what was paid for once is known.
        """
        return tuple(one.words for one in lacking_in(self.view(), certificates, bodies))

    def releases(self, source: str) -> tuple[Listed, ...]:
        """Return the releases about a source, oldest first, with what each promised and what became of it."""
        view = self.view()
        return tuple(listed_in(view, self._source(view, source).name))

    def payments(self, source: str | None = None) -> tuple[Payment, ...]:
        """Return all payments, of a source, oldest first."""
        view = self.view()
        groups = view.groups.values() if source is None else view.groups_of(source)
        return tuple(self._payment(view, group) for group in groups)

    def pending(self, source: str | None = None, identity: bytes | None = None) -> tuple[Payment, ...]:
        """Return the payments that are not over, oldest first; drawn ones with the values that wait, if not lost."""
        view, waiting = self.view(), list[Payment]()
        wanted = None if identity is None else self.tag("identity", identity)
        for group in view.groups.values():
            is_of = source in (None, group.paid.source) and wanted in (None, group.paid.identity)
            if group.state == OVER or not is_of:
                continue
            payment, values = self._payment(view, group), None
            if group.state == DRAWN and not view.is_session(group):
                with suppress(LedgerError):
                    values = self._values(view, group.paid.group)[0]
            waiting.append(replace(payment, values=values))
        return tuple(waiting)

    def _payment(self, view: View, group: Group) -> Payment:
        paid, there = group.paid, view.source(group.paid.source)
        try:
            recipe: Plain = view.recipe(group)
        except LedgerError as error:
            recipe = {"unreadable": error.message}
        return Payment(
            paid.group, paid.source, paid.ids, group.state, paid.identity, paid.created, recipe, there.spent,
            there.budget, why=group.why,
        )  # fmt: skip

    def show(self) -> tuple[Source, ...]:
        """Return every source with its budget, and what the unit that spent most has spent; nothing is computed."""
        return tuple(self.view().sources.values())

    def spent(self, source: str, unit: str | None = None) -> Amount:
        """Return the most that any unit of a source has spent, or what one of them has ("": who goes by no name)."""
        view = self.view()
        there = self._source(view, source)
        if unit is None:
            return there.spent
        number: int | None = EVERYBODY
        if unit:
            number = view.people.class_of(int(set_of(view.key, [unit])[0]))
        steps = view.past(COMING if number is None else number, view.shared())
        return spent_by(view, take(view.steps, steps), number == EVERYBODY).get(there.name, NOTHING)

    def _source(self, view: View, source: str) -> Source:
        name = words.source_name(source)
        if name not in view.sources:
            known = f"it has {sorted(view.sources)}"
            raise LedgerError(f"the ledger {self.store.name!r} has no source {name!r}", fix=known).at("source")
        return view.sources[name]

    def declarations(self, source: str) -> tuple[Declared, ...]:
        """Return what its owner declared of a source's entries, oldest first."""
        view, declared = self.view(), list[Declared]()
        for event in view.source(words.source_name(source)).same:
            before, *others = (with_entries(view.content(reading).decode(), name) for reading, name in event.tables)
            declared += [Declared(event.created, event.why, (before, other)) for other in others]
        return tuple(declared)

    def check(self) -> tuple[str, ...]:
        """Read all events again, and compute what every unit has spent anew; return, in words, what differs."""
        view = View(self._content)
        return tuple(differences(view, self._applied(view, self.store.after(0)), self._values))

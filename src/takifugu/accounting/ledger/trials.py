"""A payment on trial: what is asked, made ready once, and what it would come to, on a view of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Any

import numpy as np

from takifugu._version import __version__
from takifugu.accounting.amounts import Amount, Budget, as_budget, most
from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.asking import NewEntries, check_same, nobody_asks, starts_question
from takifugu.accounting.ledger.events import NOBODY, Budgeted, Event, Line, Paid, Same, canonical, digest_of, keyed
from takifugu.accounting.ledger.people import Tags, set_body, set_of, without
from takifugu.accounting.ledger.totals import Account, longest, most_of, start_apart
from takifugu.accounting.ledger.view import View
from takifugu.analysis.guarantee import Charge
from takifugu.core.errors import InputError
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.model.frameworks import Framework

#: So much of the keyed digest of where sequences start is kept.
_STARTS = 32


@dataclass(frozen=True, eq=False)
class Debit:
    """One charge of a release about units that are named, or (None) about a source that names none.

    Debits of one `name` belong to one release. `charge.at` is the step where the sequence starts; where no calendar
    tells that, `starts` says where sequences start, and only a keyed hash of it is kept.
    """

    framework: Framework
    charge: Charge
    units: Iterable[str] | None = None
    name: str = "release"
    starts: str = ""


@dataclass(frozen=True, eq=False)
class Order:
    """What is asked of a ledger, in its `terms`, with the random names that it gets and the tags of its units."""

    source: str
    debits: tuple[tuple[Debit, Charge, Tags | None], ...]
    budget: Amount | None
    reading: str
    entries: str | None
    same_entries: bool | None
    same_people: bool
    why: str
    identity: str
    recipe: Plain
    group: str = field(default_factory=lambda: token_hex(8))
    ids: dict[str, str] = field(default_factory=dict)
    ledger: str = ""
    terms: tuple[Any, ...] = ()

    @property
    def given(self) -> list[Debit]:
        return [debit for debit, _, _ in self.debits]


@dataclass(eq=False)
class Change:
    """What is to be written: events, the contents that they name, values that wait, and whose are done."""

    events: list[Event] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    waiting: dict[tuple[str, int], bytes] = field(default_factory=dict)
    done: str = ""

    def keep(self, body: bytes) -> str:
        digest = digest_of(body)
        self.contents[digest] = body
        return digest

    def line(
        self, release: str, charge: Charge, framework: Framework, units: tuple[str, int], at: int | None, starts: str
    ) -> Line:  # fmt: skip
        """Return a line of a payment, with what it names among the contents."""
        stored = self.keep(canonical(charge.to_dict(), f"the charge of {release}").encode())
        belief = self.keep(canonical(framework.to_dict(), "the framework").encode())
        return Line(release, stored, belief, *units, at, starts)


@dataclass(frozen=True, eq=False)
class Trial:
    """What a payment would come to after the event `head`: the change, and the views before and with it.

    `accounts` are the longest pasts that it touches, and `worst` the most that any of them costs.
    """

    head: str
    change: Change
    paid: Paid
    before: View
    view: View
    accounts: Sequence[Account]
    worst: Mapping[str, Amount]


def order_of(
    view: View, debits: Sequence[Debit], source: str, budget: Budget | None, reading: str, entries: str | None,
    same_entries: bool | None, same_people: bool, why: str, identity: bytes | None, recipe: Plain | None,
) -> Order:  # fmt: skip
    """Check what is asked, and prepare it: units as tags, charges as they are kept."""
    if not debits:
        raise InputError("there is nothing to reserve", fix="give at least one debit").at("debits")
    if entries is not None and not normalised(entries, "the name of the entries"):
        raise InputError("the name of the entries holds nothing but blanks", fix="name them").at("entries")
    prepared, readers = list[tuple[Debit, Charge, Tags | None]](), dict[str, list[Tags]]()
    for debit in debits:
        charge = words.as_stored(debit.charge, debit.framework, debit.name)
        tags = None if debit.units is None else set_of(view.key, debit.units)
        if tags is not None and not len(tags):
            raise InputError(f"the release {debit.name!r} is about nobody", fix="name a person").at("debits")
        mine = np.zeros(1, np.uint64) if tags is None else tags
        if any(len(without(mine, others)) < len(mine) for others in readers.setdefault(debit.name, [])):
            raise InputError("a release debits one person twice", fix="give each answer its own name").at("debits")
        readers[debit.name].append(mine)
        prepared.append((debit, charge, tags))
    return Order(
        words.source_name(source), tuple(prepared), None if budget is None else as_budget(budget), reading,
        None if entries is None else normalised(entries), same_entries, same_people is True, why,
        "" if identity is None else keyed(view.key, "identity", identity), recipe or {},
        ids={name: token_hex(8) for name in readers},
        ledger=view.id, terms=(source, budget, reading, entries, same_entries, same_people, why, identity, recipe),
    )  # fmt: skip


def new_entries(view: View, source: str, reading: str, entries: str | None) -> NewEntries | None:
    """Return entries that nobody named, or that a source with releases does not know; None for no question."""
    there = view.source(source)
    if entries is not None and (not there.tables or view.tables.is_known(source, digest_of(reading.encode()), entries)):
        return None
    return NewEntries(source, reading, entries, view.content, there.tables)


def trial_of(ledger: str, view: View, order: Order) -> Trial:
    """Return what a payment would come to.

    Raises ReadingChanged where it has to be said which entries it reads, and PeopleUndeclared whose they are.
    """
    change = Change()
    there, entries = view.source(order.source), order.entries or f"without a name ({order.group})"
    words.check_people(view, order.source, order.same_people)
    lines, newest = list[Line](), view.people.newest()
    for debit, charge, tags in order.debits:
        name, count = NOBODY, 1
        if tags is not None:
            if not np.array_equal(tags, newest[1]):
                newest = change.keep(set_body(tags, *newest)), tags
            name, count = newest[0], len(tags)
        starts = keyed(view.key, "starts", debit.starts.encode())[:_STARTS] if debit.starts else ""
        lines.append(change.line(debit.name, charge, debit.framework, (name, count), debit.charge.at, starts))
    words.check_names_units(order.source, there, lines)
    reading, answer = change.keep(order.reading.encode()), order.same_entries
    new = new_entries(view, order.source, order.reading, order.entries)
    if new is not None:
        if answer is None:
            raise new.question
        if answer:
            new.check_same(order.why)
            change.events.append(Same(order.source, (new.nearest, (reading, entries)), order.why))
    recipe = change.keep(canonical(order.recipe, "the recipe").encode())
    paid = Paid(
        order.source, order.group, order.ids, tuple(lines), reading, entries, {}, recipe, order.identity,
        software=f"takifugu {__version__}",
    )  # fmt: skip
    if order.budget is not None and (there.is_implied or order.budget != there.budget):
        words.check_budget(ledger, there, order.budget)
        change.events.append(Budgeted(order.source, *order.budget.texts))
    trial = paid_on(view, change, paid)
    start_elsewhere = _start_elsewhere(trial)
    if start_elsewhere and answer is not False:
        question = starts_question(order.source, order.reading, order.entries)
        if answer:
            check_same(order.source, question.before, question.now, order.why)
        raise question
    if answer is not None and new is None and not start_elsewhere:
        raise nobody_asks(order.source)
    return trial


def _start_elsewhere(trial: Trial) -> bool:
    """Return whether sequences of a payment start elsewhere than earlier ones of the same entries of a person."""
    if not any(line.starts for line in trial.paid.lines):
        return False
    for account in trial.accounts:
        for steps in account.tables(trial.view):
            if start_apart(steps) and any(step.group == trial.paid.group for step in steps):
                return True
    return False


def paid_on(view: View, change: Change, paid: Paid) -> Trial:
    """Return a change with a payment, and what all that it touches comes to."""

    def content(digest: str) -> bytes:
        return change.contents[digest] if digest in change.contents else view.content(digest)

    trial = view.copy(content)
    for event in (*change.events, paid):
        trial.apply(event, "")
    declares = any(isinstance(event, Same) for event in change.events)
    accounts = longest(trial, trial.everyone() if declares else trial.touched(paid))
    worst = most_of(trial, accounts)
    for name, amount in worst.items():  # a search may end sooner than it did before
        worst[name] = most(amount, trial.source(name).spent)
    paid = replace(paid, spent={name: amount.texts for name, amount in worst.items()})
    change.events.append(paid)
    if trial.source(paid.source).budget is None:
        implied = Budgeted(paid.source, *worst[paid.source].texts, implied=True)
        change.events.append(implied)
        trial.apply(implied, "")
    for name, amount in worst.items():
        trial.sources[name] = replace(trial.source(name), spent=amount)
    return Trial(view.head, change, paid, view, trial, accounts, worst)

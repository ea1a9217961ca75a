"""A payment on trial: what is asked, made ready once, and what it would come to, on a view of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex

import numpy as np

from takifugu._version import __version__
from takifugu.accounting.amounts import Amount, Budget, as_budget, most
from takifugu.accounting.ledger import words
from takifugu.accounting.ledger.events import NOBODY, Budgeted, Event, Line, Paid, Same, canonical, digest_of, keyed
from takifugu.accounting.ledger.people import Tags, set_body, set_of
from takifugu.accounting.ledger.totals import Account, longest, most_of, start_apart
from takifugu.accounting.ledger.view import View
from takifugu.analysis.guarantee import Charge
from takifugu.core.cache import Store
from takifugu.core.errors import InputError, ReadingChanged
from takifugu.core.names import normalised
from takifugu.core.plain import Plain
from takifugu.core.readings import STARTS, are_never_the_same, differences, with_entries
from takifugu.core.rules import check_type, wrong_type
from takifugu.model.frameworks import Framework

#: So much of the keyed digest of where sequences start is kept.
_STARTS = 32


@dataclass(frozen=True, eq=False)
class Debit:
    """One charge of a release about units that are named, or (None) about a source that names none."""

    framework: Framework
    charge: Charge
    units: Iterable[str] | None = None
    #: Of the release: debits of one name belong to one.
    name: str = "release"
    #: Where sequences start, if no calendar tells (`charge.at`); only a keyed hash is kept.
    starts: str = ""

    def __post_init__(self) -> None:
        check_type(self.framework, Framework, "a framework", "give that of the charge", "framework")
        check_type(self.charge, Charge, "a charge", "write charge_of(calibration)", "charge")
        check_type(self.units, Iterable | None, "a list of names", "write units=['p1']", "units")
        if isinstance(self.units, str):  # each of its letters would be charged as a person
            raise wrong_type(self.units, "a list of names", "write units=['p1']").at("units")
        for text, key in ((self.name, "name"), (self.starts, "starts")):
            check_type(text, str, "a text", f"write {key}='...'", key)
            canonical(text, f"the {key} of a debit")


@dataclass(frozen=True, eq=False)
class Order:
    """What is asked of a ledger: charges as they are kept, and the random names that the payment gets."""

    source: str
    debits: tuple[tuple[Debit, Charge], ...]
    budget: Amount | None
    reading: str
    entries: str | None
    same_entries: bool | None
    same_people: bool
    why: str
    identity: bytes | None
    recipe: Plain
    ids: dict[str, str]
    group: str = field(default_factory=lambda: token_hex(8))
    _tags: Store = field(default_factory=Store)  # `replace` hands it on, and a pickle has none of its keys

    def tags(self, key: bytes) -> list[Tags | None]:
        """Return the tags of each debit's units under a ledger's key, computed once; None where none are named."""
        if key not in self._tags:
            self._tags[key] = _tags_of([debit for debit, _ in self.debits], key)
        tags: list[Tags | None] = self._tags[key]
        return tags


def _tags_of(debits: Sequence[Debit], key: bytes) -> list[Tags | None]:
    """Return the tags of each debit's units; raises InputError for units that cannot be counted."""
    tags, readers = list[Tags | None](), dict[str, list[Tags]]()
    for debit in debits:
        named = None if debit.units is None else set_of(key, debit.units)
        if named is not None and not len(named):
            raise InputError(f"the release {debit.name!r} is about nobody", fix="name a person").at("debits")
        readers.setdefault(debit.name, []).append(np.zeros(1, np.uint64) if named is None else named)
        tags.append(named)
    for sets in readers.values():  # each of them holds nobody twice
        everybody = np.concatenate(sets)
        if len(sets) > 1 and len(np.unique(everybody)) < len(everybody):
            raise InputError("a release debits one person twice", fix="give each answer its own name").at("debits")
    return tags


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

    def on_trial(self, view: View) -> View:
        """Return a view that takes the events, and what they name, on trial."""
        return view.copy(lambda digest: self.contents[digest] if digest in self.contents else view.content(digest))

    def line(
        self, release: str, charge: Charge, framework: Framework, units: tuple[str, int], at: int | None, starts: str
    ) -> Line:  # fmt: skip
        """Return a line of a payment, with what it names among the contents."""
        stored = self.keep(canonical(charge.to_dict(), f"the charge of {release}").encode())
        belief = self.keep(canonical(framework.to_dict(), "the framework").encode())
        return Line(release, stored, belief, *units, at, starts)


@dataclass(frozen=True, eq=False)
class Trial:
    """What a payment would come to after the event `head`: the change, and the views before and with it."""

    head: str
    change: Change
    paid: Paid
    before: View
    view: View
    #: The longest pasts that it touches.
    accounts: Sequence[Account]
    #: The most that any of them costs.
    worst: Mapping[str, Amount]


def unnamed(group: str) -> str:
    """Return what the entries of a payment are called that nobody named."""
    return f"without a name ({group})"


def order_of(
    source: str, debits: Sequence[Debit], budget: Budget | None, reading: str, entries: str | None,
    same_entries: bool | None, same_people: bool, why: str, identity: bytes | None, recipe: Plain | None,
) -> Order:  # fmt: skip
    """Check what is asked, whatever the ledger."""
    check_type(debits, Sequence, "a list of debits", "write [Debit(framework, charge, names)]", "debits")
    for debit in debits:
        check_type(debit, Debit, "a debit", "write Debit(framework, charge, names)", "debits")
    check_type(reading, str, "a text", "say how rows became entries", "reading")
    canonical(reading, "the reading")
    check_type(entries, str | None, "a name", "write for example entries='hours'", "entries")
    check_type(same_entries, bool | None, "an answer", "write True or False, or leave it out", "same_entries")
    check_type(why, str, "a reason", "write why the entries are the same", "why")
    check_type(identity, bytes | None, "the bytes of an identity", "leave it out", "identity")
    check_type(recipe, Mapping | None, "a recipe", "write plain JSON, such as {'once': '2026-W07'}", "recipe")
    if not debits:
        raise InputError("there is nothing to reserve", fix="give at least one debit").at("debits")
    if entries is not None and not normalised(entries, "the name of the entries"):
        raise InputError("the name of the entries holds nothing but blanks", fix="name them").at("entries")
    return Order(
        words.source_name(source),
        tuple((debit, words.as_stored(debit.charge, debit.framework, debit.name)) for debit in debits),
        None if budget is None else as_budget(budget), reading, None if entries is None else normalised(entries),
        same_entries, same_people is True, why, identity, recipe or {}, {debit.name: token_hex(8) for debit in debits},
    )  # fmt: skip


def new_entries(
    view: View, source: str, reading: str, entries: str | None
) -> tuple[ReadingChanged, tuple[str, str]] | None:
    """Return what is asked of entries that a source does not know, and the known table in question, or None."""
    source, entries = words.source_name(source), None if entries is None else normalised(entries)
    tables = view.source(source).tables
    if entries is not None and (not tables or view.tables.is_known(source, digest_of(reading.encode()), entries)):
        return None
    now, texts = with_entries(reading, entries), dict.fromkeys((known for known, _ in tables), "")
    for known in texts:
        texts[known] = view.content(known).decode()

    def before(table: tuple[str, str]) -> str:
        return with_entries(texts[table[0]], table[1])

    def distance(table: tuple[str, str]) -> tuple[bool, int]:
        return bool(are_never_the_same(before(table), now)), len(differences(before(table), now))

    # the newest of those whose reading differs least, one that may be the same before others
    nearest = min(tables[::-1], key=distance, default=("", ""))
    return ReadingChanged(source, before(nearest) if tables else "", now), nearest


def trial_of(view: View, order: Order) -> Trial:
    """Return what a payment would come to; raises what has to be said first of its entries and people."""
    change = Change()
    there, entries = view.source(order.source), order.entries or unnamed(order.group)
    words.check_people(view, order.source, order.same_people)
    lines, newest = list[Line](), view.people.newest()
    for (debit, charge), tags in zip(order.debits, order.tags(view.key), strict=True):
        name, count = NOBODY, 1
        if tags is not None:
            if not np.array_equal(tags, newest[1]):
                newest = change.keep(set_body(tags, *newest)), tags
            name, count = newest[0], len(tags)
        starts = keyed(view.key, "starts", debit.starts.encode())[:_STARTS] if debit.starts else ""
        lines.append(change.line(debit.name, charge, debit.framework, (name, count), debit.charge.at, starts))
    words.check_names_units(there, lines)
    reading, answer = change.keep(order.reading.encode()), order.same_entries
    new = new_entries(view, order.source, order.reading, order.entries)
    if new is not None and answer is None:
        raise new[0]
    if new is not None and answer:
        check_same(new[0], order.why)
        change.events.append(Same(order.source, (new[1], (reading, entries)), order.why))
    recipe = change.keep(canonical(order.recipe, "the recipe").encode())
    paid = Paid(
        order.source, order.group, order.ids, tuple(lines), reading, entries, {}, recipe,
        "" if order.identity is None else keyed(view.key, "identity", order.identity),
        software=f"takifugu {__version__}",
    )  # fmt: skip
    if order.budget is not None and (there.is_implied or order.budget != there.budget):
        words.check_budget(view.name, there, order.budget)
        change.events.append(Budgeted(order.source, *order.budget.texts))
    trial = change.on_trial(view)
    for event in change.events:
        trial.apply(event, "")
    declares = any(isinstance(event, Same) for event in change.events)
    paid, accounts, worst = charged(trial, change, paid, declares)
    start_elsewhere = _start_elsewhere(trial, paid, accounts)
    if start_elsewhere and answer is not False:
        now = with_entries(order.reading, order.entries)  # the values of sequences that start elsewhere are others
        same, other = f"{STARTS}: where they did", f"{STARTS}: elsewhere, or in recordings of other names"
        question = ReadingChanged(order.source, f"{same}\n{now}", f"{other}\n{now}")
        if answer:
            check_same(question, order.why)
        raise question
    if answer is not None and new is None and not start_elsewhere:
        raise InputError(
            f"the source {order.source!r} is read as before, so nobody asks whether its entries are the same",
            rule="an answer that stands in a script would answer what is asked another time",
            fix="leave --same-entries or --other-entries out (same_entries and other_entries in Python)",
        ).at("same_entries")
    return Trial(view.head, change, paid, view, trial, accounts, worst)


def _start_elsewhere(view: View, paid: Paid, accounts: Iterable[Account]) -> bool:
    """Return whether sequences of a payment start elsewhere than earlier ones of the same entries of a person."""
    if not any(line.starts for line in paid.lines):
        return False
    for account in accounts:
        for steps in account.tables(view):
            if start_apart(steps) and any(step.group == paid.group for step in steps):
                return True
    return False


def charged(
    view: View, change: Change, paid: Paid, declares: bool = False
) -> tuple[Paid, list[Account], dict[str, Amount]]:
    """Let a view and a change take a payment; return it, the longest pasts that it touches, and their most."""
    view.apply(paid, "")
    # all, where the change declares entries to be the same
    accounts = longest(view, view.everyone() if declares else view.touched(paid))
    worst = most_of(view, accounts)
    for name, amount in worst.items():  # a search may end sooner than it did before
        worst[name] = most(amount, view.source(name).spent)
    paid = replace(paid, spent={name: amount.texts for name, amount in worst.items()})
    change.events.append(paid)
    if view.source(paid.source).budget is None:
        implied = Budgeted(paid.source, *worst[paid.source].texts, implied=True)
        change.events.append(implied)
        view.apply(implied, "")
    for name, amount in worst.items():
        view.sources[name] = replace(view.source(name), spent=amount)
    return paid, accounts, worst


# What the owner is asked


def check_same(question: ReadingChanged, why: str) -> None:
    """Refuse an answer about no entries, one without a reason, and one that the readings show to be wrong."""
    if not question.before:
        raise InputError(
            f"nothing was released about the source {question.source!r} before, so its entries are those of no release",
            fix='name them: entries = "..." under [source] (entries="..." in Python)',
        ).at("same_entries")
    if not normalised(why, "the reason"):
        raise InputError(
            "nothing says why these are the same entries", rule="certificates print it",
            fix="write for example --same-entries 'the export was corrected' (same_entries='...' in Python)",
        ).at("same_entries")  # fmt: skip
    line = are_never_the_same(question.before, question.now)
    if line:
        raise InputError(
            f"the source {question.source!r} is read with another step, or from another start: {line}",
            rule="these are never the same entries",
            fix="write --other-entries (other_entries=True in Python), or read it as before",
        ).at("same_entries")

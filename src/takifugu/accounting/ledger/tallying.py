"""What releases would cost, read from the ledger before any lock is taken: every account that they touch, recomputed.

Beside the accounts of the source that is asked about, these are the accounts of sources that the same people are in
(`people`): each release of the one counts for the other at the cost of a change of the whole data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import is_

from sqlalchemy import Connection

from takifugu.accounting.composition.losses import cost_of_all
from takifugu.accounting.composition.other_layouts import cost_at_other_steps
from takifugu.accounting.ledger import histories as stored
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import Accounts, Item, foreign, of_everyone
from takifugu.accounting.ledger.asking import ONE_OR_MANY, Request, in_classes, is_link
from takifugu.accounting.ledger.encoding import amount, decoding
from takifugu.accounting.ledger.format import layouts, seals
from takifugu.accounting.ledger.format.layouts import Layouts
from takifugu.accounting.ledger.format.tables import EVERYONE
from takifugu.accounting.ledger.format.tables import histories as stored_histories
from takifugu.accounting.ledger.format.tables import summaries as stored_summaries
from takifugu.accounting.ledger.histories import Known, Standing
from takifugu.accounting.ledger.same_people import Declaration, declared, pair
from takifugu.accounting.ledger.same_people import ties as ties_of
from takifugu.accounting.ledger.summaries import summaries_of
from takifugu.accounting.ledger.values import NOTHING, Amount, Debit, Debits, Source, most
from takifugu.core.errors import CompositionRefused, LedgerError
from takifugu.model.frameworks import Framework

#: Debits that are being written come after all that were.
NEW = 2**62


@dataclass(frozen=True)
class AccountKind:
    """The common account of some units: the past, and the new debits.

    The new debits go by number (-1: none). `standing` is what the source knows of the unit; `others` are its histories
    in sources of the same people; `is_elsewhere` says that the new debits are about another source; `everyones` is the
    history that every unit of the source has beside its own.
    """

    standing: Standing | None
    others: tuple[int, ...]
    shape: int
    is_elsewhere: bool
    everyones: tuple[int, ...] = ()

    @property
    def histories(self) -> tuple[int, ...]:
        return () if self.standing is None else (self.standing.history,)

    @property
    def spent(self) -> Amount:
        """The unit's earlier spending."""
        with decoding():
            return NOTHING if self.standing is None else amount(self.standing.epsilon, self.standing.delta)


@dataclass(frozen=True, eq=False)
class Members:
    """The units of one kind: one tag, known tags, and new ones."""

    tag: bytes
    known: list[bytes] = field(default_factory=list)
    new: list[bytes] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.known) + len(self.new)


@dataclass(frozen=True, eq=False)
class Account:
    """The units of one source by kind, with all changed costs.

    Where releases about the source came in several layouts, `mixed` says so, and all units have one cost.
    """

    number: int
    source: Source
    kinds: Mapping[AccountKind, Members]
    accounts: Accounts[AccountKind]
    costs: Mapping[AccountKind, Amount]
    mixed: str = ""

    @property
    def cost(self) -> Amount:
        return most(list(self.costs.values()))

    def worst_over(self, budget: Amount) -> tuple[bytes, AccountKind] | None:
        """Return a unit above the budget with its kind, or None."""
        return next(((self.kinds[k].tag, k) for k, cost in self.costs.items() if not cost.fits(budget)), None)


@dataclass(frozen=True, eq=False)
class Tally:
    """The changes by a reservation, and the ledger's state before them.

    `request` is the `original` one with the classes of its layouts; `layouts` are all of them, and `layout` says what
    its own one costs. `people` says of other sources whether they are about the same people; `is_shared` that this one,
    which names no units, is declared to be.
    """

    original: Request
    request: Request
    layouts: Layouts
    source: Source
    mine: Account
    theirs: tuple[Account, ...]
    people: Mapping[int, bool]
    is_shared: bool
    layout: str
    summaries: Mapping[int, Sequence[Item]]
    signature: tuple[object, ...]
    same_people: bool | None

    def is_for(
        self, name: str, debits: Sequence[Debit | Debits], recharge: bool, same_people: bool | None, everything: bytes
    ) -> bool:
        """Return whether the tally is of these debits, source and ledger."""
        original = self.original
        is_alike = (self.source.name, original.recharge, self.same_people) == (name, recharge, same_people)
        is_same = len(original.debits) == len(debits) and all(map(is_, original.debits, debits))
        return is_alike and is_same and original.everything == everything

    def is_of(self, connection: Connection) -> bool:
        """Return whether the ledger is unchanged since."""
        friends = [account.number for account in self.theirs]
        return signature_of(connection, self.mine.number, friends) == self.signature


def tally(connection: Connection, name: str, request: Request, same_people: bool | None) -> Tally:
    """Return the cost of releases, from rows checked against their seals.

    Raises CompositionRefused where something has no joint promise, LedgerError where a source that was one unit is now
    divided into units or the reverse, and InputError where it must be said whether two sources are of the same people.
    """
    row = rows.read_source(connection, name)
    number, source = row or (0, Source(name, "", None, False))
    original, before = request, rows.read_layouts(connection, number)
    layouts_now = before if request.is_everyone else before.holding(request.layouts)
    request = in_classes(request, layouts_now)
    hits = stored.hits(connection, request.units)
    if row is not None:
        is_one = number in stored.hits(connection, (request.everything,))
        is_many = rows.has_members(connection, number)
        if not request.is_everyone and (is_one if request.names_units else is_many):
            raise LedgerError(ONE_OR_MANY)
    declarations = rows.read_people(connection)
    people = {}
    if not request.is_everyone:
        named_alike = hits.keys() - {number} if request.names_units else set()
        declaration = Declaration(source.name, number, request.names_units, same_people)
        people = declared(connection, declaration, named_alike, declarations)
    overlap = set(people)
    ties = ties_of(declarations) | {pair(number, o) for o, same in people.items() if same}
    fresh = {o for o, same in people.items() if same and not declarations.get(pair(number, o), False)}
    links = {s: stored.has_links(connection, s) for s in {number, *chain(*ties)} if s}
    links[number] = links.get(number, False) or any(is_link(part.charge) for part in request.parts)
    if request.is_everyone:
        overlap = _friends(number, ties)
        people = dict.fromkeys(overlap, True)
    everyone = stored.histories_of_everyone(connection, {number, *chain(*ties)})
    touched = [number, *(o for o in sorted(overlap) if people[o])]
    layout = "" if request.is_everyone else layouts.words(name, before, original.layouts[0])
    mixed = ""
    if layouts_now.is_mixed:
        mixed = layout or layouts.words(name, layouts_now, next(iter(layouts_now.classes)))
    _check_ties(connection, number, mixed, ties)
    members: dict[int, list[bytes]] = {}
    for s in touched:
        debited = [tag for tag in request.units if s == number or (s in hits and tag != EVERYONE and hits[s].get(tag))]
        if (links[s] or fresh or request.is_everyone or (mixed and s == number)) and s:
            debited = list(dict.fromkeys([*debited, *stored.tags_of(connection, s)]))
        members[s] = debited
    extra = [tag for tag in dict.fromkeys(chain(*members.values())) if tag not in request.units]
    if extra:
        hits = stored.hits(connection, {*request.units, *extra})
    kinds = {s: _kinds(s, number, tags, request, hits, ties, everyone) for s, tags in members.items()}
    all_kinds = [*chain.from_iterable(kinds.values())]
    used = set(chain.from_iterable((*k.histories, *k.others, *k.everyones) for k in all_kinds))
    seals.check_units(connection, {number, *touched, *chain(*ties)} - {0})
    seals.check_rows(connection, stored_histories, used)
    seals.check_rows(connection, stored_summaries, used, "history")
    summaries = summaries_of(connection, used)
    debits = summaries
    is_between = any(k.others for k in all_kinds) and _has_delta(summaries, request)
    if is_between or any(links.values()):
        debits = stored.debits_of(connection, used)
    frameworks = _frameworks_of(connection, debits)
    frameworks |= {part.fingerprint: part.framework for part in request.parts}
    accounts = []
    for s in touched:
        its_source = source if s == number else rows.source_of_row(connection, s)
        all_change, is_this = bool(fresh) or request.is_everyone, bool(mixed) and s == number
        accounts.append(_account(s, its_source, kinds[s], request, debits, frameworks, all_change, is_this))
    if mixed:
        _check_certificates(number in everyone and not request.is_everyone, mixed)
        moved = _at_other_steps(connection, accounts[0], request) if layouts_now.are_moved else None
        accounts[0] = replace(moved or _everything(connection, accounts[0], request, mixed), mixed=mixed)
    signature = signature_of(connection, number, [o for o in touched if o != number])
    is_shared = bool(same_people) and not request.names_units and not request.is_everyone
    theirs = tuple(accounts[1:])
    return Tally(
        original, request, layouts_now, source, accounts[0], theirs, people, is_shared, layout, summaries, signature,
        same_people,
    )  # fmt: skip


def _friends(source: int, ties: Iterable[tuple[int, int]]) -> set[int]:
    """Return the sources tied to one."""
    return {a if b == source else b for a, b in ties if source in (a, b)}


def _frameworks_of(connection: Connection, debits: Mapping[int, Sequence[Item]]) -> dict[str, Framework]:
    charges = {stored.rows_of(item.charge)[0] for item in chain.from_iterable(debits.values())}
    return stored.frameworks_of(connection, charges)


def _check_ties(connection: Connection, number: int, mixed: str, ties: set[tuple[int, int]]) -> None:
    """Refuse several layouts beside another source of the same people.

    Raises CompositionRefused.
    """
    friends = _friends(number, ties)
    mixed_ones = [f for f in friends if mixed or rows.read_layouts(connection, f).is_mixed]
    names = [rows.source_of_row(connection, f).name for f in mixed_ones]
    if names:
        raise CompositionRefused(
            mixed or f"the source {min(names)!r} of the same people was read in several layouts",
            rule="nothing says which of its people are which, so nothing bounds what both sources reveal together",
            fix="keep one layout for each source",
        )


def _check_certificates(are_there: bool, mixed: str) -> None:
    """Refuse several layouts beside releases known by certificates only.

    Raises CompositionRefused.
    """
    if are_there:
        raise CompositionRefused(
            mixed,
            rule="nothing says how much all people change in releases that were entered from their certificates",
            fix="keep the layout, or publish other data in a source of their own",
        )


def _everything(connection: Connection, account: Account, request: Request, mixed: str) -> Account:
    """Return the one account of all units, over all layouts."""
    charges = stored.all_charges_of(connection, account.number)
    for number, shape in enumerate(request.shapes):
        charges += [(part.charge, request.counts[number]) for part in shape]
    total = Amount(*cost_of_all(charges, mixed))
    total = most([total, *(kind.spent for kind in account.kinds)])
    return replace(account, costs=dict.fromkeys(account.kinds, total))


def _at_other_steps(connection: Connection, account: Account, request: Request) -> Account | None:
    """Return the account of layouts of the same entries, None if unproved."""
    debits = stored.debits_of(connection, set(chain.from_iterable(kind.histories for kind in account.kinds)))
    frameworks = {**account.accounts.frameworks, **_frameworks_of(connection, debits)}
    costs = {}
    for kind in account.kinds:
        charges = [item.charge for item in _items(kind, request, debits)]
        cost = cost_at_other_steps(frameworks, charges)
        if cost is None:
            return None
        costs[kind] = most([Amount(*cost), kind.spent])
    return replace(account, costs=costs)


def _has_delta(summaries: Mapping[int, Sequence[Item]], request: Request) -> bool:
    """Return whether some release has a delta.

    Equal ones of one source may then lie before and after it in another.
    """
    if any(part.charge.delta > 0 for part in request.parts):
        return True
    return any(item.charge.delta > 0 for item in chain.from_iterable(summaries.values()))


def signature_of(connection: Connection, number: int, friends: Sequence[int]) -> tuple[object, ...]:
    """Return the state of a tally's accounts, and other sources' units."""
    sources, counters = {number, *friends}, rows.read_counters(connection)
    return tuple((row.id, row.changes if row.id in sources else 0, row.members) for row in counters)


def _kinds(
    source: int, number: int, tags: Iterable[bytes], request: Request,
    hits: Mapping[int, Known], ties: set[tuple[int, int]], everyone: Mapping[int, int],
) -> dict[AccountKind, Members]:  # fmt: skip
    friends = sorted(_friends(source, ties))
    of_friends = tuple(everyone[f] for f in friends if f in everyone)
    shared_histories = (everyone[source],) if source in everyone else ()
    elsewhere = source != number
    members_of: dict[tuple[int, tuple[int, ...], int], tuple[Standing | None, Members]] = {}
    standings_here, standings_of_friends = hits.get(source, Known(())), [hits[f] for f in friends if f in hits]
    for tag in tags:
        standing_here = standings_here.get(tag)
        standings = [friend.get(tag) for friend in standings_of_friends]
        other_histories = tuple([friend_standing.history for friend_standing in standings if friend_standing])
        other_histories = of_friends if tag == EVERYONE else other_histories + of_friends
        key = (0 if standing_here is None else standing_here.row, other_histories, request.units.get(tag, -1))
        if key not in members_of:
            members_of[key] = standing_here, Members(tag)
        _, members = members_of[key]
        if standing_here is not None:
            members.known.append(tag)
        elif not elsewhere:
            members.new.append(tag)
    kinds = {}
    for (_, other_histories, shape), (standing, members) in members_of.items():
        is_elsewhere = elsewhere and (shape >= 0 or request.is_everyone)
        everyones = () if members.tag == EVERYONE else shared_histories
        kinds[AccountKind(standing, other_histories, shape, is_elsewhere, everyones)] = members
    return kinds


def _account(
    number: int, source: Source, kinds: Mapping[AccountKind, Members], request: Request,
    debits: Mapping[int, Sequence[Item]], frameworks: Mapping[str, Framework], all_change: bool, is_mixed: bool,
) -> Account:  # fmt: skip
    items = {kind: _items(kind, request, debits) for kind in kinds}
    accounts = Accounts(frameworks, items, {kind: members.count for kind, members in kinds.items()})
    changed = [kind for kind in kinds if all_change or kind.shape >= 0]
    costs: dict[AccountKind, Amount] = {}
    for kind in [] if is_mixed else accounts.linked(changed):
        costs[kind] = most([accounts.cost(kind), kind.spent])  # a longer search may end sooner
    return Account(number, source, kinds, accounts, costs)


def _items(kind: AccountKind, request: Request, debits: Mapping[int, Sequence[Item]]) -> tuple[Item, ...]:
    def of(histories: tuple[int, ...]) -> Iterator[Item]:
        return chain.from_iterable(debits[history] for history in histories)

    is_everyone = request.is_everyone and kind.shape >= 0
    items = [*of_everyone(of(kind.everyones)), *map(foreign, of(kind.others))]
    items += of_everyone(of(kind.histories)) if is_everyone else of(kind.histories)
    new = request_items(request, 0 if request.is_everyone else kind.shape)
    if kind.is_elsewhere:
        items += map(foreign, new)
    else:
        items += of_everyone(new) if request.is_everyone else new
    return tuple(sorted(items, key=lambda item: item.number))


def request_items(request: Request, shape: int) -> tuple[Item, ...]:
    """Return a shape's new debits after earlier ones."""
    if shape < 0:
        return ()
    items = []
    for part in request.shapes[shape]:
        charge = replace(part.charge, reading=f"new.{part.reading}") if part.reading else part.charge
        items.append(Item(charge, part.fingerprint, part.release, NEW + part.number, part.recharge))
    return tuple(items)

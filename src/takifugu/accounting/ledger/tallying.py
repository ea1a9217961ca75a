"""What releases would cost, read from the ledger before any lock is taken: every account that they touch, recomputed.

Beside the accounts of the source that is asked about, these are the accounts of sources that the same people are in
(`people`): each release of the one counts for the other at the cost of a change of the whole data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import is_

from takifugu.accounting.composition.losses import cost_of_all
from takifugu.accounting.composition.other_layouts import cost_at_other_steps
from takifugu.accounting.ledger import histories as stored
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.asking import ONE_OR_MANY, Request, in_classes, is_link
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.format import layouts, seals
from takifugu.accounting.ledger.format.layouts import Layouts
from takifugu.accounting.ledger.format.tables import EVERYONE
from takifugu.accounting.ledger.histories import Known
from takifugu.accounting.ledger.kinds import Account, AccountKind, Past, account_of, costed, items_of, kinds_of
from takifugu.accounting.ledger.same_people import Declaration, friends_of, friends_of_everyone
from takifugu.accounting.ledger.summaries import summaries_of
from takifugu.accounting.ledger.values import Amount, Debit, Debits, Source, most
from takifugu.core.errors import CompositionRefused, LedgerError


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
    source = rows.read_source(connection, name)
    number = source.number
    original, before = request, rows.read_layouts(connection, number)
    layouts_now, layout, mixed = before, "", ""
    if not request.is_everyone:
        layouts_now = before.holding(request.layouts)
        layout = layouts.words(name, before, original.layouts[0])
    if layouts_now.is_mixed:
        mixed = layout or layouts.words(name, layouts_now, next(iter(layouts_now.classes)))
    request = in_classes(request, layouts_now)
    standings: Mapping[int, Known] = stored.hits(connection, request.units)
    if request.is_everyone:
        friends = friends_of_everyone(connection, number)
    else:
        if number:
            _check_one_or_many(connection, number, request)
        named_alike = standings.keys() - {number} if request.names_units else set()
        friends = friends_of(connection, Declaration(name, number, request.names_units, same_people), named_alike)
    _check_ties(connection, number, mixed, friends.ties)

    touched, tied = [number, *friends.same], {number, *chain(*friends.ties)}
    linked = {tied_number for tied_number in tied - {0} if stored.has_links(connection, tied_number)}
    if any(is_link(part.charge) for part in request.parts):
        linked.add(number)
    is_whole = friends.is_new or request.is_everyone or mixed != ""
    tags_by_source = {}
    for source_number in touched:
        has_all = source_number > 0 and (is_whole or source_number in linked)
        tags_by_source[source_number] = _changed_tags(connection, source_number, number, request, standings, has_all)
    tags = {*request.units, *chain(*tags_by_source.values())}
    if len(tags) > len(request.units):
        standings = stored.hits(connection, tags)
    past = Past(standings, stored.histories_of_everyone(connection, tied), friends.ties)

    kinds, histories, has_others = {}, set[int](), False
    for source_number, changed in tags_by_source.items():
        kinds[source_number] = kinds_of(source_number, changed, request, past, source_number != number)
        for kind in kinds[source_number]:
            histories.update(kind.histories, kind.others, kind.everyones)
            has_others = has_others or bool(kind.others)
    seals.check_units(connection, {*touched, *tied} - {0})
    seals.check_rows(connection, "histories", histories)
    seals.check_rows(connection, "summaries", histories, "history")
    debits = summaries = summaries_of(connection, histories)
    if linked or (has_others and _has_delta(summaries, request)):
        debits = stored.debits_of(connection, histories)
    frameworks = stored.frameworks_of_items(connection, debits.values())
    frameworks |= {part.fingerprint: part.framework for part in request.parts}
    accounts = []
    for source_number in touched:
        touched_source = source
        if source_number != number:
            touched_source = rows.source_of_row(connection, source_number)
        accounts.append(account_of(touched_source, kinds[source_number], request, debits, frameworks))
    if mixed:  # it has no friends
        if number in past.everyone and not request.is_everyone:
            raise CompositionRefused(
                mixed,
                rule="nothing says how much all people change in releases that were entered from their certificates",
                fix="keep the layout, or publish other data in a source of their own",
            )
        accounts = [_costed_together(connection, accounts[0], request, mixed, layouts_now.are_moved)]
    else:
        accounts = [costed(account, friends.is_new or request.is_everyone) for account in accounts]
    is_shared = bool(same_people) and not request.names_units and not request.is_everyone
    mine, *theirs = accounts
    return Tally(
        original, request, layouts_now, source, mine, tuple(theirs), friends.people, is_shared, layout, summaries,
        signature_of(connection, number, friends.same), same_people,
    )  # fmt: skip


def _check_one_or_many(connection: Connection, number: int, request: Request) -> None:
    """Refuse units of a source that was one, or the reverse.

    Raises LedgerError.
    """
    if request.names_units:
        is_other = number in stored.hits(connection, (request.everything,))
    else:
        is_other = rows.has_members(connection, number)
    if is_other:
        raise LedgerError(ONE_OR_MANY)


def _changed_tags(
    connection: Connection, source: int, number: int, request: Request, standings: Mapping[int, Known], is_whole: bool
) -> Iterable[bytes]:
    """Return the units of a source whose account changes, or all (`is_whole`)."""
    tags: Iterable[bytes] = request.units
    if source != number:
        standings_there = standings.get(source, Known(()))
        tags = [tag for tag in request.units if tag != EVERYONE and standings_there.get(tag)]
    if is_whole:
        return dict.fromkeys([*tags, *stored.tags_of(connection, source)])
    return tags


def _has_delta(summaries: Mapping[int, Sequence[Item]], request: Request) -> bool:
    """Return whether some release has a delta.

    Equal ones of one source may then lie before and after it in another.
    """
    if any(part.charge.delta > 0 for part in request.parts):
        return True
    return any(item.charge.delta > 0 for item in chain.from_iterable(summaries.values()))


def signature_of(connection: Connection, number: int, friends: Sequence[int]) -> tuple[object, ...]:
    """Return the state of a tally's accounts, and other sources' units."""
    state = []
    for row in rows.read_counters(connection):
        changes = 0
        if row.id == number or row.id in friends:
            changes = row.changes
        state.append((row.id, changes, row.members))
    return tuple(state)


def _costed_together(
    connection: Connection, account: Account, request: Request, mixed: str, are_moved: bool
) -> Account:
    """Return the account with one cost for all units, over all layouts.

    Layouts of the same entries (`are_moved`) have costs of their own where these are proved.
    """
    costs = None
    if are_moved:
        costs = _costs_at_other_steps(connection, account, request)
    if costs is None:
        charges = stored.all_charges_of(connection, account.number)
        for number, shape in enumerate(request.shapes):
            charges += [(part.charge, request.counts[number]) for part in shape]
        total = Amount(*cost_of_all(charges, mixed))
        costs = dict.fromkeys(account.kinds, most([total, *(kind.spent for kind in account.kinds)]))
    return replace(account, costs=costs, mixed=mixed)


def _check_ties(connection: Connection, number: int, mixed: str, ties: Collection[tuple[int, int]]) -> None:
    """Refuse several layouts beside another source of the same people.

    Raises CompositionRefused.
    """
    names = []
    for friend in rows.partners(number, ties):
        if mixed or rows.read_layouts(connection, friend).is_mixed:
            names.append(rows.source_of_row(connection, friend).name)
    if names:
        raise CompositionRefused(
            mixed or f"the source {min(names)!r} of the same people was read in several layouts",
            rule="nothing says which of its people are which, so nothing bounds what both sources reveal together",
            fix="keep one layout for each source",
        )


def _costs_at_other_steps(
    connection: Connection, account: Account, request: Request
) -> dict[AccountKind, Amount] | None:
    """Return the costs over layouts of the same entries, None if unproved."""
    debits = stored.debits_of(connection, set(chain.from_iterable(kind.histories for kind in account.kinds)))
    frameworks = {**account.accounts.frameworks, **stored.frameworks_of_items(connection, debits.values())}
    costs = {}
    for kind in account.kinds:
        charges = [item.charge for item in items_of(kind, request, debits)]
        cost = cost_at_other_steps(frameworks, charges)
        if cost is None:
            return None
        costs[kind] = most([Amount(*cost), kind.spent])
    return costs

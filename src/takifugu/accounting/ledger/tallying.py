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
from takifugu.accounting.ledger import histories as stored
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.asking import ONE_OR_MANY, Request, in_classes, is_link
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.readings import Readings, mixed_words
from takifugu.accounting.ledger.format.tables import EVERYONE
from takifugu.accounting.ledger.histories import Known
from takifugu.accounting.ledger.kinds import Account, AccountKind, Past, account_of, costed, kinds_of
from takifugu.accounting.ledger.same_people import Declaration, Friends, friends_of, friends_of_everyone
from takifugu.accounting.ledger.summaries import summaries_of
from takifugu.accounting.ledger.values import Amount, Debit, Debits, Source, most
from takifugu.core.errors import CompositionRefused, LedgerError


@dataclass(frozen=True, eq=False)
class Tally:
    """The changes by a reservation, and the ledger's state before them.

    `request` is the `original` one with the classes of its readings; `readings` are all of them, and `answer` is what
    was said of its own one, where it had to be. `people` says of other sources whether they are about the same people.
    """

    original: Request
    request: Request
    readings: Readings
    source: Source
    mine: Account
    theirs: tuple[Account, ...]
    people: Mapping[int, bool]
    summaries: Mapping[int, Sequence[Item]]
    signature: tuple[object, ...]
    same_people: bool | None
    answer: bool | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the source is declared to be of others' people, and names no units."""
        return bool(self.same_people) and not self.request.names_units and not self.request.is_everyone

    def is_for(
        self, name: str, debits: Sequence[Debit | Debits], recharge: bool, same_people: bool | None,
        same_entries: bool | None, everything: bytes,
    ) -> bool:  # fmt: skip
        """Return whether the tally is of these debits, source and ledger."""
        original = self.original
        if self.answer != same_entries:
            return False
        is_alike = (self.source.name, original.recharge, self.same_people) == (name, recharge, same_people)
        is_same = len(original.debits) == len(debits) and all(map(is_, original.debits, debits))
        return is_alike and is_same and original.everything == everything

    def is_of(self, connection: Connection) -> bool:
        """Return whether the ledger is unchanged since."""
        friends = [account.number for account in self.theirs]
        return signature_of(connection, self.mine.number, friends) == self.signature


def tally(
    connection: Connection, name: str, request: Request, same_people: bool | None, same_entries: bool | None = None
) -> Tally:
    """Return the cost of releases, from rows checked against their seals.

    `same_entries` says whether a reading that the source did not have before is of the same entries. Raises
    ReadingChanged where that has to be said, CompositionRefused where something has no joint promise, LedgerError where
    a source that was one unit is now divided into units or the reverse, and InputError where it must be said whether
    two sources are of the same people.
    """
    source = rows.read_source(connection, name)
    number, original = source.number, request
    readings, answer = _readings_after(connection, source, request, same_entries)
    request, mixed = in_classes(request, readings), mixed_words(source.name, readings)
    standings: Mapping[int, Known] = stored.hits(connection, request.units)
    friends = _friends(connection, source, request, same_people, standings)
    _check_ties(connection, number, mixed, friends.ties)
    touched, tied = [number, *friends.same], {number, *chain(*friends.ties)}
    linked = _linked(connection, tied, request, number)
    all_change = friends.is_new or request.is_everyone
    wholes = {*touched} if all_change or mixed else linked
    changed = _changed_tags(connection, number, request, standings, touched, wholes)
    all_tags = {*request.units, *chain(*changed.values())}
    if len(all_tags) > len(request.units):
        standings = stored.hits(connection, all_tags)
    past = Past(standings, stored.histories_of_everyone(connection, tied), friends.ties)
    kinds = {place: kinds_of(place, tags, request, past, place != number) for place, tags in changed.items()}
    seals.check_units(connection, tied - {0})
    summaries, debits = _items(connection, request, [*chain(*kinds.values())], bool(linked))
    frameworks = stored.frameworks_of(connection, debits.values())
    frameworks |= {part.fingerprint: part.framework for part in request.parts}
    accounts = []
    for place, members_by_kind in kinds.items():
        owner = source if place == number else rows.source_of_row(connection, place)
        accounts.append(account_of(owner, members_by_kind, request, debits, frameworks))
    if mixed:  # it has no friends
        costs = [_costed_together(connection, accounts[0], request, past, mixed)]
    else:
        costs = [costed(account, all_change) for account in accounts]
    return Tally(
        original, request, readings, source, costs[0], tuple(costs[1:]), friends.people, summaries,
        signature_of(connection, number, friends.same), same_people, answer,
    )  # fmt: skip


def _readings_after(
    connection: Connection, source: Source, request: Request, same_entries: bool | None
) -> tuple[Readings, bool | None]:
    """Return a source's readings with those of a request, and the answer where one was needed."""
    now, answer = rows.read_readings(connection, source.number), None
    if request.is_everyone:
        return now, None
    for reading in request.readings:
        if now.is_another(reading):
            answer = same_entries
        now = now.answered(source.name, reading, same_entries)
    return now, answer


def _friends(
    connection: Connection, source: Source, request: Request, same_people: bool | None, standings: Mapping[int, Known]
) -> Friends:
    """Return the other sources of the same people, by this and earlier declarations."""
    number = source.number
    if request.is_everyone:
        return friends_of_everyone(connection, number)
    if request.names_units:
        is_other = number in stored.hits(connection, (request.everything,))
    else:
        is_other = number > 0 and rows.has_members(connection, number)
    if is_other:
        raise LedgerError(ONE_OR_MANY)
    named_alike = standings.keys() - {number} if request.names_units else set()
    return friends_of(connection, Declaration(source.name, number, request.names_units, same_people), named_alike)


def _items(
    connection: Connection, request: Request, kinds: Iterable[AccountKind], linked: bool
) -> tuple[Mapping[int, Sequence[Item]], Mapping[int, Sequence[Item]]]:
    """Return all histories in summary, and as costs need them."""
    histories, has_others = set[int](), False
    for kind in kinds:
        histories.update(kind.histories, kind.others, kind.everyones)
        has_others = has_others or bool(kind.others)
    seals.check_rows(connection, "histories", histories)
    seals.check_rows(connection, "summaries", histories, "history")
    summaries = summaries_of(connection, histories)
    if has_others and not linked:  # with a delta their order matters
        items = chain.from_iterable(summaries.values())
        linked = any(part.charge.delta > 0 for part in request.parts) or any(item.charge.delta > 0 for item in items)
    if linked:
        return summaries, stored.debits_of(connection, histories)
    return summaries, summaries


def _linked(connection: Connection, tied: set[int], request: Request, number: int) -> set[int]:
    """Return the sources with a promise about the joint law of several units."""
    linked = {place for place in tied - {0} if stored.has_links(connection, place)}
    if any(is_link(part.charge) for part in request.parts):
        linked.add(number)
    return linked


def _changed_tags(
    connection: Connection, number: int, request: Request, standings: Mapping[int, Known], touched: Iterable[int],
    wholes: Collection[int],
) -> dict[int, Iterable[bytes]]:  # fmt: skip
    """Return the units of each source whose account changes, all of the `wholes`."""
    changed: dict[int, Iterable[bytes]] = {}
    for place in touched:
        tags: Iterable[bytes] = request.units
        if place != number:
            standings_there = standings.get(place, Known(()))
            tags = [tag for tag in request.units if tag != EVERYONE and standings_there.get(tag)]
        if place in wholes and place:
            tags = dict.fromkeys([*tags, *stored.tags_of(connection, place)])
        changed[place] = tags
    return changed


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
    connection: Connection, account: Account, request: Request, past: Past, mixed: str
) -> Account:
    """Return the account with one cost for all units, over all readings.

    Raises CompositionRefused for certificates in the `past`.
    """
    if account.number in past.everyone and not request.is_everyone:
        raise CompositionRefused(
            mixed,
            rule="nothing says how much all people change in releases that were entered from their certificates",
            fix="keep the reading, or publish other data in a source of their own",
        )
    charges = stored.all_charges_of(connection, account.number)
    for number, shape in enumerate(request.shapes):
        charges += [(part.charge, request.counts[number]) for part in shape]
    total = Amount(*cost_of_all(charges, mixed))
    costs = dict.fromkeys(account.kinds, most([total, *(kind.spent for kind in account.kinds)]))
    return replace(account, costs=costs, mixed=mixed)


def _check_ties(connection: Connection, number: int, mixed: str, ties: Collection[tuple[int, int]]) -> None:
    """Refuse several readings beside another source of the same people."""
    names = []
    for friend in rows.partners(number, ties):
        if mixed or rows.read_readings(connection, friend).is_mixed:
            names.append(rows.source_of_row(connection, friend).name)
    if names:
        raise CompositionRefused(
            mixed or f"the source {min(names)!r} of the same people was read as several kinds of entries",
            rule="nothing says which of its people are which, so nothing bounds what both sources reveal together",
            fix="keep one reading for each source",
        )

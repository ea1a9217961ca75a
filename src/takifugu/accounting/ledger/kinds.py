"""The accounts of one source: which of its units share one, what stands in it, and what it comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from takifugu.accounting.ledger.accounts import Accounts, Item, foreign, of_everyone
from takifugu.accounting.ledger.asking import Request
from takifugu.accounting.ledger.encoding import amount, decoding
from takifugu.accounting.ledger.format.tables import EVERYONE
from takifugu.accounting.ledger.histories import Known, Standing
from takifugu.accounting.ledger.store import partners
from takifugu.accounting.ledger.values import NOTHING, Amount, Source, most
from takifugu.core.lists import take
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
            if self.standing is None:
                return NOTHING
            return amount(self.standing.epsilon, self.standing.delta)


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

    Where releases about the source are of several readings, `mixed` says so, and all units have one cost.
    """

    source: Source
    kinds: Mapping[AccountKind, Members]
    accounts: Accounts[AccountKind]
    costs: Mapping[AccountKind, Amount]
    mixed: str = ""

    @property
    def number(self) -> int:
        return self.source.number

    @property
    def cost(self) -> Amount:
        return most(list(self.costs.values()))

    def worst_over(self, budget: Amount) -> tuple[bytes, AccountKind] | None:
        """Return a unit above the budget with its kind, or None."""
        for kind, cost in self.costs.items():
            if not cost.fits(budget):
                return self.kinds[kind].tag, kind
        return None


@dataclass(frozen=True, eq=False)
class Past:
    """What a ledger knows of units, by source.

    `everyone` is the history that all units of a source have beside their own; `ties` are the pairs of sources of the
    same people.
    """

    standings: Mapping[int, Known]
    everyone: Mapping[int, int]
    ties: Collection[tuple[int, int]]

    def elsewhere(self, source: int) -> tuple[list[Known], tuple[int, ...]]:
        """Return the standings in other sources of the same people, and all units' histories."""
        friends = partners(source, self.ties)
        standings, histories = [], []
        for friend in friends:
            if friend in self.standings:
                standings.append(self.standings[friend])
            if friend in self.everyone:
                histories.append(self.everyone[friend])
        return standings, tuple(histories)


def kinds_of(
    source: int, tags: Iterable[bytes], request: Request, past: Past, is_elsewhere: bool
) -> dict[AccountKind, Members]:
    """Return a source's units by the account that they share.

    `is_elsewhere` says that the request is about another source.
    """
    standings, (friends, of_all) = past.standings.get(source, Known(())), past.elsewhere(source)
    members_by: dict[tuple[Standing | None, tuple[int, ...], int, bool], Members] = {}
    for tag in tags:
        standing, is_everyone = standings.get(tag), tag == EVERYONE
        others = of_all
        if friends and not is_everyone:
            others = ()
            for friend in friends:
                standing_there = friend.get(tag)
                if standing_there is not None:
                    others += (standing_there.history,)
            others += of_all
        key = (standing, others, request.units.get(tag, -1), is_everyone)
        members = members_by.get(key)
        if members is None:
            members = members_by[key] = Members(tag)
        if standing is not None:
            members.known.append(tag)
        elif not is_elsewhere:
            members.new.append(tag)
    kinds = {}
    for (standing, others, shape, is_everyone), members in members_by.items():
        is_foreign = is_elsewhere and (shape >= 0 or request.is_everyone)
        everyones: tuple[int, ...] = ()
        if source in past.everyone and not is_everyone:
            everyones = (past.everyone[source],)
        kinds[AccountKind(standing, others, shape, is_foreign, everyones)] = members
    return kinds


def account_of(
    source: Source, kinds: Mapping[AccountKind, Members], request: Request,
    debits: Mapping[int, Sequence[Item]], frameworks: Mapping[str, Framework],
) -> Account:  # fmt: skip
    """Return the account of a source's units, without costs yet."""
    items = {kind: items_of(kind, request, debits) for kind in kinds}
    counts = {kind: members.count for kind, members in kinds.items()}
    return Account(source, kinds, Accounts(frameworks, items, counts), {})


def costed(account: Account, all_change: bool) -> Account:
    """Return the account with the costs of units that change.

    A cost never falls: a longer search may end sooner.
    """
    changed = [kind for kind in account.kinds if all_change or kind.shape >= 0]
    linked = account.accounts.linked(changed)
    return replace(account, costs={kind: most([account.accounts.cost(kind), kind.spent]) for kind in linked})


def items_of(kind: AccountKind, request: Request, debits: Mapping[int, Sequence[Item]]) -> tuple[Item, ...]:
    """Return all debits of a kind of units, in the order of their releases."""

    def of(histories: tuple[int, ...]) -> Iterator[Item]:
        return chain.from_iterable(take(debits, histories))

    items = [*of_everyone(of(kind.everyones)), *map(foreign, of(kind.others))]
    if request.is_everyone and kind.shape >= 0:
        items += of_everyone(of(kind.histories))
    else:
        items += of(kind.histories)
    new = request_items(request, 0 if request.is_everyone else kind.shape)
    if kind.is_elsewhere:
        items += map(foreign, new)
    elif request.is_everyone:
        items += of_everyone(new)
    else:
        items += new
    return tuple(sorted(items, key=lambda item: item.number))


def request_items(request: Request, shape: int) -> tuple[Item, ...]:
    """Return a shape's new debits after earlier ones."""
    if shape < 0:
        return ()
    items = []
    for part in request.shapes[shape]:
        charge = part.charge
        if part.reading:
            charge = replace(charge, reading=f"new.{part.reading}")
        items.append(Item(charge, part.fingerprint, part.release, NEW + part.number, part.recharge))
    return tuple(items)

"""Releases of which only the certificates are left are entered as spent: as what they are where that is known.

A certificate that a copy of this ledger wrote says who was charged what; one of a pooled answer does not say who, so it
counts for every unit that the source has or will have. Of any other neither units nor steps are known: it counts for
every unit at the cost of a change of the whole data, as the first of its releases, and every unit is charged under its
belief from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex

from takifugu.accounting.composition.losses import depends_on_order
from takifugu.accounting.ledger import histories, same_people
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.applying import AS_PAID, note
from takifugu.accounting.ledger.asking import Request, request_of, request_of_everyone
from takifugu.accounting.ledger.budgets import write_budget
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import canonical
from takifugu.accounting.ledger.facts import Fact, facts, paid
from takifugu.accounting.ledger.format.chain import check_chain
from takifugu.accounting.ledger.tallying import tally
from takifugu.accounting.ledger.values import Amount, Debit
from takifugu.core.errors import CompositionRefused, LedgerError, TakifuguError


@dataclass(frozen=True, eq=False)
class Adoption:
    """Releases of one payment with their charges, as certificates name them.

    `ids` go by name. `account` is the id of the source, where the ledger lacks it; `certificates` are their keyed
    digests. With `is_everyone` the debits name nobody, and each is of every unit that the source has or will have: as
    it is where it names its reading, else at the cost of a change of the whole data.
    """

    source: str
    account: str
    ids: Mapping[str, str]
    debits: Sequence[Debit]
    certificates: tuple[str, ...] = ()
    is_everyone: bool = True
    recharge: bool = False
    same_people: bool | None = None

    @property
    def is_as_paid(self) -> bool:
        """Whether each release is charged as itself."""
        return not self.is_everyone or all(debit.charge.read_as for debit in self.debits)


def adopt(
    connection: Connection, offers: Sequence[Sequence[Adoption]], tag: Callable[[str], bytes]
) -> tuple[tuple[Adoption, Amount], ...]:
    """Enter releases as spent and published, whatever the budget.

    Returns what each source has spent with each of them. Of every offer the first that can be counted is entered; a
    source that the ledger lacks is made. Raises what the last of an offer raises: CompositionRefused where nothing
    bounds what it costs beside others, LedgerError for a release that the ledger knows.
    """
    entered = tuple(_first(connection, offer, tag) for offer in offers)
    for name in dict.fromkeys(adoption.source for adoption, _ in entered):
        source = rows.known_source(connection, name)
        if source.budget is None:
            write_budget(connection, name, rows.most_spent(connection, source.number), implied=True)
    return entered


def published_as(connection: Connection, source: str) -> dict[str, frozenset[str]]:
    """Return the digests of a source's certificates by release id.

    Raises LedgerError for events that were edited.
    """
    check_chain(connection)
    ids: dict[str, list[str]] = {}
    digests: dict[str, frozenset[str]] = {}
    for fact in facts(connection):
        if fact.source != source:
            continue
        if fact.kind == "paid":
            ids[fact.body["group"]] = [number for _, number in fact.body["ids"]]
        noted = frozenset(fact.body.get("certificates", ()))
        for number in ids.get(str(fact.body.get("group")), ()):
            digests[number] = digests.get(number, frozenset()) | noted
    return digests


def _first(connection: Connection, offer: Sequence[Adoption], tag: Callable[[str], bytes]) -> tuple[Adoption, Amount]:
    *better, last = offer
    for adoption in better:
        with suppress(TakifuguError):  # it was counted before anything was written
            return adoption, _entered(connection, adoption, tag)
    return last, _entered(connection, last, tag)


def _entered(connection: Connection, adoption: Adoption, tag: Callable[[str], bytes]) -> Amount:
    name = adoption.source
    if not rows.read_source(connection, name).number:
        note(connection, Fact("source", name, {"id": adoption.account}))
    number = rows.known_source(connection, name).number
    repeated = rows.read_release_ids(connection, number) & set(adoption.ids.values())
    if repeated:
        raise LedgerError(f"the ledger knows the release {min(repeated)!r} already")
    if adoption.is_everyone:
        request = request_of_everyone(adoption.debits, adoption.ids, tag)
    else:
        request = request_of(adoption.debits, tag, adoption.recharge, adoption.ids)
    if adoption.is_as_paid:
        _check_order(connection, number, request)
    tally_of = tally(connection, name, request, adoption.same_people, same_entries=False)
    group, recipe = token_hex(8), canonical({"kind": "adopted"}, "the recipe")
    event = paid(connection, name, request, group, None, recipe, adoption.same_people)
    note(connection, replace(event, body={**event.body, "certificates": list(adoption.certificates)}), tally_of)
    if not adoption.is_everyone:
        note(connection, Fact("over", name, {"group": group, "why": f"{', '.join(adoption.ids)}: {AS_PAID}"}))
    return rows.most_spent(connection, number)


def _check_order(connection: Connection, number: int, request: Request) -> None:
    """Refuse releases with a cost by their order: certificates do not tell it."""
    charges = [part.charge for part in request.parts]
    for source in (number, *rows.partners(number, same_people.ties(rows.read_people(connection)))):
        charges += [charge for charge, _ in histories.all_charges_of(connection, source)]
    if any(map(depends_on_order, charges)):
        raise CompositionRefused(
            "what a release costs beside others about its source depends on which was first",
            rule="certificates do not say in which order releases were chosen",
            fix="restore a ledger that knows it",
        )

"""Events: what was done to a ledger, in order, and only ever added to. All other tables are computed from them.

What is long (charges, frameworks, recipes, who was debited) stands once in `contents`; events name it by its digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_hex

from takifugu._version import __version__
from takifugu.accounting.ledger.asking import Part, Request, roster_of, units_in
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import decoding, now
from takifugu.accounting.ledger.format import chain
from takifugu.accounting.ledger.format.tables import EVERYONE
from takifugu.accounting.ledger.histories import charge_of_text, framework_of
from takifugu.core.errors import LedgerError
from takifugu.core.plain import Plain


@dataclass(frozen=True)
class Fact:
    """One event of a source: its kind, plain values and time.

    `id` is random; `first` is the digest that an event of another copy had there.
    """

    kind: str
    source: str
    body: Plain
    created: str = field(default_factory=now)
    id: str = field(default_factory=lambda: token_hex(8))
    first: str | None = None


def append(connection: Connection, fact: Fact) -> None:
    """Append an event, chained to the last one, as the new head."""
    body = json.dumps(fact.body, sort_keys=True, separators=(",", ":"))
    chain.add(connection, chain.Link(fact.id, fact.kind, fact.source, body, fact.created, fact.first))


def facts(connection: Connection) -> Iterator[Fact]:
    """Yield every event, the oldest first."""
    with decoding():
        for link, _ in chain.links(connection):
            yield Fact(link.kind, link.source, json.loads(link.body), link.created, link.id, link.first)


def paid(
    connection: Connection, source: str, request: Request, group: str, identity: str | None, recipe: str,
    same_people: bool | None, same_entries: bool | None = None,
) -> Fact:  # fmt: skip
    """Return a payment's event, its long parts written."""
    shapes = []
    for shape in request.shapes:
        parts = []
        for part in shape:
            parts.append({
                "charge": keep(connection, part.text.encode()), "framework": keep(connection, part.body.encode()),
                "release": part.release, "number": part.number, "recharge": part.recharge, "reading": part.reading,
            })  # fmt: skip
        shapes.append(parts)
    units = None
    if not request.is_everyone:
        units = keep(connection, roster_of(request.units, len(request.shapes)))
    body = {
        "group": group, "identity": identity, "recipe": keep(connection, recipe.encode()), "software": __version__,
        "ids": list(request.ids.items()), "shapes": shapes, "same_people": same_people, "units": units,
        "everything": request.everything.hex(), "same_entries": same_entries,
    }  # fmt: skip
    return Fact("paid", source, body)


def request_in(connection: Connection, fact: Fact) -> Request:
    """Return the request of a payment's event."""
    body = fact.body
    shapes = []
    for shape in body["shapes"]:
        parts = []
        for part in shape:
            text = content(connection, part["charge"]).decode()
            framework = content(connection, part["framework"]).decode()
            details = (part["release"], part["number"], part["recharge"], part["reading"])
            parts.append(Part(charge_of_text(text), framework_of(framework), *details, text, framework))
        shapes.append(tuple(parts))
    units = {EVERYONE: 0}
    if body["units"] is not None:
        units = units_in(content(connection, body["units"]), len(shapes))
    return Request(dict(body["ids"]), tuple(shapes), units, bytes.fromhex(body["everything"]))


def content(connection: Connection, digest: str) -> bytes:
    """Return the content behind an event's digest.

    Raises LedgerError where it is lost or altered.
    """
    row = connection.first("select body from contents where digest = ?", (digest,))
    if row is None or sha256(row.body).hexdigest() != digest:
        raise LedgerError(
            "the ledger lacks what one of its events names",
            rule="it was edited or damaged",
            fix="nothing more is released with it, restore a backup",
        )
    return bytes(row.body)


def named_in(fact: Fact) -> tuple[str, ...]:
    """Return the digests in an event."""
    if fact.kind != "paid":
        return ()
    names = [fact.body["recipe"], fact.body["units"]]
    for shape in fact.body["shapes"]:
        for part in shape:
            names += [part["charge"], part["framework"]]
    return tuple(dict.fromkeys(filter(None, names)))


def keep(connection: Connection, body: bytes) -> str:
    """Write content once and return its digest."""
    digest = sha256(body).hexdigest()
    connection.execute("insert or ignore into contents (digest, body) values (?, ?)", (digest, body))
    return digest

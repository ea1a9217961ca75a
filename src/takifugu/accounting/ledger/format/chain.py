"""The chain of events: each holds the digest of the one before, under the ledger's key, and the newest is in `meta`.

An event that is removed, moved or edited breaks it. Whoever has the key can make another chain.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from takifugu.accounting.ledger.disk.sqlite import ledger_of
from takifugu.core.commands import command
from takifugu.core.errors import LedgerError

#: What is to be done with a ledger that is not as it was written.
_FIX = (
    "nothing is paid with it: {check} names every difference; restore a backup, or compute all from its events again "
    "where these are whole (Ledger.rebuild)"
)


class Link(NamedTuple):
    """The content under an event's digest."""

    id: str
    kind: str
    source: str
    body: str
    created: str
    first: str | None


def edited(connection: Connection, difference: str) -> LedgerError:
    """Return the error about an edited ledger."""
    check = command("ledger", "check", ledger_of(connection))
    return LedgerError(f"the ledger was edited or damaged: {difference}", fix=_FIX.format(check=check))


def digest(key: str, *parts: object) -> bytes:
    """Return the keyed digest of plain values, bytes by their hexadecimal digits."""
    return hmac.digest(key.encode(), _text(parts).encode(), "sha256")


def digest_of_many(key: str, first: Sequence[object], batches: Iterable[Sequence[object]]) -> bytes:
    """Return the digest of values and of batches, read one by one."""
    hashed = hmac.new(key.encode(), f"{_text(first)[:-1]},[".encode(), "sha256")
    between = ""
    for batch in batches:
        hashed.update(f"{between}{_text(batch)[1:-1]}".encode())
        between = ","
    hashed.update(b"]]")
    return hashed.digest()


def _text(values: Sequence[object]) -> str:
    return json.dumps(values, separators=(",", ":"), default=bytes.hex)


def key_of(connection: Connection) -> str:
    return str(connection.exec_driver_sql("select key from meta").scalar_one())


def start(connection: Connection) -> str:
    """Return the ledger's stand-in for a digest before the first event."""
    row = connection.exec_driver_sql("select key, kind, public_id, created from meta").one()
    return digest(row.key, row.kind, row.public_id, row.created).hex()


def add(connection: Connection, link: Link) -> None:
    """Write an event after all others."""
    key, head = connection.exec_driver_sql("select key, head from meta").one()
    newest = digest(key, head, *link).hex()
    columns = "public_id, kind, source, body, created, first, chain"
    connection.exec_driver_sql(f"insert into events ({columns}) values (?, ?, ?, ?, ?, ?, ?)", (*link, newest))
    connection.exec_driver_sql("update meta set head = ?", (newest,))


def links(connection: Connection) -> Iterator[tuple[Link, str]]:
    """Yield every event with its digest, the oldest first."""
    query = "select public_id, kind, source, body, created, first, chain from events order by id"
    for *parts, end in connection.exec_driver_sql(query).all():
        yield Link(*parts), end


def breaks(connection: Connection) -> Iterator[str]:
    """Yield the breaks in a chain of events."""
    key, head = connection.exec_driver_sql("select key, head from meta").one()
    before = start(connection)
    for number, (link, end) in enumerate(links(connection), 1):
        if digest(key, before, *link).hex() != end:
            yield f"event {number:,} ({link.kind}, {link.created}) does not follow from the one before it"
        before = end
    if before != head:
        yield "the newest event is not the one that the ledger knows as its newest"


def check_chain(connection: Connection) -> None:
    """Raise LedgerError unless all events are as written, in order."""
    for difference in breaks(connection):
        raise edited(connection, difference)


def check_head(connection: Connection) -> None:
    """Refuse an altered newest event, without reading older ones; raises LedgerError."""
    key, head = connection.exec_driver_sql("select key, head from meta").one()
    query = "select public_id, kind, source, body, created, first, chain from events order by id desc limit 2"
    rows = list(map(tuple, connection.exec_driver_sql(query)))
    before = rows[1][-1] if len(rows) > 1 else start(connection)
    newest = digest(key, before, *rows[0][:-1]).hex() if rows else before
    if newest != head or (rows and rows[0][-1] != head):
        raise edited(connection, "its newest event is not the one that was written last")

"""The chain of events: each holds the digest of the one before, under the ledger's key, and the newest is in `meta`.

An event that is removed, moved or edited breaks it. Whoever has the key can make another chain.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.core.errors import LedgerError
from takifugu.core.escaping import command

#: What is to be done with a ledger that is not as it was written.
_FIX = (
    "nothing is paid with it: {check} names every difference; restore a backup, or compute all from its events again "
    "where these are whole (Ledger.rebuild)"
)

#: The columns of an event, in the order of a link and its digest.
_COLUMNS = "public_id, kind, source, body, created, first, chain"


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
    check = command("ledger", "check", connection.ledger)
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
    return str(connection.value("select key from meta"))


def _key_and_head(connection: Connection) -> tuple[str, str]:
    key, head = connection.one("select key, head from meta")
    return key, head


def start(connection: Connection) -> str:
    """Return the ledger's stand-in for a digest before the first event."""
    row = connection.one("select key, kind, public_id, created from meta")
    return digest(row.key, row.kind, row.public_id, row.created).hex()


def add(connection: Connection, link: Link) -> None:
    """Write an event after all others."""
    key, head = _key_and_head(connection)
    newest = digest(key, head, *link).hex()
    connection.execute(f"insert into events ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?)", (*link, newest))
    connection.execute("update meta set head = ?", (newest,))


def links(connection: Connection) -> Iterator[tuple[Link, str]]:
    """Yield every event with its digest, the oldest first."""
    for *parts, end in connection.all(f"select {_COLUMNS} from events order by id"):
        yield Link(*parts), end


def breaks(connection: Connection) -> Iterator[str]:
    """Yield the breaks in a chain of events."""
    key, head = _key_and_head(connection)
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
    key, head = _key_and_head(connection)
    rows = connection.all(f"select {_COLUMNS} from events order by id desc limit 2")
    before = rows[1][-1] if len(rows) > 1 else start(connection)
    newest = digest(key, before, *rows[0][:-1]).hex() if rows else before
    if newest != head or (rows and rows[0][-1] != head):
        raise edited(connection, "its newest event is not the one that was written last")

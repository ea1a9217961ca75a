"""What a ledger needs of a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode

from takifugu.accounting.ledger.events import RESTORE, digest_of
from takifugu.core.errors import LedgerError


class MissingLedger(LedgerError):
    """There is no ledger at a place where one is to be."""


def is_address(where: str | Path) -> bool:
    """Return whether a ledger is one of a database in PostgreSQL."""
    return str(where).startswith(("postgresql:", "postgres:"))


def named(where: str | Path) -> str:
    """Return the path or address of a ledger as it may be shown, and pasted: without user and password.

    >>> named("postgresql://ann:secret@db.example:5432/study?ledger=nights&password=secret")
    'postgresql://db.example:5432/study?ledger=nights'
    """
    if not is_address(where):
        return str(where)
    address, _, query = str(where).partition("://")[2].partition("?")
    place, slash, database = address.partition("/")
    options = [(key, value) for key, value in parse_qsl(query) if key != "user" and "password" not in key]
    query_text = f"?{urlencode(options)}" if options else ""
    return f"postgresql://{place.rpartition('@')[2]}{slash}{database}{query_text}"


def in_place(number: int, rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str]]:
    """Return the texts and digests of rows from a number on; raises LedgerError where one is missing."""
    for place, row in enumerate(rows, number):
        if row[0] != place:
            raise LedgerError(f"event {place} is missing", rule="the ledger was edited or damaged", fix=RESTORE)
    return [(body, digest) for _, body, digest in rows]


class Store(Protocol):
    """Where events are kept. Rows are only added, but for values that wait; each call is one transaction."""

    name: str
    is_new: bool

    def after(self, number: int) -> list[tuple[str, str]]:
        """Return the texts and digests of all events from a number on; raises LedgerError where one is missing."""

    def content(self, digest: str) -> bytes | None:
        """Return a content, None for one that is not there."""

    def append(
        self, number: int, head: str, events: Sequence[tuple[str, str]], contents: Mapping[str, bytes],
        waiting: Mapping[tuple[str, int], bytes], done: str,
    ) -> bool:  # fmt: skip
        """Write events as those from a number on, with what they name; where others are, return False, and write none.

        `head` is the digest of the event before them: another ledger in this place may have as many events.
        `waiting` are values to keep until they are published; those of the group `done` are dropped.
        """

    def waiting(self, group: str) -> list[bytes]:
        """Return the values that wait, in their order."""

    def alone(self) -> AbstractContextManager[None]:
        """Let nobody else write meanwhile; what is written inside is so at the end, all or nothing."""

    def close(self) -> None:
        """Close the connection; the next call opens it again."""

def content_of(store: Store, digest: str) -> bytes:
    """Return a content that an event names; raises LedgerError where it is not there, or another one."""
    body = store.content(digest)
    if body is None or digest_of(body) != digest:
        raise LedgerError("the ledger lacks what one of its events names", rule="it was edited or damaged", fix=RESTORE)
    return body

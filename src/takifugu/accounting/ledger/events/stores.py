"""What a ledger keeps in a database, by one text of SQL for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from takifugu.accounting.ledger.events import RESTORE, digest_of
from takifugu.core.errors import LedgerError


class MissingLedger(LedgerError):
    """There is no ledger at a place where one is to be."""


def is_address(where: str | Path) -> bool:
    """Return whether a ledger is one of a database in PostgreSQL."""
    return str(where).startswith(("postgresql:", "postgres:"))


def named(where: str | Path) -> str:
    """Return the path or address of a ledger as it may be shown, and pasted: without user and password."""
    if not is_address(where):
        return str(where)
    address, _, query = str(where).partition("://")[2].partition("?")
    place, slash, database = address.partition("/")
    options = [(key, value) for key, value in parse_qsl(query) if key != "user" and "password" not in key]
    query_text = f"?{urlencode(options)}" if options else ""
    return f"postgresql://{place.rpartition('@')[2]}{slash}{database}{query_text}"


#: Runs a statement with its values, and returns its rows. A store puts in the names of its tables, and where a table
#: holds several ledgers, for `{mine}` what picks the rows of this one, and for `{key}` its place in a new row.
Asking = Callable[..., list[tuple[Any, ...]]]
#: So many contents are asked for at once.
AT_ONCE = 500


class Store(ABC):
    """A ledger in three tables of a database. Rows are only added, but for values that wait."""

    name: str
    is_new: bool

    @classmethod
    @abstractmethod
    def open(cls, where: str | Path, timeout: float, first: tuple[str, str] | None) -> Store:
        """Open a ledger, or make it with a first event; raises LedgerError for what is none."""

    @abstractmethod
    def asking(self) -> AbstractContextManager[Asking]:
        """Yield what runs statements."""

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Let nobody else write meanwhile; what is written inside is so at the end, all or nothing."""

    @abstractmethod
    def close(self) -> None:
        """Close what is open; the next call opens it again."""

    def lasting(self, is_written: bool) -> Store:
        """Return the store in whose place this one is, if it is there, or is to be `is_written`."""
        return self

    def after(self, number: int) -> list[tuple[str, str]]:
        """Return the texts and digests of all events from a number on; raises LedgerError where one is missing."""
        query = (
            "select number, body, digest from {events} where {mine} (number >= ? or number < 0) order by number"
        )
        with self.asking() as ask:
            rows = ask(query, number)
        for place, row in enumerate(rows, number):
            if row[0] != place:
                raise LedgerError(f"event {place} is missing", rule="the ledger was edited or damaged", fix=RESTORE)
        return [(body, digest) for _, body, digest in rows]

    def contents(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return contents that events name; raises LedgerError where one is not there, or another one."""
        bodies, left = dict[str, bytes](), iter(digests)
        with self.asking() as ask:
            while some := list(islice(left, AT_ONCE)):
                places = ", ".join("?" * len(some))
                rows = ask(f"select digest, body from {{contents}} where {{mine}} digest in ({places})", *some)
                bodies.update((digest, body) for digest, body in rows if isinstance(body, bytes))
        if any(digest not in bodies or digest_of(bodies[digest]) != digest for digest in digests):
            what = "the ledger lacks what one of its events names"
            raise LedgerError(what, rule="it was edited or damaged", fix=RESTORE)
        return bodies

    def content(self, digest: str) -> bytes:
        """Return one such content."""
        return self.contents([digest])[digest]

    def append(
        self, number: int, head: str, events: Sequence[tuple[str, str]], contents: Mapping[str, bytes],
        waiting: Mapping[tuple[str, int], bytes], done: str,
    ) -> bool:  # fmt: skip
        """Write events as those from a number on, with what they name; where others are, write none: False."""
        with self.alone(), self.asking() as ask:
            ((there,),) = ask("select count(*) from {events} where {mine} true")
            ((last,),) = ask("select max(digest) from {events} where {mine} number = ?", number - 1)
            # another ledger in this place may have as many events, but no such digest of the one before them
            if there != number or (number and last != head):
                return False
            for content in contents.items():
                ask("insert into {contents} values ({key}?, ?) on conflict do nothing", *content)
            for place, event in enumerate(events, number):
                ask("insert into {events} values ({key}?, ?, ?)", place, *event)
            for key, body in waiting.items():
                ask("delete from {waiting} where {mine} name = ? and number = ?", *key)
                ask("insert into {waiting} values ({key}?, ?, ?)", *key, body)
            if done:
                ask("delete from {waiting} where {mine} name = ?", done)
        return True

    def waiting(self, group: str) -> list[bytes]:
        """Return the values that wait, in their order."""
        query = "select number, body from {waiting} where {mine} name = ? order by number"
        with self.asking() as ask:
            return [body for place, (number, body) in enumerate(ask(query, group)) if place == number]

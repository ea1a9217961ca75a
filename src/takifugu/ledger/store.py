"""The ledger as rows: transactions, keyed hashes, and reading a source's whole history back as accounts."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection, Engine, Row, func, insert, inspect, select, update

from takifugu import frameworks as framework_room
from takifugu._version import __version__
from takifugu.composition import completed
from takifugu.errors import LedgerError
from takifugu.frameworks import Framework
from takifugu.guarantee import Charge
from takifugu.laws.rationals import to_text
from takifugu.ledger import sqlite
from takifugu.ledger.accounts import Accounts, Item
from takifugu.ledger.encoding import amount, canonical, decoding, new_row, now
from takifugu.ledger.migrating import migrate
from takifugu.ledger.tables import (
    KIND,
    VERSION,
    debits,
    events,
    frameworks,
    meta,
    metadata,
    releases,
    reservations,
    sources,
    units,
)
from takifugu.ledger.values import PUBLISHED, Amount, Entry, Event, Source, SourceRow, UnitSpent, most


@lru_cache(maxsize=1024)
def framework_of(body: str) -> Framework:
    """Return the framework that a canonical text describes, always the same object for the same text."""
    return framework_room.from_dict(json.loads(body))


@dataclass(frozen=True, eq=False)
class Store:
    """An open ledger: where it is, how to reach it, and the key of its hashes."""

    path: Path
    engine: Engine
    key: bytes = field(repr=False)
    is_new: bool = False

    def tag(self, kind: str, content: bytes) -> str:
        """Return the keyed hash that stands for a unit's identifier, or for data, inside this ledger."""
        return hmac.new(self.key, kind.encode() + b"\0" + content, hashlib.sha256).hexdigest()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with sqlite.explained(self.path), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Hold the write lock until the end; an exception takes everything back."""
        with sqlite.explained(self.path), self.engine.connect() as plain:
            connection = plain.execution_options(takifugu_writes=True)
            with connection.begin():
                yield connection


def open_store(path: Path, timeout: float, create: bool) -> Store:
    """Open the ledger at `path`, or make one.

    Raises LedgerError, with the fix, for anything that is not a sound ledger of this version.
    """
    is_new = False
    with sqlite.explained(path):
        if path.is_dir():
            raise LedgerError(f"the ledger {str(path)!r} is a folder; give the path of a file")
        if not path.exists():
            if not create:
                raise LedgerError(f"there is no ledger {str(path)!r}; a first release makes one, or check the path")
            is_new = sqlite.create(path, _fill)
        if path.stat().st_size == 0:
            raise LedgerError(
                f"the ledger {str(path)!r} is an empty file: either it lost its contents (restore a backup), or it "
                "never was a ledger (delete it, and a new one is made)"
            )
        sqlite.check_length(path)
    engine = sqlite.engine_of(path, timeout)
    store = Store(path, engine, b"")
    with store.reading() as connection:
        sqlite.check_whole(connection)
        version = _version(connection, path)
    if version == 1:
        with store.writing() as connection:
            if _version(connection, path) == 1:  # another process may just have done it
                migrate(connection)
    with store.reading() as connection:
        key = connection.execute(select(meta.c.key)).scalar_one()
    return Store(path, engine, bytes.fromhex(key), is_new)


def _fill(engine: Engine) -> None:
    metadata.create_all(engine)
    with engine.begin() as connection:
        row = {"kind": KIND, "version": VERSION, "created": now(), "key": token_hex(32)}
        connection.execute(insert(meta).values(row))


def _version(connection: Connection, path: Path) -> int:
    known = inspect(connection).has_table(meta.name)
    rows = connection.execute(select(meta.c.kind, meta.c.version)).all() if known else []
    if len(rows) != 1 or rows[0].kind != KIND:
        raise LedgerError(
            f"the ledger {str(path)!r} is a database, but not a ledger; give the path of a ledger, or of a file that "
            "does not exist yet"
        )
    version = rows[0].version
    if version not in (1, VERSION):
        is_newer = isinstance(version, int) and version > VERSION
        fix = "install a newer Takifugu" if is_newer else "open it with the Takifugu that made it"
        raise LedgerError(f"the ledger {str(path)!r} has version {version}, not {VERSION}: {fix}")
    return int(version)


def read_source(connection: Connection, name: str) -> tuple[int, Source] | None:
    row = connection.execute(select(sources).where(sources.c.name == name)).one_or_none()
    return None if row is None else (row.id, _source(row))


def _source(row: Row[Any]) -> Source:
    budget = None if row.budget_epsilon is None else amount(row.budget_epsilon, row.budget_delta)
    return Source(row.name, row.public_id, budget, row.budget_is_implied)


def add_source(connection: Connection, name: str) -> tuple[int, Source]:
    source = Source(name, token_hex(8), None, False)
    row = {"name": name, "public_id": source.id, "created": now(), "budget_is_implied": False}
    return new_row(connection, sources, row), source


def set_budget(connection: Connection, source: int, budget: Amount, implied: bool) -> None:
    """Write a budget and a trace of it."""
    row = connection.execute(select(sources).where(sources.c.id == source)).one()
    before = _source(row)
    was = "" if before.budget is None else f" (before: {before.budget.text(up=False)})"
    why = ", what the first release cost, because none was declared" if implied else ""
    add_event(connection, source, f"the budget is {budget.text(up=False)}{was}{why}")
    values = {
        "budget_epsilon": to_text(budget.epsilon), "budget_delta": to_text(budget.delta), "budget_is_implied": implied
    }  # fmt: skip
    connection.execute(update(sources).where(sources.c.id == source).values(values))


def add_event(connection: Connection, source: int, what: str) -> None:
    """Leave a trace in the history of a source."""
    connection.execute(insert(events).values(source=source, what=what, created=now()))


def read_events(connection: Connection, source: int) -> tuple[Event, ...]:
    query = select(events).where(events.c.source == source).order_by(events.c.id)
    return tuple(Event(row.created, row.what) for row in connection.execute(query))


def read_accounts(connection: Connection, source: int) -> Accounts:
    """Return every debit of a source, by the tag of its unit, in the order of their release."""
    columns = (debits.c.id, debits.c.recharge, debits.c.charge, releases.c.public_id, units.c.tag)
    joined = debits.join(releases).join(units, debits.c.unit == units.c.id).join(frameworks)
    query = (
        select(*columns, frameworks.c.fingerprint)
        .select_from(joined)
        .where(releases.c.source == source)
        .order_by(debits.c.id)
    )
    items: dict[str, list[Item]] = {}
    with decoding():
        bodies = select(frameworks.c.fingerprint, frameworks.c.body).where(frameworks.c.source == source)
        known = {row.fingerprint: framework_of(row.body) for row in connection.execute(bodies)}
        for row in connection.execute(query):
            charge = completed(Charge.from_dict(json.loads(row.charge)), known[row.fingerprint])
            item = Item(charge, row.fingerprint, row.public_id, row.id, row.recharge)
            items.setdefault(row.tag, []).append(item)
    return Accounts(known, items)


def unit_row(connection: Connection, source: int, tag: str) -> int:
    """Return the row of a unit, made if it is new."""
    found = connection.execute(select(units.c.id).where(units.c.source == source, units.c.tag == tag)).scalar()
    return found if found is not None else new_row(
        connection, units, {"source": source, "tag": tag, "epsilon": "0", "delta": "0"}
    )  # fmt: skip


def framework_row(connection: Connection, source: int, fingerprint: str, definition: str, body: str) -> int:
    """Return the row of a framework, made if it is new."""
    mine = (frameworks.c.source == source, frameworks.c.fingerprint == fingerprint)
    found = connection.execute(select(frameworks.c.id).where(*mine)).scalar()
    row = {"source": source, "fingerprint": fingerprint, "definition": definition, "body": body}
    return found if found is not None else new_row(connection, frameworks, row)


def add_release(
    connection: Connection, source: int, reservation: int, public_id: str, name: str, promise: Amount
) -> int:
    row = {
        "public_id": public_id, "source": source, "reservation": reservation, "name": name, "software": __version__,
        "epsilon": to_text(promise.epsilon), "delta": to_text(promise.delta), "created": now(),
    }  # fmt: skip
    return new_row(connection, releases, row)


def add_debit(connection: Connection, release: int, unit: int, framework: int, item: Item) -> None:
    body = canonical(item.charge.to_dict(), "the charge of this release")
    row = {"release": release, "unit": unit, "framework": framework, "recharge": item.recharge, "charge": body}
    connection.execute(insert(debits).values(row))


def set_spent(connection: Connection, source: int, tag: str, spent: Amount) -> None:
    values = {"epsilon": to_text(spent.epsilon), "delta": to_text(spent.delta)}
    connection.execute(update(units).where(units.c.source == source, units.c.tag == tag).values(values))


def read_spent(connection: Connection, source: int) -> tuple[UnitSpent, ...]:
    rows = connection.execute(select(units).where(units.c.source == source).order_by(units.c.id))
    with decoding():
        return tuple(UnitSpent(row.tag, amount(row.epsilon, row.delta)) for row in rows)


def sources_with(connection: Connection, source: int, tags: set[str]) -> tuple[str, ...]:
    """Return the names of other sources that have a unit with one of these tags."""
    query = select(sources.c.name, units.c.tag).join(units).where(sources.c.id != source).order_by(sources.c.id)
    return tuple(dict.fromkeys(row.name for row in connection.execute(query) if row.tag in tags))


def read_history(connection: Connection, source: int) -> tuple[Entry, ...]:
    query = (
        select(releases, reservations.c.state, debits.c.charge, frameworks.c.fingerprint)
        .select_from(releases.join(reservations).join(debits).join(frameworks))
        .where(releases.c.source == source)
        .order_by(debits.c.id)
    )
    held: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(query):
        held.setdefault(row.id, []).append(row)
    with decoding():
        return tuple(_entry(rows) for rows in held.values())


def _entry(rows: list[Row[Any]]) -> Entry:
    first, charges = rows[0], [Charge.from_dict(json.loads(row.charge)) for row in rows]
    return Entry(
        id=first.public_id, name=first.name, state=first.state, amount=amount(first.epsilon, first.delta),
        kinds=tuple(sorted({str(c.composition) for c in charges})), scope=charges[0].scope, units=len(rows),
        frameworks=tuple(dict.fromkeys(row.fingerprint for row in rows)), software=first.software,
        created=first.created,
    )  # fmt: skip


def read_rows(connection: Connection) -> tuple[SourceRow, ...]:
    found = []
    for row in connection.execute(select(sources).order_by(sources.c.id)):
        spent = read_spent(connection, row.id)
        states = connection.execute(
            select(reservations.c.state, func.count())
            .select_from(releases.join(reservations))
            .where(releases.c.source == row.id)
            .group_by(reservations.c.state)
        ).all()
        source, total = _source(row), most([u.spent for u in spent])
        count, open_ones = sum(n for _, n in states), sum(n for state, n in states if state != PUBLISHED)
        budget = (source.budget, source.budget_is_implied)
        found.append(SourceRow(source.name, source.id, total, *budget, len(spent), count, open_ones))
    return tuple(found)

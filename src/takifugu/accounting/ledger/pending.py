"""Reservations as rows: releases that were paid for together and move together (`moving`)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path

from takifugu.accounting.ledger.disk import outputs
from takifugu.accounting.ledger.disk.sqlite import Connection, Row
from takifugu.accounting.ledger.encoding import amount, decoding, known_state
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.store import Store, most_spent, people_of, read_readings
from takifugu.accounting.ledger.values import PUBLISHED, RESERVED, Payment, Pending
from takifugu.core.errors import LedgerError
from takifugu.core.names import normalised
from takifugu.core.plain import Plain

#: The most bytes of noisy values and files that one reservation keeps.
LARGEST = 400_000_000


def add_reservation(
    connection: Connection, source: int, group: str, identity: str | None, recipe: str, created: str
) -> int:
    """Write a new reservation."""
    return connection.insert(
        "reservations", public_id=group, source=source, identity=identity, recipe=recipe, state=RESERVED,
        created=created, changed=created,
    )  # fmt: skip


def refuse_twice(connection: Connection, source: int, names: Iterable[str], recipe: Plain) -> None:
    """Refuse a second payment for a release under one key.

    Raises LedgerError, also for a key that differs in capital letters or blanks only: nothing says which of the two was
    meant.
    """
    once, new_names = recipe.get("once"), set(names)
    if once is None:
        return
    for paid in read_payments(connection, source):
        refuse_alike(paid, once)
        twice = sorted(new_names & set(paid.ids))
        if paid.once == once and twice:
            raise LedgerError(
                f"{', '.join(twice)} was paid for with the key {once!r} before ({paid.created})",
                rule="one key pays once",
                fix="run the same command again, which pays nothing, or write another key",
            ).at("once")


def refuse_alike(paid: Payment, once: str | None) -> None:
    """Refuse a key too like an earlier payment's."""
    if once is None or paid.once is None or paid.once == once:
        return
    if normalised(paid.once).casefold() == once.casefold():
        raise LedgerError(
            f"the key {once!r} is not {paid.once!r}, with which {', '.join(sorted(paid.ids))} was paid for before "
            f"({paid.created[:10]}), and looks like it",
            rule="one key pays once",
            fix="write the earlier key, which pays nothing for what it has paid for, or another one",
        ).at("once")


def read_payments(connection: Connection, source: int) -> tuple[Payment, ...]:
    """Return all payments about a source, oldest first."""
    for table in ("releases", "reservations"):
        seals.check_rows(connection, table, [source], "source")
    ids: dict[int, dict[str, str]] = {}
    for row in connection.all("select * from releases where source = ? order by id", (source,)):
        ids.setdefault(row.reservation, {})[row.name] = row.public_id
    rows = connection.all("select * from reservations where source = ? order by id", (source,))
    with decoding():
        return tuple(
            Payment(row.public_id, ids.get(row.id, {}), row.state, row.identity, row.created, json.loads(row.recipe))
            for row in rows
        )


def read_pending(connection: Connection, ledger: Path, source: int | None, identity: str | None) -> tuple[Pending, ...]:
    """Return unpublished payments, oldest first.

    One that cannot be read has a recipe that says why, and no values: it is not completed, the others are. Where one
    release is asked for by its `identity`, it raises LedgerError.
    """
    conditions: dict[str, object] = {"r.state != ?": PUBLISHED}
    if source is not None:
        conditions["r.source = ?"] = source
    if identity is not None:
        conditions["r.identity = ?"] = identity
    query = (
        "select r.*, s.name, s.budget_epsilon, s.budget_delta from reservations r join sources s on s.id = r.source "
        f"where {' and '.join(conditions)} order by r.id"
    )
    waiting = connection.all(query, tuple(conditions.values()))
    seals.check_rows(connection, "reservations", [row.id for row in waiting])
    payments = []
    with decoding():
        for row in waiting:
            releases = "select name, public_id from releases where reservation = ? order by id"
            ids = dict(connection.all(releases, (row.id,)))
            recipe, bundle = _contents(ledger, row, identity is None)
            payments.append(Pending(
                group=row.public_id, source=row.name, ids=ids, state=known_state(row.state), identity=row.identity,
                created=row.created, recipe=recipe, bundle=bundle,
                spent=most_spent(connection, row.source), budget=amount(row.budget_epsilon, row.budget_delta),
                same_people=people_of(connection, row.source),
                same_entries=tuple(read_readings(connection, row.source).declared),
            ))  # fmt: skip
    return tuple(payments)


def _contents(ledger: Path, row: Row, or_none: bool) -> tuple[Plain, bytes | None]:
    """Return how a payment is completed, and the noisy values that wait for it."""
    try:
        with decoding():
            recipe = json.loads(row.recipe)
            if not isinstance(recipe, dict):
                raise ValueError("its recipe is no mapping")
            return recipe, unpacked(ledger, row.bundle)
    except LedgerError as error:
        if or_none:
            return {"unreadable": error.message}, None
        raise


def packed(bundle: bytes) -> bytes:
    """Pack noisy values; raises LedgerError for more than can be read back."""
    if len(bundle) > LARGEST:
        raise LedgerError(
            f"the files of this release take {len(bundle) // 1_000_000:,} MB",
            rule=f"a ledger keeps at most {LARGEST // 1_000_000} MB of one release",
            fix="publish fewer rows or cells at once",
        )
    return zlib.compress(bundle, 9)


def held(connection: Connection, group: str) -> Row:
    row = connection.first("select * from reservations where public_id = ?", (group,))
    if row is None:
        raise LedgerError(
            f"the ledger has no reservation {group!r}", fix="complete it with the ledger that it was made in"
        )
    seals.check_rows(connection, "reservations", [row.id])
    with decoding():
        known_state(row.state)
    return row


def set_state(connection: Connection, group: str, state: str, created: str) -> None:
    """Write a reservation's state; drop published values."""
    statement = "update reservations set changed = ?, state = ?, seal = null where public_id = ?"
    connection.execute(statement, (created, state, group))
    if state == PUBLISHED:
        set_bundle(connection, group, None)


def published_of(store: Store, groups: Collection[str]) -> list[str]:
    """Return the published reservations; unknown ones may be another ledger's."""
    query = "select 1 from reservations where public_id = ? and state = ?"
    with store.reading() as connection:
        return [group for group in groups if connection.first(query, (group, PUBLISHED))]


def set_bundle(connection: Connection, group: str, bundle: bytes | None) -> None:
    """Keep a reservation's noisy values, outside the events, until published."""
    connection.execute("update reservations set bundle = ?, seal = null where public_id = ?", (bundle, group))


def keep_bundle(connection: Connection, group: str, bundle: bytes) -> None:
    """Keep the noisy values of a reservation, sealed."""
    seals.check(connection)
    set_bundle(connection, group, bundle)
    seals.write(connection)


def unpacked(ledger: Path, bundle: bytes | None) -> bytes | None:
    """Return a row's noisy values; None for lost ones."""
    content = None if bundle is None else outputs.packed_of(ledger, bundle)
    if content is None:
        return None
    with decoding():
        unpacking = zlib.decompressobj()
        inflated = unpacking.decompress(content, LARGEST + 1)
        if len(inflated) > LARGEST or not unpacking.eof:
            raise ValueError(f"its values are not whole, or take more than {LARGEST // 1_000_000} MB")
        return inflated

"""Reservations as rows: releases that were paid for together and move together, reserved → drawn → published."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, select, update

from takifugu.errors import LedgerError
from takifugu.ledger import answers, outputs
from takifugu.ledger.encoding import amount, canonical, decoding, known_state, new_row, now
from takifugu.ledger.store import most_spent, people_of
from takifugu.ledger.tables import releases, reservations, sources
from takifugu.ledger.values import DRAWN, PUBLISHED, RESERVED, Payment, Pending

#: The most bytes of noisy values and files that one reservation keeps.
LARGEST = 200_000_000


def add_reservation(
    connection: Connection, source: int, group: str, identity: str | None, recipe: Mapping[str, Any] | None
) -> int:
    """Write a new reservation; raises InputError for a recipe that is not plain JSON."""
    row = {
        "public_id": group, "source": source, "identity": identity, "recipe": canonical(recipe or {}, "the recipe"),
        "state": RESERVED, "created": now(), "changed": now(),
    }  # fmt: skip
    return new_row(connection, reservations, row)


def refuse_twice(connection: Connection, source: int, names: Iterable[str], recipe: Mapping[str, Any]) -> None:
    """Raise LedgerError where a release of one of these names was paid for under the same key before."""
    once, wanted = recipe.get("once"), set(names)
    if once is None:
        return
    for paid in read_payments(connection, source):
        if paid.once == once and (twice := sorted(wanted & set(paid.ids))):
            raise LedgerError(
                f"{', '.join(twice)} was paid for with the key {once!r} before ({paid.created})",
                rule="one key pays once",
                fix="run the same command again, which pays nothing, or write another key",
            ).at("once")


def read_payments(connection: Connection, source: int) -> tuple[Payment, ...]:
    """Return what was ever paid for about a source, oldest first."""
    named: dict[int, dict[str, str]] = {}
    for row in connection.execute(select(releases).where(releases.c.source == source).order_by(releases.c.id)):
        named.setdefault(row.reservation, {})[row.name] = row.public_id
    columns = reservations.c
    mine = select(columns.id, columns.public_id, columns.state, columns.identity, columns.created, columns.recipe)
    found = connection.execute(mine.where(columns.source == source).order_by(columns.id))
    with decoding():
        return tuple(
            Payment(row.public_id, named.get(row.id, {}), row.state, row.identity, row.created, json.loads(row.recipe))
            for row in found
        )


def read_pending(
    connection: Connection, ledger: Path, source: int | None, identity: str | None
) -> tuple[Pending, ...]:
    """Return what is paid for and not published, oldest first."""
    query = (
        select(reservations, sources.c.name, sources.c.budget_epsilon, sources.c.budget_delta)
        .select_from(reservations.join(sources))
        .where(reservations.c.state != PUBLISHED)
        .order_by(reservations.c.id)
    )
    if source is not None:
        query = query.where(reservations.c.source == source)
    if identity is not None:
        query = query.where(reservations.c.identity == identity)
    with decoding():
        return tuple(_pending(connection, ledger, row) for row in connection.execute(query))


def _pending(connection: Connection, ledger: Path, row: Row[Any]) -> Pending:
    mine = select(releases).where(releases.c.reservation == row.id).order_by(releases.c.id)
    held = connection.execute(mine).all()
    spent = most_spent(connection, row.source)
    return Pending(
        group=row.public_id, source=row.name, ids={release.name: release.public_id for release in held},
        state=known_state(row.state), created=row.created, recipe=json.loads(row.recipe),
        bundle=_unpacked(ledger, row.bundle), spent=spent, budget=amount(row.budget_epsilon, row.budget_delta),
        same_people=people_of(connection, row.source),
    )  # fmt: skip


def packed(bundle: bytes) -> bytes:
    """Return noisy values as they are kept; raises LedgerError for more than can be read back."""
    if len(bundle) > LARGEST:
        raise LedgerError(
            f"the files of this release take {len(bundle) // 1_000_000:,} MB",
            rule=f"a ledger keeps at most {LARGEST // 1_000_000} MB of one release",
            fix="publish fewer rows or cells at once",
        )
    return zlib.compress(bundle, 9)


def keep_drawn(connection: Connection, ledger: Path, group: str, mine: bytes) -> bytes | None:
    """Note that a reservation was drawn and keep `mine` (see `outputs`); None, or what another process kept first.

    Raises LedgerError for a reservation that this ledger does not have, or whose values were published already.
    """
    row = _held(connection, group)
    if row.state == RESERVED:
        _set(connection, group, state=DRAWN, bundle=mine)
        return None
    kept = _unpacked(ledger, row.bundle)
    if row.state == DRAWN and kept is not None:
        return kept
    if row.state == DRAWN and row.bundle is not None:
        raise LedgerError(
            f"the reservation {group!r} was drawn, and the file of its values beside the ledger is lost or altered",
            rule="its epsilon is spent, and drawing again would publish it twice",
            fix="bring the file back, or make another release",
        )
    if row.state == DRAWN:
        raise LedgerError(
            f"the reservation {group!r} was drawn by an older version, which kept no noisy values",
            rule="its epsilon is spent, and what it drew cannot be published again",
            fix="make another release",
        )
    raise LedgerError(
        f"the reservation {group!r} was drawn and published before ({row.changed})",
        rule="its values are out, and a second draw would pay nothing for them",
        fix="use what was published, or make another release",
    )


def read_session(connection: Connection, ledger: Path, group: str) -> tuple[answers.Asked, ...]:
    """Return what was asked in a session that is not closed; raises LedgerError for one that is, and for no session."""
    row = _held(connection, group)
    if row.state == PUBLISHED:
        raise LedgerError(
            f"the session {group!r} is closed ({row.changed})", rule="its epsilon is spent", fix="reserve another one"
        )
    with decoding():
        if json.loads(row.recipe).get("kind") != answers.RECIPE["kind"]:
            raise answers.no_session("it is another release that was paid for", "complete it, or open a session")
        return answers.read(_unpacked(ledger, row.bundle))


def keep_answer(
    connection: Connection, ledger: Path, group: str, number: int, new: answers.Asked
) -> tuple[answers.Asked, ...]:
    """Keep one answer of a session, unless another process did; return all that is kept."""
    known = read_session(connection, ledger, group)
    asked = answers.with_answer(known, number, new)
    if asked is not known:
        _set(connection, group, state=DRAWN, bundle=packed(answers.written(asked)))
    return asked


def close_session(connection: Connection, ledger: Path, group: str) -> None:
    """Note that a session is over, whatever was asked in it, and drop its answers."""
    read_session(connection, ledger, group)
    _set(connection, group, state=PUBLISHED, bundle=None)


def set_published(connection: Connection, group: str) -> None:
    """Note that the values are handed out, and drop them; once or many times."""
    row = _held(connection, group)
    if row.state == RESERVED:
        raise LedgerError(
            f"the reservation {group!r} is {RESERVED!r} and was never {DRAWN!r}, so it cannot become {PUBLISHED!r}",
            fix="reserve, draw and publish, in this order",
        )
    if row.state != PUBLISHED:
        _set(connection, group, state=PUBLISHED, bundle=None)


def finish(connection: Connection, group: str) -> None:
    """Note that a reservation is over, drawn or not, and drop what was kept of it."""
    _held(connection, group)
    _set(connection, group, state=PUBLISHED, bundle=None)


def _held(connection: Connection, group: str) -> Row[Any]:
    row = connection.execute(select(reservations).where(reservations.c.public_id == group)).one_or_none()
    if row is None:
        raise LedgerError(
            f"the ledger has no reservation {group!r}", fix="complete it with the ledger that it was made in"
        )
    with decoding():
        known_state(row.state)
    return row


def _set(connection: Connection, group: str, **values: object) -> None:
    mine = update(reservations).where(reservations.c.public_id == group)
    connection.execute(mine.values(changed=now(), **values))


def _unpacked(ledger: Path, bundle: bytes | None) -> bytes | None:
    found = None if bundle is None else outputs.packed_of(ledger, bundle)
    with decoding():
        return None if found is None else _inflated(found)


def _inflated(content: bytes) -> bytes:
    """Return compressed bytes as they were; ValueError for what is not whole, and for what is larger than allowed."""
    unpacking = zlib.decompressobj()
    found = unpacking.decompress(content, LARGEST + 1)
    if len(found) > LARGEST or not unpacking.eof:
        raise ValueError(f"its values are not whole, or take more than {LARGEST // 1_000_000} MB")
    return found

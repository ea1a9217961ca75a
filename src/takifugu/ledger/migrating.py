"""From layout version 1 to this one: in one transaction under the write lock, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, Table, insert, text

from takifugu.ledger.encoding import now
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

#: Tables of version 1, those that point at others first.
_OLD = ("debits", "releases", "units", "frameworks", "contents", "sources", "meta")

#: What is said of every source: its tags are of names as they were spelt, and the names themselves were never kept.
WORDS = (
    "brought here from layout version 1, which told units apart by their names as they were spelt: a unit is found "
    "under its name and under every spelling that the data still have; a spelling that has vanished from the data "
    "cannot be found, and what was spent under it no longer counts for the unit"
)


def migrate(connection: Connection) -> None:
    """Bring a ledger of version 1 to this layout; every id, amount and debit stays as it is."""
    old = {name: connection.execute(text(f"select * from {name} order by rowid")).all() for name in _OLD}
    for name in _OLD:
        connection.execute(text(f"drop table {name}"))
    metadata.create_all(connection)
    (head,) = old["meta"]
    row = {"kind": KIND, "version": VERSION, "created": head.created, "migrated": now(), "key": head.key}
    connection.execute(insert(meta).values(row))
    _fill(connection, sources, old["sources"])
    _fill(connection, frameworks, old["frameworks"])
    _fill(connection, units, old["units"])
    # What was asked together is not known: each release is a reservation of its own, and nothing tells how to end it.
    held = [
        {
            "id": r.id, "public_id": r.public_id, "source": r.source, "recipe": "{}", "state": r.state,
            "created": r.created, "changed": r.changed,
        }
        for r in old["releases"]
    ]  # fmt: skip
    _insert(connection, reservations, held)
    kept = [c.name for c in releases.columns if c.name != "reservation"]
    _insert(connection, releases, [{**{k: r._mapping[k] for k in kept}, "reservation": r.id} for r in old["releases"]])
    _fill(connection, debits, old["debits"])
    _insert(connection, events, [{"source": s.id, "what": WORDS, "created": row["migrated"]} for s in old["sources"]])


def _fill(connection: Connection, table: Table, rows: Iterable[Row[Any]]) -> None:
    _insert(connection, table, [dict(row._mapping) for row in rows])


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)

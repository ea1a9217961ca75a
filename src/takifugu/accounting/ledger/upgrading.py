"""A ledger of an older format becomes one of this format: its events are replayed, and the old file is kept beside it.

All is one transaction on the very file: whoever is about to write finds the old ledger or the new one, and after a
crash it is one of the two.
"""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import Connection, Row

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger.applying import apply
from takifugu.accounting.ledger.disk.backup import keep
from takifugu.accounting.ledger.disk.sqlite import check_harmless
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.facts import Fact, append
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import digest
from takifugu.accounting.ledger.format.tables import VERSION, metadata, statements
from takifugu.accounting.ledger.store import Store, begin, check_layout
from takifugu.core.commands import command
from takifugu.core.errors import LedgerError

#: So many payments are replayed in a few seconds; more are not replayed by the way.
AT_ONCE = 1000


def upgrade(store: Store, at_most: int | None = AT_ONCE) -> Path | None:
    """Upgrade a ledger; return the place of the old one, None without one.

    Raises LedgerError for one that has more than so many payments, and for one that cannot be read: then it stays as
    it is.
    """
    with store.writing() as connection:
        version = connection.exec_driver_sql("select version from meta").scalar_one()
        if version == VERSION:
            return None
        payments = connection.exec_driver_sql("select count(*) from events where kind = 'paid'").scalar_one()
        if at_most is not None and payments > at_most:
            raise LedgerError(
                f"the ledger {str(store.path)!r} is in format {version}, and this version of Takifugu writes format "
                f"{VERSION}",
                rule=f"its {payments:,} payments are replayed once, which takes a while",
                fix=f"run {command('ledger', 'upgrade', store.path)}, which keeps the old file beside the new one",
            ).at("ledger")
        check_harmless(connection)
        former = keep(store.place, f"format-{version}")
        with decoding():
            _replay(connection)
        check_layout(connection, store.path)
    return former


def _replay(connection: Connection) -> None:
    meta = connection.exec_driver_sql("select public_id, created, key from meta").one()
    events = connection.exec_driver_sql("select kind, source, body, created from events order by id").all()
    contents = [tuple(row) for row in connection.exec_driver_sql("select digest, body from contents")]
    waiting = "select public_id, bundle from reservations where bundle is not null"
    bundles = connection.exec_driver_sql(waiting).all()
    for table in reversed(metadata.sorted_tables):
        connection.exec_driver_sql(f"drop table if exists {table.name}")
    for statement in statements():
        connection.exec_driver_sql(statement)
    begin(connection, meta.public_id, meta.created, meta.key)
    for row in contents:
        connection.exec_driver_sql("insert into contents (digest, body) values (?, ?)", row)
    for number, event in enumerate(events):
        fact = _fact(meta.key, number, event)
        append(connection, fact)
        apply(connection, fact)
    for group, bundle in bundles:
        reserved.set_bundle(connection, group, bundle)
    seals.write(connection)


def _fact(key: str, number: int, event: Row[*tuple[object, ...]]) -> Fact:
    """Return an event of format 5, which had no id: in every copy of the ledger it gets the same one."""
    kind, source, body, created = event
    name = digest(key, number, kind, source, body, created).hex()[:16]
    return Fact(str(kind), str(source), json.loads(str(body)), str(created), name)

"""A ledger of an older format becomes one of this format: its events are replayed, and the old file is kept beside it.

All is one transaction on the very file: whoever is about to write finds the old ledger or the new one, and after a
crash it is one of the two.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from sqlalchemy import Connection, Row

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger.applying import apply
from takifugu.accounting.ledger.asking import roster_of
from takifugu.accounting.ledger.disk.backup import keep
from takifugu.accounting.ledger.disk.sqlite import check_harmless
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.facts import Fact, append, content, named_in
from takifugu.accounting.ledger.facts import keep as keep_content
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import check_chain, digest
from takifugu.accounting.ledger.format.tables import TAG, VERSION, metadata, statements
from takifugu.accounting.ledger.store import Store, begin, check_layout
from takifugu.core.commands import command
from takifugu.core.errors import LedgerError

#: So many payments are replayed in a few seconds; more are not replayed by the way.
AT_ONCE = 1000
#: The last format whose events had no ids, and no seals that are those of now.
WITHOUT_IDS = 5
#: How many bytes a tag had up to format 6; after each came the number of its shape, in 4 bytes.
LONG_TAG = 32


def upgrade(store: Store, at_most: int | None = AT_ONCE) -> Path | None:
    """Upgrade a ledger; return the old one's place, or None.

    Raises LedgerError for one that has more than `at_most` payments, and for one that cannot be read: then it stays as
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
            _replay(connection, version)
        check_layout(connection, store.path)
    return former


def _replay(connection: Connection, version: int) -> None:
    meta = connection.exec_driver_sql("select public_id, created, key from meta").one()
    if version > WITHOUT_IDS:
        seals.check_itself(connection)
        check_chain(connection)
    events = [_fact(meta.key, number, row) for number, row in enumerate(_events(connection, version))]
    names = dict.fromkeys(chain.from_iterable(map(named_in, events)))
    texts = {name: content(connection, name) for name in names}
    waiting = "select public_id, bundle from reservations where bundle is not null"
    bundles = connection.exec_driver_sql(waiting).all()
    for table in reversed(metadata.sorted_tables):
        connection.exec_driver_sql(f"drop table if exists {table.name}")
    for statement in statements():
        connection.exec_driver_sql(statement)
    begin(connection, meta.public_id, meta.created, meta.key)
    for older in events:
        fact = _with_short_tags(connection, older, texts) if older.kind == "paid" else older
        append(connection, fact)
        apply(connection, fact)
    for group, bundle in bundles:
        reserved.set_bundle(connection, group, bundle)
    seals.write(connection)


def _events(connection: Connection, version: int) -> Sequence[Row[*tuple[object, ...]]]:
    """Return an old ledger's events: kind, source, body, time, id, first digest.

    Events of format 5 had neither of the last two.
    """
    names = "public_id, first" if version > WITHOUT_IDS else "'', null"
    return connection.exec_driver_sql(f"select kind, source, body, created, {names} from events order by id").all()


def _fact(key: str, number: int, event: Row[*tuple[object, ...]]) -> Fact:
    """Return an event; a missing id becomes one equal in all copies."""
    kind, source, body, created, name, first = event
    name = name or digest(key, number, kind, source, body, created).hex()[:16]
    first = None if first is None else str(first)
    return Fact(str(kind), str(source), json.loads(str(body)), str(created), str(name), first)


def _with_short_tags(connection: Connection, fact: Fact, texts: Mapping[str, bytes]) -> Fact:
    """Return a payment with short tags of units, its content written."""
    body = {**fact.body, "everything": fact.body["everything"][: 2 * TAG]}
    if body["units"] is not None:
        former = texts[body["units"]]
        places = range(0, len(former), LONG_TAG + 4)
        units = {former[n : n + TAG]: int.from_bytes(former[n + LONG_TAG : n + LONG_TAG + 4], "big") for n in places}
        if len(units) < len(places):
            raise ValueError("two of its people have one tag")
        body["units"] = keep_content(connection, roster_of(units, len(body["shapes"])))
    for name in named_in(fact):
        if name != fact.body["units"]:
            keep_content(connection, texts[name])
    return replace(fact, body=body)

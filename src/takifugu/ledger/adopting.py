"""Releases of which only the certificates are left: entered as spent, on every unit of a source, at their worst.

A ledger that was restored from a copy does not know which units they read, or at which steps. So each counts for every
unit that the source has or will have, at the cost of a change of the whole data, and as the first of its releases; and
every unit is charged under its belief from then on.
"""

from __future__ import annotations

from sqlalchemy import Connection, update

from takifugu.errors import LedgerError
from takifugu.ledger import pending as reserved
from takifugu.ledger import store as rows
from takifugu.ledger.asking import EVERYONE, Asked
from takifugu.ledger.tables import units
from takifugu.ledger.tallying import tally
from takifugu.ledger.values import Amount
from takifugu.ledger.writing import write_debits, write_releases

#: What the history of the source says.
WORDS = "entered from the certificates in a folder, at the cost of a change of the whole data, on every unit"


def adopt(connection: Connection, name: str, account: str, group: str, asked: Asked) -> Amount:
    """Enter releases as spent and published, whatever the budget; return what the source has spent with them.

    A source that the ledger lacks is made with the id `account`. Raises CompositionRefused where nothing bounds what a
    release costs beside others, and LedgerError for one that the ledger knows.
    """
    number, _ = rows.read_source(connection, name) or rows.add_source(connection, name, account)
    known = rows.read_release_ids(connection, number) & set(asked.ids.values())
    if known:
        raise LedgerError(f"the ledger knows the release {min(known)!r} already")
    found = tally(connection, name, asked, None)
    row = reserved.add_reservation(connection, number, group, None, {"kind": "adopted"})
    write_debits(connection, found, number, write_releases(connection, number, row, asked))
    mine = (units.c.source == number, units.c.tag == EVERYONE)
    connection.execute(update(units).where(*mine).values(is_everyone=True))
    reserved.finish(connection, group)
    spent = rows.most_spent(connection, number)
    if rows.source_of_row(connection, number).budget is None:
        rows.set_budget(connection, number, spent, implied=True)
    rows.add_event(connection, number, f"{', '.join(asked.ids)}: {WORDS}")
    rows.changed(connection, number)
    return spent

"""Releases of which only the certificates are left: entered as spent, on every unit of a source, at their worst.

A ledger that was restored from a copy does not know which units they read, or at which steps. So each counts for every
unit that the source has or will have, at the cost of a change of the whole data, and as the first of its releases; and
every unit is charged under its belief from then on.
"""

from __future__ import annotations

from sqlalchemy import Connection

from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.applying import note
from takifugu.accounting.ledger.asking import Request
from takifugu.accounting.ledger.encoding import canonical
from takifugu.accounting.ledger.facts import Fact, paid
from takifugu.accounting.ledger.tallying import tally
from takifugu.accounting.ledger.values import Amount
from takifugu.core.errors import LedgerError
from takifugu.numbers.rationals import to_text


def adopt(connection: Connection, name: str, account: str, group: str, request: Request) -> Amount:
    """Enter releases as spent and published, whatever the budget; return what the source has spent with them.

    A source that the ledger lacks is made with the id `account`. Raises CompositionRefused where nothing bounds what a
    release costs beside others, and LedgerError for one that the ledger knows.
    """
    if rows.read_source(connection, name) is None:
        note(connection, Fact("source", name, {"id": account}))
    number = rows.known_source(connection, name)[0]
    known = rows.read_release_ids(connection, number) & set(request.ids.values())
    if known:
        raise LedgerError(f"the ledger knows the release {min(known)!r} already")
    tally_of = tally(connection, name, request, None)
    recipe = canonical({"kind": "adopted"}, "the recipe")
    note(connection, paid(connection, name, request, group, None, recipe, None), tally_of)
    spent = rows.most_spent(connection, number)
    if rows.source_of_row(connection, number).budget is None:
        budget = {"epsilon": to_text(spent.epsilon), "delta": to_text(spent.delta), "implied": True}
        note(connection, Fact("budget", name, budget))
    return spent

"""How far a command about a ledger came: a ledger's head before it and after what stopped it, read from the file.

Each such command writes in one transaction, so the ledger is as it was, or all is written: a signal that comes while
it commits finds one of the two, and only the file says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.disk.places import path_of, place_of
from takifugu.accounting.ledger.disk.sqlite import READ_LOCK
from takifugu.core.errors import LEDGER_AS_IT_WAS, TakifuguError
from takifugu.core.escaping import command

#: How many seconds a question after the state may wait for another process.
PATIENCE = 5.0

WRITTEN = "State of the ledger: changed. All that this command writes is written; {show} shows it."
UNKNOWN = "State of the ledger: unknown, since it cannot be read now; {show} shows whether the command has changed it."


@contextmanager
def telling(ledger: Path) -> Iterator[None]:
    """Note on whatever stops a command how far it came (`core.errors.standing`)."""
    before, has_begun = None, False
    try:
        before = head_of(ledger)
        has_begun = True
        yield
    except BaseException as error:
        if isinstance(error, TakifuguError) and "state" not in vars(error):
            raise  # a refusal, which wrote nothing
        now, words = head_of(ledger), WRITTEN
        if now is None or (before is None and has_begun):
            words = UNKNOWN
        elif not has_begun or now == before:
            words = LEDGER_AS_IT_WAS
        vars(error).setdefault("standing", words.format(show=command("ledger", "show", ledger)))
        raise


def head_of(ledger: Path) -> tuple[object, ...] | None:
    """Return what changes with every event of a ledger, () where there is none, None where it cannot be read."""
    try:
        place = place_of(path_of(ledger))
        if not place.exists():
            return ()
        with sqlite.explained(ledger), sqlite.shared_transaction(place, PATIENCE, READ_LOCK, ledger) as connection:
            return tuple(connection.one("select version, head from meta"))
    except (TakifuguError, OSError):
        return None

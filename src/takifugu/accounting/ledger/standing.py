"""How far a command about a ledger came: a ledger's head before it and after what stopped it, read from the file.

Each such command writes in one transaction, so the ledger is as it was, or all is written: a signal that comes while
it commits finds one of the two, and only the file says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.disk.places import in_use, path_of, place_of
from takifugu.accounting.ledger.disk.sqlite import READ_LOCK
from takifugu.accounting.ledger.opening import file_of
from takifugu.core.errors import LEDGER_AS_IT_WAS, TakifuguError
from takifugu.core.escaping import command
from takifugu.core.lasting import lasting

#: How many seconds a question after the state may wait for another process.
PATIENCE = 5.0

WRITTEN = "State of the ledger: changed. All that this command writes is written; {show} shows it."
UNKNOWN = "State of the ledger: unknown, since it cannot be read now; {show} shows whether the command has changed it."


@contextmanager
def telling(ledger: Path, prints_last: bool) -> Iterator[None]:
    """Keep the ledger open during a command, and note on what stops it how far it came (`core.errors.standing`).

    Nothing stops one that `prints_last` where nobody reads what it prints: it is done.
    """
    before, has_begun = None, False
    try:
        with lasting():
            before = head_of(ledger)
            has_begun = True
            yield
    except BaseException as error:
        if isinstance(error, TakifuguError) and "state" not in vars(error):
            raise  # a refusal, which wrote nothing
        if isinstance(error, BrokenPipeError) and prints_last:
            raise
        now, words = head_of(ledger), WRITTEN
        if now is None or (before is None and has_begun):
            words = UNKNOWN
        elif not has_begun or now == before:
            words = LEDGER_AS_IT_WAS
        vars(error).setdefault("standing", words.format(show=command("ledger", "show", ledger)))
        raise


def head_of(ledger: Path) -> tuple[object, ...] | None:
    """Return what changes with every event of a ledger, () where there is none, None where it cannot be read.

    Nothing is read of a file that a ledger's opening would refuse.
    """
    try:
        place = place_of(path_of(ledger))
        if not place.exists():
            return ()
        with sqlite.explained(ledger):
            place, _ = file_of(place, create=False)
            with in_use(place), sqlite.shared_transaction(place, PATIENCE, READ_LOCK, ledger) as connection:
                sqlite.check_harmless(connection)
                meta = connection.one("select * from meta")
                return (meta.version, meta._asdict().get("head", ""))  # the first formats had no chain of events
    except (TakifuguError, OSError):
        return None

"""How far a command about a ledger came: the ledger's newest event before it, and after what stopped it.

Each such command writes in one transaction after the other, so that what is written is whole: a signal that comes while
one is committed finds it written or not, and only the ledger says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from takifugu.accounting.ledger.events.stores import MissingLedger, named
from takifugu.accounting.ledger.ledger import Ledger
from takifugu.core.errors import LEDGER_AS_IT_WAS, TakifuguError
from takifugu.core.escaping import command
from takifugu.core.lasting import lasting

#: How many seconds a question after the state may wait for another process.
PATIENCE = 5.0

WRITTEN = "State of the ledger: changed. All that this command writes is written; {show} shows it."
UNKNOWN = "State of the ledger: unknown, since it cannot be read now; {show} shows whether the command has changed it."


@contextmanager
def telling(where: str, prints_last: bool) -> Iterator[None]:
    """Keep the ledger open during a command, and note on what stops it how far it came (`core.errors.standing`)."""
    before, has_begun = None, False
    try:
        with lasting():
            before = _standing(where)
            has_begun = True
            yield
    except BaseException as error:
        if isinstance(error, TakifuguError) and "state" not in vars(error):
            raise  # a refusal, which wrote nothing
        # nobody reads what it prints: it is done
        if isinstance(error, BrokenPipeError) and prints_last:
            raise
        words = LEDGER_AS_IT_WAS
        if has_begun:
            now = None if before is None else _standing(where, PATIENCE)
            words = UNKNOWN
            if now is not None:
                words = LEDGER_AS_IT_WAS if now == before else WRITTEN
        vars(error).setdefault("standing", words.format(show=command("ledger", "show", named(where))))
        raise


def _standing(where: str, patience: float = 30.0) -> tuple[int, str] | None:
    """Return the number of events and the newest one's digest; None where a ledger cannot be read."""
    try:
        view = Ledger.open(where, patience, create=False).view()
    except MissingLedger:
        return 0, ""
    except (TakifuguError, OSError):
        return None
    return view.number, view.head

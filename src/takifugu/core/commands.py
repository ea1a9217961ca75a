"""Commands of the terminal as they are printed: whole, with every name filled in, to be pasted into a shell."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return a command between backticks, its words quoted for a shell.

    >>> command("ledger", "resume", "a study/ledger.db")
    "`takifugu ledger resume 'a study/ledger.db'`"
    """
    return f"`{shlex.join(['takifugu', *map(str, words)])}`"

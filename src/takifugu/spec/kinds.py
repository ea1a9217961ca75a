"""The registry of the kinds of release file: a kind written elsewhere registers itself, and then works everywhere."""

from __future__ import annotations

from takifugu.errors import InputError
from takifugu.registry import Registry
from takifugu.spec.kind import Kind

#: The kind that faults are listed for where a file names none that there is, and those of records.
SEQUENCES, RECORDS = "markov-chain", ("network", "table", "users", "contacts")
_OURS = {
    SEQUENCES: "spec.sequences.kind:SEQUENCES",
    "markov-chain-class": "spec.sequences.kind:SEQUENCES",
    "network": "spec.records.columned:NETWORK",
    "table": "spec.records.columned:TABLE",
    "users": "spec.records.users:USERS",
    "contacts": "spec.records.contacts:CONTACTS",
}
#: The kinds by value of belief.kind.
KINDS: Registry[Kind] = Registry("the kind of release file", _OURS)


def register(kind: Kind) -> None:
    """Let a kind read the files that name it in belief.kind; InputError for a name that is taken, and for none.

    >>> register(Kind())
    Traceback (most recent call last):
    takifugu.errors.InputError: a Kind names no value of belief.kind: write names = ("urn",) in its class
    """
    if not kind.names:
        what = f"a {type(kind).__name__} names no value of belief.kind"
        raise InputError(what, fix='write names = ("urn",) in its class')
    for name in kind.names:
        KINDS.register(name, kind)


def other_kinds() -> str:
    """Name the kinds of belief beside those of sequences, for whoever wrote one that there is not."""
    registered = [name for name in KINDS.names if name not in _OURS]
    more = f"; registered {_either(registered)}" if registered else ""
    return f"; for records {_either(RECORDS)}{more}"


def _either(names: tuple[str, ...] | list[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)

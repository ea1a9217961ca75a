"""The registry of the kinds of release file: a kind written elsewhere registers itself, and then works everywhere."""

from __future__ import annotations

from importlib import import_module

from takifugu.errors import InputError
from takifugu.spec.kind import Kind

#: The kinds of this package by value of belief.kind, as "module:attribute", loaded on first use.
_OURS = {
    "markov-chain": "sequences.kind:SEQUENCES",
    "markov-chain-class": "sequences.kind:SEQUENCES",
    "network": "records.columned:NETWORK",
    "table": "records.columned:TABLE",
    "users": "records.users:USERS",
    "contacts": "records.contacts:CONTACTS",
}
_REGISTERED: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Let a kind read the files that name it in belief.kind; InputError for a name that is taken or no section has.

    >>> register(Kind())
    Traceback (most recent call last):
    takifugu.errors.InputError: a Kind names no value of belief.kind: write names = ("urn",) in the class
    """
    names = getattr(kind, "names", ())
    if not names:
        raise InputError(
            f"a {type(kind).__name__} names no value of belief.kind", fix='write names = ("urn",) in the class'
        )
    for name in names:
        if name in _OURS or name in _REGISTERED:
            raise InputError(f"the kind of release file {name!r} is registered already", fix="choose another name")
    _REGISTERED.update(dict.fromkeys(names, kind))
    return kind


def other_kinds() -> str:
    """Name the kinds of belief beside those of sequences, for whoever wrote one that there is not."""
    records = " or ".join(f'"{name}"' for name, place in _OURS.items() if place.startswith("records."))
    registered = " or ".join(f'"{name}"' for name in _REGISTERED)
    return f"; for records {records}" + (f"; registered {registered}" if registered else "")


def kind_named(name: object) -> Kind:
    """Return the kind that belief.kind selects; sequences for a name that there is not, so that faults are listed."""
    if not isinstance(name, str) or name not in {**_OURS, **_REGISTERED}:
        name = next(iter(_OURS))
    if name in _REGISTERED:
        return _REGISTERED[name]
    module, attribute = _OURS[name].split(":")
    found: Kind = getattr(import_module(f"takifugu.spec.{module}"), attribute)
    return found

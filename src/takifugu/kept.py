"""What is found once and kept with the object that it was found for, as long as that object lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")

#: How many things one object keeps.
MOST = 64


def kept(owner: Any, key: Hashable, make: Callable[[], Found]) -> Found:
    """Return what is kept on an object that never changes under a key; made the first time that it is asked for.

    The oldest goes where MOST are kept. Objects without a `__dict__` keep nothing.

    >>> from types import SimpleNamespace
    >>> owner = SimpleNamespace()
    >>> kept(owner, "size", lambda: 3), kept(owner, "size", lambda: 4)
    (3, 3)
    """
    attributes = getattr(owner, "__dict__", None)
    if attributes is None:
        return make()
    store: dict[Hashable, Any] = attributes.setdefault("_kept", {})
    if key not in store:
        made = make()
        while len(store) >= MOST:
            store.pop(next(iter(store)), None)
        store[key] = made
    found: Found = store[key]
    return found


def forget(owner: Any) -> None:
    """Drop everything that is kept on an object."""
    owner.__dict__.pop("_kept", None)

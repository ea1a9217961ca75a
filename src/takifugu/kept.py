"""What is found once and kept with the object that it was found for, as long as that object lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Found = TypeVar("Found")


def kept(owner: Any, key: Hashable, make: Callable[[], Found]) -> Found:
    """Return what is kept on an object that never changes under a key; made the first time that it is asked for.

    >>> from types import SimpleNamespace
    >>> owner = SimpleNamespace()
    >>> kept(owner, "size", lambda: 3), kept(owner, "size", lambda: 4)
    (3, 3)
    """
    store: dict[Hashable, Any] = owner.__dict__.setdefault("_kept", {})
    if key not in store:
        store[key] = make()
    found: Found = store[key]
    return found


def forget(owner: Any) -> None:
    """Drop everything that is kept on an object."""
    owner.__dict__.pop("_kept", None)

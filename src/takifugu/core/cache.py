"""What is found once and kept with the object that it was found for, as long as that object lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")

#: How many things one object keeps.
MOST = 64
_NOTHING = object()


class Store(dict[Hashable, Any]):
    """The values kept on an object, without its pickles and copies."""

    owner = 0

    def __reduce__(self) -> tuple[type[Store], tuple[()]]:
        return Store, ()


def cached(owner: object, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return a value kept on an unchanging object, made when first needed; the oldest of MOST goes."""
    attributes = getattr(owner, "__dict__", None)
    # objects without a `__dict__` keep nothing
    if attributes is None:
        return make()
    store: Store | None = attributes.get("_cached")
    if store is None or store.owner != id(owner):
        store = Store()
        store.owner = id(owner)
        attributes["_cached"] = store
    value: Any = store.get(key, _NOTHING)
    if value is _NOTHING:
        value = make()
        if len(store) >= MOST:
            for oldest in list(store)[: len(store) + 1 - MOST]:  # a list: other threads may keep things meanwhile
                store.pop(oldest, None)
        value = store.setdefault(key, value)
    result: Value = value
    return result


def memoised(make: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """Keep what a function returns on its first argument, by the others."""

    @wraps(make)
    def once(*arguments: Arguments.args, **named: Arguments.kwargs) -> Value:
        owner, *others = arguments
        return cached(owner, (make, *others), lambda: make(*arguments, **named))

    return once


def forget(owner: object) -> None:
    """Drop all kept values of an object."""
    owner.__dict__.pop("_cached", None)

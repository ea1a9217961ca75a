"""What lasts as long as one command: what is opened once and used by all its parts, and closed when it ends."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

Value = TypeVar("Value")
#: What the command of this thread keeps open; None outside of a command.
_open: ContextVar[dict[Hashable, Any] | None] = ContextVar("_open", default=None)


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Let a variable of the context have a value inside."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


@contextmanager
def lasting() -> Iterator[None]:
    """Keep what is opened until the end; one inside another keeps nothing of its own."""
    if _open.get() is not None:
        yield
        return
    with holding(_open, {}):
        try:
            yield
        finally:
            close_all()


def open_things() -> dict[Hashable, Any] | None:
    """Return what is open now, by its key; None where nothing is kept."""
    return _open.get()


def close_all() -> None:
    """Close what is open; an error of closing says nothing that was not said before."""
    things = _open.get() or {}
    while things:
        _, thing = things.popitem()
        with suppress(Exception):
            thing.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=close_all)  # two processes with one connection would each believe to hold its locks

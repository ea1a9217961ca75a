"""Long searches: who is told about them, and whether an interrupt ends one with the best that it has found so far.

Nobody is told, and every interrupt (Ctrl-C) goes on as it always does, until somebody up the stack asks for it. What a
search has found when it is ended must be an answer as good as any, only not the best: so for bounds of noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Search:
    """A search that begins: for whom, through how many possibilities at most, for how many secrets; a rough time."""

    name: str
    secrets: int
    most: int
    seconds: float


#: Is told how many possibilities of a search are done with; the first time 0.
Watch = Callable[[Search, int], None]

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)
_name: ContextVar[str] = ContextVar("name", default="quilts")
_interrupts: ContextVar[list[bool] | None] = ContextVar("interrupts", default=None)


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Tell `watch` about all searches inside.

    >>> with watched(lambda search, done: print(search.name, done, "of", search.most)):
    ...     begin(secrets=3, most=100, seconds=0.1)(50)
    quilts 0 of 100
    quilts 50 of 100
    """
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def named(name: str) -> Iterator[None]:
    """Say for what the searches inside are made: a mechanism."""
    token = _name.set(name)
    try:
        yield
    finally:
        _name.reset(token)


@contextmanager
def ending_early(allowed: bool = True) -> Iterator[None]:
    """Let the first interrupt inside end a search with what it has found; a second one goes on as always.

    Nested uses change nothing: the outermost decides, and counts.
    """
    token = _interrupts.set([allowed]) if _interrupts.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _interrupts.reset(token)


def begin(secrets: int, most: int, seconds: float) -> Callable[[int], None]:
    """Tell who watches that a search begins; return what to call with the number of possibilities done with."""
    watch, search = _watch.get(), Search(_name.get(), secrets, most, seconds)
    if watch is None:
        return _nobody
    watch(search, 0)
    return lambda done: watch(search, done)


def may_end() -> bool:
    """Return whether the interrupt that a search has just caught may end it; if not, it must be raised again."""
    left = _interrupts.get()
    if not left or not left[0]:
        return False
    left[0] = False
    return True


def ended(done: int, most: int) -> str:
    """Return what is said of an answer whose search was ended early.

    >>> ended(1500, 300_000)[:59]
    'the search was ended early, after 1,500 of 300,000 quilts: '
    """
    return (
        f"the search was ended early, after {done:,} of {most:,} quilts: the promise holds, and a longer search may "
        "need less noise"
    )


def _nobody(done: int) -> None:
    """Tell nobody."""

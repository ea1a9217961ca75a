"""Long searches: who watches them, and whether an interrupt ends one with the best that it has found so far.

Nobody watches, and every interrupt (Ctrl-C) propagates as usual, unless a caller up the stack requests otherwise. What
a search holds at any moment must be a correct answer, perhaps not the best: so it is with enough noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from takifugu.core.lasting import holding


@dataclass
class Search:
    """A mechanism's search of at most `most` things, `done` so far."""

    #: The mechanism's.
    name: str
    #: How many secrets are searched for.
    secrets: int
    most: int
    #: A rough guess of the longest time.
    seconds: float
    things: str
    #: Whether an interrupt ends the search only.
    stops: bool
    done: int = 0
    #: Whether one has.
    early: bool = False

    def tell(self, dealt: int) -> None:
        """Tell the watcher about so many more steps."""
        self.done += dealt
        watcher = _watcher.get()
        if watcher is not None:
            watcher.goes(self)

    @property
    def note(self) -> str:
        """Return an answer's words about an early end, or ""."""
        if not self.early:
            return ""
        return (
            f"the search was ended early, after {self.done:,} of {self.most:,} {self.things}: the promise holds, and a "
            "longer search may find that less noise is enough"
        )


class Watcher(Protocol):
    """Is notified of a search's beginning, progress and end."""

    def begins(self, search: Search) -> None: ...

    def goes(self, search: Search) -> None: ...

    def over(self, search: Search) -> None: ...


_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
_name: ContextVar[str] = ContextVar("name", default="quilts")
_stops: ContextVar[list[bool] | None] = ContextVar("stops", default=None)


@contextmanager
def running(secrets: int, most: int, seconds: float, things: str = "quilts", ends: bool = True) -> Iterator[Search]:
    """Run a search up to its end or an interrupt, after which its results count (only if it `ends`)."""
    stops, watcher = _stops.get(), _watcher.get()
    search = Search(_name.get(), secrets, most, seconds, things, ends and bool(stops and stops[0]))
    if watcher is not None:
        watcher.begins(search)
    try:
        yield search
    except KeyboardInterrupt:
        if not ends or not stops or not stops[0]:
            raise
        stops[0], search.early = False, True
    finally:
        if watcher is not None:
            watcher.over(search)


def watched(watcher: Watcher) -> AbstractContextManager[None]:
    """Tell `watcher` about all searches inside."""
    return holding(_watcher, watcher)


def named(name: str) -> AbstractContextManager[None]:
    """Name the mechanism of the searches inside."""
    return holding(_name, name)


@contextmanager
def stopping(once: bool = True) -> Iterator[None]:
    """Let the first interrupt end only the search in progress, if `once`; any other propagates as usual."""
    # of nested uses the outermost counts
    with holding(_stops, _stops.get() or [once]):
        yield

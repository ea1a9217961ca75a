"""Progress of long work on the standard error: a bar on a terminal, and a line every ten seconds elsewhere.

The bar appears after a second and leaves nothing behind. What does stay is a line that announces a search that may take
long, so that nobody waits without knowing why.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from takifugu.cli import terminal
from takifugu.cli.group import complain
from takifugu.cli.output import counted
from takifugu.cli.terminal import is_dumb, is_terminal
from takifugu.core.escaping import number
from takifugu.core.searches import Search, stopping, watched
from takifugu.core.text.bars import block
from takifugu.core.text.tables import name_of

if TYPE_CHECKING:
    from takifugu.releasing.planning.plan import Watch

#: A bar appears after so many seconds, and is drawn again after so many; without one a line is printed so often.
PATIENCE, REDRAWN, EVERY = 1.0, 0.1, 10.0
#: Columns of a bar, and of the words before it.
_BAR, _WORK = 20, 40
#: What is being done, and how many of how many such things are done.
State = tuple[str, int, int]


@dataclass(frozen=True)
class Clock:
    """The time in seconds, and how to wait some of them for an event: it returns whether it came."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait


CLOCK = Clock()
#: Searches that may take longer than this many seconds are announced.
LONG = 10.0


@contextmanager
def watching(stops: bool = True) -> Iterator[Watch]:
    """Yield a watch for long work, reporting on stderr; with `stops` the first Ctrl-C ends a search alone."""
    display = Display()
    try:
        with stopping(stops), watched(display):
            yield display.watch
        terminal.heed()
    finally:
        display.close()


class Display:
    """What is being done now, a search within other work or that work, as a thread tells it; and long searches."""

    def __init__(self) -> None:
        self.state: State = ("working", 0, 1)
        self.outside: State | None = None
        self.is_bar = is_terminal(sys.stderr) and not is_dumb()
        self.clock = CLOCK
        self.started = self.clock.now()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._tell, daemon=True)
        self.thread.start()

    def watch(self, what: str, done: int, all_of_them: int) -> None:
        self.state = (what, done, all_of_them)

    def begins(self, search: Search) -> None:
        if search.seconds >= LONG:
            line = f"{search.name}: a search through up to {search.most:,} {search.things}"
            if search.things != "secrets":
                line += f" for {counted(search.secrets, 'secret')}"
            line += f", about {_span(search.seconds)} at most"
            if search.stops:
                line += "; Ctrl-C ends it, and takes the best found so far"
            complain(line, "yellow")
        self.outside = self.state
        self.goes(search)

    def goes(self, search: Search) -> None:
        self.watch(f"{search.name}: {search.things}", min(search.done, search.most), search.most)

    def over(self, search: Search) -> None:
        if self.outside is not None:
            self.watch(*self.outside)
            self.outside = None
        if search.early:
            terminal.answer()
            best = "the search was ended, and its best so far is used; Ctrl-C again stops everything"
            complain(f"{search.name}: {best}", "yellow")

    def close(self) -> None:
        self.ended.set()
        self.thread.join(timeout=1)  # nobody may read what it prints
        terminal.redraw()

    def _tell(self) -> None:
        pause = PATIENCE if self.is_bar else EVERY
        while not self.clock.wait(self.ended, pause):
            with suppress(OSError, ValueError):  # nobody reads it, or it is closed
                self.tell()
            pause = REDRAWN if self.is_bar else EVERY

    def tell(self) -> None:
        """Say what is being done now."""
        work, done, total = self.state
        span = _span(self.clock.now() - self.started)
        if self.is_bar:
            bar = block(done / max(total, 1), _BAR)
            terminal.redraw(f"{name_of(work, _WORK)} {bar:<{_BAR}} {number(done)}/{number(total)} {span}")
            return
        if total > 1:
            work += f", {number(done)} of {number(total)}"
        print(f"takifugu: {work}, after {span}", file=sys.stderr)


def _span(seconds: float) -> str:
    """Write a rough time."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"

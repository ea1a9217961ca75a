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

import click

from takifugu.cli import terminal
from takifugu.cli.output import counted
from takifugu.cli.terminal import is_dumb, is_terminal
from takifugu.core.escaping import number
from takifugu.core.searches import Search, stopping, watched
from takifugu.core.text.tables import width

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from takifugu.releasing.planning.plan import Watch

PATIENCE = 1.0
#: What is being done, and how many of how many such things are done.
State = tuple[str, int, int]


@dataclass(frozen=True)
class Clock:
    """The time in seconds, and how to wait some of them for an event: it returns whether it came."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Event, float], bool] = threading.Event.wait


CLOCK = Clock()
#: Where no line is redrawn one is printed every so many seconds.
EVERY = 10.0
#: Searches that may take longer than this many seconds are announced.
LONG = 10.0


@contextmanager
def watching(stops: bool = True) -> Iterator[Watch]:
    """Yield a watch for long work, reporting on stderr.

    With `stops` the first Ctrl-C during a search ends that search only.
    """
    display = _Bar() if is_terminal(sys.stderr) and not is_dumb() else _Lines()
    try:
        with stopping(stops), watched(display):
            yield display.watch
        terminal.heed()
    finally:
        display.close()


class _Display:
    """What is being done now, a search within other work or that work, and lines about long searches."""

    def __init__(self) -> None:
        self.state: State = ("working", 0, 1)
        self.outside: State | None = None

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
            self.say(line)
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
            self.say(f"{search.name}: the search was ended, and its best so far is used; Ctrl-C again stops everything")

    def say(self, line: str) -> None:
        click.echo(f"{click.style('takifugu:', fg='yellow')} {line}", err=True)


class _Bar(_Display):
    """A progress bar that starts itself when work takes longer than PATIENCE."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()  # an interrupt may come while it is held
        self.columns = width()  # of this thread
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.closed = False
        self.timer = threading.Timer(PATIENCE, self._start)
        self.timer.daemon = True
        self.timer.start()

    def watch(self, what: str, done: int, all_of_them: int) -> None:
        with self.lock:
            super().watch(what, done, all_of_them)
            self._refresh()

    def say(self, line: str) -> None:
        with self.lock:
            if self.bar is None:
                super().say(line)
            else:
                self.bar.console.print(f"[yellow]takifugu:[/] {line}", highlight=False)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.closed = True
            if self.bar is not None:
                self.bar.stop()

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self.lock:
            if self.closed:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn())
            console = Console(stderr=True, width=self.columns)
            self.bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task("", total=1)
            self._refresh()

    def _refresh(self) -> None:
        if self.bar is None or self.task is None:
            return
        work, done, total = self.state
        self.bar.update(self.task, description=work[:40], completed=done, total=total)


class _Lines(_Display):
    """A line now and then about what is being done, for what does not redraw one: a pipe, a file, a plain terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = CLOCK
        self.started = self.clock.now()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._tell, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.ended.set()
        self.thread.join(timeout=1)  # nobody may read what it prints

    def _tell(self) -> None:
        while not self.clock.wait(self.ended, EVERY):
            work, done, total = self.state
            if total > 1:
                work += f", {number(done)} of {number(total)}"
            with suppress(OSError, ValueError):  # nobody reads it, or it is closed
                print(f"takifugu: {work}, after {_span(self.clock.now() - self.started)}", file=sys.stderr)


def _span(seconds: float) -> str:
    """Write a rough time.

    >>> _span(12.3), _span(400.0)
    ('12 s', '7 minutes')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"

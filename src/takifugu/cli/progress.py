"""Progress of long work, on a terminal only: nothing appears before a second has passed, and nothing stays behind."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from takifugu.releasing.planning import Watch

PATIENCE = 1.0


@contextmanager
def watching() -> Iterator[Watch]:
    """Yield a watch for long work; it shows what is being done on stderr if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda what, done, all_of_them: None
        return
    shown = _Shown()
    try:
        yield shown.watch
    finally:
        shown.close()


class _Shown:
    """A progress bar that starts itself when work takes longer than PATIENCE."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.state = ("working", 0, 1)
        self.bar: Any = None
        self.task: Any = None
        self.closed = False
        self.started = time.monotonic()
        self.timer = threading.Timer(PATIENCE, self._start)
        self.timer.daemon = True
        self.timer.start()

    def watch(self, what: str, done: int, all_of_them: int) -> None:
        with self.lock:
            self.state = (what, done, all_of_them)
            self._refresh()

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
            console = Console(stderr=True, width=80)
            self.bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task("", total=1)
            self._refresh()

    def _refresh(self) -> None:
        if self.bar is None:
            return
        what, done, total = self.state
        self.bar.update(self.task, description=what[:40], completed=done, total=total)

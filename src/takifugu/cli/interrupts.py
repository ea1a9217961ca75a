"""Signals that end a command: each is noted, because what it interrupts may turn its exception into another one.

Pydantic raises its own error for one that comes while it builds a model, DuckDB for one during a query, and what a
destructor raises is lost.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: The last signal that has come and that nothing has answered.
_come: int | None = None


@contextmanager
def noting() -> Iterator[None]:
    """Note SIGINT and SIGTERM while a command runs, unless handled already."""
    before = {}
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    answer()
    try:
        if threading.current_thread() is threading.main_thread():
            for number, default in defaults.items():
                if signal.getsignal(number) is default:  # else somebody ignores it, or has an answer of their own
                    before[number] = default
                    signal.signal(number, _note)
        yield
    finally:
        for number, default in before.items():
            signal.signal(number, default)


def _note(number: int, _: FrameType | None) -> None:
    global _come
    _come = number
    raise _exception(number)


def _exception(number: int) -> BaseException:
    """Return the exception for a signal, of SIGTERM an exit."""
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


def come() -> int | None:
    """Return the exit code of the noted and unanswered signal, if any."""
    return None if _come is None else 128 + _come


def answer() -> None:
    """Forget the signal: a search has ended for it."""
    global _come
    _come = None


def heed() -> None:
    """Raise the exception of an unanswered signal."""
    if _come is not None:
        raise _exception(_come)

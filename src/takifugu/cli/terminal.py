"""The terminal: how wide it is, whether it shows colours, and the signals from it that end a command.

Pydantic raises its own error for one that comes while it builds a model, DuckDB for one during a query, and what a
destructor raises is lost.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

from takifugu.core.text.tables import WIDEST, WIDTH, cut


def columns() -> int:
    """Return the number of columns, by COLUMNS or the terminal."""
    width = os.environ.get("COLUMNS", "")
    if width.isascii() and width.isdigit() and int(width):
        return min(int(width), WIDEST)
    for stream in (sys.stdout, sys.stderr):
        try:
            return min(os.get_terminal_size(stream.fileno()).columns or WIDTH, WIDEST)
        except (OSError, ValueError, AttributeError):  # no terminal, closed, or none at all
            continue
    return WIDTH


def is_dumb() -> bool:
    """Return whether the terminal shows plain lines only."""
    return os.environ.get("TERM", "") in ("dumb", "unknown")


def is_plain() -> bool:
    """Return whether colours are unwanted or impossible."""
    return bool(os.environ.get("NO_COLOR")) or is_dumb()


def is_terminal(stream: IO[str] | IO[bytes] | None) -> bool:
    """Return whether somebody reads a stream on a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def can_ask() -> bool:
    """Return whether somebody can read and answer on the terminal."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr) and not os.environ.get("CI")


def only_seen() -> bool:
    """Return whether what is said is read on a terminal, and nothing of it kept in a file or a log."""
    return is_terminal(sys.stdout) and is_terminal(sys.stderr)


#: The line that is drawn on the terminal until another one takes its place, and what draws it, one after the other.
_drawn, _drawing = "", threading.RLock()  # an interrupt may come while it is held


def redraw(line: str = "") -> None:
    """Draw a line in the place of the one before; without one nothing is left, and others may print there."""
    global _drawn
    with _drawing, suppress(OSError, ValueError):  # nobody reads it, or it is closed
        if line or _drawn:
            line = cut(line, columns() - 1)
            sys.stderr.write(f"\r{line:<{len(_drawn)}}\r{line}")
            sys.stderr.flush()
        _drawn = line


@contextmanager
def undisturbed() -> Iterator[None]:
    """Draw nothing while somebody is asked."""
    with _drawing:
        redraw()
        yield


#: The last signal that has come and that nothing has answered, and whether a command runs that it ends.
_come: int | None = None
_runs = False


@contextmanager
def noting() -> Iterator[None]:
    """Note SIGINT and SIGTERM while a command runs, unless handled already."""
    # One that comes while a file is closed for an object that nobody holds cannot be raised there: `heed` raises it.
    # Before a command runs, and after it, nothing is raised: there is nothing to end, and what is said is said.
    before, hook = {}, sys.unraisablehook
    defaults = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    answer()
    try:
        if threading.current_thread() is threading.main_thread():
            for number, default in defaults.items():
                if signal.getsignal(number) is default:  # else somebody ignores it, or has an answer of their own
                    before[number] = default
                    signal.signal(number, _note)
        sys.unraisablehook = _unraised
        yield
    finally:
        sys.unraisablehook = hook
        for number, default in before.items():
            signal.signal(number, default)


def _note(number: int, _: FrameType | None) -> None:
    global _come
    _come = number
    if _runs:
        raise _exception(number)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let signals end what runs inside, those that came before it, too."""
    global _runs
    _runs = True
    try:
        heed()
        yield
    finally:
        _runs = False


def _unraised(unraisable: sys.UnraisableHookArgs) -> None:
    if _come is None or not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(unraisable)


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

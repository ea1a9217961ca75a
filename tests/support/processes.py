"""Children of a test: they end there, whatever happens in them, and nobody waits for them without end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

#: A child that does not end in this time hangs.
SECONDS = 120.0

#: A server that has everything imported: children start in milliseconds and share no handle and no lock with this
#: process, whose threads (of a data engine, of the test runner) a fork would leave in the middle of what they do.
FAST = multiprocessing.get_context("forkserver")
FAST.set_forkserver_preload(["tests.support.ledger_tools"])


def forked(action: Callable[[], object]) -> int:
    """Do something in a copy of this process; return how the copy ended, as os.waitpid tells it.

    An error ends the copy, too: it would go on as a second test runner.
    """
    child = os.fork()
    if child == 0:
        try:
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return ended(child)


def told_by_a_fork(action: Callable[[], bytes]) -> bytes:
    """Return the bytes, 4,096 at most, that an action gives in a copy of this process; none where it fails."""
    reader, writer = os.pipe()
    try:
        forked(lambda: os.write(writer, action()))
    finally:
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            told = pipe.read()
    return told


def ended(child: int) -> int:
    """Wait for a forked child and return how it ended; one that hangs is killed and fails the test."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError(f"a child did not end within {SECONDS:g} seconds")


def side_by_side(work: Callable[..., Any], told: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Call a function of a module once for each tuple of arguments, in as many processes at once."""
    arguments = list(told)
    with FAST.Pool(len(arguments)) as pool:
        return pool.starmap_async(work, arguments, chunksize=1).get(SECONDS)

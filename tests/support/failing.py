"""Calls that fail where they must not: a full disk, a locked ledger, a fault of our own."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a function that takes anything and raises an error."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, room: Any, name: str, error: BaseException) -> Iterator[None]:
    """Let a function of a module or class raise an error, for as long as this lasts."""
    with monkeypatch.context() as patched:
        patched.setattr(room, name, raising(error))
        yield

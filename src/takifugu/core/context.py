"""A variable of the context that has a value for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Let a variable of the context have a value inside."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)

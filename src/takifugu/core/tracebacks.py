"""Errors that leave the library hold no data: neither in the frames that they passed nor in what caused them.

A traceback keeps every local variable of its frames, and an exception the one that it was raised in place of. Both
travel: to a notebook's page, to a log, to a service that collects errors.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from takifugu.core.errors import Fault, Notice, TakifuguError

#: What errors of a release know about it (`errors.standing`).
_STANDING = ("state", "public", "completed")

P = ParamSpec("P")
T = TypeVar("T")

#: Exceptions that say nothing about data, and that callers wait for under their own names.
_SILENT = (TakifuguError, Notice, MemoryError)


def without_data(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with errors that hold nothing of what it was given or has read."""

    # an error that is none of Takifugu's becomes a Fault of its place; an interrupt, whatever it became, stays one
    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        handled = sys.exception()  # an interrupt that the caller deals with is none of ours
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            del args, kwargs
            left = _bare(error, handled)
        try:
            raise left  # outside the handler: what is being handled would become its context
        finally:
            del left, handled  # a frame that holds its own exception lives until the garbage is collected

    return guarded


def place_of(error: BaseException) -> str:
    """Return an exception's kind and line, since its message could hold data."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = ""
    if trace is not None:
        line = f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    return f"a fault of Takifugu itself ({type(error).__name__}{line}); please report it"


def _bare(error: BaseException, handled: BaseException | None) -> BaseException:
    """Return the error, or a fault for it, with empty frames only."""
    left = _interrupt_in(error, handled)
    trace = error.__traceback__
    is_of_the_call = isinstance(left, TypeError) and trace is not None and trace.tb_next is None  # wrong arguments
    if isinstance(left, Exception) and not isinstance(left, _SILENT) and not is_of_the_call:
        left = Fault(place_of(error))
    if left is not error:
        left = left.with_traceback(error.__traceback__)
        vars(left).update({key: value for key, value in vars(error).items() if key in _STANDING})
    traceback.clear_frames(error.__traceback__)
    left.__cause__ = left.__context__ = None
    return left


def _interrupt_in(error: BaseException, handled: BaseException | None) -> BaseException:
    """Return the interrupt behind an error, or the error itself."""
    # Pydantic and DuckDB raise errors of their own for an interrupt
    before: BaseException | None = error
    while before is not None and before is not handled:
        if isinstance(before, KeyboardInterrupt | SystemExit):
            return before
        before = before.__cause__ or before.__context__
    return error

"""Whole numbers of engines: expressions of them, and the integers that come back."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from takifugu.data.rows.layout import text_of


def whole(value: nw.Expr | int) -> nw.Expr:
    return nw.lit(value, nw.Int64) if isinstance(value, int) else value


def choose(when: nw.Expr, yes: nw.Expr | int, no: nw.Expr | int) -> nw.Expr:
    """Return one of two whole numbers."""
    return nw.when(when).then(whole(yes)).otherwise(whole(no))


def integer(value: object) -> int | None:
    """Return an integer of a result, None if missing."""
    if type(value) is int:  # as most engines write nearly all of them
        return value
    text = text_of(value)
    return None if text is None else int(text)

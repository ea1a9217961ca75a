"""Times as numbers: how many seconds, or thousandths of one, have passed since 1970 began in UTC."""

from __future__ import annotations

from collections.abc import Mapping

from takifugu.core.errors import DataError
from takifugu.data.times.time_format import TimeFormat

#: The formats of an order column of such numbers, and the microseconds of one of them.
EPOCHS: Mapping[str, int] = {"epoch": 1_000_000, "epoch_ms": 1_000}
#: The last microsecond of the year 9999; larger numbers are no times, and fit no 64 bits.
LAST = 253_402_300_799_999_999


def check_order_format(text: str | None) -> None:
    """Raise InputError for an unknown format of an order column.

    >>> check_order_format("epoch"), check_order_format("%d/%m/%Y")
    (None, None)
    """
    if text is not None and text not in EPOCHS:
        TimeFormat(text)


def dates_for_numbers(column: str) -> DataError:
    return DataError(
        f"column {column!r} holds dates and times, and its format says numbers since 1970",
        fix="leave order_format out, or declare how they are written",
    ).at("order_format")

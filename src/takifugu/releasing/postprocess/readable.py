"""How noisy numbers are written: as people read them, in tables and frames, with what their intervals cover."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from takifugu.analysis.randomisers import MARKS, Randomiser, answered
from takifugu.core.escaping import number as written
from takifugu.core.plain import Json, Row
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.certificates.cells import MARK, UPPER
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.sent_rows import Rows
from takifugu.releasing.postprocess.library import as_frame

T = TypeVar("T")
Readable = int | float

#: The level of every error bar: all values of a table at once, over the noise alone.
LEVEL = 0.95
#: What an interval covers, wherever one is shown.
NOISE_ONLY = "noise only, not sampling error"
NOT_PRIVATE = "NOT PRIVATE: the noise came from a test seed."


@dataclass(frozen=True)
class Interval:
    """Where a true value lies with probability `level` over the noise alone: this is not sampling error.

    `level` holds simultaneously for all `cells` values that were published together. It unpacks to low and high.

    >>> low, high = Interval(3, 9, 0.95, 4)
    >>> print(Interval(3, 9, 0.95, 4))
    3 to 9 (95 % over the noise, all 4 cells at once; noise only, not sampling error)
    """

    low: Readable
    high: Readable
    level: float
    cells: int = 1
    label: str = NOISE_ONLY

    def __iter__(self) -> Iterator[Readable]:
        return iter((self.low, self.high))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float | Fraction) and self.low <= value <= self.high

    def __str__(self) -> str:
        level = f"{100 * self.level:g} % over the noise"
        if self.cells > 1:
            level += f", all {self.cells} cells at once"
        return f"{number(self.low)} to {number(self.high)} ({level}; {self.label})"


def one_or_all(certificate: Certificate, labels: Sequence[str], things: Sequence[T]) -> T | dict[str, T]:
    """Return the things by cell, or the one thing of a number.

    A histogram, several cells and no cell have things by cell.
    """
    if certificate.query["kind"] in ("histogram", "visitors", "cross-table", "by") or len(things) != 1:
        return dict(zip(labels, things, strict=True))
    return things[0]


def rows_of(
    labels: Sequence[str], values: Sequence[Any], noise: Randomiser, level: float, cells: int | None = None
) -> list[Json]:
    """Return one row per cell: cell, value, low, high.

    Low and high are None where nothing is known around a value. Where counts were compared with thresholds a number is
    an upper value only, and its column is called so; where places are called dangerous, too, a mark says what it means.
    """
    column, rows = "value", list[Json]()
    if noise.output is MARKS:
        column = UPPER
    ends: Sequence[Any] = answered(lambda: noise.intervals(values, level, cells)) or [(None, None)] * len(values)
    for label, value, (low, high) in zip(labels, values, ends, strict=True):
        rows.append({"cell": label, column: readable(value), "low": readable(low), "high": readable(high)})
    if isinstance(noise, SafeCells) and noise.alpha is not None:
        return [{**row, MARK: mark} for row, mark in zip(rows, noise.marks(values), strict=True)]
    return rows


def columns_in(rows: Sequence[Row]) -> Mapping[str, Sequence[Hashable]]:
    """Return the values of rows by column."""
    if isinstance(rows, Rows):
        return rows.columns
    return {key: [row[key] for row in rows] for key in rows[0]}


def frame_of(rows: Sequence[Row], library: object) -> Any:
    return as_frame(columns_in(rows), library)


def made(certificate: Certificate) -> str:
    return f"{', '.join(certificate.mechanisms)}, epsilon {written(Fraction(certificate.epsilon))}"


def readable(value: object) -> Any:
    """Return a whole number as int, any other as the nearest float.

    What is no number (a label, a point) stays as it is.

    >>> readable(Fraction(6, 2)), readable(Fraction(1, 4)), readable("yes")
    (3, 0.25, 'yes')
    """
    if not isinstance(value, Fraction):
        return value
    return value.numerator if value.denominator == 1 else float(value)


def in_words(row: Row) -> str:
    """Write the published value of a row.

    >>> in_words({"value": 12345}), in_words({UPPER: 12345}), in_words({UPPER: "safe"})
    ('12,345', 'at most 12,345', 'safe')
    >>> in_words({UPPER: 45, MARK: "dangerous"})
    'dangerous: at most 45'
    """
    if UPPER not in row:
        return number(row["value"])
    if isinstance(row[UPPER], str):
        return number(row[UPPER])
    words = f"at most {number(row[UPPER])}"
    return f"{row[MARK]}: {words}" if MARK in row else words


def number(value: object) -> str:
    """Write a number for a table, None as a dash.

    >>> number(12345), number(1 / 3), number(None), number("yes")
    ('12,345', '0.333333', '-', 'yes')
    """
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return written(value) if isinstance(value, float) else str(value)


def measured(size: float, unit: str) -> str:
    """Write a size with its unit, if any.

    >>> measured(137.0, "rows"), measured(1.0, "rows"), measured(2.5, "")
    ('137 rows', '1 row', '2.5')
    """
    text = written(size)
    if text == "1":
        unit = re.sub(r"^(row|step)s\b", r"\1", unit)
    return f"{text} {unit}".rstrip()

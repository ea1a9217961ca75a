"""How noisy numbers are written: as people read them, in tables and frames, with what their intervals cover."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from takifugu.analysis.randomisers import MARKS, Randomiser, answered
from takifugu.core.errors import InputError
from takifugu.core.escaping import (
    as_exact_as,
    at_most,
    float_at_least,
    float_at_most,
    number,
)  # fmt: skip
from takifugu.core.nearest import did_you_mean, nearest
from takifugu.core.plain import Json, Row
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.releasing.certificates.cells import MARK, UPPER, Rows
from takifugu.releasing.certificates.certificate import Certificate

T = TypeVar("T")
NOT_PRIVATE = "NOT PRIVATE: the noise came from a test seed."
#: The libraries that a table can be returned in; by default the first one installed.
LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb", "pyspark")


def one_or_all(certificate: Certificate, labels: Sequence[str], things: Sequence[T]) -> T | dict[str, T]:
    """Return the things by cell, or the one thing of a number."""
    if certificate.query["kind"] in ("histogram", "visitors", "cross-table", "by") or len(things) != 1:
        return dict(zip(labels, things, strict=True))
    return things[0]


def rows_of(
    labels: Sequence[str], values: Sequence[Any], noise: Randomiser, level: float, cells: int | None = None
) -> list[Json]:
    """Return one row per cell: cell, value, low, high (None where nothing is known around a value)."""
    column, rows = "value", list[Json]()
    rounding: Callable[[Fraction], float] = float
    if noise.output is MARKS:
        # of counts beside thresholds a number is an upper value only
        column, rounding = UPPER, float_at_most
    ends: Sequence[Any] = answered(lambda: noise.intervals(values, level, cells)) or [(None, None)] * len(values)
    for label, value, (low, high) in zip(labels, values, ends, strict=True):
        lowest, highest = readable(low, float_at_least), readable(high, float_at_most)
        rows.append({"cell": label, column: readable(value, rounding), "low": lowest, "high": highest})
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


def cells_of(row: Row, keys: Sequence[str]) -> list[str]:
    """Write some values of a row for a table."""
    return [number(row[key]) for key in keys]


def made(certificate: Certificate) -> str:
    return f"{', '.join(certificate.mechanisms)}, epsilon {at_most(Fraction(certificate.epsilon))}"


def readable(value: object, rounding: Callable[[Fraction], float] = float) -> Any:
    """Return a whole number as int, any other as the nearest float, or a bound by its safe `rounding`."""
    if not isinstance(value, Fraction):
        return value
    return value.numerator if value.denominator == 1 else rounding(value)


def in_words(row: Row) -> str:
    """Write the published value of a row."""
    if UPPER not in row:
        value, low, high = row["value"], row.get("low"), row.get("high")
        if isinstance(value, float) and low is not None and high is not None:
            value = as_exact_as(value, max(value - low, high - value))
        return number(value)
    if isinstance(row[UPPER], str):
        return number(row[UPPER])
    words = f"at most {at_most(row[UPPER])}"
    return f"{row[MARK]}: {words}" if MARK in row else words


def library_of(data: Any) -> str | None:
    """Return the data-frame library of private data, if any; of several pieces the first one decides."""
    things = [data]
    if isinstance(data, list | tuple):
        things += data[:1]
    for thing in things:
        name = type(thing).__module__.partition(".")[0]
        if name in LIBRARIES:
            return name
    return None


def as_frame(columns: Mapping[str, Sequence[Hashable]], library: Any = None) -> Any:
    """Return named columns as a frame of a library, by default of the first that is installed; InputError."""
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name) is not None), None)
        if library is None:
            raise InputError(
                "no data-frame library is installed", fix=f"install one of {list(LIBRARIES)}"
            ).at("library")
    if library not in LIBRARIES:
        raise InputError(
            f"the library is {library!r}", fix=f"write {nearest(library, LIBRARIES)}{did_you_mean(library, LIBRARIES)}"
        ).at("library")
    if find_spec(library) is None:
        raise InputError(
            f"{library} is not installed", fix=f"install it, or use one of {list(LIBRARIES)}"
        ).at("library")
    if library == "duckdb":
        import duckdb

        selected = ", ".join(f'unnest(${number}) as "{name}"' for number, name in enumerate(columns, start=1))
        return duckdb.sql(f"select {selected}", params=list(map(list, columns.values())))
    if library == "pyspark":
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is None:
            fix = "start one, or use another library, to_frame('pandas')"
            raise InputError("there is no running Spark session", fix=fix)
        return session.createDataFrame(list(zip(*columns.values(), strict=True)), list(columns))
    lists = {name: list(values) for name, values in columns.items()}
    module = import_module(library)
    return module.table(lists) if library == "pyarrow" else module.DataFrame(lists)

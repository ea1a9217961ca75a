"""Bounded numbers as whole multiples of a declared grid: sanitise, then bound, then round, the same on every engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame
from takifugu.data.engines.sanitise import is_text, plain, text
from takifugu.data.engines.table import Table
from takifugu.data.values.bins import Bins, Classes, Edge
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.codes import OUTSIDE, UNKNOWN, UNOBSERVED
from takifugu.data.values.texts import NOT_FINITE, NUMBER


def round_half_even(frame: Frame, columns: Sequence[str]) -> Frame:
    """Replace float64 columns by the nearest integers, halves to even.

    Values are below 2**52 in size. Floor is used because the engines' own `round` differ on halves; value - floor is
    exact in float64.
    """
    frame = frame.with_columns(nw.col(c).floor().cast(nw.Int64).alias(f"{c}_below") for c in columns)
    frame = frame.with_columns(
        *((nw.col(c) - nw.col(f"{c}_below").cast(nw.Float64)).alias(f"{c}_rest") for c in columns),
        *((nw.col(f"{c}_below") // 2 * 2 != nw.col(f"{c}_below")).alias(f"{c}_odd") for c in columns),
    )
    up = {c: (nw.col(f"{c}_rest") > 0.5) | ((nw.col(f"{c}_rest") == 0.5) & nw.col(f"{c}_odd")) for c in columns}
    rounded = (nw.col(f"{c}_below") + nw.when(up[c]).then(nw.lit(1)).otherwise(nw.lit(0)) for c in columns)
    frame = frame.with_columns(expression.alias(c) for expression, c in zip(rounded, columns, strict=True))
    return frame.drop(f"{c}_{part}" for c in columns for part in ("below", "rest", "odd"))


def number(role: str, column: str, kind: nw.dtypes.DType, table: Table) -> nw.Expr:
    """Return a picked column as float64, null for all but numbers.

    Raises DataError for a column without numbers.
    """
    value = plain(role, kind)
    if value is None:
        fix = "convert it"
        if isinstance(kind, nw.Duration):
            fix = f"write how many seconds they are: in pandas, frame[{column!r}].dt.total_seconds()"
        raise DataError(f"column {column!r} holds values of type {kind}, which are not numbers", fix=fix).at(column)
    if is_text(kind):
        stripped = table.numerals.plain_in_engine(text(value, table.missing))
        value = nw.when(stripped.str.contains(NUMBER)).then(stripped)
    if isinstance(kind, nw.Boolean):
        value = value.cast(nw.Int64)
    if kind.is_integer():  # not by clip, which takes a missing value for a bound on some engines
        value = nw.when(value > 2**53).then(nw.lit(2**53)).otherwise(value)
        value = nw.when(value < -(2**53)).then(nw.lit(-(2**53))).otherwise(value)
    return value.cast(nw.Float64)


def not_a_number(role: str, kind: nw.dtypes.DType, table: Table) -> nw.Expr | None:
    """Return whether present texts are no number, None without texts."""
    value = plain(role, kind)
    if value is None or not is_text(kind):
        return None
    stripped = table.numerals.plain_in_engine(text(value, table.missing))
    is_word = (stripped.str.contains(NUMBER) | stripped.str.contains(NOT_FINITE)).fill_null(True)
    return ~is_word & ~stripped.is_null()


def in_units(frame: Frame, rules: Mapping[str, Bounded]) -> Frame:
    """Replace float64 columns by multiples of their grids.

    Missing values are replaced first, then all are clipped and rounded.
    """
    values = {role: nw.col(role) for role in rules}
    frame = frame.with_columns(
        nw.when(_is_finite(values[role])).then(values[role]).otherwise(nw.lit(rule.replacement)).alias(role)
        for role, rule in rules.items()
    )
    frame = frame.with_columns(values[role].clip(float(r.low), float(r.high)) for role, r in rules.items())
    frame = frame.with_columns(
        values[role] * float(rule.grid.denominator) / float(rule.grid.numerator) for role, rule in rules.items()
    )
    return round_half_even(frame, list(rules))


def refused(value: nw.Expr, rule: Bounded) -> dict[str, nw.Expr]:
    """Return the "missing" and "outside" values against a column's rule."""
    finite, faults = _is_finite(value).fill_null(False), {}
    if rule.missing is None:
        faults["missing"] = ~finite
    if not rule.clips:
        faults["outside"] = finite & ((value < float(rule.low)) | (value > float(rule.high))).fill_null(False)
    return faults


def number_code(role: str, column: str, kind: nw.dtypes.DType, table: Table, codes: Classes | Bins) -> nw.Expr:
    """Return each number's code, by classes or bins; UNKNOWN for another text."""
    if isinstance(codes, Bins):
        return bin_number(role, column, kind, table, codes).fill_null(UNOBSERVED)
    value = number(role, column, kind, table)
    is_finite = _is_finite(value).fill_null(False)
    code = nw.when(is_finite).then(_reached(value, codes.ends)).otherwise(nw.lit(codes.missing, nw.Int64))
    return _or_unknown(code, not_a_number(role, kind, table))


def bin_number(role: str, column: str, kind: nw.dtypes.DType, table: Table, bins: Bins) -> nw.Expr:
    """Return the bin of each number of a column, null if missing.

    OUTSIDE stands for a number in no bin, UNKNOWN for another text.
    """
    value = number(role, column, kind, table)
    is_inside = (value >= float(bins.edges[0])) & (value <= float(bins.edges[-1]))
    code = nw.when(is_inside).then(_reached(value, bins.edges[1:-1])).otherwise(nw.lit(OUTSIDE, nw.Int64))
    code = nw.when(_is_finite(value).fill_null(False)).then(code)
    return _or_unknown(code, not_a_number(role, kind, table))


def _reached(value: nw.Expr, ends: Iterable[Edge]) -> nw.Expr:
    """Count the ends that a number reaches."""
    return sum(((value >= float(end)).cast(nw.Int64) for end in ends), nw.lit(0, nw.Int64))


def _or_unknown(code: nw.Expr, is_bad: nw.Expr | None) -> nw.Expr:
    return code if is_bad is None else nw.when(is_bad).then(nw.lit(UNKNOWN, nw.Int64)).otherwise(code)


def _is_finite(value: nw.Expr) -> nw.Expr:
    """Return whether numbers are finite.

    One comparison is enough: on no engine are NaN or infinities below infinity in size.
    """
    return value.abs() < float("inf")

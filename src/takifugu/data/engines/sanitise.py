"""Raw columns as integers, by one expression for every engine: texts, states, and numbers on a declared grid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame
from takifugu.data.engines.table import Table
from takifugu.data.values.bins import Bins, Classes, Edge
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.texts import BLANKS, INFINITE, NOT_FINITE, NUMBER, OUTSIDE, UNKNOWN, UNOBSERVED
from takifugu.numbers.rationals import read_fraction


def text(expression: nw.Expr, missing: Iterable[str]) -> nw.Expr:
    """Return a stripped text, null for one of `missing`."""
    stripped = expression.str.strip_chars(BLANKS)
    return nw.when(~stripped.is_in(list(missing))).then(stripped)


def kind_of(frame: Frame, role: str, column: str) -> nw.dtypes.DType:
    """Return a picked column's type; DataError for mixed kinds of values."""
    kind = frame.collect_schema()[role]
    if kind == nw.Object:
        raise DataError(f"column {column!r} mixes kinds of values (texts, numbers, ...)", fix="make it one kind")
    return kind


def is_text(kind: nw.dtypes.DType) -> bool:
    return isinstance(kind, nw.String | nw.Categorical | nw.Enum)


def plain_text(role: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Return a picked column of texts, or of categories, as texts."""
    return nw.col(role) if isinstance(kind, nw.String) else nw.col(role).cast(nw.String)


def plain(role: str, kind: nw.dtypes.DType) -> nw.Expr | None:
    """Return a picked column in a plain type, or None.

    Plain are texts, integers, float64 without NaN, and true or false.
    """
    column = nw.col(role)
    if is_text(kind):
        return plain_text(role, kind)
    if kind.is_float():
        wide = column.cast(nw.Float64)
        return nw.when(~wide.is_nan()).then(wide + 0.0)  # -0.0 becomes 0.0, which is the same number
    if isinstance(kind, nw.Decimal):
        return column.cast(nw.String).cast(nw.Float64) + 0.0
    if kind.is_integer():
        return column.cast(nw.Int64)
    return column if isinstance(kind, nw.Boolean) else None


def key_column(role: str, column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Return the names of units or pieces; DataError for other values.

    A number of 32 bits with a point may be another whole one from 2^24 on, so that it names no unit.
    """
    names = nw.col(role) if isinstance(kind, nw.Date | nw.Datetime) else plain(role, kind)
    is_short = kind.is_float() and kind != nw.Float64
    is_moment = isinstance(kind, nw.Datetime) and kind.time_zone is not None  # whose text depends on a zone
    if names is None or (is_short and role == "unit") or (is_moment and role == "piece"):
        raise DataError(f"column {column!r} holds values of type {kind}, which name nothing", fix="write them as text")
    return names


def state_column(role: str, column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Return raw states; DataError for a column of other values."""
    states = plain(role, kind)
    if kind.is_float():  # NaN is no missing value, and as little a state as infinity, which engines group alike
        wide = nw.col(role).cast(nw.Float64)
        states = nw.when(wide.is_nan()).then(nw.lit(math.inf)).otherwise(wide + 0.0)
    if states is None:
        raise DataError(
            f"column {column!r} holds values of type {kind}, which are no states", fix="write them as text"
        ).at("value")
    return states


def state_code(role: str, kind: nw.dtypes.DType, codes: Mapping[str, int]) -> nw.Expr:
    """Return the number of a raw state, UNOBSERVED if missing, or UNKNOWN.

    Raises DataError for two states of one number or truth value, between which no order of theirs may decide.
    """
    code_of: dict[object, int] = {}
    for name, code in codes.items():
        value = as_kind(name, kind)
        if value is not None and code_of.setdefault(value, code) != code:
            raise DataError(
                f"two states are written as texts that are one value in a column of type {kind}",
                rule="there 1, 01 and 1.0 are one number, and True is true",
                fix="declare one of the texts, or write the column as text",
            ).at("map")
    raw = nw.col(role)
    coded = nw.lit(UNKNOWN)
    if isinstance(kind, nw.Boolean):
        yes, no = (code_of.get(value, UNKNOWN) for value in (True, False))
        coded = nw.when(raw).then(nw.lit(yes)).otherwise(nw.lit(no))
    elif code_of:
        coded = raw.replace_strict(list(code_of), list(code_of.values()), default=UNKNOWN, return_dtype=nw.Int64)
    return nw.when(raw.is_null()).then(nw.lit(UNOBSERVED)).otherwise(coded).cast(nw.Int64)


def as_kind(name: str, kind: nw.dtypes.DType) -> object:
    """Return a text as a value of the column's kind, if possible."""
    if is_text(kind):
        return name
    if isinstance(kind, nw.Boolean):
        return {"true": True, "false": False}.get(name.lower())
    try:
        number = read_fraction(name)
        if not kind.is_integer():
            return float(number)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return int(number) if number.denominator == 1 and abs(number) < 2**63 else None


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

    OUTSIDE stands for a number in no bin, UNKNOWN for NaN or another text.
    """
    value, is_bad = number(role, column, kind, table), None
    if is_text(kind):
        stripped = table.numerals.plain_in_engine(text(plain_text(role, kind), table.missing))
        is_infinite = stripped.str.contains(INFINITE).fill_null(False)
        infinity = nw.when(stripped.str.starts_with("-")).then(nw.lit(-math.inf)).otherwise(nw.lit(math.inf))
        value = nw.when(is_infinite).then(infinity).otherwise(value)
        is_bad = value.is_null() & ~stripped.is_null()
    elif kind.is_float():
        is_bad = nw.col(role).cast(nw.Float64).is_nan().fill_null(False)
    is_inside = (value >= float(bins.edges[0])) & (value <= float(bins.edges[-1]))
    code = nw.when(is_inside).then(_reached(value, bins.edges[1:-1])).otherwise(nw.lit(OUTSIDE, nw.Int64))
    return _or_unknown(nw.when(~value.is_null()).then(code), is_bad)


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

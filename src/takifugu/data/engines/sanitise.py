"""Raw columns as integers, by one expression for every engine: texts without blanks, states as numbers, bounded numbers
on a grid. Missing and non-finite values are replaced before anything is clipped: engines clip NaN differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.data.engines.differences import Frame
from takifugu.data.values.codes import UNKNOWN, UNOBSERVED
from takifugu.data.values.texts import BLANKS
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


def plain(role: str, kind: nw.dtypes.DType) -> nw.Expr | None:
    """Return a picked column in a plain type, or None.

    Plain are texts, integers, float64 without NaN, and true or false.
    """
    column = nw.col(role)
    if is_text(kind):
        return column if isinstance(kind, nw.String) else column.cast(nw.String)
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
    if names is None or (is_short and role == "unit"):
        raise DataError(f"column {column!r} holds values of type {kind}, which name nothing", fix="write them as text")
    return names


def state_column(role: str, column: str, kind: nw.dtypes.DType) -> nw.Expr:
    """Return raw states; DataError for a column of other values."""
    states = plain(role, kind)
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

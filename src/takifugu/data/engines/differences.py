"""The few things that narwhals does not cover, engine by engine: row numbers, neighbours in row order, times, and
bringing a small result to the driver. Everything else is one narwhals expression for all engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import narwhals.stable.v2 as nw

from takifugu.core.errors import DataError
from takifugu.data.engines.sql import quoted

Frame = nw.DataFrame[Any] | nw.LazyFrame[Any]

#: What categories of pandas hold that have one spelling each, so that they are read as texts.
_SPELT_ONCE = ("string", "integer", "interval", "period", "empty")
#: Types of pandas whose numbers with a point have fewer bits than 64.
_SHORT = ("float16", "float32", "Float32")


def wrapped(native: object) -> Frame:
    """Return an engine's own frame as a narwhals frame."""
    frame: Frame = nw.from_native(native)
    return frame


def is_duckdb(frame: Frame) -> bool:
    return frame.implementation.is_duckdb()


def is_spark(frame: Frame) -> bool:
    return frame.implementation.is_spark_like()


def numbered(frame: Frame) -> Frame:
    """Add the column `row`, 0, 1, 2 ... in order."""
    if isinstance(frame, nw.DataFrame):
        return frame.with_row_index("row").with_columns(nw.col("row").cast(nw.Int64))
    if is_duckdb(frame):
        return wrapped(frame.to_native().project("*, row_number() over () - 1 as row"))
    return wrapped(frame.to_native().with_row_index("row")).with_columns(nw.col("row").cast(nw.Int64))


def with_row_before(frame: Frame, columns: Sequence[str]) -> Frame:
    """Add `<column>_before`, the value in the row above, null at first."""
    if isinstance(frame, nw.DataFrame):
        return frame.with_columns(nw.col(c).shift(1).alias(f"{c}_before") for c in columns)
    native = frame.to_native()
    if is_duckdb(frame):
        before = ", ".join(f'lag("{c}") over () as "{c}_before"' for c in columns)
        return wrapped(native.project(f"*, {before}"))
    import polars

    return wrapped(native.with_columns(polars.col(c).shift(1).alias(f"{c}_before") for c in columns))


def with_neighbour(
    frame: Frame, keys: Sequence[str], by: Sequence[str], columns: Sequence[str], after: bool = False
) -> Frame:
    """Add `<column>_before` or `<column>_after` along `by`, null at a piece's ends."""
    places, ending = (-1, "after") if after else (1, "before")
    if isinstance(frame, nw.LazyFrame):
        moves = {f"{c}_{ending}": nw.col(c).shift(places).over(*keys, order_by=by) for c in columns}
        return frame.with_columns(**moves)
    moved = frame.sort(*keys, *by)
    moved = moved.with_columns(nw.col(c).shift(places).alias(f"{c}_{ending}") for c in [*keys, *columns])
    same = reduce(and_, (alike(key, f"{key}_{ending}") for key in keys))
    return moved.with_columns(nw.when(same).then(nw.col(f"{c}_{ending}")).alias(f"{c}_{ending}") for c in columns)


def with_both_ends(frame: Frame) -> Frame:
    """Return each row at `first`, `sign` -1, and `last`."""
    if is_duckdb(frame):
        return wrapped(frame.to_native().project("*, unnest([first, last]) as place, unnest([-1, 1]) as sign"))
    ends = {"first": -1, "last": 1}
    halves = [frame.with_columns(place=nw.col(end), sign=nw.lit(n, nw.Int64)) for end, n in ends.items()]
    return nw.concat(halves)  # type: ignore[type-var]


def with_number_of_text(frame: Frame, column: str, numbers: Mapping[str, int]) -> Frame:
    """Replace a column of DuckDB by its texts' numbers, or null.

    Texts have no control signs. All are joined in one, which is read fast: of a million literals DuckDB would make a
    tree.
    """
    native, texts = frame.to_native(), quoted("\x1f".join(numbers))
    projection = f"unnest(string_split({texts}, chr(31))) as name, unnest({_integers(numbers.values())}) as number"
    pairs = native.limit(0).aggregate("count(*)").project(projection)  # of the same connection
    joined = native.set_alias("facts").join(pairs.set_alias("known"), f"facts.{column}::varchar = known.name", "left")
    return wrapped(joined.project(f"facts.* replace (number as {column})"))


def with_integers_at(frame: Frame, index: str, columns: Mapping[str, Sequence[int]]) -> Frame:
    """Add the integer at each row's index of a list, in DuckDB."""
    added = (f"list_extract({_integers(numbers)}, {index} + 1) as {name}" for name, numbers in columns.items())
    return wrapped(frame.to_native().project(f"*, {', '.join(added)}"))


def _integers(numbers: Iterable[int]) -> str:
    return f"string_split('{','.join(map(str, numbers))}', ',')::bigint[]"


def narrowed(frame: Frame, columns: Sequence[str]) -> Frame:
    """Give DuckDB's small integers four bytes each, to sort less."""
    if not is_duckdb(frame):
        return frame
    narrow = ", ".join(f"{name}::integer as {name}" for name in columns)
    return wrapped(frame.to_native().project(f"* replace ({narrow})"))


def with_rank(frame: Frame, keys: Sequence[str]) -> Frame:
    """Add the column `place`, 0, 1, 2 ... along `tick`, by piece."""
    if isinstance(frame, nw.LazyFrame):
        return frame.with_columns(place=nw.col("tick").cum_count().over(*keys, order_by="tick").cast(nw.Int64) - 1)
    ranked = frame.sort(*keys, "tick").with_row_index("line").with_columns(nw.col("line").cast(nw.Int64))
    return ranked.with_columns(place=nw.col("line") - nw.col("line").min().over(*keys))


def with_running_sum(frame: Frame, keys: Sequence[str], by: str, column: str) -> Frame:
    """Replace an integer column by its running sum along `by`, by piece.

    The rows come back in any order.
    """
    if isinstance(frame, nw.LazyFrame):
        return frame.with_columns(nw.col(column).cum_sum().over(*keys, order_by=by).alias(column))
    summed = frame.sort(*keys, by).with_columns(so_far=nw.col(column).cum_sum())
    summed = summed.with_columns(before=nw.col("so_far") - nw.col(column))
    summed = summed.with_columns(start=nw.col("before").min().over(*keys))
    return summed.with_columns((nw.col("so_far") - nw.col("start")).alias(column)).drop("so_far", "before", "start")


def in_microseconds(frame: Frame, column: str, kind: nw.dtypes.DType) -> Frame:
    """Replace dates or times by whole microseconds since 1970, in UTC."""
    if isinstance(frame, nw.LazyFrame) and is_duckdb(frame):
        cast = "timestamptz" if isinstance(kind, nw.Datetime) and kind.time_zone else "timestamp"
        return wrapped(frame.to_native().project(f'* replace (epoch_us("{column}"::{cast}) as "{column}")'))
    if isinstance(frame, nw.LazyFrame) and is_spark(frame):
        from pyspark.sql import functions as f

        native = frame.to_native()
        if isinstance(kind, nw.Datetime) and kind.time_zone:
            return wrapped(native.withColumn(column, f.unix_micros(f.col(column))))
        # A time without a zone must not pass through the session's zone, which skips and repeats hours.
        time = f.col(column).cast("timestamp_ntz")
        minutes = f.unix_date(time.cast("date")).cast("bigint") * 1440 + f.hour(time) * 60 + f.minute(time)
        seconds = (f.extract(f.lit("SECOND"), time) * 1_000_000).cast("bigint")
        return wrapped(native.withColumn(column, minutes * 60_000_000 + seconds))
    moment = nw.col(column) if isinstance(kind, nw.Datetime) else nw.col(column).cast(nw.Datetime("us"))
    return frame.with_columns(moment.dt.timestamp("us").alias(column))


def is_time_with_offset(frame: Frame, column: str) -> bool:
    """Return whether a column of DuckDB holds times of day with offsets, a type that narwhals does not know."""
    if not isinstance(frame, nw.LazyFrame) or not is_duckdb(frame):
        return False
    native = frame.to_native()
    return str(native.types[native.columns.index(column)]) == "TIME WITH TIME ZONE"


def alike(one: str, other: str) -> nw.Expr:
    """Return whether two keys are the same, missing or not."""
    return (nw.col(one) == nw.col(other)).fill_null(False) | (nw.col(one).is_null() & nw.col(other).is_null())


def typed(frame: Frame) -> Frame:
    """Give pandas columns exact integer types, also beside missing values.

    Categories of numbers, times or truth values are read as these. Numbers with a point stay so where they have 32 bits
    or the last digits of one may be lost. Raises DataError for whole numbers from 2^63 on, which pandas would turn into
    negative ones.
    """
    if frame.implementation.is_pyarrow():
        import pyarrow

        table = frame.to_native()
        return wrapped(table.cast(pyarrow.schema([(field.name, _plain_type(field.type)) for field in table.schema])))
    if not frame.implementation.is_pandas():
        return frame
    native = frame.to_native()
    return wrapped(native.assign(**{name: _typed_column(native[name]) for name in native.columns}))


def _typed_column(column: Any) -> Any:
    """Return a column of pandas with an exact type; raises as `typed`."""
    import pandas

    dtype = column.dtype
    if isinstance(dtype, pandas.ArrowDtype):
        return column.astype(pandas.ArrowDtype(_plain_type(dtype.pyarrow_dtype)))
    if isinstance(dtype, pandas.CategoricalDtype) and dtype.categories.inferred_type not in _SPELT_ONCE:
        column, dtype = column.astype(object), dtype.categories.dtype
    if str(dtype) in _SHORT:
        return column.astype("Float32")
    column = column.convert_dtypes()
    kind = pandas.api.types.infer_dtype(column, skipna=True) if str(column.dtype) == "object" else ""
    if kind == "empty":  # nothing but missing values: pandas 2 keeps them as objects, which it cannot read as texts
        column = column.astype("string")
    elif kind == "date":
        column = pandas.to_datetime(column)
    elif kind == "decimal":
        column = column.astype("float64").convert_dtypes()
    was_inexact = dtype.kind == "f" or kind == "decimal"
    if was_inexact and column.dtype.kind == "i" and (column.abs() >= 2**53).any():
        column = column.astype("Float64")
    if column.dtype.kind == "u" and (column >= 2**63).any():
        raise DataError("a column holds whole numbers from 2^63 on", fix="write its numbers as texts")
    return column


def _plain_type(kind: Any) -> Any:
    """Return the type of a dictionary's values in PyArrow, and others as they are."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        return kind.value_type
    return kind


def with_integer_ticks(frame: Frame) -> Frame:
    """Replace texts `tick` of whole numbers, or missing ones, by exact integers."""
    if frame.implementation.is_pandas_like():
        return wrapped(frame.to_native().astype({"tick": "string"}).astype({"tick": "Int64"}))
    return frame.with_columns(tick=nw.col("tick").cast(nw.Int64))


def settled(frame: Frame, columns: Sequence[str], kind: str = "Int64") -> Frame:
    """Give number columns of pandas exact types beside missing values."""
    if not frame.implementation.is_pandas_like():
        return frame
    native = frame.to_native()
    return wrapped(native.astype({c: kind for c in columns if c in native.columns}))


def collected_in_columns(frame: Frame) -> dict[str, Any]:
    """Bring DuckDB's columns to the driver, as arrays of NumPy."""
    columns: dict[str, Any] = frame.to_native().fetchnumpy()
    return columns


def collected(frame: Frame) -> Iterator[tuple[Any, ...]]:
    """Bring a small result to the driver, as rows of Python's types."""
    native = frame.to_native()
    if isinstance(frame, nw.DataFrame):
        return iter(frame.rows())
    if is_duckdb(frame):
        return iter(native.fetchall())
    if is_spark(frame):
        return map(tuple, native.collect())
    return iter(frame.collect().rows())

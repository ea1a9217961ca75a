"""Small tables in the caller's own data-frame library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.nearest import did_you_mean, nearest

#: The libraries that a table can be returned in; by default the first one installed.
LIBRARIES = ("pandas", "polars", "pyarrow", "duckdb", "pyspark")


def library_of(data: Any) -> str | None:
    """Return the data-frame library of private data, if any.

    Of several pieces, the first one decides.

    >>> library_of([["still"], ["walking"]]) is None
    True
    """
    things = [data]
    if isinstance(data, list | tuple):
        things += data[:1]
    for thing in things:
        name = type(thing).__module__.partition(".")[0]
        if name == "narwhals":
            name = str(thing.implementation.value)
        if name in LIBRARIES:
            return name
    return None


def as_frame(columns: Mapping[str, Sequence[Hashable]], library: Any = None) -> Any:
    """Return named columns as a frame of a data-frame library.

    The result is a pandas, Polars or Spark frame, a PyArrow table or a DuckDB relation; by default, of the first of
    these that is installed. Raises InputError for a library that is unknown or not installed, and for Spark without a
    running session.

    >>> as_frame({"cell": ["still"], "value": [6]}, "polars").rows()
    [('still', 6)]
    """
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

        lists = ", ".join(f'unnest(${number}) as "{name}"' for number, name in enumerate(columns, start=1))
        return duckdb.sql(f"select {lists}", params=list(map(list, columns.values())))
    if library == "pyspark":
        from pyspark.sql import SparkSession

        session = SparkSession.getActiveSession()
        if session is None:
            fix = "start one, or use another library, to_frame('pandas')"
            raise InputError("there is no running Spark session", fix=fix)
        return session.createDataFrame(list(zip(*columns.values(), strict=True)), list(columns))
    import narwhals as nw

    return nw.from_dict({name: list(values) for name, values in columns.items()}, backend=library).to_native()

"""Engines from outside the package: libraries whose tables narwhals does not know, and what makes frames of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.plugins import registered_by
from takifugu.core.registry import Registry
from takifugu.data.engines.faults import BUILT_IN_ENGINES


@dataclass(frozen=True)
class Address:
    """Where a release file says that rows are: a table's name, or a path or URL; other columns need not be read.

    `columns` is None where the release file alone does not tell which columns it reads.
    """

    file: str | None = None
    table: str | None = None
    columns: frozenset[str] | None = None

    def __str__(self) -> str:
        return f"the table {self.table!r}" if self.file is None else repr(self.file)


@dataclass(frozen=True)
class Engine:
    """A library that holds rows: `holds` knows its tables; `frame` makes of one what narwhals knows, reading no row.

    `ordered` says that its rows have an order of their own; where they have none, an order column is required.
    `opened` returns the frame at an address, for `engine` in a release file. Whoever asks again while somebody has the
    frame must get the same rows, whatever is written there meanwhile.

    >>> engine = Engine("mine", holds=lambda data: isinstance(data, frozenset), frame=list)
    >>> engine.holds(frozenset()), engine.ordered
    (True, False)
    """

    name: str
    holds: Callable[[object], bool]
    frame: Callable[[Any], object]
    ordered: bool = False
    opened: Callable[[Address], object] | None = None


_ENGINES: Registry[Engine] = Registry("the engine", {
    "spark": "data.engines.spark:SPARK", "postgres": "data.engines.ibis:POSTGRES",
})


def register(engine: Engine) -> None:
    """Let `open_frame` open an engine's tables; InputError for an unfit one."""
    if not isinstance(engine, Engine) or not callable(engine.holds) or not callable(engine.frame):
        raise InputError(f"{type(engine).__name__} is no engine", fix="give Engine(name, holds, frame)")
    if engine.name in BUILT_IN_ENGINES:
        raise InputError(f"the engine {engine.name!r} is registered already", fix="register it under another name")
    _ENGINES.register(engine.name, engine)


def engine_of(data: object) -> Engine | None:
    """Return the registered engine of the data, if any."""
    return next((engine for engine in map(_ENGINES.find, _ENGINES.names) if engine.holds(data)), None)


def package_of_engine(name: str) -> str:
    """Return the package that an engine comes from, "" for ours."""
    return "" if _ENGINES.is_built_in(name) else registered_by(_ENGINES.find(name).frame)


def opened(name: str, address: Address) -> object:
    """Return the frame at an engine's address; InputError without its library."""
    engine = _ENGINES.find(name)
    if engine.opened is None:
        raise InputError(
            f"the engine {name!r} opens nothing by itself",
            fix="give its table in Python: tf.release_file(..., data=table)",
        ).at("engine")  # fmt: skip
    if (address.file is None) == (address.table is None):
        content = "nothing" if address.file is None else "a table and a file"
        raise InputError(
            f"the engine {name!r} has {content} to open",
            fix='write either table = "catalog.database.name", or file with a path or URL that it reads',
        ).at("table")
    return engine.opened(address)

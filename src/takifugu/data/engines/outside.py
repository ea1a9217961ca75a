"""Engines from outside the package: libraries whose tables narwhals does not know, and what makes frames of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from takifugu.core.errors import InputError
from takifugu.core.registry import Registry
from takifugu.data.engines.faults import BUILT_IN_ENGINES


@dataclass(frozen=True)
class Engine:
    """A library that holds rows: `holds` knows its tables; `frame` makes of one what narwhals knows, reading no row.

    `ordered` says that its rows have an order of their own; where they have none, an order column is required.

    >>> engine = Engine("mine", holds=lambda data: isinstance(data, frozenset), frame=list)
    >>> engine.holds(frozenset()), engine.ordered
    (True, False)
    """

    name: str
    holds: Callable[[object], bool]
    frame: Callable[[Any], object]
    ordered: bool = False


_ENGINES: Registry[Engine] = Registry("the engine", {})


def register(engine: Engine) -> None:
    """Let `open_frame` open the tables of an engine; InputError for a name that is taken, and for what is no engine."""
    if not isinstance(engine, Engine) or not callable(engine.holds) or not callable(engine.frame):
        raise InputError(f"{type(engine).__name__} is no engine", fix="give Engine(name, holds, frame)")
    if engine.name in BUILT_IN_ENGINES:
        raise InputError(f"the engine {engine.name!r} is registered already", fix="register it under another name")
    _ENGINES.register(engine.name, engine)


def engine_of(data: object) -> Engine | None:
    """Return the registered engine that holds the data, if there is one."""
    return next((engine for engine in map(_ENGINES.find, _ENGINES.names) if engine.holds(data)), None)

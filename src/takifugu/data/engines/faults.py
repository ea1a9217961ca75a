"""An engine that fails: named with its version, never with its own words, which quote rows, nor with a column."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType

#: The libraries that hold rows; narwhals, which speaks to all of them, is named only where none of them was reached.
BUILT_IN_ENGINES = ("duckdb", "polars", "pyarrow", "pandas", "pyspark", "ibis")


def engine_failure(error: BaseException) -> tuple[str, str]:
    """Name the engine at fault and the remedy.

    >>> engine_failure(ValueError("a row"))[0]
    'its engine failed (ValueError), which says nothing about the data'
    """
    engine = _engine_of(error)
    if engine is None:
        who, pair = "its engine failed", "narwhals and the engine"
    elif engine == "narwhals":
        who, pair = f"narwhals {_version('narwhals')} failed", "narwhals and the engine"
    else:
        who, pair = f"{engine} {_version(engine)} with narwhals {_version('narwhals')} failed", f"{engine} and narwhals"
    fix = f"install versions that work together (upgrade {pair}), or give the data to another engine"
    return f"{who} ({type(error).__name__}), which says nothing about the data", fix


def is_of_stopped_session(error: BaseException) -> bool:
    """Return whether a stopped session lost parts of PySpark."""
    return isinstance(error, AssertionError | AttributeError) and _engine_of(error) == "pyspark"


def _engine_of(error: BaseException) -> str | None:
    """Return the engine behind an error, by class, import or traceback."""
    modules = [type(error).__module__, getattr(error, "name", None) or "", *reversed(_modules(error.__traceback__))]
    engines = (name.lstrip("_").partition(".")[0] for name in modules if isinstance(name, str))
    return next((name for name in engines if name in (*BUILT_IN_ENGINES, "narwhals")), None)


def _modules(trace: TracebackType | None) -> list[str]:
    modules = []
    while trace is not None:
        modules.append(str(trace.tb_frame.f_globals.get("__name__", "")))
        trace = trace.tb_next
    return modules


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # put beside the program without an installer
        return str(getattr(sys.modules.get(name), "__version__", "of an unknown version"))

"""An engine that fails: named with its version, never with its own words, which quote rows, nor with a column."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from traceback import walk_tb

from takifugu.core.errors import DataError, EngineError, TakifuguError

#: The libraries that hold rows; narwhals, which speaks to all of them, is named only where none of them was reached.
BUILT_IN_ENGINES = ("duckdb", "polars", "pyarrow", "pandas", "pyspark", "ibis")

_ENDED = "belongs to a session that ended", "start again, with a session that stays until the end"
_TOO_LARGE = "holds whole numbers from 2^63 on", "write the column's numbers as texts"
#: Fragments of engines' own messages, and what they mean. The message is never repeated: it quotes rows.
_REASONS = (
    (
        "nvalid unicode",
        "is not UTF-8 text",
        'save it as UTF-8, or declare its encoding, such as encoding = "cp1252"',
    ),
    (
        "Expected Number of Columns",
        "has a row with more or fewer fields than its header",
        "repair the file, and delete what is above the names of its columns",
    ),
    ("CSV", "is not a well-formed CSV file", "check its quotes, separators and line ends"),
    ("GZIP", "is damaged or ends too early", "compress it again"),
    ("No files found", "cannot be read", "check the path"),
    ("Permission denied", "cannot be read (permission denied)", "check who may read it"),
    ("Connection has already been closed", "belongs to a connection that was closed", "keep it open"),
    ("should be created first", *_ENDED),
    ("stopped SparkContext", *_ENDED),
    ("Answer from Java side is empty", *_ENDED),
    ("while sending or receiving", *_ENDED),
    ("Connection refused", *_ENDED),
    (
        "underlying files have been updated",
        "lost a file while it was read",
        "start again when nothing rewrites or removes its files",
    ),
    (
        "Checkpoint block",
        "lost rows with a machine that left the cluster",
        "start again; machines that hold rows must stay until the end",
    ),
    ("conversion from `u64` to `i64`", *_TOO_LARGE),
    ("not in range: 0 to 9223372036854775807", *_TOO_LARGE),
    ("Type UINT64 with value", *_TOO_LARGE),
    ("No space left", "needs more space for temporary files than the disk has", "free some space"),
    ("Out of Memory", "needs more memory than there is", "free some, or use a larger machine"),
)


@contextmanager
def careful(source: str) -> Iterator[None]:
    """Turn an engine's error into a DataError without any data.

    An error without a known rule becomes an EngineError: the engine's fault and not the data's.
    """
    try:
        yield
    except TakifuguError:
        raise
    except MemoryError:
        raise DataError(f"{source} needs more memory than there is", fix="give a file, and install duckdb") from None
    except Exception as error:
        fault = fault_of(source, error)
        if fault is not None:
            raise fault from None
        who, fix = engine_failure(error)
        raise EngineError(f"{source} could not be read", rule=who, fix=fix) from None


def fault_of(source: str, error: Exception) -> DataError | None:
    """Return what is wrong with a source, where an engine's error tells.

    >>> fault_of("the table", ConnectionRefusedError("Connection refused")).what
    'the table belongs to a session that ended'
    """
    text = str(error)
    if isinstance(error, ImportError) or "INTERNAL Error" in text:  # a bug of DuckDB's, reported with its stack
        return None
    for words, problem, fix in _REASONS:
        if words in text:
            return DataError(f"{source} {problem}", fix=fix)
    if isinstance(error, AssertionError | AttributeError) and _engine_of(error) == "pyspark":  # it lost parts
        return DataError(f"{source} {_ENDED[0]}", fix=_ENDED[1])
    return None


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


def _engine_of(error: BaseException) -> str | None:
    """Return the engine behind an error, by class, import or traceback."""
    modules: list[object] = [frame.f_globals.get("__name__") for frame, _ in walk_tb(error.__traceback__)]
    modules += [getattr(error, "name", None), type(error).__module__]
    for module in reversed(modules):
        engine = str(module).lstrip("_").partition(".")[0]
        if engine in (*BUILT_IN_ENGINES, "narwhals"):
            return engine
    return None


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # put beside the program without an installer
        return str(getattr(sys.modules.get(name), "__version__", "of an unknown version"))

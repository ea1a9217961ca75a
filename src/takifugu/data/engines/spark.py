"""Apache Spark for the command line: a table, or a path that Spark reads, by Spark's own configuration."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data.engines.faults import fault_of
from takifugu.data.engines.outside import Address, Engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Frames in use, by session, address and columns.
_PINNED: WeakValueDictionary[tuple[object, ...], DataFrame] = WeakValueDictionary()
#: Sessions that were made here, each with how many frames in use it has.
_MADE: dict[SparkSession, int] = {}
#: Conditions of Spark's for what is not there, as they begin.
_ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND",
           "REQUIRES_SINGLE_PART_NAMESPACE")  # fmt: skip
_TEXTS = ("csv", "tsv", "txt", "json", "jsonl", "ndjson", "xml", "gz", "zip", "xlsx")


def opened(address: Address) -> DataFrame:
    """Return the frame at an address.

    The first scan pins its rows: a lost block is an error. Raises InputError without PySpark, Java or a session, and
    DataError if Spark finds or reads nothing.
    """
    session = _session()
    try:
        with _plain_errors(address):
            return _pinned(session, address)
    finally:
        _stop_unused(session)


def _pinned(session: SparkSession, address: Address) -> DataFrame:
    read = _from_path(session, address.file) if address.file is not None else session.table(str(address.table))
    names = tuple(name for name in read.columns if address.columns is None or name in address.columns)
    key = (id(session), address.file, address.table, names)
    frame = _PINNED.get(key)
    if frame is None:
        # Spark reads a dot in a name as a path, and takes A for a: numbered names are what they say.
        numbered = {f"c{number}": name for number, name in enumerate(read.columns)}
        labels = [label for label, name in numbered.items() if name in names]
        picked = read.toDF(*numbered).select(*labels).toDF(*names)
        frame = _PINNED[key] = picked.localCheckpoint(eager=False)
        if session in _MADE:
            _MADE[session] += 1
            finalize(frame, _let_go, session)
    return frame


def _from_path(session: SparkSession, file: str) -> DataFrame:
    """Return Spark's table at a path of Parquet or ORC."""
    ending = file.rstrip("/*").rpartition("/")[2].rpartition(".")[2].lower()
    if ending in _TEXTS:
        raise InputError(
            f"Spark would read {file!r} otherwise than other engines do", rule="a path holds Parquet or ORC files",
            fix="write it as Parquet, or make it a table of Spark's and name that: table = ...",
        ).at("file")  # fmt: skip
    return session.read.format("orc").load(file) if ending == "orc" else session.read.load(file)


def _session() -> SparkSession:
    """Return the running session, or ours with Spark's configuration."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("the engine 'spark' needs PySpark", fix="pip install 'takifugu[spark]'").at("engine") from None
    try:
        return SparkSession.active()
    except PySparkException:
        pass
    on_this_machine = "SPARK_REMOTE" not in os.environ
    if on_this_machine:
        _check_java()
    try:
        session = SparkSession.builder.appName("takifugu").config("spark.ui.showConsoleProgress", "false").getOrCreate()
        if on_this_machine and session.sparkContext.getConf().get("spark.log.level") is None:
            session.sparkContext.setLogLevel("OFF")  # what Spark logs of a task that failed quotes rows
    except Exception:
        raise InputError(
            "Spark starts no session", rule="its own configuration says where and how it runs",
            fix="try `spark-submit --version` and `pyspark`, with Java 17 or newer, and repair what they say",
        ).at("engine") from None  # fmt: skip
    logging.getLogger().addFilter(_is_of_others)
    _MADE[session] = 0
    return session


def _is_of_others(record: logging.LogRecord) -> bool:
    """Return whether a record is not Py4J's.

    It logs each failed request on the root logger with a traceback, and our own words say what failed.
    """
    return Path(record.pathname).parent.name != "py4j"


def _check_java() -> None:
    """Raise InputError unless Java is where Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    if home:
        place, where = f"JAVA_HOME is {home!r}, which has no bin/java", os.path.join(home, "bin")
    else:
        place, where = "no folder of PATH has it, and JAVA_HOME is not set", None
    if shutil.which("java", path=where) is None:
        raise InputError(
            "the engine 'spark' needs Java", rule=place,
            fix="install Java 17 or newer, or set JAVA_HOME to the folder that it is in",
        ).at("engine")  # fmt: skip


@contextmanager
def _plain_errors(address: Address) -> Iterator[None]:
    """Turn an error of Spark's into one with the address alone."""
    key = "table" if address.file is None else "file"
    try:
        yield
    except TakifuguError:
        raise
    except Exception as error:
        from pyspark.errors import PySparkException

        condition = (error.getCondition() or "") if isinstance(error, PySparkException) else ""
        if condition.startswith(_ABSENT):
            raise DataError(
                f"Spark finds no {str(address).removeprefix('the ')}", rule="it looks where its own configuration says",
                fix="write the name as Spark knows it, or give Spark the settings of its catalog",
            ).at(key) from None  # fmt: skip
        fault = fault_of(str(address), error)
        if fault is not None:
            raise fault.at(key) from None
        raise DataError(
            f"Spark cannot open {address} ({condition or type(error).__name__})",
            fix="try the same in `pyspark`: its own words may quote rows, and are not repeated here",
        ).at(key) from None


def _let_go(session: SparkSession) -> None:
    if session in _MADE:
        _MADE[session] -= 1
        _stop_unused(session)


def _stop_unused(session: SparkSession) -> None:
    """Stop our own session without frames in use."""
    if _MADE.get(session) == 0:
        del _MADE[session]
        with suppress(Exception):  # it may have died, and what failed by that was said
            session.stop()
        logging.getLogger().removeFilter(_is_of_others)


SPARK = Engine("spark", holds=lambda data: False, frame=lambda data: data, opened=opened)

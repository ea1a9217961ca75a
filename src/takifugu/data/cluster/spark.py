"""Apache Spark for the command line: a table, or a path that Spark reads, by Spark's own configuration.

No word of Spark's is repeated: its errors quote rows.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

from takifugu.core.errors import InputError, TakifuguError
from takifugu.data.sql.faults import wrong_data

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: A path, which holds files, and no name of a table.
_PATH = re.compile(r"/|\\\\|\.(parquet|pq|orc)$")
#: Frames in use, by session, place and columns.
_PINNED: WeakValueDictionary[tuple[object, ...], DataFrame] = WeakValueDictionary()
#: Sessions that were made here, each with how many frames in use it has.
_MADE: dict[SparkSession, int] = {}
#: Conditions of Spark's for what is not there, as they begin.
_ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "PATH_NOT_FOUND", "SCHEMA_NOT_FOUND", "CATALOG_NOT_FOUND",
           "REQUIRES_SINGLE_PART_NAMESPACE")  # fmt: skip
_ENDED = "belongs to a session that ended", "start again, with a session that stays until the end"
_LOST = "lost a file while it was read", "start again when nothing rewrites or removes its files"
#: Parts of Spark's messages, and what they mean.
_REASONS = (
    ("should be created first", *_ENDED), ("stopped SparkContext", *_ENDED),
    ("Answer from Java side is empty", *_ENDED), ("while sending or receiving", *_ENDED),
    ("Connection refused", *_ENDED),
    ("underlying files have been updated", *_LOST), ("FileNotFoundException", *_LOST),
    ("Checkpoint block", "lost rows with a machine that left the cluster",
     "start again; machines that hold rows must stay until the end"),
    ("No module named", "is read by a Python that lacks a package",
     "pip install 'takifugu[spark]' on all machines, and set PYSPARK_PYTHON to that Python"),
)  # fmt: skip
_TEXTS = ("csv", "tsv", "txt", "json", "jsonl", "ndjson", "xml", "gz", "zip", "xlsx")


def is_frame_of_spark(data: object) -> bool:
    """Return whether data are a frame of PySpark's, connected or not."""
    return type(data).__module__.partition(".")[0] == "pyspark" and hasattr(data, "mapInArrow")


def opened(place: str, folder: Path, wanted: Callable[[DataFrame], Collection[str]]) -> DataFrame:
    """Return the frame at a path or URL of Parquet or ORC files, or of Spark's table of a name."""
    # `wanted` columns alone are kept. The first scan pins their rows, and all further ones read these, whatever is
    # written meanwhile: a lost block is an error
    session = _session()
    try:
        with plain_errors(place):
            return _pinned(session, place, folder, wanted)
    finally:
        _stop_unused(session)


def _pinned(
    session: SparkSession, place: str, folder: Path, wanted: Callable[[DataFrame], Collection[str]]
) -> DataFrame:
    if place.rstrip("/*").rpartition("/")[2].rpartition(".")[2].lower() in _TEXTS:
        raise InputError(
            f"Spark would read {place!r} otherwise than DuckDB does", rule="a path holds Parquet or ORC files",
            fix='write it as Parquet, or make it a table of Spark\'s and name that: file = "database.table"',
        ).at("file")  # fmt: skip
    read = _from_path(session, place, folder) if _PATH.search(place) else session.table(place)
    chosen = wanted(read)
    names = tuple(name for name in read.columns if name in chosen)
    key = (id(session), place, str(folder), names)
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


def _from_path(session: SparkSession, place: str, folder: Path) -> DataFrame:
    """Return Spark's table at a path or URL; without :// it is a file of this machine, from the release file on."""
    if "://" not in place:
        place = f"file:///{Path(os.path.abspath(folder / place)).as_posix().lstrip('/')}"
    is_orc = place.rstrip("/*").lower().endswith(".orc")
    return session.read.format("orc").load(place) if is_orc else session.read.load(place)


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
        is_local = on_this_machine and str(session.sparkContext.master).startswith("local")
        if is_local and "PYSPARK_PYTHON" not in os.environ:
            session.sparkContext.pythonExec = sys.executable
    except Exception:
        raise InputError(
            "Spark starts no session", rule="its own configuration says where and how it runs",
            fix="try `spark-submit --version` and `pyspark`, with Java 17 or newer, and repair what they say",
        ).at("engine") from None  # fmt: skip
    logging.getLogger().addFilter(_is_of_others)
    _MADE[session] = 0
    return session


def _is_of_others(record: logging.LogRecord) -> bool:
    """Return whether a record is not Py4J's."""
    # which logs each failed request on the root logger with a traceback; our own words say what failed
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
def plain_errors(place: str) -> Iterator[None]:
    """Turn an error of Spark's into one with the place alone."""
    try:
        yield
    except TakifuguError:
        raise
    except Exception as error:
        from pyspark.errors import PySparkException

        condition = (error.getCondition() or "") if isinstance(error, PySparkException) else ""
        if condition.startswith(_ABSENT):
            fix = "write the name as Spark knows it, or a path with a /, or give Spark the settings of its catalog"
            rule = "it looks where its own configuration says"
            raise wrong_data("file", f"Spark finds no {place!r}", rule, fix) from None
        text = str(error)
        for words, problem, fix in _REASONS:
            if words in text:
                raise wrong_data("file", f"{place!r} {problem}", "", fix) from None
        *_, (last, _) = walk_tb(error.__traceback__)
        if isinstance(error, AssertionError | AttributeError) and "pyspark" in str(last.f_globals.get("__name__")):
            raise wrong_data("file", f"{place!r} {_ENDED[0]}", "", _ENDED[1]) from None  # it lost parts
        what = f"Spark cannot read {place!r} ({condition or type(error).__name__})"
        fix = "try the same in `pyspark`: its own words may quote rows, and are not repeated here"
        raise wrong_data("file", what, "", fix) from None


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

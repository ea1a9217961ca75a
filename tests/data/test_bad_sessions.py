"""Engines that are not there, or end in the middle: a clear error, nothing is released, and the ledger stays."""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import polars
import pytest
from click.testing import CliRunner, Result
from tests.support.release_files import believe, publish, release_text, section

from takifugu.cli import main
from takifugu.core.registry import Registry
from takifugu.data import Engine
from takifugu.data.engines import outside
from takifugu.data.relation import spark

FILE = release_text(
    section("[source]", name="minutes", engine="{engine}", table="lake.health.minutes", rows="samples", unit="person",
            order="minute", step=1, value="state", budget=30),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.7, 0.3], [0.6, 0.4]], units_independent=True),
    publish("{name}", "count", states=["walking"], epsilon=1, per="pooled"),
)  # fmt: skip
ROWS = {"person": ["Ana"] * 48 + ["Ben"] * 48, "minute": [*range(48)] * 2, "state": ["still", "walking"] * 48}


class FromSpark(Exception):
    """Stands for an error of PySpark's, which quotes what it read."""

    def __init__(self, condition: str) -> None:
        super().__init__("the row SENTINEL is odd")
        self.condition = condition

    def getCondition(self) -> str:
        return self.condition


def log_as_py4j() -> None:
    """Log on the root what Py4J does where a request fails."""
    file, root = "/lib/py4j/java_gateway.py", logging.getLogger()
    root.handle(root.makeRecord("root", logging.ERROR, file, 1060, "Exception while sending command.", (), None))


class Session:
    """Stands for a session of Spark's that finds no table."""

    condition, is_stopped, is_dead = "", False, False
    sparkContext = SimpleNamespace(getConf=lambda: {"spark.log.level": "OFF"}, master="yarn")

    def table(self, name: str) -> object:
        if self.is_dead:
            log_as_py4j()
            raise ConnectionRefusedError("[Errno 111] Connection refused")
        raise FromSpark(self.condition)

    def stop(self) -> None:
        self.is_stopped = True
        if self.is_dead:
            raise ConnectionRefusedError("[Errno 111] Connection refused")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return the only session of a PySpark that is none."""

    def active() -> object:
        raise FromSpark("NO_ACTIVE_SESSION")

    only = Session()
    builder: Any = SimpleNamespace(getOrCreate=lambda: only)
    builder.appName = builder.config = lambda *words: builder
    errors, sql = ModuleType("pyspark.errors"), ModuleType("pyspark.sql")
    vars(errors)["PySparkException"] = FromSpark
    vars(sql)["SparkSession"] = SimpleNamespace(active=active, builder=builder)
    for name, module in {"pyspark": ModuleType("pyspark"), "pyspark.errors": errors, "pyspark.sql": sql}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(spark, "_MADE", {})
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    return only


@pytest.fixture
def java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, path=None: name)


def release(folder: Path, engine: str, name: str, *words: str) -> Result:
    file = folder / f"{name}.toml"
    file.write_text(FILE.format(engine=engine, name=name))
    return CliRunner().invoke(main, ["release", str(file), *words])


def contents(folder: Path) -> dict[str, bytes]:
    """Return what lies in a folder beside release files."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".toml"]
    return {str(path): path.read_bytes() for path in files if not path.name.endswith(("-wal", "-shm", ".lock"))}


def refused(outcome: Result) -> str:
    """Return the words of a refusal that left no traceback and quoted nothing."""
    assert outcome.exit_code == 2, outcome.output
    assert "SENTINEL" not in outcome.output
    assert "Traceback" not in outcome.output
    assert "No epsilon was spent, and nothing was published" in outcome.output
    return " ".join(outcome.output.split())


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(("home", "words"), [
    (None, "no folder of PATH has it, and JAVA_HOME is not set"), ("", "no folder of PATH has it"),
    ("/nonsense", "JAVA_HOME is '/nonsense', which has no bin/java"),
])  # fmt: skip
def test_java_is_missing(home: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("JAVA_HOME", home)
    outcome = refused(release(tmp_path, "spark", "walking", "--new-ledger"))
    assert f"the engine 'spark' needs Java; {words}" in outcome
    assert "install Java 17 or newer, or set JAVA_HOME to the folder that it is in" in outcome
    assert not contents(tmp_path)


def test_pyspark_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    words = refused(release(tmp_path, "spark", "walking", "--new-ledger"))
    assert "source.engine: the engine 'spark' needs PySpark; pip install 'takifugu[spark]'" in words
    assert not contents(tmp_path)


@pytest.mark.usefixtures("java")
def test_a_session_that_dies_while_it_opens_a_table(
    session: Session, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    session.is_dead = True
    words = refused(release(tmp_path, "spark", "walking", "--new-ledger"))
    assert "source.table: 'lake.health.minutes' belongs to a session that ended; start again" in words
    assert session.is_stopped
    assert not contents(tmp_path)
    assert not caplog.records, "our own words say it"
    log_as_py4j()
    assert len(caplog.records) == 1, "logging is as it was"


@pytest.mark.usefixtures("java")
@pytest.mark.parametrize(("condition", "words"), [
    ("CATALOG_NOT_FOUND", "Spark finds no 'lake.health.minutes'"),
    ("SCHEMA_NOT_FOUND", "Spark finds no 'lake.health.minutes'"),
    ("CONNECT", "Spark cannot read 'lake.health.minutes' (CONNECT)"),
])  # fmt: skip
def test_a_catalog_that_does_not_exist(
    session: Session, tmp_path: Path, condition: str, words: str
) -> None:
    session.condition = condition
    assert words in refused(release(tmp_path, "spark", "walking", "--new-ledger"))
    assert session.is_stopped
    assert not contents(tmp_path)


def dying(scans: list[int], last: int) -> Callable[[object], object]:
    """Return how to open a table of which every scan after the last fails."""

    def scan(rows: polars.DataFrame) -> polars.DataFrame:
        scans[0] += 1
        if scans[0] > last:
            raise ConnectionError("the session that read SENTINEL ended")
        return rows

    rows = polars.LazyFrame(ROWS)
    # An old Polars takes the columns that are asked for as all that `scan` returns.
    table = rows.map_batches(scan, projection_pushdown=False, schema=polars.DataFrame(ROWS).schema)
    return lambda address: table


def test_a_session_that_ends_at_any_scan_spends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "_ENGINES", Registry[Engine]("the engine", {}))
    whole = [0]
    outside.register(Engine("whole", lambda data: False, lambda data: data, opened=dying(whole, 100)))
    assert release(tmp_path, "whole", "first", "--new-ledger").exit_code == 0
    assert whole[0] > 1  # it is read again after the plan
    before = contents(tmp_path)
    for last in range(whole[0]):
        outside.register(Engine(f"dying {last}", lambda data: False, lambda data: data, opened=dying([0], last)))
        assert "could not be read" in refused(release(tmp_path, f"dying {last}", "second"))
        assert contents(tmp_path) == before
    assert release(tmp_path, "whole", "second").exit_code == 0
    assert contents(tmp_path) != before

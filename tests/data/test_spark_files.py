"""A release file opens a table or a path of Spark's itself, pinned for all scans of a command (`make spark`)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.data.test_spark import session  # noqa: F401 (the fixture)
from tests.support.release_files import believe, publish, release_text, section

from takifugu.core.errors import DataError, InputError, SpecError, TakifuguError
from takifugu.data import Layout, Recode, pieces
from takifugu.data.cluster import spark as sessions
from takifugu.data.engines import spark
from takifugu.data.engines.outside import Address
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing.run import release_file

pytestmark = pytest.mark.spark

FILE = release_text(
    section("[source]", name="minutes-study", unit="person", order="minute", value="state", budget=3.0) + "\n{source}",
    believe("markov-chain", states=["still", "walking"], matrix=[[0.7, 0.3], [0.6, 0.4]], units_independent=True),
    publish("walking", "count", states=["walking"], epsilon=0.5, mechanism="quilt-exact"),
)
WALKS = ("i % 3 = 0", "i % 7 = 0")

#: The command line, which loses Java or its file before the n-th time that rows are counted.
DYING = """
import sys
from pathlib import Path
from pyspark import SparkContext
from pyspark.sql.classic.dataframe import DataFrame
from takifugu.cli import main

lost, last, *words = sys.argv[1:]
counted, collect = [], DataFrame.collect

def dying(frame):
    counted.append(frame)
    if len(counted) == int(last) and lost == "java":
        SparkContext._gateway.proc.kill()
        SparkContext._gateway.proc.wait()
    elif len(counted) == int(last):
        Path("minutes.parquet").unlink()
    return collect(frame)

DataFrame.collect = dying
main(words)
"""

Written = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(source: str) -> Path:
        path = tmp_path / "minutes.toml"
        path.write_text(FILE.format(source=source))
        return path

    write_rows(tmp_path, WALKS[0])
    return write


def write_rows(folder: Path, walks: str) -> None:
    rows = f"""select i % 5 as person, i // 5 as minute, if({walks}, 'walking', 'still') as state, 'SENTINEL' as "no.te"
        from range(1000) t(i) order by hash(i)"""
    duckdb.sql(f"copy ({rows}) to '{folder / 'minutes.parquet'}' (format parquet)")


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, with a small Spark of its own."""
    settings = folder / "spark-defaults.conf"
    settings.write_text("spark.master local[2]\nspark.ui.enabled false\nspark.sql.shuffle.partitions 2\n")
    return subprocess.run(
        [sys.executable, *words], env={**os.environ, "SPARK_CONF_DIR": str(folder)}, cwd=folder, text=True,
        capture_output=True, check=False,
    )  # fmt: skip


def counts(path: Path) -> list[tuple[str | None, list[int]]]:
    table = load(path).opened
    assert table is not None
    return counted(table)


def counted(table: Any) -> list[tuple[str | None, list[int]]]:
    recorded = pieces(table, Layout("state", "person", order="minute"), Recode(("still", "walking")))
    return [(piece.unit, piece.counts.tolist()) for piece in recorded]


def test_one_release_from_the_command_line(written: Written, tmp_path: Path) -> None:
    path = written('engine = "spark"\nfile = "minutes.parquet"')
    ran = command(tmp_path, "-m", "takifugu", "release", str(path), "--json")
    assert ran.returncode == 0, ran.stderr
    assert "SENTINEL" not in ran.stdout + ran.stderr
    assert json.loads(ran.stdout)
    assert (tmp_path / "minutes-published" / "walking.csv").exists()


@pytest.mark.parametrize(("lost", "last", "words"), [
    ("java", 2, "belongs to a session that ended: start again"),  # one count is done
    ("rows", 1, "lost a file while it was read: start again when nothing rewrites or removes its files"),
])  # fmt: skip
def test_what_dies_before_it_is_paid_for(lost: str, last: int, words: str, written: Written, tmp_path: Path) -> None:
    path = written('file = "minutes.parquet"')
    release_file(path, new_ledger=True)
    before = (tmp_path / "ledger.db").read_bytes()
    text = written('engine = "spark"\nfile = "minutes.parquet"').read_text()
    path.write_text(text.replace('"walking"\n', '"second"\n', 1))
    ran = command(tmp_path, "-c", DYING, lost, str(last), "release", str(path))
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr
    assert "No epsilon was spent, and nothing was published" in ran.stderr
    assert not {"SENTINEL", "Traceback"} & {*ran.stderr.replace(":", " ").split()}
    assert (tmp_path / "ledger.db").read_bytes() == before
    assert not (tmp_path / "minutes-published" / "second.csv").exists()


def test_java_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session runs before the first test that uses one."""
    for name in ("JAVA_HOME", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="install Java 17"):
        spark.opened(Address(table="minutes"))


@pytest.mark.usefixtures("session")
def test_the_reader_counts_what_duckdb_counts(written: Written) -> None:
    expected = counts(written('file = "minutes.parquet"'))
    assert counts(written('engine = "spark"\nfile = "minutes.parquet"')) == expected
    assert len(expected) == 5


def test_a_table_by_its_name(session: Any, written: Written, tmp_path: Path) -> None:  # noqa: F811
    expected = counts(written('file = "minutes.parquet"'))
    session.read.parquet(str(tmp_path / "minutes.parquet")).createOrReplaceTempView("minutes")
    path = written('engine = "spark"\ntable = "minutes"')
    opened = load(path).opened
    assert opened is not None
    assert counted(opened) == expected
    assert opened.names == ("person", "minute", "state")  # a column that no key names is not pinned
    frame = release_file(path).tables[0]
    assert frame.certificate is not None


@pytest.mark.usefixtures("session")
def test_all_scans_read_the_same_rows(written: Written, tmp_path: Path) -> None:
    path = written('engine = "spark"\nfile = "minutes.parquet"')
    first = load(path)
    before = counted(first.opened)
    write_rows(tmp_path, WALKS[1])
    again = load(path)
    assert counted(first.opened) == counted(again.opened) == before
    assert first.opened is not None
    assert again.opened is not None
    assert first.opened.keeps is again.opened.keeps
    del first, again
    assert counts(path) == counts(written('file = "minutes.parquet"')) != before


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(("source", "words"), [
    ('table = "nocatalog.db.minutes"', "Spark finds no 'nocatalog.db.minutes'"),
    ('table = "nothing"', "Spark finds no 'nothing'"),
    ('file = "nothing.parquet"', "Spark finds no 'file:///"),
    ('file = "nowhere://bucket/minutes"', "Spark cannot read 'nowhere://bucket/minutes'"),
    ('file = "rows.csv"', "otherwise than DuckDB does"),
    ('file = "broken.parquet"', "Spark cannot read"),
    ('table = "a b; drop"', "Spark cannot read"),
])  # fmt: skip
def test_what_cannot_be_opened(
    source: str, words: str, written: Written, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.parquet").write_text("SENTINEL is no Parquet file")
    path = written('engine = "spark"\n' + source)
    with pytest.raises(SpecError) as caught:
        release_file(path)
    (problem,) = caught.value.problems
    assert problem.startswith(f"source.{source.split()[0]}: ")
    assert words in problem
    assert "\n" not in problem
    assert "SENTINEL" not in problem + capfd.readouterr().err
    assert not (tmp_path / "ledger.db").exists()


def test_a_session_that_ends_releases_nothing(session: Any, written: Written, tmp_path: Path) -> None:  # noqa: F811
    """The last test: the session is that of all."""
    path = written('engine = "spark"\nfile = "minutes.parquet"')
    opened = load(path).opened
    assert session not in sessions._MADE  # which is not ours to stop
    session.stop()
    with pytest.raises(TakifuguError, match="belongs to a session that ended") as caught:
        counted(opened)
    assert isinstance(caught.value, DataError)
    assert not (tmp_path / "ledger.db").exists()

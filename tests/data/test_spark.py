"""A Spark frame makes the same integers as every other engine, and its rows stay on the cluster (`make spark`)."""

import os
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pytest
from tests.data.test_engines import KNOWN, NASTY, STATES, TIMES, by_name, exactly, layout, nasty, read_pieces
from tests.data.test_order import START, numbered, written
from tests.data.test_rules import RULES, table
from tests.data.test_rules import STATES as A_AND_B
from tests.data.test_totals import TENTHS, TRAP, as_dict, expected
from tests.releasing import test_tables_by as weekly
from tests.support import engines, frames_oracle
from tests.support.counted_cells import BY, by_hand, columns_of, counts_by_cell, recording
from tests.support.engines import ENGINES, Columns

from takifugu.core.errors import DataError, InputError
from takifugu.data import Bounded, Layout, Lengths, Recode, open_frame, pieces, tally, totals, transitions
from takifugu.data.engines.differences import collected
from takifugu.data.melting import melted
from takifugu.data.rows.order import with_ticks
from takifugu.data.wide import Wide
from takifugu.releasing.publishing.run import release_file

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("takifugu tests")
    settings = {
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.sql.session.timeZone": "Europe/Berlin", "spark.log.level": "OFF",
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    running = builder.getOrCreate()
    yield running
    running.stop()


@pytest.mark.parametrize("at", TIMES)
def test_nasty_rows(session: Any, at: str) -> None:
    rows, columns = nasty(at)
    data, step = engines.spark(session, columns), TIMES[at][2]
    plain = frames_oracle.sequences(
        rows, KNOWN, order=True, step=exactly(step), nulls="unobserved", null_keys="drop", in_rows=False
    )  # fmt: skip
    assert by_name(read_pieces(data, layout(step=step, nulls="unobserved", null_keys="drop"))) == by_name(plain)
    plain = frames_oracle.sequences(
        rows, KNOWN, order=True, nulls="unobserved", null_keys="keep", shortest=2, longest=2, cut=True, in_rows=False
    )  # fmt: skip
    rules = layout(nulls="unobserved", null_keys="keep")
    assert by_name(read_pieces(data, rules, Lengths(2, 2, "cut"))) == by_name(plain)


def test_rows_in_any_order_and_transitions(session: Any) -> None:
    rows, columns = nasty("times")
    mixed: Columns = {name: (kind, values[::-1]) for name, (kind, values) in columns.items()}
    rules = layout(step="1min", nulls="unobserved", null_keys="drop")
    spark, other = (open_frame(f) for f in (engines.spark(session, mixed), ENGINES["duckdb"](columns)))
    for one, same in zip(pieces(spark, rules, STATES), pieces(other, rules, STATES), strict=True):
        assert (one.unit, one.piece, one.observed, one.counts.tolist()) == (
            same.unit, same.piece, same.observed, same.counts.tolist(),
        )  # fmt: skip
    assert transitions(spark, rules, STATES).tolist() == transitions(other, rules, STATES).tolist()
    assert len(rows) == len(NASTY)


@pytest.mark.parametrize("rule", RULES)
def test_spark_refuses_in_the_same_words(session: Any, rule: str, capfd: pytest.CaptureFixture[str]) -> None:
    rows, rules, lengths, words = RULES[rule]
    with pytest.raises(DataError, match=words) as caught:
        pieces(open_frame(engines.spark(session, table(rows))), rules, A_AND_B, lengths)
    assert "SENTINEL" not in str(caught.value)
    assert "SENTINEL" not in capfd.readouterr().err


def test_texts_of_times_are_read_alike(session: Any) -> None:
    moments = [datetime(1, 1, 3), datetime(1900, 2, 28, 23, 59, 59, 999999), datetime(2026, 10, 25, 2, 30)]
    moments.append(datetime(9999, 12, 29))
    texts = [written(m, form) for m in moments for form in ("T.", " ")]
    cut = [m.replace(microsecond=0) if i else m for m in moments for i in range(2)]
    one, other = (
        pieces(open_frame(data), Layout("v", "i", order="t"), Recode(("a",)))
        for data in (
            engines.spark(session, {**numbered("text", texts), "v": ("text", ["a"] * 8)}),
            ENGINES["polars"]({**numbered("text", texts), "v": ("text", ["a"] * 8)}),
        )
    )
    assert [p.counts.tolist() for p in one] == [p.counts.tolist() for p in other] == [[1]] * 8
    assert microseconds(session, "text", texts) == [micros(m) for m in cut]


@pytest.mark.parametrize(("by", "zone"), BY)
def test_counts_by_cells_of_a_calendar(session: Any, by: tuple[str, ...], zone: str | None) -> None:
    rows = recording()
    assert counts_by_cell(open_frame(engines.spark(session, columns_of(rows))), by, zone) == by_hand(rows, by, zone)


def test_a_weekly_file_reads_a_spark_frame_as_it_reads_others(session: Any, tmp_path: Path) -> None:
    rows = weekly.recorded()
    columns: Columns = {
        "who": ("text", [who for who, *_ in rows]), "state": ("text", [state for *_, state in rows]),
        "at": ("zoned", [at.replace(tzinfo=UTC) for _, at, _ in rows]),
    }  # fmt: skip
    path = weekly.written(tmp_path, weekly.LOCAL, rows=rows, local=True)
    ((_, counts),) = weekly.truths(path, engines.spark(session, columns))
    assert {cell: n for cell, n in counts.items() if n} == weekly.by_hand(rows, ("hour",), weekly.ZONE)
    (published,) = release_file(path, engines.spark(session, columns), anyway=True).tables
    assert published.certificate is not None


def micros(moment: datetime) -> int:
    return (moment.replace(tzinfo=START.tzinfo) - START) // timedelta(microseconds=1)


def microseconds(session: Any, kind: str, values: list[Any]) -> list[int]:
    opened = open_frame(engines.spark(session, numbered(kind, values)))
    frame = opened.pick({"tick": "t", "i": "i"})
    typed = nw.Datetime("us") if kind == "text" else frame.collect_schema()["tick"]
    frame, _, _ = with_ticks(frame, "t", None, typed, kind == "text")
    return [tick for _, tick in sorted(collected(frame.select("i", "tick")))]


def test_clock_times_that_the_sessions_zone_skips(session: Any) -> None:
    """02:30 does not exist in Berlin on 2026-03-29: a time without a zone must not pass through the session's."""
    times = [datetime(2026, 3, 29, hour, minute) for hour in range(5) for minute in (0, 30)]
    data = engines.spark(session, {"t": ("time", times), "v": ("text", ["a"] * 10)})
    (piece,) = pieces(open_frame(data), Layout("v", order="t", step="30s"), Recode(("a",)))
    assert piece.length == 9 * 60 + 1
    old = [datetime(1, 1, 3), datetime(1899, 12, 31, 23, 59, 59, 999999)]
    assert microseconds(session, "time", times + old) == [micros(m) for m in times + old]
    days = [date(1, 1, 3), date(1969, 12, 31), date(2026, 3, 29)]
    assert microseconds(session, "date", days) == [micros(datetime(d.year, d.month, d.day)) for d in days]


def test_totals(session: Any) -> None:
    data = engines.spark(session, TRAP)
    assert as_dict(data, TENTHS, null_keys="keep") == expected(TRAP, TENTHS, drop=False)
    texts = engines.spark(session, {"x": ("text", ["2.5", "", "1e999", "SENTINEL"])})
    with pytest.raises(DataError, match="no numbers") as caught:
        totals(open_frame(texts), [Bounded("x", 0, 5, 1, missing=0)])
    assert "SENTINEL" not in str(caught.value)


def test_names_that_spark_reads_otherwise(session: Any) -> None:
    data = engines.spark(session, {"a.b": ("text", ["x"]), "A`": ("text", ["y"]), "t": ("date", [date(2026, 1, 1)])})
    opened = open_frame(data)
    assert opened.names == ("a.b", "A`", "t")
    (piece,) = pieces(opened, Layout("a.b", order="t"), Recode(("x", "y")))
    assert piece.counts.tolist() == [1, 0]
    with pytest.raises(InputError, match=r"did you mean 'a\.b'"):
        opened.require(["A.b"], known=["A.b", "t"])
    with pytest.raises(DataError, match="keeps no order of its rows"):
        pieces(opened, Layout("a.b"), Recode(("x",)))


@pytest.mark.parametrize("empty", [(), ("walking",)])
def test_a_column_a_step(session: Any, empty: tuple[str, ...]) -> None:
    columns: Columns = {
        "who": ("text", ["a", "b"]), "2026-01-05 00:00:00.5": ("text", ["still", None]),
        "2026-01-05 00:00:01.5": ("text", [" ", "walking"]), "more": ("int", [1, 2]),
    }  # fmt: skip
    how = Wide(("2026-*",), "at", "state", ("who",), ("more",), empty=empty)
    rules = Layout("state", "who", order="at", step="1s", nulls="unobserved")
    read = [pieces(melted(open_frame(make(columns)), how), rules, STATES)
            for make in (lambda c: engines.spark(session, c), ENGINES["duckdb"])]  # fmt: skip
    spark, other = ([(p.unit, p.length, p.observed, p.counts.tolist()) for p in one] for one in read)
    assert spark == other


def test_rows_stay_on_the_cluster(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand rows of three pieces: a few rows per piece and state come back, not the rows."""
    from pyspark.sql import functions as f

    state = f.when(f.col("id") % 2 == 0, "a").otherwise("b").alias("v")
    data = session.range(10_000).select((f.col("id") % 3).alias("u"), f.col("id").alias("t"), state)
    brought = []
    collect = type(data).collect

    def counted(frame: Any) -> Any:
        rows = collect(frame)
        brought.append(len(rows))
        return rows

    monkeypatch.setattr(type(data), "collect", counted)
    for forbidden in ("toPandas", "toArrow", "toLocalIterator"):
        monkeypatch.setattr(type(data), forbidden, None)
    recorded = pieces(open_frame(data), Layout("v", "u", order="t", step=3), Recode(("a", "b")))
    assert [(p.unit, p.length, p.counts.tolist()) for p in recorded] == [
        ("0", 3334, [1667, 1667]), ("1", 3333, [1666, 1667]), ("2", 3333, [1667, 1666]),
    ]  # fmt: skip
    assert sum(brought) <= 3 * 2 + 1


def test_one_scan_brings_counts_and_no_rows(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 50
    walks: Columns = {
        "who": ("text", ["a", "b"] * steps), "at": ("int", [i // 2 for i in range(2 * steps)]),
        "state": ("text", ["s", "w", "w"] * (2 * steps // 3) + ["s"] * (2 * steps % 3)),
    }  # fmt: skip
    frame, looks = engines.spark(session, walks), list[int]()
    kind = type(frame)
    plain = kind.collect

    def counted(self: Any) -> Any:
        rows = plain(self)
        looks.append(len(rows))
        return rows

    monkeypatch.setattr(kind, "collect", counted)
    for other in ("toPandas", "toLocalIterator", "toArrow", "take", "head"):
        monkeypatch.setattr(kind, other, None, raising=False)
    states = Recode(("s", "w"))
    recorded = pieces(open_frame(frame), Layout("state", "who", order="at", step=1), states)
    assert sum(int(piece.counts.sum()) for piece in recorded) == 2 * steps
    assert looks == [4, 1]  # a row for each unit and state, and whether any two of one unit tie
    looks.clear()
    assert sum(tally(open_frame(frame), {"who": {"a": 0, "b": 1}, "state": states.codes}).values()) == 2 * steps
    assert looks == [4]

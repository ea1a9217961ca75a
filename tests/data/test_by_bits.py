"""One pass over DuckDB's rows says what the careful reading says, or leaves them to it."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import engines

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data import Layout, Lengths, Recode, open_frame, pieces
from takifugu.data.rows.by_bits import counted_by_bits
from takifugu.data.rows.pieces import NotPlain
from takifugu.data.rows.reader import Rows
from takifugu.data.times.calendar import Calendar

duckdb = pytest.importorskip("duckdb")
STATES = Recode(("a", "b"))
Row = tuple[str, int | None, str | None]


def relation(rows: list[Row], ordered_by: str = "int") -> Any:
    units, ticks, states = (list(column) for column in zip(*rows, strict=True))
    if ordered_by == "text":
        ticks = [None if tick is None else str(tick) for tick in ticks]
    return engines.relation({"unit": ("text", units), "tick": (ordered_by, ticks), "state": ("text", states)})


def answer(table: Any, layout: Layout, **how: Any) -> Any:
    """Return everything that is read, or what is said of it."""
    try:
        read = pieces(table, layout, STATES, **how)
    except TakifuguError as error:
        return type(error), str(error)
    return [(p.unit, p.length, p.observed, p.counts.tolist(), p.written) for p in read]


def carefully_read(table: Any, layout: Layout, **how: Any) -> Any:
    """Return what the careful reading says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("takifugu.data.rows.by_bits.counted_by_bits", lambda *_: None)
        return answer(table, layout, **how)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Row], int]:
    """Rows of a few units: mostly whole runs, with rows that are missing, double, between two steps, or unknown."""
    step, rows = draw(st.sampled_from([1, 3])), []
    for unit in draw(st.sampled_from([["u"], ["u", "v"], ["v", " v", "u"], ["u1", "u2"], ["u1", "Total"]])):
        start, size = draw(st.integers(-3, 40)) * draw(st.sampled_from([1, step])), draw(st.integers(1, 9))
        ticks = [start + step * n for n in range(size)]
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            change, place = draw(st.sampled_from(["drop", "double", "move"])), draw(st.integers(0, len(ticks) - 1))
            if change == "drop" and len(ticks) > 1:
                ticks.pop(place)
            else:
                ticks[place] = ticks[0] if change == "double" else ticks[place] + 1
        rows += [(unit, tick, draw(st.sampled_from("ab"))) for tick in ticks]
    strange = draw(st.sampled_from([None, None, None, ("u", None, "a"), ("u", 7, None), ("u", 7, "x")]))
    return draw(st.permutations(rows if strange is None else [*rows, strange])), step


@settings(max_examples=90)
@given(tables(), st.sampled_from([{}, {"longest": 4, "longer": "cut"}, {"shortest": 3}]), st.booleans(), st.booleans())
def test_it_reads_what_the_careful_reading_reads(drawn: Any, lengths: Any, as_text: bool, unobserved: bool) -> None:
    rows, step = drawn
    nulls = "unobserved" if unobserved else "refuse"
    layout = Layout("state", unit="unit", order="tick", step=step, nulls=nulls)
    table, how = open_frame(relation(rows, "text" if as_text else "int")), {"lengths": Lengths(**lengths)}
    assert answer(table, layout, **how) == carefully_read(table, layout, **how)


@pytest.mark.slow
@settings(max_examples=60)
@given(tables(), st.integers(0, 5), st.sampled_from(["hidden", "public"]))
def test_windows_of_a_calendar(drawn: Any, first: int, gaps: str) -> None:
    rows, _ = drawn
    rows = [(unit, tick, state) for unit, tick, state in rows if tick is not None and 0 <= tick < 40] or [("u", 0, "a")]
    calendar, window = Calendar.read(0, 40, Fraction(1)), range(first, first + 7)
    layout = Layout("state", unit="unit", order="tick", step=1, calendar=calendar, window=window, gaps=gaps)
    table = open_frame(relation(rows))
    assert answer(table, layout) == carefully_read(table, layout)


def complete(size: int) -> list[Row]:
    return [(unit, tick, "ab"[tick % 2]) for unit in "uvw" for tick in range(size)]


def by_bits(data: Any, step: int = 1) -> Rows:
    counted = counted_by_bits(open_frame(data), Layout("state", unit="unit", order="tick", step=step), STATES)
    assert counted is not None
    return counted.rows()


@pytest.mark.parametrize("name", ["Total", "Summe", "sum:", "Grand total"])
def test_totals_are_nobody_however_plain_their_rows_are(name: str) -> None:
    rows = [(unit, tick, "a") for unit in ("u1", name) for tick in range(5)]
    with pytest.raises(DataError, match="name of totals"):
        pieces(open_frame(relation(rows)), Layout("state", unit="unit", order="tick", step=1), STATES)


def test_a_state_that_is_a_missing_text_is_refused_whether_or_not_a_row_has_it() -> None:
    table = open_frame(relation(complete(5)), missing=["NA"])
    with pytest.raises(InputError, match="'NA' is also a text that counts as missing"):
        pieces(table, Layout("state", unit="unit", order="tick", step=1), Recode(("a", "b", "NA")))


def test_what_is_plain_takes_one_pass(tmp_path: Path) -> None:
    assert by_bits(relation(complete(50)[::-1])).runs == {(unit, None): (range(50),) for unit in "uvw"}
    rows, runs = [row for row in complete(50) if row[1] not in {3, 4, 20}], (range(3), range(5, 20), range(21, 50))
    for data in (relation(rows), parquet(tmp_path, rows)):
        assert by_bits(data).runs == {(unit, None): runs for unit in "uvw"}


@settings(max_examples=40)
@given(
    st.sampled_from([1, 3]), st.integers(-5000, 5000), st.sampled_from([6, 8, 10]),
    st.lists(st.tuples(st.integers(1, 1500), st.integers(0, 1500)), min_size=1, max_size=5), st.booleans(),
)  # fmt: skip
def test_runs_reach_over_stretches(step: int, start: int, bits: int, drawn: Any, double: bool) -> None:
    """Runs and the gaps between them, some longer than a stretch; one step that occurs twice is refused."""
    runs, place = list[range](), 0
    for size, gap in drawn:
        if runs and runs[-1].stop == place:
            runs[-1] = range(runs[-1].start, place + size)
        else:
            runs.append(range(place, place + size))
        place += size + gap
    rows: list[Row] = [("u", start + step * n, "ab"[n % 2]) for run in runs for n in run]
    rows += [("u", rows[-1][1], "ab"[len(rows) % 2])] if double else []
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("FEWEST", "MOST"):
            patch.setattr(f"takifugu.data.rows.by_bits.{limit}", bits)
        if double:
            with pytest.raises(NotPlain):
                by_bits(relation(rows), step)
        else:
            assert by_bits(relation(rows), step).runs == {("u", None): tuple(runs)}


TWICE = [{5: 6, 7: 6}, {5: 7, 9: 7}, {10: 25, 40: 25}]
LOST = [{5: None, 7: None}, {5: None, 6: None}, {0: None, 1: None}]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("moved", [*TWICE, *LOST])
def test_steps_that_occur_twice_or_are_lost_are_seen(moved: dict[int, int | None]) -> None:
    """As many rows as steps, the same first and last one, and the same sum of the steps: only their bits differ."""
    rows = [(unit, moved.get(tick, tick), state) for unit, tick, state in complete(50)]
    with pytest.raises(NotPlain):
        by_bits(relation(rows))


MINUTES = [f"2026-01-01 00:{m:02}:00" for m in (0, *range(2, 60))]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text", ["2026-01-01 00:01:00", "2026-01-01T00:01:00", "2026-01-01 00:01:00+00:00", "2026/01/01 00:01"]
)
def test_times_that_are_written_otherwise_are_read_as_ever(tmp_path: Path, text: str) -> None:
    are_read_as_ever(tmp_path / "times.csv", [*(f"u,{minute},a" for minute in MINUTES), f"u,{text},b"], "1min")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("number", ["007", "+7", "7.0", " 7", "7e0", "0x7", "", "-0"])
@pytest.mark.parametrize("missing", [{7}, {7, 100}])
def test_numbers_that_are_written_otherwise_are_read_as_ever(tmp_path: Path, number: str, missing: set[int]) -> None:
    rows = [f"u,{n},a" for n in range(150) if n not in missing]
    are_read_as_ever(tmp_path / "numbers.csv", [*rows, f"u,{number},b"], 1)


def are_read_as_ever(file: Path, rows: list[str], step: str | int) -> None:
    file.write_text("\n".join(["unit,at,state", *rows]) + "\n")
    layout = Layout("state", unit="unit", order="at", step=step)
    assert answer(open_frame(file), layout) == carefully_read(open_frame(file), layout)


def parquet(folder: Path, rows: list[Row], ordered_by: str = "bigint") -> Path:
    """Write rows as a Parquet file; ticks may be written as times, one minute each."""
    file, tick = folder / "rows.parquet", "timestamp '2026-01-01' + to_minutes(tick)"
    relation(rows).project(f"unit, {tick if ordered_by == 'timestamp' else 'tick'} as tick, state").write_parquet(
        str(file)
    )
    return file


@settings(max_examples=60)
@given(tables(), st.sampled_from(["bigint", "timestamp"]), st.sampled_from([{}, {"longest": 4, "longer": "cut"}]))
def test_a_parquet_file_is_read_as_the_careful_reading_reads_it(
    tmp_path_factory: pytest.TempPathFactory, drawn: Any, ordered_by: str, lengths: Any
) -> None:
    rows, step = drawn
    file = parquet(tmp_path_factory.mktemp("rows"), rows, ordered_by)
    layout = Layout("state", unit="unit", order="tick", step=step if ordered_by == "bigint" else f"{step}min")
    how = {"lengths": Lengths(**lengths)}
    assert answer(open_frame(file), layout, **how) == carefully_read(open_frame(file), layout, **how)


def test_pieces_of_a_parquet_file_lie_where_they_like(tmp_path: Path) -> None:
    rows: list[Row] = [*(("u", 3 * n - 9, "a") for n in (0, 1, 3)), *(("v", 3 * n + 40, "b") for n in range(4))]
    known = by_bits(parquet(tmp_path, rows), step=3)
    assert known.runs == {("u", None): (range(2), range(3, 4)), ("v", None): (range(4),)}
    assert {key: [(fact.low, fact.high) for fact in some] for key, some in known.grouped.items()} == {
        ("u", None): [(-9, 0)],
        ("v", None): [(40, 49)],
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change", [("u", 5, "a"), ("u", 5, "b"), ("u", None, "a"), ("u", 7, None), ("x" * 300, 5, "a")]
)
def test_what_bits_do_not_say_is_left_to_the_careful_reading(tmp_path: Path, change: Row) -> None:
    rows = [row for row in complete(50) if row[:2] != ("u", 7)]
    with pytest.raises(NotPlain):
        by_bits(parquet(tmp_path, [*rows, change]))


FAR_APART: list[Row] = [(unit, 10_000 * n, "a") for unit in "uv" for n in range(3)]


@pytest.mark.parametrize(("limit", "most", "rows"), [
    pytest.param("MOST_BITS", 2**6, FAR_APART, id="too many stretches that hold a row"),
    pytest.param("MOST_BITS", 2**14, FAR_APART, id="too many steps between the first row and the last one"),
    pytest.param("MOST_BYTES", 1000, complete(50), id="too much memory"),
])  # fmt: skip
def test_what_lies_far_apart_or_takes_much_memory_is_left_to_the_careful_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, rows: list[Row]
) -> None:
    file, layout = parquet(tmp_path, rows), Layout("state", unit="unit", order="tick", step=1)
    expected = carefully_read(open_frame(file), layout)
    assert by_bits(file).runs["u", None] in (tuple(range(n, n + 1) for n in (0, 10_000, 20_000)), (range(50),))
    monkeypatch.setattr(f"takifugu.data.rows.by_bits.{limit}", most)
    with pytest.raises(NotPlain):
        by_bits(file)
    assert answer(open_frame(file), layout) == expected

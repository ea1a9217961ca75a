"""Rows that `where` or `sql` leaves out by what is hidden: which ones decides about no refusal, and they are not there.

Coverage is declared, so that names, lengths and gaps tell nothing; a refusal would tell one bit to whoever waits for a
table. Each test compares tables that differ in hidden values alone.
"""

import random
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.data.relation.test_cluster import Frame

from takifugu.core.errors import InputError, TakifuguError
from takifugu.data.cluster.counting import opened_cluster
from takifugu.data.relation.counts import Counts
from takifugu.data.relation.reading import reading
from takifugu.data.relation.source import Table, opened_table

STATES = ("x", "y")
HIDDEN = ("x", "y", "n", "odd")
KEYS: dict[str, Any] = {"unit": "id", "order": "t", "value": "v", "step": 2, "where": "v IN ('x', 'y')"}
COVERED: dict[str, Any] = {"from": 0, "until": 20, "gaps": "hidden", "roster": ["A", "B"]}
#: The keys of each kind of rows.
OF_KINDS: dict[str, dict[str, Any]] = {
    "samples": {}, "changes": {"rows": "changes"}, "changes, with a state before": {"rows": "changes",
        "default_state": "y"},
    "stays": {"rows": "stays", "end": "u"}, "stays, else y": {"rows": "stays", "end": "u", "default_state": "y"},
    "events": {"rows": "events", "default_state": "x"},
}  # fmt: skip
Row = tuple[str, int, int | None, str]


def frame_of(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    kinds = {"id": pa.string(), "t": pa.int64(), "u": pa.int64(), "v": pa.string()}
    return pa.table({name: pa.array(column, kinds[name]) for name, column in zip(kinds, columns, strict=True)})


def opened(keys: dict[str, Any], rows: list[Row], folder: Path, is_cluster: bool = False) -> Table:
    frame = frame_of(rows)
    if is_cluster:
        return opened_cluster(keys, STATES, folder, Frame(frame))
    return opened_table(keys, STATES, folder, frame)


def facts_of(counts: Counts) -> tuple[Any, ...]:
    """Return all that counts hold."""
    runs, cells = [column.tolist() for column in counts.runs], counts.by_cell
    return (
        [names.tolist() for names in counts.names], counts.lengths.tolist(), counts.complete.tolist(), runs,
        counts.counts.tolist(), None if cells is None else cells.tolist(),
    )  # fmt: skip


@pytest.mark.sampled(7)
@pytest.mark.parametrize("is_cluster", [False, True])
@pytest.mark.parametrize("kind", OF_KINDS)
def test_no_row_may_be_left(kind: str, is_cluster: bool, tmp_path: Path) -> None:
    """Two tables one hidden value apart: with the only row that counts, and without it."""
    keys = KEYS | COVERED | OF_KINDS[kind]
    seen = [
        opened(keys, [("A", 4, 8, value), ("B", 2, 4, "n")], tmp_path, is_cluster).counts() for value in ("x", "n")
    ]
    assert facts_of(seen[0])[:4] == facts_of(seen[1])[:4]
    filled = [[10, 0], [0, 10]]["default_state" in keys and STATES.index(keys["default_state"])]
    assert seen[1].counts.tolist() == [filled if "default_state" in keys else [0, 0]] * 2


@pytest.mark.mutants
def test_no_row_of_sql_may_be_left(tmp_path: Path) -> None:
    keys = {key: value for key, value in (KEYS | COVERED).items() if key != "where"}
    for kind, more in OF_KINDS.items():
        for value in ("x", "n"):
            (tmp_path / "a.csv").write_text(f"id,t,u,v\nA,4,8,{value}\nB,2,4,n\n")
            sql = "select * from read_csv('a.csv') where v <> 'n'"
            with opened_table({**keys, **more, "sql": sql}, STATES, tmp_path) as source:
                counts = source.counts()
            assert facts_of(counts)[:2] == ([["A", "B"], ["", ""]], [10, 10]), kind
    with opened_table({**keys, "sql": sql, "unit": None, "roster": None}, STATES, tmp_path) as source:
        assert facts_of(source.counts())[1:5] == ([10], [True], [[], [], []], [[0, 0]])
        assert source.counts(range(2, 5), ()).lengths.tolist() == [3]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("times", ["numbers", "texts", "clocks", "moments"])
@pytest.mark.parametrize("how", ["arrow", "categories"])
def test_that_all_is_missing_is_no_fault_of_a_type(how: str, times: str, tmp_path: Path) -> None:
    """A frame has no type where it has no value: of stays that all go on, and of states that nobody noted."""
    clocks = [datetime(2026, 3, 2, 4), datetime(2026, 3, 2, 2)]
    of_times = {
        "numbers": pa.array([4, 2]), "texts": pa.array([clock.isoformat() for clock in clocks]),
        "clocks": pa.array(clocks, pa.timestamp("us")), "moments": pa.array(clocks, pa.timestamp("us", "UTC")),
    }[times]  # fmt: skip
    dated = {"step": "1h", "from": "2026-03-02", "until": "2026-03-03"}
    calendar: dict[str, Any] = dated if times != "numbers" else {"step": 1}
    zone = {"timezone": "UTC"} if times == "moments" else {}
    nothing = pa.nulls(2) if how == "arrow" else pa.DictionaryArray.from_arrays(pa.nulls(2, pa.int8()), pa.nulls(0))
    keys = {key: value for key, value in (KEYS | COVERED | calendar | zone).items() if key != "where"}
    frames = [pa.table({"id": ["A", "B"], "t": of_times, "u": u, "v": ["x", "y"]}) for u in (nothing, of_times)]
    one, other = (opened_table({**keys, "rows": "stays", "end": "u"}, STATES, tmp_path, frame) for frame in frames)
    assert one.counts().counts.tolist() == ([[16, 0], [0, 18]] if times == "numbers" else [[20, 0], [0, 22]])
    assert reading(one.opened) == reading(other.opened)
    for states, noted in ((STATES, ["x", "y"]), (("0", "1"), [0, 1]), (("false", "true"), [False, True])):
        unseen = [frames[0].set_column(3, "v", some) for some in (nothing, pa.array(noted))]
        one, other = (opened_table({**keys, "nulls": "unobserved"}, states, tmp_path, frame) for frame in unseen)
        assert one.counts().counts.tolist() == [[0, 0], [0, 0]]
        assert reading(one.opened) == reading(other.opened)


def test_an_empty_file_is_refused_as_ever(tmp_path: Path) -> None:
    """Whether a file has rows is no value: without any it is a mistake."""
    for is_cluster in (False, True):
        with pytest.raises(TakifuguError, match="there are no rows"):
            opened(KEYS | COVERED, [], tmp_path, is_cluster).counts()


#: Rows of A, of which the hidden value is the first one's, against the rules about rows, by kinds.
BROKEN: dict[str, tuple[str, list[Row]]] = {
    "tie": ("samples", [("A", 4, None, "?"), ("A", 4, None, "y")]),
    "between steps": ("samples", [("A", 5, None, "?"), ("A", 4, None, "y")]),
    "outside": ("samples", [("A", 40, None, "?"), ("A", 4, None, "y")]),
    "stranger": ("samples", [("C", 4, None, "?"), ("A", 4, None, "y")]),
    "blanks around": ("samples", [("A ", 4, None, "?"), ("A", 4, None, "y")]),
    "overlap": ("stays", [("A", 4, 9, "?"), ("A", 6, 12, "y")]),
    "open": ("stays", [("A", 4, None, "?"), ("A", 6, 12, "y")]),
    "backwards": ("stays", [("A", 4, 2, "?"), ("A", 6, 12, "y")]),
    "tie ": ("events", [("A", 4, 2, "?"), ("A", 5, 12, "y")]),
    "outside ": ("changes", [("A", 0, 0, "x"), ("A", 40, 2, "?")]),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("is_cluster", [False, True])
@pytest.mark.parametrize("cause", BROKEN)
def test_rules_about_rows_hold_for_all_of_them_whatever_counts(cause: str, is_cluster: bool, tmp_path: Path) -> None:
    kind, rows = BROKEN[cause]
    lines = set[str]()
    for value in ("x", "n", "odd"):
        written = [(name, t, u, value if v == "?" else v) for name, t, u, v in rows]
        with pytest.raises(TakifuguError) as error:
            opened(KEYS | COVERED | OF_KINDS[kind], written, tmp_path, is_cluster).counts()
        assert getattr(error.value, "cause", "") == cause.strip()
        lines.add(error.value.line)
    assert len(lines) == 1


def test_what_where_says_of_other_columns_leaves_rows_out_as_ever(tmp_path: Path) -> None:
    """Messages propose it, and it shows nothing."""
    rows = [("A", 4, 8, "x"), ("A", 40, 44, "y"), ("C", 6, 8, "n"), ("B", 6, 8, "n")]
    keys = KEYS | COVERED | {"where": "v IN ('x', 'y') AND t < 20 AND id <> 'C'"}
    assert opened(keys, rows, tmp_path).counts().counts.tolist() == [[1, 0], [0, 0]]
    assert opened(keys, rows[1:], tmp_path).left_out()[1] == 3
    frame = pa.table({"id": ["A", "A"], "t": [4, 6], "fl ag": [True, False]})
    keys |= {"where": "fl ag", "value": "CASE WHEN \"fl ag\" THEN 'x' ELSE 'y' END"}
    assert opened_table(keys, STATES, tmp_path, frame).counts().counts.tolist() == [[1, 0], [0, 0]]


def test_a_recording_is_not_covered(tmp_path: Path) -> None:
    """Which recordings there are is public, and no roster names them."""
    keys = {**KEYS, **COVERED, "unit": None, "roster": None, "recording": "id"}
    with pytest.raises(InputError, match="which rows there are depends on 'v', as value does"):
        opened(keys, [("A", 4, 8, "x"), ("B", 2, 4, "n")], tmp_path)
    assert opened({**keys, "where": "id <> 'B'"}, [("A", 4, 8, "x"), ("B", 2, 4, "n")], tmp_path).counts()


def random_rows(chance: random.Random) -> list[Row]:
    """Return rows against no rule: some people, each with ordered stays that do not overlap."""
    rows = list[Row]()
    for name in "AB":
        ticks = sorted(chance.sample(range(0, 20, 2), 2 * chance.randint(1, 4)))
        rows += [(name, t, u, chance.choice(HIDDEN)) for t, u in zip(ticks[::2], ticks[1::2], strict=True)]
    chance.shuffle(rows)
    return rows


@pytest.mark.mutants
@pytest.mark.parametrize("rounds", [2, pytest.param(6, marks=pytest.mark.mutants)])
@pytest.mark.parametrize("kind", OF_KINDS)
def test_rows_that_do_not_count_are_as_if_they_were_not_there(kind: str, rounds: int, tmp_path: Path) -> None:
    """Counts, counts of a window and by cells, states and transitions are those of a table without these rows."""
    chance, compared = random.Random(f"{kind}{rounds}"), 0
    for _ in range(5 * rounds if kind == "changes" else rounds):
        rows = random_rows(chance)
        left = [row for row in rows if row[3] in STATES]
        keys = KEYS | COVERED | OF_KINDS[kind]
        with_where = opened(keys, rows, tmp_path)
        counts = with_where.counts()
        plain = {key: value for key, value in keys.items() if key != "where"}
        if kind == "changes":  # the state before the first one is that of no step
            assert counts.counts.sum() <= 20
            assert (counts.counts.sum(axis=1) == [_steps_from_first(left, name) for name in "AB"]).all()
        if not left or (kind == "changes" and any((name, 0) not in {row[:2] for row in left} for name in "AB")):
            continue
        compared += 1
        without = opened(plain, left, tmp_path)
        assert facts_of(counts) == facts_of(without.counts())
        assert facts_of(with_where.counts(range(3, 8))) == facts_of(without.counts(range(3, 8)))
        one, other = ([column.tolist() for column in (s.piece, s.first, s.last, s.code)] for s in (
            with_where.states(), without.states()))  # fmt: skip
        one, other = ([column for column in zip(*columns, strict=True) if column[3] >= 0] for columns in (one, other))
        assert one == other
        if kind == "samples":
            assert with_where.transitions([0]).tolist() == without.transitions([0]).tolist()
            assert with_where.all_transitions().tolist() == without.all_transitions().tolist()
    assert compared >= (rounds // 4 if kind == "changes" else rounds // 2 + 1)


def _steps_from_first(rows: list[Row], name: str) -> int:
    """Return the steps of the calendar from the first row of somebody on."""
    return 10 - min((t for who, t, _, _ in rows if who == name), default=20) // 2


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", OF_KINDS)
def test_cells_are_those_without_the_rows(kind: str, tmp_path: Path) -> None:
    keys = {**KEYS, **COVERED, "step": "1h", "from": "2026-03-02", "until": "2026-03-04",
            "order": "timestamp '2026-03-02' + to_hours(t)"}  # fmt: skip
    more = OF_KINDS[kind]
    if "stays" in kind:
        more = {**more, "end": "timestamp '2026-03-02' + to_hours(u)"}
    rows = [("A", 0, 1, "x"), ("B", 0, 1, "y"), ("A", 3, 9, "n"), ("B", 5, 7, "odd"), ("A", 25, 30, "y")]
    random.Random(1).shuffle(rows)
    left = [row for row in rows if row[3] in STATES]
    plain = {key: value for key, value in keys.items() if key != "where"}
    for by in (("hour",), ("date",)):
        one, other = opened({**keys, **more}, rows, tmp_path), opened({**plain, **more}, left, tmp_path)
        assert facts_of(one.counts(by=by)) == facts_of(other.counts(by=by))
        assert facts_of(one.counts(by=by)) == facts_of(other.counts(by=by)), "from the second reading on"

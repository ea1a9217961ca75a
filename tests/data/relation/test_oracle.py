"""Random tables: the relation says what an oracle in plain Python says, integer by integer and fault by fault."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support import relation_oracle as oracle
from tests.support.relation_cases import Case, random_case
from tests.support.rounds import rounds

from takifugu.core.errors import TakifuguError
from takifugu.data.relation import statements
from takifugu.data.relation.counts import Counts, counted
from takifugu.data.relation.keys import Source
from takifugu.data.relation.roles import open_source
from takifugu.data.relation.roster import read_roster
from takifugu.data.relation.source import opened_table
from takifugu.data.sql.faults import RowFault
from takifugu.data.times.cells import Slots


def read(case: Case, folder: Path) -> tuple[Counts, Source]:
    source = Source.of(case.keys, case.meaning.states)
    opened = open_source(source, folder, str(folder), case.frame)
    try:
        roster = read_roster(source, folder, str(folder))
        return counted(opened, roster, case.meaning.window, tuple(case.meaning.by)), source
    finally:
        opened.relation.close()


def in_words(counts: Counts, source: Source, case: Case) -> dict[Any, Any]:
    """Return counts in the words of the oracle."""
    labels = list[str]()
    if case.meaning.by:
        assert source.calendar is not None
        assert source.size is not None
        slots = Slots(source.calendar, case.meaning.window or range(source.size), tuple(case.meaning.by))
        labels = [slots.label(number) for number in slots.cells[0].tolist()]
    sums: dict[Any, Any] = {}
    for number, piece in enumerate(zip(*counts.names, strict=True)):
        by_state = Counter(dict(zip(source.states, counts.counts[number].tolist(), strict=True)))
        by_cell = Counter[tuple[str, str]]()
        if counts.by_cell is not None:
            for place, row in enumerate(counts.by_cell[number].tolist()):
                for state, steps in zip(source.states, row, strict=True):
                    by_cell[labels[place], state] += steps
        sums[piece] = (int(counts.lengths[number]), counts.observed(number), +by_state, +by_cell)
    return sums


def check(seed: int, folder: Path) -> str:
    """Compare one random table; return what both said."""
    case = random_case(seed, folder)
    causes: dict[str, list[int]] = {}
    expected: dict[Any, Any] = {}
    try:
        pieces = oracle.read(case.rows, case.meaning)
        expected = {key: (p.length, p.observed, +p.counts, +p.by_cell) for key, p in pieces.items()}
    except oracle.Refused as refused:
        causes = refused.causes
    try:
        counts, source = read(case, folder)
    except TakifuguError as error:
        _compare_refusals(error, causes, case)
        return f"refused: {error.cause}" if isinstance(error, RowFault) else "refused"
    assert not causes, (seed, causes, case)
    assert in_words(counts, source, case) == expected, (seed, case)
    return case.meaning.rows


def _compare_refusals(error: TakifuguError, causes: dict[str, list[int]], case: Case) -> None:
    if not isinstance(error, RowFault):
        assert {*causes} & {"no rows", "no state at the start"}, (str(error), causes, case)
        return
    assert error.cause in causes, (error.cause, causes, case)
    if case.meaning.rows == "samples" or error.cause not in ("tie", "overlap"):
        assert error.row == min(causes[error.cause]), (str(error), causes, case)
    assert not {"p0", "p1", "zzz", "stranger"} & {*str(error).replace('"', " ").split()}


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", [(42, 30_396), *rounds(20, 60, 2060, parts=4)])
def test_random_tables_are_read_as_the_oracle_reads_them(tmp_path: Path, seeds: Sequence[int]) -> None:
    said = Counter(check(seed, tmp_path) for seed in seeds)
    assert {*said} >= {"samples", "changes", "stays", "events"} or len(seeds) < 30, said
    assert sum(word.startswith("refused") for word in said) >= min(len(seeds) // 15, 3), said
    assert sum(count for word, count in said.items() if not word.startswith("refused")) > 2 * len(seeds) // 5, said


@pytest.mark.parametrize(("real", "column"), [(statements.placed, " as place,"), (statements.runs, " as last")])
def test_a_reader_that_is_one_step_off_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real: Any, column: str
) -> None:
    monkeypatch.setattr(statements, real.__name__, lambda *rest: real(*rest).replace(column, f" + 1{column}"))
    with pytest.raises(AssertionError):
        Counter(check(seed, tmp_path) for seed in range(60))


@pytest.mark.parametrize("rows", ["changes", "stays", "events", "samples"])
def test_states_are_as_many_as_are_declared(rows: str, tmp_path: Path) -> None:
    """A row with the 129th state once refused the table, of runs alone: whether one has it is nobody's to know."""
    lines = [f"Ana,{number},{number + 1},s{number}" for number in range(300)]
    (tmp_path / "a.csv").write_text("\n".join(["who,t,end,state", *lines, ""]))
    keys: dict[str, Any] = {
        "file": "a.csv", "rows": rows, "unit": "who", "order": "t", "step": 1, "value": "state", "from": 0,
        "until": 300, "roster": ["Ana"],
    }  # fmt: skip
    with opened_table(keys | ({"end": "end"} if rows == "stays" else {}), [f"s{n}" for n in range(300)], tmp_path) as a:
        assert a.counts().counts.tolist() == [[1] * 300]


@pytest.mark.parametrize("window", [None, range(1, 3), range(4, 8)])
@pytest.mark.parametrize("by", [(), ("hour",)])
@pytest.mark.parametrize("late", ["2026-01-05T08:00", "2026-01-05T08:01", "2026-02-01T00:00", ""])
def test_a_stay_that_goes_on_after_until_is_one_without_an_end(
    late: str, by: tuple[str, ...], window: range | None, tmp_path: Path
) -> None:
    """Once it was refused, with the advice to leave it out: its steps would have counted as the default state."""
    (tmp_path / "people.csv").write_text("who,until\nAna,\nBen,2026-01-05T05:00\n")
    day = {"from": "2026-01-05", "until": "2026-01-05T08:00"}
    keys = {"file": "a.csv", "rows": "stays", "unit": "who", "order": "t", "end": "e", "step": "1h", "value": "v",
            "roster": "people.csv", "default_state": "x", **day}  # fmt: skip
    (tmp_path / "a.csv").write_text(f"who,t,e,v\nAna,2026-01-05T02:00,{late},y\nBen,2026-01-05T03:00,{late},y\n")
    with opened_table(keys, ["x", "y"], tmp_path) as table:
        counts = table.counts(window, by)
    steps = range(8) if window is None else window
    lasting = [sum(place >= first for place in steps if place < last) for first, last in ((2, 8), (3, 5))]
    assert counts.counts[:, 1].tolist() == lasting
    assert counts.counts.sum(axis=1).tolist() == [len(steps), sum(place < 5 for place in steps)]


@pytest.mark.parametrize("ends", [{"from": 2}, {"until": 4}, {"from": 2, "until": 4}])
@pytest.mark.parametrize("calendar", [{"from": 0, "until": 9}, {"from": 0}])
def test_a_sample_outside_its_person_s_cover_is_refused(
    ends: dict[str, int], calendar: dict[str, int], tmp_path: Path
) -> None:
    """As a row of a run is: once samples counted whenever they were, whatever the roster said of their person."""
    columns = {name: pa.array([str(ends[name]), None], pa.string()) for name in ends}
    roster = pa.table({"who": ["Ana", "Ben"], **columns})
    keys = {"unit": "who", "order": "t", "step": 1, "value": "state", "roster": roster, **calendar}
    first, last = ends.get("from", 0), ends.get("until", 9)
    for steps in ((0, 8), (3,), (first, last - 1), (first - 1, 3), (3, last)):
        frame = pa.table({"who": ["Ben", *["Ana"] * len(steps)], "t": [5, *steps], "state": ["a"] * (len(steps) + 1)})
        outside = [number for number, step in enumerate(steps, 2) if not first <= step < last]
        if last == 9 and len(calendar) == 1:
            outside = [number for number, step in enumerate(steps, 2) if step < first]
        with opened_table(keys, ["a"], tmp_path, frame) as table:
            if outside:
                with pytest.raises(RowFault, match=f"^row {outside[0]}.*is before from"):
                    table.counts()
            else:
                assert table.counts().counts.tolist() == [[len(steps)], [1]]

"""No name that the relation gives holds what a terminal, a table or a page obeys: it is refused where it comes in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from takifugu.core.errors import TakifuguError
from takifugu.core.escaping import is_printable
from takifugu.data.relation.source import Table, opened_table

#: C0, C1, the writing direction, a separator of lines, and a line end.
HOSTILE = {"C0": "\x1b]0;pwn\x07", "C1": "\x9b31m", "direction": "\u202e", "line": "\u2028", "line end": "\n"}
DAY = "2026-01-05"
CLOCK = {"unit": "who", "order": "t", "value": "v", "step": "1h"}
CALENDAR = {"from": DAY, "until": "2026-01-07"}
ANSWERS = {"rows": "answers", "unit": "who", "value": "v"}
Study = tuple[dict[str, Any], Any, list[str], list[str], Callable[[Table], Any]]


def lists(table: Table) -> Any:
    return table.counts()


def rows(name: str = "Ana", value: str = "x", recording: str = "1", town: str = "A") -> Any:
    return pa.table({
        "who": [name, "Ben"], "t": [f"{DAY}T01:00", f"{DAY}T02:00"], "v": [value, "x"], "piece": [recording, "1"],
        "town": [town, "B"],
    })  # fmt: skip


def listed(name: str = "Ana", first: str = DAY, last: str = "2026-01-06", ward: str = "A", column: str = "ward") -> Any:
    return pa.table({"who": [name, "Ben"], "from": [first, DAY], "until": [last, last], column: [ward, "B"]})


#: A source with a name in one place: keys, rows, states, public columns, and what reads them.
PLACES: dict[str, Callable[[str], Study]] = {
    "a unit": lambda bad: (CLOCK, rows(f"A{bad}na"), ["x"], [], lists),
    "a unit of answers": lambda bad: (ANSWERS, rows(f"A{bad}na"), ["x"], [], Table.answers),
    "a recording": lambda bad: ({**CLOCK, "recording": "piece"}, rows(recording=f"1{bad}2"), ["x"], [], lists),
    "a state": lambda bad: (CLOCK, rows(value=f"x{bad}y"), [f"x{bad}y", "x"], [], lists),
    "a class": lambda bad: ({**CLOCK, "bins": {f"x{bad}y": [0, 1]}}, rows(), [], [], lists),
    "a cell": lambda bad: (ANSWERS, rows(town=f"A{bad}B"), ["x"], ["town"], Table.answers),
    "a cell of sums": lambda bad: (ANSWERS, rows(town=f"A{bad}B"), ["x"], ["town"], lambda table: table.totals([])),
    "a roster": lambda bad: (
        {**CLOCK, **CALENDAR, "roster": [f"A{bad}na", "Ben"]}, rows(f"A{bad}na"), ["x"], [], lists
    ),
    "a table of people": lambda bad: (
        {**CLOCK, **CALENDAR, "roster": listed(f"A{bad}na")}, rows(f"A{bad}na"), ["x"], [], lists
    ),
    "a start": lambda bad: ({**CLOCK, **CALENDAR, "roster": listed(first=f"{DAY}{bad}")}, rows(), ["x"], [], lists),
    "an end": lambda bad: ({**CLOCK, **CALENDAR, "roster": listed(last=f"{DAY}{bad}")}, rows(), ["x"], [], lists),
    "an attribute": lambda bad: (
        {**CLOCK, **CALENDAR, "roster": listed(ward=f"A{bad}B")}, rows(), ["x"], [], lambda table: table.roster
    ),
    "an attribute's name": lambda bad: (
        {**CLOCK, **CALENDAR, "roster": listed(column=f"wa{bad}rd")}, rows(), ["x"], [], lambda table: table.roster
    ),
}  # fmt: skip


def read(place: str, bad: str, folder: Path) -> Any:
    keys, frame, states, public, reading = PLACES[place](bad)
    with opened_table(keys, states, folder, frame, public) as table:
        return reading(table)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("place", PLACES)
def test_a_hostile_name_is_refused(place: str, kind: str, tmp_path: Path) -> None:
    with pytest.raises(TakifuguError) as refused:
        read(place, HOSTILE[kind], tmp_path)
    assert is_printable(refused.value.line)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("a start", "an end", "a class")])
@pytest.mark.parametrize("name", ["", "é", "日", "\u00ad"])
def test_other_names_are_read(place: str, name: str, tmp_path: Path) -> None:
    read(place, name, tmp_path)


@pytest.mark.parametrize("names", [("k", "\u212a"), ("é", "É"), ("i̇", "İ"), ("σ", "Σ")])
def test_letters_beyond_ascii_have_no_other_case(names: tuple[str, str], tmp_path: Path) -> None:
    """DuckDB tells these columns apart: REPLACE of one left the other, which unit then published."""
    plain, capital = names
    (tmp_path / "a.csv").write_text("0,1,x,y\n0,2,y,x\n")
    texts = ", ".join(f"'{name}': 'VARCHAR'" for name in ("t", "h", plain, capital))
    read = f"read_csv('a.csv', header = false, columns = {{{texts}}})"
    sql = f'select * replace (h as "{capital}") from (select *, "{plain}" as v from {read})'
    keys = {"order": "t", "step": 1, "value": "v", "sql": sql}
    with pytest.raises(TakifuguError, match=f"^unit depends on '{plain}', as value does"):
        opened_table({**keys, "unit": plain}, ("x", "y"), tmp_path)
    with opened_table({**keys, "unit": capital}, ("x", "y"), tmp_path) as source:
        assert source.counts().counts.tolist() == [[1, 0], [0, 1]]

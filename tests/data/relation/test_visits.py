"""Visits of people to places: against a slow oracle, with rules about what may depend on what by enumeration."""

import csv
import random
import tomllib
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import combinations, product
from math import floor
from pathlib import Path
from typing import Any

import pytest

from takifugu.core.errors import DataError, InputError, TakifuguError, faults_in
from takifugu.data.relation import roles
from takifugu.data.relation.source import opened_table
from takifugu.data.relation.visits import Grid
from takifugu.data.sql.faults import RowFault

START = datetime(2026, 1, 5)
KEYS: dict[str, Any] = {"file": "a.csv", "rows": "visits", "unit": "who", "value": "place"}
HOURS = {"order": "t", "step": "1h", "from": "2026-01-05"}
READ = "read_csv('a.csv', all_varchar = true)"


def write(folder: Path, rows: Any, header: str = "who,place,t") -> None:
    with (folder / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header.split(","), *rows])


def counted(folder: Path, keys: dict[str, Any], known: Any, size: int, window: range | None = None) -> list[int]:
    """Return how many people were at each place."""
    grid = known if isinstance(known, Grid) else None
    with opened_table(keys, (), folder, known=[known] if grid is None else ()) as source:
        visits = source.visits(grid)
        return (visits if window is None else visits.within(window)).people(size).tolist()


@pytest.mark.parametrize("seed", range(6))
def test_visits_are_those_of_plain_python(tmp_path: Path, seed: int) -> None:
    """Everybody once at a place in a window, and the most places of one person in one step."""
    chance, places = random.Random(seed), ["bar", "gym", "it's"]
    rows = list[tuple[str, str, str]]()
    for _ in range(chance.randrange(1, 60)):
        at = START + timedelta(seconds=chance.randrange(5 * 3600))
        rows.append((chance.choice(["Ana", "Ben", "Cem"]), chance.choice(places), at.isoformat(" ")))
    write(tmp_path, rows)
    with opened_table({**KEYS, **HOURS}, (), tmp_path, known=[places]) as source:
        visits = source.visits()
    step = {row: int((datetime.fromisoformat(row[2]) - START).total_seconds()) // 3600 for row in rows}
    for window in [range(start, stop) for start, stop in combinations(range(7), 2)]:
        inside = {row for row in rows if step[row] in window}
        people = [len({who for who, where, _ in inside if where == place}) for place in places]
        by_person = [len({row[1] for row in inside if (row[0], step[row]) == one}) for one in
                     {(row[0], step[row]) for row in inside}]  # fmt: skip
        part = visits.within(window)
        assert part.people(3).tolist() == people
        assert part.most == max(by_person, default=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["texts", "numbers"])
def test_boxes_are_those_of_exact_fractions(tmp_path: Path, seed: int, form: str) -> None:
    """Tenths are no binary numbers: a point on an edge is in the box above it, also on a tenth."""
    import pandas as pd

    chance = random.Random(seed)
    low, high, columns, rows = Fraction(-3, 10), Fraction(9, 10), 12, 7
    x, y = [float(low + (high - low) * k / columns) for k in range(columns + 1)], [k / rows for k in range(rows + 1)]
    points = [(f"{chance.randrange(-30, 91) / 100}", f"{chance.randrange(101) / 100}") for _ in range(300)]
    points += [(f"{k / 10}", f"{k / 10}") for k in range(10)]
    expected = [0] * (columns * rows)
    for a, b in points:
        column, row = floor((Fraction(a) - low) / (high - low) * columns), floor(Fraction(b) * rows)
        expected[min(rows - 1, row) * columns + min(columns - 1, column)] += 1
    keys, frame = {**KEYS, "value": ["x", "y"]}, None
    table = [(f"p{n}", *point) for n, point in enumerate(points)]
    write(tmp_path, table, "who,x,y")
    if form == "numbers":
        keys.pop("file")
        frame = pd.DataFrame(table, columns=["who", "x", "y"]).astype({"x": float, "y": float})
    with opened_table(keys, (), tmp_path, frame) as source:
        assert source.visits(Grid(tuple(x), tuple(y))).people(columns * rows).tolist() == expected


#: What each of at most two visits of a person may be: where, and in which hour.
VISITS = tuple(product(("bar", "gym", "pool"), (0, 1)))
TRACES = [trace for size in range(3) for trace in combinations(VISITS, size)]


def losses(folder: Path, keys: dict[str, Any]) -> set[tuple[int, ...]]:
    """Return how the counts of bar and gym move when one visit of Ana is taken away, over all tables."""
    moves, read = set[tuple[int, ...]](), dict[tuple[Any, ...], list[int]]()
    for trace in TRACES:
        rows = [("Ana", place, f"2026-01-05T0{hour}:30") for place, hour in trace]
        write(folder, [*rows, ("Ben", "bar", "2026-01-05T00:30")])
        read[trace] = counted(folder, keys, ["bar", "gym"], 2)
    for trace in TRACES:
        for gone in trace:
            after = tuple(visit for visit in trace if visit != gone)
            moves.add(tuple(b - a for a, b in zip(read[trace], read[after], strict=True)))
    return moves


ALONE = {
    "by the place": {"where": "place <> 'pool'"},
    "by the place, of sql": {"sql": f"from {READ} where place in ('bar', 'gym')", "file": None},
    "by a table of others": {
        "sql": f"select a.* from {READ} a semi join (from (values ('bar'), ('gym')) k(s)) k on a.place = k.s",
        "file": None},
    "equal rows once": {"sql": f"select distinct who, place from {READ} where place <> 'pool'", "file": None},
}  # fmt: skip
BY_OTHERS = {
    "the first visit of each": {
        "sql": f"from {READ} where place <> 'pool' qualify row_number() over (partition by who order by t, place) = 1"},
    "who was at one place alone": {
        "sql": f"select who, place from (select distinct who, place from {READ}) "
               "qualify count(*) over (partition by who) = 1 and place <> 'pool'"},
    "who was not in the pool": {
        "sql": f"select a.who, a.place from {READ} a anti join (select who from {READ} where place = 'pool') b "
               "on a.who = b.who"},
    "every second line": {
        "sql": f"with n as (select *, row_number() over () as line from {READ}) select who, place from n "
               "where line % 2 = 1 and place <> 'pool'"},
}  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("name", ALONE)
def test_a_filter_over_places_takes_away_what_a_move_takes_away(tmp_path: Path, name: str) -> None:
    """One visit less is one person less at one place at most, and one more nowhere."""
    keys = {key: value for key, value in {**KEYS, **ALONE[name]}.items() if value is not None}
    assert losses(tmp_path, keys) == {(0, 0), (-1, 0), (0, -1)}


@pytest.mark.mutants
@pytest.mark.parametrize("name", BY_OTHERS)
def test_a_visit_that_decides_about_others_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the rule a count rises where a visit is taken away: "safe" would tell that it was there."""
    keys = {key: value for key, value in {**KEYS, **BY_OTHERS[name]}.items() if key != "file"}
    write(tmp_path, [("Ana", "bar", "2026-01-05T00:30")])
    with pytest.raises(InputError, match="of one visit decides about others"):
        counted(tmp_path, keys, ["bar", "gym"], 2)
    monkeypatch.setattr(roles, "check_dependence", lambda *_: None)
    assert any(max(move) > 0 for move in losses(tmp_path, keys))


def test_nobody_is_told_by_a_refusal_that_all_visits_are_left_out(tmp_path: Path) -> None:
    """An empty export is refused; one whose visits are all elsewhere says that everybody was elsewhere."""
    write(tmp_path, [("Ana", "pool", "2026-01-05T00:30")])
    filtered: list[dict[str, Any]] = [{**KEYS, "where": "place <> 'pool'"}, {
        "rows": "visits", "unit": "who", "value": "place", "sql": f"from {READ} where place <> 'pool'"
    }]  # fmt: skip
    for keys in filtered:
        assert counted(tmp_path, keys, ["bar", "gym"], 2) == [0, 0]
    write(tmp_path, [])
    with pytest.raises(DataError, match="there are no rows"):
        counted(tmp_path, filtered[0], ["bar", "gym"], 2)


@pytest.mark.parametrize(("keys", "key", "words"), [
    ({"unit": None}, "unit", "without unit"), ({"value": ["a", "b", "c"]}, "value", "3 columns"),
    ({"end": "t"}, "end", "a visit is in one step"), ({"recording": "t"}, "recording", "stands alone"),
    ({"default_state": "bar"}, "default_state", "somewhere"), ({"roster": ["Ana"]}, "roster", "nowhere"),
    ({"bins": {"bar": [0, 1]}}, "bins", "names"), ({"nulls": "unobserved"}, "nulls", "IS NOT NULL"),
    ({"gaps": "hidden"}, "gaps", "leave gaps out"), ({"order": "t"}, "step", "without step"),
    ({"step": "1h"}, "order", "without order"), ({"until": "2026-01-06"}, "order", "without order"),
    ({**HOURS, "from": None}, "from", "without from"), ({"timezone": "UTC"}, "timezone", "without order"),
])  # fmt: skip
def test_keys_that_do_not_fit_together(tmp_path: Path, keys: dict[str, Any], key: str, words: str) -> None:
    write(tmp_path, [("Ana", "bar", "2026-01-05T00:30")])
    said = {name: value for name, value in {**KEYS, **keys}.items() if value is not None}
    with pytest.raises(TakifuguError, match=words) as refused:
        counted(tmp_path, said, ["bar", "gym"], 2)
    assert (key,) in [fault.where for fault in faults_in(refused.value)]


def test_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"who": ["Ana"], "x": [True], "place": [1.5]})
    for value, words in (("place", "value holds DOUBLE"), (["x", "place"], "'x' holds BOOLEAN")):
        keys = {"rows": "visits", "unit": "who", "value": value}
        with opened_table(keys, (), tmp_path, frame) as source, pytest.raises(TakifuguError, match=words):
            source.visits()


@pytest.mark.parametrize("row", [["Cem", "", "5812400"], ["Cem", "390000.7", ""], ["Cem", "390000.7", "5812345.5"]])
def test_the_printed_line_leaves_out_no_visit_inside_a_grid(tmp_path: Path, row: list[str]) -> None:
    """The edges were rounded to six digits, and of two coordinates one length() was asked for."""
    grid, points = Grid((390_000.5, 390_100.0), (5_812_346.0, 5_812_446.0)), {**KEYS, "value": ["x", "y"]}
    inside = [["Ana", "390000.5", "5812346"], ["Ben", "390100", "5812446"]]
    write(tmp_path, [*inside, row], "who,x,y")
    with pytest.raises(RowFault) as fault:
        counted(tmp_path, points, grid, 1)
    line = fault.value.fix.removeprefix("declare it; or ").partition(", if such")[0].partition(": nothing")[0]
    assert counted(tmp_path, {**points, **tomllib.loads(line)}, grid, 1) == [2]

"""Transitions of a frame or a file without a step: each row follows the one before it, as a loop in Python says."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from takifugu.core.errors import DataError, InputError, TakifuguError
from takifugu.data.relation.following import transitions_in

STATES = ("still", "walking", "running")
NAMED: dict[str, Any] = {"value": "v", "order": "t", "unit": "who", "recording": "part"}
START = datetime(2026, 3, 29)

Row = tuple[str, int, int, str]


def by_hand(rows: list[Row], step: int | None = None) -> list[list[int]]:
    """Count what follows what: rows of a unit and recording in their order, a step apart where one is declared."""
    counts = [[0] * 3 for _ in STATES]
    pieces: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for who, part, t, v in rows:
        pieces.setdefault((who, part), []).append((t, v))
    for piece in pieces.values():
        piece.sort()
        for (t, v), (later, after) in pairwise(piece):
            if step is None or later - t == step:
                counts[STATES.index(v)][STATES.index(after)] += 1
    return counts


def drawn(rng: random.Random) -> list[Row]:
    rows = [
        (who, part, t, rng.choice(STATES))
        for who in ("Ana", "Ben", "Cem") for part in range(2)
        for t in rng.sample(range(-20, 40), rng.randrange(1, 12))
    ]  # fmt: skip
    rng.shuffle(rows)
    return rows


def columns(rows: list[Row], form: str) -> dict[str, list[Any]]:
    """Return rows as columns, whose order is a number or a time of some form, an hour apart."""
    times = [START + timedelta(hours=t) for *_, t, _ in rows]
    order: list[Any] = [t for *_, t, _ in rows]
    if form == "texts":
        order = [str(t) for t in order]
    elif form == "clocks":
        order = times
    elif form == "clock texts":
        order = [t.isoformat() for t in times]
    elif form == "moments":
        order = [t.replace(tzinfo=UTC) for t in times]
    elif form == "moment texts":
        order = [t.isoformat() + "Z" for t in times]
    elif form == "days":  # as many days, which are dates
        order = [(START + timedelta(days=t)).date() for *_, t, _ in rows]
    return {"who": [r[0] for r in rows], "part": [r[1] for r in rows], "t": order, "v": [r[3] for r in rows]}


FRAMES = {
    "pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table,
    "lazy": lambda table: polars.LazyFrame(table),
}  # fmt: skip
FORMS = {
    "numbers": 1, "texts": 1, "clocks": "1h", "clock texts": "1h", "moments": "1h", "moment texts": "1h", "days": "1d",
}  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("form", FORMS)
def test_counts_are_those_of_a_loop(form: str, tmp_path: Path) -> None:
    rng = random.Random(form)
    for number in range(5):
        rows = drawn(rng)
        table, engine = columns(rows, form), rng.choice([*FRAMES])
        data: Any = FRAMES[engine](table)
        if number % 4 == 0:
            data = tmp_path / f"{number}.csv"
            pandas.DataFrame(table).to_csv(data, index=False)
        assert transitions_in(data, STATES, **NAMED).tolist() == by_hand(rows), (engine, number)
        assert transitions_in(data, STATES, **NAMED, step=FORMS[form]).tolist() == by_hand(rows, 1), (engine, number)


def test_roles_are_expressions_and_a_table_is_a_select(tmp_path: Path) -> None:
    rows = drawn(random.Random(1))
    path = tmp_path / "a.csv"
    pandas.DataFrame(columns(rows, "numbers")).to_csv(path, index=False)
    named = {**NAMED, "order": "t::bigint * 2", "value": "lower(upper(v))"}
    assert transitions_in(path, STATES, **named).tolist() == by_hand(rows)
    statement = f"select who, part, t, v from read_csv('{path}', all_varchar = true)"
    assert transitions_in(statement, STATES, **NAMED).tolist() == by_hand(rows)
    small = pandas.DataFrame({"t": [3, 1, 2], "v": [True, False, True]})
    assert transitions_in(small, (False, True), "v", "t").tolist() == [[0, 1], [0, 1]]
    small = pandas.DataFrame({"t": [3, 1, 2], "v": [1, 0, 1]})
    assert transitions_in(small, (np.float64(0), 1.0), "v", "t").tolist() == [[0, 1], [0, 1]]


TABLE = {"who": ["Geheim", "Geheim", "Ben"], "t": [1, 2, 1], "v": ["still", "walking", "still"]}


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("changed", "words"), [
    ({"t": [1, 1, 1]}, "row 2: a second row of one step"),
    ({"t": [START, START, START]}, "row 2: a second"),
    ({"t": ["2026-01-01", "2026-01-01T00:00Z", "2026-01-01"]}, "times with an offset from UTC, and times without one"),
    ({"t": ["2026-01-01", "29.3.2026", "2026-01-01"]}, "row 2: a text in \"t\" that is no ISO 8601 time"),
    ({"t": ["1", "2.5", "1"]}, "row 2"), ({"t": [0.5, 1.5, 2.5]}, "numbers with a point"),
    ({"t": [1, None, 1]}, "numbers with a point"),
    ({"t": ["1", "", "1"]}, "row 2: nothing in"), ({"t": pandas.array([1, None, 1], "Int64")}, "row 2: nothing in"),
    ({"v": ["still", None, "still"]}, "row 2"), ({"v": ["still", "flying", "still"]}, "row 2"),
    ({"who": ["Geheim", " Geheim", "Ben"]}, "row 2"), ({"who": ["Geheim", None, "Ben"]}, "row 2: nothing in"),
    ({"who": [1.5, 2.5, 3.5]}, "numbers with a point"), ({"who": [], "t": [], "v": []}, "holds|no rows"),
])  # fmt: skip
@pytest.mark.parametrize("step", [None, 1])
def test_rows_against_a_rule_are_refused_without_a_word_of_them(
    changed: dict[str, Any], words: str, step: int | None
) -> None:
    frame = pandas.DataFrame({**TABLE, **changed})
    with pytest.raises(TakifuguError, match=words if step is None else None) as caught:
        transitions_in(frame, STATES, "v", "t", "who", step=step)
    text = f"{caught.value} {caught.value.__cause__ or ''}"
    still = ["still"] * min(len(frame), 1)  # without a row it is a declared state alone, in an example
    assert not any(word in text for word in ("Geheim", "flying", "29.3", "2.5", *still))


def test_moments_of_one_second_are_two_places_and_ties_are_told_by_their_row() -> None:
    times = [START + timedelta(microseconds=n) for n in (0, 1, 2)]
    frame = pandas.DataFrame({"t": times, "v": ["still", "walking", "still"]})
    assert transitions_in(frame, STATES, "v", "t").tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    frame = pandas.DataFrame({"t": [times[0], times[2], times[1], times[2]], "v": ["still"] * 4})
    with pytest.raises(DataError, match="row 4: a second row"):
        transitions_in(frame, STATES, "v", "t")


@pytest.mark.parametrize(("data", "named", "words"), [
    (TABLE, {"value": "v"}, "is not named"), (TABLE, {"order": "t"}, "is not named"),
    (TABLE, {"value": "w", "order": "t"}, "column"), (TABLE, {"value": "v", "order": "random()"}, "random"),
    (TABLE, {"value": "v", "order": "t", "step": 0}, "step is 0"),
    (TABLE, {"value": "v", "order": "t", "step": 0.5}, "step is 0.5"),
    (TABLE, {"value": "v", "order": "t", "step": "1 fortnight"}, "step is"),
    (TABLE, {"value": "v", "order": "t", "step": "1h"}, "numbers, and step is a time"),
])  # fmt: skip
def test_roles_against_the_rules(data: dict[str, Any], named: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        transitions_in(pandas.DataFrame(data), STATES, **named)


@pytest.mark.parametrize("data", ["none.csv", "none.png", Path("none.csv"), object(), 7, ""])
def test_what_is_no_table(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TakifuguError):
        transitions_in(data, STATES, "v", "t")


def test_states_of_one_text_are_refused() -> None:
    with pytest.raises(InputError, match="two states have one text"):
        transitions_in(pandas.DataFrame(TABLE), (1, "1"), "v", "t")

"""Release files with tables by hour, weekday, date, week and month: counted by hand, charged, planned, refused."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.support import cell_oracles
from tests.support.engines import ENGINES, Columns
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import assert_refused, by_cells, cells, put, refusal_of

from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing.run import release_file

START, STEP, ZONE = datetime(2025, 10, 20), timedelta(minutes=30), "Europe/Berlin"
FILE = release_text(
    read_from("ward", "ward.csv", value="state", unit="who", order="at", step="30min", from_="2025-10-20",
              until="2025-11-10", budget=20.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("table", "histogram", by="hour", epsilon=0.5, mechanism="quilt-exact", window="2025-W43"),
    output="out", expect=EXPECT,
)  # fmt: skip
LOCAL = ('order = "at"\nstep = "30min"', f'order = \'"at"::timestamptz\'\nstep = "30min"\ntimezone = "{ZONE}"')
PUBLIC = ('step = "30min"', 'step = "30min"\ngaps = "public"')


def recorded(who: str = "ana ben", steps: int = 1000, seen: float = 0.9) -> list[tuple[str, datetime, str]]:
    draw = random.Random(7)
    places = [(unit, place) for unit in who.split() for place in range(steps) if draw.random() < seen]
    return [(unit, START + place * STEP, draw.choice(["calm", "busy"])) for unit, place in places]


def written(folder: Path, *changes: tuple[str, str], rows: Any = None, local: bool = False) -> Path:
    lines = ["who,at,state"]
    for who, at, state in recorded() if rows is None else rows:
        clock = at.replace(tzinfo=UTC).astimezone(ZoneInfo(ZONE)) if local else at
        lines.append(f"{who},{clock:%Y-%m-%dT%H:%M%z},{state}")
    return put(folder, {"ward.toml": changed(FILE, *changes), "ward.csv": "\n".join(lines)})


def truths(path: Path, data: Any = None) -> Iterator[tuple[str | None, dict[str, Fraction]]]:
    """Yield the true answer to every question, by its cells."""
    for question in (question for table in plan(load(path, data)).tables for question in table.questions):
        yield question.unit, by_cells(question)


WEEK = {
    None: (datetime(2025, 10, 20), datetime(2025, 10, 27)),
    ZONE: (datetime(2025, 10, 19, 22), datetime(2025, 10, 26, 23)),
}


def by_hand(rows: Any, by: tuple[str, ...], zone: str | None) -> dict[str, int]:
    """Return the histogram of all units by cell."""
    totals: dict[str, int] = {}
    for counts in cell_oracles.table(rows, WEEK[zone], by, zone).values():
        for (cell, state), times in counts.items():
            totals[f"{cell}, {state}"] = totals.get(f"{cell}, {state}", 0) + times
    return totals


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("engine", [None, "pandas", "polars lazy", "pyarrow", "duckdb"])
def test_a_table_is_what_a_direct_count_finds_on_every_engine(tmp_path: Path, engine: str | None) -> None:
    rows = recorded()
    columns: Columns = {
        "who": ("text", [who for who, *_ in rows]), "state": ("text", [state for *_, state in rows]),
        "at": ("zoned", [at.replace(tzinfo=UTC) for _, at, _ in rows]),
    }  # fmt: skip
    data = None if engine is None else ENGINES[engine](columns)
    for by, axes in (('"hour"', ("hour",)), ('["weekday", "hour"]', ("weekday", "hour")), ('"date"', ("date",))):
        path = written(tmp_path, LOCAL, ('"hour"', by), rows=rows, local=True)
        assert {cell: n for cell, n in cells(path, data).items() if n} == by_hand(rows, axes, ZONE)


def test_units_and_all_of_them_agree_and_one_scan_counts_every_table(tmp_path: Path) -> None:
    both = ('window = "2025-W43"', 'window = "2025-W43"\nper = "both"')
    week = {"epsilon": 1, "window": "2025-W43"}
    more = [publish("days", "count", states=["busy"], by="weekday", **week), publish("plain", "histogram", **week)]
    path = written(tmp_path, both)
    path.write_text("\n".join([path.read_text(encoding="utf-8"), *more]), encoding="utf-8")
    tables = list(truths(path))
    units, (pooled, days, plain) = [counts for who, counts in tables if who], [c for who, c in tables if not who]
    assert pooled == by_hand(recorded(), ("hour",), None)
    assert pooled == {cell: sum(unit[cell] for unit in units) for cell in pooled}
    assert sum(days.values()) == plain["busy"] == sum(n for cell, n in pooled.items() if cell.endswith("busy"))
    assert list(days) == ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def test_a_mean_of_each_cell_divides_by_its_own_steps(tmp_path: Path) -> None:
    mean = ('"histogram"', '"mean"\ncodes = { calm = 0, busy = 1 }')
    path = written(tmp_path, mean)
    assert "a mean of a window depends on which of its steps were observed" in str(refusal_of(path))
    rows = recorded()
    path = written(tmp_path, mean, PUBLIC, ('window = "2025-W43"', 'window = "2025-W43"\nper = "unit"'), rows=rows)
    for who, means in truths(path):
        counts = cell_oracles.table(rows, WEEK[None], ("hour",), None)[str(who)]
        for cell, value in means.items():
            assert value == Fraction(counts[cell, "busy"], counts[cell, "busy"] + counts[cell, "calm"])


@pytest.mark.slow
def test_the_certificate_says_that_the_belief_knows_no_hours(tmp_path: Path) -> None:
    path = written(tmp_path, LOCAL, local=True)
    release_file(path, allow_useless=True)
    content = json.loads((tmp_path / "out" / "table.certificate.json").read_text(encoding="utf-8"))
    assert [line["text"] for line in content["assumptions"] if line["kind"] == "check"] == [
        "The window has 16 steps in '02' and 14 in '00': a sum is larger where there are more of them.",
        "The model treats all hours alike, but this table compares them.",
    ]
    assert f"The hours are those of clocks in {ZONE}" in str(content["assumptions"])
    assert content["statistic"] == f"how often each state occurs, by hour (24 cells), on clocks in {ZONE}"
    assert content["query"]["every"] == 338  # clocks are set back in this week, so that its days are not alike
    assert "by hour (24 cells)" in (tmp_path / "out" / "table.report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("changes", "place", "words"), [
    ([('"hour"', '"houre"')], "table[0].by", "did you mean 'hour'"),
    ([('"hour"', '["hour", "hour"]')], "table[0].by", "twice"),
    ([('"30min"', '"1d"')], "table[0].by", "no shorter than a step"),
    ([('"hour"', '["date", "hour"]'), ("2025-10-20", "2000-01-01"), ('"2025-W43"', '"2024"')], "table[0].by",
     "makes 8,784 cells, too many for one table"),
    ([('from = "2025-10-20"\nuntil = "2025-11-10"\n', ""), ('window = "2025-W43"', "")], "table[0].by",
     "needs a declared calendar"),
    ([('"histogram"', '"linear"\nweights = [1]\n'), ('window = "2025-W43"', 'window = "2025-W43"\nper = "unit"'),
      PUBLIC], "table[0].by", "does not belong to a linear query"),
])  # fmt: skip
def test_what_is_no_table_by_cells_releases_nothing(tmp_path: Path, changes: Any, place: str, words: str) -> None:
    assert_refused(written(tmp_path, *changes), place, words)

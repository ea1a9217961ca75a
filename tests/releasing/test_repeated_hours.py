"""An hour that clocks show twice: windows without it need no rule, and `ambiguous` says how its rows are read."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import ENGINES, Columns
from tests.support.release_files import Changes, believe, changed, publish, read_from, release_text
from tests.support.releases import put, refusal_of

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.releasing.file.loading import load

FILE = release_text(
    read_from("ward", "ward.csv", value="state", unit="ward", order="time", step="{step}", from_="2026-10-19",
              until="2026-11-02", timezone="Europe/Berlin", budget=100) + "\n{keys}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("busy", "count", states=["busy"], epsilon=0.5, mechanism="group") + "\n{window}",
    output="out",
)  # fmt: skip
NIGHT = 'window = "2026-10-25"'
BEFORE, AFTER = 'window = "2026-10-24"', 'window = "2026-10-26"'
#: Half hours of the repeated hour: of the first pass, and of the second one.
FIRST, SECOND = (
    'from = "2026-10-25T02:00:00+02:00"\nto = "2026-10-25T02:00:00+01:00"',
    ('from = "2026-10-25T02:00:00+01:00"\nto = "2026-10-25T03:00"'),
)
CLEAR_ENDS = [
    'from = "2026-10-25T01:00"\nto = "2026-10-25T02:00:00+02:00"',
    'from = "2026-10-25T03:00"\nto = "2026-10-25T05:00"',
]


def written(folder: Path, keys: str = "", window: str = NIGHT, step: str = "30min") -> Path:
    return put(folder, {"ward.toml": FILE.format(keys=keys, window=window, step=step)})


def days(passes: int = 1, minutes: int = 30) -> list[tuple[datetime, str]]:
    """Return rows of three days by the clock, with the repeated hour so often; busy in it and from 08:00 to 10:00."""
    rows = []
    at = datetime(2026, 10, 24)
    while at < datetime(2026, 10, 27):
        rows.append((at, "busy" if at.hour in (8, 9) or (at.day, at.hour) == (25, 2) else "calm"))
        at += timedelta(minutes=minutes)
    after = next(i for i, (at, _) in enumerate(rows) if at == datetime(2026, 10, 25, 3))
    repeated = [row for row in rows if (row[0].day, row[0].hour) == (25, 2)]
    return rows[:after] + repeated * (passes - 1) + rows[after:]


def columns(rows: list[tuple[datetime, str]], kind: str = "time") -> Columns:
    """Return the rows as those of two units, not piece by piece."""
    both = [(ward, *row) for row in rows for ward in ("N", "S")]
    times: list[Any] = [at if kind == "time" else at.isoformat() for _, at, _ in both]
    return {"ward": ("text", [w for w, _, _ in both]), "time": (kind, times), "state": ("text", [s for *_, s in both])}


def as_csv(folder: Path, rows: list[tuple[datetime, str]]) -> None:
    lines = [f"{ward},{at.isoformat()},{state}" for at, state in rows for ward in ("N", "S")]
    (folder / "ward.csv").write_text("\n".join(["ward,time,state", *lines]), encoding="utf-8")


def read(path: Path, data: Any = None) -> list[tuple[int, int]]:
    """Return how many steps the window has for each unit, and how many of them are busy."""
    file = load(path, data)
    units = file.kind.units(file.kind.part(file, file.items[0]))
    return [(unit.data[0].length, int(unit.data[0].counts[1])) for unit in units]


#: What each ward has in windows without the hour, and right beside it: how many steps, and how many are busy.
CLEAR = {BEFORE: (48, 4), AFTER: (48, 4), **dict(zip(CLEAR_ENDS, ((2, 0), (4, 0)), strict=True))}


@pytest.mark.slow
@pytest.mark.parametrize(("passes", "engines"), [(3, [*ENGINES]), (1, ["duckdb"])])
def test_windows_without_the_hour_need_no_rule_for_it(tmp_path: Path, passes: int, engines: list[str]) -> None:
    """No order of rows says which of three passes is which, and rows without an order say it of no row."""
    rows = columns(days(passes))
    as_csv(tmp_path, days(passes))
    for window, counted in CLEAR.items():
        path = written(tmp_path, window=window)
        assert read(path) == [counted] * 2, window
        for name in engines:
            assert read(path, ENGINES[name](rows)) == [counted] * 2, (name, window)
    for window in (NIGHT, FIRST, SECOND):
        path = written(tmp_path, window=window)
        for name in engines:
            with pytest.raises(tf.TakifuguError, match="the rows does not tell which") as caught:
                read(path, ENGINES[name](rows))
            assert 'ambiguous = "first" or "last", or "drop"' in str(caught.value)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", ["time", "text"])
@pytest.mark.parametrize(
    ("rule", "night", "first", "second"), [("first", 6, 2, 0), ("last", 6, 0, 2), ("drop", 4, 0, 0)]
)
def test_rows_of_the_hour_are_read_by_the_rule(
    tmp_path: Path, rule: str, night: int, first: int, second: int, kind: str
) -> None:
    as_csv(tmp_path, days(1))
    for window, steps, busy in ((FIRST, 2, first), (SECOND, 2, second), (AFTER, 48, 4), (NIGHT, 50, night)):
        path = written(tmp_path, f'ambiguous = "{rule}"', window)
        assert read(path) == [(steps, busy)] * 2, window
    for name, engine in ENGINES.items():
        assert read(path, engine(columns(days(1), kind))) == [(50, night)] * 2, name


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "last", "drop"])
def test_rows_that_tell_their_offset_need_no_rule(tmp_path: Path, rule: str) -> None:
    rows = [f"N,2026-10-25T02:{minute}:00+0{ahead}:00,busy" for ahead in (2, 1) for minute in ("00", "30")]
    (tmp_path / "ward.csv").write_text("\n".join(["ward,time,state", *rows]), encoding="utf-8")
    for window in (FIRST, SECOND):
        assert read(written(tmp_path, f'ambiguous = "{rule}"', window)) == [(2, 2)]


@pytest.mark.slow
def test_two_rows_that_a_rule_puts_into_one_step_are_two_rows_in_one_step(tmp_path: Path) -> None:
    as_csv(tmp_path, days(2))
    assert read(written(tmp_path)) == [(50, 8)] * 2  # the order of the rows tells
    for rule in ("first", "last"):
        with pytest.raises(tf.TakifuguError, match="has ties within one piece"):
            read(written(tmp_path, f'ambiguous = "{rule}"'))
        assert read(written(tmp_path, f'ambiguous = "{rule}"\nduplicates = "first"')) == [(50, 6)] * 2
    assert read(written(tmp_path, 'ambiguous = "drop"')) == [(50, 4)] * 2


@pytest.mark.parametrize(("changes", "words"), [
    ((("{keys}", 'ambiguous = "earliest"'),), "source.ambiguous: is 'earliest'"),
    ((("{keys}", "ambiguous = true"),), "source.ambiguous:"),
    ((("{keys}", 'ambiguous = "first"'), ('timezone = "Europe/Berlin"', "")),
     "source.ambiguous: ambiguous is 'first' and no time zone is declared"),
    ((("{keys}", 'ambiguous = "drop"'), ('step = "{step}"', ""), ("{window}", ""),
      ('from = "2026-10-19"\nuntil = "2026-11-02"', "")),
     "source.ambiguous: ambiguous is 'drop' and no step is declared"),
])  # fmt: skip
def test_a_rule_that_there_is_not_is_refused(tmp_path: Path, changes: Changes, words: str) -> None:
    as_csv(tmp_path, days(1))
    text = changed(FILE, *changes).replace("{step}", "30min").replace("{window}", NIGHT).replace("{keys}", "")
    (tmp_path / "ward.toml").write_text(text, encoding="utf-8")
    caught = refusal_of(tmp_path / "ward.toml")
    line = next(line for line in caught.problems if line.startswith("source.ambiguous"))
    assert line.startswith(words), line
    fixes = ('"first" or "last" or "drop"', 'timezone = "Europe/Berlin"', 'step = "1h"')
    assert any(fix in line for fix in fixes), line


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "words"), [
    ("first", "a time that clocks showed twice is that of the first pass, unless its row tells the offset"),
    ("last", "a time that clocks showed twice is that of the last pass"),
    ("drop", "rows at a time that clocks showed twice are left out, and nothing is promised about them"),
])  # fmt: skip
def test_the_certificate_says_how_the_hour_is_read(tmp_path: Path, rule: str, words: str) -> None:
    as_csv(tmp_path, days(1))
    (table,) = tf.release_file(written(tmp_path, f'ambiguous = "{rule}"'), anyway=True).tables
    assert words in " ".join(table.certificate.text().split())


@pytest.mark.slow
def test_another_rule_is_another_layout_of_the_source(tmp_path: Path) -> None:
    as_csv(tmp_path, days(1))

    def spent(rule: str, window: str) -> float:
        path = written(tmp_path, f'ambiguous = "{rule}"', window)
        path.write_text(path.read_text(encoding="utf-8").replace('name = "busy"', f'name = "busy-{rule}"'))
        tf.release_file(path, anyway=True)
        return float(Ledger.open(tmp_path / "ledger.db").spent("ward").spent.epsilon)

    alone = spent("first", BEFORE)
    path = written(tmp_path, 'ambiguous = "last"', AFTER)
    assert any("ambiguous" in notice for notice in tf.open_study(path).compare().notices)
    assert spent("last", AFTER) >= 2 * alone

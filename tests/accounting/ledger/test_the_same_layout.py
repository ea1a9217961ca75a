"""What an honest person corrects in a release file costs nothing, what moves entries costs little, the rest all.

One hourly ward, a table a week; the edits are made after three weeks, or after a year.
"""

import datetime as dt
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.releases import paid
from tests.support.workbooks import write_workbook

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import DataError

FILE = release_text(
    read_from("s", "{file}", value="state", order="{order}", step="1h", from_="2026-01-05", budget=9999) + "\n{more}",
    believe("markov-chain", states=["calm", "busy"]) + "\nmatrix = {matrix}\n{belief}",
    publish("busy", "count", states=["busy"]) + "\nepsilon = {epsilon}\n{item}",
    ledger="a.db", expect=EXPECT,
)  # fmt: skip
STAYS, WEEKLY = "[[0.9, 0.1], [0.4, 0.6]]", 'every = "week"'
FIRST = dt.datetime(2026, 1, 5)


def written(folder: Path, more: str = "", file: str = "w.csv", **changes: Any) -> Path:
    keys = {"order": "t", "matrix": STAYS, "belief": "", "epsilon": 0.5, "item": WEEKLY}
    (folder / "f.toml").write_text(FILE.format(file=file, more=more, **{**keys, **changes}))
    return folder / "f.toml"


def release(folder: Path, more: str = "", file: str = "w.csv", data: Any = None, **changes: Any) -> float:
    """Publish, and return what was spent then."""
    window = changes.pop("window", None)
    return float(paid(written(folder, more, file, **changes), data=data, window=window))


def spent(folder: Path) -> float:
    return float(Ledger.open(folder / "a.db").spent("s").spent.epsilon)


def hours(weeks: int) -> list[str]:
    return [f"{FIRST + dt.timedelta(hours=h):%Y-%m-%dT%H:%M}" for h in range(168 * weeks)]


@pytest.fixture(scope="module", params=[3, pytest.param(51, marks=pytest.mark.slow)])
def ward(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A ward of which a table was published each week, and how many there were."""
    folder, weeks = tmp_path_factory.mktemp("ward"), request.param
    (folder / "w.csv").write_text("t,state\n" + "".join(f"{t},calm\n" for t in hours(weeks)))
    assert release(folder, f'until = "{FIRST + dt.timedelta(weeks=weeks):%Y-%m-%d}"') == 0.5
    (folder / "w.csv").write_text("t,state\n" + "".join(f"{t},calm\n" for t in hours(weeks + 1)))
    return folder, weeks + 1


@pytest.fixture
def folder(ward: tuple[Path, int], tmp_path: Path) -> Path:
    shutil.copytree(ward[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def next_week(folder: Path, ward: tuple[Path, int], more: str = "", **changes: Any) -> float:
    last = FIRST + dt.timedelta(weeks=ward[1] - 1)
    return release(folder, more, window=f"{last:%G-W%V}", **changes)


@pytest.mark.parametrize(("more", "belief"), [
    ('delimiter = ","', ""), ('thousands = ","', ""), ('encoding = "latin-1"', ""), ('timezone = "Etc/UTC"', ""),
    ('order_format = "%Y-%m-%dT%H:%M"', ""), ('duplicates = "first"', ""), ('duplicates = "last"', ""),
    ('missing = ["NA", "–"]', ""), ("", 'map = { idle = "calm" }'), ('round_to = "1h"', ""),
    ('timezone = "UTC"\nencoding = "utf-8"\nheader = true\nnulls = "unobserved"', ""),
])  # fmt: skip
def test_edits_that_change_no_entry(folder: Path, ward: tuple[Path, int], more: str, belief: str) -> None:
    assert next_week(folder, ward, more, belief=belief) == 0.5


def test_the_year_goes_on_after_an_edit(folder: Path, ward: tuple[Path, int]) -> None:
    assert next_week(folder, ward, 'duplicates = "first"') == 0.5
    assert release(folder, 'missing = ["NA"]', window="2026-W02") < 1.06  # the same week again
    Ledger.open(folder / "a.db").rebuild()
    assert spent(folder) < 1.06
    with closing(sqlite3.connect(folder / "a.db")) as ledger:
        assert ledger.execute("select alike, count(*) from layouts group by alike").fetchall() == [(0, 3)]


@pytest.mark.parametrize(("first", "second"), [
    pytest.param({"more": 'duplicates = "first"'}, {"more": 'duplicates = "last"'}, id="duplicates"),
    pytest.param({"belief": 'map = { idle = "calm" }'}, {"belief": 'map = { idle = "busy" }'}, id="maps"),
])  # fmt: skip
def test_two_rules_differ(
    folder: Path, ward: tuple[Path, int], first: dict[str, str], second: dict[str, str]
) -> None:
    """Both extend what was declared before: beside each other each counts as a change of everything."""
    assert next_week(folder, ward, **first) == 0.5
    assert release(folder, **second, window="2026-W02") > 100


def test_blanks_around_a_mapped_value_make_it_no_other_one(tmp_path: Path) -> None:
    """A value tells an hour's state and that of the hour before: that of ten o'clock is read twice, so 2 is true."""
    rows = [f"2026-01-05T{h:02}:00,was calm is calm\n" for h in range(24)]
    (tmp_path / "d.csv").write_text("t,state\n" + "".join(rows))
    texts = [f"was {was} is {now}" for was in ("calm", "busy") for now in ("calm", "busy")]
    now = ", ".join(f'"{text}" = "{text.split()[3]}"' for text in texts)
    was = ", ".join(f'"{text} " = "{text.split()[1]}"' for text in texts)
    until = 'until = "2026-01-06"'
    release(tmp_path, until, "d.csv", belief=f"map = {{ {now} }}", item=hour(10), **FAIR)
    assert release(tmp_path, until, "d.csv", belief=f"map = {{ {was} }}", item=hour(11), **FAIR) >= 2


@pytest.mark.parametrize("engine", ["pandas", "parquet"])
def test_two_texts_of_one_number_are_one_value_of_a_column_of_numbers(tmp_path: Path, engine: str) -> None:
    """A number tells an hour's state and that of the hour before: that of ten o'clock is read twice, so 2 is true."""
    rows: Any = pd.DataFrame({"t": hours(1)[:24], "state": [0.0, 1.0, 3.0, 2.0] * 6})
    rows.to_parquet(tmp_path / "d.parquet")
    file, data = ("d.parquet", None) if engine == "parquet" else ("d.csv", rows)
    now = 'map = { "0" = "calm", "1" = "busy", "2" = "calm", "3" = "busy" }'
    was = 'map = { "0.0" = "calm", "01" = "calm", "2.0" = "busy", "3e0" = "busy" }'
    until = 'until = "2026-01-06"'
    assert release(tmp_path, until, file, data, belief=now, item=hour(10), **FAIR) == 1
    assert release(tmp_path, until, file, data, belief=was, item=hour(11), **FAIR) >= 2


def test_a_column_of_numbers_has_no_value_of_two_states(tmp_path: Path) -> None:
    """Which text came first decided, and a layout does not say which did: two maps were one, and 2 was true."""
    rows = pd.DataFrame({"t": hours(1)[:24], "state": [0, 1, 3, 2] * 6})
    belief = 'map = { "0" = "calm", "00" = "busy", "1" = "busy", "2" = "calm", "3" = "busy" }'
    with pytest.raises(DataError, match="two states are written as texts that are one value in a column of type"):
        release(tmp_path, 'until = "2026-01-06"', "d.csv", rows, belief=belief, item=hour(10), **FAIR)
    (tmp_path / "d.csv").write_text("t,state\n" + "".join(f"{t},00\n" for t in hours(1)[:24]))
    assert release(tmp_path, 'until = "2026-01-06"', "d.csv", belief=belief, item=hour(10), **FAIR) == 1


@pytest.mark.parametrize(("end", "text"), [('end = "left"', "07.01.2026"), ('duration = ["left", "1d"]', "2")])
def test_an_end_that_is_missing_now_is_another_one(tmp_path: Path, end: str, text: str) -> None:
    """The stay of two days lasts on where its end is missing: its state is read twice, days apart, so 2 is true."""
    (tmp_path / "d.csv").write_text(f"came,left,state\n05.01.2026,{text},busy\n")
    stays = 'rows = "stays"\norder = "came"\ndefault_state = "calm"\nuntil = "2026-02-05"\norder_format = "%d.%m.%Y"'

    costs = []
    for more, day in (("", 6), (f'\nmissing = ["{text}"]', 20)):
        item = f'mechanism = "group"\nfrom = "2026-01-{day:02}"\nto = "2026-01-{day + 1:02}"'
        file = written(tmp_path, f"{stays}\n{end}{more}", "d.csv", order="", item=item, **FAIR)
        file.write_text(file.read_text().replace('order = ""\n', "").replace('"1h"', '"1d"'))
        costs.append(float(paid(file)))
    assert costs[0] == 1
    assert costs[1] >= 2


def test_what_a_change_costs_is_said_before_it_is_paid(folder: Path, ward: tuple[Path, int]) -> None:
    last, file = FIRST + dt.timedelta(weeks=ward[1] - 1), written(folder, 'duplicates = "first"')
    said = " ".join(str(tf.forecast(file, window=f"{last:%G-W%V}")).split())
    free = 'your change costs nothing, every row that was read before is read as it was then: duplicates = "first"'
    assert free in said
    assert spent(folder) == 0.5


ONE_HOUR = 'mechanism = "group"\nfrom = "2026-01-05T{:02}:00"\nto = "2026-01-05T{:02}:00"'
FAIR: dict[str, Any] = {"matrix": "[[0.5, 0.5], [0.5, 0.5]]", "epsilon": 1}


def hour(start: int) -> str:
    return ONE_HOUR.format(start, start + 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["frame", "parquet", "texts", "json", "epoch"])
def test_times_that_carry_their_offset_are_others_than_clock_times(tmp_path: Path, kind: str) -> None:
    """The row of ten o'clock, both times: what is true is 2."""
    clock = [f"2026-01-05T{h:02}:00" for h in range(3, 20)]
    (tmp_path / "d.csv").write_text("t,state\n" + "".join(f"{t},busy\n" for t in clock))
    until = 'until = "2026-01-06"'
    release(tmp_path, until, "d.csv", item=hour(10), **FAIR)
    frame = pd.DataFrame({"t": pd.to_datetime(clock).tz_localize("Europe/Berlin"), "state": "busy"})
    more, file, data = until, "d.csv", None
    if kind == "frame":
        data = frame
    elif kind == "parquet":
        frame.to_parquet(tmp_path / "d.parquet")
        file = "d.parquet"
    elif kind == "texts":
        (tmp_path / "o.csv").write_text("t,state\n" + "".join(f"{t}+01:00,busy\n" for t in clock))
        file = "o.csv"
    elif kind == "json":
        lines = (f'{{"t": "{t}+01:00", "state": "busy"}}\n' for t in clock)
        (tmp_path / "o.jsonl").write_text("".join(lines))
        file = "o.jsonl"
    else:
        seconds = (int(pd.Timestamp(t, tz="Europe/Berlin").timestamp()) for t in clock)
        (tmp_path / "e.csv").write_text("t,state\n" + "".join(f"{t},busy\n" for t in seconds))
        file, more = "e.csv", f'{until}\norder_format = "epoch"'
    assert release(tmp_path, more, file, data, item=hour(9), **FAIR) >= 2


#: Busy hours, by their start and by their end.
TABLES = {
    name: [(f"2026-01-05T{h + later:02}:00", "busy") for h in range(3, 20)]
    for name, later in (("at_start", 0), ("at_end", 1))
}


def database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as base:
        for name, rows in TABLES.items():
            base.execute(f"create table {name} (t text, state text)")
            base.executemany(f"insert into {name} values (?, ?)", rows)
        base.commit()


@pytest.mark.parametrize(("file", "key"), [("d.sqlite", "table"), ("d.xlsx", "sheet")])
def test_another_table_holds_the_same_states_one_step_later(tmp_path: Path, file: str, key: str) -> None:
    if key == "table":
        database(tmp_path / file)
    else:
        write_workbook(tmp_path / file, {name: [("t", "state"), *rows] for name, rows in TABLES.items()})
    until = 'until = "2026-01-06"'
    release(tmp_path, f'{until}\n{key} = "at_start"', file, item=hour(10), **FAIR)
    assert release(tmp_path, f'{until}\n{key} = "at_end"', file, item=hour(11), **FAIR) >= 2


def test_a_header_of_more_lines_is_another_layout_in_every_format(tmp_path: Path) -> None:
    rows = [("t", "state"), *((f"2026-01-05T{h:02}:00", "busy") for h in range(3, 20))]
    spent = dict[str, list[float]]()
    for suffix in ("csv", "xlsx"):
        folder = tmp_path / suffix
        folder.mkdir()
        (folder / "d.csv").write_text("".join(f"{t},{state}\n" for t, state in rows))
        write_workbook(folder / "d.xlsx", {"log": rows})
        spent[suffix] = [release(folder, f'until = "2026-01-06"\nheader = {header}', f"d.{suffix}", item=item, **FAIR)
                         for header, item in (("1", hour(10)), ("1", hour(11)), ("[1, 2]", hour(12)))]  # fmt: skip
        first, again, other = spent[suffix]
        assert again < 1.1 * first < other - first
    assert spent["xlsx"] == spent["csv"]


def test_the_table_that_was_the_only_one_is_declared(tmp_path: Path) -> None:
    database(tmp_path / "d.sqlite")
    until = 'until = "2026-01-06"'
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as base:
        base.execute("drop table at_end")
    release(tmp_path, until, "d.sqlite", item=hour(10), **FAIR)
    database(tmp_path / "two.sqlite")
    assert release(tmp_path, f'{until}\ntable = "at_start"', "two.sqlite", item=hour(11), **FAIR) < 1.01


@pytest.mark.parametrize(("name", "limit", "is_frame"), [("Zoë", 52, False), ("Zoe", 0.5, False), ("Zoë", 52, True)])
def test_names_beyond_ascii_are_others_in_another_encoding(
    tmp_path: Path, name: str, limit: float, is_frame: bool
) -> None:
    """Two names of one person are two accounts, so everybody pays for everything; a frame's are those of UTF-8."""
    rows = [(name, t, "calm") for t in hours(2)]
    text, frame = "".join(",".join(row) + "\n" for row in [("who", "t", "state"), *rows]), None
    before, now = 'unit = "who"\nencoding = "latin-1"', 'unit = "who"'
    if is_frame:
        frame, before, now = pd.DataFrame(rows, columns=["who", "t", "state"]), now, before
    about = {"belief": "units_independent = true"}
    (tmp_path / "w.csv").write_text(text, encoding="latin-1")
    release(tmp_path, before, data=frame, window="2026-W02", **about)
    (tmp_path / "w.csv").write_text(text, encoding="utf-8")
    assert limit <= release(tmp_path, now, window="2026-W03", **about) < limit + 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("hints", [("step",), ("step", "from", "until"), ("timezone", "step", "from", "until")])
def test_the_hints_of_a_draft_may_be_taken_later(tmp_path: Path, hints: tuple[str, ...]) -> None:
    """The file that `init` drafted for this ward at 593ec37b, filled in and released once, without its hints."""
    (tmp_path / "w.csv").write_text("t,state\n" + "".join(f"{t},calm\n" for t in hours(4)))
    text = (Path(__file__).parent / "files" / "drafted.toml").read_text()
    values = {"timezone": "Etc/GMT-1", "step": "1h", "from": "2026-01-05", "until": "2026-02-10"}
    for before, now in (
        ('# states = ["still", "walking"]', 'states = ["calm", "busy"]'), ("budget = 1.0 ", "budget = 99.0 "),
        ("# matrix = [[0.9, 0.1], [0.4, 0.6]]", f"matrix = {STAYS}"),
    ):  # fmt: skip
        assert text.count(before) == 1
        text = text.replace(before, now)
    assert cost_of(tmp_path, text) == 1
    for key in hints:
        assert text.count(f"\n# {key} =") == 1
        text = re.sub(rf"\n# {key} = .*", f'\n{key} = "{values[key]}"', text)
    assert 2 <= cost_of(tmp_path, text) <= 2.1


def cost_of(folder: Path, text: str) -> float:
    """Publish what a drafted file says, and return what was spent then."""
    (folder / "release.toml").write_text(text)
    return float(paid(folder / "release.toml", "release-ledger.db", "w"))


@pytest.mark.parametrize("zone", ["Africa/Lagos", "Etc/GMT-3"])
def test_a_true_change_of_zone(folder: Path, ward: tuple[Path, int], zone: str) -> None:
    cost = next_week(folder, ward, f'timezone = "{zone}"')
    assert 1 <= cost <= 1.1
    Ledger.open(folder / "a.db").rebuild()
    assert spent(folder) == cost
    assert release(folder, window="2026-W02") >= cost  # and back again

"""Nobody gets a cheaper ledger by describing the same data in another way: each case asks, refuses, or is charged.

A case for each way that was found to make one value two entries, by how rows become entries. The true losses were found
by enumeration that shares no code with the library. What nobody answered is never the same: each case is first refused,
and then charged as other entries at its true loss at least.
"""

import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.support.commands import invoke, words_of
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import paid, put
from tests.support.workbooks import write_workbook

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError, ReadingChanged, SpecError
from takifugu.core.readings import same_entries
from takifugu.releasing.publishing.adopting import adopt, certificates_in

DAY = "2026-01-05T"
TWO = '["calm","busy"]'
CALENDAR = 'order = "t"\nstep = "1h"\nfrom = "2026-01-05"\nuntil = "2026-01-06"'
ONE_HOUR = 'states = ["busy"]\nmechanism = "quilt-exact"\nfrom = "2026-01-05T{:02}:00"\nto = "2026-01-05T{:02}:00"'


def hour(start: int) -> str:
    return ONE_HOUR.format(start, start + 1)


def release_file(folder: Path, data: str, source: str, belief: str = "", item: str = "", states: str = TWO) -> Path:
    """Write a release file of a count under a belief in which nothing tells of anything else."""
    k = len(states.split(","))
    row = "[" + ",".join([str(1 / k)] * k) + "]"
    about = f'kind = "markov-chain"\nstates = {states}\nmatrix = [{",".join([row] * k)}]\n{belief}'
    return written(folder, f'file = "{data}"\n{source}', about, f'query = "count"\n{item}')


def written(folder: Path, source: str, belief: str, item: str) -> Path:
    path, source = folder / "f.toml", source.removeprefix('file = ""\n')
    if "\nrows = " not in source and 'kind = "markov-chain' in belief:
        source = f'rows = "samples"\n{source}'
    path.write_text(
        f'ledger = "a.db"\n[expect]\nsource = "a test"\nmatters = 1000\n[source]\nname = "s"\nbudget = 9999\n{source}\n'
        f'[belief]\n{belief}\n[[table]]\nname = "t"\nepsilon = 1\n{item}\n'
    )
    return path


def first_refused(path: Path, data: object = None) -> Fraction:
    """Publish a file that reads the source otherwise: it is refused and nothing is paid, and then it is others."""
    before = (path.parent / "a.db").read_bytes()
    with pytest.raises(ReadingChanged, match="are these the same entries"):
        paid(path, data=data)
    assert (path.parent / "a.db").read_bytes() == before
    cost = paid(path, data=data, other_entries=True)
    assert Ledger.open(path.parent / "a.db").check() == ()
    return cost


def hours(folder: Path) -> None:
    rows = "".join(f"{DAY}{h:02}:00,busy,calm\n" for h in range(3, 20))
    (folder / "h.csv").write_text(f"t,state,lag\n{rows}")


def test_pieces_that_are_cut_differently(tmp_path: Path) -> None:
    """Of one name they are the owner's word; of two names somebody has to say it, and others are paid for."""
    chain = tf.MarkovChain([[0.999, 0.001], [0.001, 0.999]], 1)

    def cut(lengths: list[int]) -> Any:
        framework = tf.Pufferfish(tf.every_entry(), tf.IndependentPieces(chain, lengths))
        return tf.calibrate(framework, tf.Count(1), epsilon=1, mechanism="group-dp")

    hours, stays, data, where = cut([1] * 40), cut([20] * 2), [0] * 40, tmp_path / "a.db"
    tf.release(hours, [[s] for s in data], entries="hours", ledger=where, source="s", budget=99)
    again = {"ledger": where, "source": "s", "budget": 99}
    for name in ({"entries": "stays"}, {}):
        with pytest.raises(ReadingChanged):
            tf.release(stays, [data[:20], data[20:]], **name, **again)
    tf.release(stays, [data[:20], data[20:]], entries="stays", other_entries=True, **again)
    assert Ledger.open(where).spent("s").epsilon >= 13.93


@pytest.mark.mutants
@pytest.mark.parametrize("first", [0, 1, 2])
def test_another_column_of_units(tmp_path: Path, first: int) -> None:
    rows = "".join(f"p{p},w{p // 2},b{p},{t},busy\n" for p in range(4) for t in range(9))
    (tmp_path / "u.csv").write_text(f"patient,ward,bed,t,state\n{rows}")
    independent = "units_independent = true\nrecordings_independent = true"
    files = []
    for unit, piece in [("patient", ""), ("bed", ""), ("ward", 'recording = "patient"')] * 2:
        source = f'value = "state"\norder = "t"\nstep = 1\nunit = "{unit}"\n{piece}'
        files.append((source, independent, 'per = "pooled"\nmechanism = "group-dp"\nstates = ["busy"]'))
    costs = [paid(release_file(tmp_path, "u.csv", *files[first]))]
    costs += [first_refused(release_file(tmp_path, "u.csv", *one)) for one in files[first + 1 : first + 3]]
    assert 0 < costs[0] < 1  # what its noise loses under the belief is less than it promises
    assert costs[1] >= 1 + Fraction(1, 9)  # all data of the one, and the noise about a value of the other
    assert costs[2] >= 2 + Fraction(1, 9)
    book = Ledger.open(tmp_path / "a.db")  # whoever is meant by which name
    assert {book.spent("s", name).epsilon for name in ("p0", "b3", "w1")} == {costs[2]}


BY_HOUR = '''kind = "markov-chain"\nstates = ["calm","busy"]\nmatrix_by = "hour"
matrices = { "02" = [[0.9999, 0.0001], [0.0001, 0.9999]], "03-01" = [[0.5, 0.5], [0.5, 0.5]] }'''


@pytest.mark.mutants
@pytest.mark.parametrize(("day", "is_dear"), [(24, True), (22, False)], ids=["clocks are changed", "one clock"])
def test_hours_of_two_calendars_of_one_zone(tmp_path: Path, day: int, is_dear: bool) -> None:
    """The same in two release files, as the refusal of one calendar says: 1.5 was charged, where clocks change."""
    first = dt.datetime(2026, 10, day, 22)  # midnight in Berlin, and the hour that moves little comes twice
    times = [f"{first + dt.timedelta(hours=n):%Y-%m-%dT%H:%M}Z" for n in range(9)]
    (tmp_path / "h.csv").write_text("t,state\n" + "".join(f"{time},busy\n" for time in times[:8]))
    for start, end in ((0, 3), (3, 8)):
        ends = f'from = "{times[start]}"\nuntil = "{times[end]}"'
        keys = f'order = "t"\nwhere = "t >= \'{times[start]}\' and t < \'{times[end]}\'"\ntimezone = "Europe/Berlin"'
        item = f'query = "count"\nstates = ["busy"]\nmechanism = "quilt-exact"\n{ends.replace("until", "to")}'
        source = f'file = "h.csv"\nvalue = "state"\nstep = "1h"\n{keys}\n{ends}'
        cost = paid(written(tmp_path, source, BY_HOUR, item))
    assert (cost >= 2) == is_dear


#: Busy hours, by their start and by their end.
TABLES = {name: [(f"{DAY}{h + later:02}:00", "busy") for h in range(3, 20)]
          for name, later in (("at_start", 0), ("at_end", 1))}  # fmt: skip


def in_sqlite(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "d.sqlite")) as base:
        for name, rows in TABLES.items():
            base.execute(f"create table {name} (t text, state text)")
            base.executemany(f"insert into {name} values (?, ?)", rows)
        base.commit()


def in_excel(folder: Path) -> None:
    write_workbook(folder / "d.xlsx", {name: [("t", "state"), *rows] for name, rows in TABLES.items()})


def with_rows(name: str, header: str, rows: Iterable[str]) -> Callable[[Path], Path]:
    return lambda folder: put(folder, {name: "\n".join([header, *rows, ""])})


def by_zone(zone: str) -> str:
    clocks = CALENDAR.replace('"t"', f"\"t::timestamp AT TIME ZONE '{zone}'\"")
    return f'value = "state"\n{clocks}\ntimezone = "{zone}"'


def from_rows(name: str, rule: str) -> str:
    return f"sql = \"from read_csv('{name}', all_varchar = true) QUALIFY row_number() OVER ({rule}) = 1\""


STATE = 'value = "state"'
EVERY = 'states = ["busy"]\nmechanism = "quilt-exact"'
FOUR = '["00","01","10","11"]'
MINUTES = [f"{DAY}{h:02}:{m:02},{DAY}{h:02}:00,{'busy' if h % 2 else 'calm'}" for h in range(24) for m in range(60)]
WHOLE = 'from = "2026-01-05"\nuntil = "2026-01-06"'
NUMBERED = with_rows("n.csv", "n,state", [f"{n},busy" for n in range(24)])
BY_NAME = [(f'{STATE}\n{CALENDAR}\nsql = "from {name}"', hour(start))
           for name, start in (("at_start", 10), ("at_end", 11))]  # fmt: skip
#: What writes the data, their file, each reading with its question, and what all of them tell: the first costs 1.
READINGS: dict[str, tuple[Callable[[Path], object], str, Sequence[tuple[str, str]], int]] = {
    "zones of clocks": (
        hours, "h.csv", [(by_zone(zone), hour(10)) for zone in ("UTC", "Europe/Berlin", "Asia/Tokyo")], 3),
    "columns of values": (hours, "h.csv", [
        (f'value = "{column}"\n{CALENDAR}', hour(start)) for column, start in (("state", 10), ("lag", 11))], 2),
    "steps": (with_rows("m.csv", "t,hour,state", MINUTES), "", [
        (f'{from_rows("m.csv", "PARTITION BY hour ORDER BY t")}\n{STATE}\norder = "hour"\nstep = "1h"\n{WHOLE}', EVERY),
        (f'file = "m.csv"\n{STATE}\norder = "t"\nstep = "1min"\n{WHOLE}', EVERY)], 61),
    "which rows count": (
        with_rows("k.csv", "t,n,state", [f"{DAY}{h:02}:00,{s},{s}" for h in range(24) for s in ("00", "10")]), "",
        [(f'{from_rows("k.csv", f"PARTITION BY t ORDER BY n {rule}")}\n{STATE}\n{CALENDAR}',
          hour(start).replace('["busy"]', counted))
         for rule, counted, start in (("desc", '["10","11"]', 10), ("asc", '["01","11"]', 11))], 2),
    "maps of raw values": (  # one holds two hours
        with_rows("p.csv", "t,state", [f"{DAY}{h:02}:00,{h % 2}{(h + 1) % 2}" for h in range(24)]), "p.csv", [
            (f"value = \"CASE state WHEN '01' THEN '{one}' WHEN '10' THEN '{two}' END\"\n{CALENDAR}", hour(start))
            for one, two, start in (("calm", "busy", 10), ("busy", "calm", 11))], 2),
    "a date inside an expression": (NUMBERED, "n.csv", [
        (f"{STATE}\norder = \"'{day}'::timestamp + to_hours(n::bigint)\"\nstep = \"1h\"\n"
         f'from = "{day}"\nuntil = "2026-01-20"', EVERY) for day in ("2026-01-05", "2026-01-12")], 2),
    "a number inside an expression": (NUMBERED, "n.csv", [
        (f'{STATE}\norder = "n::bigint + {at}"\nstep = 1\nfrom = {at}\nuntil = 99', EVERY) for at in (24, 48)], 2),
    "a date of the calendar that where asks of something else": (
        with_rows("k.csv", "t,made,state", [f"{DAY}{h:02}:00,2026-01-0{n},busy" for h in range(24) for n in (4, 5)]),
        "k.csv", [(f"{STATE}\nwhere = \"made = '{day}'\"\n"
                   f'{CALENDAR.replace("2026-01-05", day)}', hour(10)) for day in ("2026-01-04", "2026-01-05")], 2),
    "tables of a database": (in_sqlite, "d.sqlite", BY_NAME, 2),
    "sheets of a workbook": (in_excel, "d.xlsx", BY_NAME, 2),
}  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize("name", READINGS)
def test_rows_that_are_read_otherwise_are_asked_about_and_charged_by_what_is_true(name: str, tmp_path: Path) -> None:
    write, data, readings, least = READINGS[name]
    write(tmp_path)
    costs = list[Fraction]()
    for source, item in readings:
        file = release_file(tmp_path, data, source, "", item, FOUR if name == "which rows count" else TWO)
        costs.append(first_refused(file) if costs else paid(file))
    assert costs[0] == 1
    assert costs == sorted(costs)
    assert costs[-1] >= least


@pytest.mark.mutants
def test_a_window_of_a_growing_file_asks_nothing(tmp_path: Path) -> None:
    rows = "".join(f"2026-01-{d:02}T{h:02}:00,busy\n" for d in (5, 6) for h in range(24))
    (tmp_path / "g.csv").write_text(f"t,state\n{rows}")
    for day in (5, 6):
        ends = f'from = "2026-01-{day:02}"\nuntil = "2026-01-{day + 1:02}"'
        keys = f"where = \"t >= '2026-01-{day:02}' and t < '2026-01-{day + 1:02}'\"\norder = \"t\"\nstep = \"1h\""
        item = hour(10).replace("2026-01-05", f"2026-01-{day:02}")
        cost = paid(release_file(tmp_path, "g.csv", f'value = "state"\n{keys}\n{ends}', "", item))
    assert cost == pytest.approx(1, abs=1e-4)


@pytest.mark.mutants
def test_people_who_are_named_by_their_files_are_the_same_in_another_folder(tmp_path: Path) -> None:
    """They had a budget in each folder."""
    costs = []
    for folder in ("logs", "more"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ana.csv").write_text("t,state\n" + "".join(f"{h},busy\n" for h in range(9)))
        sql = f"sql = \"from read_csv('{folder}/*.csv', filename = true)\""
        source = f'{sql}\nunit = "filename"\nvalue = "state"\norder = "t"\nstep = 1'
        item = 'states = ["busy"]\nmechanism = "group-dp"'
        costs.append(paid(release_file(tmp_path, "", source, "units_independent = true\nmax_length = 9", item)))
    assert costs[1] > 1.99 * costs[0] > 0


CLOCK = [f"{DAY}{h:02}:00" for h in range(3, 20)]


def with_offsets(folder: Path, kind: str) -> tuple[str, object, str]:
    """Write the rows of CLOCK as moments: the file, or the frame, and what `order` says then."""
    frame = pd.DataFrame({"t": pd.to_datetime(CLOCK).tz_localize("Europe/Berlin"), "state": "busy"})
    if kind == "frame":
        return "d.csv", frame, "t"
    if kind == "parquet":
        frame.to_parquet(folder / "d.parquet")
        return "d.parquet", None, "t"
    if kind == "texts":
        (folder / "o.csv").write_text("t,state\n" + "".join(f"{t}+01:00,busy\n" for t in CLOCK))
        return "o.csv", None, "t"
    if kind == "json":
        (folder / "o.jsonl").write_text("".join(f'{{"t": "{t}+01:00", "state": "busy"}}\n' for t in CLOCK))
        return "o.jsonl", None, "t"
    seconds = (int(pd.Timestamp(t, tz="Europe/Berlin").timestamp()) for t in CLOCK)
    (folder / "e.csv").write_text("t,state\n" + "".join(f"{t},busy\n" for t in seconds))
    return "e.csv", None, "to_timestamp(t::bigint)"


@pytest.mark.mutants
@pytest.mark.parametrize("kind", ["frame", "parquet", "texts", "json", "epoch"])
def test_moments_are_others_than_clocks(tmp_path: Path, kind: str) -> None:
    """The row of ten o'clock, both times: what is true is 2."""
    (tmp_path / "d.csv").write_text("t,state\n" + "".join(f"{t},busy\n" for t in CLOCK))
    paid(release_file(tmp_path, "d.csv", f'value = "state"\n{CALENDAR}', "", hour(10)))
    name, frame, order = with_offsets(tmp_path, kind)
    for zone, start in (("UTC", 9), ("Europe/Berlin", 10)):
        source = f'value = "state"\n{CALENDAR}\ntimezone = "{zone}"'.replace('"t"', f'"{order}"')
        file = release_file(tmp_path, name, source, "", hour(start))
        with pytest.raises(ReadingChanged):
            paid(file, data=frame)
    assert first_refused(file, frame) >= 2


WEEKLY = release_text(
    read_from("s", "w.csv", value="state", order="t", step="1h", from_="2026-01-05", budget=9999) + "\n{more}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=0.5, every="week"),
    ledger="a.db", expect=EXPECT,
)  # fmt: skip


def ward(folder: Path, weeks: int, before: str = "", now: str = "") -> Path:
    """Write the hours of a ward, and the file of its weekly tables, with a part of it written otherwise."""
    first = dt.datetime(2026, 1, 5)
    times = [f"{first + dt.timedelta(hours=h):%Y-%m-%dT%H:%M}" for h in range(168 * weeks)]
    (folder / "w.csv").write_text("t,state\n" + "".join(f"{t},calm\n" for t in times))
    until = f'until = "{first + dt.timedelta(weeks=weeks):%Y-%m-%d}"'
    (folder / "f.toml").write_text(changed(WEEKLY.replace("{more}", until), (before or until, now or until)))
    return folder / "f.toml"


FILTERED = "value = \"nullif(state, 'NA')\""
EDITS = [
    ("budget = 9999", 'budget = 9999\nencoding = "latin-1"'), ("budget = 9999", "budget = 9999\nwhere = \"t <> ''\""),
    ('order = "t"', "order = \"strptime(t, '%Y-%m-%dT%H:%M')\""), ('value = "state"', FILTERED),
    ('value = "state"', "value = \"CASE state WHEN 'idle' THEN 'calm' ELSE state END\""),
    ('order = "t"', "order = \"time_bucket(INTERVAL '1 h', t::timestamp)\""),
    ('order = "t"', "order = \"t::timestamp AT TIME ZONE 'UTC'\"\ntimezone = \"Etc/UTC\""),
    ('file = "w.csv"', "sql = \"select distinct t, state from read_csv('w.csv', all_varchar = true)\""),
    ("budget = 9999", 'budget = 9999\nnulls = "unobserved"'), ("budget = 9999", 'budget = 9999\ngaps = "public"'),
]  # fmt: skip


@pytest.mark.mutants
@pytest.mark.parametrize(("before", "now"), EDITS)
def test_an_honest_edit_is_asked_about_once_and_free(tmp_path: Path, before: str, now: str) -> None:
    assert paid(ward(tmp_path, 2)) == 0.5
    file = ward(tmp_path, 3, before, now)
    with pytest.raises(ReadingChanged):
        paid(file, window="2026-W04")
    assert paid(file, window="2026-W04", same_entries="told") == 0.5
    assert paid(ward(tmp_path, 4, before, now), window="2026-W05") == 0.5
    assert paid(ward(tmp_path, 5), window="2026-W06") == 0.5  # and back again


@pytest.mark.mutants
@pytest.mark.parametrize(("before", "now"), [
    ('step = "1h"', 'step = "60min"'),
    ('until = "2026-01-06"', 'until = "2026-01-07"'),
    ('from = "2026-01-05"', 'from = "2026-01-04"'),
    ("", 'nulls = "refuse"'),
    ("", 'gaps = "hidden"'),
    ("", 'rows = "samples"'),
    ('value = "lower(state)"', 'value = "lower( state )"'),
])  # fmt: skip
def test_the_same_reading_in_other_words_asks_nothing(tmp_path: Path, before: str, now: str) -> None:
    hours(tmp_path)
    source = f'value = "lower(state)"\n{CALENDAR}'
    paid(release_file(tmp_path, "h.csv", source, "", hour(10)))
    changed = source.replace(before, now) if before else f"{source}\n{now}"
    assert paid(release_file(tmp_path, "h.csv", changed, "", hour(18))) < 2


@pytest.mark.mutants
def test_a_copy_of_the_ledger_that_lacks_a_reading_asks_for_it_again(tmp_path: Path) -> None:
    paid(ward(tmp_path, 2))
    old, edit = (tmp_path / "a.db").read_bytes(), ('value = "state"', FILTERED)
    file = ward(tmp_path, 3, *edit)
    paid(file, window="2026-W04", same_entries="told")
    (tmp_path / "a.db").write_bytes(old)
    with pytest.raises(LedgerError, match=r"busy-2026-W04\.certificate\.json"):
        paid(file, window="2026-W04")
    adopt(Ledger.open(tmp_path / "a.db"), certificates_in([tmp_path / "f-published"]), lambda _: True)
    assert paid(ward(tmp_path, 4, *edit), window="2026-W05") > 0.5  # entered as others than before the edit


@pytest.mark.parametrize(("zone", "key"), [("", "order"), ('timezone = "UTC"', "end")])
def test_an_end_and_a_start_of_two_kinds_of_time_are_refused(tmp_path: Path, zone: str, key: str) -> None:
    """Two releases showed one hour twice and were charged for it once: the zone moved each end, and no start."""
    start = pd.to_datetime([f"{DAY}{h:02}:00" for h in range(3, 9)])
    frame = pd.DataFrame({"came": start.tz_localize("UTC"), "left": start + pd.Timedelta(hours=1), "state": "busy"})
    frame.to_parquet(tmp_path / "v.parquet")
    keys = f'value = "state"\nrows = "stays"\norder = "came"\nend = "left"\ndefault_state = "calm"\n{zone}\n'
    source = keys + CALENDAR.replace('order = "t"\n', "")
    with pytest.raises(SpecError, match=f"source.timezone: {key} holds"):
        paid(release_file(tmp_path, "v.parquet", source, "", hour(10).replace("quilt-exact", "group-dp")))
    assert not (tmp_path / "a.db").exists()


LASTS = {
    "stays": ('order = "came"\nend = "left"', "came,left,state\n2026-01-10,2026-01-17,busy\n"),
    "changes": ('order = "came"', "came,state\n2026-01-10,busy\n2026-01-17,calm\n"),
}


@pytest.mark.mutants
@pytest.mark.parametrize("rows", LASTS)
def test_a_date_that_cuts_what_reaches_into_the_calendar(tmp_path: Path, rows: str) -> None:
    """Two weeks, and the second anew without what began in the first: 5.2 was charged where 15.2 was lost.

    By all states of seven days that are busy with .95, at epsilon .2 and 5; five of them without what began before.
    """
    order, text = LASTS[rows]
    (tmp_path / "s.csv").write_text(text)
    keys = f'rows = "{rows}"\nvalue = "state"\ndefault_state = "calm"\nstep = "1d"\nuntil = "2026-01-19"\n{order}'
    files = [f"{keys}\nfrom = \"2026-01-{day}\"\nwhere = \"came >= '2026-01-{day}'\"" for day in ("05", "12")]
    count = 'states = ["busy"]\nmechanism = "group-dp"'
    assert paid(release_file(tmp_path, "s.csv", files[0], "", count)) < 1
    assert first_refused(release_file(tmp_path, "s.csv", files[1], "", count)) > 1


@pytest.mark.parametrize("order", ["day + time::interval", "day::date + time::interval"])
def test_a_moment_is_no_day(tmp_path: Path, order: str) -> None:
    """Midnight in Berlin is a moment, and the day of it is that of clocks somewhere, which nobody has declared."""
    days = pd.to_datetime(["2026-01-06T00:00"] * 4).tz_localize("Europe/Berlin")
    frame = pd.DataFrame({"day": days, "time": [f"{h:02}:00" for h in range(4)], "state": "busy"})
    frame.to_parquet(tmp_path / "v.parquet")
    source = f'value = "state"\n{CALENDAR}'.replace('"t"', f'"{order}"')
    with pytest.raises(SpecError):
        paid(release_file(tmp_path, "v.parquet", source, "", hour(1)))
    assert not (tmp_path / "a.db").exists()


def test_in_python_other_entries_count_beside_those_of_the_same_person(tmp_path: Path) -> None:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.5, 0.5], [0.5, 0.5]], 5))
    made = tf.calibrate(framework, tf.Count(1), 1, mechanism="quilt-exact")
    book = Ledger.open(tmp_path / "a.db")
    account: dict[str, Any] = {"ledger": book, "source": "s", "budget": 99}
    for unit in ("ana", "ben"):
        tf.release(made, [0] * 5, unit=unit, entries="hours", **account)
    with pytest.raises(ReadingChanged, match=r"same_entries='...' in Python"):
        tf.release(made, [0] * 5, unit="ana", entries="beds", **account)
    tf.release(made, [0] * 5, unit="ana", entries="beds", other_entries=True, **account)
    assert book.spent("s", "ana").epsilon >= 6  # five of the one, and what the other promises
    assert book.spent("s", "ben").epsilon == 1


@pytest.mark.parametrize(("after", "is_of_names"), [
    ("unit: a\nvalue: c", False), ("unit: lower(a)\nvalue: c", True), ("unit: a\nvalue: b\nrecording: r", True),
    ("value: b", True),
])  # fmt: skip
def test_whose_a_row_is_is_asked_wherever_that_changed(after: str, is_of_names: bool) -> None:
    assert same_entries("unit: a\nvalue: b", after) == "the same entries" + ", under the same names" * is_of_names


@pytest.mark.mutants
@pytest.mark.parametrize("answer", [{"same_entries": "told"}, {"other_entries": True}])
def test_an_answer_that_nobody_asked_for_is_refused(tmp_path: Path, answer: dict[str, Any]) -> None:
    hours(tmp_path)
    for start in (10, 11):
        file = release_file(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", hour(start))
        with pytest.raises(InputError, match="is read as before, so nobody asks"):
            paid(file, **answer)
        paid(file)


@pytest.mark.mutants
def test_it_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    hours(tmp_path)
    paid(release_file(tmp_path, "h.csv", f'value = "state"\n{CALENDAR}', "", hour(10)))
    other = release_file(tmp_path, "h.csv", f'value = "lag"\n{CALENDAR}', "", hour(11))
    foreseen = tf.dry_run(other, force=True)
    assert not foreseen.refused
    for said in (str(foreseen), str(tf.advise(other))):
        words = " ".join(said.split())
        assert 'before: value: "state" now: value: "lag"' in words
        assert words.count("'s' goes from epsilon 1 to epsilon") >= 2
    assert "are these the same entries?" in str(tf.open_study(other).cost())
    for command in (["cost"], ["cost", "--windows", "2"], ["advise"]):
        assert 'now: value: "lag"' in words_of(invoke(*command, other))
    (document,) = json.loads(invoke("cost", other, "--json").stdout)["files"]
    assert 'now:    value: "lag"' in document["forecast"]["notices"][0]
    assert Ledger.open(tmp_path / "a.db").spent("s").epsilon == 1
    other.write_text(other.read_text().replace("budget = 9999", "budget = 1.5"))
    Ledger.open(tmp_path / "a.db").budget("s", 1.5)
    with pytest.raises(BudgetExceeded):
        paid(other, other_entries=True)


RECORDS = "who,x,again,y,z,income\n" + "".join(
    f"p{n},{'ab'[n % 2]},{'ab'[n % 2]},{'cd'[n // 2]},{'cd'[n // 2]},{10 * n}\n" for n in range(4)
)


def record_file(folder: Path, columns: tuple[str, str], read: str, source: str = "", kind: str = "joint-table") -> Path:
    """Write a release of a column of records, or of the number of records with a value in it."""
    (folder / "r.csv").write_text(RECORDS)
    alphabets = [{"y": "cd", "z": "cd", "income": ("low", "high")}.get(name, "ab") for name in columns]
    rows = json.dumps([[u, v] for u in alphabets[0] for v in alphabets[1]])
    belief = f"columns = {json.dumps(columns)}\nrows = {rows}\nprobabilities = [0.25, 0.25, 0.25, 0.25]\n"
    value, other = alphabets[columns.index(read)]
    item = f'query = "identity"\nattribute = "{read}"\ncodes = {{ {value} = 0, {other} = 1 }}'
    if kind == "independent-records":
        belief += "records = 4\n"
        source, classes = "", source
        belief += f'{classes}\n[hide]\nproperty = {{ attribute = "y", function = "share", of = "c" }}'
        item = f'query = "count"\nattribute = "{read}"\nstates = ["{value}"]'
    else:
        source += '\nunit = "who"'
        belief += f'units_independent = true\n[hide]\nattribute = "{columns[0]}"'
    about = f'kind = "{kind}"\nsource = "assumed"\n{belief}'
    return written(folder, f'file = "r.csv"\n{source}', about, f'mechanism = "group-dp"\n{item}')


@pytest.mark.mutants
@pytest.mark.parametrize(("files", "first", "least", "read_by"), [
    ([(("x", "y"), "x"), (("again", "y"), "again"), (("y", "x"), "x")], 1, 3, ""),  # noisy copies of x, of scale 1
    # x and y were published under a belief that knows neither: they are `again` and z
    ([(("x", "y"), "y"), (("x", "y"), "x"), (("again", "z"), "again")], 0, 3, ""),
    ([(("x", "income"), "income", f"bins = {{ income = {{ low = [0, {edge}], high = [{edge}, 100] }} }}")
      for edge in (10, 20, 30)], 0, 2, "bins of income: "),  # what was read by the two other rules may be all of it
    ([(("y", "income"), "income", f'classes = {{ income = {{ ends = [{end}], values = ["low", "high"] }} }}',
       "independent-records") for end in (10, 20)], 1, 2, "classes: "),
], ids=["columns", "secrets", "bins", "classes"])  # fmt: skip
def test_columns_of_records_that_are_read_otherwise(
    tmp_path: Path, files: list[Any], first: int, least: int, read_by: str
) -> None:
    """Columns of one record are known for what they are; another rule of which value a record has is asked about."""
    costs = list[Fraction]()
    for about in files:
        file = record_file(tmp_path, *about)
        costs.append(first_refused(file) if costs and read_by else paid(file))
    assert 0 < costs[0] <= first + Fraction(1, 10**12)  # y and the income tell nothing of x
    assert costs[-1] >= least
    view = Ledger.open(tmp_path / "a.db").view()
    assert read_by in view.content(view.source("s").tables[-1][0]).decode()

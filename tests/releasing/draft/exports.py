"""Exports as people have them, made of courses that are known: each with what its owner answers, and its truth."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.workbooks import write_workbook

from takifugu.data.sql.clocks import ISO

START = datetime(2026, 1, 5)
STATES = ("still", "walking")
Rows = list[tuple[str, int, str]]


@dataclass(frozen=True)
class Export:
    """A table of rows as it was exported: `right` is what its owner answers, `owner` what only they can fill in.

    `is_by_hand` says that an answer is printed nowhere. Where names or times can be read in several ways, the right one
    is at "unit again" or "order again".

    `truth` has each unit's steps by state; None where the rows must be refused. `frame` is given in place of a file.
    """

    file: str
    write: Callable[[Path], Any]
    right: Mapping[str, str]
    truth: Mapping[str, Sequence[int]] | None
    owner: Mapping[str, Any] = field(default_factory=dict)
    states: Sequence[str] = STATES
    is_ugly: bool = False
    is_by_hand: bool = False
    refusal: str = ""


def courses(seed: int, people: Sequence[str], steps: int) -> tuple[Rows, dict[str, list[int]]]:
    """Return a state of each person in each step, sorted by step, and how many steps each state has."""
    chance, rows, truth = random.Random(seed), Rows(), {name: [0, 0] for name in people}
    now = {name: chance.randrange(2) for name in people}
    for step in range(steps):
        for name in people:
            now[name] ^= chance.random() < 0.2
            rows.append((name, step, STATES[now[name]]))
            truth[name][now[name]] += 1
    return rows, truth


def text(names: Sequence[object], rows: Sequence[Sequence[object]], sign: str = ",", end: str = "\n") -> str:
    return end.join(sign.join(map(str, row)) for row in [names, *rows]) + end


def at(step: int, width: timedelta = timedelta(minutes=15)) -> datetime:
    return START + step * width


def written(content: str | bytes) -> Callable[[Path], None]:
    data = content.encode() if isinstance(content, str) else content
    return lambda path: path.write_bytes(data) and None


SAMPLES = {"rows": "samples", "unit": "who", "order": "t", "step": "15min", "value": "state"}
PEOPLE = ("Ana", "Ben", "Cem")


def of_samples(
    seed: int, form: Callable[[datetime], object], *, name: Callable[[str], object] = str, sign: str = ",",
    people: Sequence[str] = PEOPLE, **right: str,
) -> Export:  # fmt: skip
    """Return a CSV of samples each 15 minutes with times in a form."""
    rows, truth = courses(seed, people, 4 * 24 * 8)
    content = text(["who", "t", "state"], [(name(who), form(at(step)), state) for who, step, state in rows], sign)
    return Export("a.csv", written(content), {**SAMPLES, **right}, truth)


def plain() -> Export:
    return of_samples(1, lambda t: f"{t:%Y-%m-%dT%H:%M}")


def german_meter() -> Export:
    rows, truth = courses(2, ["Z1", "Z2"], 4 * 24 * 20)
    kwh = {"still": "0,{:03d}", "walking": "1.00{},{:03d}"}
    used = [kwh[s].format(*((k % 1000,) if s == "still" else (k % 9, k % 1000))) for _, k, s in rows]
    lines = [(who, f"{at(k):%d.%m.%Y}", f"{at(k):%H:%M}", v) for (who, k, _), v in zip(rows, used, strict=True)]
    above = "Lastgang der Stadtwerke Köln\r\nStand;05.02.2026\r\n\r\n"
    content = above + text(["Zähler", "Datum", "Zeit", "Verbrauch kWh"], lines, ";", "\r\n")
    right = {**SAMPLES, "unit": "Zähler", "order": "Datum, Zeit", "value": "Verbrauch kWh",
             "encoding": "cp1252"}  # fmt: skip
    owner = {"bins": {"still": [0, 1], "walking": [1, 9999]}}
    return Export("lastgang.csv", written(content.encode("cp1252")), right, truth, owner, is_ugly=True)


def milliseconds() -> Export:
    return of_samples(3, lambda t: int(t.replace(tzinfo=UTC).timestamp()) * 1000, timezone="UTC")


def nanoseconds() -> Export:
    return of_samples(4, lambda t: int(t.replace(tzinfo=UTC).timestamp()) * 10**9, timezone="Europe/Berlin")


def seconds_with_a_point() -> Export:
    return of_samples(5, lambda t: f"{int(t.replace(tzinfo=UTC).timestamp())}.000", timezone="UTC")


def months() -> Export:
    rows, truth = courses(6, ["A-1", "A-2", "A-3"], 24)
    states = {name: [state for who, _, state in rows if who == name] for name in truth}
    names = [f"{2024 + k // 12}-{k % 12 + 1:02d}" for k in range(24)]
    content = text(["shop", *names], [(name, *states[name]) for name in states])
    right = {"rows": "wide", "unit": "shop", "order": "time", "step": "1"}
    return Export("months.csv", written(content), right, truth, is_ugly=True)


def half_hours() -> Export:
    rows, truth = courses(7, ["M1", "M2"], 48 * 30)
    states = {(who, k): state for who, k, state in rows}
    names = [f"{k // 2:02d}:{k % 2 * 30:02d}" for k in range(48)]
    lines = [(who, f"{START + timedelta(days=d):%d/%m/%Y}", *(states[who, 48 * d + k] for k in range(48)))
             for who in truth for d in range(30)]  # fmt: skip
    right = {"rows": "wide", "unit": "meter", "order": "day, time", "step": "30min"}
    return Export("wide.csv", written(text(["meter", "day", *names], lines)), right, truth, is_ugly=True)


def names_with_points() -> Export:
    made = of_samples(8, lambda t: f"{t:%Y-%m-%d %H:%M:%S}", name=lambda who: f"{who}.0", people=["7", "12", "300"])
    again = r"""regexp_replace(trim("who"), '^(-?\d{1,15})[.]0+$', '\1')"""
    return Export(made.file, made.write, {**made.right, "unit again": again}, made.truth, is_ugly=True)


def exponents() -> Export:
    made = of_samples(9, lambda t: f"{t:%Y-%m-%d %H:%M}", people=["1.85E+18", "1.86E+18"])
    return Export(made.file, made.write, made.right, None, refusal="export the column as texts")


def workbook() -> Export:
    rows, truth = courses(10, PEOPLE, 60)
    cells = [["who", "t", "state"], *([who, f"{at(k):%d.%m.%Y %H:%M}", s] for who, k, s in rows)]
    return Export("a.xlsx", lambda path: write_workbook(path, {"Daten": cells}), SAMPLES, truth)


def two_sheets() -> Export:
    rows, truth = courses(11, PEOPLE, 60)
    cells = [["who", "t", "end"], *([who, f"{at(k):%Y-%m-%d %H:%M}", s] for who, k, s in rows)]
    write = lambda path: write_workbook(path, {"Read me": [["a"], ["b"]], "From": cells})  # noqa: E731
    return Export("b.xlsx", write, {**SAMPLES, "value": "end", "sql": 'FROM "From"'}, truth, is_ugly=True)


def home_assistant() -> Export:
    rows, truth = courses(12, ["light.hall", "light.bath"], 24 * 20)
    last, lines = dict[str, str](), list[tuple[str, str, str]]()
    for who, k, state in rows:
        if last.get(who) != state:
            lines.append((who, state, f"{at(k, timedelta(hours=1)):%Y-%m-%dT%H:%M:%S}.{k:03d}Z"))
        last[who] = state
    right = {"rows": "changes", "unit": "entity_id", "order": "last_changed", "step": "1h", "value": "state",
             "timezone": "UTC"}  # fmt: skip
    owner = {"from": "2026-01-05T01:00:00", "until": "2026-01-25T00:00:00", "roster": [*truth]}
    # what is so within an hour counts from the next one on
    counted = {who: [0, 0] for who in truth}
    for who, k, state in rows:
        if k < 24 * 20 - 1:
            counted[who][STATES.index(state)] += 1
    content = text(["entity_id", "state", "last_changed"], lines)
    return Export("history.csv", written(content), right, counted, owner)


def sqlite() -> Export:
    rows, truth = courses(13, PEOPLE, 200)

    def write(path: Path) -> None:
        with sqlite3.connect(path) as file:
            file.execute("create table events (a)")
            file.execute("create table states (who text, ts real, state text)")
            moments = [(w, at(k).replace(tzinfo=UTC).timestamp() + 0.25, s) for w, k, s in rows]
            file.executemany("insert into states values (?, ?, ?)", moments)
        file.close()

    right = {**SAMPLES, "order": "ts", "sql": 'FROM "states"', "timezone": "UTC"}
    return Export("home-assistant_v2.db", write, right, truth, {"from": "2026-01-05T00:00:00.25"}, is_ugly=True)


def json_lines() -> Export:
    rows, truth = courses(14, PEOPLE, 100)
    lines = [json.dumps({"who": who, "t": f"{at(k):%Y-%m-%dT%H:%M:%S}+01:00", "state": s}) for who, k, s in rows]
    return Export("a.jsonl", written("\n".join(lines)), {**SAMPLES, "timezone": "Europe/Berlin"}, truth)


def parquet(unit: str = "us") -> Export:
    rows, truth = courses(15, PEOPLE, 100)
    times = pa.array([at(k).replace(tzinfo=UTC) for _, k, _ in rows], pa.timestamp(unit, tz="UTC"))
    columns = {"who": [who for who, _, _ in rows], "t": times, "state": [state for _, _, state in rows]}
    write = lambda path: pq.write_table(pa.table(columns), path)  # noqa: E731
    return Export("a.parquet", write, {**SAMPLES, "timezone": "UTC"}, truth)


def parquet_of_nanoseconds() -> Export:
    """As pandas writes its times."""
    return parquet("ns")


def offsets() -> Export:
    return of_samples(16, lambda t: f"{t:%Y-%m-%d %H:%M:%S}+0100", timezone="Europe/Paris")


def ambiguous() -> Export:
    rows, truth = courses(17, PEOPLE, 8)
    again = "strptime(\"t\", '%m/%d/%Y')"
    content = text(["who", "t", "state"], [(w, f"{k % 4 + 1:02d}/{k // 4 + 2:02d}/2026", s) for w, k, s in rows])
    return Export("us.csv", written(content), {**SAMPLES, "step": "1d", "order again": again}, truth, is_ugly=True)


def american() -> Export:
    return of_samples(18, lambda t: f"{t.month}/{t.day + 8}/{t:%Y %I:%M %p}")


def slovene() -> Export:
    return of_samples(41, lambda t: f"{t.day}. {t.month}. {t:%Y} {t.hour}:{t:%M}", sign=";")


def stays() -> Export:
    lines, truth = [], {name: [24 * 10, 0] for name in PEOPLE}
    for n, name in enumerate(PEOPLE):
        for day in range(10):
            start = START + timedelta(days=day, hours=8 + n)
            end = start + timedelta(hours=3 + n)
            lines.append((name, f"{start:%d.%m.%Y %H:%M}", f"{end:%d.%m.%Y %H:%M}", "walking"))
            truth[name] = [truth[name][0] - 3 - n, truth[name][1] + 3 + n]
    right = {"rows": "stays", "unit": "patient", "order": "begin", "end": "end", "step": "1h", "value": "ward"}
    owner = {"from": "2026-01-05", "until": "2026-01-15", "roster": [*PEOPLE], "default_state": "still"}
    return Export("stays.csv", written(text(["patient", "begin", "end", "ward"], lines, ";")), right, truth, owner)


def events() -> Export:
    chance, lines, truth = random.Random(19), [], {name: [10 * 24, 0] for name in PEOPLE}
    for name in PEOPLE:
        for hour in sorted(chance.sample(range(240), 30)):
            lines.append((f"{START + timedelta(hours=hour, minutes=17):%a, %d %b %Y %H:%M:%S} +0000", name, "walking"))
            truth[name] = [truth[name][0] - 1, truth[name][1] + 1]
    right = {"rows": "events", "unit": "badge", "order": "at", "step": "1h", "value": "door", "timezone": "UTC"}
    owner = {"from": "2026-01-05T00:00:00", "until": "2026-01-15T00:00:00", "roster": [*PEOPLE],
             "default_state": "still"}  # fmt: skip
    content = "\n".join(["at\tbadge\tdoor", *("\t".join(line) for line in lines)])
    return Export("badges.tsv", written(content), right, truth, owner)


def survey() -> Export:
    chance = random.Random(20)
    answers = [chance.choice(STATES) for _ in range(300)]
    content = text(["ResponseId", "Q1", "Q2"], [(f"R_{n}", answer, n % 5) for n, answer in enumerate(answers)])
    truth = {"": [answers.count(state) for state in STATES]}
    right = {"rows": "answers", "unit": "ResponseId", "kind": "users", "value": "Q1"}
    return Export("survey.csv", written(content), right, truth)


def missing() -> Export:
    rows, truth = courses(21, PEOPLE, 300)
    lines = [(who, f"{at(k):%Y%m%d%H%M}", "NA" if k % 10 == 3 else state) for who, k, state in rows]
    for who, k, state in rows:
        truth[who][STATES.index(state)] -= k % 10 == 3
    right = {**SAMPLES, "nulls": "unobserved", "order again": "strptime(\"t\", '%Y%m%d%H%M')"}
    return Export("a.csv", written(text(["who", "t", "state"], lines)), right, truth, is_ugly=True)


def padded() -> Export:
    rows, truth = courses(22, PEOPLE, 200)
    lines = [(f"{who:<8}", f"{at(k):%d-%b-%Y %H:%M:%S}", state) for who, k, state in rows]
    return Export("a.csv", written(text(["who", "t", "state"], lines)),
                  {**SAMPLES, "unit again": 'trim("who")'}, truth, is_ugly=True)  # fmt: skip


def _in_time(time: str) -> str:
    return f"coalesce(year({time}) BETWEEN 1900 AND 2099, false)"


def total() -> Export:
    rows, truth = courses(23, PEOPLE, 200)
    lines = [*((who, f"{at(k):%d.%m.%Y %H:%M}", state) for who, k, state in rows), ("", "Summe", "600")]
    right = {**SAMPLES, "where": 'coalesce(length("who"::varchar), 0) > 0'}
    return Export("a.csv", written(text(["who", "t", "state"], lines, ";")), right, truth, is_ugly=True)


def names_again() -> Export:
    rows, truth = courses(24, PEOPLE, 200)
    lines = [(who, f"{at(k):%Y-%m-%d %H:%M}", state) for who, k, state in rows]
    for place in (500, 300, 100):
        lines.insert(place, ("who", "t", "state"))
    form = f"regexp_full_match(\"t\", '{ISO}')"
    right = {**SAMPLES, "where": _in_time(f'CASE WHEN {form} THEN try_cast("t" AS timestamp) END')}
    return Export("a.csv", written(text(["who", "t", "state"], lines)), right, truth, is_ugly=True)


def utf_16() -> Export:
    rows, truth = courses(25, ["Zoë", "Åse"], 100)
    content = text(["Größe", "order", "select"], [(w, f"{at(k):%Y/%m/%d %H:%M}", s) for w, k, s in rows], "\t", "\r\n")
    right = {**SAMPLES, "unit": "Größe", "order": "order", "value": "select"}
    return Export("a.txt", written(content.encode("utf-16")), right, truth, is_ugly=True)


def october() -> Export:
    moments = [datetime(2026, 10, 24, 20, tzinfo=UTC) + timedelta(minutes=15) * k for k in range(48)]
    rows, truth = courses(26, PEOPLE[:2], 48)
    offset = lambda m: 2 if m < datetime(2026, 10, 25, 1, tzinfo=UTC) else 1  # noqa: E731
    lines = [(w, f"{moments[k] + timedelta(hours=offset(moments[k])):%d.%m.%Y %H:%M}", s) for w, k, s in rows]
    right = {**SAMPLES, "timezone": "Europe/Berlin"}
    return Export("a.csv", written(text(["who", "t", "state"], lines, ";")), right, truth, is_ugly=True)


def no_names() -> Export:
    rows, truth = courses(28, PEOPLE, 50)
    content = text([], [(who, f"{at(k):%Y-%m-%d %H:%M}", state) for who, k, state in rows], ";").lstrip()
    right = {**SAMPLES, "unit": "column_1", "order": "column_2", "value": "column_3"}
    return Export("a.csv", written(content), right, truth, is_ugly=True)


def zipped() -> Export:
    rows, truth = courses(29, PEOPLE, 50)
    content = text(["who", "t", "state"], [(who, k * 5, state) for who, k, state in rows], "|")
    return Export("a.csv.gz", lambda path: path.write_bytes(gzip.compress(content.encode())) and None,
                  {**SAMPLES, "step": "5"}, truth)  # fmt: skip


def frame() -> Export:
    rows, truth = courses(30, ["1", "2"], 50)
    made = pd.DataFrame({"who": [float(who) for who, _, _ in rows], "t": [at(k) for _, k, _ in rows],
                         "state": [state for _, _, state in rows]})  # fmt: skip
    again = r"""regexp_replace(trim(cast("who" AS varchar)), '^(-?\d{1,15})[.]0+$', '\1')"""
    return Export("", lambda path: made, {**SAMPLES, "unit again": again}, truth)


def duckdb_file() -> Export:
    rows, truth = courses(31, PEOPLE, 50)

    def write(path: Path) -> None:
        with duckdb.connect(str(path)) as file:
            file.execute("create table log (who varchar, t timestamp, state varchar)")
            file.executemany("insert into log values (?, ?, ?)", [(who, at(k), state) for who, k, state in rows])

    return Export("a.duckdb", write, SAMPLES, truth)


def mixed_offsets() -> Export:
    rows, _ = courses(32, PEOPLE, 100)
    lines = [(who, f"{at(k):%Y-%m-%dT%H:%M}" + ("Z" if k > 50 else ""), state) for who, k, state in rows]
    return Export("a.csv", written(text(["who", "t", "state"], lines)), SAMPLES, None, is_ugly=True,
                  refusal="all times of a column are written alike")  # fmt: skip


def short_last_line() -> Export:
    rows, _ = courses(33, PEOPLE, 100)
    content = text(["who", "t", "state"], [(who, f"{at(k + 960):%d/%m/%Y %H:%M}", state) for who, k, state in rows])
    return Export("a.csv", written(content + "end of report,\n"), SAMPLES, None, is_ugly=True,
                  refusal="line 302 of a.csv")  # fmt: skip


def late_hours() -> Export:
    rows, truth = courses(34, ["bus 1", "bus 2"], 100)
    lines = [(who, "2026-01-05", f"{k // 4:02d}:{k % 4 * 15:02d}", state) for who, k, state in rows]
    right = {**SAMPLES, "order": "day, clock"}
    return Export("bus.csv", written(text(["who", "day", "clock", "state"], lines)), right, truth, is_ugly=True)


def excel_days() -> Export:
    rows, truth = courses(35, PEOPLE, 60)
    content = text(["who", "t", "state"], [(who, 46027 + k, state) for who, k, state in rows])
    return Export("a.csv", written(content), {**SAMPLES, "step": "1d"}, truth)


def alone() -> Export:
    rows, truth = courses(36, ["-"], 200)
    content = text(["t", "state"], [(f"{at(k):%Y-%m-%d %H:%M}", state) for _, k, state in rows])
    return Export("diary.csv", written(content), {**SAMPLES, "unit": "-"}, {"": truth["-"]})


def visits() -> Export:
    content = text(["maid", "lat", "lon"], [(f"p{n % 9}", 52.5 + n / 1000, 13.4) for n in range(100)])
    return Export("pings.csv", written(content), {"rows": "visits", "unit": "maid", "value": "lon, lat"}, {},
                  is_by_hand=True)  # fmt: skip


def in_utc() -> Export:
    return of_samples(37, lambda t: f"{t:%Y-%m-%dT%H:%M:%S}Z", timezone="UTC")


def codes() -> Export:
    rows, truth = courses(38, PEOPLE, 80)
    lines = [(f"{at(k):%Y-%m-%d %H:%M:%S}", who, STATES.index(state)) for who, k, state in rows]
    content = "\ufeff" + text(["t", "who", "state"], lines, ";", "\r\n")
    return Export("a.csv", written(content), SAMPLES, truth, states=("0", "1"))


def switches() -> Export:
    rows, truth = courses(39, PEOPLE, 80)
    columns = {"who": pa.array([who for who, _, _ in rows]).dictionary_encode(), "t": [at(k) for _, k, _ in rows],
               "state": [state == "walking" for _, _, state in rows]}  # fmt: skip
    write = lambda path: pq.write_table(pa.table(columns), path)  # noqa: E731
    return Export("a.parquet", write, SAMPLES, truth, states=("false", "true"))


def with_fractions() -> Export:
    rows, truth = courses(40, PEOPLE, 80)
    lines = [(f"{at(k):%Y-%m-%d %H:%M:%S}.000", who, state, "") for who, k, state in rows]
    return Export("a.tsv", written(text(["t", "who", "state", "remark"], lines, "\t")), SAMPLES, truth)


EXPORTS: dict[str, Callable[[], Export]] = {make.__name__: make for make in (
    plain, german_meter, milliseconds, nanoseconds, seconds_with_a_point, months, half_hours, names_with_points,
    exponents, workbook, two_sheets, home_assistant, sqlite, json_lines, parquet, offsets, ambiguous, american, stays,
    events, survey, missing, padded, total, names_again, utf_16, october, no_names, zipped, frame,
    duckdb_file, mixed_offsets, short_last_line, late_hours, excel_days, alone, visits, in_utc,
    codes, switches, with_fractions, parquet_of_nanoseconds, slovene,
)}  # fmt: skip

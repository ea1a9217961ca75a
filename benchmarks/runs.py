"""The processor time of whole releases of changes and stays, next to DuckDB's own `lead` and sum in the same run.

Each is a process of its own. Goals: 3 times DuckDB at 10^7 rows; a year of minutes of 1,000 people as changes in 5 s.
A table by the hour of 1,000 people is next to one of 10: most of it is done once for all whose hours are the same.
That no two stays overlap is not to be had without `lead`; what DuckDB takes for a sum that is blind to it is printed,
too.
`python benchmarks/run.py runs`; with the environment's RUNS_ROWS other numbers of rows than 10^6 and 10^7.
"""

from __future__ import annotations

import os
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import duckdb

from commands import processor_time, release_time
from measure import row, span, title

START = datetime(2024, 1, 1)
FOLLOWING = 'lead("when") over (partition by who order by "when")'
#: How rows say it: the keys of [source], and until when DuckDB lets each last.
KEYS = {
    "changes": ('order = "when"\ndefault_state = "away"', f"coalesce({FOLLOWING}, {{end}})"),
    "stays": ('order = "when"\nend = "until"\ndefault_state = "away"',
              f'least("until", coalesce({FOLLOWING}, "until"))'),
}


def write(folder: Path, rows: str, many: int, people: int, minutes: int, end: str) -> list[str]:
    """Write rows of people in turn, their roster and a release file; return DuckDB's own sums of minutes.

    Of stays there are two: with `lead`, and without.
    """
    each, until = many // people, START + timedelta(minutes=minutes)
    place = f"(i // {people}) * {minutes * 60 // each} + hash(i) % {max(1, minutes * 60 // each)}"
    source = f"""
        select 'p' || i % {people} as who, timestamp '{START}' + to_seconds({place}) as "when",
            ['away', 'ready', 'talking'][1 + (i // {people}) % 3] as state
        from range({many}) r(i)
    """
    if rows == "stays":
        source = f"""select who, "when", coalesce({FOLLOWING}, timestamp '{until}') as "until", state from ({source})"""
    kind = "parquet" if end == "parquet" else "csv, header"
    duckdb.sql("set enable_progress_bar = false")
    duckdb.sql(f"copy ({source}) to '{folder}/d.{end}' (format {kind})")
    (folder / "people.csv").write_text("\n".join(["who", *(f"p{i}" for i in range(people))]) + "\n")
    keys, following = KEYS[rows]
    (folder / "f.toml").write_text(f"""
ledger = "ledger.db"
[expect]
source = "a benchmark"
matters = 100000000
[source]
name = "s"
file = "d.{end}"
rows = "{rows}"
unit = "who"
roster = "people.csv"
value = "state"
{keys}
step = "1min"
from = "{START.date()}"
until = "{until.date()}"
budget = 10000
[belief]
kind = "markov-chain"
states = ["away", "ready", "talking"]
mean_duration = {{ away = "200 min", ready = "20 min", talking = "6 min" }}
next_state = {{ away = 0.4, ready = 0.3, talking = 0.3 }}
units_independent = true
[[table]]
name = "t"
query = "histogram"
per = "pooled"
epsilon = 1
""")
    endings = [following.format(end=f"timestamp '{until}'"), *(['"until"'] if rows == "stays" else [])]
    return [
        f"""select who, state, sum(lasts) from
            (select who, state, epoch_us({ending}) - epoch_us("when") as lasts from 'd.{end}') group by all"""
        for ending in endings
    ]


def measured(what: str, rows: str, many: int, people: int, minutes: int, end: str, goal: float | None = None) -> None:
    """Print what a release takes; the goal is in seconds, or 3 times DuckDB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queries = write(folder, rows, many, people, minutes, end)
        code = "import duckdb; duckdb.sql({!r}).fetchall()"
        plainly, *blind = (processor_time(code.format(query), folder) for query in queries)
        took, peak = release_time(folder)
        is_met = took <= (3 * plainly if goal is None else goal)
        said = "3 times" if goal is None else span(goal)
        against = f"DuckDB {span(plainly)}: {took / plainly:.1f} times, {peak / 1e6:.0f} MB"
        against += "".join(f" ({span(alone)} without lead: {took / alone:.1f} times)" for alone in blind)
        row(what, span(took), f"{against}, goal {said}: {'kept' if is_met else 'MISSED'}")


def by_the_hour() -> None:
    """Print what a table by the hour takes, of some people and of a hundred times as many."""
    title("a table by the hour of a year of minutes: 1,000 people next to 10, 5,000 changes each")
    releases = []
    for people in (10, 1_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, "changes", 5_000 * people, people, 366 * 1440, "parquet")
            text = (folder / "f.toml").read_text()
            (folder / "f.toml").write_text(text.replace('per = "pooled"', 'per = "pooled"\nby = "hour"'))
            releases.append(release_time(folder))
    (few, _), (many, peak) = releases
    row("takifugu release, 1,000 people", span(many), f"{many / few:.1f} times 10 people, {peak / 1e6:.0f} MB")


def main() -> None:
    title("processor time of a whole release of changes and of stays, next to DuckDB's own lead and sum")
    for many in map(int, os.environ.get("RUNS_ROWS", "1000000 10000000").split()):
        for rows in KEYS:
            for end in ("csv", "parquet"):
                measured(f"{rows}, {end}, {many:,} rows, 1,000 people", rows, many, 1_000, 366 * 1440, end)
    title("a year of minutes of 1,000 people, as changes")
    measured("a change each two hours: 4,392,000 rows, csv", "changes", 4_392_000, 1_000, 366 * 1440, "csv", goal=5.0)
    by_the_hour()


if __name__ == "__main__":
    main()

"""The processor time of whole commands, next to imports of the libraries alone; of large releases; of whole scales.

Before the first release they load no database, no SciPy and no other kinds of file (`tests/test_imports.py`). Releases
of large tables are next to DuckDB's own sum of the order column by person and state, as a command of its own.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import duckdb

from measure import row, span, title

#: A small release file about minutes of several people.
MINUTES = """\
# minutes.toml
ledger = "minutes-ledger.db"

[source]
name = "minutes-study"
file = "minutes.csv"
rows = "samples"
unit = "person"
recording = "recording"
order = "minute"
step = 1
value = "state"
budget = 2.0

[belief]
kind = "markov-chain"
states = ["still", "walking"]
matrix = [[0.9, 0.1], [0.4, 0.6]]
source = "assumed for this benchmark"
recordings_independent = true
units_independent = true

[hide]
kind = "every-entry"

[[table]]
name = "time-use"
query = "histogram"
epsilon = 1.0
per = "pooled"
"""
COMMANDS = ("--help", "check", "cost", "cost --all", "advise", "release --dry-run")

#: What a process calibrates, and the seconds that it may take beside `import takifugu`.
SCALES = {
    "two states, T = 10^3": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**3)", 0.3),
    "two states, T = 10^7": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**7)", 0.3),
    "two states, T = 10^9": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**9)", 0.3),
    "two states, T = 10^9, stays of 10,000": ("tf.MarkovChain([[0.9999, 0.0001], [0.0004, 0.9996]], 10**9)", 1.3),
    "three states, T = 10^9": ("tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], 10**9)", 0.5),
    "a tree of 10,000": ("tree('binary tree', 10_000)", 1.5),
    "200 states, T = 10^4": (
        "tf.MarkovChain(np.random.default_rng(1).dirichlet(np.ones(200), 200) * 0.3 + 0.7 / 200, 10**4)", 20,
    ),
}
SCALE = """
import resource, sys, time
sys.path.insert(0, {folder!r})
import numpy as np
import takifugu as tf
from trees import tree
belief = {belief}
started = time.process_time()
print(tf.calibrate(tf.Pufferfish(tf.every_entry(), [belief]), tf.Count(1), epsilon=1).scale)
print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def scales() -> None:
    """Print what `tf.calibrate` takes in a process of its own: its first imports are in it."""
    title("processor time and memory of one calibrate of a count, best of 3")
    first = 0.0
    for name, (belief, goal) in SCALES.items():
        code = SCALE.format(folder=str(Path(__file__).parent), belief=belief)
        runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
                for _ in range(3)]  # fmt: skip
        took, memory = min(tuple(map(float, run.splitlines()[-1].split())) for run in runs)
        first = first or took
        verdict = "kept" if took <= goal else "MISSED"
        row(name, span(took), f"{took / first:.1f} times T = 10^3, {memory:.0f} MB, goal {goal} s: {verdict}")


#: Files of weekly windows, by steps and states, with a budget: `plan` looks for the epsilons that fit it.
PLANNED = {
    "weeks of minutes, two states": ("1min", "[[0.99, 0.01], [0.03, 0.97]]", ""),
    "weeks of hours by local clocks, three states": (
        "1h", "[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]", 'timezone = "Europe/Berlin"\n',
    ),
    "weeks of 5 minutes by local clocks, three slow states": (
        "5min", "[[0.97, 0.02, 0.01], [0.03, 0.95, 0.02], [0.02, 0.02, 0.96]]", 'timezone = "Europe/Berlin"\n',
    ),
}  # fmt: skip
#: Seconds that `plan` may take for a year of weeks.
PLAN_GOAL = 3.0


def write_planned(folder: Path, step: str, matrix: str, timezone: str) -> None:
    """Write the release file of a table by hour, every week; `plan` reads no data."""
    states = ["off", "on", "idle"][: matrix.count("[") - 1]
    (folder / "weeks.toml").write_text(f"""
ledger = "ledger.db"
[expect]
source = "a benchmark"
matters = 100
[source]
name = "s"
file = "d.csv"
unit = "who"
value = "state"
rows = "samples"
order = "time"
step = "{step}"
from = 2026-01-05
{timezone}budget = 1
gaps = "hidden"
[belief]
kind = "markov-chain"
states = {states}
matrix = {matrix}
units_independent = true
[[table]]
name = "t"
query = "count"
states = ["on"]
by = "hour"
epsilon = 0.5
per = "unit"
every = "week"
""")


def plans(libraries: float, folder: Path) -> None:
    """Print what `takifugu cost --windows 52` takes for a year of weeks."""
    for what, written in PLANNED.items():
        write_planned(folder, *written)
        words = ["takifugu", "cost", "--windows", "52", "weeks.toml"]
        code = f"import sys; sys.argv = {words!r}; from takifugu.cli import main; main()"
        took = processor_time(code, folder)
        verdict = "kept" if took <= PLAN_GOAL else "MISSED"
        ratio = f"{took / libraries:.1f} times the imports, goal {PLAN_GOAL} s: {verdict}"
        row(f"takifugu cost --windows 52, {what}", span(took), ratio)


def write(folder: Path) -> None:
    """Write the release file of the first page of the guide and its data, without a ledger."""
    (folder / "minutes.toml").write_text(MINUTES)
    rows = ["person,recording,minute,state"]
    for who in ("Ana", "Ben"):
        doing = random.Random(who).choices(["still", "walking"], [4, 1], k=200)
        rows += [f"{who},1,{minute},{state}" for minute, state in enumerate(doing)]
    (folder / "minutes.csv").write_text("\n".join(rows) + "\n")


#: What `cost` cannot do without: libraries that read the rows, and the mechanisms when all is loaded.
READING = """
import numpy, pydantic, click, duckdb
duckdb.sql("select person, recording, count(*) from read_csv('minutes.csv') group by all").fetchall()
"""
MECHANISMS = """
import time
import takifugu as tf
for steps in (199, 200, 201):
    belief = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], steps)
    framework = tf.Pufferfish(tf.every_entry(), [belief])
    started = time.process_time()
    tf.compare(framework, tf.Histogram([0, 1]), epsilon=1)
print(time.process_time() - started)
"""


def processor_time(code: str, folder: Path, runs: int = 3, *, with_system: bool = True) -> float:
    """Return the least user and system time of a process that runs some code in a folder, once it is compiled."""
    times = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs):
        before = getrusage(RUSAGE_CHILDREN)
        command = [sys.executable, "-c", code]
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        assert not ended.returncode, ended.stderr  # a refusal takes no time
        after = getrusage(RUSAGE_CHILDREN)
        system = after.ru_stime - before.ru_stime if with_system else 0.0
        times.append(after.ru_utime - before.ru_utime + system)
    return min(times)


#: Tables: their rows, their people, how they are stored, and which rows are missing.
LARGE = (
    ("CSV", 20_000_000, 10_000, "csv", "true"),
    ("Parquet, gaps of each person's own", 10_000_000, 10_000, "parquet", "hash(who, minute) % 100 <> 7"),
    ("Parquet, few rows of many people", 1_000_000, 100_000, "parquet", "true"),
    ("Parquet, few rows of a million people", 10_000_000, 1_000_000, "parquet", "true"),
)


def write_large(folder: Path, rows: int, people: int, end: str, where: str, tables: int = 1) -> None:
    """Write a table of so many people, and the release file of a count about all of them."""
    steps, kind = rows // people, "parquet" if end == "parquet" else "csv, header"
    source = f"select 'p' || i // {steps} as who, i % {steps} as minute, if(hash(i) % 4 = 0, 'b', 'a') as doing"
    duckdb.sql("set enable_progress_bar = false")
    duckdb.sql(f"copy (from ({source} from range({rows}) r(i)) where {where}) to '{folder}/d.{end}' (format {kind})")
    items = "".join(
        f'[[table]]\nname = "t{n}"\nquery = "count"\nstates = ["b"]\nepsilon = 1\nper = "pooled"\n'
        for n in range(tables)
    )
    (folder / "f.toml").write_text(f"""
ledger = "ledger.db"
[expect]
source = "a benchmark"
matters = 1000
[source]
name = "s"
file = "d.{end}"
unit = "who"
value = "doing"
rows = "samples"
order = "minute"
step = 1
budget = 10000
[belief]
kind = "markov-chain"
states = ["a", "b"]
matrix = [[0.9, 0.1], [0.4, 0.6]]
units_independent = true
max_length = {steps}
{items}""")


def release_time(folder: Path, words: Sequence[str] = ("f.toml", "--new-ledger")) -> tuple[float, float]:
    """Return the processor time of one release, and the peak of its memory in bytes."""
    code = f"import sys; sys.argv = ['takifugu', 'release', *{words!r}]; from takifugu.cli import main\n"
    code += "try: main()\n"
    code += "finally: open('peak', 'w').write(next(s for s in open('/proc/self/status') if s.startswith('VmHWM')))"
    took = processor_time(code, folder, runs=1)
    if not (folder / "ledger.db").exists():
        raise RuntimeError("nothing was released")
    return took, int((folder / "peak").read_text().split()[1]) * 1024.0


def large(least: int = 0) -> None:
    """Print what releases of tables of so many people or more take."""
    title("processor time of a whole release, next to a process in which DuckDB sums by person and state")
    for what, rows, people, end, where in (table for table in LARGE if table[2] >= least):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_large(folder, rows, people, end, where)
            query = f"select who, doing, count(*), sum(minute) from 'd.{end}' group by all"
            plainly = processor_time(f"import duckdb; duckdb.sql({query!r}).fetchall()", folder)
            took, peak = release_time(folder)
            against = f"{took / plainly:.1f} times, {peak / 1e6:.0f} MB"
            row(f"{what}: {rows:,} rows, {people:,} people", span(took), against)
            if people >= 100_000:
                (folder / "g.toml").write_text((folder / "f.toml").read_text().replace('"t0"', '"t1"'))
                again, peak_again = release_time(folder, ("g.toml",))
                bytes_each = (folder / "ledger.db").stat().st_size / people
                against = f"{again / took:.2f} times the first, {peak_again / 1e6:.0f} MB, ledger after both"
                row("another release about them", span(again), f"{against} {bytes_each:.0f} bytes a person")
                words = ["takifugu", "ledger", "verify", "ledger.db"]
                code = f"import sys; sys.argv = {words!r}; from takifugu.cli import main; main()"
                check = processor_time(code, folder, runs=1)
                row("takifugu ledger verify", span(check), f"{check / took:.2f} times the first release")
                is_met = max(took, again) <= 60 and max(peak, peak_again) <= 1e9 and bytes_each <= 64 and again <= took
                goal = "goal 60 s, 1 GB, 64 bytes a person, the second no slower"
                row("", "", f"{goal}: {'kept' if is_met else 'MISSED'}")


#: Small commands of a cold process, which may take three times as long as the libraries alone.
SMALL = ("check", "cost", "advise")
#: The example that they are about, and what DuckDB takes to open and count its rows.
EXAMPLES = Path(__file__).parents[1] / "examples"
COUNTED_ROWS = """
import numpy, pydantic, click, duckdb
duckdb.sql("select participant, bout, count(*) from read_csv('activity.csv') group by all").fetchall()
"""


def starts(runs: int = 7) -> None:
    """Print the user time of small commands as ratios to the libraries alone, taken in turns."""
    title(f"user time of small commands about examples/activity.toml, least of {runs} in turns")
    run = "import sys; sys.argv = ['takifugu', '{}', 'activity.toml']; from takifugu.cli import main; main()"
    codes = {"import numpy, pydantic, click": "import numpy, pydantic, click"}
    codes["the same with DuckDB"] = "import numpy, pydantic, click, duckdb"
    codes["the same with DuckDB, which counts the rows"] = COUNTED_ROWS
    codes |= {f"takifugu {command}": run.format(command) for command in SMALL}
    with tempfile.TemporaryDirectory() as name:
        for file in ("activity.toml", "activity.csv"):
            shutil.copy(EXAMPLES / file, name)
        times = {what: float("inf") for what in codes}
        for _ in range(runs):
            for what, code in codes.items():
                times[what] = min(times[what], processor_time(code, Path(name), runs=1, with_system=False))
    libraries = next(iter(times.values()))
    for what, took in times.items():
        goal = f", goal 3: {'kept' if took <= 3 * libraries else 'MISSED'}" if what.startswith("takifugu") else ""
        row(what, span(took), f"{took / libraries:.1f} times{goal}")


def many_tables() -> None:
    title("1,000 tables of one file, next to 100 tables")
    times = []
    for tables in (100, 1_000):
        with tempfile.TemporaryDirectory() as name:
            write_large(Path(name), 400, 2, "csv", "true", tables)
            times.append(release_time(Path(name))[0])
    row("takifugu release", span(times[1]), f"{times[1] / times[0]:.1f} times")


#: Commands about a release file and its ledger, in the order in which they run; each may open the ledger so often.
OPENING = {
    "check minutes.toml": 0, "cost minutes.toml": 1, "cost --all minutes.toml": 1, "advise minutes.toml": 1,
    "release minutes.toml": 1, "ledger show minutes-ledger.db": 1, "ledger verify minutes-ledger.db": 1,
    "ledger resume minutes-ledger.db": 1,
}  # fmt: skip
#: Runs a command and prints how often it opened the ledger.
COUNTED = """
import sqlite3, sys
opened, real = [], sqlite3.connect
def connect(where, *args, **options):
    opened.append(str(where))
    return real(where, *args, **options)
sqlite3.connect = connect
from takifugu.cli import main
sys.argv = ["takifugu", *{words!r}]
try:
    main()
finally:
    print(sum("ledger.db" in where and ".new" not in where for where in opened))
"""


def openings() -> None:
    """Print how often each command opens its ledger, a count that no machine changes."""
    title("openings of the ledger by a command")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        for command, goal in OPENING.items():
            code = COUNTED.format(words=command.split())
            done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=True, text=True)
            count = int(done.stdout.splitlines()[-1])
            row(f"takifugu {command}", str(count), f"goal {goal}: {'kept' if count <= goal else 'MISSED'}")


def main(only: str = "") -> None:
    """Take "people" for releases about very many of them alone, "openings" for how often ledgers are opened.

    And "starts" for the user time of small commands.
    """
    if only == "people":
        large(100_000)
        return
    if only == "starts":
        starts()
        return
    openings()
    if only == "openings":
        return
    starts()
    large()
    many_tables()
    title("processor time of a command, best of 3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        numpy = processor_time("import numpy", folder)
        row("import numpy", span(numpy))
        libraries = processor_time("import numpy, pydantic, click", folder)
        row("import numpy, pydantic, click", span(libraries))
        reading = processor_time(READING, folder)
        row("the same with DuckDB, which counts the rows", span(reading), f"{reading / libraries:.1f} times")
        words = [sys.executable, "-c", MECHANISMS]
        mechanisms = min(float(subprocess.check_output(words, text=True)) for _ in range(3))
        row("tf.compare, the third in a process", span(mechanisms), f"{mechanisms / libraries:.1f} times")
        for command in COMMANDS:
            words = [*command.split(), *([] if command == "--help" else ["minutes.toml"])]
            code = f"import sys; sys.argv = ['takifugu', *{words!r}]; from takifugu.cli import main; main()"
            took = processor_time(code, folder)
            ratio = took / libraries
            goal = f", goal 3 times: {'kept' if ratio <= 3 else 'MISSED'}" if command == "cost" else ""
            row(f"takifugu {command}", span(took), f"{ratio:.1f} times import numpy, pydantic, click{goal}")
        plans(libraries, folder)
    scales()


if __name__ == "__main__":
    main(*sys.argv[1:])

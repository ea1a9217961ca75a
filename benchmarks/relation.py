"""A source read as a relation, next to DuckDB's own GROUP BY of the same file: each in a process of its own.

Processor time of whole processes from opening DuckDB on, and the memory of ours. Of changes DuckDB sums the time up to
the next row of each person (`lead`), grouped alike: without a sort nobody knows how long a state lasts. Goals are
ratios, and of memory 1.25 times what the reader took that this one replaced.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from measure import row, title

ROWS = 10_000_000
WEEK = {"from": "2026-01-05", "until": "2026-01-12"}
KEYS = {"unit": "who", "order": "t", "value": "v"}
NAMES = [f"u{n}" for n in range(1000)]
RUNS = {"rows": "changes", "default_state": "a", "roster": NAMES, **WEEK, "until": "2026-01-13"}
#: The file, the keys, the axes, the ratio that is the goal, and the megabytes of the reader before, where measured.
CASES = {
    "samples, Parquet": ("samples.parquet", {"step": 1}, (), 2, 134),
    "samples, CSV, 20,000,000": ("samples.csv", {"step": 1}, (), 1.8, 238),
    "samples, gaps of each person their own": ("gaps.parquet", {"step": 1}, (), 5, None),
    "samples by hour": ("minutes.parquet", {"step": "1min", **WEEK}, ("hour",), 6, 139),
    "samples of 100,000 people": ("many.parquet", {"step": 1}, (), 6, None),
    "samples of 1,000,000 people": ("people.parquet", {"step": 1}, (), 6, 645),
    "answers, Parquet": ("samples.parquet", {"rows": "answers", "unit": None, "order": None}, (), None, None),
    "changes": ("changes.parquet", {"step": "1min", **RUNS}, (), 1.3, 417),
    "changes by hour": ("changes.parquet", {"step": "1min", **RUNS}, ("hour",), None, 422),
}
SUMS = {
    "answers": "select v, count(*) from {scan} group by all",
    "samples": "select who, v, count(*), min(t), max(t) from {scan} group by all",
    "changes": """select who, v, sum(last - t) from (
        select who, v, epoch_us(t) as t, lead(epoch_us(t)) over (partition by who order by t) as last from {scan}
    ) group by all""",
}
OURS = """
import duckdb, resource, time
from takifugu.data.relation.source import opened_table
before = time.process_time()
with opened_table({keys}, ["a", "b", "c"], {folder!r}) as source:
    assert source.{statement} > 0
print(time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
THEIRS = """
import duckdb, time
before = time.process_time()
connection = duckdb.connect()
connection.execute("set threads = 2")
connection.execute("set enable_progress_bar = false")
connection.execute({statement!r}).fetchnumpy()
print(time.process_time() - before, 0)
"""
TEXTS = "auto_detect = false, header = true, delim = ',', columns = {'who': 'VARCHAR', 't': 'VARCHAR', 'v': 'VARCHAR'}"


def write(folder: Path) -> None:
    """Write rows of 1,000 people (10,000 each; 20,000 in CSV), of 100,000 (100 each) and of 1,000,000 (10 each)."""
    state, each = "['a', 'b', 'c'][1 + (hash(i) % 3)::int] as v", ROWS // 1000
    start = "timestamp '2026-01-05'"
    tables = {
        "samples.parquet": f"'u' || (i // {each}) as who, (i % {each})::bigint as t",
        "samples.csv": f"'u' || (i // {2 * each}) as who, (i % {2 * each})::bigint as t",
        "gaps.parquet": f"'u' || (i // {each}) as who, (i % {each})::bigint as t",
        "minutes.parquet": f"'u' || (i // {each}) as who, {start} + to_minutes(i % {each}) as t",
        "changes.parquet": f"'u' || (i // {each}) as who, {start} + to_seconds(i % {each} * 61) as t",
        "many.parquet": "'u' || (i // 100) as who, (i % 100)::bigint as t",
        "people.parquet": "'u' || (i // 10) as who, (i % 10)::bigint as t",
    }
    for name, columns in tables.items():
        where = "where hash(i, 7) % 20 > 0" if name.startswith("gaps") else ""
        rows = ROWS * (2 if name.endswith("csv") else 1)
        duckdb.sql(f"copy (select {columns}, {state} from range({rows}) r(i) {where}) to '{folder / name}'")


def measured(program: str) -> tuple[float, int]:
    """Return the processor time and the memory of a process, the best of three."""
    measurements = []
    for _ in range(3):
        process = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        used, memory = process.stdout.split()
        measurements.append((float(used), int(memory)))
    return min(measurements)


def main() -> None:
    title(f"{ROWS:,} rows to integers, and the same rows grouped by DuckDB (2 threads)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        for what, (file, keys, by, goal, before) in CASES.items():
            scan = f"read_csv('{folder / file}', {TEXTS})" if file.endswith(".csv") else f"'{folder / file}'"
            statement = "answers().rows.sum()" if what.startswith("answers") else f"counts(by={by}).counts.sum()"
            ours, memory = measured(OURS.format(keys={**KEYS, "file": file, **keys}, folder=name, statement=statement))
            theirs, _ = measured(THEIRS.format(statement=SUMS[what.split()[0].rstrip(",")].format(scan=scan)))
            words = f"{ours / theirs:.1f} times GROUP BY" + (f" (goal {goal})" if goal else "")
            words += f", {memory} MB" + (f" ({memory / before:.2f} of before)" if before else "")
            row(what, f"{ours:.2f} s", words)



if __name__ == "__main__":
    main()

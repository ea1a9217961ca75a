"""Rows to private integers, next to the plain aggregation on the same engine; and the memory that a large file takes.

`python benchmarks/frames.py --large` scans 100,000,000 rows (a Parquet file of about 0.5 GB, made in a temporary
folder; 4 GB as text); without it the scans are of 10,000,000.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import polars

from measure import row, seconds, span, title
from takifugu.data import Layout, Lengths, Recode, open_frame, pieces

ROWS = 10_000_000
LARGE_ROWS = 100_000_000
STEPS = 10_000
STATES = Recode(("still", "standing", "walking"), {"sitting": "still", "lying": "still"})
WORDS = "['sitting', 'lying', 'standing', 'walking']"
LAYOUTS = {
    "unit": Layout("posture", "person"),
    "unit, order": Layout("posture", "person", order="minute"),
    "unit, order, step": Layout("posture", "person", order="minute", step=1),
    "unit, order of times, step": Layout("posture", "person", order="at", step="1min"),
}


def write(file: Path, rows: int, gaps: bool = False) -> None:
    """Write rows of people with STEPS minutes each; with gaps, every hundredth minute is missing."""
    where = "where i % 100 <> 57" if gaps else ""
    kind = "parquet" if file.suffix == ".parquet" else "csv, header"
    duckdb.sql(f"""copy (
        select i // {STEPS} as person, i % {STEPS} as minute,
            timestamp '2026-01-01' + to_minutes((i % {STEPS})::bigint) as at,
            {WORDS}[1 + (hash(i) % 4)::int] as posture
        from range({rows}) as r(i) {where}
    ) to '{file}' (format {kind})""")


def ours(file: Path, layout: Layout) -> None:
    read = pieces(open_frame(file), layout, STATES)
    assert sum(piece.counts for piece in read).sum() > 0


def on_polars(file: Path, layout: Layout) -> None:
    assert pieces(open_frame(polars.scan_parquet(file)), layout, STATES)


def against(ours: float, theirs: float) -> str:
    return f"{ours / theirs:.1f} times the plain aggregation"


def speed(folder: Path) -> None:
    whole, gaps, text = folder / "whole.parquet", folder / "gaps.parquet", folder / "whole.csv"
    write(whole, ROWS)
    write(gaps, ROWS, gaps=True)
    write(text, ROWS)
    pooled = f"select posture, count(*) from '{whole}' group by posture"
    by_unit = f"select person, posture, count(*), min(minute), max(minute) from '{whole}' group by all"
    title(f"histogram of {ROWS:,} rows, {ROWS // STEPS:,} people; best of 3")
    peers = (("DuckDB", duckdb_seconds(pooled), ours), ("Polars", polars_seconds(whole), on_polars))
    for engine, plainly, run in peers:
        row(f"{engine}: plain aggregation, pooled", span(plainly))
        for name, layout in LAYOUTS.items():
            took = seconds(lambda r=run, chosen=layout: r(whole, chosen))
            row(f"{engine}: pieces ({name})", span(took), against(took, plainly))
        took = seconds(lambda r=run: r(gaps, LAYOUTS["unit, order, step"]))
        row(f"{engine}: pieces (unit, order, step; gaps)", span(took), against(took, plainly))
    by_state = "select person, posture, count(*) from '{}' group by all"
    plainly = duckdb_seconds(by_state.format(whole))
    row("DuckDB: plain aggregation by person and state", span(plainly))
    for name, file in (("unit, order, step", whole), ("unit, order, step; gaps", gaps)):
        took = seconds(lambda chosen=file: ours(chosen, LAYOUTS["unit, order, step"]))
        row(f"DuckDB: pieces ({name})", span(took), against(took, plainly))
    row("DuckDB: plain aggregation by person, with bounds", span(duckdb_seconds(by_unit)))
    csv = duckdb_seconds(by_state.format(text))
    row("DuckDB: plain aggregation of the CSV file, by person and state", span(csv))
    for name, layout in LAYOUTS.items():
        took = seconds(lambda chosen=layout: ours(text, chosen), runs=1)
        row(f"DuckDB: pieces of the CSV file ({name})", span(took), against(took, csv))


def duckdb_seconds(query: str) -> float:
    return seconds(lambda: duckdb.sql(query).fetchall())


def polars_seconds(file: Path) -> float:
    return seconds(lambda: polars.scan_parquet(file).group_by("posture").len().collect())


def memory(folder: Path, rows: int) -> None:
    """Measure the peak of a process that does nothing else, for whole pieces, pieces with gaps, and a cut."""
    whole, gaps = folder / "large.parquet", folder / "large-gaps.parquet"
    write(whole, rows)
    write(gaps, rows, gaps=True)
    title(f"peak memory of one process, {rows:,} rows (Parquet, {whole.stat().st_size / 1e6:.0f} MB), through DuckDB")
    for what, file, layout in (
        ("opened, not read", whole, "-"),
        ("pieces", whole, "unit, order, step"),
        ("pieces of rows with gaps", gaps, "unit, order, step"),
        ("pieces, cut to 1,000 steps", whole, "cut"),
    ):
        command = [sys.executable, __file__, "--scan", str(file), layout]
        started = time.perf_counter()
        peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        row(what, f"{peak / 1e6:.0f} MB", span(time.perf_counter() - started))


def scan(file: str, layout: str) -> None:
    table = open_frame(file)
    if layout == "cut":
        pieces(table, LAYOUTS["unit, order"], STATES, Lengths(longest=1000, longer="cut"))
    elif layout != "-":
        pieces(table, LAYOUTS[layout], STATES)
    # Not getrusage, whose peak a child process takes over from its parent.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(int(peak.split()[1]) * 1024)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--scan"]:
        scan(*arguments[1:])
        return
    with tempfile.TemporaryDirectory() as folder:
        speed(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        memory(Path(folder), LARGE_ROWS if "--large" in arguments else ROWS)


if __name__ == "__main__":
    main(sys.argv[1:])

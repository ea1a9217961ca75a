"""Small release files and data for the tests of the release path."""

from __future__ import annotations

from pathlib import Path

SPEC = """\
ledger = "ledger.db"
output = "out"

[expect]
source = "what matters here"
matters = 1000
unimportant = ["still", "walking"]

[source]
name = "study"
file = "data.csv"
rows = "samples"
unit = "Who is it?"
piece = "run no."
order = "t [min]"
value = "état; raw"
budget = 10

[belief]
kind = "markov-chain"
states = ["still", "walking"]
matrix = [[0.8, 0.2], [0.3, 0.7]]
source = "a test"
pieces_independent = true
units_independent = true

[belief.map]
sitting = "still"
lying = "still"

[[release]]
name = "time-use"
query = "histogram"
epsilon = 1.0
per = "both"
"""

LENGTHS = {"zoë": (30, 41), "Bob, jr.": (25,), "007": (30, 12)}


def rows(unit: str, run: int, length: int) -> list[str]:
    """Return the lines of one piece: states follow a fixed pattern, and every third line says nothing else."""
    words = ["sitting", "walking", "lying", "walking", "walking"]
    name = f'"{unit}"' if "," in unit else unit
    return [f"{name},{run},{t * 2},x,{words[(t * (run + 1) + len(unit)) % 5]}" for t in range(length)]


def data(lengths: dict[str, tuple[int, ...]] = LENGTHS) -> str:
    lines = ["Who is it?,run no.,t [min],spare,état; raw"]
    for unit, pieces in lengths.items():
        for run, length in enumerate(pieces):
            lines += rows(unit, run, length)
    return "\n".join(lines) + "\n"


def write(folder: Path, spec: str = SPEC, table: str | None = None) -> Path:
    """Write the release file and its data; return the release file's path."""
    (folder / "data.csv").write_text(data() if table is None else table, encoding="utf-8")
    where = folder / "release.toml"
    where.write_text(spec, encoding="utf-8")
    return where

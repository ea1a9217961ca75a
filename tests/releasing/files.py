"""Small release files and data for the tests of the release path."""

from pathlib import Path

from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text
from tests.support.releases import put

STATE = """CASE WHEN "état; raw" IN ('sitting', 'lying') THEN 'still' ELSE "état; raw" END"""
SPEC = release_text(
    read_from("study", "data.csv", rows="samples", unit="Who is it?", recording="run no.", order="t [min]",
              step=2, value=STATE, budget=10),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], source="a test",
            recordings_independent=True, units_independent=True),
    publish("time-use", "histogram", epsilon=1.0, per="both"),
    output="out", expect={"source": "what matters here", "matters": 1000, "unimportant": ["still", "walking"]},
)  # fmt: skip

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
    return put(folder, {"release.toml": spec, "data.csv": data() if table is None else table})


PEOPLE = release_text(
    read_from("people", "people.csv", unit="person", budget=1),
    believe("joint-table", source="a test", units_independent=True, columns=["origin", "level"],
            rows=[["n", 1], ["n", 2], ["s", 1], ["s", 2]], counts=[4, 3, 3, 4]),
    hide(attribute="origin"),
    publish("level", "identity", attribute="level", epsilon=1),
    expect={**EXPECT, "matters": 9},
)  # fmt: skip


def people(folder: Path) -> Path:
    """Write a release file about two people, and their data; return its path."""
    return put(folder, {"people.toml": PEOPLE, "people.csv": "person,origin,level\nAna,n,1\nBo,s,2\n"})

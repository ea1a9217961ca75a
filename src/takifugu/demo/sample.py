"""A made-up activity sample: labelled minutes of six participants, drawn from the chain of the demo's release file."""

from __future__ import annotations

import csv
import tomllib
from importlib.resources import files
from pathlib import Path

from takifugu.noise import Entropy, InsecureSeededEntropyForTests, choose

#: Lengths of the bouts of each participant, in minutes.
BOUTS = {
    "Ana": (420, 655), "Ben": (380, 150, 510), "Chi": (720, 610), "Dov": (305, 470, 340), "Eva": (540, 455),
    "Fay": (260, 590, 415),
}  # fmt: skip
_STEPS_IN_ALL = 1_000_000


def release_file() -> str:
    """Return the demo's release file."""
    return (files("takifugu.demo") / "activity.toml").read_text(encoding="utf-8")


def write_demo(folder: Path, seed: int = 2026) -> Path:
    """Write the sample and its release file into a folder; return the release file's path.

    The seed makes the sample the same everywhere; the noise of a release never comes from a seed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    where = folder / "activity.toml"
    where.write_text(release_file(), encoding="utf-8")
    spec = tomllib.loads(release_file())
    entropy = InsecureSeededEntropyForTests(seed)
    with open(folder / spec["source"]["file"], "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant", "bout", "minute", "posture"])
        for person, lengths in BOUTS.items():
            for bout, length in enumerate(lengths, start=1):
                states = _chain(spec["belief"]["matrix"], spec["belief"]["states"], length, entropy)
                rows.writerows((person, bout, minute, state) for minute, state in enumerate(states))
    return where


def _chain(matrix: list[list[float]], states: list[str], length: int, entropy: Entropy) -> list[str]:
    """Return a walk that starts where the chain is after many steps; resting is labelled lying or sitting."""
    masses = [[round(p * _STEPS_IN_ALL) for p in row] for row in matrix]
    state, walk = 0, []
    for _ in range(length + 50):
        state = int(choose(masses[state], 1, entropy)[0])
        walk.append(state)
    postures = [states[s] for s in walk[50:]]
    nap = int(choose([1, 1], 1, entropy)[0])
    return [("lying" if nap else "sitting") if p == states[0] else p for p in postures]

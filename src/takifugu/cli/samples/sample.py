"""A made-up activity sample: labelled minutes of six participants, drawn from the chain of the demo's release file."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from takifugu.numbers.noise import Entropy, InsecureSeededEntropyForTests, choose

#: Lengths of the bouts of each participant, in minutes.
BOUTS = {
    "Ana": (2880, 4155), "Ben": (3210, 640, 1950), "Chi": (4320, 2610), "Dov": (1305, 2470, 3340),
    "Eva": (2540, 3855), "Fay": (1260, 3590, 2415),
}  # fmt: skip
_STEPS_IN_ALL = 1_000_000
#: Makes the sample the same everywhere; the noise of a release never comes from a seed.
_SEED = 2026


def release_file() -> str:
    """Return the demo's release file."""
    return (files("takifugu.cli.samples") / "activity.toml").read_text(encoding="utf-8")


def write_demo(folder: Path) -> Path:
    """Write the sample and its release file; return the latter's path."""
    folder.mkdir(parents=True, exist_ok=True)
    release = folder / "activity.toml"
    release.write_text(release_file(), encoding="utf-8")
    spec = tomllib.loads(release_file())
    matrix, states = spec["belief"]["matrix"], spec["belief"]["states"]
    entropy = InsecureSeededEntropyForTests(_SEED)
    with open(folder / spec["source"]["file"], "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["participant", "bout", "minute", "posture"])
        for person, lengths in BOUTS.items():
            for bout, length in enumerate(lengths, start=1):
                posture = "lying" if choose([1, 1], 1, entropy)[0] else "sitting"
                walk = _walk(matrix, length, entropy)
                rows.writerows((person, bout, minute, states[s] if s else posture) for minute, s in enumerate(walk))
    return release


def _walk(matrix: list[list[float]], length: int, entropy: Entropy) -> Iterator[int]:
    """Yield the states of a chain, started long ago in state 0."""
    started = 50
    masses = [[round(p * _STEPS_IN_ALL) for p in row] for row in matrix]
    rows = [iter(choose(row, length + started, entropy).tolist()) for row in masses]
    state = 0
    for step in range(length + started):
        state = next(rows[state])
        if step >= started:
            yield state

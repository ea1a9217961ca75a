"""The examples and the demo's sample, all made up, written out for whoever wants to try them."""

from __future__ import annotations

import csv
import io
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from takifugu.core.errors import ReleaseError, reason
from takifugu.core.nearest import unknown
from takifugu.core.plain import Plain
from takifugu.numbers.noise import Entropy, InsecureSeededEntropyForTests, choose

#: Where they are: beside this module in an installed package, in `examples/` of a checkout of the source.
_FOLDERS = (Path(__file__).resolve().parent / "examples", Path(__file__).resolve().parents[4] / "examples")


@dataclass(frozen=True)
class Example:
    """A release file: its name, what it shows in one line, and the made-up files that it reads."""

    name: str
    about: str
    files: tuple[Path, ...]
    #: The files stand in for data that this project may not hand on; the release file says where to get these.
    meant_for_published_data: bool


def examples() -> tuple[Example, ...]:
    """Return the examples by name, last those for published data."""
    folder = next(filter(Path.is_dir, _FOLDERS))
    all_examples = list[Example]()
    for path in [*sorted(folder.glob("*.toml")), *sorted(folder.glob("real/*.toml"))]:
        text = path.read_text(encoding="utf-8")
        comments = takewhile(lambda line: line.startswith("#"), text.splitlines())
        opening = " ".join(line.removeprefix("# ") for line in comments).split(". ")[0]
        summary = opening.removeprefix("A Takifugu release file").lstrip(":").strip().removeprefix("for ")
        files = [path.parent / name for name in dict.fromkeys(_files(tomllib.loads(text)))]
        is_real = path.parent.name == "real"
        all_examples.append(Example(path.stem, summary.rstrip("."), (path, *files), is_real))
    return tuple(all_examples)


def write_example(name: str, folder: Path) -> tuple[Path, ...]:
    """Write an example's files into a folder; return their paths, the release file's first."""
    by_name = {example.name: example for example in examples()}
    if name not in by_name:
        raise unknown(f"there is no example {name!r}", name, by_name).at("name")
    return _write(folder, {path.name: path.read_bytes() for path in by_name[name].files})


def _write(folder: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write new files into a folder, and return their paths; ReleaseError for one that is there, and for failures."""
    files = {folder / name: content for name, content in contents.items()}
    for path in files:
        if os.path.lexists(path):
            raise ReleaseError(f"{str(path)!r} would be overwritten", fix="run it in an empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            with open(path, "xb") as file:
                file.write(content)
    except OSError as error:
        what = f"{str(folder)!r} cannot be written to ({reason(error)})"
        raise ReleaseError(what, fix="choose another place") from None
    return tuple(files)


def _files(section: Plain) -> Iterator[str]:
    """Yield all files named in a release file."""
    for key, value in section.items():
        if key in ("file", "roster") and isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _files(value)


#: The demo's release file.
_DEMO = Path(__file__).with_name("activity.toml")
#: Lengths of the bouts of each participant, in minutes.
BOUTS = {
    "Ana": (2880, 4155), "Ben": (3210, 640, 1950), "Chi": (4320, 2610), "Dov": (1305, 2470, 3340),
    "Eva": (2540, 3855), "Fay": (1260, 3590, 2415),
}  # fmt: skip
_STEPS_IN_ALL = 1_000_000
#: Makes the sample the same everywhere; the noise of a release never comes from a seed.
_SEED = 2026


def write_demo(folder: Path) -> Path:
    """Write the sample and its release file; return the latter's path."""
    text = _DEMO.read_text(encoding="utf-8")
    spec = tomllib.loads(text)
    matrix, states = spec["belief"]["matrix"], spec["belief"]["states"]
    entropy = InsecureSeededEntropyForTests(_SEED)
    sample = io.StringIO(newline="")
    rows = csv.writer(sample)
    rows.writerow(["participant", "bout", "minute", "posture"])
    for person, lengths in BOUTS.items():
        for bout, length in enumerate(lengths, start=1):
            posture = "lying" if choose([1, 1], 1, entropy)[0] else "sitting"
            walk = _walk(matrix, length, entropy)
            rows.writerows((person, bout, minute, states[s] if s else posture) for minute, s in enumerate(walk))
    return _write(folder, {_DEMO.name: text.encode(), spec["source"]["file"]: sample.getvalue().encode()})[0]


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

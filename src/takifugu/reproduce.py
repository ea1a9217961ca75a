"""Experiments of papers, to be run again: modules of the folder `experiments/` beside the source.

A module is a target if it declares this in a line at its top level:

    REPRODUCES = "Song, Wang and Chaudhuri 2017, Section 5"

Its name is the file's name, its sentence the first one of its docstring; running it is running the file. Nothing else
registers it. Experiments need data and time that an installed package does not have, so they stay in the checkout.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from takifugu.errors import InputError, did_you_mean

#: The checkout that this package was imported from, if it was one.
ROOT = Path(__file__).resolve().parents[2]
MARK = "REPRODUCES"


@dataclass(frozen=True)
class Target:
    """An experiment that can be run again: its name, what it reproduces, its first sentence, its file."""

    name: str
    reproduces: str
    about: str
    path: Path


def targets(root: Path = ROOT) -> tuple[Target, ...]:
    """Return the experiments of a checkout, sorted by name; none is imported.

    Raises InputError where there is no checkout.
    """
    folder = root / "experiments"
    if not (root / "pyproject.toml").is_file() or not folder.is_dir():
        raise InputError(
            "experiments are not part of the installed package",
            fix=(
                "get the source of Takifugu, install it there with `pip install --editable .`, and run `takifugu "
                "reproduce` again"
            ),
        )
    return tuple(_found(folder))


def find(name: str, root: Path = ROOT) -> Target:
    """Return one experiment by its name; InputError for an unknown one."""
    known = targets(root)
    for target in known:
        if target.name == name:
            return target
    names = [t.name for t in known]
    raise InputError(
        f"there is no target {name!r}{did_you_mean(name, names)}", fix=f"write one of {', '.join(names)}"
    ).at("target")


def run(target: Target, root: Path = ROOT, output: IO[str] | None = None) -> int:
    """Run an experiment in a process of its own, from the root of the checkout; return its exit code.

    `output` is where its standard output goes, by default to ours.
    """
    paths = [str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    place = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(target.path)]
    return subprocess.run(command, cwd=root, env=place, stdout=output, check=False).returncode


def _found(folder: Path) -> Iterator[Target]:
    for path in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        for line in tree.body:
            if isinstance(line, ast.Assign) and [ast.unparse(t) for t in line.targets] == [MARK]:
                about = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
                yield Target(path.stem, str(ast.literal_eval(line.value)), about, path)

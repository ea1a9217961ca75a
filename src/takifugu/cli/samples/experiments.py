"""Experiments of papers, to be run again: modules of the folder `experiments/` of a checkout.

A module is a target if it declares this in a line at its top level:

    REPRODUCES = "Song, Wang and Chaudhuri (arXiv 1603.03977v1), Section 5"

Its name is the file's name, its sentence the first one of its docstring; running it is running the file. Nothing else
registers it. It rewrites the pages of the checkout, or writes them into a folder, without the parts whose research data
are absent.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from takifugu.core.errors import InputError
from takifugu.core.nearest import unknown

_PACKAGE = Path(__file__).resolve().parents[2]
#: The checkout that this package was imported from, if it was.
ROOT = _PACKAGE.parents[1]
MARK = "REPRODUCES"


@dataclass(frozen=True)
class Target:
    """An experiment that can be run again: its name, what it reproduces, its first sentence, its file."""

    name: str
    reproduces: str
    about: str
    path: Path


def targets() -> tuple[Target, ...]:
    """Return the experiments by name, unimported; InputError for none."""
    all_targets = list[Target]()
    for path in sorted((ROOT / "experiments").glob("*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        for line in tree.body:
            if isinstance(line, ast.Assign) and list(map(ast.unparse, line.targets)) == [MARK]:
                summary = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
                all_targets.append(Target(path.stem, str(ast.literal_eval(line.value)), summary, path))
    if not all_targets:
        raise InputError(
            "the experiments are not part of the installed package",
            fix="get the source of Takifugu, and run `pip install -e .` and then this command in its folder",
        )
    return tuple(all_targets)


def find(name: str) -> Target:
    """Return one experiment by its name; InputError if unknown."""
    by_name = {target.name: target for target in targets()}
    if name not in by_name:
        raise unknown(f"there is no target {name!r}", name, by_name).at("target")
    return by_name[name]


def run(target: Target, folder: Path | None = None, whole: bool = False, output: IO[str] | None = None) -> int:
    """Run an experiment in its own process; return its exit code."""
    paths = [str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    place = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    # page and pictures go into the checkout, or into a folder with a tenth of the points unless `whole`
    if folder is not None:
        place |= {"TAKIFUGU_OUTPUT": str(folder.resolve()), "TAKIFUGU_WHOLE": str(int(whole))}
    command = [sys.executable, str(target.path)]
    process = subprocess.Popen(command, cwd=ROOT, env=place, stdout=output, process_group=0)  # Ctrl-C does not reach it
    try:
        return process.wait()
    except BaseException:  # nothing goes on for somebody who has stopped it
        process.terminate()
        process.wait()
        raise

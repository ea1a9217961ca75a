"""The command line loads what installed packages register, by the entry points that they declare."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.releasing import files

ROOT = Path(__file__).parents[2]
DOUBLE = """
from dataclasses import dataclass, replace
from takifugu import extending
from takifugu.mechanisms.group import MECHANISM as GROUP

@dataclass(frozen=True)
class Double:
    name: str = "double"
    source: str = "a test"

    def cost(self, problem):
        return GROUP.cost(problem)

    def bound(self, problem):
        found = GROUP.bound(problem)
        return replace(found, randomiser=replace(found.randomiser, units=2 * found.randomiser.units))

extending.register_mechanism(Double())
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder that holds an installed package: a module, and the metadata that name it."""
    folder = tmp_path / "site"
    (folder / "double-1.0.dist-info").mkdir(parents=True)
    (folder / "double.py").write_text(DOUBLE, encoding="utf-8")
    about = folder / "double-1.0.dist-info"
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: double\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[takifugu.extensions]\ndouble = double\n", encoding="utf-8")
    return folder


def run(place: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(ROOT / "src")])}
    command = [sys.executable, "-m", "takifugu", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_command_knows_what_an_installed_package_registers(place: Path, tmp_path: Path) -> None:
    where = files.write(tmp_path, table=files.data({"p": (6, 5)}))
    done = run(place, "compare", where, "--all")
    assert done.returncode == 0, done.stderr
    assert "\ndouble " in done.stdout
    assert "\ndouble " not in run(tmp_path, "compare", where, "--all").stdout


@pytest.mark.slow
def test_an_extension_that_cannot_be_loaded_is_named_and_stops_nothing(place: Path, tmp_path: Path) -> None:
    where = files.write(tmp_path, table=files.data({"p": (6, 5)}))
    for broken, reason in (("raise KeyError('x')\n", "KeyError"), (DOUBLE * 2, "'double' is registered already")):
        (place / "double.py").write_text(broken, encoding="utf-8")
        done = run(place, "compare", where, "--all")
        assert done.returncode == 0, done.stderr
        assert "takifugu: the extension 'double' (double) cannot be loaded: " in done.stderr
        assert reason in done.stderr
    assert run(place, "compare", "--help").stderr == ""

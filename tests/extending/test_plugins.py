"""Code of installed packages runs where a release file or the caller names it, and changes nothing elsewhere."""

import html
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke
from tests.support.processes import result_of_a_child

import takifugu as tf
from takifugu.cli.group import BAD_INPUT, DONE, REFUSED
from takifugu.core import plugins
from takifugu.core.errors import InputError, SpecError
from takifugu.releasing.file.loading import load

ROOT = Path(__file__).parents[2]

#: Noise of scale 1/epsilon: it hides one row only from someone who knows no other one.
FAINT = """
from dataclasses import dataclass
from fractions import Fraction
from takifugu import extending
from takifugu.mechanisms.record_dp import MECHANISM as ENTRY

@dataclass(frozen=True)
class Faint:
    name: str = "faint"
    source: str = "a test"

    def cost(self, problem):
        return extending.Cost(1.0)

    def bound(self, problem):
        noise = ENTRY.bound(problem)
        return extending.Bound(noise.randomiser, problem.epsilon, Fraction(0), extending.Covers.ENTRIES, noise.witness)

extending.register_mechanism(Faint())
"""
#: Twice the noise of `group-dp`.
HONEST = """
from dataclasses import dataclass, replace
from takifugu import extending
from takifugu.mechanisms.group_dp import MECHANISM as GROUP

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


def install(folder: Path, name: str, text: str, group: str = "takifugu.extensions", module: str = "") -> Path:
    """Put a package into a folder as an installer does: a module, and metadata that name it."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}_code.py").write_text(text, encoding="utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    points = f"[{group}]\n{name} = {module or f'{name}_code'}\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8")
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return install(install(tmp_path / "site", "faint", FAINT), "honest", HONEST)


def begun_in(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a Python that finds the packages of a folder from its start."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "src")]), "COLUMNS": "80"}
    command = [sys.executable, "-m", "takifugu", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


def _run(site: Path, words: Sequence[object]) -> subprocess.CompletedProcess[str]:
    sys.path.insert(0, str(site))
    done = invoke(*words, COLUMNS="80")
    return subprocess.CompletedProcess([], done.exit_code, done.stdout, done.stderr)


def run(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a child that finds the packages of a folder."""
    done: subprocess.CompletedProcess[str] = result_of_a_child(_run, site, words)
    return done


def written(folder: Path, first: str = "", mechanism: str = "") -> Path:
    """Write a release file with a first line, and a mechanism for its tables."""
    keys = f'epsilon = 1.0\nmechanism = "{mechanism}"' if mechanism else "epsilon = 1.0"
    spec = files.SPEC.replace("epsilon = 1.0", keys)
    return files.write(folder, f"{first}\n{spec}", table=files.data({"p": (6, 5)}))


@pytest.mark.mutants
@pytest.mark.parametrize("command", ["cost {} --all", "keys markov-chain"])
def test_an_installed_package_that_nobody_names_changes_nothing(site: Path, tmp_path: Path, command: str) -> None:
    """Installing one changed what was drawn: "auto" took its noise, 3 for 17.27."""
    words, nowhere = command.format(written(tmp_path)).split(), tmp_path / "empty"
    with_package, without = begun_in(site, *words), begun_in(nowhere, *words)
    assert (with_package.returncode, with_package.stdout) == (DONE, without.stdout), with_package.stderr
    assert with_package.stderr == without.stderr
    assert "faint" not in with_package.stdout
    done = run(site, "cost", written(tmp_path, mechanism="faint"))
    assert done.returncode == BAD_INPUT
    assert "the mechanism is 'faint'" in done.stderr


def test_one_that_is_named_is_never_chosen_and_its_promise_is_marked(site: Path, tmp_path: Path) -> None:
    both = 'plugins = ["honest", "faint"]'
    compared = run(site, "cost", written(tmp_path, both), "--all").stdout
    assert "\ndouble " in compared
    assert "by name only: promise of the package 'honest'" in " ".join(compared.split())
    assert "it claims epsilon 1 for noise of scale 2, which loses epsilon" in " ".join(compared.split())
    chosen = run(site, "cost", written(tmp_path, both)).stdout
    assert chosen == run(site, "cost", written(tmp_path)).stdout
    done = run(site, "cost", written(tmp_path, both, "faint"))
    assert done.returncode == REFUSED
    assert "promise of the package 'faint': it claims epsilon 1" in " ".join(done.stderr.split())
    where = written(tmp_path, 'plugins = ["honest"]', "double")
    assert run(site, "release", where, "--allow-useless").returncode == DONE
    mark = "Promise of the package 'honest', by its mechanism 'double'"
    for ending in ("certificate.txt", "html"):
        pages = [html.unescape(page.read_text(encoding="utf-8")) for page in (tmp_path / "out").rglob(f"*.{ending}")]
        assert any(mark in " ".join(page.split()) for page in pages), ending


def test_a_caller_names_one_on_the_command_line(site: Path, tmp_path: Path) -> None:
    assert run(site, "--plugin", "honest", "cost", written(tmp_path), "--all").stdout.count("\ndouble ")
    done = run(site, "--plugin", "nowhere", "cost", written(tmp_path))
    assert (done.returncode, done.stderr) == (
        BAD_INPUT, "takifugu: the package 'nowhere' is not installed: run pip install nowhere, or take the name out\n"
    )  # fmt: skip


BROKEN = {
    "raises": ("raise KeyError('x')\n", "raises_code: KeyError"),
    "exits": ("raise SystemExit(3)\n", "exits_code: SystemExit"),
    "lacks": ("import a_module_that_is_nowhere\n", "there is no module 'a_module_that_is_nowhere'"),
    "odd": ("def (\n", "odd_code: SyntaxError"),
    "twice": (HONEST.replace("double", "one") + "extending.register_mechanism(Double())\n", "registered already"),
    "ours": (HONEST.replace("double", "group-dp"), "the mechanism 'group-dp' is registered already"),
    "alias": (HONEST.replace("Double())", "Double(), aliases=('MQMExact',))"), "alias of two mechanisms"),
    "belief": ("from takifugu import extending\nextending.register_belief('table', int)\n", "int lacks alphabet"),
    "query": (
        "from takifugu import extending\nimport takifugu as tf\nextending.register_query('count', tf.Count)\n",
        "the query's kind 'count' is registered already",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_one_that_cannot_be_loaded_is_refused_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, reason = BROKEN[name]
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", name, text)))
    done = ended(BAD_INPUT, "release", written(tmp_path, f'plugins = ["{name}"]'))
    assert done.stderr.startswith(f"takifugu: plugins[0]: the package {name!r} cannot be loaded")
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.parametrize(("line", "words"), [
    ('["honest", "honest"]', "plugins[1]: the package 'honest' is named twice; name it once"),
    ('["Honest", "honest"]', "plugins[1]: the package 'honest' is named twice"),
    ('["nowhere"]', "plugins[0]: the package 'nowhere' is not installed; run pip install nowhere, or take"),
    ('["../up"]', "plugins[0]: '../up' is no name of a package"), ('[""]', "plugins[0]"),
    ('["numpy"]', "plugins[0]: the package 'numpy' extends nothing here"), ("[3]", "plugins[0]"),
    ('"honest"', "plugins"), ("{honest = 1}", "plugins"),
])  # fmt: skip
def test_bad_names_are_faults_of_the_file(
    line: str, words: str, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(site))
    with pytest.raises(SpecError) as refused:
        load(written(tmp_path, f"plugins = {line}"))
    assert words in "\n".join(refused.value.problems)


def test_a_module_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", "gone", "", module="gone_elsewhere")))
    with pytest.raises(InputError, match="the package 'gone' cannot be loaded: gone_elsewhere: there is no module"):
        plugins.load(["gone"])


def test_an_entry_point_of_another_group_is_none_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path / "site", "other", "raise KeyError", group="console_scripts")))
    with pytest.raises(InputError, match="the package 'other' extends nothing here"):
        plugins.load(["other"])


def test_whose_a_thing_is() -> None:
    things: dict[Any, str] = {tf.Count(1): "", tf.MarkovChain: "", tf.calibrate: "", test_whose_a_thing_is: "tests"}
    assert [plugins.package_of(thing) for thing in things] == list(things.values())


def test_a_function_without_a_module_is_of_nobody() -> None:
    names: dict[str, Any] = {"__name__": None}
    exec("def holds(data): return False", names)
    assert names["holds"].__module__ is None
    assert plugins.registered_by(names["holds"]) == "(unknown)"

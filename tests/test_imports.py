"""No two files or folders of `src` import each other, directly or in a circle, function-local imports included."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.support.release_files import believe, publish, read_from, release_text
from tests.support.releases import put
from tests.support.sources import parsed

SRC = Path(__file__).parents[1] / "src"

Graph = Mapping[str, frozenset[str]]


@cache
def graph(root: Path, with_types: bool = False) -> Graph:
    """Return which module imports which, by their full names; what type checkers alone read only `with_types`."""
    files = {_name(path.relative_to(root)): path for path in root.rglob("*.py")}
    trees = {name: parsed(path) for name, path in files.items()}
    packages = {name for name, path in files.items() if path.name == "__init__.py"}
    return {
        name: frozenset(_targets(_nodes(tree, with_types), _package(name, packages), set(files)) - {name})
        for name, tree in trees.items()
    }


def _package(name: str, packages: set[str]) -> str:
    return name if name in packages else name.rpartition(".")[0]


def _name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _targets(nodes: Iterable[ast.AST], package: str, known: set[str]) -> set[str]:
    targets = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            inside = {f"{module}.{alias.name}" for alias in node.names}
            targets |= inside & known or {module}
            if inside - known:
                targets.add(module)
    return targets & known


def _nodes(tree: ast.AST, with_types: bool) -> Iterator[ast.AST]:
    """Yield every statement, but those under `if TYPE_CHECKING:` only `with_types`."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if not with_types and isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _nodes(other, with_types)
            continue
        yield child
        yield from _nodes(child, with_types)


def circles(imports: Graph) -> set[frozenset[str]]:
    """Return the sets of modules that reach each other: one for each strongly connected component of several."""
    reached: dict[str, frozenset[str]] = {}
    for name in imports:
        seen, open_ = set[str](), list(imports[name])
        while open_:
            other = open_.pop()
            if other not in seen:
                seen.add(other)
                open_ += imports[other]
        reached[name] = frozenset(seen)
    return {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in imports if name in reached[name]
    }  # fmt: skip


def test_no_files_import_each_other() -> None:
    cycles = sorted(map(sorted, circles(graph(SRC))))
    assert not cycles, f"these import each other: {cycles}; move what both need below them"


def folders(imports: Graph) -> Graph:
    """Return which folder imports which: a package stands for the files that lie in it, not for its folders."""
    packages = {name for name in imports if any(other.startswith(f"{name}.") for other in imports)}
    lies = {name: name if name in packages else name.rpartition(".")[0] for name in imports}
    return {
        folder: frozenset(lies[to] for name in imports if lies[name] == folder for to in imports[name]) - {folder}
        for folder in set(lies.values())
    }


@pytest.mark.parametrize("with_types", [False, True])
def test_no_folders_import_each_other(with_types: bool) -> None:
    """A type and the functions about it may name each other for type checkers, but only where they lie side by side."""
    # Names for users, and no more.
    root = {"takifugu", "takifugu.numbers", "takifugu.model.queries", "takifugu._version", "takifugu.__main__"}
    imports = {name: to - root for name, to in graph(SRC, with_types).items() if name not in root}
    cycles = sorted(map(sorted, circles(folders(imports))))
    assert not cycles, f"these folders import each other: {cycles}; move what both need below them"


@pytest.mark.parametrize(("first", "second", "circle"), [
    ("from p.b.one import x", "from p.a.two import y", True),
    ("from p.b.one import x", "from p.a.b.two import y", False),
    ("from p.b.one import x", "", False),
])  # fmt: skip
def test_a_circle_of_folders_is_found(tmp_path: Path, first: str, second: str, circle: bool) -> None:
    for name, text in {"a/one": first, "a/two": "", "b/one": second, "a/b/two": ""}.items():
        path = tmp_path / "p" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        (path.parent / "__init__.py").write_text("", encoding="utf-8")
    assert bool(circles(folders(graph(tmp_path)))) is circle


def test_no_folder_holds_more_files_than_fit_on_a_screen() -> None:
    here = [folder for folder in (SRC / "takifugu").rglob("*") if folder.is_dir() and folder.name != "__pycache__"]
    assert len(here) > 50
    assert not [folder for folder in here if len([*folder.glob("*.py")]) > 25]


@pytest.mark.parametrize(("first", "second", "circle"), [
    ("from p.b import x", "import p.a", {"p.a", "p.b"}),
    ("from p import b", "def f():\n    from p.a import x", {"p.a", "p.b"}),
    ("from . import b", "class C:\n    def f(self):\n        import p.a as a", {"p.a", "p.b"}),
    ("from .b import x", "from p import c", {"p.a", "p.b", "p.c"}),
    ("import p.b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a", set()),
    ("import p.b", "import json", set()),
])  # fmt: skip
def test_a_circle_is_found(tmp_path: Path, first: str, second: str, circle: set[str]) -> None:
    (tmp_path / "p").mkdir()
    for name, text in (("__init__", ""), ("a", first), ("b", second), ("c", "import p.a")):
        (tmp_path / "p" / f"{name}.py").write_text(text, encoding="utf-8")
    assert circles(graph(tmp_path)) == ({frozenset(circle)} if circle else set())


def test_what_type_checkers_read_is_found_with_types(tmp_path: Path) -> None:
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a"
    texts = {"__init__": "", "a": "import p.b", "b": for_types}
    (tmp_path / "p").mkdir()
    for name, text in texts.items():
        (tmp_path / "p" / f"{name}.py").write_text(text, encoding="utf-8")
    assert circles(graph(tmp_path, with_types=True)) == {frozenset({"p.a", "p.b"})}


@pytest.mark.slow
def test_every_import_that_python_makes_is_in_the_graph() -> None:
    """What loading a module loads, as Python itself says it, lies within what the graph reaches."""
    names = "print(*sorted(n for n in sys.modules if n.startswith('takifugu')))"
    loaded = set(_run(f"import sys, takifugu.mechanisms.optimal\n{names}").split())
    imports = graph(SRC)
    seen, open_ = set[str](), ["takifugu.mechanisms.optimal"]
    while open_:
        name = open_.pop()
        parents = {name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1)}
        for other in {name, *parents, *imports[name]} - seen:
            seen.add(other)
            open_.append(other)
    assert loaded <= seen


CALIBRATE = """import takifugu as tf
chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10)
tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), epsilon=1, mechanism='group-dp')
"""


@pytest.mark.parametrize(("mechanism", "program", "unneeded"), [
    pytest.param("group_dp", CALIBRATE, ("influence.quilts",), marks=pytest.mark.slow),
    ("wasserstein", "import takifugu.mechanisms.wasserstein\n", (
        "core.text", "model.beliefs.chains", "model.queries.tables.visits", "model.queries.tables.together",
        "model.secrets.of_populations", "numbers.after_noise", "numbers.permute_and_flip", "numbers.transport.metrics",
    )),
])  # fmt: skip
def test_a_mechanism_loads_what_it_computes_with(mechanism: str, program: str, unneeded: tuple[str, ...]) -> None:
    loaded = _run(f"import sys\n{program}print(*sys.modules)").split()
    assert f"takifugu.mechanisms.{mechanism}" in loaded
    assert not [name for name in loaded if name.startswith(tuple(f"takifugu.{one}" for one in unneeded))]


#: What reads ledgers, makes pages, or computes slowly: nothing of it is used before a release.
_NOT_BEFORE_A_RELEASE = ("matplotlib", "scipy", "takifugu.accounting.ledger.view", "takifugu.releasing.report")
#: What reads rows: a file that is opened for the names of its columns alone needs none of it.
_NOT_BEFORE_A_ROW = ("duckdb",)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("command", "unneeded"), [
    ("cost", (
        "matplotlib", "scipy", "numpy.ma", "takifugu.model.beliefs.contacts", "takifugu.model.beliefs.networks",
        "takifugu.releasing.draft", "takifugu.releasing.publishing", "takifugu.releasing.report",
    )),
    ("cost --windows 2", (*_NOT_BEFORE_A_ROW, "matplotlib", "scipy", "takifugu.releasing.publishing")),
    ("check", (*_NOT_BEFORE_A_RELEASE, *_NOT_BEFORE_A_ROW, "takifugu.releasing.publishing")),
    ("advise", ("matplotlib", "scipy", "takifugu.releasing.publishing", "takifugu.releasing.report")),
    ("release", ("matplotlib", "scipy", "pandas", "polars")),
    ("odds", (*_NOT_BEFORE_A_RELEASE, *_NOT_BEFORE_A_ROW, "numpy", "pydantic")),
    ("--help", (*_NOT_BEFORE_A_RELEASE, *_NOT_BEFORE_A_ROW, "numpy", "pydantic", "tomllib")),
])  # fmt: skip
def test_a_command_loads_what_it_needs(tmp_path: Path, command: str, unneeded: tuple[str, ...]) -> None:
    file = () if command in ("--help", "odds") else (str(put(tmp_path, _STEPS)),)
    words = [*command.split(), *file]
    program = (
        f"import sys\nfrom takifugu.cli import main\nassert not main({words!r}, standalone_mode=False)\n"
        "print(*sorted(sys.modules))"
    )
    loaded = _run(program).splitlines()[-1].split()
    assert not [name for name in loaded if any(f"{name}.".startswith(f"{one}.") for one in unneeded)]


_STEPS = {
    "steps.toml": release_text(
        read_from("steps", "steps.csv", order="minute", value="doing", step="1min", from_="2026-01-05",
                  until="2026-01-06"),
        believe("markov-chain", states=[0, 1], matrix=[[0.9, 0.1], [0.4, 0.6]], source="made up"),
        publish("busy", "count", states=[1], every="day", epsilon=1),
    ),
    "steps.csv": "minute,doing\n2026-01-05T00:00,0\n2026-01-05T00:01,1\n",
}  # fmt: skip


def _run(program: str) -> str:
    place = {**os.environ, "PYTHONPATH": str(SRC)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=place)
    return done.stdout

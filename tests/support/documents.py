"""Runs the code blocks of Markdown documents, so that README and docs cannot state what is untrue.

Each document has its own names and its own temporary working directory. By the language of a block:

python    is executed; what it prints is kept for the next block. One whose first line is `# name.py` is written to that
          file and imported; where it registers something, it is installed as a package of that name; what it registers
          with Takifugu is forgotten at the end of the document
text      the first one after a python or console block: must be what that block printed; `...` stands for any lines
toml      whose first line is `# name.toml`: is written to that file
console   lines `$ takifugu ...` run and must succeed, or end as `# exit code 1` says; lines that .ci/run covers (make,
          git, pip, cd) are left to it
"""

import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sybil import Example
from sybil.document import Document
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser
from tests.support import registries

#: Commands in documents that the tests do not run themselves: .ci/run starts from them.
LEFT_TO_CI = ("make", "git", "pip", "cd", "python3")

ENVIRONMENT = {"COLUMNS": "80", "NO_COLOR": "1"}

Namespace = dict[str, Any]


def enter(namespace: Namespace) -> None:
    """Start a document: 80 columns, no colours, a working directory of its own."""
    namespace["__before__"] = (os.getcwd(), {name: os.environ.get(name) for name in ENVIRONMENT})
    namespace["__room__"] = tempfile.mkdtemp(prefix="takifugu-document-")
    namespace["__printed__"], namespace["__files__"] = None, contextlib.ExitStack()
    os.chdir(namespace["__room__"])
    os.environ.update(ENVIRONMENT)


def leave(namespace: Namespace) -> None:
    directory, variables = namespace["__before__"]
    namespace["__files__"].close()
    os.chdir(directory)
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    shutil.rmtree(namespace["__room__"], ignore_errors=True)


def parsers() -> Sequence[Callable[[Document], Any]]:
    languages = {"python": _python, "text": _printed, "toml": _file, "console": _commands}
    return [CodeBlockParser(language, evaluate) for language, evaluate in languages.items()]


_execute = PythonEvaluator()


def _python(example: Example) -> None:
    printed, name = io.StringIO(), _NAMED.match(example.parsed)
    with contextlib.redirect_stdout(printed):
        if name:
            _module(name[1], example)
        else:
            _execute(example)
    example.namespace["__printed__"] = printed.getvalue()


_NAMED = re.compile(r"# (\w+)\.py\n")


def _module(name: str, example: Example) -> None:
    """Write a block to its file, beside the document's others, and import it."""
    stack: contextlib.ExitStack = example.namespace["__files__"]
    if str(Path.cwd()) not in sys.path:
        stack.enter_context(registries.restored())
        sys.path.insert(0, str(Path.cwd()))
        stack.callback(sys.path.remove, str(Path.cwd()))
    assert name not in sys.modules, f"a module {name} is loaded already: call the file otherwise"
    Path(f"{name}.py").write_text(example.parsed, encoding="utf-8")
    if "extending.register_" in example.parsed:
        _installed(name)
    stack.callback(sys.modules.pop, name, None)
    importlib.invalidate_caches()
    importlib.import_module(name)


def _installed(name: str) -> None:
    """Write what pip leaves of a package of this one module whose pyproject.toml has the entry point of the page."""
    about = Path(f"{name}-1.0.dist-info")
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[takifugu.extensions]\n{name} = {name}\n", encoding="utf-8")


def _printed(example: Example) -> str | None:
    printed, example.namespace["__printed__"] = example.namespace["__printed__"], None
    return None if printed is None else differs(example.parsed, printed)


def differs(promised: str, printed: str) -> str | None:
    """Describe how the printed lines differ from the promised ones; a promised line of three dots stands for any lines.

    Runs of blanks count as one, so that a table may grow wider.
    """
    want, got = ([" ".join(line.split()) for line in text.strip("\n").splitlines()] for text in (promised, printed))
    pattern = "".join("(.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in want)
    if re.fullmatch(pattern, "".join(line + "\n" for line in got)):
        return None
    return "\n".join(["the document promises", *want, "but this is printed", *got])


def _file(example: Example) -> str | None:
    first = example.parsed.splitlines()[0]
    if not (first.startswith("# ") and first.endswith(".toml")):
        return f"a toml block needs its file's name in the first line, `# name.toml`, and has {first!r}"
    Path(first[2:]).write_text(example.parsed, encoding="utf-8")
    return None


_EXIT = re.compile(r"# exit code ([0-9]+)$")


def _commands(example: Example) -> str | None:
    from click.testing import CliRunner

    from takifugu.cli import main

    for line in example.parsed.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
        if not words or words[0] in LEFT_TO_CI:
            continue
        if words[0] != "takifugu":
            return f"the document runs {words[0]!r}; a console block may run takifugu, or {', '.join(LEFT_TO_CI)}"
        outcome = CliRunner().invoke(main, words[1:], catch_exceptions=False)
        expected = _EXIT.search(line)
        if outcome.exit_code != int(expected[1] if expected else 0):
            return f"`{line}` ends with exit code {outcome.exit_code}:\n{outcome.output}"
        example.namespace["__printed__"] = outcome.output
    return None

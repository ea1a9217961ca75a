"""Command lines that end at a call of the C library of their choice: nothing of Python or SQLite runs after it.

The calls are wrapped by a small library (killed_calls.c), which is compiled here and preloaded into a server of its
own; the server has everything imported, and forks a child for each command.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.support.crashing import Ended, Fault

SOURCE = Path(__file__).with_name("killed_calls.c")
ROOT = Path(__file__).parents[2]
#: What the library exits with when it ends a process.
KILLED = 97


@dataclass(frozen=True, eq=False)
class Server:
    """Runs commands; a Fault "call" kills one before a call, a Fault "half" in the middle of a write."""

    asks: IO[str]
    answers: IO[str]

    def run(self, words: list[str], folder: Path, fault: Fault | None = None) -> Ended:
        said, steps = (folder.with_name(f"{folder.name}.{end}") for end in ("said", "steps"))
        for path in (said, steps):
            path.unlink(missing_ok=True)
        kill = {} if fault is None else {"KILL_AT" if fault.kind == "call" else "KILL_HALF": str(fault.at + 1)}
        under = {"KILL_UNDER": f"{folder}/", "KILL_LOG": str(steps), **kill}
        self.asks.write(json.dumps([words, str(said), under]) + "\n")
        self.asks.flush()
        code = int(self.answers.readline())
        letters = steps.read_text() if steps.exists() else ""
        return Ended(-9 if code == KILLED else code, said.read_text(), letters)


@contextmanager
def preloaded(folder: Path) -> Iterator[Server]:
    """Yield a server of commands under the wrapped C library."""
    compiler = shutil.which("gcc")
    assert compiler is not None, "this test wraps the C library: install gcc and the C library's headers (libc6-dev)"
    library = folder / "killed_calls.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    command = [sys.executable, "-m", "tests.support.killed_calls"]
    environment = {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes)  # type: ignore[call-overload]
    try:
        yield Server(process.stdin, process.stdout)
    finally:
        process.stdin.close()
        process.wait()


def serve() -> None:
    """Run each command that is written to the standard input in a child, and answer how it ended."""
    import takifugu.cli.releasing
    import takifugu.releasing.publishing.resuming  # noqa: F401

    for line in sys.stdin:
        words, said, under = json.loads(line)
        child = os.fork()
        if child == 0:
            _command(words, said, under)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _command(words: list[str], said: str, under: dict[str, str]) -> None:
    from takifugu.cli import main

    for number, where in ((1, os.devnull), (2, said)):
        os.dup2(os.open(where, os.O_WRONLY | os.O_CREAT, 0o600), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.environ.update(under)
    code = 3
    try:
        main(words, prog_name="takifugu")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()

"""The processor time of whole commands on the README's chain, next to that of `import numpy` alone.

Before the first release they load no database, no SciPy and no other kinds of file (`tests/test_imports.py`).
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from measure import row, span, title

README = Path(__file__).parents[1] / "README.md"
COMMANDS = ("--help", "check", "compare", "advise", "calibrate", "release --dry-run")


def write(folder: Path) -> None:
    """Write the release file and the data of the README, without a ledger."""
    (release_file,) = re.findall(r"```toml\n(# minutes\.toml\n.*?)```", README.read_text(), re.DOTALL)
    (folder / "minutes.toml").write_text(release_file)
    rows = ["who,minute,doing"]
    for who in ("Ana", "Ben"):
        doing = random.Random(who).choices(["still", "walking"], [4, 1], k=200)
        rows += [f"{who},{minute},{state}" for minute, state in enumerate(doing)]
    (folder / "minutes.csv").write_text("\n".join(rows) + "\n")


def processor_time(code: str, folder: Path, runs: int = 3) -> float:
    """Return the least user and system time of a process that runs some code in a folder, once it is compiled."""
    times = []
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, check=False)
        after = getrusage(RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    title("processor time of a command, best of 3")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        numpy = processor_time("import numpy", folder)
        row("import numpy", span(numpy))
        for command in COMMANDS:
            words = [*command.split(), *([] if command == "--help" else ["minutes.toml"])]
            code = f"import sys; sys.argv = ['takifugu', *{words!r}]; from takifugu.cli import main; main()"
            took = processor_time(code, folder)
            goal = f", goal 0.4 s: {'kept' if took <= 0.4 else 'MISSED'}" if command == "compare" else ""
            row(f"takifugu {command}", span(took), f"{took / numpy:.1f} times import numpy{goal}")


if __name__ == "__main__":
    main()

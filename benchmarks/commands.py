"""The processor time of whole commands on the README's chain, next to that of `import numpy` alone; of whole scales.

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

#: What a process calibrates, and the seconds that it may take beside `import takifugu`.
SCALES = {
    "two states, T = 10^3": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**3)", 0.3),
    "two states, T = 10^7": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**7)", 0.3),
    "two states, T = 10^9": ("tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 10**9)", 0.3),
    "two states, T = 10^9, stays of 10,000": ("tf.MarkovChain([[0.9999, 0.0001], [0.0004, 0.9996]], 10**9)", 1.3),
    "three states, T = 10^9": ("tf.MarkovChain([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]], 10**9)", 0.5),
    "a tree of 10,000": ("tree('binary tree', 10_000)", 1.5),
}
SCALE = """
import resource, sys, time
sys.path.insert(0, {folder!r})
import takifugu as tf
from trees import tree
belief = {belief}
started = time.process_time()
print(tf.calibrate(tf.Pufferfish(tf.every_entry(), [belief]), tf.Count(1), epsilon=1).scale)
print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def scales() -> None:
    """Print what `tf.calibrate` takes in a process of its own: its first imports are in it."""
    title("processor time and memory of one calibrate of a count, best of 3")
    first = 0.0
    for name, (belief, goal) in SCALES.items():
        code = SCALE.format(folder=str(Path(__file__).parent), belief=belief)
        runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
                for _ in range(3)]  # fmt: skip
        took, memory = min(tuple(map(float, run.splitlines()[-1].split())) for run in runs)
        first = first or took
        kept = "kept" if took <= goal else "MISSED"
        row(name, span(took), f"{took / first:.1f} times T = 10^3, {memory:.0f} MB, goal {goal} s: {kept}")


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
    scales()


if __name__ == "__main__":
    main()

"""How long it takes to start: `import takifugu` (goal 0.3 s) and `takifugu --help` (goal 0.15 s)."""

from __future__ import annotations

import subprocess
import sys

from measure import row, seconds, span, title


def start(code: str) -> float:
    return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True), runs=7)


def main() -> None:
    title("start-up, best of 7, processes started afresh (files cached by the system)")
    bare = start("pass")
    row("a bare interpreter", span(bare))
    answer_help = "import sys; sys.argv = ['takifugu', '--help']; from takifugu.cli import main; main()"
    everything = "import takifugu as tf; [getattr(tf, name) for name in tf.__all__]"
    for what, code, goal in [
        ("import numpy", "import numpy", None),
        ("import takifugu", "import takifugu", 0.3),
        ("import takifugu, and touch every public name", everything, None),
        ("takifugu --help", answer_help, 0.15),
    ]:
        took = start(code)
        verdict = "" if goal is None else f"goal {span(goal)}: {'kept' if took <= goal else 'MISSED'}"
        row(what, span(took), verdict or f"{span(took - bare)} over the bare interpreter")


if __name__ == "__main__":
    main()

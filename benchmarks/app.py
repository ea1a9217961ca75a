"""The app: how long a slider's answer takes beside reading the table for it, and the first page after the start."""

from __future__ import annotations

import http.cookiejar
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import count
from pathlib import Path

from measure import compared, row, seconds, span, title
from takifugu.releasing.advice.advice import verdicts
from takifugu.releasing.proposal import Proposal

ROOT = Path(__file__).parents[1]
SAID = {
    "rows": "samples", "unit": "household", "order": "step", "step": "1", "value": "boiler", "states": "off, on",
    "mean_duration": "off 40, on 20", "units_independent": "true",
}  # fmt: skip


def table(folder: Path) -> Path:
    """Write the boilers of 12 households, a week in steps of five minutes."""
    draw, path, lines = random.Random(1), folder / "boilers.csv", ["household,step,boiler"]
    for household in range(12):
        state = 0
        for step in range(2016):
            state ^= draw.random() < 0.05
            lines.append(f"h{household},{step},{('off', 'on')[state]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def first_page(folder: Path) -> tuple[float, float]:
    """Return the seconds from the start to the first questions, and the processor's of them."""
    started, environment = time.perf_counter(), {**os.environ, "PYTHONPATH": str(ROOT / "src"), "BROWSER": "true"}
    command = [sys.executable, "-m", "takifugu", "app", "boilers.csv"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as app:
        assert app.stdout is not None
        address = app.stdout.readline().decode().strip()
        place = address.partition("/enter")[0]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        browser.open(address).read()
        body, headers = json.dumps({"said": {}, "changes": []}), {"content-type": "application/json", "origin": place}
        browser.open(urllib.request.Request(f"{place}/ask/state", body.encode(), headers)).read()
        ended, times = time.perf_counter(), Path(f"/proc/{app.pid}/stat").read_text().rpartition(")")[2].split()
        app.send_signal(signal.SIGINT)
    return ended - started, (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        proposal, numbers = Proposal(str(table(folder)), folder / "release.toml"), count(1)
        title("A slider's answer (goal 100 ms), 24,192 rows")
        text = proposal.state(SAID)["file"].replace("require_ledger = true", "require_ledger = false")
        (folder / "read.toml").write_text(text, encoding="utf-8")
        ours = seconds(lambda: proposal.state({**SAID, "epsilon": str(1 + next(numbers) / 100)}), runs=9)
        theirs = seconds(lambda: verdicts(folder / "read.toml", True))
        row("verdict, ± and file", span(ours), compared(ours, theirs, "reading the table for it"))
        title("From the start to the first questions (goal 1.5 s)")
        elapsed, busy = min(first_page(folder) for _ in range(3))
        row("page and questions", span(elapsed), f"{span(busy)} of the processor")


if __name__ == "__main__":
    main()

"""Runs command lines in processes of their own, forked from one that has imported everything: fast, and contained.

Reads a JSON list of [folder, arguments] from its input; writes one of {code, seconds, megabytes, out, err} a command.
"""

import json
import os
import resource
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

#: Seconds of the processor that one command may take, of the clock for each of them on a busy machine, and the address
#: space beyond what is loaded already.
SECONDS, BUSY, ROOM = 10, 50, 4 << 30
#: Loaded once, for all children.
LOADED = (
    "numpy", "pydantic", "duckdb", "takifugu.cli.releasing", "takifugu.cli.starting",
    "takifugu.data.relation.source", "takifugu.releasing.file.sequences.kind", "takifugu.releasing.publishing.run",
)  # fmt: skip


def run(folder: str, arguments: list[str], seconds: float) -> dict[str, Any]:
    """Run one command in a child and say how it ended; codes -24 and -9 are a time-out."""
    out, err = Path(f"{folder}.out"), Path(f"{folder}.err")
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        _be(folder, arguments, out, err, seconds)
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > BUSY * seconds:
            os.killpg(child, signal.SIGKILL)
            _, status, used = os.wait4(child, 0)
            break
        time.sleep(0.005)
    report = {
        "code": os.waitstatus_to_exitcode(status),
        "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
        "out": out.read_text(encoding="utf-8", errors="surrogateescape"),
        "err": err.read_text(encoding="utf-8", errors="surrogateescape"),
    }
    out.unlink()
    err.unlink()
    return report


def _be(folder: str, arguments: list[str], out: Path, err: Path, seconds: float) -> None:
    os.setpgid(0, 0)
    for stream, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.chdir(folder)
    from takifugu.cli import main

    code: Any = 70
    try:
        main(arguments, prog_name="takifugu")
        code = 0
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 70)


def main() -> None:
    for name in LOADED:
        import_module(name)
    seconds = float(os.environ.get("HOSTILE_SECONDS", SECONDS))
    for folder, arguments in json.load(sys.stdin):
        print(json.dumps(run(folder, arguments, seconds)), flush=True)


if __name__ == "__main__":
    main()

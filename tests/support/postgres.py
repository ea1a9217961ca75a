"""A PostgreSQL cluster of a test's own: on loopback, in a folder that goes away."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest


def _programs() -> Path:
    """Return where the server's programs are; skips the test where there are none."""
    places = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), *Path("/").glob("usr/local/bin")]
    for folder in places:
        if (folder / "initdb").exists():
            return folder
    pytest.skip("PostgreSQL is not installed")


def _run(*command: str) -> None:
    """Run a program of the server's, as its user where this one is root, whom it refuses."""
    words = list(command)
    if hasattr(os, "getuid") and os.getuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL refuses to run as root")
        words = ["runuser", "-u", "postgres", "--", *words]
    subprocess.run(words, check=True, cwd="/", stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=120)


def _free_port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """Yield the settings, as PostgreSQL's own clients read them, of a new server that is stopped at the end."""
    programs, port = _programs(), _free_port()
    with tempfile.TemporaryDirectory(prefix="postgres-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)  # the server's user writes into it
        where, log = str(folder / "data"), str(folder / "log")
        _run(str(programs / "initdb"), "-D", where, "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C", "-N")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
        _run(str(programs / "pg_ctl"), "-D", where, "-l", log, "-o", options, "-w", "start")
        try:
            yield {"PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": "tester", "PGDATABASE": "postgres"}
        finally:
            _run(str(programs / "pg_ctl"), "-D", where, "-m", "immediate", "-w", "stop")
            _run("rm", "-rf", where, log)

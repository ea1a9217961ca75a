"""A cluster of PostgreSQL for one test: made in a folder, reached through a socket in it, and stopped at the end."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

#: Where Debian's package has the programs of each version.
PROGRAMS = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """Return the folder of the newest version's programs, None where there is none."""
    versions = sorted(PROGRAMS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return versions[-1].parent if versions else None


#: For tests on PostgreSQL. In CI they run, and fail where it is missing: nothing is skipped there without a word.
needed = pytest.mark.skipif(
    programs() is None and os.environ.get("TAKIFUGU_BUILD") != "true",
    reason="PostgreSQL is not installed (Debian: apt-get install postgresql)",
)


@contextmanager
def cluster(*settings: str) -> Iterator[str]:
    """Yield the address of a new cluster's database; its settings are lines of postgresql.conf."""
    bin_folder = programs()
    assert bin_folder is not None, "PostgreSQL is not installed"
    with _room() as (folder, owner):
        data = folder / "data"
        _run(owner, [bin_folder / "initdb", "-D", data, "-U", "owner", "-A", "trust", "--no-sync"])
        with _running(bin_folder, owner, data, settings) as address:
            yield address


@contextmanager
def replica(primary: str) -> Iterator[str]:
    """Yield the address of a copy of a cluster that follows it."""
    bin_folder = programs()
    assert bin_folder is not None
    host = dict(parse_qsl(primary.partition("?")[2]))["host"]
    with _room() as (folder, owner):
        data = folder / "data"
        _run(owner, [bin_folder / "pg_basebackup", "-D", data, "-h", host, "-U", "owner", "-R", "--no-sync"])
        with _running(bin_folder, owner, data, ()) as address:
            yield address


@contextmanager
def _room() -> Iterator[tuple[Path, str | None]]:
    """Yield a folder, and the user who owns it."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:
        owner = "postgres" if os.geteuid() == 0 else None  # the server does not run as root
        if owner:
            os.chown(name, pwd.getpwnam(owner).pw_uid, -1)
        yield Path(name), owner


@contextmanager
def _running(bin_folder: Path, owner: str | None, data: Path, settings: Sequence[str]) -> Iterator[str]:
    folder = data.parent
    with (data / "postgresql.conf").open("a") as file:
        lines = ["listen_addresses = ''", f"unix_socket_directories = '{folder}'", *settings]
        file.write("\n".join([*lines, ""]))
    _run(owner, [bin_folder / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "start"])
    try:
        yield f"postgresql:///postgres?host={folder}&user=owner"
    finally:
        _run(owner, [bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "stop"])
        shutil.rmtree(data, ignore_errors=True)


def _run(owner: str | None, command: Sequence[object]) -> None:
    subprocess.run(list(map(str, command)), user=owner, check=True, capture_output=True, timeout=120, cwd="/tmp")

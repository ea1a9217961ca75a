"""Command lines that are killed, or whose disk fails, at a step of their choice; and what is then public and paid.

A child runs a command of `takifugu` with the system's calls wrapped: the program itself has no hook. What it left is
read without any of its code: JSON, SHA-256 and SQL.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import signal
import sqlite3
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes import FAST

from takifugu.cli import main

#: What can go wrong at a step: the process dies, the disk fails once or for good, somebody presses Ctrl-C.
FAULTS = ("kill", "full", "full for good", "eio", "interrupt")
#: Beside steps: no file may grow beyond a size; the process dies after a time.
LIMITS = ("size", "time")

STATES = ("nothing happened", "paid, not drawn", "drawn, not published", "published, not recorded", "done")


@dataclass(frozen=True)
class Fault:
    """What goes wrong (one of FAULTS at step `at`, counted from 0; or a size in bytes; or a time in milliseconds)."""

    kind: str
    at: int


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (negative: killed by that signal), what it said, its steps, a letter each.

    A step is a (w)rite, (f)sync, (r)eplace, (l)ink or (u)nlink of a file, or before or after a (c)ommit of the ledger.
    """

    code: int
    said: str
    steps: str


def run(words: list[str], folder: Path, fault: Fault | None = None) -> Ended:
    """Run a command in a child process, with something going wrong."""
    said, steps = folder / "said.txt", folder / "steps.txt"
    said.write_text("")
    steps.write_text("")
    child = FAST.Process(target=_child, args=(words, str(said), str(steps), fault))
    child.start()
    if fault is not None and fault.kind == "time":
        child.join(fault.at / 1000)
        child.kill()
    child.join()
    assert child.exitcode is not None
    return Ended(child.exitcode, said.read_text(), steps.read_text())


def _child(words: list[str], said: str, steps: str, fault: Fault | None) -> None:
    for number, where in ((1, os.devnull), (2, said)):
        os.dup2(os.open(where, os.O_WRONLY), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    if fault is not None and fault.kind == "size":
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.at, fault.at))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    counted = _wrap(fault)
    try:
        main(words, prog_name="takifugu")
    finally:
        with open(steps, "w") as file:
            file.write(counted())


def _wrap(fault: Fault | None) -> Callable[[], str]:
    """Wrap every write, sync, rename and removal of files, and every commit of the ledger, before and after it."""
    taken: list[str] = []

    def step(letter: str) -> None:
        taken.append(letter)
        if fault is None or fault.kind in LIMITS:
            return
        count, now = len(taken) - 1, len(taken) - 1 == fault.at
        if now and fault.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if now and fault.kind == "interrupt":
            raise KeyboardInterrupt
        if now or (fault.kind == "full for good" and count > fault.at):
            code = errno.EIO if fault.kind == "eio" else errno.ENOSPC
            if letter == "c":
                failure = sqlite3.OperationalError("disk I/O error")
                failure.sqlite_errorcode = sqlite3.SQLITE_IOERR if fault.kind == "eio" else sqlite3.SQLITE_FULL
                raise failure
            raise OSError(code, os.strerror(code))

    def wrapped(real: Any, letter: str) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            step(letter)
            return real(*args, **options)

        return call

    for name in ("write", "fsync", "replace", "link", "unlink"):
        setattr(os, name, wrapped(getattr(os, name), name[0]))

    real_connect = sqlite3.connect

    def connect(*args: Any, factory: type[sqlite3.Connection] = sqlite3.Connection, **options: Any) -> Any:
        class Connection(factory):  # type: ignore[misc,valid-type]
            def execute(self, statement: str, *values: Any) -> Any:
                if statement != "commit":
                    return super().execute(statement, *values)
                step("c")
                cursor = super().execute(statement, *values)
                step("c")
                return cursor

            def commit(self) -> None:
                step("c")
                super().commit()
                step("c")

        return real_connect(*args, factory=Connection, **options)

    sqlite3.connect = connect
    return lambda: "".join(taken)


# What is public and what is paid, found independently of the program's own code.


@dataclass(frozen=True)
class Seen:
    """Reservations by id with state and kept files, ids of releases, and the bytes of the published files by name."""

    reservations: dict[str, tuple[str, dict[str, bytes]]]
    releases: set[str]
    files: dict[str, bytes]

    def state_since(self, before: Seen) -> str:
        """Return in the program's words how far a release has come that began after `before`."""
        new = [held for group, held in self.reservations.items() if group not in before.reservations]
        if not new:
            return "nothing happened"
        assert len(new) == 1, "paid twice"
        state, contents = new[0]
        if state == "kept" and all(self.files.get(name) == content for name, content in contents.items()):
            return "published, not recorded"
        return {"paid": "paid, not drawn", "kept": "drawn, not published", "over": "done"}[state]


def seen(folder: Path) -> Seen:
    reservations: dict[str, tuple[str, dict[str, bytes]]] = {}
    releases: set[str] = set()
    path = folder / "ledger.db"
    if path.exists():
        with closing(sqlite3.connect(f"file:{path}?mode=rw", uri=True)) as connection:  # a journal is rolled back
            rows = connection.execute("select body from events order by number").fetchall()
            waiting = dict(connection.execute("select name, body from waiting where number = 0"))
        for event in (json.loads(body) for (body,) in rows):
            if event["kind"] == "paid":
                reservations[event["group"]] = ("paid", {})
                releases |= {*event["ids"].values()}
            elif event["kind"] == "kept":
                reservations[event["group"]] = ("kept", _files_in(waiting.get(event["group"])))
            elif event["kind"] == "over":
                reservations[event["group"]] = ("over", {})
    out = folder / "out"
    files = {p.name: p.read_bytes() for p in out.iterdir()} if out.exists() else {}
    return Seen(reservations, releases, files)


def _files_in(values: bytes | None) -> dict[str, bytes]:
    """Return the files that wait; none where they are gone, or are the answers of a session."""
    bundle = None if values is None else json.loads(zlib.decompress(values))
    tables = bundle["tables"] if isinstance(bundle, dict) else ()
    return {name: text.encode() for table in tables for name, text in table["files"].items()}


def check_public(now: Seen) -> None:
    """Every table that is out has its own certificate, and every certificate is paid for."""
    for name, content in now.files.items():
        if name.endswith(".certificate.json"):
            (release,) = json.loads(content)["ledger"]["ids"].values()
            assert release in now.releases, "published and not paid"
        if name.endswith(".csv"):
            certificate = now.files.get(name.removesuffix(".csv") + ".certificate.json")
            assert certificate is not None, "a table without a certificate"
            is_certified = json.loads(certificate)["table"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
            assert is_certified, "a table beside another certificate"


def check_words(ended: Ended, now: Seen, before: Seen) -> None:
    """The exit code and the words are those of the state that the release is in."""
    state = now.state_since(before)
    words = [s for s in STATES if f"State of the release: {s}." in ended.said]
    if ended.code == 0:
        assert state == "done"
        assert words in ([], ["done"])
        return
    if ended.code == 4 and "count it as spent" in ended.said:
        assert state in ("nothing happened", "paid, not drawn")
        return
    assert words == [state], (ended, state)
    codes = {"nothing happened": (1, 2), "paid, not drawn": (4,), "drawn, not published": (4,),
             "published, not recorded": (5,)}  # fmt: skip
    assert ended.code in (*codes[state], 3, 130), (ended, state)

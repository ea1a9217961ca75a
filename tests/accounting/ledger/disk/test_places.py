"""One file under one name, on a file system whose locks work (U12)."""

import errno
import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.failing import raising
from tests.support.ledger_tools import dump, group_debit, one_thing

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.disk import places
from takifugu.core.errors import LedgerError

DEBIT = group_debit(one_thing(7), 1)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(places, "PATIENCE", 0.05)
    where = tmp_path / "ledger.db"
    Ledger.open(where).reserve("data", [DEBIT], budget=9)
    return where


def test_a_hard_linked_ledger_is_refused_under_both_names(path: Path) -> None:
    ledger, before = Ledger.open(path), dump(path)
    other = path.with_name("other.db")
    os.link(path, other)
    for ask in (lambda: Ledger.open(path), lambda: Ledger.open(other), lambda: ledger.reserve("data", [DEBIT])):
        with pytest.raises(LedgerError, match=r"is a hard link: .* keep one name"):
            ask()
    other.unlink()
    assert dump(path) == before
    ledger.reserve("data", [DEBIT])
    assert Ledger.open(path).spent("data").spent.epsilon == 2


def test_a_symbolic_link_is_the_ledger_that_it_leads_to(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    link, loose = path.parent / "elsewhere" / "link.db", path.parent / "elsewhere" / "loose.db"
    link.symlink_to(path)
    Ledger.open(link).reserve("data", [DEBIT])
    assert Ledger.open(path).spent("data").spent.epsilon == 2
    loose.symlink_to(path.with_name("new.db"))
    Ledger.open(loose).reserve("data", [DEBIT], budget=9)
    assert Ledger.open(path.with_name("new.db")).spent("data").spent.epsilon == 1
    assert sorted(p.name for p in path.parent.glob("elsewhere/*")) == ["link.db", "loose.db"]


@pytest.mark.parametrize("name", ["ledger.db", "what [1]? *.db"])
def test_what_a_killed_maker_left_is_removed(path: Path, name: str) -> None:
    """It was killed between giving the ledger its name and removing the unfinished one's."""
    path = path.rename(path.with_name(name))
    draft, other = (path.with_name(f".{path.name}.{word}.new") for word in ("0123456789abcdef", "fedcba9876543210"))
    os.link(path, draft)
    other.write_bytes(b"another process is about to make this ledger")
    assert Ledger.open(path).spent("data").spent.epsilon == 1
    assert (draft.exists(), other.exists()) == (False, True)


def test_whoever_gets_a_lock_that_is_held_shows_that_locks_do_not_hold(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    with closing(sqlite3.connect(probe, isolation_level=None)) as first:
        assert not places._is_shut_out(probe)
        first.execute("BEGIN EXCLUSIVE")
        assert places._is_shut_out(probe)


def test_while_a_ledger_is_made_others_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 20.0)
    draft = path.with_name(f".{path.name}.0123456789abcdef.new")
    os.link(path, draft)
    left = []

    def finished() -> None:
        left.append(draft.exists())
        draft.unlink(missing_ok=True)

    timer = threading.Timer(0.2, finished)
    timer.start()
    assert Ledger.open(path).spent("data").spent.epsilon == 1
    timer.join()
    assert left == [True]


@pytest.mark.parametrize(("module", "name", "answer"), [
    (places, "_is_shut_out", lambda _: False), (places, "_locks_hold", lambda _: False),
    (fcntl, "fcntl", raising(OSError(errno.EOPNOTSUPP, "Operation not supported"))), (fcntl, "fcntl", lambda *_: b""),
], ids=["by sqlite", "by locks of open files", "without such locks", "nobody holds one"])  # fmt: skip
def test_locks_that_do_not_hold_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, answer: Any
) -> None:
    words = "a file system whose locks do not work: two processes could spend the same epsilon"
    with monkeypatch.context() as patch:
        patch.setattr(module, name, answer)
        with pytest.raises(LedgerError, match=words):
            Ledger.open(tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())
    monkeypatch.delattr(fcntl, "F_OFD_SETLK")  # where there are none, SQLite alone is asked
    Ledger.open(tmp_path / "ledger.db")
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.db"]


def test_a_folder_is_looked_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one, to which a ledger is brought, again."""
    for name in ("_is_shut_out", "_locks_hold"):
        monkeypatch.setattr(places, name, lambda _: False)
    Ledger.open(path)
    Ledger.open(path.with_name("second.db"))
    monkeypatch.setattr(places, "_sound", set())
    with pytest.raises(LedgerError, match="keep the ledger on a local disk"):
        Ledger.open(path)


def test_opening_again_keeps_the_locks_of_a_transaction(path: Path) -> None:
    """A process that closes any handle of a file gives up all locks that it holds on it."""

    def locks() -> int:
        inode, counts = f":{path.stat().st_ino} ", []
        for _ in range(5):  # a list that others change while it is read may lack a line
            lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
            counts.append(sum(inode in line and f" {os.getpid()} " in line for line in lines))
        return max(counts)

    ledger = Ledger.open(path)
    with ledger.store.reading() as connection:
        assert connection.value("select count(*) from units") == 1
        held = locks()
        assert held > 0
        Ledger.open(path).spent("data")
        assert locks() == held


def test_another_process_sees_the_lock(path: Path) -> None:
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with Ledger.open(path).store.writing():
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert sqlite3.OperationalError.__name__ in done.stderr
    assert "locked" in done.stderr

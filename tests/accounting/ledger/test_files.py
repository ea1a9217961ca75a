"""Files that are no ledger, or cannot be read or written: a sentence with file, reason and fix, and no harm."""

import gc
import os
import shutil
import sqlite3
import threading
from _thread import interrupt_main
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_edits import pay, pay_around_a_fork, published
from tests.support.processes import in_a_child

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger import ledger as ledgers
from takifugu.accounting.ledger.events import disk
from takifugu.core.errors import BudgetExceeded, LedgerError


def sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def version_5(path: Path) -> None:
    sql(
        path,
        "create table meta (kind, version)",
        "insert into meta values ('takifugu ledger', 5)",
        "create table events (id)",
    )


def another(path: Path) -> None:
    sql(path, "create table notes (x)")


def cut(path: Path) -> None:
    published(Ledger.open(path), budget=1)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def linked_twice(path: Path) -> None:
    Ledger.open(path)
    os.link(path, path.with_name("second.db"))


def in_a_circle(path: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path) -> None:
    Ledger.open(path)
    os.mkfifo(path.with_name(f"{path.name}-journal"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (version_5, "earlier format.*publish on in a new ledger.*adopt"),
        (another, "is a database, but not a ledger"), (lambda path: path.write_text("text " * 999), "is not a ledger"),
        (lambda path: path.write_bytes(b""), "is an empty file"), (Path.mkdir, "is no file"),
        (cut, "damaged|missing|lacks"),
        (linked_twice, "is a hard link"), (in_a_circle, "symbolic link to itself"), (pipe, "a device or a pipe"),
    ],
)  # fmt: skip
def test_what_is_no_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Any], words: str
) -> None:
    monkeypatch.setattr(disk, "_PATIENCE", 0.1)
    path = tmp_path / "ledger.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(LedgerError, match=words):
        Ledger.open(path).check()
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_addresses(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for where, words in {
        "a\0b": "a zero byte", str(tmp_path / "file" / "x.db"): "cannot be opened",
        "": "must outlive", ":memory:": "must outlive", "mysql://host/x": "is not supported",
        ".": "is a folder", "/": "is a folder",
        str(tmp_path / "no folder" / "x.db"): "cannot be opened",
    }.items():  # fmt: skip
        with pytest.raises(LedgerError, match=words):
            Ledger.open(where)
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(tmp_path / "x.db", create=False)
    Ledger.open(f"sqlite:///{tmp_path}/x.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "x.db")
    pay(Ledger.open(tmp_path / "link.db"), budget=1)
    assert Ledger.open(tmp_path / "x.db", create=False).spent("data").epsilon > 0
    assert (tmp_path / "x.db").stat().st_mode & 0o077 == 0


def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    """A process that runs on while a backup is restored pays from that, and never into a file that is gone."""
    path, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    ledger = Ledger.open(path)
    published(ledger, budget=1)
    shutil.copy(path, copy)
    published(ledger)
    published(ledger)
    copy.replace(path)
    assert len(ledger.view().groups) == 1
    published(ledger)
    assert len(Ledger.open(path).view().groups) == 2
    path.unlink()
    with pytest.raises(LedgerError, match="cannot be opened"):
        pay(ledger)
    assert not path.exists()


def test_a_link_to_it_in_its_place_is_opened_by_the_name_of_the_file(tmp_path: Path) -> None:
    """What a crash left beside the old name nobody would see beside the new one."""
    ledger, path = Ledger.open(tmp_path / "ledger.db"), tmp_path / "elsewhere" / "ledger.db"
    pay(ledger, budget=9)
    path.parent.mkdir()
    (tmp_path / "ledger.db").rename(path)
    (tmp_path / "ledger.db").symlink_to(path)
    with ledger.store._connected() as connection:  # type: ignore[attr-defined]
        assert connection.execute("pragma database_list").fetchone()[2] == str(path)
    pay(ledger)
    assert len(Ledger.open(path).view().groups) == 2


def test_a_rewritten_file_in_its_place_is_read_anew(tmp_path: Path) -> None:
    path, other = tmp_path / "ledger.db", Ledger.open(tmp_path / "other.db")
    ledger = Ledger.open(path)
    published(ledger, budget=1)
    for _ in range(3):
        published(other, source="elsewhere", budget=9 if not other.show() else None)
    shutil.copy(other.store.name, path)  # the same inode
    assert [source.name for source in ledger.show()] == ["elsewhere"]
    assert ledger.id == other.id


def test_a_forked_process_opens_it_anew(tmp_path: Path) -> None:
    assert in_a_child(pay_around_a_fork, str(tmp_path / "ledger.db")) == 0
    ledger = Ledger.open(tmp_path / "ledger.db")
    assert len(ledger.view().groups) == 3
    assert ledger.check() == ()


@pytest.mark.mutants
def test_threads_read_and_write_one_ledger(tmp_path: Path) -> None:
    """Each folds the events for itself: shared, a view took an event twice, and the ledger was called damaged."""
    ledger, over = Ledger.open(tmp_path / "ledger.db"), threading.Event()
    pay(ledger, budget=99)

    def write() -> None:
        for _ in range(25):
            ledger.keep(pay(ledger).group, b"noisy")

    def read() -> None:
        while not over.is_set():
            assert len(ledger.payments()) <= 52
            ledger.pending()
            ledger.payments("data")

    with ThreadPoolExecutor(4) as threads:
        mine = ledger.view()
        threads.submit(pay, ledger).result()
        assert len(mine.groups) == 1
        readers, writers = ([threads.submit(each) for _ in range(2)] for each in (read, write))
        wait(writers)
        over.set()
    assert [task.exception() for task in (*readers, *writers)] == [None] * 4
    assert ledger.spent("data").epsilon * 10 == 52
    assert ledger.check() == ()


def test_what_is_read_while_a_change_is_decided_does_not_make_it_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Priced on old events and written after new ones, a payment would spend what another had spent."""
    ledger, other = Ledger.open(tmp_path / "ledger.db"), Ledger.open(tmp_path / "ledger.db")
    pay(ledger, budget="1/5")
    real = ledgers.trial_of

    def priced_before_another(*args: Any) -> Any:
        monkeypatch.undo()
        computed = real(*args)
        pay(other)
        ledger.view()
        return computed

    monkeypatch.setattr(ledgers, "trial_of", priced_before_another)
    with pytest.raises(BudgetExceeded):
        pay(ledger)
    assert ledger.spent("data").epsilon * 5 == 1
    assert ledger.check() == ()


def test_an_interrupt_while_it_waits_for_the_lock_leaves_none(tmp_path: Path) -> None:
    """It is raised when the lock is there; the transaction stayed open, and shut out every process, this one too."""
    ledger, other = Ledger.open(tmp_path / "ledger.db"), Ledger.open(tmp_path / "ledger.db", timeout=0.1)
    pay(ledger, budget=99)
    with ThreadPoolExecutor(1) as threads:
        holds, released = threading.Event(), threading.Event()

        def hold() -> None:
            with other.store.alone():
                holds.set()
                released.wait()

        held = threads.submit(hold)
        holds.wait()
        threading.Timer(0.2, interrupt_main).start()
        threading.Timer(0.4, released.set).start()
        with pytest.raises(KeyboardInterrupt):
            pay(ledger)
        held.result()
    pay(other)
    pay(ledger)
    with ledger.store._connected() as connection:  # type: ignore[attr-defined]
        connection.execute("begin immediate")  # as a second interrupt leaves it, before what the first began is undone
        connection.execute("delete from events")
    assert len(ledger.view().groups) == 3
    pay(ledger)
    pay(other)
    assert ledger.check() == ()


def test_who_lost_three_races_takes_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, other = Ledger.open(tmp_path / "ledger.db"), Ledger.open(tmp_path / "ledger.db", timeout=0.1)
    pay(ledger, budget=99)
    real, tried, shut_out = ledgers.trial_of, [], []

    def outrun(*args: Any) -> Any:
        computed = real(*args)
        if not tried or tried[-1] == "over":
            tried.append("paying")
            try:
                pay(other)
            except LedgerError as error:
                shut_out.append(error.message)
            tried[-1] = "over"
        return computed

    monkeypatch.setattr(ledgers, "trial_of", outrun)
    pay(ledger)
    assert (len(tried), len(shut_out)) == (4, 1)
    assert "is locked" in shut_out[0]
    assert ledger.spent("data").epsilon * 10 == 5


def test_the_drafts_of_dead_processes_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_sound", set())
    draft = tmp_path / f".ledger.db.{'0' * 16}.new"
    draft.write_bytes(b"")
    os.utime(draft, (0, 0))
    Ledger.open(tmp_path / "ledger.db")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="lists the open files of Linux")
def test_a_ledger_that_nobody_holds_keeps_no_file_open(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db")
    before = len(os.listdir("/proc/self/fd"))
    gc.disable()
    try:
        for _ in range(5):
            Ledger.open(tmp_path / "ledger.db").show()
        assert len(os.listdir("/proc/self/fd")) == before
    finally:
        gc.enable()

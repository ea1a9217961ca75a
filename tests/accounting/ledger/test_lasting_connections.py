"""A command keeps one connection to its ledger: never across a fork, nor to a file that is not as it left it."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.ledger_tools import copied, group_debit, one_thing
from tests.support.processes import bytes_of_a_fork, in_a_child, result_of_a_child

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.disk.places import not_in_use
from takifugu.core.lasting import lasting, open_things


def pay(ledger: Ledger, name: str) -> None:
    ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 8), name=name)], budget=9)


def names(ledger: Ledger) -> list[str]:
    return [entry.name for entry in ledger.history("data")]


@contextmanager
def command(path: Path) -> Iterator[Ledger]:
    """Yield a ledger with one payment and its kept connection."""
    with lasting():
        ledger = Ledger.open(path)
        pay(ledger, "first")
        yield ledger


def _open_in_a_fork(folder: str) -> list[str]:
    with command(Path(folder) / "ledger.db") as ledger:
        assert open_things()
        descriptors = bytes_of_a_fork(lambda: "\n".join(held()).encode()).decode()
        pay(ledger, "second")
        assert names(ledger) == ["first", "second"]
    return [line for line in descriptors.splitlines() if "ledger.db" in line]


def held() -> list[str]:
    """Return the paths that this process has open."""
    links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
    return [os.readlink(link) for link in links if os.path.lexists(link)]


def test_a_fork_has_no_connection_of_its_parent(tmp_path: Path) -> None:
    assert result_of_a_child(_open_in_a_fork, str(tmp_path)) == []


@pytest.mark.parametrize("way", ["another file", "in place"])
def test_a_ledger_that_is_restored_meanwhile_is_the_restored_one(tmp_path: Path, way: str) -> None:
    path = tmp_path / "ledger.db"
    with command(path) as ledger:
        backup = copied(path, tmp_path / "backup.db")
        pay(ledger, "second")
        assert names(ledger) == ["first", "second"]
        restore(backup, path, way)
        assert names(ledger) == ["first"]
        pay(ledger, "third")
    assert names(Ledger.open(path)) == ["first", "third"]
    assert Ledger.open(path).check() == ()


def restore(backup: Path, path: Path, way: str) -> None:
    if way == "in place":
        shutil.copyfile(backup, path)
    else:
        os.replace(backup, path)


def test_a_connection_to_another_file_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails for connections that are kept whatever became of their file."""
    monkeypatch.setattr(sqlite, "_facts", lambda path: (0,))
    path = tmp_path / "ledger.db"
    with command(path) as ledger:
        backup = copied(path, tmp_path / "backup.db")
        pay(ledger, "second")
        restore(backup, path, "another file")
        assert names(ledger) == ["first", "second"]


def test_what_another_process_writes_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with command(path) as ledger:
        assert in_a_child(_pay_for_more, str(path)) == 0
        assert names(ledger) == ["first", "more"]
        pay(ledger, "second")
    assert names(Ledger.open(path)) == ["first", "more", "second"]


def _pay_for_more(path: str) -> None:
    pay(Ledger.open(path), "more")


def _killed(folder: str) -> None:
    with command(Path(folder) / "ledger.db") as ledger:
        names(ledger)
        os._exit(7)


def test_who_is_killed_between_two_transactions_leaves_all_in_the_file(tmp_path: Path) -> None:
    """A backup that is put in its place is then not mixed with what a side file holds."""
    assert in_a_child(_killed, str(tmp_path)) == 7
    log = tmp_path / "ledger.db-wal"
    assert not log.exists() or log.stat().st_size == 0
    shutil.copyfile(tmp_path / "ledger.db", tmp_path / "copy.db")
    assert names(Ledger.open(tmp_path / "copy.db")) == ["first"]
    assert names(Ledger.open(tmp_path / "ledger.db")) == ["first"]


def delete_and_stop(ledger: Ledger) -> None:
    with ledger.store.writing() as connection:
        connection.execute("delete from notes")
        raise KeyboardInterrupt


def test_a_transaction_that_fails_is_undone_and_its_connection_closed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with command(path) as ledger:
        with pytest.raises(KeyboardInterrupt):
            delete_and_stop(ledger)
        assert not open_things()
        assert names(ledger) == ["first"]
    assert Ledger.open(path).check() == ()


def test_another_thread_opens_its_own_and_knows_that_the_file_is_in_use(tmp_path: Path) -> None:
    """Whoever closed a handle of it would drop the locks of the connection that is kept."""
    path = tmp_path / "ledger.db"
    seen = list[object]()

    def look() -> None:
        with not_in_use(path) as free:
            seen.append(free)
        seen.append(names(Ledger.open(path)))

    with command(path) as ledger:
        other = threading.Thread(target=look)
        other.start()
        other.join()
        pay(ledger, "second")
    assert seen == [False, ["first"]]
    with not_in_use(path) as free:
        assert free

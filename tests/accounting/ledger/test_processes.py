"""Several processes and sudden death, in SQLite and in PostgreSQL: never more than the budget, never two values."""

import multiprocessing
import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.support import postgresql
from tests.support.ledger_edits import finish_all, one_step_and_die, release_in_a_loop
from tests.support.processes import SECONDS

from takifugu.accounting.ledger import OVER, Ledger
from takifugu.core.errors import LedgerError

#: How many times the slow test kills; `make crashes` kills more often.
KILLS = int(os.environ.get("TAKIFUGU_KILLS", "100"))
FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(["tests.support.ledger_edits"])


@contextmanager
def store(kind: str, folder: Path) -> Iterator[str]:
    """Yield where a new ledger is to be."""
    if kind == "sqlite":
        yield str(folder / "ledger.db")
        return
    with postgresql.cluster() as url:
        yield f"{url}&ledger=ours"


def check(where: str, log: Path) -> int:
    """Check what is left of a ledger, and that what was published was kept; return how many payments there are."""
    ledger = Ledger.open(where)
    assert ledger.check() == ()
    finish_all(ledger)
    assert all(group.state == OVER for group in ledger.view().groups.values())
    paid = len(ledger.view().groups)
    assert ledger.spent("data", "all").epsilon * 10 == paid <= 40
    published: dict[str, set[str]] = {}
    for line in log.read_text().splitlines():
        group, _, values = line.partition(" ")
        published.setdefault(group, set()).add(values)
    assert published.keys() <= ledger.view().groups.keys()
    assert all(len(values) == 1 for values in published.values())  # nothing is drawn twice
    return paid


STORES = [
    "sqlite",
    pytest.param("postgresql", marks=[pytest.mark.slow, postgresql.needed]),
]


@pytest.mark.parametrize("kind", STORES)
def test_five_processes_and_two_killed(tmp_path: Path, kind: str) -> None:
    log = tmp_path / "log"
    log.touch()
    with store(kind, tmp_path) as where:
        Ledger.open(where)
        children = [FORK.Process(target=release_in_a_loop, args=(where, str(log), seed)) for seed in range(5)]
        for child in children:
            child.start()
        until = time.monotonic() + SECONDS
        while len(log.read_text().splitlines()) < 8 and time.monotonic() < until:
            time.sleep(0.01)
        for child in children[:2]:
            os.kill(child.pid, signal.SIGKILL)  # type: ignore[arg-type]
        for child in children:
            child.join(SECONDS)
        assert [child.exitcode for child in children[2:]] == [0, 0, 0]
        assert check(where, log) == 40  # all of the budget, though two died


@pytest.mark.slow
@pytest.mark.parametrize("kind", STORES)
def test_whenever_a_process_dies(tmp_path: Path, kind: str) -> None:
    """One after another is killed at a random moment, the next goes on; where a budget is spent, in a new ledger."""
    r, killed, number = random.Random(1), 0, 0
    with store(kind, tmp_path) as first:
        while killed < KILLS:
            where, log, code = f"{first}{number}", tmp_path / f"log {number}", -signal.SIGKILL
            number += 1
            log.touch()
            Ledger.open(where)
            while code and killed < KILLS:
                child = FORK.Process(target=one_step_and_die, args=(where, str(log), r.randrange(10**6)))
                child.start()
                child.join(SECONDS)
                code = child.exitcode
                assert code in (0, -signal.SIGKILL)
                killed += code != 0
                assert Ledger.open(where).check() == ()
            assert check(where, log) <= 40
        for journal in tmp_path.glob("*-journal"):  # of one that died before it wrote: whoever writes next removes it
            with closing(sqlite3.connect(str(journal).removesuffix("-journal"), isolation_level=None)) as connection:
                connection.execute("begin immediate")
                connection.execute("create table written (x)")
                connection.execute("rollback")
        assert not list(tmp_path.glob("*-journal"))
        assert killed == KILLS


def test_two_processes_make_one_ledger(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    where = str(tmp_path / "ledger.db")
    children = [FORK.Process(target=release_in_a_loop, args=(where, str(log), seed)) for seed in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(SECONDS)
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert check(where, log) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.db", "log"]


def test_a_database_that_is_not_there() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match="cannot be used"):
        Ledger.open("postgresql:///none?host=/nowhere&ledger=x")

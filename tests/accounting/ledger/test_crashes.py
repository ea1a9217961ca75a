"""Killed at every statement, out of room at every size, damaged at random: all or nothing, and words for the rest."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.accounting.ledger.test_processes import STORES, store
from tests.support.ledger_edits import debit, kinds, pay, published
from tests.support.processes import in_a_child

from takifugu.accounting.ledger import SESSION, Ledger
from takifugu.accounting.ledger.events.sqlite import Sqlite
from takifugu.core.errors import LedgerError, TakifuguError

NOISY = np.random.default_rng(3).bytes(30_000)
#: What was published elsewhere, and a ledger here does not know.
LOST = published(Ledger.blank(), debit(["cid"]), budget=9)
Step = Callable[[str], object]


def begin(where: str) -> object:
    return Ledger.open(where)


def pay_for_two(where: str) -> object:
    debits = [debit(["ann"], name="one"), debit(["bob", "cid"], name="one"), debit(["ann"], name="two")]
    return Ledger.open(where).reserve(
        "data", debits, reading="value: b", entries="these", same_entries=True, why="told", recipe={"file": "x.toml"}
    )


def pay_in_another_source(where: str) -> object:
    return pay(Ledger.open(where), debit(["ann", "dan"]), source="other", budget=3, same_people=True)


def draw(where: str) -> object:
    ledger = Ledger.open(where)
    return ledger.keep(ledger.pending("data")[0].group, NOISY)


def publish(where: str) -> object:
    ledger = Ledger.open(where)
    return ledger.publish(next(one for one in ledger.pending("data") if one.values).group, [b"certificate"])


def give_up(where: str) -> object:
    ledger = Ledger.open(where)
    return ledger.finish(ledger.pending("data")[0].group, "nobody wants it")


def answer(where: str) -> object:
    ledger = Ledger.open(where)
    (paid,) = ledger.pending("sessions")
    return ledger.answer(paid.group, 1, ("how many", "3"))


def change_the_budget(where: str) -> object:
    return Ledger.open(where).budget("data", 20)


def adopt_another(where: str) -> object:
    return Ledger.open(where).adopt([LOST])


STEPS: list[Step] = [
    begin, pay_for_two, pay_in_another_source, draw, publish, give_up, answer, change_the_budget, adopt_another,
]  # fmt: skip


def prepare(where: str, step: Step) -> None:
    """Make a ledger in which a step can be taken."""
    if step is begin:
        return
    ledger = Ledger.open(where)
    published(ledger, budget=9)
    pay(ledger)
    if step is publish:
        draw(where)
    if step is answer:
        session = pay(ledger, source="sessions", budget=9, recipe=SESSION, same_people=True)
        ledger.answer(session.group, 0, ("how many", "2"))


def left(where: str) -> object:
    """Return what a ledger says, without dates and random ids."""
    try:
        ledger = Ledger.open(where, create=False)
    except LedgerError as error:
        assert "there is no ledger" in error.message  # noqa: PT017
        return None
    assert ledger.check() == ()
    sources = [(each.name, each.spent, each.budget, len(each.same), each.tables) for each in ledger.show()]
    groups = [(group.state, group.why, len(group.values)) for group in ledger.view().groups.values()]
    waiting = [len(ledger.store.waiting(name)) for name in ledger.view().groups]
    return kinds(ledger), sources, groups, waiting


def counted(number: int) -> Callable[[str], None]:
    """Return what is to be called before each statement: it kills this very process at the n-th that may write."""
    done = 0

    def count(statement: str) -> None:
        nonlocal done
        done += not statement.lower().startswith(("select", "pragma", "--"))
        if done == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return count


def dying_at(where: str, step: Step, number: int) -> None:
    """Take a step, and be killed at a statement, or at a change of a folder."""
    count = counted(number)
    for name in ("link", "unlink", "replace"):
        real_call = getattr(os, name)
        setattr(os, name, lambda *a, real=real_call, **b: (count("call"), real(*a, **b))[1])
    connect = sqlite3.connect

    def watched(*args: Any, **options: Any) -> Any:
        connection = connect(*args, **options)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = watched
    if where.startswith("postgres"):
        import psycopg

        execute, commit = psycopg.Cursor.execute, psycopg.Connection.commit

        def executed(self: Any, query: Any, *args: Any, **options: Any) -> Any:
            count(str(query) if not str(query).startswith("select pg_advisory") else "lock")
            return execute(self, query, *args, **options)

        def committed(self: Any) -> None:
            count("commit")
            commit(self)
            count("after the commit")

        psycopg.Cursor.execute, psycopg.Connection.commit = executed, committed  # type: ignore[method-assign]
    step(where)


@pytest.fixture(scope="module", params=STORES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where ledgers are to be: a number is put behind it."""
    with store(request.param, tmp_path_factory.mktemp("ledgers")) as where:
        yield where


def kill_at_every_statement(place: str, step: Step) -> None:
    name = f"{place}-{step.__name__}-"
    prepare(f"{name}before", step)
    before = left(f"{name}before")
    step(f"{name}before")
    outcomes, seen, number, code = (before, left(f"{name}before")), set[bool](), 0, -signal.SIGKILL
    assert outcomes[0] != outcomes[1]
    while code:
        number += 1
        where = f"{name}{number}"
        prepare(where, step)
        code = in_a_child(dying_at, where, step, number)
        assert code in (0, -signal.SIGKILL)
        now = left(where)
        assert now in outcomes
        seen.add(now == outcomes[1])
        if now == outcomes[0]:
            step(where)  # what was not done can be done
            assert left(where) == outcomes[1]
    assert seen == {False, True}
    assert number > 3


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_a_process_that_is_killed_at_any_statement_did_all_or_nothing(place: str, step: Step) -> None:
    kill_at_every_statement(place, step)


def draw_in_two_transactions(where: str) -> None:
    append = Sqlite.append

    def in_two(self: Sqlite, number: int, head: str, events: Any, contents: Any, waiting: Any, done: str) -> bool:
        written = append(self, number, head, events, contents, {}, done)
        with self._connected() as connection:
            rows = [(*key, body) for key, body in waiting.items()]
            connection.executemany("insert into waiting values (?, ?, ?)", rows)
        return written

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Sqlite, "append", in_two)
        draw(where)


def test_what_is_written_in_two_parts_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        kill_at_every_statement(str(tmp_path / "ledger"), draw_in_two_transactions)


def limit_pages(patch: pytest.MonkeyPatch, pages: int) -> None:
    """Let no ledger grow beyond some pages, as on a disk that is full."""
    connect = sqlite3.connect

    def limited(*where: Any, **options: Any) -> Any:
        connection = connect(*where, **options)
        connection.execute(f"pragma max_page_count={pages}")
        return connection

    patch.setattr(sqlite3, "connect", limited)


@pytest.mark.parametrize("step", STEPS[1:4], ids=lambda step: step.__name__)
def test_a_disk_that_is_full_at_any_size_takes_all_or_nothing(
    tmp_path: Path, step: Step, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, room, said = tmp_path / "before.db", 0, "full"
    prepare(str(before), step)
    pages = before.stat().st_size // 4096
    while said:
        path, said = tmp_path / f"{room}.db", ""
        shutil.copy(before, path)
        with monkeypatch.context() as patch:
            limit_pages(patch, pages + room)
            try:
                step(str(path))
            except LedgerError as error:
                said = str(error)
        if said:
            assert "the disk is full; make room" in said
            assert left(str(path)) == left(str(before))
        room += 1
    assert left(str(path)) != left(str(before))


@pytest.mark.parametrize("rounds", [20, pytest.param(400, marks=pytest.mark.slow)])
def test_bytes_that_were_changed_at_random_never_end_in_a_traceback(tmp_path: Path, rounds: int) -> None:
    before, path, refused = tmp_path / "before.db", tmp_path / "damaged.db", 0
    prepare(str(before), publish)
    chance = np.random.default_rng(8)
    for _ in range(rounds):
        damaged = bytearray(before.read_bytes())
        for where in chance.integers(100, len(damaged), 20):
            damaged[where] = chance.integers(0, 256)
        path.write_bytes(damaged)
        try:
            ledger = Ledger.open(path)
            ledger.show()
            ledger.pending()
            pay(ledger)
            ledger.check()
        except TakifuguError:
            refused += 1
        for side in tmp_path.glob("damaged.db-*"):
            side.unlink()
    assert refused > rounds // 3

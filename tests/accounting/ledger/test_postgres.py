"""A ledger in PostgreSQL: the same as in a file; databases that forget are refused, and roles may insert only."""

import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from time import sleep

import pytest
from tests.support import postgresql
from tests.support.ledger_edits import debit, missing, pay, published

from takifugu.accounting.ledger import SESSION, Ledger
from takifugu.core.errors import BudgetExceeded, LedgerError

pytestmark = [pytest.mark.slow, postgresql.needed]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgresql.cluster() as address:
        yield address


def execute(url: str, *statements: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_it_is_the_same_as_in_a_file(url: str) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(f"{url}&ledger=one", create=False)
    ledger, other = Ledger.open(f"{url}&ledger=one"), Ledger.open(f"{url}&ledger=two")
    assert ledger.is_new
    assert ledger.id != other.id
    certificates = [published(ledger, debit(["ann", f"p{n}"]), budget=9 if n == 0 else None) for n in range(3)]
    session = pay(ledger, recipe=SESSION)
    for number in range(3):
        ledger.answer(session.group, number, ("how many", str(number)))
    assert [answer for _, answer in ledger.answers(session.group)] == ["0", "1", "2"]
    again = Ledger.open(f"{url}&ledger=one", create=False)
    assert not again.is_new
    assert again.spent("data").epsilon * 10 == 4
    assert again.check() == ()
    assert missing(again, certificates) == ()
    assert other.show() == ()
    other.adopt(certificates)
    assert other.spent("data").epsilon * 10 == 3
    again.publish(session.group)
    assert ledger.pending() == ()
    assert "@" not in ledger.store.name


def test_it_is_made_with_its_first_payment(url: str) -> None:
    ledger = Ledger.coming(f"{url}&ledger=coming")
    with pytest.raises(BudgetExceeded):
        pay(ledger, debit(epsilon="2"), budget=1)
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(f"{url}&ledger=coming", create=False)
    published(ledger, budget=1)
    assert Ledger.open(f"{url}&ledger=coming", create=False).id == ledger.id


@pytest.mark.parametrize(
    ("setting", "why"), [("fsync=off", "fsync is off"), ("synchronous_commit=off", "asynchronous")]
)
def test_a_database_that_forgets(setting: str, why: str) -> None:
    with postgresql.cluster(setting) as address, pytest.raises(LedgerError, match=f"may forget.*{why}"):
        Ledger.open(address)


def test_tables_that_a_crash_empties(url: str) -> None:
    Ledger.open(f"{url}&ledger=three")
    execute(url, "alter table takifugu_events set unlogged")
    with pytest.raises(LedgerError, match="unlogged"):
        Ledger.open(f"{url}&ledger=three")
    execute(url, "alter table takifugu_events set logged")
    Ledger.open(f"{url}&ledger=three")


def test_users_may_insert_and_not_update_or_delete(url: str) -> None:
    published(Ledger.open(f"{url}&ledger=four"), budget=9)
    execute(
        url, "create role analyst login", "grant select, insert on takifugu_events, takifugu_contents to analyst",
        "grant select, insert, delete on takifugu_waiting to analyst",
    )  # fmt: skip
    mine = url.replace("user=owner", "user=analyst")
    ledger = Ledger.open(f"{mine}&ledger=four")
    published(ledger)
    assert ledger.check() == ()
    psycopg = pytest.importorskip("psycopg")
    for statement in (
        "update takifugu_events set body = ''",
        "delete from takifugu_events",
        "delete from takifugu_contents",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            execute(mine, statement)
    published(Ledger.open(f"{mine}&ledger=five"), budget=1)  # who may insert may begin another ledger


@pytest.mark.parametrize(("table", "column", "value"), [
    ("events", "number", "number + 100"), ("events", "number", "-1 - number"), ("events", "body", "body || ' '"),
    ("events", "digest", "digest || '0'"), ("events", "ledger", "'elsewhere'"),
    ("contents", "digest", "digest || '0'"), ("contents", "body", "body || '\\x00'::bytea"),
    ("contents", "ledger", "'elsewhere'"), ("waiting", "name", "name || '0'"), ("waiting", "number", "number + 7"),
    ("waiting", "body", "body || '\\x00'::bytea"), ("waiting", "ledger", "'elsewhere'"),
])  # fmt: skip
def test_edits(url: str, table: str, column: str, value: str) -> None:
    name = f"edited {table} {column} {len(value)}".replace(" ", "-")
    ledger = Ledger.open(f"{url}&ledger={name}")
    ledger.keep(pay(ledger, budget=9).group, b"waiting")
    execute(url, f"update takifugu_{table} set {column} = {value} where ledger = '{name}'")
    with suppress(LedgerError):
        assert Ledger.open(f"{url}&ledger={name}", create=False).check()


def test_each_ledger_has_one_connection_and_gives_it_back(url: str) -> None:
    """A database takes a hundred at once: a process that opens a ledger for each release must not use them up."""
    psycopg = pytest.importorskip("psycopg")
    gc.disable()
    try:
        for number in range(30):
            ledger = Ledger.open(f"{url}&ledger=many")
            published(ledger, budget=None if number else 99)
            ledger.preview("data", [debit()], entries="these")
        with psycopg.connect(url) as connection:
            query = "select count(*) from pg_stat_activity where backend_type = 'client backend'"
            assert connection.execute(query).fetchone()[0] < 20
    finally:
        gc.enable()


def test_a_lost_connection_is_opened_anew(url: str) -> None:
    ledger = Ledger.open(f"{url}&ledger=six")
    published(ledger, budget=9)
    execute(
        url,
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = 'owner'",
    )
    with pytest.raises(LedgerError, match="cannot be used"):
        pay(ledger)
    assert pay(ledger).spent.epsilon * 10 == 2


def test_a_replica() -> None:
    """It can be asked by nobody: what it has not received yet it would spend again, if it became the primary."""
    with postgresql.cluster("wal_level = replica", "max_wal_senders = 2") as primary:
        published(Ledger.open(f"{primary}&ledger=one"), budget=1)
        with (
            postgresql.replica(primary) as address,
            pytest.raises(LedgerError, match=r"may forget.*it is a replica: after a crash the same epsilon could"),
        ):
            Ledger.open(f"{address}&ledger=one", create=False)


def test_a_database_that_isolates_more_loses_no_race() -> None:
    """Who waits for the lock once read what was there before, and was told that the ledger cannot be used."""
    with postgresql.cluster("default_transaction_isolation=serializable") as address:
        ledger, other, holds = Ledger.open(address), Ledger.open(address), Event()
        pay(ledger, budget=9)

        def hold() -> None:
            with other.store.alone():
                holds.set()
                sleep(0.5)
                pay(other)

        with ThreadPoolExecutor(1) as threads:
            held = threads.submit(hold)
            holds.wait()
            pay(ledger)
            held.result()
        assert ledger.spent("data").epsilon * 10 == 3
        assert ledger.check() == ()
        ledger.close()
        other.close()

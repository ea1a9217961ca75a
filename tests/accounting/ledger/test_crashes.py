"""Killed at every statement, out of room at every size, edited at random: all or nothing, and words for the rest."""

import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.ledger_tools import dump, edit, forge, group_debit, limit_pages, one_thing, unchanged
from tests.support.processes import in_a_child

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.adopting import Adoption
from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.format.tables import sealed
from takifugu.core.errors import LedgerError, TakifuguError

DEBITS = [group_debit(one_thing(7), "1/4", unit, name) for unit in ("ana", "ben") for name in ("one", "two")]
SEALS = {"meta", *sealed()}
NOISY = np.random.default_rng(3).bytes(30_000)


def pay(path: Path) -> None:
    Ledger.open(path).reserve("data", DEBITS, identity=b"this", recipe={"file": "release.toml"})


def pay_for_new_people(path: Path) -> None:
    debits = [group_debit(one_thing(7), "1/4", unit) for unit in ("ana", "cid")]
    Ledger.open(path).reserve("other", debits, budget=3, same_people=True)


def draw(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.drawn(ledger.pending("data")[0], NOISY)


def publish(path: Path) -> None:
    ledger = Ledger.open(path)
    ledger.publish(ledger.pending("data")[0])


def change_the_budget(path: Path) -> None:
    Ledger.open(path).set_budget("data", 20)


def adopt_another(path: Path) -> None:
    """Enter a release that the ledger does not know, of everybody and at its worst."""
    lost = group_debit(one_thing(7), "1/4", name="lost")
    Ledger.open(path).adopt([[Adoption("data", "0" * 32, {"lost": "1" * 16}, [lost])]])


def merge_another(path: Path) -> None:
    """Merge the copy that lies beside it, or one that made another payment since."""
    other = path.with_name("another.db")
    if not other.exists():
        shutil.copy(path, other)
        pay_for_new_people(other)
    Ledger.open(path).merge(other)


def upgrade(path: Path) -> None:
    Ledger.open(path)


STEPS: list[Callable[[Path], None]] = [pay, draw, publish, pay_for_new_people, change_the_budget, adopt_another]


def prepared(folder: Path, step: Callable[[Path], None]) -> Path:
    """Return a ledger in which a step can be taken."""
    where = folder / "before.db"
    if step is upgrade:
        with closing(sqlite3.connect(where)) as connection:
            connection.executescript((Path(__file__).parent / "formats" / "format-5.sql").read_text())
            connection.execute("pragma journal_mode=wal")
        return where
    Ledger.open(where).reserve("data", DEBITS, budget=9)
    if step is publish:
        draw(where)
    return where


def content(path: Path) -> dict[str, list[Any]]:
    """Return every row without dates, random ids and digests of these, which no two runs share."""
    tables = dump(path)
    for name, rows in tables.items():
        settled = [tuple(_settled(v) for v in row if not _is_fresh(v)) for row in rows]
        tables[name] = [row[:-1] if isinstance(row[-1], bytes) and name in SEALS else row for row in settled]
    return tables


def _settled(value: object) -> object:
    """Return a value without the random ids that an event says."""
    return re.sub('"[0-9a-f]{16}"', '""', value) if isinstance(value, str) else value


def _is_fresh(value: object) -> bool:
    if isinstance(value, bytes):
        return value.startswith(b"file\0")  # the name of the file that has what was drawn
    return isinstance(value, str) and (value[4:5] == "-" or len(value) in (16, 64))


def killed_at(path: Path, step: Callable[[Path], None], number: int) -> bool:
    """Take a step in a child that kills itself at its n-th writing statement; return whether it ended before that."""
    code = in_a_child(dying_at, path, step, number)
    assert code in (0, -signal.SIGKILL)
    return code == 0


def dying_at(path: Path, step: Callable[[Path], None], number: int) -> None:
    """Take a step, and kill this very process at its n-th SQL statement: what only reads leaves the file as it is."""
    left = number

    def count(statement: str) -> None:
        nonlocal left
        left -= not statement.lower().startswith(("select", "--"))
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    made = sqlite.connect

    def watched(*where: Any) -> Any:
        connection = made(*where)
        connection.set_trace_callback(count)
        return connection

    sqlite.connect = watched
    step(path)


def killed_at_statements(folder: Path, step: Callable[[Path], None], every: int) -> None:
    """Kill a process at one of `every` statement: it did all or nothing, and what it did not do can be done."""
    before = prepared(folder, step)
    after = folder / "after.db"
    shutil.copy(before, after)
    step(after)
    outcomes = content(before), content(after)
    number, seen = 1, set()
    while True:
        path = folder / f"{number}.db"
        shutil.copy(before, path)
        done = killed_at(path, step, number)
        left = content(path)
        assert left in outcomes
        seen.add(left == outcomes[1])
        if left == outcomes[0]:
            step(path)  # what was not done can be done
            assert content(path) == outcomes[1]
        if done:
            break
        for leftover in folder.glob(f"{number}.db*"):
            leftover.unlink()
        number += every
    assert seen == {False, True}
    assert number > 5


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("step", "every"), [
    (pay, 29), (draw, 11), (publish, 11), (pay_for_new_people, 29), (change_the_budget, 11), (adopt_another, 29),
    (merge_another, 89), (upgrade, 499),
])  # fmt: skip
def test_a_process_that_is_killed_did_all_or_nothing(
    tmp_path: Path, step: Callable[[Path], None], every: int
) -> None:
    killed_at_statements(tmp_path, step, every)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_is_killed_at_any_writing_statement_did_all_or_nothing(
    tmp_path: Path, step: Callable[[Path], None]
) -> None:
    killed_at_statements(tmp_path, step, 1)


@pytest.mark.parametrize("step", [pay, draw, pay_for_new_people, change_the_budget])
def test_a_disk_that_is_full_at_any_size_takes_all_or_nothing(
    tmp_path: Path, step: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = prepared(tmp_path, step)
    pages, room = before.stat().st_size // 4096, 0
    while True:
        path = tmp_path / f"{room}.db"
        shutil.copy(before, path)
        with monkeypatch.context() as patch:
            limit_pages(patch, pages + room)
            said = ""
            try:
                step(path)
            except LedgerError as error:
                said = str(error)
        if not said:
            break
        assert "the disk is full; make room" in said
        assert content(path) == content(before)
        room += 1
    assert content(path) != content(before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A file system of its own with 400 kB where this user may make one, else a folder (SQLite then sets the limit)."""
    where = tmp_path / "disk"
    where.mkdir()
    made = os.system(f"mount -t tmpfs -o size=400k takifugu '{where}' 2>/dev/null") == 0
    yield where
    if made:
        os.system(f"umount '{where}'")


def test_on_a_disk_that_fills_up_what_was_paid_stays_paid(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit_pages(monkeypatch, 84)  # where no small disk could be made
    path = small_disk / "ledger.db"
    Ledger.open(path).source("data", budget=10**6)
    debit, paid = group_debit(one_thing(7), Fraction(1, 10)), 0
    with pytest.raises(LedgerError, match=r"disk is full|input/output error"):  # noqa: PT012
        for _ in range(1000):
            ledger = Ledger.open(path)
            done = ledger.reserve("data", [debit])
            paid += 1
            ledger.drawn(done, NOISY[:4000])
    for file in small_disk.glob("ledger.db*"):  # the side file holds what did not fit
        shutil.copy(file, small_disk.parent / file.name.replace("ledger", "copy"))
    copy = Ledger.open(small_disk.parent / "copy.db")
    assert copy.spent("data").spent.epsilon == Fraction(paid, 10)
    assert paid > 3


@pytest.mark.slow
def test_bytes_that_were_changed_at_random_never_end_in_a_traceback(tmp_path: Path) -> None:
    before = prepared(tmp_path, publish)
    whole, chance = bytearray(before.read_bytes()), np.random.default_rng(8)
    path = tmp_path / "forged.db"
    refused = 0
    for _ in range(150):
        forged = bytearray(whole)
        for place in chance.integers(100, len(forged), 20):
            forged[place] = chance.integers(0, 256)
        path.write_bytes(forged)
        try:
            ledger = Ledger.open(path)
            ledger.show()
            ledger.history("data")
            ledger.pending()
            ledger.reserve("data", DEBITS)
        except TakifuguError:
            refused += 1
        for side in tmp_path.glob("forged.db-*"):
            side.unlink()
    assert refused > 50


@pytest.mark.parametrize("statement", [
    "update summaries set body = 'x'",
    "update summaries set body = '[1]'",
    'update summaries set body = \'{"form": "runs"}\'',
    "update charges set body = '[]'",
    "update charges set body = '" + "[" * 5000 + "'",
    "update frameworks set body = '{\"definition\": 3}'",
    "update frameworks set body = 'null'",
    "update summaries set body = '[]'",
    'update summaries set body = \'{"form": "runs", "recharge": false, "terms": []}\'',
    'update summaries set body = \'{"form": "runs", "recharge": false, "terms": [{"charge": 9}]}\'',
    "update sources set budget_epsilon = '-'",
    "update sources set budget_epsilon = 'nan'",
    "update meta set key = 'zz'",
])  # fmt: skip
def test_edited_rows_are_found(tmp_path: Path, statement: str) -> None:
    path = prepared(tmp_path, pay)
    edit(path, statement)
    with unchanged(path), pytest.raises(LedgerError, match=r"edited|restore a backup"):
        Ledger.open(path).reserve("data", DEBITS)


def test_a_history_that_is_its_own_past_ends(tmp_path: Path) -> None:
    path = prepared(tmp_path, pay)
    pay(path)
    past = "update histories set parent = (select max(id) from histories)"
    forge(Ledger.open(path), past, "update charges set links = 1")
    Ledger.open(path).reserve("data", DEBITS)

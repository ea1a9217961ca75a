"""What is edited, cut, moved or written anew is seen: when opened, by `check`, or by the folder's certificates."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.ledger_edits import debit, edited, missing, pay, published

from takifugu.accounting.ledger import SESSION, Ledger
from takifugu.accounting.ledger.events import chained
from takifugu.core.errors import LedgerError


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    """A ledger with all kinds of events, and values that wait."""
    ledger = Ledger.open(tmp_path / "ledger.db")
    for number in range(3):
        published(ledger, debit(["ann", "bob", f"p{number}"]), budget=9 if number == 0 else None)
    ledger.keep(pay(ledger, debit(["ann", "cid"])).group, b"waiting")
    session = pay(ledger, recipe=SESSION)
    for number in range(2):
        ledger.answer(session.group, number, ("how many", str(number)))
    pay(ledger, entries="those", same_entries=True, why="told")
    ledger.finish(pay(ledger).group, "nobody wants it")
    return ledger


def faults(path: Path) -> list[str]:
    """Return what is found in a ledger: when it is opened, or by `check`."""
    try:
        ledger = Ledger.open(path)
        ledger.view()
        return list(ledger.check())
    except LedgerError as error:
        return [error.message]


def rows_of(book: Ledger, table: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(book.store.name)) as connection:
        return connection.execute(f"select * from {table}").fetchall()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("table", "key", "column", "value"),
    [
        ("events", "number", "number", "number + 100"), ("events", "number", "number", "-1 - number"),
        ("events", "number", "body", "replace(body, '\"', '''')"), ("events", "number", "body", "body || ' '"),
        ("events", "number", "body", "x'00'"), ("events", "number", "digest", "'00'"),
        ("events", "number", "digest", "x'00'"),
        ("contents", "digest", "digest", "digest || '0'"), ("contents", "digest", "body", "body || x'00'"),
        ("contents", "digest", "body", "'a text'"), ("contents", "digest", "body", "x''"),
        ("waiting", "rowid_of", "name", "name || '0'"), ("waiting", "rowid_of", "number", "number + 7"),
        ("waiting", "rowid_of", "body", "body || x'00'"), ("waiting", "rowid_of", "body", "x'00'"),
    ],
)  # fmt: skip
def test_each_edit_of_each_row_of_each_column(
    book: Ledger, tmp_path: Path, table: str, key: str, column: str, value: str
) -> None:
    assert faults(Path(book.store.name)) == []
    for number, row in enumerate(rows_of(book, table)):
        if key == "rowid_of":
            where = f"name = '{row[0]}' and number = {row[1]}"
        else:
            where = f"{key} = {row[0]!r}"
        if value == "x''" and row[1] == b"":
            continue
        copy = edited(
            Path(book.store.name), tmp_path / f"{number}.db", f"update {table} set {column} = {value} where {where}"
        )
        assert faults(copy), (table, column, row)


def test_each_event_removed_swapped_or_doubled(book: Ledger, tmp_path: Path) -> None:
    last = len(rows_of(book, "events")) - 1
    for number in range(last + 1):
        statements: dict[str, list[str]] = {
            "removed": [f"delete from events where number = {number}"],
            "closed up": [
                f"delete from events where number = {number}",
                *(f"update events set number = {n - 1} where number = {n}" for n in range(number + 1, last + 1)),
            ],
            "doubled": [f"insert into events select {last + 1}, body, digest from events where number = {number}"],
        }
        if number:
            statements["swapped"] = [
                f"update events set number = -5 where number = {number}",
                f"update events set number = {number} where number = {number - 1}",
                f"update events set number = {number - 1} where number = -5",
            ]
        for name, edits in statements.items():
            if name in ("removed", "closed up") and number == last:
                continue  # a shorter chain is a good chain: see below
            assert faults(edited(Path(book.store.name), tmp_path / f"{name} {number}.db", *edits)), (name, number)


def test_parts_that_no_ledger_has(book: Ledger, tmp_path: Path) -> None:
    path = Path(book.store.name)
    for number, statement in enumerate([
        "create view more as select * from events", "create table more (x)", "create index more on events (digest)",
        "create trigger more after insert on events begin delete from waiting; end",
        "alter table events add column more text", "drop table waiting",
    ]):  # fmt: skip
        (words,) = faults(edited(path, tmp_path / f"{number}.db", statement))
        assert "other parts than a ledger has" in words


def rewritten(book: Ledger, copy: Path, change: Callable[[dict[str, Any]], None], cut: int = 0) -> Path:
    """Return a copy that somebody with its key has written anew, shorter by some events."""
    rows = book.store.after(0)
    key, head, written = bytes.fromhex(json.loads(rows[0][0])["key"]), "", []
    for text, _ in rows[: len(rows) - cut]:
        event = json.loads(text)
        change(event)
        text = json.dumps(event, sort_keys=True, separators=(",", ":"))
        head = chained(key, head, text)
        written.append((text, head))
    edited(Path(book.store.name), copy)
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute("delete from events")
        connection.executemany("insert into events values (?, ?, ?)", [(n, *row) for n, row in enumerate(written)])
        connection.commit()
    return copy


def test_what_is_written_anew_with_the_key_is_found_by_computing(book: Ledger, tmp_path: Path) -> None:
    def less(event: dict[str, Any]) -> None:
        if event["kind"] == "paid":
            event["spent"] = {name: ["1/100", delta] for name, (_, delta) in event["spent"].items()}

    def nonsense(event: dict[str, Any]) -> None:
        if event["kind"] == "paid":
            event["lines"][0]["at"] = "noon"

    def gone(event: dict[str, Any]) -> None:
        if event["kind"] == "kept":
            event["group"] = "another"

    assert any("had spent" in words for words in faults(rewritten(book, tmp_path / "less.db", less)))
    for name, change in {"nonsense": nonsense, "gone": gone}.items():
        assert any("cannot be read" in words for words in faults(rewritten(book, tmp_path / f"{name}.db", change)))
    assert faults(rewritten(book, tmp_path / "same.db", lambda _: None)) == []


def test_what_is_cut_or_written_anew_is_named_by_certificates(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    certificates = [
        published(book, debit(["ann", f"p{number}"]), budget=9 if number == 0 else None) for number in range(3)
    ]

    def one_fewer(event: dict[str, Any]) -> None:
        for line in event.get("lines", ()):
            line["count"] = 1

    cut = Ledger.open(rewritten(book, tmp_path / "cut.db", lambda _: None, cut=3))
    assert faults(Path(cut.store.name)) == []
    (words,) = missing(cut, certificates)
    assert "does not know that it was paid for" in words
    anew = Ledger.open(rewritten(book, tmp_path / "anew.db", one_fewer))
    assert len(missing(anew, certificates)) == 3
    assert missing(book, certificates) == ()
    cut.adopt(certificates[2:])
    assert missing(cut, certificates) == ()


def test_who_compares_no_digest_publishes_other_values(book: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: the digest of what is kept is not compared."""
    from takifugu.accounting.ledger import log as values

    (waiting,) = [payment for payment in book.pending() if payment.values]
    with closing(sqlite3.connect(book.store.name)) as connection:
        other = pay(book)
        book.keep(other.group, b"other values")
        connection.execute(
            "update waiting set body = (select body from waiting where name = ?) where name = ?",
            (other.group, waiting.group),
        )
        connection.commit()
    with pytest.raises(LedgerError, match="lacks its values"):
        book.keep(waiting.group, b"drawn again")
    assert book.check()
    digest = book.view().groups[waiting.group].values[0]
    monkeypatch.setattr(values, "keyed", lambda *_: digest)
    assert book.keep(waiting.group, b"drawn again") == b"other values"

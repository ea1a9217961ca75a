"""Ledgers that are none, were edited, or compute without end: `compare` says so soon, and leaves them as they are."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.releasing import files
from tests.releasing.file.test_bounded_inputs import SLOW, SMALL, edited, published, run
from tests.support.commands import invoke, words_of

#: A table that never ends, where one row is looked for by its name.
ENDLESS = (
    "with recursive n(i) as (select 1 union all select i + 1 from n) "
    "select i as id, cast(i as text) as name, 'x' as public_id from n"
)


def sql(*statements: str) -> Callable[[Path], object]:
    return lambda ledger: edited(ledger.parent, "pragma legacy_alter_table = on", *statements)


def master(what: str) -> Callable[[Path], object]:
    """Return an edit of what the file says of its table of sources."""
    return sql("pragma writable_schema = on", f"update sqlite_master set {what} where name = 'sources'")


def instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda ledger: (ledger.unlink(), make(ledger))


def side_file(end: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda ledger: make(ledger.with_name(ledger.name + end))


def in_a_circle(ledger: Path) -> None:
    ledger.symlink_to(ledger.with_name("other.db"))
    ledger.with_name("other.db").symlink_to(ledger)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "a table that never ends": sql("alter table sources rename to hidden", f"create view sources as {ENDLESS}"),
    "a pipe": instead(os.mkfifo),
    "a column that is computed": sql(
        "alter table sources rename column public_id to hidden",
        "alter table sources add column public_id text generated always as (hex(zeroblob(400000000)))",
    ),
    "a journal that is a pipe": side_file("-journal", os.mkfifo),
    "a reading that is none": sql("update readings set body = 'garbage'"),
    "a huge reading": sql("update readings set body = hex(zeroblob(100000000))"),
    "a format that never ends": sql("alter table meta rename to hidden", f"create view meta as {SLOW}"),
    "a trigger": sql("create trigger more after insert on debits begin delete from debits; end"),
    "a view": sql("create view more as select 1"),
    "a table": sql("create table more (x)"),
    "an index": sql("create index more on sources (name, length(public_id))"),
    "a module": sql("alter table sources rename to hidden", "create virtual table sources using fts5(name, public_id)"),
    "a reading of a number": sql("update readings set body = 5"),
    "a reading of bytes": sql("update readings set body = x'ff00'"),
    "a reading of no text": sql("update readings set body = cast(x'ff00' as text)"),
    "a reading beyond all limits": sql("update readings set body = cast(zeroblob(300000000) as text)"),
    "a huge budget": sql("update sources set budget_epsilon = '1e999999999'"),
    "a budget that is none": sql("update sources set budget_epsilon = x'00'"),
    "half a statement": master("sql = 'create table sources (name'"),
    "a page that is not there": master("rootpage = 99999"),
    "a page of another table": master("rootpage = 1"),
    "an order that nobody knows": master("sql = 'create table sources (name text collate nowhere, public_id)'"),
    "bytes as a statement": master("sql = x'ff00ff'"),
    "another version": sql("update meta set version = 3"),
    "a key that is none": sql("update meta set key = 'zz'"),
    "a folder": instead(Path.mkdir),
    "links in a circle": instead(in_a_circle),
    "a device": instead(lambda ledger: ledger.symlink_to("/dev/zero")),
    "a text": lambda ledger: ledger.write_text("no ledger"),
    "nothing": lambda ledger: ledger.write_bytes(b""),
    "a start": lambda ledger: ledger.write_bytes(b"SQLite format 3\0"),
    "a part": lambda ledger: ledger.write_bytes(ledger.read_bytes()[:5000]),
    "other pages": lambda ledger: ledger.write_bytes(ledger.read_bytes()[:4096] + b"\xa5" * 70_000),
    "a terabyte": lambda ledger: (ledger.write_bytes(b""), os.truncate(ledger, 10**12)),
    "another name": lambda ledger: os.link(ledger, ledger.with_name("other.db")),
    "a journal that is a folder": side_file("-journal", Path.mkdir),
    "a side file that is a pipe": side_file("-wal", os.mkfifo),
    "a side file that is a device": side_file("-wal", lambda path: path.symlink_to("/dev/zero")),
    "an index that is a pipe": side_file("-shm", os.mkfifo),
}


def _seen(ledger: Path) -> object:
    """Return all that a file is, without reading what has no end."""
    about = ledger.lstat()
    small = ledger.is_file() and not ledger.is_symlink() and about.st_size < 10**9
    content = hashlib.sha256(ledger.read_bytes()).hexdigest() if small else ""
    return about.st_mode, about.st_size, about.st_ino, content, sorted(path.name for path in ledger.parent.iterdir())


@pytest.mark.sampled(50)
@pytest.mark.parametrize("harm", HOSTILE.values(), ids=[name.replace(" ", "-") for name in HOSTILE])
def test_compare_refuses_a_ledger_that_is_none(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    """It asks the ledger for a reading at a glance, and then opens it: a source of another reading would be said."""
    study = tmp_path / "study"
    published(study)
    files.write(study, SMALL.replace("step = 2", 'step = 2\nnulls = "unobserved"'))
    ledger = study / "ledger.db"
    harm(ledger)
    before = _seen(ledger)
    said = run(tmp_path, "compare", study / "release.toml")
    assert "ledger" in said
    assert len(said) < 2_000
    assert _seen(ledger) == before


@pytest.mark.parametrize("command", ["compare", "advise", "calibrate"])
def test_it_is_said_beforehand_what_will_be_asked(tmp_path: Path, command: str) -> None:
    where = published(tmp_path)
    assert "the same entries?" not in invoke(command, where).output
    files.write(tmp_path, SMALL.replace("step = 2", 'step = 2\nnulls = "unobserved"'))
    assert "the release will ask first: the source" in words_of(invoke(command, where))

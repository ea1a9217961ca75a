"""Ledgers that are none, were edited, or compute without end: `compare` says so soon, and leaves them as they are."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.releasing import files
from tests.releasing.file.test_bounded_inputs import SLOW, SMALL, edited, published, run

from takifugu.accounting.ledger.events import FORMAT

#: A table that never ends, where one row is looked for by its name.
ENDLESS = (
    "with recursive n(i) as (select 1 union all select i + 1 from n) "
    "select cast(i as text) as digest, 'x' as body from n"
)


def sql(*statements: str) -> Callable[[Path], object]:
    return lambda ledger: edited(ledger.parent, "pragma legacy_alter_table = on", *statements)


def master(what: str) -> Callable[[Path], object]:
    """Return an edit of what the file says of its table of contents."""
    return sql("pragma writable_schema = on", f"update sqlite_master set {what} where name = 'contents'")


def reading(body: str) -> Callable[[Path], object]:
    """Return an edit of the reading of the one source."""
    return sql(f"update contents set body = {body} where cast(body as text) like '%nulls: %'")


def event(change: str, which: str = "true") -> Callable[[Path], object]:
    return sql(f"update events set {change} where {which}")


def instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda ledger: (ledger.unlink(), make(ledger))


def side_file(end: str, make: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda ledger: make(ledger.with_name(ledger.name + end))


def in_a_circle(ledger: Path) -> None:
    ledger.symlink_to(ledger.with_name("other.db"))
    ledger.with_name("other.db").symlink_to(ledger)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "a table that never ends": sql(
        "alter table contents rename to hidden", f"create view contents as {ENDLESS}"
    ),
    "a pipe": instead(os.mkfifo),
    "a column that is computed": sql(
        "alter table contents rename column body to hidden",
        "alter table contents add column body text generated always as (hex(zeroblob(400000000)))",
    ),
    "a journal that is a pipe": side_file("-journal", os.mkfifo),
    "a reading that is none": reading("x'00'"),
    "a huge reading": reading("hex(zeroblob(100000000))"),
    "events that never end": sql("alter table events rename to hidden", f"create view events as {SLOW}"),
    "a trigger": sql("create trigger more after insert on events begin delete from events; end"),
    "a view": sql("create view more as select 1"),
    "a table": sql("create table more (x)"),
    "an index": sql("create index more on events (length(body))"),
    "a module": sql("alter table contents rename to hidden", "create virtual table contents using fts5(digest, body)"),
    "a reading of a number": reading("5"),
    "a reading of bytes": reading("x'ff00'"),
    "a reading of no text": reading("cast(x'ff00' as text)"),
    "a reading beyond all limits": reading("cast(zeroblob(300000000) as text)"),
    "a huge event": event("body = hex(zeroblob(100000000))", "number = 2"),
    "an event of bytes": event("body = x'ff00'", "number = 2"),
    "an event of no text": event("body = cast(x'ff00' as text)", "number = 2"),
    "an event beyond all limits": event("body = cast(zeroblob(460000000) as text)", "number = 2"),
    "events without the first": sql("delete from events where number = 0"),
    "no events": sql("delete from events"),
    "numbers from below": event("number = number - 5"),
    "a huge budget": event("body = replace(body, '\"delta\":\"0\"', '\"delta\":\"1e999999999\"')"),
    "half a statement": master("sql = 'create table contents (digest'"),
    "a page that is not there": master("rootpage = 99999"),
    "a page of another table": master("rootpage = 1"),
    "an order that nobody knows": master("sql = 'create table contents (digest text collate nowhere, body)'"),
    "bytes as a statement": master("sql = x'ff00ff'"),
    "another format": event(f"""body = replace(body, '"format":{FORMAT}', '"format":{FORMAT + 1}')""", "number = 0"),
    "a key that is none": event("""body = replace(body, '"key":"', '"key":"z')""", "number = 0"),
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
    "a journal that is a device": side_file("-journal", lambda path: path.symlink_to("/dev/zero")),
}


def _seen(ledger: Path) -> object:
    """Return all that a file is, without reading what has no end."""
    about = ledger.lstat()
    small = ledger.is_file() and not ledger.is_symlink() and about.st_size < 10**9
    content = hashlib.sha256(ledger.read_bytes()).hexdigest() if small else ""
    return about.st_mode, about.st_size, about.st_ino, content, sorted(path.name for path in ledger.parent.iterdir())


@pytest.mark.mutants
@pytest.mark.parametrize("harm", HOSTILE.values(), ids=[name.replace(" ", "-") for name in HOSTILE])
def test_compare_refuses_a_ledger_that_is_none(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    """It asks the ledger about the reading: another one than before would be said."""
    study = tmp_path / "study"
    published(study)
    files.write(study, SMALL.replace("step = 2", 'step = 2\nnulls = "unobserved"'))
    ledger = study / "ledger.db"
    harm(ledger)
    before = _seen(ledger)
    said = run(tmp_path, "cost", study / "release.toml")
    assert "ledger" in said
    assert len(said) < 2_000
    assert _seen(ledger) == before

"""Files that are no sound ledger: a clear error that names the fix, and nothing lost."""

import errno
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.failing import FULL, raising
from tests.support.ledger_tools import chain, charge, dump, edit, group_debit, limit_pages, one_thing, unchanged
from tests.support.processes import become_nobody, result_of_a_child

import takifugu as tf
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.disk.sqlite import _place, check_length, explained
from takifugu.accounting.ledger.values import UNREADABLE
from takifugu.analysis.guarantee import Covers
from takifugu.core.errors import LedgerError

DEBIT = group_debit(one_thing(7), 1)
NO_LINKS = OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with one release of epsilon 1 of 9."""
    where = tmp_path / "ledger.db"
    Ledger.open(where).reserve("data", [DEBIT], budget=9)
    return where


def test_a_missing_ledger_is_made_unless_it_should_be_there(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(tmp_path / "ledger.db", create=False)
    assert not list(tmp_path.iterdir())
    assert Ledger.open(f"sqlite:///{tmp_path}/ledger.db").show() == ()
    assert (tmp_path / "ledger.db").stat().st_mode & 0o777 == 0o600


def test_file_systems_without_hard_links_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", raising(NO_LINKS))
    Ledger.open(tmp_path / "ledger.db").reserve("data", [DEBIT])
    assert Ledger.open(tmp_path / "ledger.db").spent("data").spent.epsilon == 1


@pytest.mark.parametrize("failing", ["link", "replace"])
def test_a_disk_that_is_full_leaves_no_empty_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """An empty file under the ledger's name would refuse every release after it."""
    with monkeypatch.context() as patched:
        if failing == "replace":
            patched.setattr(os, "link", raising(NO_LINKS))
        patched.setattr(os, failing, raising(FULL))
        with pytest.raises(LedgerError, match="no space left"):
            Ledger.open(tmp_path / "ledger.db")
    assert not list(tmp_path.iterdir())
    assert Ledger.open(tmp_path / "ledger.db").is_new


def test_a_ledger_that_another_process_just_made_is_never_replaced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draft, before = path.with_name("draft"), path.read_bytes()
    for links in (True, False):
        draft.write_bytes(b"a younger ledger")
        if not links:
            monkeypatch.setattr(os, "link", raising(NO_LINKS))
        assert not _place(draft, path)
        assert path.read_bytes() == before


def test_a_short_file_is_damaged_unless_the_side_file_may_hold_the_rest(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    side_file = path.with_name(path.name + "-wal")
    for content in (None, b""):
        if content is not None:
            side_file.write_bytes(content)
        waits: list[float] = []
        monkeypatch.setattr("time.sleep", waits.append)
        with pytest.raises(sqlite3.DatabaseError):
            check_length(path)
        assert 0.05 < sum(waits) < 2  # it looks again, but not for ever
    side_file.write_bytes(b"pages")
    check_length(path)


def test_what_is_written_is_on_the_disk(path: Path) -> None:
    """Write-ahead log, full synchronisation, and after a commit the file alone holds everything."""
    with Ledger.open(path).store.reading() as connection:
        assert connection.value("PRAGMA journal_mode") == "wal"
        assert connection.value("PRAGMA synchronous") == 2
        assert connection.value("PRAGMA wal_autocheckpoint") == 1
        assert connection.value("PRAGMA foreign_keys") == 1
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    assert Ledger.open(copy).spent("data").spent.epsilon == 1


def test_a_new_ledger_is_on_the_disk_with_its_name_and_keeps_no_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronised = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synchronised.append(os.readlink(f"/proc/self/fd/{fd}")), fsync(fd)))
    before = len(os.listdir("/proc/self/fd"))
    Ledger.open(tmp_path / "ledger.db")
    assert str(tmp_path) in synchronised
    assert len(os.listdir("/proc/self/fd")) == before
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


LAYOUT = """batches: id INTEGER!*, units INTEGER!, seal BLOB, (seal)
charges: id INTEGER!*, framework INTEGER!, digest TEXT!, links BOOLEAN!, body TEXT!, seal BLOB, (framework), (one \
framework+digest), (seal), [framework -> frameworks.id]
contents: digest TEXT!*, body BLOB!, (one digest)
debits: id INTEGER!*, batch INTEGER!, release INTEGER!, charge INTEGER!, recharge BOOLEAN!, reading TEXT!, seal \
BLOB, (batch), (release), (seal), [batch -> batches.id], [charge -> charges.id], [release -> releases.id]
events: id INTEGER!*, public_id TEXT!, kind TEXT!, source TEXT!, body TEXT!, created TEXT!, first TEXT, chain \
TEXT!, (one public_id)
frameworks: id INTEGER!*, source INTEGER!, fingerprint TEXT!, definition TEXT!, body TEXT!, seal BLOB, (one \
source+fingerprint), (seal), [source -> sources.id]
histories: id INTEGER!*, source INTEGER!, parent INTEGER, batch INTEGER!, seal BLOB, (seal), [batch -> \
batches.id], [parent -> histories.id], [source -> sources.id]
meta: kind TEXT!, version INTEGER!, public_id TEXT!, created TEXT!, key TEXT!, head TEXT!, counts TEXT!, seal BLOB
notes: id INTEGER!*, source INTEGER!, what TEXT!, created TEXT!, seal BLOB, (seal), (source), [source -> \
sources.id]
people: one INTEGER!*, other INTEGER!*, same BOOLEAN!, seal BLOB, (one one+other), (seal), [one -> sources.id], \
[other -> sources.id]
readings: id INTEGER!*, source INTEGER!, alike INTEGER!, body TEXT!, seal BLOB, (seal), (source), [source -> \
sources.id]
releases: id INTEGER!*, public_id TEXT!, source INTEGER!, reservation INTEGER!, name TEXT!, epsilon TEXT!, delta \
TEXT!, software TEXT!, created TEXT!, seal BLOB, (one public_id), (reservation), (seal), (source), [reservation -> \
reservations.id], [source -> sources.id]
reservations: id INTEGER!*, public_id TEXT!, source INTEGER!, identity TEXT, recipe TEXT!, state TEXT!, bundle \
BLOB, created TEXT!, changed TEXT!, seal BLOB, (one public_id), (seal), (source), [source -> sources.id]
sources: id INTEGER!*, name TEXT!, public_id TEXT!, created TEXT!, budget_epsilon TEXT, budget_delta TEXT, \
budget_is_implied BOOLEAN!, changes INTEGER!, members INTEGER!, units_seal BLOB, \
seal BLOB, (one name), (one public_id), (seal)
standings: id INTEGER!*, source INTEGER!, history INTEGER!, epsilon TEXT!, delta TEXT!, units INTEGER!, seal BLOB, \
(seal), [history -> histories.id], [source -> sources.id]
summaries: history INTEGER!*, body TEXT!, seal BLOB, (seal), [history -> histories.id]
units: tag BLOB!*, source INTEGER!*, standing INTEGER!, (one tag+source), [source -> sources.id]
"""


def test_the_tables_of_format_8(path: Path) -> None:
    """Other tables need another number: older programs must refuse them."""
    lines = []
    with closing(sqlite3.connect(path)) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table' order by name"):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            words = [f"{name} {kind}{'!' * needed}{'*' * bool(key)}" for _, name, kind, needed, _, key in columns]
            indexed = []
            for _, index, unique, *_ in connection.execute(f"PRAGMA index_list({table})").fetchall():
                parts = "+".join(row[2] for row in connection.execute(f"PRAGMA index_info({index})"))
                indexed.append(f"({'one ' * unique}{parts})")
            words += sorted(indexed)
            keys = connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()
            words += sorted(f"[{key} -> {other}.{column}]" for _, _, other, key, column, *_ in keys)
            lines.append(f"{table}: {', '.join(words)}\n")
    assert "".join(lines) == LAYOUT


@pytest.mark.parametrize(("where", "words"), [
    *((f"{kind}://host/ledger", f"a ledger on '{kind}' is not supported by this version: give the path")
      for kind in ("postgresql", "mysql")),
    *((where, "outlive") for where in ("", ":memory:", "sqlite:///", "sqlite:///:memory:")),
    (".", "is a folder: give the path of a file"),
    ("missing/ledger.db", "no such file or directory"),
    ("/proc/ledger.db", "give a path that can be written"),
])  # fmt: skip
def test_where_no_ledger_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError, match=words):
        Ledger.open(where)


def test_files_that_are_no_ledger_stay_as_they_are(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("remember the milk\n" * 200)
    before = text.read_bytes()
    with pytest.raises(LedgerError, match="is not a ledger: give the path of a ledger"):
        Ledger.open(text)
    assert text.read_bytes() == before
    edit(other, "create table meta (version integer)")
    with pytest.raises(LedgerError, match=r"not a ledger|cannot be used"):
        Ledger.open(other)
    edit(other, "drop table meta", "create table birds (name text)")
    with pytest.raises(LedgerError, match="a database, but not a ledger"):
        Ledger.open(other)


@pytest.mark.parametrize(("version", "fix"), [(9, "install a newer Takifugu"), (4, "the Takifugu that made it")])
def test_another_version_is_refused(path: Path, version: int, fix: str) -> None:
    edit(path, f"update meta set version = {version}")
    with unchanged(path), pytest.raises(LedgerError, match=f"is in format {version}: .*{fix}"):
        Ledger.open(path)


def test_truncated_files_are_found_wherever_they_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    whole = path.read_bytes()
    for length in [1, 16, 99, 100, 512, *range(2048, len(whole), 2048), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(LedgerError, match="is damaged: restore it"):
            Ledger.open(path).reserve("data", [DEBIT])
        assert path.read_bytes() == whole[:length]
    path.write_bytes(whole)
    assert Ledger.open(path).spent("data").spent.epsilon == 1


def test_a_side_file_that_another_process_takes_away_is_none(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It went between the question whether it is there and that of its size, and the ledger "cannot be opened"."""
    side_file, plain = path.with_name(path.name + "-wal"), Path.exists
    path.write_bytes(path.read_bytes()[:-1])

    def exists(file: Path) -> bool:
        was_there = plain(file)
        if file == side_file:
            file.unlink(missing_ok=True)
        return was_there

    monkeypatch.setattr(Path, "exists", exists)
    side_file.write_bytes(b"pages")
    check_length(path)


def test_large_pages_are_measured_right(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite writes a page size of 65536 as 1."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("journal_mode=DELETE", "page_size=65536"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA journal_mode=WAL")
    assert Ledger.open(path).spent("data").spent.epsilon == 1
    check_length(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(sqlite3.DatabaseError) as caught:
        check_length(path)
    assert caught.value.sqlite_errorcode == sqlite3.SQLITE_CORRUPT


def test_damaged_pages_are_found(path: Path) -> None:
    whole = path.read_bytes()
    for start in range(0, len(whole), 4096):
        path.write_bytes(whole[:start] + b"\xff" * 64 + whole[start + 64 :])
        with pytest.raises(LedgerError, match=r"is damaged: restore it|is not a ledger"):
            Ledger.open(path).reserve("data", [DEBIT])


@pytest.mark.parametrize("body", ["{}", "not json", '{"epsilon": "nan"}'])
def test_edited_charges_are_found_where_they_make_no_sense(path: Path, body: str) -> None:
    edit(path, f"update charges set body = '{body}'")
    ledger = Ledger.open(path)
    with pytest.raises(LedgerError, match=r"(cannot be read|edited).*restore a backup"):
        ledger.reserve("data", [DEBIT])
    assert {entry.scope for entry in ledger.history("data")} == {UNREADABLE}
    assert ledger.check()


def test_a_ledger_that_has_gone_is_not_replaced_by_an_empty_one(path: Path) -> None:
    """Nor is an empty file taken for a new one."""
    ledger = Ledger.open(path)
    os.truncate(path, 0)
    with pytest.raises(LedgerError, match="empty file: either it lost its contents"):
        Ledger.open(path)
    assert path.stat().st_size == 0
    path.unlink()
    with pytest.raises(LedgerError, match="cannot be opened"):
        ledger.reserve("data", [DEBIT])
    assert not path.exists()


def test_a_locked_ledger_says_so_after_a_while(path: Path) -> None:
    before = dump(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        ledger = Ledger.open(path, timeout=0.05)
        assert ledger.spent("data").spent.epsilon == 1
        with pytest.raises(LedgerError, match=r"is locked by another program: wait until"):
            ledger.reserve("data", [DEBIT])
        holder.execute("ROLLBACK")
    assert dump(path) == before
    ledger.reserve("data", [DEBIT])
    assert ledger.spent("data").spent.epsilon == 2


def test_a_full_disk_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.open(path)
    limit_pages(monkeypatch, path.stat().st_size // 4096)
    with pytest.raises(LedgerError, match="cannot grow: the disk is full; make room"):  # noqa: PT012
        for _ in range(50):
            ledger.reserve("data", [group_debit(one_thing(7), Fraction(1, 100))])
    after = Ledger.open(path)
    assert after.spent("data").spent.epsilon == 1 + Fraction(len(after.history("data")) - 1, 100)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter (pytest's own may not be entered by others)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def _reserve_elsewhere() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Ledger.open(Path(folder) / "ledger.db").reserve("data", [DEBIT])


def without_privileges(path: Path, is_open: bool) -> str:
    """Return what a user who may write nothing here is told: to open a ledger, and to reserve; "done" for nothing."""
    ledger = Ledger.open(path) if is_open else None
    become_nobody(_reserve_elsewhere)
    try:
        (ledger or Ledger.open(path)).reserve("data", [DEBIT])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def test_a_read_only_ledger_says_so(open_folder: Path) -> None:
    path = open_folder / "ledger.db"
    ledger = Ledger.open(path)
    ledger.reserve("data", [DEBIT], budget=9)
    path.chmod(0o444)
    for mode, is_open in ((0o777, True), (0o555, False)):
        open_folder.chmod(mode)
        said = result_of_a_child(without_privileges, path, is_open)
        assert re.match(r"LedgerError: .*(is read-only: make the file|cannot be opened: check)", said)
    said = result_of_a_child(without_privileges, open_folder / "new.db", False)
    assert re.match(r"LedgerError: .*permission denied\): give a path that can be written", said)
    assert Ledger.open(path).spent("data").spent.epsilon == 1


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_READONLY_DBMOVED, sqlite3.SQLITE_MISUSE, None]
)
def test_every_failure_of_the_driver_becomes_a_sentence(path: Path, code: int | None) -> None:
    error = sqlite3.OperationalError("some words of the driver")
    if code is not None:
        error.sqlite_errorcode = code
    words = r"the ledger '.*' (cannot|is) .*: [^.]*$"
    with pytest.raises(LedgerError, match=words), explained(path):
        raise error


def test_nothing_private_is_in_the_file(path: Path) -> None:
    """No identifier of a unit and no data; state names only inside the belief and the query that name them."""
    framework = tf.Pufferfish(tf.every_entry(), chain(7, states=["serene", "agitated"]))
    debit = Debit(framework, charge(framework, tf.Histogram(), 7, Covers.EVERYTHING), "Ann Example, born 1970")
    ledger = Ledger.open(path)
    done = ledger.reserve("study", [debit], identity=b"serene serene agitated serene")
    ledger.drawn(done, b"noisy")
    raw = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for private in (b"Ann", b"Example", b"born", b"serene serene", b"agitated serene"):
        assert private not in raw
    rows = dump(path)
    bodies = {row[4] for row in rows.pop("frameworks")} | {row[-1].decode("latin") for row in rows.pop("contents")}
    assert sum("serene" in body for body in bodies) >= 1
    assert "serene" not in repr(rows)
    other = Ledger.open(path.with_name("another.db"))
    assert other.unit_tag("Ann Example, born 1970") != ledger.unit_tag("Ann Example, born 1970")
    assert repr(ledger.store.key) not in repr(ledger)

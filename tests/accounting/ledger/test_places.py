"""Where a ledger lies: one file under one name, whole or not at all, on a disk whose locks work."""

import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.failing import FULL, raising
from tests.support.ledger_edits import pay, published
from tests.support.ledger_tools import one_thing
from tests.support.paying import dump, group_debit
from tests.support.processes import become_nobody, result_of_a_child

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.events import disk
from takifugu.accounting.ledger.events.disk import explained, placed
from takifugu.core.errors import LedgerError

NO_LINKS = OSError(errno.EPERM, os.strerror(errno.EPERM))
ROOT = Path(__file__).parents[3]
#: A child that pays and says each payment that was acknowledged.
PAYING = """
import sys
from tests.support.ledger_tools import one_thing
from tests.support.paying import group_debit
from takifugu.accounting.ledger import Ledger
book, debit = Ledger.open(sys.argv[1]), group_debit(one_thing(7), 1)
for _ in range(int(sys.argv[2])):
    book.reserve("data", [debit], None if book.show() else 999, entries="these")
    print("paid", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger with one release."""
    monkeypatch.setattr(disk, "_PATIENCE", 0.05)
    where = tmp_path / "ledger.db"
    published(Ledger.open(where), budget=9)
    return where


def payments(path: Path) -> int:
    ledger = Ledger.open(path)
    assert ledger.check() == ()
    return len(ledger.payments())


# A new file.


def test_file_systems_without_hard_links_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", raising(NO_LINKS))
    published(Ledger.open(tmp_path / "ledger.db"))
    assert payments(tmp_path / "ledger.db") == 1


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
        assert not placed(draft, path)
        assert path.read_bytes() == before


def test_a_new_ledger_is_on_the_disk_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synchronised, fsync = list[str](), os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synchronised.append(os.readlink(f"/proc/self/fd/{fd}")), fsync(fd)))
    before = len(os.listdir("/proc/self/fd"))
    Ledger.open(tmp_path / "ledger.db").store.close()
    assert str(tmp_path) in synchronised
    assert len(os.listdir("/proc/self/fd")) == before
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.db"]


def test_what_is_written_is_on_the_disk(path: Path) -> None:
    """A rollback journal, whose end is synchronised, too; after a commit the file alone holds everything."""
    ledger = Ledger.open(path)
    published(ledger)
    with ledger.store._connected() as connection:  # type: ignore[attr-defined]
        settings = [connection.execute(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert settings == ["delete", 3]
    shutil.copy(path, path.with_name("copy.db"))
    assert payments(path.with_name("copy.db")) == 2


# A file that is damaged, or another's.


def faults(path: Path) -> str:
    """Return what is found in a ledger: when it is opened, or by `check`."""
    try:
        return " ".join(Ledger.open(path).check())
    except LedgerError as error:
        return str(error)


def full(path: Path) -> bytes:
    """Let values wait, so that no page of a ledger is empty; return its bytes."""
    ledger = Ledger.open(path)
    ledger.keep(pay(ledger).group, os.urandom(3000))
    ledger.store.close()
    return path.read_bytes()


def test_truncated_files_are_found_wherever_they_end(path: Path) -> None:
    whole = full(path)
    for length in [1, 16, 99, 100, 512, *range(2048, len(whole), 2048)]:
        path.write_bytes(whole[:length])
        assert re.search("is damaged: restore a copy|not a ledger|lacks its values", faults(path)), length
        assert path.read_bytes() == whole[:length]
    path.write_bytes(whole)
    assert payments(path) == 2


def test_damaged_pages_are_found(path: Path) -> None:
    whole = full(path)
    for start in range(0, len(whole), 4096):
        path.write_bytes(whole[:start] + b"\xff" * 64 + whole[start + 64 :])
        assert re.search("is damaged: restore a copy|not a ledger|lacks its values", faults(path)), start


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_READONLY_DBMOVED, sqlite3.SQLITE_MISUSE, None]
)
def test_every_failure_of_the_driver_becomes_a_sentence(path: Path, code: int | None) -> None:
    error = sqlite3.OperationalError("some words of the driver")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(LedgerError, match=r"the ledger '.*' (cannot|is) .*: [^.]*$"), explained(str(path)):
        raise error


def test_a_locked_ledger_says_so_after_a_while(path: Path) -> None:
    before = dump(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        ledger = Ledger.open(path, timeout=0.05)
        assert ledger.spent("data").epsilon * 10 == 1  # it can be read
        with pytest.raises(LedgerError, match=r"is locked by another program: wait until"):
            pay(ledger)
        holder.execute("ROLLBACK")
    assert dump(path) == before
    assert pay(ledger).spent.epsilon * 10 == 2


# Users without rights.


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter (pytest's own may not be entered by others)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def _pay_elsewhere() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pay(Ledger.open(Path(folder) / "ledger.db"))


def without_privileges(path: Path) -> str:
    """Return what a user who may write nothing here is told: to open a ledger, and to pay; "done" for nothing."""
    become_nobody(_pay_elsewhere)
    try:
        pay(Ledger.open(path))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "done"


def test_a_read_only_ledger_says_so(open_folder: Path) -> None:
    path = open_folder / "ledger.db"
    published(Ledger.open(path), budget=9)
    path.chmod(0o444)
    for mode in (0o777, 0o555):
        open_folder.chmod(mode)
        said = result_of_a_child(without_privileges, path)
        assert re.match(r"LedgerError: .*(is read-only: make the file|cannot be opened: check)", said)
    said = result_of_a_child(without_privileges, open_folder / "new.db")
    assert re.match(r"LedgerError: .*permission denied\): give a path that can be written", said)
    assert payments(path) == 1


def test_a_disk_that_is_only_read_shows_its_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses to remove even what is not there, and every question was once refused with that."""
    real = sqlite3.connect

    def connect(where: object, *given: object, **more: object) -> sqlite3.Connection:
        if str(where).endswith(".probe"):
            raise sqlite3.OperationalError("unable to open database file")
        return real(where, *given, **more)  # type: ignore[arg-type,call-overload,no-any-return]

    before = payments(path)
    monkeypatch.setattr(disk, "_sound", set())
    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(Path, "unlink", raising(OSError(errno.EROFS, "Read-only file system")))
    assert len(Ledger.open(path, create=False).payments()) == before


# One file, one name.


def test_a_hard_linked_ledger_is_refused_under_both_names(path: Path) -> None:
    """Of 66 reservations that succeeded 60 were recorded."""
    before, other = dump(path), path.with_name("other.db")
    os.link(path, other)
    for ask in (lambda: Ledger.open(path), lambda: Ledger.open(other)):
        with pytest.raises(LedgerError, match=r"is a hard link: .* keep one name"):
            ask()
    other.unlink()
    assert dump(path) == before
    published(Ledger.open(path))
    assert payments(path) == 2


def test_a_ledger_that_is_linked_while_it_is_open_is_not_written(path: Path) -> None:
    ledger = Ledger.open(path)
    os.link(path, path.with_name("other.db"))
    with pytest.raises(LedgerError, match="is a hard link"):
        pay(ledger)


def test_a_symbolic_link_is_the_ledger_that_it_leads_to(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    link, loose = path.parent / "elsewhere" / "link.db", path.parent / "elsewhere" / "loose.db"
    link.symlink_to(path)
    published(Ledger.open(link))
    assert payments(path) == 2
    loose.symlink_to(path.with_name("new.db"))
    published(Ledger.open(loose), budget=9)
    assert payments(path.with_name("new.db")) == 1
    assert sorted(p.name for p in path.parent.glob("elsewhere/*")) == ["link.db", "loose.db"]


@pytest.mark.parametrize("name", ["ledger.db", "what [1]? *.db"])
def test_what_a_killed_maker_left_is_removed(path: Path, name: str) -> None:
    """It was killed between giving the ledger its name and removing the unfinished one's."""
    path = path.rename(path.with_name(name))
    draft, other = (path.with_name(f".{path.name}.{word}.new") for word in ("0123456789abcdef", "fedcba9876543210"))
    os.link(path, draft)
    other.write_bytes(b"another process is about to make this ledger")
    assert payments(path) == 1
    assert (draft.exists(), other.exists()) == (False, True)


def test_while_a_ledger_is_made_others_wait(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_PATIENCE", 20.0)
    draft, left = path.with_name(f".{path.name}.0123456789abcdef.new"), list[bool]()
    os.link(path, draft)

    def finished() -> None:
        left.append(draft.exists())
        draft.unlink(missing_ok=True)

    timer = threading.Timer(0.2, finished)
    timer.start()
    assert payments(path) == 1
    timer.join()
    assert left == [True]


# Locks.


@pytest.mark.parametrize(
    ("kind", "options"),
    [("fuse.sshfs", "rw"), ("nfs", "rw,vers=3,nolock"), ("nfs4", "rw,local_lock=all"), ("cifs", "rw,nobrl")],
)
def test_locks_that_other_machines_do_not_see_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, options: str
) -> None:
    mount(monkeypatch, tmp_path, kind, options)
    with pytest.raises(LedgerError, match=r"whose locks do not work: .* keep the ledger on a local disk"):
        Ledger.open(tmp_path / "l.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["ext4", "nfs4", "cifs", "9p", "fuse.glusterfs", "not-known"])
def test_disks_whose_locks_work_take_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    mount(monkeypatch, tmp_path, kind, "rw")
    for _ in range(2):
        published(Ledger.open(tmp_path / "l.db"), budget=9)
    assert payments(tmp_path / "l.db") == 2
    assert [file.name for file in tmp_path.iterdir()] == ["l.db"]


def test_where_no_other_process_can_be_asked_a_network_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    for kind in ("nfs4", "9p", "not-known"):
        mount(monkeypatch, tmp_path, kind, "rw")
        with pytest.raises(LedgerError, match="whose locks do not work"):
            Ledger.open(tmp_path / "l.db")
    mount(monkeypatch, tmp_path, "ext4", "rw")
    published(Ledger.open(tmp_path / "l.db"))
    monkeypatch.setattr(disk, "_shuts_out_others", lambda _: False)
    mount(monkeypatch, tmp_path, "ext4", "rw")
    with pytest.raises(LedgerError, match="whose locks do not work"):
        Ledger.open(tmp_path / "l.db")


def test_the_nearest_and_last_mount_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (deep := tmp_path / "a b" / "c").mkdir(parents=True)
    mount(monkeypatch, tmp_path / "a b", "nfs4", "rw")
    assert disk._mounted(deep)[0] == "nfs4"
    assert disk._mounted(tmp_path / "a bc")[0] == "ext4"
    listed = disk._MOUNTS.read_text()
    disk._MOUNTS.write_text(listed + listed.splitlines()[1].replace("nfs4", "xfs"))
    assert disk._mounted(deep)[0] == "xfs"
    assert "relatime" in disk._mounted(deep)
    mount(monkeypatch, tmp_path / "a b", "xfs", "ro")
    assert "ro" in disk._mounted(deep)


def test_a_file_is_written_where_it_and_its_folder_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for writable, mode in (({"l.db", tmp_path.name}, "rw"), ({"l.db"}, "ro"), ({tmp_path.name}, "ro")):
        monkeypatch.setattr(disk.os, "access", lambda path, _, writable=writable: Path(path).name in writable)
        assert disk.mode(tmp_path / "l.db") == mode


def mount(patch: pytest.MonkeyPatch, where: Path, kind: str, options: str) -> None:
    """Mount a folder as a file system with options, as far as anybody is told."""
    patch.setattr(disk, "_sound", set())
    listed = where.parent / f"{where.name}.mounts"
    above = "27 1 8:1 / / rw - ext4 /dev/sda rw"
    name = str(where).replace(" ", "\\040")
    listed.write_text(f"{above}\n30 27 0:42 / {name} rw,relatime shared:1 - {kind} server:/x {options}\n")
    patch.setattr(disk, "_MOUNTS", listed)


def test_opening_again_keeps_the_locks_of_a_transaction(path: Path) -> None:
    """A process that closes any handle of a file gives up all locks that it holds on it."""

    def locks() -> set[str]:
        inode, found = f":{path.stat().st_ino} ", set[str]()
        for _ in range(5):  # a list that others change while it is read may lack a line, or have one twice
            lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
            found.update(line.partition(": ")[2] for line in lines if inode in line and f" {os.getpid()} " in line)
        return found

    ledger = Ledger.open(path)
    with ledger.store.alone():
        held = locks()
        assert held
        assert Ledger.open(path).spent("data").epsilon > 0
        assert locks() == held


# Disks that lie, under processes that pay at once.


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc")
    assert compiler is not None, "this test wraps the C library: install gcc and the C library's headers (libc6-dev)"
    made = tmp_path_factory.mktemp("library") / "lying_disk.so"
    source = ROOT / "tests" / "support" / "lying_disk.c"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def paying(library: Path, lie: str, ledger: Path, processes: int, times: int) -> tuple[int, str]:
    """Let processes pay at once; return how many payments were acknowledged, and what was said of the others."""
    environment = {**os.environ, "LD_PRELOAD": str(library), "LIES": lie, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    command = [sys.executable, "-c", PAYING, str(ledger), str(times)]
    children = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    said = [child.communicate(timeout=300) for child in children]
    return sum(out.count("paid") for out, _ in said), "".join(err for _, err in said)


@pytest.mark.mutants
def test_machines_that_share_no_memory_lose_no_payment(tmp_path: Path, library: Path) -> None:
    """Of 49 payments that were acknowledged 45 were in the ledger."""
    path = tmp_path / "l.db"
    Ledger.open(path).reserve("data", [group_debit(one_thing(7), 1)], 999, entries="these")
    assert paying(library, "memory", path, 2, 10) == (20, "")
    assert payments(path) == 21


@pytest.mark.mutants
def test_locks_that_everybody_gets_are_refused(tmp_path: Path, library: Path) -> None:
    paid, words = paying(library, "locks", tmp_path / "l.db", 1, 1)
    assert paid == 0
    assert "whose locks do not work" in words
    assert list(tmp_path.iterdir()) == []


# A connection that lasts.


def test_a_transaction_that_is_stopped_is_undone(path: Path) -> None:
    ledger = Ledger.open(path)

    def stopped() -> None:
        with ledger.store.alone():
            rows = ledger.store.after(0)
            assert ledger.store.append(len(rows), rows[-1][1], [("{}", "")], {}, {}, "")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert pay(ledger).spent.epsilon * 10 == 2
    assert payments(path) == 2

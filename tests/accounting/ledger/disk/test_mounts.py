"""Where a ledger lies: no payment is lost on a disk that several machines mount, and where locks lie it is refused."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.failing import FULL, raising
from tests.support.ledger_tools import group_debit, one_thing

from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.disk import mounts, places
from takifugu.core.errors import LedgerError

ROOT = Path(__file__).parents[4]
SOURCE = ROOT / "tests" / "support" / "lying_disk.c"
DEBIT = group_debit(one_thing(7), 1)
#: A child that pays and says each payment that was acknowledged.
PAYING = """
import sys
from tests.support.ledger_tools import group_debit, one_thing
from takifugu.accounting.ledger import Ledger
book, debit = Ledger.open(sys.argv[1]), group_debit(one_thing(7), 1)
for _ in range(int(sys.argv[2])):
    book.reserve("data", [debit], budget=999)
    print("paid", flush=True)
"""

Mounting = Callable[..., None]


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mounting:
    """Mount the test's folder as a file system with options, as far as anybody is told."""
    mounts._shares_memory.cache_clear()
    monkeypatch.setattr(places, "_sound", set())
    listed = tmp_path.parent / f"{tmp_path.name}.mounts"
    monkeypatch.setattr(mounts, "MOUNTS", listed)

    def mount(kind: str, options: str = "rw", where: Path = tmp_path) -> None:
        mounts._shares_memory.cache_clear()
        places._sound.clear()
        name = str(where).replace(" ", "\\040")
        above = "27 1 8:1 / / rw - ext4 /dev/sda rw"
        listed.write_text(f"{above}\n30 27 0:42 / {name} rw,relatime shared:1 - {kind} server:/x {options}\n")

    return mount


def journal(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


@pytest.mark.parametrize("kind", ["ext4", "xfs", "tmpfs", "overlay"])
def test_a_local_disk_has_a_log_that_is_written_ahead(tmp_path: Path, mounted: Mounting, kind: str) -> None:
    mounted(kind)
    Ledger.open(tmp_path / "l.db").reserve("data", [DEBIT], budget=9)
    assert journal(tmp_path / "l.db") == "wal"
    assert [path.name for path in tmp_path.iterdir()] == ["l.db"]


def test_a_full_disk_has_a_rollback_journal_and_is_never_mapped(
    tmp_path: Path, mounted: Mounting, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted("tmpfs")
    monkeypatch.setattr(mounts.os, "write", raising(FULL))
    monkeypatch.setattr(mounts.mmap, "mmap", lambda *_: pytest.fail("mapped, though nothing can be written there"))
    assert not mounts.shares_memory(tmp_path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.glusterfs", "not-known", ""])
def test_a_network_disk_has_a_rollback_journal(tmp_path: Path, mounted: Mounting, kind: str) -> None:
    if kind:  # a system that lists no mounts is trusted with nothing
        mounted(kind)
    for _ in range(2):
        Ledger.open(tmp_path / "l.db").reserve("data", [DEBIT], budget=9)
    assert journal(tmp_path / "l.db") == "delete"
    assert Ledger.open(tmp_path / "l.db").spent("data").spent.epsilon == 2
    assert [path.name for path in tmp_path.iterdir()] == ["l.db"]


def test_a_ledger_that_is_brought_to_a_network_disk_keeps_all_and_changes_its_journal(
    tmp_path: Path, mounted: Mounting
) -> None:
    """As soon as no other program reads it."""
    mounted("ext4")
    Ledger.open(tmp_path / "l.db").reserve("data", [DEBIT], budget=9)
    mounted("nfs4")
    reader = sqlite3.connect(tmp_path / "l.db", check_same_thread=False)
    reader.execute("select * from meta").fetchall()
    with pytest.raises(LedgerError, match="is locked by another program"):
        Ledger.open(tmp_path / "l.db", timeout=0.1)
    threading.Timer(0.3, reader.close).start()
    assert Ledger.open(tmp_path / "l.db").spent("data").spent.epsilon == 1
    assert journal(tmp_path / "l.db") == "delete"


@pytest.mark.parametrize(
    ("kind", "options"),
    [("fuse.sshfs", "rw"), ("nfs", "rw,vers=3,nolock"), ("nfs4", "rw,local_lock=all"), ("cifs", "rw,nobrl")],
)
def test_locks_that_other_machines_do_not_see_are_refused(
    tmp_path: Path, mounted: Mounting, kind: str, options: str
) -> None:
    mounted(kind, options)
    with pytest.raises(LedgerError, match=r"whose locks do not work: .* keep the ledger on a local disk$"):
        Ledger.open(tmp_path / "l.db")
    assert list(tmp_path.iterdir()) == []


def test_where_no_other_process_can_be_asked_a_network_disk_is_refused(
    tmp_path: Path, mounted: Mounting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    mounted("nfs4")
    with pytest.raises(LedgerError, match="whose locks do not work"):
        Ledger.open(tmp_path / "l.db")
    mounted("ext4")
    Ledger.open(tmp_path / "l.db")


def test_the_nearest_and_last_mount_counts(tmp_path: Path, mounted: Mounting) -> None:
    (deep := tmp_path / "a b" / "c").mkdir(parents=True)
    mounted("nfs4", where=tmp_path / "a b")
    assert mounts._mount(deep)[0] == "nfs4"
    assert mounts._mount(tmp_path / "a bc")[0] == "ext4"
    listed = mounts.MOUNTS.read_text()
    mounts.MOUNTS.write_text(listed + listed.splitlines()[1].replace("nfs4", "xfs"))
    assert mounts._mount(deep)[0] == "xfs"


# Disks that lie, under processes that pay at once.


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc")
    assert compiler is not None, "this test wraps the C library: install gcc and the C library's headers (libc6-dev)"
    made = tmp_path_factory.mktemp("library") / "lying_disk.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, SOURCE, "-ldl"], check=True)
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_there", [False, True])
def test_machines_that_share_no_memory_lose_no_payment(tmp_path: Path, library: Path, is_there: bool) -> None:
    path, before = tmp_path / "l.db", 0
    if is_there:  # with a log that is written ahead, made by a machine that was alone
        Ledger.open(path).reserve("data", [DEBIT], budget=999)
        assert journal(path) == "wal"
        before = 1
    paid, words = paying(library, "memory", path, 2, 10)
    assert (paid, words) == (20, "")
    assert Ledger.open(path).spent("data").spent.epsilon == paid + before
    assert journal(path) == "delete"


def test_locks_that_everybody_gets_are_refused(tmp_path: Path, library: Path) -> None:
    paid, words = paying(library, "locks", tmp_path / "l.db", 1, 1)
    assert paid == 0
    assert "whose locks do not work" in words
    assert list(tmp_path.iterdir()) == []

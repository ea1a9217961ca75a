"""A disk of its own that is full at any write, or can only be read: nothing by halves, and a sentence with the fix."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.support.ledger_edits import debit, pay, published

from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError

PAGE = 4096
NOISY = np.random.default_rng(4).bytes(3 * PAGE)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own of 600 kB."""
    where = tmp_path / "disk"
    where.mkdir()
    if os.system(f"mount -t tmpfs -o size=600k takifugu '{where}' 2>/dev/null"):
        pytest.skip("this user may mount no disk")
    yield where
    gc.collect()  # what failed may hold a file of it
    assert os.system(f"umount '{where}'") == 0


def fill(disk: Path, room: int) -> None:
    """Leave so many pages of a disk."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    ballast.write_bytes(bytes(max(shutil.disk_usage(disk).free - room * PAGE, 0)))


def said_by(step: object, *arguments: object) -> str:
    """Return how a step is refused, "" for one that is taken."""
    try:
        step(*arguments)  # type: ignore[operator]
    except LedgerError as error:
        gc.collect()
        return str(error)
    return ""


def draw(path: Path) -> None:
    ledger = Ledger.open(path, create=False)
    ledger.keep(ledger.pending()[0].group, NOISY)
    ledger.close()


def make_and_pay(path: Path) -> None:
    ledger = Ledger.coming(path)
    pay(ledger, debit([f"person {number}" for number in range(2000)]), budget=9)
    ledger.close()


def pay_again(path: Path) -> None:
    ledger = Ledger.open(path, create=False)
    pay(ledger, debit([f"other {number}" for number in range(2000)]))
    ledger.close()


@pytest.mark.mutants
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.mutants)])
@pytest.mark.parametrize("step", [make_and_pay, pay_again, draw])
def test_a_disk_that_is_full_at_any_write_takes_all_or_nothing(small_disk: Path, step: object, every: int) -> None:
    path, refused = small_disk / "ledger.db", 0
    if step is not make_and_pay:
        make_and_pay(path)
    before = Ledger.open(path, create=False).store.after(0) if path.exists() else []
    for room in range(0, 60, every):
        fill(small_disk, room)
        said = said_by(step, path)
        (small_disk / "ballast").unlink()  # what a journal holds is put back where there is room
        if not said:
            break
        refused += 1
        assert "make room" in said or "input/output error" in said or "cannot be opened" in said
        if before or path.exists():
            left = Ledger.open(path, create=False)
            assert left.store.after(0)[len(before) or 1 :] == []
            assert left.check() == ()
            left.close()
    assert not said
    assert refused > 3 // every
    after = Ledger.open(path, create=False)
    assert len(after.store.after(0)) > len(before)
    assert after.check() == ()
    after.close()
    assert sorted(file.name for file in small_disk.iterdir()) == ["ledger.db"]


@pytest.mark.mutants
def test_a_disk_that_can_only_be_read(small_disk: Path) -> None:
    path = small_disk / "ledger.db"
    published(Ledger.open(path), budget=1)
    waiting = pay(Ledger.open(path))
    before = path.read_bytes()
    gc.collect()
    assert os.system(f"mount -o remount,ro '{small_disk}'") == 0
    ledger = Ledger.open(path)
    assert ledger.spent("data").epsilon * 10 == 2
    assert ledger.check() == ()
    for write in (lambda: pay(ledger), lambda: ledger.keep(waiting.group, NOISY), lambda: ledger.budget("data", 5)):
        assert "read-only: make the file and its folder writable" in said_by(write)
    assert "cannot be opened" in said_by(pay, Ledger.coming(small_disk / "new.db"))
    assert "cannot be opened" in said_by(Ledger.open, small_disk / "new.db")
    ledger.close()
    assert path.read_bytes() == before
    assert [file.name for file in small_disk.iterdir()] == ["ledger.db"]


@pytest.mark.mutants
def test_a_file_that_is_mounted_alone_is_refused(small_disk: Path, tmp_path: Path) -> None:
    """As a container's volume: a journal that a crash left beside one name once undid what was paid under the other."""
    path, inside = small_disk / "ledger.db", tmp_path / "inside" / "ledger.db"
    published(Ledger.open(path), budget=1)
    inside.parent.mkdir()
    inside.touch()
    assert os.system(f"mount --bind '{path}' '{inside}'") == 0
    try:
        said = said_by(Ledger.open, inside)
    finally:
        assert os.system(f"umount '{inside}'") == 0
    assert "is mounted as a single file" in said
    assert said.endswith("mount its folder")
    pay(Ledger.open(path))

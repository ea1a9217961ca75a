"""Values beside the ledger: on the disk before the ledger says drawn, one draw that counts, gone when published."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.failing import FULL
from tests.support.ledger_tools import group_debit, one_thing
from tests.support.processes import in_a_child

from takifugu.accounting.ledger import DRAWN, RESERVED, Ledger, moving
from takifugu.accounting.ledger.disk import outputs, places
from takifugu.core.errors import LedgerError

DEBIT = group_debit(one_thing(7), "1/2")
COLUMN = np.random.default_rng(5).bytes(1_001_000)
OTHER = np.random.default_rng(6).bytes(1_001_000)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(tmp_path / "ledger.db")
    made.reserve("data", [DEBIT], budget=9)
    return made


def files(ledger: Ledger) -> list[Path]:
    return sorted(ledger.store.path.parent.glob("*.values"))


def test_a_large_column_is_a_file_of_its_reservation_until_it_is_published(ledger: Ledger) -> None:
    (pending,) = ledger.pending()
    size = ledger.store.path.stat().st_size
    assert ledger.drawn(pending, COLUMN) == COLUMN
    (file,) = files(ledger)
    assert pending.group in file.name
    assert file.stat().st_mode & 0o777 == 0o600
    assert ledger.store.path.stat().st_size < size + 100_000
    assert Ledger.open(ledger.store.path).pending()[0].bundle == COLUMN
    ledger.publish(pending)
    assert (files(ledger), ledger.pending()) == ([], ())


def test_what_a_killed_process_left_goes_when_the_ledger_is_opened(ledger: Ledger) -> None:
    (pending,) = ledger.pending()
    ledger.drawn(pending, b"few")
    (file,) = files(ledger)
    content, strange = file.read_bytes(), file.with_name("takifugu-0123456789abcdef-0123456789abcdef.values")
    Ledger.open(ledger.store.path)
    assert files(ledger) == [file]  # it waits to be published
    ledger.publish(pending)
    file.write_bytes(content)
    strange.write_bytes(b"of another ledger")
    Ledger.open(ledger.store.path)
    assert files(ledger) == [strange]


def test_only_the_first_draw_counts_and_the_other_leaves_nothing(ledger: Ledger) -> None:
    (pending,) = ledger.pending()
    ledger.drawn(pending, COLUMN)
    assert ledger.drawn(pending, OTHER) == COLUMN
    assert len(files(ledger)) == 1
    ledger.publish(pending)
    with pytest.raises(LedgerError, match="published before"):
        ledger.drawn(pending, OTHER)
    assert files(ledger) == []


def test_a_ledger_that_moves_with_its_files_finds_them(ledger: Ledger, tmp_path: Path) -> None:
    ledger.drawn(ledger.pending()[0], COLUMN)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in (ledger.store.path, *files(ledger)):
        path.rename(elsewhere / path.name)
    (elsewhere / "ledger.db").rename(elsewhere / "renamed.db")
    assert Ledger.open(elsewhere / "renamed.db").pending()[0].bundle == COLUMN


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"x" * 100)])
def test_a_file_that_is_lost_or_altered_is_never_drawn_again(ledger: Ledger, harm: Callable[[Path], object]) -> None:
    ledger.drawn(ledger.pending()[0], COLUMN)
    spent = ledger.spent("data").spent
    harm(files(ledger)[0])
    (pending,) = ledger.pending()
    assert (pending.state, pending.bundle) == (DRAWN, None)
    with pytest.raises(LedgerError, match="lost or altered"):
        ledger.drawn(pending, OTHER)
    assert ledger.spent("data").spent == spent


def killed_while_drawing(path: Path, step: str) -> None:
    die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
    mine = Ledger.open(path)
    pending, placed, keep = mine.pending()[0], outputs.placed, moving.keep_drawn
    if step.startswith("os."):
        setattr(os, step[3:], die)
    elif step == "placed":
        outputs.placed = lambda *args: (placed(*args), die())[0]
    elif step == "keep_drawn":
        moving.keep_drawn = lambda *args: (keep(*args), die())[0]
    mine.drawn(pending, COLUMN)
    die()


@pytest.mark.parametrize("step", ["os.open", "os.fsync", "placed", "keep_drawn", "kept"])
def test_a_crash_leaves_values_that_are_kept_or_that_never_were(ledger: Ledger, step: str) -> None:
    """Killed before, while or after the file is written: either all is kept, or it is drawn again at no cost."""
    path = ledger.store.path
    assert in_a_child(killed_while_drawing, path, step) == -signal.SIGKILL
    (pending,) = Ledger.open(path).pending()
    assert pending.state == (DRAWN if step == "kept" else RESERVED)
    assert pending.bundle == (COLUMN if step == "kept" else None)
    assert ledger.drawn(pending, OTHER) == (COLUMN if step == "kept" else OTHER)
    ledger.publish(pending)
    assert files(ledger) == []


def test_values_lie_beside_the_ledger_wherever_the_process_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a second name of it is noticed."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.open("ledger.db")
    ledger.reserve("data", [DEBIT], budget=9)
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger.drawn(ledger.pending()[0], COLUMN)
    assert list(Path.cwd().iterdir()) == []
    assert Ledger.open(tmp_path / "ledger.db").pending()[0].bundle == COLUMN
    os.link("../ledger.db", "../another.db")
    monkeypatch.setattr(places, "PATIENCE", 0.0)
    with pytest.raises(LedgerError, match="hard link"):
        ledger.reserve("data", [DEBIT], budget=9)


def test_values_and_their_name_are_on_the_disk_before_they_are_drawn(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, fsync, folder = [], os.fsync, ledger.store.path.parent

    def watched(handle: int) -> None:
        (pending,) = Ledger.open(ledger.store.path).pending()
        seen.append((os.readlink(f"/proc/self/fd/{handle}"), os.fstat(handle).st_size, pending.state))
        fsync(handle)

    (pending,) = ledger.pending()
    monkeypatch.setattr(os, "fsync", watched)
    ledger.drawn(pending, COLUMN)
    (file,) = files(ledger)
    assert [(name, state) for name, _, state in seen] == [(str(file), RESERVED), (str(folder), RESERVED)]
    assert seen[0][1] == file.stat().st_size > 1_000_000


def test_a_draw_that_comes_after_the_values_are_out_leaves_in_peace(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process publishes just when this one has written its file, and removes this file, too."""
    (pending,), placed = ledger.pending(), outputs.placed

    def overtaken(*args: Any) -> bytes:
        mine = placed(*args)
        monkeypatch.setattr(outputs, "placed", placed)
        ledger.drawn(pending, b"few")
        ledger.publish(pending)
        return mine

    monkeypatch.setattr(outputs, "placed", overtaken)
    with pytest.raises(LedgerError, match="published before"):
        ledger.drawn(pending, COLUMN)
    assert files(ledger) == []


def test_two_that_publish_at_once_both_succeed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    (pending,), glob = ledger.pending(), Path.glob
    ledger.drawn(pending, COLUMN)

    def others_are_faster(folder: Path, pattern: str) -> list[Path]:
        paths = list(glob(folder, pattern))
        for path in paths:
            path.unlink()
        return paths

    with monkeypatch.context() as patched:
        patched.setattr(Path, "glob", others_are_faster)
        ledger.publish(pending)
    assert (files(ledger), ledger.pending()) == ([], ())


def test_a_full_disk_keeps_no_part_of_the_values(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def full(handle: int) -> None:
        if os.readlink(f"/proc/self/fd/{handle}").endswith(".values"):
            raise FULL
        fsync(handle)

    (pending,) = ledger.pending()
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(LedgerError, match=r"no space left on device.*make room"):
            ledger.drawn(pending, COLUMN)
    assert (files(ledger), ledger.pending()[0].state) == ([], RESERVED)
    assert ledger.drawn(pending, OTHER) == OTHER

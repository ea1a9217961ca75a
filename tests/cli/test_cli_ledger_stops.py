"""Commands about a ledger: one connection each, and a true word about how far they came wherever they are stopped."""

import json
import os
import shutil
import signal
import sqlite3
import sys
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import succeed
from tests.support.ledger_tools import copied, dump, group_debit, one_thing
from tests.support.processes import in_a_child

from takifugu.accounting.ledger import Ledger

#: The commands about a ledger, by the words after it; `other` is a copy that has paid for more.
COMMANDS = {
    "init": ("new.db",), "show": ("l.db",), "history": ("l.db",), "budget": ("l.db", "data", "5"),
    "resume": ("l.db",), "adopt": ("l.db", "out", "--yes"), "merge": ("l.db", "other.db"), "check": ("l.db",),
    "upgrade": ("l.db",),
}  # fmt: skip
#: Where a signal comes: at every so many lines of the ledger's and the command's own modules.
PLACES = ("/accounting/ledger/", "/cli/ledgers.py", "/cli/ledger_copies.py", "/releasing/publishing/adopting")


def made(folder: Path) -> None:
    """Write a ledger with a payment, and a copy of it that has paid for one more."""
    ledger = Ledger.open(folder / "l.db")
    ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4))], budget=2)
    copied(folder / "l.db", folder / "other.db")
    Ledger.open(folder / "other.db").reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="more")])
    (folder / "out").mkdir()


def _stopped(words: list[str], folder: str, at: int, after_commit: bool) -> None:
    """Run a command that gets SIGINT at a line of the ledger's modules, counted from the start or the last commit."""
    os.chdir(folder)
    for number, name in ((1, "out.txt"), (2, "said.txt")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    from takifugu.cli import main

    lines, committed = 0, not after_commit

    def traced(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines, committed
        if not any(place in frame.f_code.co_filename for place in PLACES):
            return None
        if event == "line" and committed:
            lines += 1
            if lines == at:
                sys.settrace(None)
                os.kill(os.getpid(), signal.SIGINT)
        return traced

    def wrote(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal committed
        if event == "c_return" and getattr(argument, "__name__", "") == "commit":
            committed = True

    sys.setprofile(wrote)
    sys.settrace(traced)
    try:
        main(words, prog_name="takifugu")
    finally:
        sys.settrace(None)
        Path("lines.txt").write_text(str(lines))


def check_said(folder: Path, words: list[str], at: int, after_commit: bool) -> bool:
    """Stop a command at a line; return whether it had come so far."""
    for leftover in folder.iterdir():
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
    made(folder)
    target = folder / words[2]
    before = dump(target) if target.exists() else None
    code = in_a_child(_stopped, words, str(folder), at, after_commit)
    said = " ".join((folder / "said.txt").read_text().split())
    if int((folder / "lines.txt").read_text()) < at:
        return False
    now = dump(target) if target.exists() else None
    assert code == 130, (at, said)
    assert "Traceback" not in said
    if "State of the release" in said:
        return True
    changed = None if now is None else now["events"] + now["meta"]
    was = None if before is None else before["events"] + before["meta"]
    state = "as it was" if changed == was else "changed"
    assert f"State of the ledger: {state}." in said, (at, said)
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_a_ledger_command_says_how_far_it_came(tmp_path: Path, name: str) -> None:
    words = ["ledger", name, *COMMANDS[name]]
    for at in (1, 40, 160):
        check_said(tmp_path, words, at, after_commit=False)
    if name in ("init", "budget", "merge"):
        assert check_said(tmp_path, words, 1, after_commit=True)
        for at in (2, 3, 5, 9):
            check_said(tmp_path, words, at, after_commit=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_ledger_command_says_how_far_it_came_at_each_statement(tmp_path: Path, name: str) -> None:
    words = ["ledger", name, *COMMANDS[name]]
    at = 1
    while check_said(tmp_path, words, at, after_commit=False):
        at += 1 if at < 20 else at // 12


def connections(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: object) -> int:
    """Return how often a command opens a ledger of a folder."""
    opened = list[str]()
    real = sqlite3.connect

    def connect(where: Any, *args: Any, **options: Any) -> Any:
        opened.append(str(where))
        return real(where, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", connect)
        succeed(*words)
    return sum(".db" in where and ".new" not in where for where in opened)


def test_a_command_opens_its_ledger_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml, ledger = files.write(tmp_path), tmp_path / "ledger.db"
    for words in (("check", toml), ("compare", toml)):
        assert connections(monkeypatch, tmp_path, *words) == 0
    for words in (
        ("release", toml), ("release", toml), ("release", "--dry-run", toml), ("calibrate", toml), ("advise", toml),
        ("ledger", "show", ledger), ("ledger", "history", ledger), ("ledger", "check", ledger),
        ("ledger", "budget", ledger, "study", 20), ("ledger", "resume", ledger), ("ledger", "upgrade", ledger),
        ("ledger", "adopt", ledger, tmp_path / "out"),
    ):  # fmt: skip
        assert connections(monkeypatch, tmp_path, *words) <= 1, words
    assert connections(monkeypatch, tmp_path, "ledger", "init", tmp_path / "new.db") <= 1
    copy = copied(ledger, tmp_path / "copy.db")
    assert connections(monkeypatch, tmp_path, "ledger", "merge", ledger, copy) == 2  # one of each file


def test_nothing_stays_open_after_a_command(tmp_path: Path) -> None:
    toml = files.write(tmp_path)
    succeed("release", toml)
    held = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if _leads(name)]
    assert not [path for path in held if "ledger.db" in path]
    assert json.loads(json.dumps(Ledger.open(tmp_path / "ledger.db").check())) == []


def _leads(name: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{name}")

"""Commands about a ledger: one connection each, and a true word about how far they came wherever they are stopped."""

import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended
from tests.support.ledger_edits import debit, pay
from tests.support.processes import in_a_child
from tests.support.statements import publish

from takifugu.accounting.ledger import Ledger

#: The commands about a ledger, by the words after it; what is in the folder `out` another ledger has paid for.
COMMANDS = {
    "show": ("l.db",), "set-budget": ("l.db", "data", "5"), "verify": ("l.db",), "resume": ("l.db",),
    "import-certificates": ("l.db", "out", "--yes"),
}  # fmt: skip
#: Those that write something here.
WRITING = ("set-budget", "import-certificates")
#: What of a connection or cursor reads or writes a ledger.
STATEMENTS = ("execute", "executescript", "fetchone", "fetchall", "commit", "rollback", "backup", "close")
#: Where lines are counted after the last commit: in the ledger's and the command's own modules.
PLACES = ("/accounting/ledger/", "/cli/ledgers.py", "publishing/adopting", "lasting")


def made(folder: Path) -> None:
    """Write a ledger in which a payment waits, and certificates of another one."""
    with closing(Ledger.open(folder / "l.db")) as ledger:
        pay(ledger, budget=2)
    with closing(Ledger.open(folder / "other.db")) as other:
        publish(other, pay(other, debit(name="theirs"), budget=2), folder / "out")


def _stopped(words: list[str], folder: str, event: str, at: int) -> None:
    """Run a command that gets SIGINT at a statement, before or after it, or at a line after the last commit."""
    os.chdir(folder)
    for number, name in ((1, "out.txt"), (2, "said.txt")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    from takifugu.cli import main

    seen, changes = list[str](), 0

    def count(frame: FrameType) -> None:
        seen.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        if len(seen) == at:
            sys.settrace(None)
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

    def traced(frame: FrameType, kind: str, _: Any) -> Any:
        if not any(place in frame.f_code.co_filename for place in PLACES):
            return None
        if kind == "line" and changes > 1:
            count(frame)
        return traced

    def profiled(frame: FrameType, kind: str, called: Any) -> None:
        nonlocal changes
        name = getattr(called, "__name__", "")
        if kind == event and name in STATEMENTS and isinstance(called.__self__, sqlite3.Connection | sqlite3.Cursor):
            count(frame)
        changes += kind == "c_return" and name == "execute" and frame.f_code.co_name == "alone"  # begins, or commits

    sys.setprofile(profiled)
    if event == "line":
        sys.settrace(traced)
    try:
        main(words, prog_name="takifugu")
    finally:
        sys.settrace(None)
        sys.setprofile(None)
        Path("seen.txt").write_text("\n".join(seen))


def what_of(ledger: Path) -> object:
    """Return a ledger's events."""
    with closing(sqlite3.connect(ledger)) as connection:
        return connection.execute("select * from events order by number").fetchall()


def places_seen(folder: Path) -> list[str]:
    """Return where in the code each statement, or line, was that a command came to."""
    return (folder / "seen.txt").read_text().splitlines()


@cache
def undisturbed(folder: Path, prepared: Path, words: tuple[str, ...]) -> str:
    """Return what a command prints that nothing stops."""
    shutil.copytree(prepared, folder)
    assert in_a_child(_stopped, list(words), str(folder), "c_call", 0) == 0
    return (folder / "out.txt").read_text()


def check_said(folder: Path, prepared: Path, words: list[str], event: str, at: int) -> bool:
    """Stop a command at a place; return whether it had come so far."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(prepared, folder)
    target = folder / words[2]
    before = what_of(target)
    code = in_a_child(_stopped, words, str(folder), event, at)
    said = " ".join((folder / "said.txt").read_text().split())
    if len(places_seen(folder)) < at:
        assert code == (4 if words[1] == "resume" else 0), said  # a payment by hand waits
        return False
    assert "Traceback" not in said
    if code == 0:  # it came while a file was closed for an object that nobody holds, and the command was done
        assert (folder / "out.txt").read_text() == undisturbed(folder / "alone", prepared, tuple(words))
        return True
    assert code == 130, (event, at, said)
    if "--json" in words:
        standing = json.loads((folder / "out.txt").read_text())["error"]["standing"]
        assert f"takifugu: {standing}" in said, (event, at, standing)
    if "State of the release" in said:
        return True
    state = "as it was" if what_of(target) == before else "changed"
    assert f"State of the ledger: {state}." in said, (event, at, said)
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_a_ledger_command_says_how_far_it_came(tmp_path: Path, name: str) -> None:
    words, prepared = ["ledger", name, *COMMANDS[name]], tmp_path / "kept"
    prepared.mkdir()
    made(prepared)
    for event, at in (("c_call", 1), ("c_return", 9), ("c_call", 40)):
        check_said(tmp_path / "tried", prepared, words, event, at)
    if name in WRITING:
        for at in (1, 2, 3, 5, 9):
            assert check_said(tmp_path / "tried", prepared, words, "line", at), at
        assert check_said(tmp_path / "tried", prepared, [*words, "--json"], "line", 4)
    assert check_said(tmp_path / "tried", prepared, [*words, "--json"], "c_call", 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("event", ["c_return", "line"])
def test_a_ledger_command_says_how_far_it_came_at_each_statement(tmp_path: Path, name: str, event: str) -> None:
    """Each place in the code that runs one, first, in the middle and last; where all is read, once."""
    words, prepared = ["ledger", name, *COMMANDS[name]], tmp_path / "kept"
    prepared.mkdir()
    made(prepared)
    assert not check_said(tmp_path / "tried", prepared, words, event, 10**9)
    times: dict[str, list[int]] = {}
    for at, place in enumerate(places_seen(tmp_path / "tried"), 1):
        times.setdefault(place, []).append(at)
    assert sum(map(len, times.values())) > 15 or (event == "line" and name not in WRITING)
    stops = {at[0] for at in times.values()}
    if name in WRITING:
        stops |= {at for every in times.values() for at in (every[len(every) // 2], every[-1])}
    for at in sorted(stops):
        assert check_said(tmp_path / "tried", prepared, words, event, at), at


def connections(monkeypatch: pytest.MonkeyPatch, code: int, *words: object) -> int:
    """Return how often a command that ends with an exit code opens a ledger."""
    opened = list[str]()
    real = sqlite3.connect

    def connect(where: Any, *args: Any, **options: Any) -> Any:
        opened.append(str(where))
        return real(where, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(sqlite3, "connect", connect)
        ended(code, *words)
    return sum(".db" in where and ".new" not in where for where in opened)


@pytest.mark.mutants
def test_a_release_opens_its_ledger_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = files.write(tmp_path)
    for words in (("check", toml), ("cost", toml)):
        assert connections(monkeypatch, 0, *words) == 0
    for words in (
        ("release", toml), ("release", toml), ("release", "--dry-run", toml), ("cost", toml), ("advise", toml),
    ):  # fmt: skip
        assert connections(monkeypatch, 0, *words) <= 1, words


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_about_a_ledger_opens_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    made(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert connections(monkeypatch, 4 if name == "resume" else 0, "ledger", name, *COMMANDS[name]) == 1


def test_a_command_done_is_not_stopped_by_who_reads_no_more(tmp_path: Path) -> None:
    made(tmp_path)
    for name in COMMANDS.keys() - {"resume", "import-certificates"}:
        assert in_a_child(_unread, ["ledger", name, *COMMANDS[name]], str(tmp_path)) == 0, name
        assert (tmp_path / "said.txt").read_text() == "", name
    before = what_of(tmp_path / "l.db")
    assert (
        in_a_child(_unread, ["ledger", "import-certificates", *COMMANDS["import-certificates"]], str(tmp_path)) == 2
    )  # it prints first
    assert what_of(tmp_path / "l.db") == before
    assert "State of the ledger: as it was." in (tmp_path / "said.txt").read_text()


def _unread(words: list[str], folder: str) -> None:
    os.chdir(folder)
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    os.dup2(os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    from takifugu.cli import main

    main(words, prog_name="takifugu")


def test_nothing_is_read_of_what_no_opening_accepts(tmp_path: Path) -> None:
    """A pipe would be waited for without end, and a view computed."""
    made(tmp_path)
    os.mkfifo(tmp_path / "pipe.db")
    shutil.copy(tmp_path / "l.db", tmp_path / "beside.db")
    os.mkfifo(tmp_path / "beside.db-journal")
    (tmp_path / "short.db").write_bytes((tmp_path / "l.db").read_bytes()[:-5000])
    endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select max(x) as number from c"
    with closing(sqlite3.connect(tmp_path / "view.db")) as connection:
        connection.execute(f"create view events as {endless}")
    for name, words in {
        "pipe": "is no file", "beside": "is a folder, a link, a device or a pipe", "short": "is damaged",
        "view": "has other parts than a ledger has",
    }.items():  # fmt: skip
        for command in ("show", "verify"):
            assert words in ended(2, "ledger", command, tmp_path / f"{name}.db").stderr, (name, command)

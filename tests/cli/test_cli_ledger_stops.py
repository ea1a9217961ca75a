"""Commands about a ledger: one connection each, and a true word about how far they came wherever they are stopped."""

import json
import os
import shutil
import signal
import sqlite3
import sys
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, succeed
from tests.support.ledger_tools import copied, dump, group_debit, one_thing
from tests.support.processes import in_a_child

from takifugu.accounting.log import Ledger

#: The commands about a ledger, by the words after it; `other` is a copy that has paid for more, `older` of format 6.
COMMANDS = {
    "init": ("new.db",), "show": ("l.db",), "history": ("l.db",), "budget": ("l.db", "data", "5"),
    "resume": ("l.db",), "adopt": ("l.db", "out", "--yes"), "merge": ("l.db", "other.db"), "check": ("l.db",),
    "upgrade": ("older.db",),
}  # fmt: skip
#: Those that write something here.
WRITING = ("init", "budget", "adopt", "merge", "upgrade")
OLDER = Path(__file__).parents[1] / "accounting/ledger/formats/format-6.sql"
#: What of a connection or cursor reads or writes a ledger.
STATEMENTS = ("execute", "executescript", "fetchone", "fetchall", "commit", "rollback", "backup", "close")
#: Where lines are counted after the last commit: in the ledger's and the command's own modules.
PLACES = ("/accounting/ledger/", "/cli/ledgers.py", "/cli/ledger_copies.py", "publishing/adopting", "lasting")


def made(folder: Path) -> None:
    """Write a ledger, a copy of it that has paid for one more, a ledger of an older format, and certificates."""
    ledger = Ledger.open(folder / "l.db")
    ledger.reserve("data", [group_debit(one_thing(), Fraction(1, 4))], budget=2)
    copied(folder / "l.db", folder / "other.db")
    Ledger.open(folder / "other.db").reserve("data", [group_debit(one_thing(), Fraction(1, 4), name="more")])
    with closing(sqlite3.connect(folder / "older.db")) as connection:
        connection.executescript(OLDER.read_text())
    (folder / "study").mkdir()
    succeed("release", files.write(folder / "study"))
    (folder / "study" / "out").rename(folder / "out")


def _stopped(words: list[str], folder: str, event: str, at: int) -> None:
    """Run a command that gets SIGINT at a statement, before or after it, or at a line after the last commit."""
    os.chdir(folder)
    for number, name in ((1, "out.txt"), (2, "said.txt")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    from takifugu.cli import main

    seen, committed = list[str](), False

    def count(frame: FrameType) -> None:
        seen.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        if len(seen) == at:
            sys.settrace(None)
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

    def traced(frame: FrameType, kind: str, _: Any) -> Any:
        if not any(place in frame.f_code.co_filename for place in PLACES):
            return None
        if kind == "line" and committed:
            count(frame)
        return traced

    def profiled(frame: FrameType, kind: str, called: Any) -> None:
        nonlocal committed
        name = getattr(called, "__name__", "")
        if kind == event and name in STATEMENTS and isinstance(called.__self__, sqlite3.Connection | sqlite3.Cursor):
            count(frame)
        if kind == "c_return" and name == "commit":
            committed = True

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
    """Return a ledger's events and what describes it; None where there is no ledger."""
    if not ledger.exists():
        return None
    content = dump(ledger)
    return content["events"] + content["meta"]


def places_seen(folder: Path) -> list[str]:
    """Return where in the code each statement, or line, was that a command came to."""
    return (folder / "seen.txt").read_text().splitlines()


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
    assert code == 130, (event, at, said)
    assert "Traceback" not in said
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
    if name != "init":
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
    assert sum(map(len, times.values())) > 40 or (event == "line" and name not in WRITING)
    stops = {at[0] for at in times.values()}
    if name in WRITING:
        stops |= {at for every in times.values() for at in (every[len(every) // 2], every[-1])}
    for at in sorted(stops):
        assert check_said(tmp_path / "tried", prepared, words, event, at), at


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
    assert not [path for path in held if str(tmp_path / "ledger.db") in path]
    assert json.loads(json.dumps(Ledger.open(tmp_path / "ledger.db").check())) == []


def _leads(name: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{name}")


def test_a_command_done_is_not_stopped_by_who_reads_no_more(tmp_path: Path) -> None:
    made(tmp_path)
    for name in COMMANDS.keys() - {"resume", "adopt"}:
        assert in_a_child(_unread, ["ledger", name, *COMMANDS[name]], str(tmp_path)) == 0, name
        assert (tmp_path / "said.txt").read_text() == "", name
    before = what_of(tmp_path / "l.db")
    assert in_a_child(_unread, ["ledger", "adopt", *COMMANDS["adopt"]], str(tmp_path)) == 2  # it prints first
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
    """A pipe would be waited for without end, a view computed, and the missing end of a page read as zeros."""
    made(tmp_path)
    os.mkfifo(tmp_path / "pipe.db")
    shutil.copy(tmp_path / "l.db", tmp_path / "beside.db")
    os.mkfifo(tmp_path / "beside.db-wal")
    (tmp_path / "short.db").write_bytes((tmp_path / "l.db").read_bytes()[:-3000])
    endless = "with recursive c(x) as (select 1 union all select x + 1 from c) select max(x) as version from c"
    with closing(sqlite3.connect(tmp_path / "view.db")) as connection:
        connection.execute(f"create view meta as {endless}")
    for name, words in {
        "pipe": "is a device or a pipe", "beside": "is a folder, a link, a device or a pipe", "short": "is damaged",
        "view": "is not a ledger",
    }.items():  # fmt: skip
        for command in ("show", "check", "upgrade"):
            assert words in ended(2, "ledger", command, tmp_path / f"{name}.db").stderr, (name, command)

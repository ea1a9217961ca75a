"""Ctrl-C and SIGTERM wherever they come: the exit code is theirs, and nothing calls them a fault.

Signals come while a child calls functions of modules that are loaded and of classes that are made: Python 3.11 turns
what `__set_name__` raises into an error of its own, and so do pydantic and DuckDB.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, succeed
from tests.support.failing import raising
from tests.support.terminals import PLACE

import takifugu as tf
from takifugu.cli import terminal
from takifugu.core.errors import Fault, InputError
from takifugu.core.text.tables import fitting
from takifugu.core.tracebacks import without_data
from takifugu.releasing.publishing import run

#: A child that gets a signal at its n-th call of functions whose file and name hold a word.
CHILD = """
import os, sys
from takifugu.cli import main
number, at, word = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
calls = 0
def called(frame, event, _):
    global calls
    if event == "call" and word in f"{frame.f_code.co_filename}:{frame.f_code.co_name}":
        calls += 1
        if calls == at:
            sys.setprofile(None)
            os.kill(os.getpid(), number)
sys.setprofile(called)
main(sys.argv[4:], prog_name="takifugu")
"""
#: Where a signal comes. The first is the very start, when nothing of the command has run.
PLACES = [("/enum.py", 1), ("functools.py:__set_name__", 5), ("functools.py:__set_name__", 40), ("pydantic", 3000)]
MORE = [(word, at) for word in ("__set_name__", "pydantic", "/takifugu/") for at in range(10, 300, 37)]


def check_ended(folder: Path, number: signal.Signals, word: str, at: int) -> None:
    words = [str(int(number)), str(at), word, "release", str(folder / "release.toml"), "--json"]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *words], env=PLACE, capture_output=True, text=True, timeout=120, check=False
    )
    assert child.returncode in (128 + number, -number), (word, at, child.stderr)
    assert "a fault of" not in child.stderr
    if child.returncode > 0:
        assert "Traceback" not in child.stderr
    if child.stdout:
        error = json.loads(child.stdout)["error"]
        assert (error["kind"], error["exit_code"], error["state"]) == ("Stopped", 128 + number, "nothing happened")
    assert not (folder / "ledger.db").exists()


@pytest.mark.sampled(11)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("word", "at"), PLACES)
def test_a_signal_ends_a_command_with_its_code(tmp_path: Path, number: signal.Signals, word: str, at: int) -> None:
    files.write(tmp_path)
    check_ended(tmp_path, number, word, at)


@pytest.mark.slow
@pytest.mark.parametrize(("word", "at"), MORE)
def test_a_signal_at_any_call_ends_a_command_with_its_code(tmp_path: Path, word: str, at: int) -> None:
    files.write(tmp_path)
    check_ended(tmp_path, signal.SIGINT if at % 2 else signal.SIGTERM, word, at)


def test_no_handler_is_left_and_those_of_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(_: int, __: FrameType | None) -> None: ...

    during: list[Any] = []
    monkeypatch.setattr("takifugu.cli.examples.example", lambda **_: during.append(signal.getsignal(signal.SIGTERM)))
    for handler in (signal.SIG_DFL, signal.SIG_IGN, mine):
        before = signal.signal(signal.SIGTERM, handler)
        try:
            succeed("example")
            assert signal.getsignal(signal.SIGTERM) is handler
        finally:
            signal.signal(signal.SIGTERM, before)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert during == [terminal._note, signal.SIG_IGN, mine]


@pytest.mark.mutants
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_after_the_end_of_a_command_changes_nothing_that_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """It once said Aborted!, and nothing of what was published."""

    @contextmanager
    def left(columns: int) -> Iterator[None]:
        with fitting(columns):
            yield
        signal.raise_signal(number)

    monkeypatch.setattr("takifugu.cli.group.fitting", left)
    outcome = succeed("release", str(files.write(tmp_path)))
    assert "Aborted" not in outcome.stderr
    assert "Published" in outcome.stdout
    refusal = ended(128 + number, "release", str(tmp_path / "none.toml"))
    assert "Aborted" not in refusal.stderr
    assert "none.toml" in refusal.stderr


def test_a_signal_before_a_command_is_told_with_a_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wide() -> int:
        signal.raise_signal(signal.SIGINT)
        return 80

    monkeypatch.setattr("takifugu.cli.group.columns", wide)
    outcome = ended(130, "release", str(files.write(tmp_path)), "--json")
    assert "Aborted" not in outcome.stderr
    assert json.loads(outcome.stdout)["error"]["state"] == "nothing happened"
    assert not (tmp_path / "ledger.db").exists()


def test_what_swallows_a_signal_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what a destructor raises, and goes on."""

    class Held:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    real = run.plan

    def planned(*args: Any) -> Any:
        held = Held()
        del held
        return real(*args)

    monkeypatch.setattr(run, "plan", planned)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    ended(130, "release", str(files.write(tmp_path)))
    assert not (tmp_path / "ledger.db").exists()


def test_no_memory_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "plan", raising(MemoryError()))
    outcome = ended(2, "release", str(files.write(tmp_path)))
    assert "there is not enough memory" in outcome.stderr


# The library.


def turned(error: BaseException) -> None:
    """Raise an error of another library for one that it has caught, as pydantic does."""
    try:
        raise error
    except BaseException as caught:
        raise RuntimeError("Error calling __set_name__") from caught


def test_an_interrupt_stays_one() -> None:
    guarded = without_data(turned)
    for stop in (KeyboardInterrupt(), SystemExit(143)):
        with pytest.raises(type(stop)):
            guarded(stop)
    with pytest.raises(Fault):
        guarded(ValueError())
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:  # of the caller, who deals with it
        with pytest.raises(Fault):
            guarded(ValueError())


def test_wrong_arguments_are_pythons_own_error() -> None:
    with pytest.raises(TypeError, match="ouput") as refusal:
        tf.release_file("f.toml", ouput="x")  # type: ignore[call-arg]
    assert not isinstance(refusal.value, Fault)
    with pytest.raises(TypeError, match="missing"):
        tf.release_file()  # type: ignore[call-arg]
    with pytest.raises(InputError):  # a rule of ours, and not a call
        tf.release_file("f.toml", replace="x")

    @without_data
    def broken() -> int:
        return len(5)  # type: ignore[arg-type]

    with pytest.raises(Fault):
        broken()

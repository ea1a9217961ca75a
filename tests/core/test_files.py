"""Folders of private rows go when their process goes: at an exit, at SIGTERM, and, after SIGKILL, at the next start."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from takifugu.core import files

HOLDS = (
    "import time; from takifugu.core import files; folder = files.private_folder(); print(folder.name, flush=True); "
)
COMMAND = (
    "import time\nfrom takifugu.cli import main, starting\nfrom takifugu.core import files\n"
    "def wait(**options):\n    folder = files.private_folder()\n    print(folder.name, flush=True)\n"
    "    time.sleep(600)\n"
    "starting.keys = wait\nmain(['keys'])\n"
)


@pytest.fixture(autouse=True)
def private_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def started(code: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def aged(folder: Path) -> Path:
    os.utime(folder, (time.time() - 1000,) * 2)
    return folder


@pytest.mark.mutants
def test_sigterm_at_the_command_line_removes_the_folder() -> None:
    process, folder = started(COMMAND)
    assert folder.is_dir()
    process.send_signal(signal.SIGTERM)
    assert process.wait(600) == 128 + signal.SIGTERM
    assert not folder.exists()


def test_the_next_start_removes_what_was_left_and_nothing_else(tmp_path: Path) -> None:
    killed, left = started(HOLDS + "time.sleep(600)")
    living, held = started(HOLDS + "time.sleep(600)")
    killed.kill()
    killed.wait()
    (aged(left) / "rows.tmp").write_text("private")
    aged(left)
    aged(held)
    others = tmp_path / "takifugu-row"
    others.mkdir()
    aged(others)
    link = tmp_path / f"{files.PREFIX}link"
    link.symlink_to(others)
    os.utime(link, (0, 0), follow_symlinks=False)
    later, new = started(HOLDS + "time.sleep(600)")
    assert new.is_dir()
    assert not left.exists()
    assert held.is_dir()
    assert others.is_dir()
    for process in (living, later):
        process.terminate()
        process.wait()


def test_a_folder_that_was_just_made_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / f"{files.PREFIX}young"
    young.mkdir()
    files.remove_left_folders()
    assert young.is_dir()
    aged(young)
    files.remove_left_folders()
    assert not young.exists()

"""What runs without anybody: the line of the crontab, the hook of pre-commit, and the recipes that are not run here."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import ended, succeed

from takifugu.accounting.ledger import Ledger
from takifugu.cli import main
from takifugu.cli.group import BAD_INPUT, DONE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "by-itself.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the first block of the page in a language."""
    return re.search(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    """The folder of the page, and programs beside it: takifugu, and a clock that stands still."""
    folder, programs = tmp_path / "ward", tmp_path / "bin"
    for made in (folder, programs):
        made.mkdir()
    name, text = re.split(r"\n", block("toml"), maxsplit=1)
    (folder / name.removeprefix("# ")).write_text(text, encoding="utf-8")
    exec(block("python").replace('"ward.csv"', repr(str(folder / "ward.csv"))), {})
    scripts = {
        "takifugu": f'exec {shlex.quote(sys.executable)} -m takifugu "$@"',
        "date": '[ "$*" = "-d last week +%G-W%V" ] && echo 2026-W02',
    }
    for script, line in scripts.items():
        (programs / script).write_text(f"#!/bin/sh\n{line}\n")
        (programs / script).chmod(0o755)
    return folder


@pytest.mark.slow
def test_the_line_of_the_crontab_pays_once_however_often_it_runs(ward: Path) -> None:
    *times, command = block("crontab").split(maxsplit=5)
    assert len(times) == 5
    command = command.replace("\\%", "%").replace("/srv/ward", shlex.quote(str(ward)))
    place = {**os.environ, "PATH": f"{ward.parent / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    published = []
    for _ in range(2):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=place)
        assert done.returncode == DONE, done.stderr
        published.append((ward / "ward-published" / "busy-2026-W02.csv").read_bytes())
    assert "already published" in done.stdout
    assert published[0] == published[1]
    assert len(Ledger.open(ward / "ward-ledger.db").payments("ward-3")) == 1


def hook() -> dict[str, str]:
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").splitlines()
    pairs = (line.removeprefix("- ").strip().split(": ", 1) for line in lines)
    return {key: value.strip() for key, value in pairs}


def test_the_hook_checks_the_files_that_it_is_given(ward: Path) -> None:
    program, *words = shlex.split(hook()["entry"])
    assert (program, hook()["id"], hook()["language"]) == ("takifugu", "takifugu-check", "python")
    assert hook()["id"] in block("yaml")
    good, odd = ward / "release.toml", ward / "odd-release.toml"
    text = (ward / "ward.toml").read_text(encoding="utf-8")
    good.write_text(text, encoding="utf-8")
    odd.write_text(text.replace("[[0.9, 0.1]", "[[0.9, 0.2]"), encoding="utf-8")
    (ward / "ward.csv").unlink()
    succeed(*words, good)
    assert f"{odd}: belief.matrix" in ended(BAD_INPUT, *words, good, odd).stderr


def test_the_hook_is_given_release_files_alone() -> None:
    chosen = re.compile(hook()["files"])
    assert all(chosen.search(path) for path in ("release.toml", "ward/release.toml", "ward/busy-release.toml"))
    assert not any(chosen.search(path) for path in ("pyproject.toml", "prerelease.toml", "release.toml.bak"))


@pytest.mark.parametrize("name", ["check.yml", "Dockerfile"])
def test_a_recipe_says_that_it_is_not_run_here(name: str) -> None:
    """And each `takifugu` command in it exists, with its options."""
    text = (ROOT / "examples" / "by-itself" / name).read_text(encoding="utf-8")
    assert text.startswith("# Not run here: ")
    assert f"examples/by-itself/{name}" in PAGE
    commands = re.findall(r"(?:^#.* |run: )takifugu ((?:check|release)\b[^#\n]*)", text, re.MULTILINE)
    assert commands
    for words in commands:
        name, *rest = words.split()
        options = {option for parameter in main.commands[name].params for option in parameter.opts}
        assert {word for word in rest if word.startswith("-")} <= options

"""The first ten lines of every command can be read by somebody who has read no page.

What these lines may not have stands further below, or is printed with `--all`.
"""

import re
import shutil
from pathlib import Path

import pytest
from tests.support.commands import all_commands, invoke

EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = Path(__file__).parents[1] / "printed" / "expected" / "demo.txt"
LINES = 10
WORDS = re.compile(
    r"compos(es?|ing|ition)\b|stationary|\bgrid\b|\bL1\b|influence|quilt|wasserstein|sensitivity",
    re.IGNORECASE,
)
#: Of a release file, of a ledger, and of neither.
ABOUT_FILES = (
    "check", "compare", "calibrate", "advise", "plan", "explain", "beliefs", "audit", "release --dry-run", "release",
)  # fmt: skip
ABOUT_LEDGERS = ("show", "history", "check", "resume", "upgrade")
ALONE = ("beliefs", "explain --epsilon 2", "keys", "example", "reproduce")
#: Commands that are tried in words of their own: what they print is a file, or a browser opens.
OTHERS = (
    "schema", "open", "init", "certificate show", "ledger init", "ledger budget", "ledger adopt", "ledger merge", "ask",
    "demo",
)  # fmt: skip


def strange(text: str) -> list[str]:
    return [match[0] for match in WORDS.finditer("\n".join(text.strip().splitlines()[:LINES]))]


def test_no_command_is_forgotten() -> None:
    named = {one.split(" --")[0] for one in (*ABOUT_FILES, *ALONE, *OTHERS)}
    assert {" ".join(path) for path in all_commands()} == named | {f"ledger {one}" for one in ABOUT_LEDGERS}


@pytest.mark.parametrize("name", [
    "survey",
    *(pytest.param(name, marks=pytest.mark.slow) for name in
      ("activity", "activity-two-tables", "calls", "city", "households", "network", "people", "school", "ward")),
])  # fmt: skip
def test_of_the_first_page_and_the_gallery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for path in EXAMPLES.glob("*"):
        if path.is_file():
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in ABOUT_FILES:
        outcome = invoke(*command.split(), f"{name}.toml")
        assert not strange(outcome.output), f"{command}: {outcome.output}"
    (ledger,), folder = tmp_path.glob("*.db"), tmp_path / f"{name}-published"
    for command in ABOUT_LEDGERS:
        assert not strange(invoke("ledger", command, ledger).output), command
    for certificate in folder.glob("*.certificate.json"):
        assert not strange(invoke("certificate", "show", certificate).output), certificate
    more = [("budget", ledger, "boilers", "9"), ("adopt", ledger, folder), ("merge", ledger, ledger), ("init", ledger)]
    assert not [one for one in more if strange(invoke("ledger", *one).output)]


def test_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXAMPLES.glob("venues.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in ((), ("library", "cinema"), ("--end",), ("library",)):
        assert not strange(invoke("ask", "venues.toml", *words).output), words


@pytest.mark.parametrize("command", ALONE)
def test_of_commands_about_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert not strange(invoke(*command.split()).output), command


def test_of_the_demo_as_it_is_printed() -> None:
    assert not strange(PRINTED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("table", ["households.csv", "answers.csv", "calls.csv", "meetings.csv"])
def test_of_a_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    shutil.copy(EXAMPLES / table, tmp_path)
    monkeypatch.chdir(tmp_path)
    for more in ((), ("--yes",)):
        assert not strange(invoke("init", table, *more).output), table


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_of_its_help(command: tuple[str, ...]) -> None:
    assert not strange(invoke(*command, "--help").output), command

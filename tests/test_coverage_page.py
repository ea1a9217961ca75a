"""docs/coverage.md: every row of it leads somewhere, its commands run, and what has none says why."""

import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from takifugu.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")
]
ROWS = [row for row in ROWS if row[0] != "item"]
COMMANDS = sorted({row[2].strip("`") for row in ROWS if row[2].startswith("`")})
#: How many of each kind the papers number, counted in their texts.
FIGURES = {"Song17": 4, "Ding22": 5, "Zhang22": 1, "Kawamoto19": 1, "Takagi21": 6}


def invoke(*words: str) -> str:
    result = CliRunner().invoke(main, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@cache
def experiments() -> str:
    return invoke("reproduce")


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_leads_to_code_and_says_why_nothing_shows_it(row: list[str]) -> None:
    item, where, command, difference = row
    assert item
    assert difference
    for text in (where, command):
        assert not re.search(r"Python only|not built(?!, for)", text)
        if not text.startswith(("`", "[")):
            assert re.fullmatch(r"none: .{10,}", text)
    for path in re.findall(r"`([\w/]+\.py)`", where):
        folder = ROOT if path.startswith("experiments/") else ROOT / "src" / "takifugu"
        assert (folder / path).is_file(), path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, verb, *words = command.split()
    assert name == "takifugu"
    if verb == "reproduce":  # its own tests run it
        assert re.search(rf"^{words[0]} ", experiments(), re.M)
        return
    monkeypatch.chdir(tmp_path)
    invoke("example", Path(words[-1]).stem)
    invoke(verb, *words)


@pytest.mark.parametrize("paper", sorted(FIGURES))
def test_every_figure_of_a_paper_is_listed(paper: str) -> None:
    section = PAGE.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    numbers = {n for text in re.findall(r"^\| .*?Figures? ([\d, ]+)", section, re.M) for n in re.findall(r"\d+", text)}
    assert numbers == {str(n) for n in range(1, FIGURES[paper] + 1)}

"""docs/coverage.md: every row of it leads somewhere, its commands run, and what has none says why."""

import re
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.test_repository import anchors

import takifugu as tf
from takifugu.calibration.registry import REGISTRY, find
from takifugu.cli import main
from takifugu.model.beliefs import SECTIONS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")
]
ROWS = [row for row in ROWS if row[0] != "item"]
#: What shows an item: a command of takifugu, and the line that its file lacks, "" for none.
COMMAND = re.compile(r"`(takifugu [^`]+)`(?:, with `([^`]+)` for its table)?")
COMMANDS = sorted({match.groups(default="") for row in ROWS if (match := COMMAND.fullmatch(row[2]))})
#: The mechanisms of each module.
MECHANISMS: dict[str, set[str]] = {}
for line_of_registry in REGISTRY:
    if isinstance(line_of_registry.place, str):
        module = line_of_registry.place.partition(":")[0].replace(".", "/")
        MECHANISMS.setdefault(f"mechanisms/{module}.py", set()).add(line_of_registry.name)
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
    assert COMMAND.fullmatch(command) or command.startswith("none: ")
    for path in re.findall(r"`([\w/]+\.py)`", where):
        folder = ROOT if path.startswith("experiments/") else ROOT / "src" / "takifugu"
        assert (folder / path).is_file(), path
    for page, section in re.findall(r"\]\(([\w/-]+\.md)(?:#([\w-]+))?\)", " ".join(row)):
        assert not section or section in anchors(ROOT / "docs" / page), f"{page}#{section}"


@pytest.mark.parametrize("row", [row for row in ROWS if row[2].startswith("none: ")], ids=lambda row: row[0])
def test_what_is_named_in_place_of_a_command_exists(row: list[str]) -> None:
    for name in re.findall(r'mechanism = "([\w-]+)"', row[2]):
        assert find(name)
    for kind in re.findall(r'kind = "([\w-]+)"', row[2]):
        assert kind in SECTIONS
    for name in re.findall(r"`tf\.(\w+)`", row[2]):
        assert hasattr(tf, name)


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("command", "line"), COMMANDS)
def test_a_command_runs_and_names_its_mechanism(
    command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, verb, *words = command.split()
    assert name == "takifugu"
    if verb == "reproduce":  # its own tests run it
        assert re.search(rf"^{words[0]} ", experiments(), re.M)
        return
    monkeypatch.chdir(tmp_path)
    invoke("example", Path(words[-1]).stem)
    if line:
        file = tmp_path / words[-1]
        file.write_text(f"{file.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    output = invoke(verb, *words)
    applies = output.partition("does not apply:")[0]
    for row in ROWS:
        match = COMMAND.fullmatch(row[2])
        if match is None or match.groups(default="") != (command, line):
            continue
        names = [n for path in re.findall(r"`([\w/]+\.py)`", row[1]) for n in MECHANISMS.get(path, ())]
        assert not names or any(re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", applies) for n in names), row[0]


@pytest.mark.parametrize("paper", sorted(FIGURES))
def test_every_figure_of_a_paper_is_listed(paper: str) -> None:
    section = PAGE.partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    numbers = {n for text in re.findall(r"^\| .*?Figures? ([\d, ]+)", section, re.M) for n in re.findall(r"\d+", text)}
    assert numbers == {str(n) for n in range(1, FIGURES[paper] + 1)}

"""docs/coverage.md and docs/theory/index.md: every row leads somewhere: to code, proofs, tests, commands that run."""

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
def test_commands_name_a_mechanism(command: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


PAGES = ROOT / "docs" / "theory"
LABEL = re.compile(r"^(?:[>*] )?\*\*((?:Theorem|Lemma|Claim|Corollary|Rule|Facts)(?: \d+| [A-Z])?)\b[^*]*\*\*", re.M)
CITATION = re.compile(r"[A-Z][^|]*\b(?:19|20)\d\d\b")


def rows(text: str) -> list[list[str]]:
    table = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| statement")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


STATEMENTS = rows((PAGES / "index.md").read_text(encoding="utf-8"))


def faults(row: list[str]) -> list[str]:
    """Return what is wrong with a row."""
    if len(row) != 5 or not all(row):
        return ["not five cells"]
    _, proof, code, held_by, _ = row
    wrong = []
    link = re.fullmatch(r"\[[^]]+\]\(([\w-]+\.md)#([\w-]+)\)", proof)
    if link and link[2] not in anchors(PAGES / link[1]):
        wrong.append(f"no section {link[1]}#{link[2]}")
    if not link and proof != "*open*" and not CITATION.match(proof):
        wrong.append("neither a proof, nor a citation, nor open")
    if not (ROOT / "src" / "takifugu" / code.strip("`")).is_file():
        wrong.append(f"no module {code}")
    path, _, test = held_by.strip("`").partition("::")
    if not (ROOT / path).exists() or (test and f"def {test}(" not in (ROOT / path).read_text(encoding="utf-8")):
        wrong.append(f"no test {held_by}")
    return wrong


@pytest.mark.parametrize("row", STATEMENTS, ids=[row[0] for row in STATEMENTS])
def test_a_row_leads_to_a_proof_to_code_and_to_a_test(row: list[str]) -> None:
    assert not faults(row)


def test_every_theorem_of_a_page_is_listed() -> None:
    listed = {
        tuple(link)
        for link in re.findall(r"\[[^],]+, ([^]]+)\]\(([\w-]+\.md)#", (PAGES / "index.md").read_text(encoding="utf-8"))
    }
    labels = {
        (label, page.name) for page in PAGES.glob("*.md") for label in LABEL.findall(page.read_text(encoding="utf-8"))
    }
    assert len(labels) > 60
    assert not sorted(labels - listed)


def test_a_row_can_be_wrong() -> None:
    good = STATEMENTS[0]
    for place, cell in (
        (1, "obvious"),
        (1, "[x, Theorem 1](influence.md#nowhere)"),
        (2, "`none.py`"),
        (3, "`tests/none.py`"),
        (4, ""),
    ):
        assert faults([*good[:place], cell, *good[place + 1 :]])
    assert faults([*good[:3], good[3].replace("::", "::no_"), good[4]])


NUMBER = r"[ENX]\d+[a-d]?"


def without_a_block(text: str) -> list[str]:
    """Return the errata of a page's table that no paragraph runs: one that names them, and a block after it."""
    table = re.findall(rf"^\| ({NUMBER}) \|", text, re.M)
    heads = re.findall(rf"^({NUMBER}(?: and {NUMBER})*): [^`]*(?:`[^`\n]+`[^`]*)*```python$", text, re.M)
    headed = {number for head in heads for number in re.findall(NUMBER, head)}
    return [number for number in table if number not in headed]


def test_every_erratum_runs() -> None:
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^\| {NUMBER} \|", text, re.M)) >= 39
    assert not without_a_block(text)
    assert without_a_block(text.replace("E8c: covariances", "Covariances")) == ["E8c"]

"""docs/coverage.md and docs/theory/index.md: every row leads somewhere: to code, proofs, tests, commands that run."""

import ast
import re
import subprocess
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
#: What shows an item: a command of takifugu, lines that its file lacks, and the keys that they stand in place of.
SPANS = "`[^`]+`(?: and `[^`]+`)*"
COMMAND = re.compile(rf"`(takifugu [^`]+)`(?:, with ({SPANS}) (?:for its table|in place of ({SPANS})))?")
COMMANDS = sorted({match.groups(default="") for row in ROWS if (match := COMMAND.fullmatch(row[2]))})
#: The mechanisms of each module.
MECHANISMS: dict[str, set[str]] = {}
for line_of_registry in REGISTRY:
    if isinstance(line_of_registry.place, str):
        module = line_of_registry.place.partition(":")[0].replace(".", "/")
        MECHANISMS.setdefault(f"mechanisms/{module}.py", set()).add(line_of_registry.name)
#: How many of each kind the papers number, counted in their texts.
FIGURES = {"Song17": 4, "Ding22": 5, "Zhang22": 1, "Kawamoto19": 1, "Takagi21": 6}


def is_module(path: str) -> bool:
    """Whether a file of experiments/ or of the package exists."""
    return ((ROOT if path.startswith("experiments/") else ROOT / "src" / "takifugu") / path).is_file()


def invoke(*words: str) -> str:
    result = CliRunner().invoke(main, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@cache
def experiments() -> str:
    return invoke("reproduce")


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_leads_to_code_and_says_why_nothing_shows_it(row: list[str]) -> None:
    item, where, command, shows, difference = row
    assert item
    assert difference
    for text in (where, command):
        assert not re.search(r"Python only|not built(?!, for)", text)
        if not text.startswith(("`", "[")):
            assert re.fullmatch(r"none: .{10,}", text)
    assert COMMAND.fullmatch(command) or command.startswith("none: ")
    assert shows == "–" if command.startswith("none: ") else re.fullmatch("`[^`]+`", shows)
    for path in re.findall(r"`([\w/]+\.py)`", where):
        assert is_module(path), path
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


def edited(text: str, lines: str, keys: str) -> str:
    """Return a release file with lines at its end, or in place of those of some keys."""
    new = "\n".join(re.findall("`([^`]+)`", lines))
    for key in re.findall(r"`(\w+)`", keys):
        text, times = re.subn(rf"^{key} = .*\n", f"{new}\n" if new else "", text, flags=re.MULTILINE)
        assert times == 1, f"{key} stands there {times} times"
        new = ""
    return f"{text}\n{new}\n" if new else text


def is_printed(words: str, output: str) -> bool:
    """Whether an output has the words; of a mechanism, as one that may be used there."""
    if words not in {line.name for line in REGISTRY}:
        return " ".join(words.split()) in " ".join(output.split())
    applies = output.partition("does not apply:")[0]
    of_it = re.findall(rf"^.*(?<![\w-]){re.escape(words)}(?![\w-]).*$", applies, re.MULTILINE)
    return bool(of_it) and not any("refused by default" in line for line in of_it)


@pytest.mark.parametrize("row", [row for row in ROWS if " reproduce " in row[2]], ids=lambda row: row[0])
def test_a_page_that_is_reproduced_shows_its_item(row: list[str]) -> None:
    """The command writes the page that lies in docs/, and its own tests run it."""
    target = row[2].strip("`").split()[2]
    assert re.search(rf"^{target} ", experiments(), re.M)
    assert is_printed(row[3].strip("`"), (ROOT / "docs" / f"{target}.md").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("command", "lines", "keys"), [c for c in COMMANDS if " reproduce " not in c[0]])
def test_commands_show_their_items(
    command: str, lines: str, keys: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, verb, *words = command.split()
    assert name == "takifugu"
    monkeypatch.chdir(tmp_path)
    invoke("example", Path(words[-1]).stem)
    if lines:
        file = tmp_path / words[-1]
        file.write_text(edited(file.read_text(encoding="utf-8"), lines, keys), encoding="utf-8")
    output = invoke(verb, *words)
    written = [path.read_text(encoding="utf-8") for path in sorted(tmp_path.rglob("*.certificate.json"))]
    for row in ROWS:
        match = COMMAND.fullmatch(row[2])
        if match is None or match.groups(default="") != (command, lines, keys):
            continue
        names = [n for path in re.findall(r"`([\w/]+\.py)`", row[1]) for n in MECHANISMS.get(path, ())]
        assert not names or any(is_printed(n, output) for n in names), row[0]
        assert is_printed(row[3].strip("`"), "\n".join([output, *written])), f"{row[0]}: {row[3]} is not in\n{output}"


def test_an_item_that_is_not_shown_is_noticed() -> None:
    output = "group 1 chosen\nquilt-exact  0  refused by default\ndoes not apply:\n  tupling\nTheorem 1,\n  by values"
    assert is_printed("group", output)
    assert is_printed("Theorem 1, by values", output)
    assert not any(is_printed(words, output) for words in ("quilt-exact", "tupling", "Theorem 2"))
    assert edited("a = 1\nb = 2\n", "`c = 3` and `d = 4`", "`b`") == "a = 1\nc = 3\nd = 4\n"
    assert edited("a = 1\nb = 2\n", "`c = 3`", "`b` and `a`") == "c = 3\n"
    assert edited("a = 1\n", "`c = 3`", "") == "a = 1\n\nc = 3\n"


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_was_made_at_a_commit_of_this_history(page: Path) -> None:
    stamps = re.findall(r"at commit ([0-9a-f]+)", page.read_text(encoding="utf-8"))
    answer = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if not stamps or answer.stdout.strip() != "false" or not (ROOT / ".git").exists():
        return  # no history lies here
    for stamp in stamps:
        command = ["git", "merge-base", "--is-ancestor", stamp, "HEAD"]
        assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0, stamp


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_the_command_of_a_page_makes_its_numbers_elsewhere_too(page: Path) -> None:
    """Where an experiment draws fewer points elsewhere, its page says `--all`."""
    text = page.read_text(encoding="utf-8")
    for target, more in re.findall(r"`takifugu reproduce (\w+)([^`]*)`", text):
        experiment = (ROOT / "experiments" / f"{target}.py").read_text(encoding="utf-8")
        if page.name != "coverage.md" and "IS_WHOLE else" in experiment:
            assert "--all" in more, f"takifugu reproduce {target}{more}"


def test_a_number_about_the_stars_says_for_which_rho() -> None:
    """The matrix of docs/theory/influence.md is that of the test which computes both numbers."""
    text = (ROOT / "docs" / "theory" / "influence.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"ρ of the rows (\(.*?) the stars give 0\.336", text, re.DOTALL)
    rows = [[float(x) for x in row.split(",")] for row in re.findall(r"\(([^)]*)\)", said)]
    source = (ROOT / "tests" / "influence" / "test_suprema.py").read_text(encoding="utf-8")
    (matrix,) = re.findall(r"^RHO = np\.array\((.*)\)$", source, re.MULTILINE)
    assert rows == ast.literal_eval(matrix)


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
    if not is_module(code.strip("`")):
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

"""tests/papers.toml and tests/theorems.toml: every entry leads to code, proofs, tests and commands that run."""

import re
import subprocess
import tomllib
from collections import Counter
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
ITEMS = {
    f"{paper}: {item['item']}": item
    for paper, items in tomllib.loads((ROOT / "tests" / "papers.toml").read_text(encoding="utf-8")).items()
    for item in items
}
PRINTED = {name: item for name, item in ITEMS.items() if "command" in item}
#: Pages with what experiments made.
MADE_PAGES = sorted([*(ROOT / "experiments").glob("*.md"), *(ROOT / "docs").glob("*.md")])
#: What shows an item: a command of takifugu, lines that its file lacks, and the keys that they stand in place of.
SPANS = "`[^`]+`(?: and `[^`]+`)*"
COMMAND = re.compile(rf"`(takifugu [^`]+)`(?:, with ({SPANS}) (?:for its table|in place of ({SPANS})))?")
COMMANDS = sorted(
    {match.groups(default="") for item in PRINTED.values() if (match := COMMAND.fullmatch(item["command"]))}
)
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


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_leads_to_code_and_says_why_nothing_shows_it(name: str) -> None:
    item = ITEMS[name]
    assert item["item"]
    assert item["difference"]
    assert not re.search(r"Python only|not built(?!, for)", item["where"])
    if "none" in item:
        assert set(item) == {"item", "where", "none", "difference"}
        assert len(item["none"]) >= 10
    else:
        assert set(item) == {"item", "where", "command", "shows", "difference"}
        assert COMMAND.fullmatch(item["command"])
    for path in re.findall(r"`([\w/]+\.py)`", item["where"]):
        assert is_module(path), path
    for page, section in re.findall(r"\]\(([\w/-]+\.md)(?:#([\w-]+))?\)", " ".join(item.values())):
        assert (ROOT / "docs" / page).is_file(), page
        assert not section or section in anchors(ROOT / "docs" / page), f"{page}#{section}"


@pytest.mark.parametrize("name", sorted(ITEMS.keys() - PRINTED.keys()))
def test_what_is_named_in_place_of_a_command_exists(name: str) -> None:
    reason = ITEMS[name]["none"]
    for mechanism in re.findall(r'mechanism = "([\w-]+)"', reason):
        assert find(mechanism)
    for kind in re.findall(r'kind = "([\w-]+)"', reason):
        assert kind in SECTIONS
    for public in re.findall(r"`tf\.(?:\w+\.)*(\w+)`", reason):
        assert hasattr(tf, public) or hasattr(tf.numbers, public)


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


@pytest.mark.parametrize("name", [name for name, item in PRINTED.items() if " reproduce " in item["command"]])
def test_a_page_that_is_reproduced_shows_its_item(name: str) -> None:
    """The command writes the page that is committed, and its own tests run it."""
    target = PRINTED[name]["command"].strip("`").split()[2]
    assert re.search(rf"^{target} ", experiments(), re.M)
    assert is_printed(PRINTED[name]["shows"], (ROOT / "experiments" / f"{target}.md").read_text(encoding="utf-8"))


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
    for name, item in PRINTED.items():
        match = COMMAND.fullmatch(item["command"])
        if match is None or match.groups(default="") != (command, lines, keys):
            continue
        names = [n for path in re.findall(r"`([\w/]+\.py)`", item["where"]) for n in MECHANISMS.get(path, ())]
        assert not names or any(is_printed(n, output) for n in names), name
        words = item["shows"]
        assert is_printed(words, "\n".join([output, *written])), f"{name}: {words} is not in\n{output}"


def test_an_item_that_is_not_shown_is_noticed() -> None:
    output = "group-dp 1 chosen\nquilt-exact 0  refused by default\ndoes not apply:\n  tupling\nTheorem 1,\n  by values"
    assert is_printed("group-dp", output)
    assert is_printed("Theorem 1, by values", output)
    assert not any(is_printed(words, output) for words in ("quilt-exact", "tupling", "Theorem 2"))
    assert edited("a = 1\nb = 2\n", "`c = 3` and `d = 4`", "`b`") == "a = 1\nc = 3\nd = 4\n"
    assert edited("a = 1\nb = 2\n", "`c = 3`", "`b` and `a`") == "c = 3\n"
    assert edited("a = 1\n", "`c = 3`", "") == "a = 1\n\nc = 3\n"


@pytest.mark.parametrize("page", MADE_PAGES, ids=lambda page: page.stem)
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


@pytest.mark.parametrize("page", MADE_PAGES, ids=lambda page: page.stem)
def test_the_command_of_a_page_makes_its_numbers_elsewhere_too(page: Path) -> None:
    """Where an experiment draws fewer points elsewhere, its page says `--all`."""
    text = page.read_text(encoding="utf-8")
    for target, more in re.findall(r"`takifugu reproduce (\w+)([^`]*)`", text):
        experiment = (ROOT / "experiments" / f"{target}.py").read_text(encoding="utf-8")
        if "IS_WHOLE else" in experiment:
            assert "--all" in more, f"takifugu reproduce {target}{more}"


@pytest.mark.parametrize("paper", sorted(FIGURES))
def test_every_figure_of_a_paper_is_listed(paper: str) -> None:
    names = [name for name in ITEMS if name.startswith(f"{paper}: ")]
    lists = [numbers for name in names for numbers in re.findall(r"Figures? ([\d, ]+)", name)]
    numbers = {number for text in lists for number in re.findall(r"\d+", text)}
    assert numbers == {str(n) for n in range(1, FIGURES[paper] + 1)}


PAGES = ROOT / "docs" / "theory"
LABEL = re.compile(r"^(?:[>*] )?\*\*((?:Theorem|Lemma|Claim|Corollary|Rule|Facts)(?: \d+| [A-Z])?)\b[^*]*\*\*", re.M)
CITATION = re.compile(r"[A-Z][^|]*\b(?:19|20)\d\d\b")


STATEMENTS = tomllib.loads((ROOT / "tests" / "theorems.toml").read_text(encoding="utf-8"))["statement"]


def faults(statement: dict[str, str]) -> list[str]:
    """Return what is wrong with a statement."""
    if set(statement) != {"claim", "proof", "code", "test", "without"} or not all(statement.values()):
        return ["not five keys"]
    proof, path_of_test = statement["proof"], statement["test"]
    wrong = []
    link = re.fullmatch(r"\[[^]]+\]\(([\w-]+\.md)#([\w-]+)\)", proof)
    if link and link[2] not in anchors(PAGES / link[1]):
        wrong.append(f"no section {link[1]}#{link[2]}")
    if not link and proof != "*open*" and not CITATION.match(proof):
        wrong.append("neither a proof, nor a citation, nor open")
    if not is_module(statement["code"]):
        wrong.append(f"no module {statement['code']}")
    path, _, test = path_of_test.partition("::")
    if not (ROOT / path).exists() or (test and f"def {test}(" not in (ROOT / path).read_text(encoding="utf-8")):
        wrong.append(f"no test {path_of_test}")
    return wrong


@pytest.mark.parametrize("statement", STATEMENTS, ids=[statement["claim"] for statement in STATEMENTS])
def test_a_statement_leads_to_a_proof_to_code_and_to_a_test(statement: dict[str, str]) -> None:
    assert not faults(statement)


def test_every_theorem_of_a_page_has_an_id_and_a_statement() -> None:
    linked = Counter(re.findall(r"\]\(([\w-]+\.md#[\w-]+)\)", " ".join(statement["proof"] for statement in STATEMENTS)))
    named = []
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        ids = re.findall(rf"^\{{#({page.stem}-[\w-]+)\}}$", text, re.M)
        assert len(ids) == len(LABEL.findall(text)), page.name
        named += [f"{page.name}#{name}" for name in ids]
    assert len(named) > 60
    assert set(linked.values()) == {1}
    assert set(linked) == set(named)


def test_a_statement_can_be_wrong() -> None:
    good = STATEMENTS[0]
    for key, words in (
        ("proof", "obvious"),
        ("proof", "[x, Theorem 1](influence.md#nowhere)"),
        ("code", "none.py"),
        ("test", "tests/none.py"),
        ("without", ""),
        ("test", good["test"].replace("::", "::no_")),
    ):
        assert faults({**good, key: words})


NUMBER = r"[ENX]\d+[a-d]?"


def without_a_block(table: str, runs: str) -> list[str]:
    """Return the errata of a table that no paragraph runs: one that names them, and a block after it."""
    numbers = re.findall(rf"^\| ({NUMBER}) \|", table, re.M)
    heads = re.findall(rf"^({NUMBER}(?: and {NUMBER})*): [^`]*(?:`[^`\n]+`[^`]*)*```python$", runs, re.M)
    headed = {number for head in heads for number in re.findall(NUMBER, head)}
    return [number for number in numbers if number not in headed]


def test_every_erratum_runs() -> None:
    table = (ROOT / "docs" / "reference" / "papers.md").read_text(encoding="utf-8")
    runs = (ROOT / "tests" / "errata.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^\| {NUMBER} \|", table, re.M)) >= 39
    assert not without_a_block(table, runs)
    assert without_a_block(table, runs.replace("E8c: covariances", "Covariances")) == ["E8c"]

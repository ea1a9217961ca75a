"""Rules of the repository itself: who imports whom, what is loaded when, what may be committed and is documented."""

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from sybil.document import Document
from tests.support import documents
from tests.support.sources import parsed
from tools import prose

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "takifugu").rglob("*.py"))
HEAVY = ("scipy.stats", "scipy.optimize", "mpmath", "pydantic", "pandas", "polars")


def run(*command: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)


def check_rooms(root: Path) -> subprocess.CompletedProcess[str]:
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    return run(sys.executable, "-c", lint, cwd=root, PYTHONPATH=str(root / "src"))


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(("room", "line"), [
    ("core/errors.py", "from takifugu.numbers import noise"),
    ("model/beliefs/chains/chain.py", "from takifugu.mechanisms import group_dp"),
    ("numbers/distributions/pmf.py", "from takifugu.numbers.normal import pair"),
    ("audit/exact.py", "from takifugu.mechanisms import group_dp"),
    ("numbers/distributions/pmf.py", "import pydantic"),
    ("an_unplaced_room.py", ""),
])  # fmt: skip
def test_an_import_against_the_order_is_found(tmp_path: Path, room: str, line: str) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "src" / "takifugu" / room).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    outcome = check_rooms(tmp_path)
    assert outcome.returncode != 0, outcome.stdout + outcome.stderr


def test_importing_takifugu_loads_nothing_heavy() -> None:
    """What help loads is asked in tests/cli/test_cli.py."""
    outcome = run(sys.executable, "-c", "import sys, takifugu\nprint(*sys.modules)", PYTHONPATH=str(ROOT / "src"))
    assert outcome.returncode == 0, outcome.stderr
    assert set(outcome.stdout.split()).isdisjoint(HEAVY)


def test_scipy_stats_is_never_imported() -> None:
    assert not [path for path, name in imports() if name.startswith("scipy.stats")]


@cache
def imports() -> list[tuple[Path, str]]:
    """Return every imported module of the sources that name chance or scipy, and every attribute chain (np.random)."""
    listed = []
    for path in SOURCES:
        if not re.search("random|scipy|uuid|InsecureSeeded", path.read_text(encoding="utf-8")):
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                listed += [(path, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                listed += [(path, f"{node.module}.{alias.name}") for alias in node.names]
            elif isinstance(node, ast.Attribute) and (chain := dotted(node)):
                listed.append((path, chain))
    return listed


def dotted(node: ast.expr) -> str:
    """Return a chain of attributes as it is written, "" for one that does not start at a name."""
    if isinstance(node, ast.Name):
        return node.id
    before = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{before}.{node.attr}" if before and isinstance(node, ast.Attribute) else ""


def test_only_the_noise_room_draws_randomness() -> None:
    sources_of_chance = re.compile(r"(np|numpy)\.random\b|random(\.|$)|scipy\.stats|os\.urandom|uuid\.uuid4")
    outside = [
        (path.relative_to(ROOT), name)
        for path, name in imports()
        if "noise" not in path.parts and not name.startswith("takifugu") and sources_of_chance.match(name)
    ]
    assert not outside


def test_nobody_but_tests_takes_the_seeded_entropy() -> None:
    users = {path for path, name in imports() if name.endswith("InsecureSeededEntropyForTests")}
    others = {path.name for path in users if path.parent.name not in ("noise", "samples")}
    assert others == {"rehearsing.py"}  # the demo's sample is the same everywhere; its noise never is

def test_no_release_is_a_rehearsal() -> None:
    """The two commands about made-up data import what draws from a seed, and nothing else does."""

    def users(module: str) -> set[str]:
        named = re.compile(rf"\w+(\.{module}\b| import {module}\b)")
        return {f"{path.parent.name}/{path.name}" for path in SOURCES if named.search(path.read_text(encoding="utf-8"))}

    assert users("rehearsing") == {"cli/rehearsing.py", "releasing/attacking.py", "cli/__init__.py"}
    assert users("attacking") == {"cli/attacking.py", "cli/__init__.py"}  # which starts both by name


def committed() -> list[Path]:
    listed = run("git", "ls-files", "-z")
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    return [p for folder in ("src", "tests", "docs", "examples") for p in (ROOT / folder).rglob("*") if p.is_file()]


#: The made-up data of the examples, drawn by examples/made_up.py; tests/test_examples.py draws them again.
MADE_UP = {
    f"examples/{name}"
    for name in (
        "activity.csv", "agents.csv", "answers.csv", "calls.csv", "census.csv", "city.csv", "clinic.bif",
        "exams.csv", "hours.csv", "households.csv", "last-year.csv", "meetings.csv", "others.csv", "patient.csv",
        "patients.csv", "people.csv", "places.csv", "rounds.csv", "states.csv", "street.csv", "venues.csv", "ward.csv",
        "real/adult-made-up.csv", "real/asia-made-up.bif", "real/contacts-made-up.csv", "real/patient.csv",
        "real/people.csv", "real/states.csv",
    )
}  # fmt: skip


def test_no_test_forks_by_itself() -> None:
    """A fork amid other threads may hang, and one that fails goes on as a second pytest: a helper sees to both."""
    support = ROOT / "tests" / "support"
    helpers = {support / "processes.py", support / "killed_calls.py", ROOT / "tests" / "hostile" / "server.py"}
    forks = re.compile(r"os\.fork\(|get_context\(.fork.\)")
    forking = [path for path in (ROOT / "tests").rglob("*.py") if forks.search(path.read_text(encoding="utf-8"))]
    assert set(forking) == helpers


#: Kinds of files that are written by hand or by a tool of ours. Any other is data.
WRITTEN = {
    ".c", ".cff", ".css", ".html", ".js", ".json", ".md", ".png", ".py", ".svg", ".toml", ".txt", ".typed", ".yaml",
    ".yml",
}  # fmt: skip
UNENDED = {".ci/run", ".gitignore", "LICENSE", "Makefile", "examples/by-itself/Dockerfile"}


def test_no_data_is_committed() -> None:
    """A ledger by the name of None once was: its name had no ending."""
    others = {p.relative_to(ROOT).as_posix() for p in committed() if p.suffix not in WRITTEN}
    assert others <= MADE_UP | UNENDED
    assert not [p for p in committed() if p.stat().st_size > 400_000]


def test_no_path_of_a_machine_is_committed() -> None:
    path = re.compile("(?<![\\w.])/" + r"(work|home|root|Users|opt)/\w+")
    kinds = {".py", ".md", ".toml", ".yml", ".svg"}
    texts = [p for p in committed() if p.suffix in kinds]
    assert not [p.relative_to(ROOT) for p in texts if path.search(p.read_text(encoding="utf-8", errors="ignore"))]


def test_nobody_is_called_he_or_she() -> None:
    """A reader, an owner and a person of the data may be anybody."""
    gendered = re.compile(r"\b(he|[Ss]he|[Hh]im|[Hh]is|[Hh]ers?|[Hh]imself|[Hh]erself)\b")  # He wrote papers
    shown = {".py", ".md", ".html", ".js", ".toml"}
    rooms = {"src", "docs", "examples"}
    written = [p for p in committed() if rooms & {*p.relative_to(ROOT).parts} and p.suffix in shown]
    places = [ROOT / "README.md", *(p for p in written if not p.name.endswith(".min.js"))]
    assert not [p.relative_to(ROOT) for p in places if gendered.search(p.read_text(encoding="utf-8"))]


def test_every_public_name_is_documented() -> None:
    takifugu = importlib.import_module("takifugu")
    for name in takifugu.__all__:
        thing = getattr(takifugu, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            text = inspect.getdoc(thing) or ""
            assert text.split("\n\n")[0].rstrip().endswith((".", ":")), f"{name} needs a sentence that says what it is"
            assert thing.__module__.startswith("takifugu"), name


def test_every_error_of_a_paper_that_the_code_cites_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "papers.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| ([ENX]\d+[a-d]?) \|", page, flags=re.MULTILINE))
    cited = re.compile(r"(?:ERRATA|errata) ([ENX]\d+[a-d]?(?:, [ENX]\d+[a-d]?)*)")
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    numbers = {
        number for text in texts for cited_numbers in cited.findall(text) for number in cited_numbers.split(", ")
    }
    assert numbers <= explained


#: What is made with the site.
MADE = {"explore.html", "check.html"}


def test_citation_and_pin_are_of_this_version() -> None:
    version = importlib.import_module("takifugu").__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    pinned = f"`takifugu=={version.rpartition('.')[0]}.*`"
    assert pinned in (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")


def test_make_describes_ten_tasks_and_names_every_other() -> None:
    outcome = run("make")
    assert outcome.returncode == 0
    tasks = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)) - {"help"}
    described = re.findall(r"make ([a-z-]+)", outcome.stdout)
    (others,) = re.findall(r"and (.*), by name", outcome.stdout)
    assert sorted(tasks) == sorted([*described, *others.split()])
    assert len(described) == 10
    assert {"demo", "test", "lint", "types", "bench", "docs"} <= {*described}


def test_every_page_is_in_the_navigation_and_every_link_leads_somewhere() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.name in navigation, page.name
    top = [ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md")]
    elsewhere = [*top, *(ROOT / "experiments").glob("*.md")]
    for page in [*elsewhere, *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8")):
            leads = (page.parent / target).resolve()
            assert leads.exists() or target in MADE, f"{page.name} links to {target}"
            on_the_site = page in elsewhere or leads.is_relative_to(ROOT / "docs")
            assert on_the_site, f"{page.name} links to {target}, which is not on the site"


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    named = re.findall(r"^\{#([\w-]+)\}$", text, flags=re.MULTILINE)
    return {*named, *(re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles)}


def test_every_section_that_is_cited_exists() -> None:
    cited = re.compile(r"(docs/[\w/-]+\.md)#([\w-]+)")
    for path in [*SOURCES, *(ROOT / "tests").rglob("*.py"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for page, anchor in cited.findall(path.read_text(encoding="utf-8")):
            assert anchor in anchors(ROOT / page), f"{path.name} cites {page}#{anchor}"
    for source in (ROOT / "docs").rglob("*.md"):
        for page, anchor in re.findall(r"\]\(([\w/.-]*\.md)?#([\w-]+)\)", source.read_text(encoding="utf-8")):
            target = source.parent / page if page else source
            assert anchor in anchors(target), f"{source.name} links to {page}#{anchor}"


def test_the_readme_of_a_package_index_has_no_link_that_leads_nowhere() -> None:
    from tools.index_readme import for_index

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    relative = r"\]\((?!https?:|#|mailto:)"
    assert re.search(relative, text)
    for urls in ({}, {"Source": "https://example.org/takifugu/"}):
        assert not re.search(relative, for_index(text, urls))
    assert "(https://example.org/takifugu/blob/main/docs/populations.md)" in for_index(text, urls)


# The documents' own runner must be able to fail.
def evaluate(text: str, tmp_path: Path) -> list[str | None]:
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    document = Document(text, str(path))
    for parser in documents.parsers():
        for region in parser(document):
            document.add(region)
    documents.enter(document.namespace)
    try:
        return [example.region.evaluator(example) for example in document.examples()]
    finally:
        documents.leave(document.namespace)


def test_documents_run_and_compare_what_they_print(tmp_path: Path) -> None:
    block = "```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
    assert evaluate(block.format(2), tmp_path) == [None, None]
    assert evaluate(block.format(3), tmp_path)[1] is not None


def test_dots_in_a_document_stand_for_any_lines_and_for_nothing_else() -> None:
    assert documents.differs("a\n...\nd", "a\nb\nc\nd\n") is None
    assert documents.differs("a\n...", "a\n") is None
    assert documents.differs("a\n...\nd", "a\nb\nc\n") is not None
    assert documents.differs("a\nd", "a\n...\nd") is not None


def test_documents_notice_a_block_that_raises_and_a_command_that_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        evaluate("```python\n1 / 0\n```\n", tmp_path)
    assert evaluate("```console\n$ takifugu no-such-command\n```\n", tmp_path)[0] is not None
    assert evaluate("```console\n$ rm something\n```\n", tmp_path)[0] is not None
    assert evaluate("```toml\nkey = 1\n```\n", tmp_path)[0] is not None


def test_documents_leave_directory_and_environment_as_they_were(tmp_path: Path) -> None:
    before = (os.getcwd(), dict(os.environ))
    evaluate("```python\nopen('left-behind', 'w').close()\n```\n", tmp_path)
    assert (os.getcwd(), dict(os.environ)) == before
    assert not (Path(before[0]) / "left-behind").exists()


@pytest.mark.slow
def test_the_tool_for_mutants_says_what_it_does() -> None:
    tool = [sys.executable, str(ROOT / "tools" / "mutants.py"), "--help"]
    finished = subprocess.run(tool, capture_output=True, text=True, check=True, timeout=600, cwd=ROOT)
    assert finished.stdout.startswith("Change the code in small wrong ways")


def test_every_reviewed_mutant_is_one_of_the_code() -> None:
    tools = {"PYTHONPATH": str(ROOT / "tools"), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", "import mutants; print(*mutants.reviewed_of_no_code(), sep='\\n')"]
    finished = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, env=tools)
    assert not finished.stdout.split("\n")[0]


def test_no_page_is_longer_than_its_budget() -> None:
    docs = ROOT / "docs"
    written = tomllib.loads((docs / "budgets.toml").read_text(encoding="utf-8"))
    budgets, longer = written["budget"], written["not-yet"]
    pages = {path.relative_to(docs).as_posix(): path for path in docs.rglob("*.md") if path.parent.name != "theory"}
    assert budgets.keys() | longer.keys() <= pages.keys()
    made = re.compile(r"<!-- made: (\w+) -->.*?<!-- end: \1 -->", re.DOTALL)  # what a tool wrote is nobody's prose
    words = {name: len(made.sub("", path.read_text(encoding="utf-8")).split()) for name, path in pages.items()}
    assert {name: n for name, n in words.items() if name not in longer and n > 1.1 * budgets.get(name, 1500)} == {}
    assert {name: words[name] for name, (most, _) in longer.items() if words[name] > most} == {}
    assert [name for name, (_, budget) in longer.items() if words[name] <= 1.1 * budget] == [], "a line too many"


def test_no_two_pages_say_the_same() -> None:
    """Of runs of eight words at most twenty are on both of any two pages, code and addresses left out."""
    runs = {}
    for path in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"<!-- made: (\w+) -->.*?<!-- end: \1 -->", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        text = re.sub(r"^(```|~~~).*?^\1\s*$|\]\([^)]*\)", "", text, flags=re.DOTALL | re.MULTILINE)
        words = re.findall(r"[\w']+", text.lower())
        runs[path] = {tuple(words[at : at + 8]) for at in range(len(words) - 7)}
    assert [(a.name, b.name) for a, b in combinations(runs, 2) if len(runs[a] & runs[b]) > 20] == []


def test_pages_keep_the_limits_of_prose() -> None:
    found = {name: prose.measures(some) for name, some in prose.every_page().items() if some}
    assert list(prose.faults(found)) == []


def test_the_report_about_prose_leaves_out_what_is_none() -> None:
    page = "# A title\n\nIt is short. Whose is it?\n\n```python\nprint('Not prose.')\n```\n\n| a | table of words |\n"
    assert prose.sentences(page) == ["It is short.", "Whose is it?"]
    assert str(prose.measures(prose.sentences(page))) == "mean  3.0  95 %  3  over 30  0.0 %  clauses 50.0 %  terms 0"
    assert prose.measures(["`law` is no law here."]).banned == 1


def test_each_limit_of_prose_fails_a_page() -> None:
    for measures in ((15.1, 28, 3, 5), (15, 29, 3, 5), (15, 28, 3.1, 5), (15, 28, 3, 5.1), (15, 28, 3, 5, 1)):
        assert len(list(prose.faults({"page.md": prose.Measures(*measures)}))) == 1
    assert list(prose.faults({"page.md": prose.LIMITS})) == []

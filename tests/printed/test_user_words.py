"""What users read keeps to the words of docs/glossary.md: row or step, not entry; person, not unit; composes: yes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.sources import parsed

import takifugu

ROOT = Path(__file__).parents[2]
SOURCES = sorted(Path(takifugu.__file__).parent.rglob("*.py"))
EXPECTED = sorted((Path(__file__).parent / "expected").rglob("*.txt"))
#: The mechanism of this name, as a row of a table or before its reason.
THE_MECHANISM = re.compile(r"^ *entry(?=  |:)|(?<=[,:] )entry(?=[,:])", re.MULTILINE)
#: Plain data for machines: keys of certificates are those of the code.
JSON = re.compile(r'^ *("|[\]}{]).*$', re.MULTILINE)
#: Names: of a table that `per = "both"` makes, and of a column of the published file.
NAMES = re.compile(r"[\w-]+-units\b|^unit(?=,cell,)", re.MULTILINE)
WORDS_OF_THE_CODE = re.compile(
    r"\b(entry|entries|units?|composition|hypothes[ie]s|randomiser|frameworks?)\b", re.IGNORECASE
)

#: "unit" in sentences: keys of the release file and of the library, queries of the ledger's file, what measures, and
#: words that columns may be called.
KEYS = re.compile(
    r"""["'`]units?["'`]|source\.unit\b|\bunits?\s*=|\bwith unit:|\b\w+_units?\b|\bunits?_\w+|one Unit per"""
)
SQL = re.compile(r"\s*(select|insert into|update|delete from|create table) ")
MEASURES = re.compile(r"per unit of distance|units of the coordinates|one unit of (either coordinate|the error)")
UNIT = re.compile(r"\bunits?\b", re.IGNORECASE)
DOCUMENTS = (
    "after-the-release", "choosing-epsilon", "data-as-they-are", "getting-started", "known-weaknesses", "medians",
    "reading-a-certificate", "records", "refused", "release-file", "tables-by",
)  # fmt: skip


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_no_word_of_the_code_is_printed(path: Path) -> None:
    text = NAMES.sub("", THE_MECHANISM.sub("", JSON.sub("", path.read_text(encoding="utf-8"))))
    assert [text[max(0, m.start() - 60) : m.end() + 20] for m in WORDS_OF_THE_CODE.finditer(text)] == []


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield every text of several words that is not a docstring; of an f-string its own words."""
    nodes = list(ast.walk(tree))
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    yield from (node.value for node in texts if " " in node.value and node not in docstrings)


def test_no_sentence_of_the_package_says_unit() -> None:
    said = {
        (path.name, text) for path in SOURCES for text in sentences(parsed(path))
        if UNIT.search(MEASURES.sub("", KEYS.sub("", text))) and not SQL.match(text)
    }  # fmt: skip
    assert said == set()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_pages_for_users_say_person(name: str) -> None:
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    prose = re.sub(r"```(?:python|toml|json|console)\n.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    measured = re.compile(r"in your own units|in which unit|types and units|one unit of its error")
    assert [prose[max(0, m.start() - 60) : m.end() + 20] for m in UNIT.finditer(measured.sub("", prose))] == []


def test_the_pages_for_users_say_row_or_step() -> None:
    """The library's own parameters and secrets have names in code spans; sentences keep to the glossary."""
    for name in ("docs/getting-started.md", "docs/reading-a-certificate.md", "docs/publishing-every-week.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(r"\b(?:entry|entries)\b", text) == [], name


def test_they_would_be_seen() -> None:
    assert WORDS_OF_THE_CODE.findall(THE_MECHANISM.sub("", "entry    2   yes\n  entry: no entries\ncomposition")) == [
        "entries", "composition",
    ]  # fmt: skip
    wrong = 'f"each unit of {source.unit}"; "write unit = 1"; "select unit from units"; "for all Units"; "unit"'
    assert [t for t in sentences(ast.parse(f"say = [{wrong.replace(';', ',')}]")) if UNIT.search(KEYS.sub("", t))] == [
        "select unit from units", "for all Units", "each unit of ",
    ]  # fmt: skip

"""docs/theory/index.md lists every theorem of these pages; each row leads to a proof, code and a test that exist."""

import re
from pathlib import Path

import pytest
from tests.test_repository import anchors

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "theory"
LABEL = re.compile(r"^(?:[>*] )?\*\*((?:Theorem|Lemma|Claim|Corollary|Rule|Facts)(?: \d+| [A-Z])?)\b[^*]*\*\*", re.M)
CITATION = re.compile(r"[A-Z][^|]*\b(?:19|20)\d\d\b")


def rows(text: str) -> list[list[str]]:
    table = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| statement")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


ROWS = rows((PAGES / "index.md").read_text(encoding="utf-8"))


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


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
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
    good = ROWS[0]
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

"""What users read keeps to the words of docs/glossary.md: row or step, not entry; composes: yes or only alone."""

import re
from pathlib import Path

import pytest

EXPECTED = sorted((Path(__file__).parent / "expected").rglob("*.txt"))
#: The mechanism of this name, as a row of a table or before its reason.
THE_MECHANISM = re.compile(r"^ *entry(?=  |:)|(?<=[,:] )entry(?=[,:])", re.MULTILINE)
#: Plain data for machines: keys of certificates are those of the code.
JSON = re.compile(r'^ *("|[\]}{]).*$', re.MULTILINE)
WORDS_OF_THE_CODE = re.compile(r"\b(entry|entries|composition|hypothes[ie]s|randomiser|frameworks?)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.stem)
def test_no_word_of_the_code_is_printed(path: Path) -> None:
    text = THE_MECHANISM.sub("", JSON.sub("", path.read_text(encoding="utf-8")))
    assert [text[max(0, m.start() - 60) : m.end() + 20] for m in WORDS_OF_THE_CODE.finditer(text)] == []


def test_the_pages_for_users_say_row_or_step() -> None:
    """The library's own parameters and secrets have names in code spans; sentences keep to the glossary."""
    root = Path(__file__).parents[2]
    for name in ("docs/getting-started.md", "docs/reading-a-certificate.md", "docs/publishing-every-week.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", (root / name).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert re.findall(r"\b(?:entry|entries)\b", text) == [], name


def test_they_would_be_seen() -> None:
    assert WORDS_OF_THE_CODE.findall(THE_MECHANISM.sub("", "entry    2   yes\n  entry: no entries\ncomposition")) == [
        "entries", "composition",
    ]  # fmt: skip

"""What is printed stays as it is, byte by byte, unless somebody changes it on purpose.

The demo, the examples (their comparisons, forecasts, releases and certificates) and calibrations of small problems are
set against the files beside this one. Dates, ids, versions and paths are masked; noise is drawn from a seed, in place
of the system's entropy.

The words are those of docs/glossary.md: row or step, not entry; person, not unit; composes: yes.

`TAKIFUGU_REWRITE=1 pytest tests/printed` writes the files anew: read their diff before you commit it.
"""

import ast
import difflib
import os
import re
import shutil
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.conformance.corpus import corpus
from tests.support.sources import parsed
from tools import prose

import takifugu
import takifugu as tf
from takifugu.cli import main
from takifugu.numbers.noise import InsecureSeededEntropyForTests, SystemEntropy

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
FILES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))

#: As wide as what they stand for, so that tables keep their columns.
MASKS = (
    (r"\b\d{4}-\d{2}-\d{2}", "2000-01-01"),
    (r"(?<=2000-01-01T)[0-9:.+]+Z?", "00:00:00"),
    (r'("checksum": ")sha256:[0-9a-f]{64}', r"\1sha256:CHECKSUM"),
    (r'("head": ")[0-9a-f]{64}', r"\1KEYED"),
    (r"(?<![.\w])[0-9a-f]{16}\b", "0123456789abcdef"),
    (rf"takifugu {re.escape(tf.__version__)}", "takifugu 0.0.0"),
)
#: Numbers beyond ten digits are those of one machine.
LONG = re.compile(r"\b\d+\.\d{11,}(?:e-?\d+)?")
#: So are those of a scale that was searched for.
DYADIC = re.compile(r'"(\d{8,}/\d{8,})"')
#: Masses of a randomiser, in parts of a large total: a linear program ends in other last digits on another machine.
MASS = re.compile(r'"(\d{15,})"')

#: Cases of the corpus, over all kinds of beliefs, with the deltas that they are asked with.
CALIBRATED = {
    "chain, count": 0, "chain, signed weights": 0, "chain, histogram": 0, "chain, any start": 0, "two beliefs": 0,
    "pieces": 0, "quick chain": 0, "class of reversible chains": 0, "region of chains": 0,
    "interval of binary chains": 0, "table, a column": Fraction(1, 50), "network with a collider": 0,
    "users, absence unknown": 0, "users, presence, absence removed": 0, "cliques, count": 0, "two laws": 0,
    "two laws off any grid": Fraction(1, 50),
}  # fmt: skip


def masked(text: str, folder: Path) -> str:
    for path in {str(folder), str(folder.resolve())}:
        text = text.replace(path, "FOLDER")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    text = LONG.sub(lambda number: f"{float(number[0]):.10g}", text)
    text = DYADIC.sub(lambda fraction: f'"{float(Fraction(fraction[1])):.9g} as a fraction"', text)
    text = MASS.sub(lambda mass: f'"{int(mass[1]) / 2**90:.8f} of 2^90"', text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def compared(text: str, name: str) -> None:
    """Set a text against the file of that name, or write the file where that was asked for."""
    file = HERE / "expected" / f"{name}.txt"
    if os.environ.get("TAKIFUGU_REWRITE"):
        is_build = os.environ.get("TAKIFUGU_BUILD") == "true"
        assert not is_build, "TAKIFUGU_REWRITE is set in CI: what is expected is written by people"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        return
    expected = file.read_text(encoding="utf-8") if file.exists() else ""
    changes = difflib.unified_diff(expected.splitlines(), text.splitlines(), "expected", "printed", lineterm="")
    if expected != text:
        pytest.fail("\n".join(["what is printed has changed (see the top of this file):", *changes]), pytrace=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own, 80 columns wide, with entropy from a seed."""
    stream = InsecureSeededEntropyForTests(1603)
    monkeypatch.setattr(SystemEntropy, "bytes", lambda _, n: stream.bytes(n))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    """Return a command and all that it prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    errors = f"\n(on standard error)\n{done.stderr}" if done.stderr else ""
    return f"$ takifugu {' '.join(words)}\n{done.stdout}{errors}\n"


@pytest.mark.slow
def test_the_demo(folder: Path) -> None:
    compared(masked(run("example", "--run", "--output", "demo"), folder), "demo")


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FILES)
def test_an_example(folder: Path, name: str) -> None:
    for path in EXAMPLES.iterdir():
        if path.suffix in (".toml", ".csv", ".bif"):
            shutil.copy(path, folder)
    parts = [run(command, f"{name}.toml") for command in ("cost", "release")]
    for certificate in sorted((folder / f"{name}-published").glob("*.certificate.json")):
        at = certificate.relative_to(folder).as_posix()
        parts += [run("verify", at), f"{at}\n{certificate.read_text(encoding='utf-8')}\n"]
    tables = sorted((folder / f"{name}-published").glob("*.csv"))
    parts += [f"{table.relative_to(folder).as_posix()}\n{table.read_text(encoding='utf-8')}\n" for table in tables]
    parts.append(
        run("ledger", "show", tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))["ledger"])
    )
    compared(masked("".join(parts), folder), f"examples/{name}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALIBRATED)
def test_a_calibration(name: str) -> None:
    (case,) = (case for case in corpus() if case.name == name)
    calibration = tf.calibrate(case.framework, case.query, 1, CALIBRATED[name], allow_zero_noise=True)
    compared(masked(str(calibration), HERE), f"calibrations/{re.sub('[^a-z]+', '-', name)}")


def test_no_file_is_left_over() -> None:
    known = {"demo", *(f"examples/{name}" for name in FILES)}
    known |= {f"calibrations/{re.sub('[^a-z]+', '-', name)}" for name in CALIBRATED}
    files = {p.relative_to(HERE / "expected").with_suffix("").as_posix() for p in (HERE / "expected").rglob("*.txt")}
    assert files == known


def test_what_changed_is_told_and_only_written_on_purpose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(globals(), "HERE", tmp_path)
    monkeypatch.delenv("TAKIFUGU_BUILD", raising=False)
    monkeypatch.setenv("TAKIFUGU_REWRITE", "1")
    compared("one\ntwo\n", "a/page")
    monkeypatch.delenv("TAKIFUGU_REWRITE")
    compared("one\ntwo\n", "a/page")
    with pytest.raises(pytest.fail.Exception, match=r"-two\n\+three"):
        compared("one\nthree\n", "a/page")
    monkeypatch.setenv("TAKIFUGU_REWRITE", "1")
    monkeypatch.setenv("TAKIFUGU_BUILD", "true")
    with pytest.raises(AssertionError, match="set in CI"):
        compared("one\nthree\n", "a/page")
    assert (tmp_path / "expected" / "a" / "page.txt").read_text() == "one\ntwo\n"


ROOT = Path(__file__).parents[2]
SOURCES = sorted(Path(takifugu.__file__).parent.rglob("*.py"))
PRINTED = sorted((Path(__file__).parent / "expected").rglob("*.txt"))
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
    r"""["'`]units?["'`]|\{unit\}|^no unit$|source\.unit\b|\bunits?\s*=|\bwith unit:"""
    r"""|\b\w+_units?\b|\bunits?_\w+|one Unit per"""
)
#: Files whose texts are parts of SQL over a relation with a column of this name.
_OF_SQL = ("answers", "counts", "following", "statements", "transitions", "visits")
OF_SQL = {"data/cluster/counting.py", *(f"data/relation/{name}.py" for name in _OF_SQL)}
SQL = re.compile(r"\s*(select|insert into|update|delete from|create table) ")
MEASURES = re.compile(r"per unit of distance|units of the coordinates|one unit of (either coordinate|the error)")
UNIT = re.compile(r"\bunits?\b", re.IGNORECASE)
DOCUMENTS = (
    "after-the-release", "choosing-epsilon", "data-as-they-are", "getting-started", "concepts/limits", "medians",
    "reading-a-certificate", "records", "tables-by", "your-table", "reference/release-file",
)  # fmt: skip


@pytest.mark.parametrize("path", PRINTED, ids=lambda path: path.stem)
def test_no_word_of_the_code_is_printed(path: Path) -> None:
    text = NAMES.sub("", JSON.sub("", path.read_text(encoding="utf-8")))
    assert [text[max(0, m.start() - 60) : m.end() + 20] for m in WORDS_OF_THE_CODE.finditer(text)] == []


def sentences(tree: ast.Module) -> Iterator[str]:
    """Yield every text of several words that is not a docstring; of an f-string its own words."""
    nodes = list(ast.walk(tree))
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    yield from (node.value for node in texts if " " in node.value and node not in docstrings)


def test_no_sentence_of_the_package_says_unit() -> None:
    said = {
        (path.name, text) for path in SOURCES if not path.as_posix().endswith(tuple(OF_SQL))
        for text in sentences(parsed(path))
        if UNIT.search(MEASURES.sub("", KEYS.sub("", text))) and not SQL.match(text)
    }  # fmt: skip
    assert said == set()


#: `laws` as a key of the release file.
LAWS = re.compile(r"laws(?= = \{| or reference)")


def test_no_sentence_of_the_package_has_a_word_that_the_style_guide_replaces() -> None:
    """Help has its own test, in tests/cli/test_cli_commands.py, and so have pages, in tests/test_repository.py."""
    said = {(path.name, text) for path in SOURCES for text in sentences(parsed(path))}
    assert {pair for pair in said if prose.BANNED.search(LAWS.sub("", re.sub("`[^`]*`", "", pair[1])))} == set()


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
    assert WORDS_OF_THE_CODE.findall("record-dp  2  yes\n  no entries\ncomposition") == ["entries", "composition"]
    wrong = 'f"each unit of {source.unit}"; "write unit = 1"; "select unit from units"; "for all Units"; "unit"'
    assert [t for t in sentences(ast.parse(f"say = [{wrong.replace(';', ',')}]")) if UNIT.search(KEYS.sub("", t))] == [
        "select unit from units", "for all Units", "each unit of ",
    ]  # fmt: skip

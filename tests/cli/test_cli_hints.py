"""Words that lead on, and first lines of every command that can be read by somebody who has read no page."""

import re
import shutil
from pathlib import Path

import pytest
from tests.releasing import files
from tests.releasing.files import SPEC
from tests.support.commands import all_commands, ended, invoke, succeed, words_of

import takifugu as tf
from takifugu.accounting.suspicion import warning
from takifugu.cli.releasing import _counted
from takifugu.core.errors import Notice
from takifugu.core.text.bars import bars
from takifugu.core.text.pictures import Bar, bar_chart
from takifugu.core.text.scales import Axis
from takifugu.core.text.tables import fitting
from takifugu.releasing.publishing.run import release_file


@pytest.mark.parametrize(("words", "hint"), [
    (("release", "--dryrun", "x"), "Did you mean '--dry-run'?"),
    (("odds", "--eps", "3"), "Did you mean '--epsilon'?"),
    (("cost", "--budget", "3", "x"), "It is a key of the release file."),
    (("release", "--ledger", "spent.db", "x"), "It is a key of the release file."),
])  # fmt: skip
def test_the_option_that_was_meant(words: tuple[str, ...], hint: str) -> None:
    outcome = ended(2, *words)
    assert outcome.stderr.rstrip().endswith(hint)
    assert "--json" not in outcome.stderr


@pytest.mark.parametrize("name", ["data.csv", "data.CSV", "data.csv.gz", "data.parquet"])
def test_a_table_is_no_release_file(tmp_path: Path, name: str) -> None:
    table = tmp_path / name
    table.write_bytes(b"hour,state\n1,private-word\n" if "csv" in name.lower() else b"PAR1\xff\xfe")
    outcome = ended(2, "cost", table)
    assert "`takifugu init" in outcome.stderr
    assert "private-word" not in outcome.stderr


def test_a_large_epsilon_gets_a_word_of_warning(tmp_path: Path) -> None:
    assert warning(9) == ""
    assert "a suspicion of 1 % may become 99.1" in warning(9.3)
    assert "hides next to nothing" not in invoke("odds", "--epsilon", "5").stdout
    assert "An epsilon of 100 hides next to nothing" in words_of(invoke("odds", "--epsilon", "100"))
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=["still", "walking"])
    made = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count("walking"), 100, mechanism="group-dp")
    with pytest.warns(Notice, match="hides next to nothing"):
        tf.release(made, ["still"] * 4, entries="values", ledger=tmp_path / "ledger.db", budget=1000)


def test_plan_advises_no_keys_that_a_kind_refuses(tmp_path: Path) -> None:
    said = ended(2, "cost", "--windows", "52", files.people(tmp_path)).stderr
    assert "no windows of a calendar" in said
    assert "every =" not in said
    assert "--dry-run" in said


# What the terminal shows of a table: the words for its readers, adjusted values, and no hundreds of lines.
@pytest.mark.mutants
@pytest.mark.parametrize("command", ["release", "print"])
def test_title_unit_and_adjusted_values_are_shown(tmp_path: Path, command: str) -> None:
    words = 'per = "both"\nadjust = true\ntitle = "Activity & rest"\nmeasured_in = "minutes"'
    path = files.write(tmp_path, SPEC.replace('per = "both"', words))
    if command == "release":
        made = succeed("release", path)
        text = made.output
        assert " ±" in text
        assert "Published time-use-pooled: Activity & rest\n" in text
        assert ", in minutes; 3 people" in " ".join(text.split())
    else:
        text = str(release_file(path))
        assert "Activity & rest (time-use-pooled): " in text
        assert "for all people together, in minutes" in " ".join(text.split())
    assert text.count("adjusted") >= 2


@pytest.mark.parametrize(("value", "half"), [(251_174, 659_298), (-92, 300), (0, 2), (-50, 10)])
def test_the_whole_interval_is_drawn_below_zero_too(value: int, half: int) -> None:
    with fitting(100):
        line = bars([{"cell": "all", "value": value, "low": value - half, "high": value + half}])[0]
    drawn = line.removeprefix("all  ").partition(f"  {value:,}")[0]
    zero, shares = drawn.index("│"), drawn.replace("│", "")
    ends = (min(value - half, 0), max(value + half, 0))
    assert zero == pytest.approx(len(shares) * -ends[0] / (ends[1] - ends[0]), abs=1.5)
    assert shares.count("▓") + shares.count("░") == pytest.approx(len(shares) * 2 * half / (ends[1] - ends[0]), abs=1.5)
    assert f"{value:,} ± {half:,}" in line, "the number of the words, with all its digits"


def test_words_are_counted_where_they_are_many() -> None:
    rows = [{"cell": f"r{i}c0", "value": "safe" if i % 3 else "left out"} for i in range(1200)]
    assert _counted(rows) == "of 1,200: 800 safe, 400 left out"
    rows = [{"cell": f"r{i}c0", "safe_or_at_most": 8 + i if i % 4 == 0 else "safe"} for i in range(200)]
    assert _counted(rows) == "of 200: 150 safe, 50 with an upper value"


def test_a_noisy_value_has_no_more_digits_than_its_interval(tmp_path: Path) -> None:
    row = {"cell": "all", "value": 1374.5, "low": 1322.5, "high": 1426.5}
    assert bars([row])[0].endswith("  1,374 ± 52")
    assert bars([{**row, "adjusted": 0}])[0].endswith("  1,374 ± 52, adjusted 0")
    assert "1,374 ± 52<" in bar_chart([Bar("all", 1374.5, 1322.5, 1426.5)], Axis("hours"), "A picture")
    text = SPEC.replace('query = "histogram"', 'query = "sum"\ncodes = { still = 0, walking = "0.25" }\ngrid = "0.01"')
    assert text != SPEC
    path = files.write(tmp_path, text.replace('per = "both"', 'per = "pooled"'))
    made = succeed("release", path, "--allow-useless")
    (report,) = tmp_path.rglob("*.report.html")
    for words in (made.output, report.read_text(encoding="utf-8")):
        pairs = re.findall(r"(-?[\d,]+(?:\.\d+)?) ± ([\d,]+(?:\.\d+)?)", words)
        assert pairs, words
        assert all(len(value.partition(".")[2]) <= len(half.partition(".")[2]) for value, half in pairs)


@pytest.mark.mutants
@pytest.mark.parametrize("scope", ["unit", "pooled"])
def test_release_says_how_far_off_a_median_without_a_verdict_may_be(scope: str, tmp_path: Path) -> None:
    text = SPEC.replace('query = "histogram"', 'query = "median"\nstates = ["still", "walking"]')
    text = text.replace(text[text.index("[expect]") : text.index("[source]")], "")  # no verdict without it
    text = text.replace("epsilon = 1.0", "epsilon = 3")
    path = files.write(tmp_path, text.replace('per = "both"', f'per = "{scope}"'))
    foreseen = words_of(invoke("release", "--dry-run", path))
    said = re.search(r"off by at most [\d,.]+ rows in rank", foreseen)
    assert said is not None, foreseen
    assert said[0] in words_of(succeed("release", path))
    (report,) = tmp_path.rglob("*.report.html")
    assert said[0] in report.read_text(encoding="utf-8")


EXAMPLES = Path(__file__).parents[2] / "examples"
PRINTED = Path(__file__).parents[1] / "printed" / "expected" / "demo.txt"
LINES = 10
WORDS = re.compile(
    r"compos(es?|ing|ition)\b|stationary|\bgrid\b|\bL1\b|influence|quilt|wasserstein|sensitivity",
    re.IGNORECASE,
)
#: Of a release file, of a ledger, and of neither.
ABOUT_FILES = (
    "check", "cost", "advise", "cost --epsilons 0.5,2", "beliefs", "audit", "release --dry-run", "release",
    "rehearse --seed 7 --allow-useless", "attack",
)  # fmt: skip
ABOUT_LEDGERS = ("show", "verify", "resume")
ALONE = ("beliefs", "odds --epsilon 2", "keys", "example", "reproduce")
#: Commands that are tried in words of their own: what they print is a file, or a browser opens.
OTHERS = (
    "report", "init", "verify", "ledger set-budget", "ledger import-certificates", "ledger key", "session",
    "explore", "app",
)  # fmt: skip


def strange(text: str) -> list[str]:
    return [match[0] for match in WORDS.finditer("\n".join(text.strip().splitlines()[:LINES]))]


def test_no_command_is_forgotten() -> None:
    named = {one.split(" --")[0] for one in (*ABOUT_FILES, *ALONE, *OTHERS)}
    assert {" ".join(path) for path in all_commands()} == named | {f"ledger {one}" for one in ABOUT_LEDGERS}


@pytest.mark.mutants
@pytest.mark.parametrize("name", [
    "survey",
    *(pytest.param(name, marks=pytest.mark.slow) for name in
      ("activity", "activity-two-tables", "calls", "city", "households", "network", "people", "school", "ward")),
])  # fmt: skip
def test_of_the_first_page_and_the_gallery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for path in EXAMPLES.glob("*"):
        if path.is_file():
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for command in ABOUT_FILES:
        outcome = invoke(*command.split(), f"{name}.toml")
        assert not strange(outcome.output), f"{command}: {outcome.output}"
    (ledger,), folder = tmp_path.glob("*.db"), tmp_path / f"{name}-published"
    others = [("ledger", command, ledger) for command in ABOUT_LEDGERS]
    others += [("verify", certificate) for certificate in folder.glob("*.certificate.json")]
    others += [("ledger", "set-budget", ledger, "boilers", "9"), ("ledger", "import-certificates", ledger, folder),
               ("ledger", "verify", ledger, folder)]  # fmt: skip
    assert not [words for words in others if strange(invoke(*words).output)]


@pytest.mark.mutants
def test_of_a_session_and_commands_about_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXAMPLES.glob("venues.*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    for words in ((), ("library", "cinema"), ("--end",), ("library",)):
        assert not strange(invoke("session", "venues.toml", *words).output), words
    for command in (*ALONE, *(f"{' '.join(path)} --help" for path in all_commands())):
        assert not strange(invoke(*command.split()).output), command


def test_of_the_demo_as_it_is_printed() -> None:
    assert not strange(PRINTED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("table", ["households.csv", "answers.csv", "calls.csv", "meetings.csv"])
def test_of_a_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    shutil.copy(EXAMPLES / table, tmp_path)
    monkeypatch.chdir(tmp_path)
    for more in ((), ("--yes",)):
        assert not strange(invoke("init", table, *more).output), table

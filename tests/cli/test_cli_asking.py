"""`takifugu init` asks on a terminal: five questions in plain lines, no default for a promise, nothing written half."""

import json
import random
import re
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.commands import ended, invoke, json_of, words_of
from tests.support.starting import source_in
from tests.support.terminals import answering

#: The questions about a log, and what its owner types: the name or the number of a choice, or Enter for the only one.
REPLIES = {"rows": "changes\n", "unit": "user\n", "order": "\n", "step": "1min\n", "value": "\n"}
#: What no table tells, and what its owner types.
OWNED = {
    "states": "away, ready, busy\n", "from": "2026-01-05\n", "until": "2026-01-12\n",
    "roster": "u0, u1, u2, u3, u4, u5, u6, u7\n", "mean_duration": "away 2 h, ready 2 h, busy 90 min\n",
    "next_state": "away 0.3, ready 0.3, busy 0.4\n", "units_independent": "1\n",
}  # fmt: skip
LATER = ["-\n"] * 6
CHOSEN = {"rows": "changes", "unit": "user", "order": "when", "step": "1min", "value": "state"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of changes: uneven times, and no state twice in a row."""
    draw, lines = random.Random(3), ["when,user,state"]
    for user in range(8):
        at = datetime(2026, 1, 5) + timedelta(minutes=draw.uniform(0, 90))
        for number in range(30):
            lines.append(f"{at:%Y-%m-%dT%H:%M:%S},u{user},{('away', 'ready', 'busy')[number % 3]}")
            at += timedelta(minutes=draw.uniform(1, 200))
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_five_questions_are_asked_in_plain_lines(log: Path) -> None:
    answers = [*REPLIES.values(), *OWNED.values()]
    code, printed, screens = answering(["init", "log.csv", "--json"], answers, log.parent)
    assert code == 0, screens
    document = json.loads(printed)  # nothing else is on the standard output
    said = {name: word.strip() for name, word in OWNED.items()} | {"units_independent": "true"}
    assert {question["name"]: question["answer"] for question in document["questions"]} == CHOSEN | said
    assert document["answers"] == CHOSEN | said
    assert document["fill_in"] == []
    source = source_in(log.parent / "release.toml")
    assert {key: source[key] for key in CHOSEN} == CHOSEN
    assert "240 rows, 3 columns." in screens
    assert "8 different" in screens
    typed = screens
    for reply in OWNED.values():
        typed = typed.replace(reply.strip(), "")
    assert not re.search(r"u[0-7]|2026-01-05T", typed), "a value of a row"


def test_enter_is_no_answer_where_it_would_be_a_promise(log: Path) -> None:
    answers = ["\n", "\n", "2\n", "\n", "user\n", *[*REPLIES.values()][2:], "\n", *LATER]
    code, _, screens = answering(["init", "log.csv"], answers, log.parent)
    assert code == 0, screens
    assert screens.count("rows: ") == 3
    assert screens.count("unit: ") == 2
    source = source_in(log.parent / "release.toml")
    assert (source["rows"], source["unit"]) == ("changes", "user")
    assert "order [when]: " in screens
    assert "value [state]: " in screens


def test_a_wrong_answer_is_named_and_the_question_comes_again(log: Path) -> None:
    answers = ["chnges\n", "samples\n", "usr\n", "user\n", "\n", "1 minuet\n", "1\n", "5min\n", "\n",
               "away\n", "away, ready, busy\n", "away 2 h\n", "-\n", "no\n", "true\n"]  # fmt: skip
    code, _, screens = answering(["init", "log.csv"], answers, log.parent)
    assert code == 0, screens
    said = " ".join(screens.split())
    assert "did you mean 'changes'?" in said
    assert "did you mean 'user'?" in said
    assert "step is '1 minuet': write 1, or 15min, or 1h, or 1d step:" in said
    assert "nothing reads all of 'when' as numbers" in said, "a number is an answer here, and no choice"
    source = source_in(log.parent / "release.toml")
    assert (source["rows"], source["step"]) == ("samples", "5min")
    assert "states is too short" in said
    assert "does not say how long" in said


@pytest.mark.parametrize(("third", "code"), [("\x03", 130), ("\x04", 2)])
def test_whoever_leaves_in_question_three_leaves_nothing_behind(log: Path, third: str, code: int) -> None:
    before = [(path.name, path.read_bytes()) for path in log.parent.iterdir()]
    answers = ["changes\n", "user\n", third]
    ended, printed, screens = answering(["init", "log.csv"], answers, log.parent, NO_COLOR="1")
    assert (ended, printed) == (code, "")
    assert re.search(r"\n(\^C)?takifugu: ", screens), "a message begins a line, but for what the terminal echoes late"
    assert [(path.name, path.read_bytes()) for path in log.parent.iterdir()] == before


def test_a_file_that_changes_while_it_is_asked_about_is_refused(log: Path) -> None:
    def another() -> str:
        log.write_text(log.read_text(encoding="utf-8").replace("busy", "gone"), encoding="utf-8")
        return "\n"

    code, _, screens = answering(["init", "log.csv"], [*[*REPLIES.values()][:4], another, *LATER], log.parent)
    assert code == 2
    assert "log.csv changed while it was read" in " ".join(screens.split())
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_questions_fit_forty_columns_without_colours(log: Path, environment: dict[str, str]) -> None:
    """What is decided is printed once, as it is written."""
    answers = [*REPLIES.values(), *OWNED.values()]
    code, printed, screens = answering(["init", "log.csv"], answers, log.parent, COLUMNS="40", **environment)
    assert code == 0
    assert "\x1b" not in screens
    assert max(map(len, screens.splitlines())) <= 40
    assert printed.count('rows = "changes"') == printed.count('unit = "user"') == 1


def test_nobody_is_asked_in_continuous_integration(log: Path) -> None:
    code, printed, screens = answering(["init", "log.csv"], [], log.parent, CI="true")
    assert (code, printed) == (2, "")
    assert "or --rows changes" in " ".join(screens.split())
    assert "rows: " not in screens


def test_options_answer_and_the_others_are_asked(log: Path) -> None:
    words = ["init", "log.csv", "--rows", "events", "--unit", "user", "--step", "1h"]
    said = [f"{name}={word.strip()}" for name, word in OWNED.items() if name != "units_independent"]
    code, _, screens = answering([*words, *said], [*["\n"] * 2, "away\n", "true\n"], log.parent)
    assert code == 0, screens
    assert "\ndefault_state: " in screens
    assert [name for name in REPLIES if f"\n{name} [" in screens or f"\n{name}: " in screens] == ["order", "value"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("left", CHOSEN)
def test_yes_takes_no_answer_on_which_protection_depends(log: Path, left: str) -> None:
    """And the only one that there is."""
    where = log.parent / "r.toml"
    others = [part for key, word in CHOSEN.items() if key != left for part in (f"--{key}", word)]
    words = ["-o", where, "--yes", *others]
    if left in ("order", "value"):
        assert json_of("init", log, *words)["answers"] == CHOSEN
        return
    refused = ended(2, "init", log, *words)
    assert f"--{left} " in refused.stderr
    assert 'the table does not tell "' in refused.stderr
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("words", "place"), [
    (["--rows", "wide"], "rows"), (["--rows", "stays"], "end"), (["--unit", "nobody"], "unit"),
    (["--value", "nothing"], "value"), (["--order", "state"], "order"), (["--step", "3"], "step"),
    (["--step", "a while"], "step"), (["--where", "random() > 1"], "where"), (["--nulls", "maybe"], "nulls"),
    (["--kind", "users"], "rows"), (["--timezone", "Mars"], "timezone"), (["--kind", "user"], "kind"),
])  # fmt: skip
@pytest.mark.parametrize("yes", [True, False])
def test_answers_that_do_not_fit_are_refused(log: Path, words: list[str], place: str, yes: bool) -> None:
    others = [part for key, word in CHOSEN.items() if f"--{key}" not in words for part in (f"--{key}", word)]
    refused = ended(2, "init", log, "-o", log.parent / "r.toml", "--json", *words, *others, *["--yes"][:yes])
    assert json.loads(refused.stdout)["error"]["where"].rpartition(".")[2] == place
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("content", [
    "a,b\n", 'q;"na\nme"\n1;2\n1;3\n', "user\n", "x\n\x1b[31m\n", "a,a\n1,2\n3,4\n",
])  # fmt: skip
def test_strange_tables_are_asked_about(tmp_path: Path, content: str) -> None:
    (tmp_path / "d.csv").write_text(content, encoding="utf-8")
    answers = ["samples\n", *["1\n"] * 5, *["-\n"] * 9]
    code, _, screens = answering(["init", "d.csv"], answers, tmp_path, NO_COLOR="1")
    assert code in (0, 2), screens
    assert "\x1b" not in screens
    assert (tmp_path / "release.toml").exists() is (code == 0)


@pytest.mark.mutants
@pytest.mark.parametrize("more", [220, pytest.param(1000, marks=pytest.mark.mutants)])
def test_a_table_of_a_thousand_columns_is_asked_about_by_name(tmp_path: Path, more: int) -> None:
    names = ["who", "minute", "state", *(f"Q{'abcdefghij'[n % 10] * (n // 10 + 1)}" for n in range(more))]
    rows = [[who, str(minute), "still", *["1"] * more] for who in "ab" for minute in range(3)]
    (tmp_path / "d.csv").write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    words = ["init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--rows", "samples"]
    assert "--unit COLUMN" in words_of(ended(2, *words))
    done = invoke(*words, "--unit", "who", "--order", "minute", "--step", "1", "--value", "state")
    assert done.exit_code == 0, done.output


#: A survey in which somebody left a question out.
SURVEY = "name,smokes,age\n" + "".join(f"{n},{('yes', 'no', '')[n % 3]},{20 + n / 4}\n" for n in range(30))


def test_a_survey_is_asked_what_a_missing_answer_counts_as(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    answers = ["answers\n", "-\n", "users\n", "smokes\n", "no answer\n", "\n", "yes, no\n", "no answer\n",
               "yes, no, no answer\n", "true\n", "30\n", "0.3, 0.3, 0.4\n"]  # fmt: skip
    code, _, screens = answering(["init", "survey.csv"], answers, tmp_path)
    assert code == 0, screens
    assert "10 of 30 rows hold nothing." in screens
    assert "'no answer' is none of the values" in screens, "the second answer contradicts the first"
    table = json_of("release", tmp_path / "release.toml")["tables"][0]
    assert "A missing value of 'smokes' counts as 'no answer'." in str(table["certificate"])


def test_rows_that_are_no_people_are_called_what_they_are(tmp_path: Path) -> None:
    """1,500 receipts of some customers were published as 1,500 people, each of them protected."""
    (tmp_path / "survey.csv").write_text(SURVEY.replace("smokes", "paid"), encoding="utf-8")
    words = ["init", "survey.csv", "--rows", "answers", "--unit", "-", "--kind", "users", "--value", "paid"]
    answers = ["yes\n", "receipt\n", "yes, no\n", "true\n", "30\n", "0.3, 0.7\n"]
    code, _, screens = answering(words, answers, tmp_path)
    assert code == 0, screens
    assert "Each is protected by itself: who has several rows is not." in screens
    assert "How many receipts are there?" in screens
    table = json_of("release", tmp_path / "release.toml", "--allow-useless")["tables"][0]
    assert table["certificate"]["person"] == "receipt"


def test_answers_that_are_numbers_are_asked_for_classes(tmp_path: Path) -> None:
    """Salaries were drafted without classes, and each of them was then none of the answers."""
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    words = ["init", "survey.csv", "--rows", "answers", "--unit", "-", "--kind", "users", "--value", "age"]
    answers = ["\n", "young, old\n", "young 0 to 23, old 23 to inf\n", "true\n", "30\n", "0.4, 0.6\n"]
    code, _, screens = answering(words, answers, tmp_path)
    assert code == 0, screens
    rows = json_of("release", tmp_path / "release.toml", "--allow-useless")["tables"][0]["rows"]
    assert [row["cell"] for row in rows] == ["young", "old"]


def test_a_survey_without_a_terminal_is_told_what_to_say_of_missing_answers(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    output = tmp_path / "release.toml"
    words = ["init", tmp_path / "survey.csv", "-o", output, "--rows", "answers", "--unit", "-", "--kind", "users"]
    assert "--missing 'no answer'" in words_of(ended(2, *words, "--value", "smokes"))
    ended(0, *words, "--value", "smokes", "--missing", "no answer")
    assert tomllib.loads(output.read_text("utf-8"))["belief"]["missing"] == {"smokes": "no answer"}


@pytest.mark.parametrize(("kind", "line"), [
    ("normal", 'record = { attribute = "age", max_difference = 5 }'),
    ("parameters", 'parameter = { attribute = "smokes" }'),
])  # fmt: skip
def test_what_is_hidden_is_asked_in_plain_words_about_an_own_column(tmp_path: Path, kind: str, line: str) -> None:
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    words = ["init", "survey.csv", "--rows", "answers", "--unit", "name", "--kind", kind, "records=30"]
    code, _, screens = answering(words, ["nothing\n", f"{line}\n", *LATER, *LATER], tmp_path)
    assert code == 0, screens
    assert "What must no reader learn?" in screens
    assert line in " ".join(screens.split())
    assert tomllib.loads((tmp_path / "release.toml").read_text("utf-8"))["hide"] == tomllib.loads(line)

"""`takifugu init` asks on a terminal: five screens, Enter takes what is offered, and nothing is written half."""

import json
import random
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.support.commands import ended, invoke, json_of, succeed
from tests.support.starting import source_in
from tests.support.terminals import answering

NAMES = ["rows", "whose", "when", "step", "secret", "publish"]
#: What no table has: Enter leaves it for later.
LATER = ["states", "from", "until", "roster", "independent"]


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


def test_enter_takes_what_is_offered(log: Path) -> None:
    code, printed, screens = answering(["init", "log.csv", "--json"], ["\n"] * 20, log.parent)
    assert code == 0, screens
    questions = json.loads(printed)["questions"]  # nothing else is on the standard output
    assert [question["name"] for question in questions] == [*NAMES, *LATER]
    assert all(question["answer"] == question["offered"] for question in questions)
    source = source_in(log.parent / "release.toml")
    chosen = ["changes", "user", "when", "state", "1min"]
    assert [source[key] for key in ("rows", "unit", "order", "value", "step")] == chosen
    for question in questions:
        screen = screens.partition(question["words"])[2].partition(f"\n{question['name']} [")[0]
        assert screen.count("2026-01-05T") == 3, "three rows of the table"


def test_what_is_decided_is_printed_once_as_it_is_written(log: Path) -> None:
    code, printed, _ = answering(["init", "log.csv"], ["\n"] * 20, log.parent)
    assert code == 0
    assert printed.count('rows = "changes"') == printed.count('unit = "user"') == 1
    assert "looks like" not in printed
    assert "guessed" not in (log.parent / "release.toml").read_text(encoding="utf-8").partition("[belief]")[0]


def test_a_wrong_answer_is_named_and_the_question_comes_again(log: Path) -> None:
    answers = ["chnges\n", "2\n", "\n", "\n", "1 minuet\n", "5min\n", *["\n"] * 9]
    code, _, screens = answering(["init", "log.csv"], answers, log.parent)
    assert code == 0, screens
    assert "did you mean 'changes'?" in " ".join(screens.split())
    source = source_in(log.parent / "release.toml")
    assert (source["rows"], source["step"]) == ("samples", "5min")


@pytest.mark.parametrize(("third", "code"), [("\x03", 130), ("\x04", 2)])
def test_whoever_leaves_in_question_three_leaves_nothing_behind(log: Path, third: str, code: int) -> None:
    before = [(path.name, path.read_bytes()) for path in log.parent.iterdir()]
    ended, printed, screens = answering(["init", "log.csv"], ["\n", "\n", third], log.parent, NO_COLOR="1")
    assert (ended, printed) == (code, "")
    assert re.search(r"\n(\^C)?takifugu: ", screens), "a message begins a line, but for what the terminal echoes late"
    assert [(path.name, path.read_bytes()) for path in log.parent.iterdir()] == before


def test_a_file_that_changes_while_it_is_asked_about_is_refused(log: Path) -> None:
    def another() -> str:
        log.write_text(log.read_text(encoding="utf-8").replace("busy", "gone"), encoding="utf-8")
        return "\n"

    code, _, screens = answering(["init", "log.csv"], [*["\n"] * 10, another], log.parent)
    assert code == 2
    assert "log.csv has changed since it was shown, so nothing was written" in " ".join(screens.split())
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_questions_fit_forty_columns_without_colours(log: Path, environment: dict[str, str]) -> None:
    code, _, screens = answering(["init", "log.csv"], ["\n"] * 20, log.parent, COLUMNS="40", **environment)
    assert code == 0
    assert "\x1b" not in screens
    assert max(map(len, screens.splitlines())) <= 40


def test_nobody_is_asked_in_continuous_integration(log: Path) -> None:
    code, printed, screens = answering(["init", "log.csv"], [], log.parent, CI="true")
    assert (code, printed) == (2, "")
    assert "write --rows changes" in " ".join(screens.split())
    assert "rows [" not in screens


def test_options_answer_and_the_others_are_asked(log: Path) -> None:
    words = ["init", "log.csv", "--rows", "events", "--unit", "user", "--secret", "every-entry", "--step", "1h"]
    code, _, screens = answering(words, ["\n"] * 9, log.parent)
    assert code == 0, screens
    assert [name for name in NAMES if f"\n{name} [" in screens] == ["when", "publish"]


def test_yes_takes_no_answer_on_which_protection_depends(log: Path) -> None:
    where = log.parent / "r.toml"
    refused = ended(2, "init", log, "-o", where, "--yes")
    assert "--rows changes" in refused.stderr
    assert "--rows samples" in refused.stderr
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]
    succeed("init", log, "-o", where, "--yes", "--rows", "changes")
    source = source_in(where)
    assert (source["rows"], source["unit"]) == ("changes", "user")
    assert "step" not in source, "it would become public, and nobody said it"


@pytest.mark.parametrize(("words", "place"), [
    (["--rows", "wide"], "rows"), (["--rows", "stays"], "when"), (["--unit", "nobody"], "whose"),
    (["--unit", "state", "--publish", "state"], "publish"),
    (["--rows", "answers", "--unit", "-", "--step", "1h"], "step"),
    (["--rows", "changes", "--step", "3"], "step"), (["--rows", "changes", "--order", "-"], "when"),
    (["--kind", "users", "--rows", "changes"], "rows"), (["--unit", "when", "--order", "when"], "when"),
    (["--rows", "answers", "--unit", "user", "--secret", "answers"], "whose"),
])  # fmt: skip
@pytest.mark.parametrize("yes", [True, False])
def test_answers_that_do_not_fit_are_refused(log: Path, words: list[str], place: str, yes: bool) -> None:
    clear = {} if "--kind" in words else {"--rows": "changes", "--unit": "user"}
    others = [part for option, word in clear.items() if option not in words for part in (option, word)]
    refused = ended(2, "init", log, "-o", log.parent / "r.toml", "--json", *words, *others, *["--yes"][:yes])
    assert json.loads(refused.stdout)["error"]["where"] == place
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("words", [[], ["--yes"], ["--rows", "answers", "--unit", "-", "--secret", "answers"]])
def test_a_table_of_which_no_column_can_be_named_is_refused(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "d.csv").write_text("a,a\n1,2\n3,4\n", encoding="utf-8")
    refused = ended(2, "init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", *words)
    assert "d.csv has no column with a name of its own" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("content", ["a,b\n", 'q;"na\nme"\n1;2\n1;3\n', "user\n", "x\n\x1b[31m\n"])
def test_strange_tables_are_asked_about(tmp_path: Path, content: str) -> None:
    (tmp_path / "d.csv").write_text(content, encoding="utf-8")
    code, _, screens = answering(["init", "d.csv"], ["\n"] * 20, tmp_path, NO_COLOR="1")
    assert code in (0, 2), screens  # nothing is offered to be published
    assert "\x1b" not in screens
    assert (tmp_path / "release.toml").exists() is (code == 0)


NONSENSE = {
    "nothing": b"", "blank lines": b"\n \n\n", "one word": b"hello\n", "a sentence": b"It was, as ever, late.\nYes.\n",
    "bytes": bytes(range(256)) * 9, "a page": b"<html><body>1,2</body></html>", "an object": b"{}",
    "names alone": b"a,b,c\n",
    "no value": b"a,b\n,\n,\n,\n", "one of each": b"a,b\n1,x\n", "a title alone": b"Report\n\nwho,when\n",
    "noise": b"\n".join(b",".join(b"%d" % (k * n % 97) for k in range(1, 60)) for n in range(1, 9)),
    "names only, again and again": b"who,state\n" * 9, "an open quote": b'a,b\n"1,2\n3,4\n',
}  # fmt: skip


@pytest.mark.parametrize("name", NONSENSE)
def test_yes_to_nonsense_is_a_clear_error_or_a_whole_draft(tmp_path: Path, name: str) -> None:
    (tmp_path / "d.csv").write_bytes(NONSENSE[name])
    done = invoke("init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--yes")
    assert done.exit_code in (0, 2), done.output
    if done.exit_code == 2:
        assert done.stderr.startswith("takifugu: ")
        assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
        return
    assert "still missing" in done.output, "nobody has said what the states are"
    assert source_in(tmp_path / "r.toml")
    assert " is good" not in done.output


def test_the_columns_in_question_are_shown_first(tmp_path: Path) -> None:
    lines = ["number,a long remark,another remark,room,guest,came,state"]
    for n in range(60):
        at = datetime(2026, 1, 5) + timedelta(minutes=n**1.5)
        lines.append(f"{n},nothing to say,nor to this,{n % 7},g{n % 5},{at:%Y-%m-%dT%H:%M:%S},{'ab'[n // 5 % 2]}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["init", "log.csv", "--rows", "changes", "--secret", "every-entry"]
    answers = ["guest\n", "came\n", "1min\n", "state\n", *["\n"] * 9]
    code, _, screens = answering(words, answers, tmp_path, COLUMNS="40", NO_COLOR="1")
    assert code == 0, screens
    for name, column in (("when", "came"), ("step", "came"), ("publish", "state"), ("states", "state")):
        screen = screens.rpartition(f"\n{name} [")[0].rpartition("?\n")[2]
        assert screen.startswith(column), f"{name}: {screen}"


def test_a_missing_key_is_named_once(log: Path) -> None:
    words = ["--rows", "changes", "--unit", "user", "--from", "2026-01-05", "--yes"]
    missing = [line.partition(":")[0] for line in json_of("init", log, "-o", log.parent / "r.toml", *words)["fill_in"]]
    assert missing.count("source.step") == 1
    assert len({*missing}) == len(missing)


@pytest.mark.parametrize(("words", "fault"), [
    (["--states", "a, b", "--stay", "a 2.8 h, b 3"], "--stay: '2.8 h' is a time, .* write --step 1min"),
    (["--states", "a"], '--states: is too short: write --states "still, walking"'),
    (["--from", "2026-13-01"], "--from: is '2026-13-01', which is no time"),
    (["--from", "2026-01-01", "--until", "soon"], "--until: is 'soon', which is no time"),
    (["--until", "2026-01-01"], "--until: is given without from"),
])  # fmt: skip
def test_refused_answers_are_named_by_their_options(log: Path, words: list[str], fault: str) -> None:
    decided = ["--rows", "changes", "--unit", "user", "--yes"]
    refused = ended(2, "init", log, "-o", log.parent / "r.toml", *decided, *words)
    assert re.search(fault, " ".join(refused.stderr.split()))
    assert "[source]" not in refused.stderr
    assert [path.name for path in log.parent.iterdir()] == ["log.csv"]

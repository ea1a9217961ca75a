"""Manners of the command line: lines fit the terminal, failures are JSON where that was asked for, colours optional."""

import json
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import all_commands, invoke, succeed
from tests.support.failing import raising
from tests.support.processes import in_a_child
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.terminals import TIMELESS, in_streams

from takifugu.cli import progress, terminal
from takifugu.core.text.tables import fitting, text_table
from takifugu.releasing import cost

WEEKS = release_text(
    read_from("ward", "ward.csv", value="state", order="hour", step="1h", from_="2026-01-05", until="2026-01-19",
              budget=200.0),
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=20, mechanism="group-dp", every="week"),
    ledger="weeks.db", expect=EXPECT,
)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a short path, because no line is shorter than a path in it."""
    folder, before = tmp_path_factory.mktemp("p"), Path.cwd()
    lengths = {"zoë": (8, 9), "Bob, jr.": (7,), "007": (8, 4)}
    files.write(folder, files.SPEC.replace("epsilon = 1.0", "epsilon = 4.0"), files.data(lengths))
    (folder / "weeks.toml").write_text(WEEKS, encoding="utf-8")
    hours = [f"2026-01-{5 + hour // 24:02}T{hour % 24:02}:00,calm" for hour in range(336)]
    (folder / "ward.csv").write_text("\n".join(["hour,state", *hours]), encoding="utf-8")
    os.chdir(folder)
    try:
        assert invoke("release", "release.toml").exit_code == 0  # whatever is asked first finds a ledger and a table
        yield folder
    finally:
        os.chdir(before)


COMMANDS = [
    ["cost", "release.toml"], ["cost", "release.toml", "--all"], ["release", "release.toml", "--dry-run"],
    ["odds"], ["odds", "--delta", "1e-6", "--epsilon", "0.001"], ["cost", "release.toml", "--epsilons", "0.5,1,2"],
    ["cost", "--windows", "52", "weeks.toml"], ["release", "weeks.toml", "--dry-run"], ["release", "release.toml"],
    ["verify", "out/time-use-pooled.certificate.json"], ["ledger", "show", "ledger.db"],
    ["ledger", "verify", "ledger.db", "out"], ["ledger", "set-budget", "ledger.db", "study", "10"],
    ["ledger", "resume", "ledger.db"],
    ["init", "data.csv", "-o", "other.toml", "--kind", "users", "--unit", "-", "--value", "spare"],
    ["reproduce"], ["example", "--run"], ["beliefs"],
    ["beliefs", "release.toml"],
]  # fmt: skip
HELP = [[*path, "--help"] for path in ((), ("ledger",), *all_commands())]


def _into(words: list[str], where: str, said: str) -> None:
    """Run a command with its standard output (or also its errors) where nobody can read it."""
    import sys

    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    if where == "a closed pipe":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open("/dev/full", os.O_WRONLY)
    os.dup2(writer, 1)
    if where == "full, and errors too":
        os.dup2(writer, 2)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    from takifugu.cli import main

    main(words, prog_name="takifugu")


#: Where help goes, and the exit code and words then: those of a command that prints a result there.
NOWHERE = {
    "a full disk": (2, "takifugu: the output cannot be written (no space left on device)\n"),
    "full, and errors too": (2, ""),
    "a closed pipe": (0, ""),
}


@pytest.mark.parametrize("where", NOWHERE)
def test_help_that_nobody_reads_ends_like_a_result(tmp_path: Path, where: str) -> None:
    code, words = NOWHERE[where]
    said = tmp_path / "said.txt"
    for help_of in [*HELP, ["--version"]]:
        assert in_a_child(_into, help_of, where, str(said)) == code, help_of
        assert said.read_text() == words, help_of


def test_a_usage_error_that_nobody_reads_keeps_its_code(tmp_path: Path) -> None:
    for words in ([], ["ledger"], ["--nonsense"], ["relaese"], ["release"]):
        assert in_a_child(_into, words, "full, and errors too", str(tmp_path / "said.txt")) == 2, words


def too_long(text: str, columns: int) -> list[str]:
    """Return the lines that are wider than that although there is a blank where they could have been broken."""
    whole = ("takifugu ", "`takifugu ", "Files  ", "Next  ", "folder  ")  # commands and paths, to be copied as they are
    lines = (line for line in text.splitlines() if not line.startswith(whole))
    return [line for line in lines if len(line) > columns and len(line.split()) > 1]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("words", [*COMMANDS, *HELP], ids=" ".join)
@pytest.mark.parametrize("columns", [60, pytest.param(80, marks=pytest.mark.slow)])
def test_lines_fit_the_terminal(place: Path, words: list[str], columns: int) -> None:
    writes = words[0] in ("init", "release") and not {"--dry-run", "--help"} & {*words}
    (place / "other.db").unlink(missing_ok=True)
    outcome = succeed(*words, *(["--force"] if writes else []), COLUMNS=str(columns))
    assert too_long(outcome.stdout, columns) == []


@pytest.mark.parametrize("columns", [40, 60, 72, 80, 100])
def test_tables_fold_where_they_do_not_fit(columns: int) -> None:
    header = ["table", "answers", "± (95 %)", "a cell can be", "± of that", "half exceeds"]
    cells = ["time-use-of-a-ward-in-winter", "the whole source", "12.3456", "0 to 1,000,000", "0.1 %", "1"]
    rows = [cells, [*"abcdef"]]
    with fitting(columns):
        printed = text_table(header, rows)
    assert max(map(len, printed.splitlines())) <= columns
    for cell in (*header, *rows[0]):
        assert all(word in printed for word in cell.split()), cell
    assert (printed.count("a cell can be") == 2) == (columns < 72)  # a list for each row


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return files.write(tmp_path)


def failure(*words: object) -> Any:
    """Return the one document that a failing command prints."""
    outcome = invoke(*words, "--json")
    assert outcome.exit_code > 0
    content = json.loads(outcome.stdout)
    assert list(content) == ["format", "command", "file", "error"]
    assert content["format"] == "takifugu-cli/1"
    assert content["error"]["exit_code"] == outcome.exit_code
    keys = {"what", "rule", "fix", "where", "kind", "exit_code", "state", "standing", "published", "faults"}
    assert set(content["error"]) == keys
    assert content["error"]["what"]
    assert "Traceback" not in outcome.output
    assert outcome.stderr.startswith(("takifugu: ", "Usage: "))
    return content


@pytest.mark.mutants
def test_a_faulty_file_is_a_list_of_faults_and_a_refusal_says_so(fresh: Path) -> None:
    fresh.write_text(changed(files.SPEC, ('query = "', 'query = "x')), encoding="utf-8")
    for command in ("cost", "release"):
        failed = failure(command, fresh)
        assert (failed["command"], failed["file"], failed["error"]["kind"]) == (command, str(fresh), "SpecError")
        (fault,) = failed["error"]["faults"]
        assert (fault["where"], set(fault)) == ("table[0].query", {"what", "rule", "fix", "where"})
        assert fault["fix"]
    fresh.write_text(changed(files.SPEC, ("budget = 10\n", "budget = 0.001\n")), encoding="utf-8")
    error = failure("release", fresh)["error"]
    assert (error["kind"], error["exit_code"], error["state"]) == ("BudgetExceeded", 1, "nothing happened")
    assert failure("ledger", "set-budget", fresh.parent / "ledger.db", "nobody", "1")["command"] == "ledger set-budget"


@pytest.mark.parametrize(("words", "kind", "code"), [
    (["cost"], "UsageError", 2), (["release", "a.toml", "--frce"], "UsageError", 2),
    (["nothing"], "UsageError", 2), (["ledger", "lose"], "UsageError", 2), (["cost", "x.toml", "--windows", "x"],
    "UsageError", 2), (["odds", "--prior", "2"], "InputError", 2), (["--frce", "cost"], "UsageError", 2),
    (["cost", "nowhere.toml"], "SpecError", 2), (["keys", "x"], "InputError", 2),
    (["verify", "nowhere.json"], "InputError", 2), (["reproduce", "x"], "InputError", 2),
])  # fmt: skip
def test_every_failure_is_json(words: list[str], kind: str, code: int) -> None:
    failure_words = failure(*words)
    assert (failure_words["error"]["kind"], failure_words["error"]["exit_code"]) == (kind, code)
    if kind == "UsageError":
        assert "--help" in failure_words["error"]["fix"]


def test_an_interrupt_and_a_fault_are_json(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = ZeroDivisionError("a row of the data")
    for error, kind, code in ((KeyboardInterrupt(), "Stopped", 130), (fault, "Fault", 3)):
        monkeypatch.setattr("takifugu.releasing.publishing.run.plan", raising(error))
        failure_words = failure("release", fresh)
        assert (failure_words["error"]["kind"], failure_words["error"]["exit_code"]) == (kind, code)
        assert "a row of the data" not in json.dumps(failure_words)


@pytest.mark.slow
def test_errors_fit_a_terminal_and_colours_are_left_out_where_unwanted(fresh: Path) -> None:
    fresh.write_text(fresh.read_text(encoding="utf-8").replace('query = "', 'query = "x'), encoding="utf-8")
    compare, place = ["cost", "release.toml"], fresh.parent
    _, _, printed = in_streams(compare, place, (), before=TIMELESS, COLUMNS="60", TERM="xterm", NO_COLOR="")
    assert "\x1b[31mtakifugu:" in printed
    for unwanted in ({"TERM": "dumb"}, {"NO_COLOR": "1", "TERM": "xterm"}):
        _, _, printed = in_streams(compare, place, (), before=TIMELESS, COLUMNS="60", **unwanted)
        assert "\x1b" not in printed
        assert printed.startswith("takifugu: table[0].query")
        assert too_long(printed, 60) == []


@pytest.mark.parametrize("is_terminal", [True, False])
def test_where_no_line_is_redrawn_one_is_printed_every_ten_seconds(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    may_go_on, waits = queue.Queue[bool](), queue.Queue[float]()

    def wait(ended: threading.Event, seconds: float) -> bool:
        waits.put(seconds)  # what was to be printed is printed
        return may_go_on.get()

    times = iter([0.0, 10.0, 20.0, 180.0])
    monkeypatch.setattr(progress, "CLOCK", progress.Clock(lambda: next(times), wait))
    monkeypatch.setattr(progress, "is_terminal", lambda stream: is_terminal)
    monkeypatch.setenv("TERM", "dumb" if is_terminal else "xterm")
    with progress.watching() as watch:
        for work in (("reading the data", 0, 1), ("calibrating weekly", 3, 1200), ("calibrating weekly", 900, 1200)):
            assert waits.get() == 10
            watch(*work)
            may_go_on.put(False)
        assert waits.get() == 10
        lines = capsys.readouterr().err.splitlines()
        may_go_on.put(True)
    assert lines == [
        "takifugu: reading the data, after 10 s",
        "takifugu: calibrating weekly, 3 of 1,200, after 20 s",
        "takifugu: calibrating weekly, 900 of 1,200, after 3 minutes",
    ]


def test_no_bar_is_drawn_over_a_question(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.redraw("calibrating")
    drawing = threading.Thread(target=terminal.redraw, args=("still calibrating",))
    with terminal.undisturbed():
        assert capsys.readouterr().err == f"\rcalibrating\rcalibrating\r{' ' * 11}\r"
        drawing.start()
        drawing.join(0.05)
        assert capsys.readouterr().err == ""
    drawing.join()
    terminal.redraw()
    assert capsys.readouterr().err.startswith("\rstill calibrating\rstill calibrating\r ")


def test_a_command_in_a_pipe_says_how_far_it_is(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working, printed = threading.Event(), threading.Event()

    def wait(ended: threading.Event, seconds: float) -> bool:
        if working.is_set():
            printed.set()
            return ended.wait()
        return not working.wait()

    def calibrated(file: Any, scopes: Any, watch: Any) -> Any:
        watch("calibrating time-use", 1, 2)
        working.set()
        printed.wait()
        return whole(file, scopes, watch)

    whole = cost.planned_of
    monkeypatch.setattr(cost, "planned_of", calibrated)
    monkeypatch.setattr(progress, "CLOCK", progress.Clock(lambda: 0.0, wait))
    done = invoke("cost", fresh, "--json")
    assert json.loads(done.stdout)["command"] == "cost"
    assert done.stderr == "takifugu: calibrating time-use, 1 of 2, after 0 s\n"

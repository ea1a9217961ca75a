"""Each command that is printed as a remedy, taken out of the real output and pasted, does what it says.

`command(...)` is the one way to print one. A place of the sources that prints one and has no test here is noticed, and
so is a command or an option in words that are written by hand.
"""

import ast
import re
import shlex
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result
from tests.releasing.publishing.test_crashes import SPEC
from tests.releasing.publishing.test_states import counting, small, stopped
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.failing import FULL, failing
from tests.support.paying import copied, restored
from tests.support.release_files import EXPECT, believe, changed, publish, read_from, release_text
from tests.support.releases import put
from tests.support.sources import parsed
from tests.support.starting import begin, init, table_in
from tests.support.workbooks import write_workbook

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.standing import telling
from takifugu.core.errors import ReleaseState
from takifugu.releasing.advice.changes import applied
from takifugu.releasing.advice.forecast import forecast_of
from takifugu.releasing.file.loading import checked
from takifugu.releasing.planning.plan import plan
from takifugu.releasing.publishing import folder as folders

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "takifugu"
ONE = SPEC[: SPEC.rindex("[[table]]")]
AGAIN = ("--replace", "both", "--idempotency-key")
#: Places of the sources whose commands a test pastes: file and function.
PASTED: set[str] = set()

Test = Callable[..., None]


def of(*places: str) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        PASTED.update(places)
        return test

    return mark


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    return small(tmp_path, ONE)


def printed(result: Result, *start: str) -> list[str]:
    """Return the commands that begin so, as whoever pastes them copies them from the lines."""
    commands = [shlex.split(one) for one in re.findall(r"`takifugu ([^`\n]*)`", result.output)]
    commands = [one for one in commands if one[: len(start)] == [*start]]
    assert commands, result.output
    return commands[0]


def pasted(result: Result, *start: str) -> Result:
    return invoke(*printed(result, *start))


def written_in(result: Result, pattern: str) -> str:
    """Return what an output says to write: the first group of a pattern, or all that fits it."""
    words = re.search(pattern, result.output)
    assert words is not None, result.output
    return words[words.lastindex or 0]


def payments(ledger: Path) -> int:
    return len(Ledger.open(ledger).payments("study"))


def replaced(toml: Path, old: str, new: str) -> Path:
    text = toml.read_text(encoding="utf-8")
    assert old in text
    toml.write_text(text.replace(old, new, 1), encoding="utf-8")
    return toml


# Every place that prints one is among these.


def _docstrings(tree: ast.AST) -> set[int]:
    rooms = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    first = [node.body[0] for node in ast.walk(tree) if isinstance(node, rooms) and node.body]
    return {id(one.value) for one in first if isinstance(one, ast.Expr)}


def written_with(words: str) -> Iterator[Path]:
    """Yield the files of the package whose text has a pattern: the others need no syntax tree."""
    return (path for path in SRC.rglob("*.py") if re.search(words, path.read_text(encoding="utf-8")))


def places_that_print() -> set[str]:
    places = set()
    for path in written_with(r"\bcommand\("):
        top = parsed(path).body
        methods = [node for room in top if isinstance(room, ast.ClassDef) for node in room.body]
        for node in [node for node in top if not isinstance(node, ast.ClassDef)] + methods:
            calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
            if any(isinstance(call, ast.Name) and call.id == "command" for call in calls):
                places.add(f"{path.relative_to(SRC).as_posix()}: {getattr(node, 'name', '')}")
    return places


@pytest.mark.mutants
def test_no_command_is_forgotten() -> None:
    assert places_that_print() == PASTED


#: Files whose words name commands and options without `command`: what declares and drafts them, and what is no
#: remedy (tables of a relation begin with the name, too).
BY_HAND = (
    "cli/", "releasing/file/sections.py", "releasing/report/", "releasing/postprocess/open_data.py",
    "data/cluster/spark.py", "numbers/noise/entropy.py", "data/relation/", "data/sql/", "data/files/",
    "releasing/draft/", "releasing/publishing/forms.py",
)  # fmt: skip
#: Words with an option that is added to the command that printed them, each with its own test below or above.
OPTIONS = ("write --allow-useless", "take the others with --only NAME", "such as --idempotency-key 2",
           "such as --window ", "fewer steps, such as --steps 200", "fewer with --people or --steps",
           "which takifugu cost --all names",
           "with --new-ledger", "or write --force",
           "write --other-entries", "leave --same-entries", "example --same-entries",
           "--same-entries WHY")  # fmt: skip


@pytest.mark.mutants
def test_no_remedy_is_written_by_hand() -> None:
    for path in written_with(r"takifugu(?!\.)|--"):
        tree = parsed(path)
        docs = _docstrings(tree)
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        for node in texts:
            is_bare = bool(re.fullmatch(r"--[a-z-]+", node.value))
            names = re.search(r"takifugu [a-z]|(?<![\w-])--[a-z]", node.value)
            if names and not is_bare and id(node) not in docs:
                where = path.relative_to(SRC).as_posix()
                assert where.startswith(BY_HAND) or any(one in node.value for one in OPTIONS), (where, node.value)


@pytest.mark.mutants
@of("cli/releasing.py: print_files", "cli/walk.py: _walk")
def test_what_comes_next_is_a_report_and_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) is None)
    said = succeed("example", "--run", "--output", tmp_path)
    (line,) = re.findall(r"^Next +takifugu (.*)$", said.stdout, re.MULTILINE)
    succeed(*shlex.split(line))
    assert opened
    monkeypatch.chdir(tmp_path)
    assert "already published" in pasted(said, "release").output


@pytest.mark.slow
@of("core/errors.py: sentence")
@pytest.mark.parametrize("state", [ReleaseState.PAID, ReleaseState.DRAWN, ReleaseState.UNRECORDED])
def test_the_state_of_a_release_says_how_to_complete_it(
    tmp_path: Path, toml: Path, monkeypatch: pytest.MonkeyPatch, state: ReleaseState
) -> None:
    resumed = pasted(stopped(toml, monkeypatch, state), "ledger", "resume")
    assert (resumed.exit_code, payments(tmp_path / "ledger.db")) == (0, 1)
    assert "already published" in invoke("release", toml).output


@pytest.mark.mutants
@of("releasing/publishing/states.py: resuming")
def test_what_a_key_paid_for_is_completed(tmp_path: Path, toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(monkeypatch, folders.os, "replace", FULL):
        ended(4, "release", "--idempotency-key", "K", toml)
    other = ended(2, "release", "--idempotency-key", "K", replaced(toml, "epsilon = 4.0", "epsilon = 3.0"))
    assert pasted(other, "ledger", "resume").exit_code == 0
    assert (tmp_path / "out" / "both.csv").exists()


@of("releasing/publishing/resuming.py: _outcome")
def test_what_a_moved_folder_waits_for_is_released_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").mkdir()
    stopped(small(tmp_path / "old", ONE), monkeypatch, ReleaseState.DRAWN)
    (tmp_path / "old").rename(tmp_path / "new")
    moved = ended(4, "ledger", "resume", tmp_path / "new" / "ledger.db")
    monkeypatch.chdir(tmp_path / "new")
    assert pasted(moved, "release").exit_code == 0
    assert Path("out", "both.csv").exists()
    assert payments(Path("ledger.db")) == 1


@pytest.mark.slow
@of("releasing/publishing/resuming.py: _release")
def test_a_session_goes_on(tmp_path: Path) -> None:
    toml = _example(tmp_path, "venues")
    succeed("session", toml, "library")
    waiting = ended(4, "ledger", "resume", tmp_path / "venues-ledger.db")
    assert "library" in pasted(waiting, "session").output


@pytest.mark.slow
@of("releasing/publishing/states.py: paying_again")
@pytest.mark.parametrize("name", ["release.toml", "a study of it.toml"])
def test_after_a_deleted_folder_new_values_are_paid_for(tmp_path: Path, name: str) -> None:
    toml = small(tmp_path, ONE).rename(tmp_path / name)
    succeed("release", toml)
    shutil.rmtree(tmp_path / "out")
    refused = ended(2, "release", toml)
    assert pasted(refused, "release").exit_code == 0
    assert (tmp_path / "out" / "both.csv").exists()
    assert payments(tmp_path / "ledger.db") == 2


@pytest.mark.slow
@pytest.mark.parametrize("asking", [("release", "release.toml"), ("ledger", "resume", "ledger.db")])
def test_lost_values_are_paid_for_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asking: tuple[str, ...]
) -> None:
    toml = small(tmp_path, SPEC)
    stopped(toml, monkeypatch, ReleaseState.DRAWN)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as edited:
        edited.execute("delete from waiting")
        edited.commit()
    lost = ended(4, *asking[:-1], tmp_path / asking[-1])
    again = pasted(lost, "release")
    assert again.exit_code == 0, again.output
    assert (tmp_path / "out" / "both.csv").exists()


@pytest.mark.slow
def test_another_key_is_one_to_write(tmp_path: Path, toml: Path) -> None:
    succeed("release", toml)
    refused = invoke("release", "--replace", "both", toml)
    succeed("release", "--replace", "both", *written_in(refused, r"--idempotency-key \S+").split(), toml)
    assert payments(tmp_path / "ledger.db") == 2


@of("cli/ledgers.py: print_ledger")
def test_a_ledger_says_how_what_waits_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(small(tmp_path, ONE), monkeypatch, ReleaseState.DRAWN)
    assert pasted(invoke("ledger", "show", tmp_path / "ledger.db"), "ledger", "resume").exit_code == 0
    assert (tmp_path / "out" / "both.csv").exists()


ENOUGH = r"write (budget = \S+) under \[source\]"


@pytest.mark.slow
@of("accounting/ledger/words.py: setting")
@pytest.mark.parametrize("budget", ["{ epsilon = 500, delta = 1e-6 }", "500"])
def test_a_larger_budget_of_the_file_is_told_to_the_ledger(toml: Path, budget: str) -> None:
    succeed("release", toml)
    replaced(toml, "budget = 400", f"budget = {budget}")
    refused = ended(2, "release", toml, *AGAIN, "2")
    assert pasted(refused, "ledger", "set-budget").exit_code == 0
    succeed("release", toml, *AGAIN, "2")


@pytest.mark.slow
def test_files_of_two_budgets_do_not_take_turns(tmp_path: Path, toml: Path) -> None:
    larger = replaced(Path(shutil.copy(toml, tmp_path / "larger.toml")), "budget = 400", "budget = 401")
    succeed("release", toml)
    assert pasted(ended(2, "release", larger, *AGAIN, "2"), "ledger", "set-budget").exit_code == 0
    succeed("release", larger, *AGAIN, "2")
    refused = ended(2, "release", toml, *AGAIN, "3")
    assert "or write the ledger's, epsilon 401" in words_of(refused)
    assert "ledger set-budget" not in refused.output
    succeed("release", replaced(toml, "budget = 400", "budget = 401"), *AGAIN, "3")


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize("declared", ["budget = 0.6\n", ""])
def test_a_release_above_the_budget_says_which_is_enough(tmp_path: Path, declared: str, dry: tuple[str, ...]) -> None:
    toml = small(tmp_path, ONE.replace("budget = 400\n", declared))
    succeed("release", toml)
    refused = ended(1, "release", *dry, toml, *AGAIN, "2")
    assert pasted(refused, "ledger", "set-budget").exit_code == 0
    if declared:
        replaced(toml, declared.strip(), written_in(refused, ENOUGH))
    succeed("release", toml, *AGAIN, "2")


@pytest.mark.slow
def test_a_budget_that_no_ledger_has_counted_needs_no_command(tmp_path: Path) -> None:
    toml = small(tmp_path, ONE.replace("budget = 400\n", "budget = 0.1\n"))
    refused = invoke("release", "--dry-run", toml)
    assert "ledger set-budget" not in refused.output
    succeed("release", replaced(toml, "budget = 0.1", written_in(refused, ENOUGH)))


@pytest.mark.mutants
def test_no_budget_is_told_of_that_hides_nothing(tmp_path: Path) -> None:
    """Other entries cost a change of all data. To write the file as before works."""
    source = read_from("study", "data.csv", order="t", rows="changes", default_state="a", step=1, from_=0, until=300,
                       value="state", budget=3)  # fmt: skip
    belief = believe("markov-chain", states=["a", "b"], matrix=[[0.9, 0.1], [0.1, 0.9]], source="a test",
                     units_independent=True)  # fmt: skip
    toml = put(tmp_path, {"release.toml": release_text(source, belief, publish("one", "histogram", epsilon=1)),
                          "data.csv": "t,state\n5,b\n80,a\n"})  # fmt: skip
    succeed("release", toml, "--allow-useless")
    replaced(toml, 'default_state = "a"', 'default_state = "b"')
    replaced(toml, '"one"', '"two"')
    refused = words_of(ended(1, "release", toml, "--allow-useless", "--other-entries"))
    assert re.search(r"no budget is worth that: an epsilon of [0-9.]+ hides next to nothing", refused)
    assert "ledger set-budget" not in refused
    succeed("release", replaced(toml, 'default_state = "b"', 'default_state = "a"'), "--allow-useless")


@pytest.mark.mutants
@of("cli/output.py: _with_command", "releasing/planning/notices.py: notices_of_reading")
def test_what_is_asked_names_the_command_that_answers_and_the_one_with_the_prices(toml: Path) -> None:
    succeed("release", toml, "--allow-useless")
    replaced(toml, "[source]\n", "[source]\nnulls = 'unobserved'\n")
    prices = words_of(invoke("cost", toml))
    refused = ended(2, "release", toml, "--allow-useless", "--replace", "both", "--idempotency-key", "2")
    for answer in ("--same-entries", "--other-entries"):
        assert re.search(rf"{answer}[^:]*: 'study' goes from epsilon", words_of(refused))
        assert re.search(rf"{answer}[^:]*: 'study' goes from epsilon", prices)
    as_printed = printed(refused, "release")
    assert invoke(*as_printed).exit_code == 2  # a reason is the owner's word
    assert invoke(*(word.replace("WHY", "a gap was never a state") for word in as_printed)).exit_code == 0
    assert payments(toml.parent / "ledger.db") == 2


def test_a_table_above_the_whole_budget_is_noticed_by_check(tmp_path: Path) -> None:
    toml = replaced(_example(tmp_path, "households"), "budget = 4.0", "budget = 1.0")
    succeed("check", replaced(toml, "budget = 1.0", written_in(ended(1, "check", toml), ENOUGH)))


def test_in_python_the_error_has_the_command(tmp_path: Path) -> None:
    made = counting("still", "walking")
    ledger = tmp_path / "ledger.db"
    tf.release(made, ["still"] * 4, entries="values", ledger=ledger, source="my data")
    with pytest.raises(tf.TakifuguError) as refused:
        tf.release(made, ["walking"] * 4, entries="values", ledger=ledger, source="my data")
    invoke(*shlex.split(re.findall(r"`takifugu ([^`]*)`", str(refused.value))[0]))
    tf.release(made, ["walking"] * 4, entries="values", ledger=ledger, source="my data")


@pytest.mark.slow
def test_an_edited_ledger_is_restored_and_told_what_was_published_since(tmp_path: Path) -> None:
    toml, ledger = small(tmp_path, SPEC), tmp_path / "ledger.db"
    succeed("release", toml, "--only", "walking")
    early = copied(ledger, tmp_path / "early.db")
    succeed("release", toml, "--only", "both")
    with closing(sqlite3.connect(ledger)) as edited:
        edited.execute("update events set digest = 'ff' where number = 2")
        edited.commit()
    refused = ended(2, "release", toml, *AGAIN, "2")
    assert "edited or damaged; restore a copy, and import the certificates" in words_of(refused)
    restored(ledger, early)
    succeed("ledger", "import-certificates", ledger, tmp_path / "out", "--yes")
    assert payments(ledger) == 2


@pytest.mark.slow
@of("cli/ledgers.py: verify")
def test_what_another_ledger_published_is_entered(tmp_path: Path) -> None:
    for name in ("one", "other"):
        succeed("release", small(tmp_path / name, ONE))
    refused = ended(2, "ledger", "verify", tmp_path / "one" / "ledger.db", tmp_path / "other" / "out")
    succeed(*printed(refused, "ledger", "import-certificates"), "--yes")
    assert payments(tmp_path / "one" / "ledger.db") == 2


@pytest.mark.slow
@of("releasing/file/neighbours.py: notices_of_file")
@pytest.mark.parametrize("output", ["", 'output = "out"\n'])
def test_what_the_ledger_of_another_file_paid_for_is_entered(tmp_path: Path, output: str) -> None:
    other = small(tmp_path, ONE.replace('output = "out"\n', output)).rename(tmp_path / "other.toml")
    succeed("release", other)
    toml = small(tmp_path, ONE.replace('"ledger.db"', '"new.db"').replace('"out"', '"new"'))
    succeed("release", toml, "--new-ledger")
    notice = invoke("check", toml)
    succeed(*printed(notice, "ledger", "import-certificates"), "--yes")
    assert payments(tmp_path / "new.db") == 2


def test_a_ledger_that_is_required_is_made_on_purpose(tmp_path: Path) -> None:
    toml = small(tmp_path, f"require_ledger = true\n{ONE}")
    assert "leave require_ledger out once" in words_of(ended(2, "release", toml))
    succeed("release", replaced(toml, "require_ledger = true\n", ""))
    replaced(toml, "ledger =", "require_ledger = true\nledger =")
    assert "already published" in succeed("release", toml).output


@pytest.mark.slow
@of("releasing/publishing/new_ledger.py: _forgotten", "cli/ledgers.py: verify")
@pytest.mark.parametrize("command", ["release", "verify"])
def test_a_ledger_that_has_forgotten_a_release_is_told(tmp_path: Path, command: str) -> None:
    toml, ledger = small(tmp_path, SPEC), tmp_path / "ledger.db"
    succeed("release", toml, "--only", "walking")
    early = copied(ledger, tmp_path / "early.db")
    succeed("release", toml, "--only", "both")
    restored(ledger, early)
    words = ("release", toml) if command == "release" else ("ledger", "verify", ledger, tmp_path / "out")
    succeed(*printed(ended(2, *words), "ledger", "import-certificates"), "--yes")
    assert payments(ledger) == 2
    assert "already published" in invoke("release", toml).output


@pytest.mark.slow
def test_another_ledger_is_taken_with_an_option(tmp_path: Path, toml: Path) -> None:
    succeed("release", toml)
    (tmp_path / "ledger.db").rename(tmp_path / "away.db")
    refused = ended(2, "release", toml, *AGAIN, "2")
    assert "--new-ledger" in refused.output
    succeed("release", toml, *AGAIN, "2", "--new-ledger")


USELESS = ONE.replace("matters = 1000\n", "matters = 0.001\n").replace("unimportant", "# unimportant")


@pytest.mark.slow
@of(
    "releasing/advice/refusing.py: _reasons", "releasing/steps.py: foreseen",
    "releasing/planning/notices.py: unjudged_words", "releasing/advice/forecast.py: foreseen",
)  # fmt: skip
def test_who_knows_more_is_a_command_away(tmp_path: Path) -> None:
    toml = small(tmp_path, USELESS)
    tried = (("release",), ("release", "--dry-run"), ("release", "--dry-run", "--allow-useless"))
    (advise,) = {tuple(printed(invoke(*command, toml), "advise")) for command in tried}
    assert "useless" in succeed(*advise).output
    assert "good" in pasted(invoke("check", _example(tmp_path, "households")), "advise").output
    notice = invoke("cost", _example(tmp_path, "people"))
    assert "ledger" in pasted(notice, "release", "--dry-run").output


def _example(folder: Path, name: str) -> Path:
    for path in (ROOT / "examples").glob("*"):
        if path.is_file():
            shutil.copy(path, folder)
    return folder / f"{name}.toml"


FITTED = re.sub(r"matrix = .*\n", 'fit = { file = "data.csv", value = "state", order = "t", private = true }\n', ONE)
MISSPELT = changed(ONE, ('source = "a test"\n\n[[', 'sources = "a test"\n\n[['))


@of("releasing/cost.py: cost", "releasing/planning/prices.py: only_one",
    "releasing/file/loading.py: checked", "releasing/file/kinds.py: which_kind",
    "releasing/file/problems.py: problems_of")  # fmt: skip
@pytest.mark.parametrize(("spec", "command", "code", "start", "words"), [
    pytest.param(ONE, ("cost", "--mechanism", "ALap"), 2, ("cost", "--all"), "", marks=pytest.mark.slow),
    pytest.param(ONE, ("cost",), 0, ("cost", "--all"), "does not apply:", marks=pytest.mark.slow),
    (FITTED, ("check",), 2, ("cost",), "ledger"),
    (MISSPELT, ("check",), 2, ("keys",), "matrix"),
    (changed(MISSPELT, ('"markov-chain"', '"markof-chain"')), ("check",), 2, ("init",), "Kinds:"),
])  # fmt: skip
def test_more_is_a_command_away(
    tmp_path: Path, spec: str, command: tuple[str, ...], code: int, start: tuple[str, ...], words: str
) -> None:
    """Every mechanism; what a check may not see, as it reads private data; the kinds and keys of files."""
    assert words in succeed(*printed(ended(code, *command, small(tmp_path, spec)), *start)).output


WEEKS = release_text(
    read_from("weeks", "weeks.csv", order="at", value="state", step="1h", from_="2026-01-05 00:00", budget=400),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], source="a test"),
    publish("weekly", "count", states=["walking"], every="week", epsilon=2.0),
    ledger="weeks.db", output="out", expect=EXPECT,
)  # fmt: skip


def _weeks(folder: Path, spec: str = WEEKS) -> Path:
    rows = [f"2026-{1 + d // 31:02}-{1 + d % 31:02} {h:02}:00,{'walking' if h % 3 else 'still'}\n"
            for d in range(4, 45) for h in range(24)]  # fmt: skip
    return put(folder, {"weeks.toml": spec, "weeks.csv": "at,state\n" + "".join(rows)})


@pytest.mark.slow
@of("releasing/planning/outlook.py: outlook")
def test_what_many_windows_cost_is_a_command_away(tmp_path: Path) -> None:
    dry = invoke("release", "--dry-run", "--window", "2026-W02", _weeks(tmp_path))
    assert "windows fit the budget" in words_of(pasted(dry, "cost"))
    planned = ended(2, "cost", "--windows", "52", _example(tmp_path, "people"))
    assert "ledger" in pasted(planned, "release", "--dry-run").output


@pytest.mark.mutants
@of("releasing/report/outcomes.py: _later")
def test_the_next_window_is_a_command_away(tmp_path: Path) -> None:
    succeed("release", "--window", "2026-W02", file := _weeks(tmp_path))
    again = succeed("release", "--window", "2026-W02", file)
    assert "Published weekly-2026-W03" in words_of(pasted(again, "release"))


@of("pages/explorer/link.py: _unfit")
def test_the_explorer_opens_without_the_file_that_it_cannot_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) is None)
    assert pasted(ended(2, "explore", _example(tmp_path, "people")), "explore").exit_code == 0
    assert len(opened) == 1


@of("releasing/certificates/signing.py: _signer")
def test_another_signing_key_is_a_command_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "signing.key"
    monkeypatch.setenv("TAKIFUGU_SIGNING_KEY", str(key))
    key.write_text("no key", encoding="utf-8")
    key.chmod(0o600)
    failed = ended(2, "ledger", "key")
    key.rename(tmp_path / "away")
    assert pasted(failed, "ledger", "key").exit_code == 0
    assert key.exists()


@of("accounting/ledger/standing.py: telling")
def test_how_far_a_stopped_command_came_is_a_command_away(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.db"

    def stopping() -> None:
        with telling(ledger, prints_last=False):
            Ledger.open(ledger)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stop:
        stopping()
    printed = re.search(r"`takifugu ([^`]*)`", stop.value.standing)  # type: ignore[attr-defined]
    assert printed is not None
    succeed(*shlex.split(printed[1]))


def test_a_calendar_without_an_end_names_its_first_window(tmp_path: Path) -> None:
    toml = _weeks(tmp_path)
    succeed("release", toml, *written_in(invoke("release", toml), r"--window \S+").split())
    assert (tmp_path / "out" / "weekly-2026-W02.csv").exists()


@pytest.mark.slow
def test_a_window_has_remedies_that_keep_their_promise(tmp_path: Path) -> None:
    toml = _weeks(tmp_path, WEEKS.replace("matters = 1000", "matters = 2"))
    advised = tf.advise(toml, window="2026-W02")
    assert advised.remedies
    for remedy in advised.remedies:
        raw = applied(tomllib.loads(toml.read_text()), remedy.changes)
        foreseen = forecast_of(plan(checked(raw, toml, None, "2026-W02")), allow_useless=True)
        (table,) = foreseen.tables
        assert table.name == remedy.table == "weekly-2026-W02"
        assert remedy.joint is not None
        assert remedy.joint.half_width in {blur.half_width for blur in table.blurs}


@pytest.mark.slow
def test_a_second_table_of_another_period_leaves_the_first_as_it_is(tmp_path: Path) -> None:
    """A job that publishes each week goes on when a monthly table is added, and remedies name the window."""
    monthly = WEEKS[WEEKS.index("[[table]]") :].replace("weekly", "monthly").replace('"week"', '"month"')
    toml = _weeks(tmp_path, f"{WEEKS}\n{monthly}")
    for window, name in (("2026-W02", "weekly"), ("2026-02", "monthly")):
        for command in ("check", "advise", "cost --windows 2", "release --dry-run", "release --allow-useless"):
            outcome = invoke(*command.split(), "--window", window, toml)
            early = window == "2026-02" and command.startswith("release")  # the data end before the month does
            assert outcome.exit_code == 0 or early, outcome.output
        assert early or (tmp_path / "out" / f"{name}-{window}.csv").exists()
    shutil.rmtree(tmp_path / "out")
    again = pasted(invoke("release", "--window", "2026-W02", toml), "release")
    assert again.exit_code == 0
    assert (tmp_path / "out" / "weekly-2026-W02.csv").exists()


@pytest.mark.parametrize(("spec", "code", "option"), [
    pytest.param(USELESS, 1, "--allow-useless", marks=pytest.mark.slow), (ONE, 2, "--force"),
])  # fmt: skip
def test_options_publish_a_useless_table_and_replace_a_strange_file(
    tmp_path: Path, spec: str, code: int, option: str
) -> None:
    toml = small(tmp_path, spec)
    if option == "--force":
        put(tmp_path / "out", {"both.csv": "mine"})
    assert option in ended(code, "release", toml).output
    succeed("release", toml, option)


def with_lines(toml: Path, lines: list[str]) -> None:
    """Paste lines of TOML under the section that the comment before them names, instead of the lines of their keys."""
    text, section = toml.read_text(encoding="utf-8"), ""
    for line in lines:
        header = re.match(r"# in (.*)", line)
        taken = re.match(r"# take out the line (\S+) =", line)
        if header is not None:
            section = header[1]
            continue
        key = taken[1] if taken is not None else line.split(" = ")[0]
        text = _in_section(text, section, key, "" if taken is not None else f"{line}\n")
    toml.write_text(text, encoding="utf-8")


def _in_section(text: str, section: str, key: str, line: str) -> str:
    parts = re.split(r"(?m)^(?=\[)", text)
    name = re.match(r'\[\[table\]\] "(.*)"', section)
    for i, part in enumerate(parts):
        is_it = f'name = "{name[1]}"' in part and part.startswith("[[table]]") if name else part.startswith(section)
        if is_it or (section == "the top of the file" and i == 0):
            others = re.sub(rf"(?m)^{key} = .*\n", "", part)
            head, rest = ("", others) if section == "the top of the file" else others.split("\n", 1)
            parts[i] = f"{head}\n{line}{rest}" if head else f"{line}{rest}"
    return "".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("released", [False, True])
def test_every_remedy_of_advise_does_what_it_promises(tmp_path: Path, released: bool) -> None:
    spec = ONE.replace("matters = 1000\n", "matters = 3\n").replace("unimportant", "# unimportant")
    spec = spec.replace("budget = 400", "budget = 8").replace('mechanism = "group-dp"\n', "").replace("4.0", "1.0")
    toml = small(tmp_path, spec, rows=200)
    if released:
        succeed("release", toml, "--allow-useless")
    advised = invoke("advise", toml)
    parts = re.split(r"(?m)^\d+\. ", advised.output)[1:]
    assert parts, advised.output
    original = toml.read_text()
    for part in parts:
        promise = re.sub(r"; its ± is.*|\(it needs.*", "", " ".join(re.split(r"\n[a-z]", part)[0].split())).strip()
        for words in re.findall(r"`takifugu ([^`\n]*)`", part):
            succeed(*shlex.split(words))
        with_lines(toml, [line.strip() for line in part.splitlines() if line.startswith("    ")])
        now = words_of(invoke("advise", toml))
        assert promise in now, part
        assert invoke("release", "--dry-run", *AGAIN, "7", toml).exit_code == 0, part
        toml.write_text(original)


@of("releasing/file/loading.py: _unreadable")
def test_a_table_gets_a_release_file(tmp_path: Path, toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    answered = pasted(invoke("check", toml.with_name("data.csv")), "init")
    assert "--unit " in answered.output, "it lists the answers, and a terminal asks"
    words = printed(invoke("check", toml.with_name("data.csv")), "init")
    begun = init(*words[1:], "--unit", "-", "--order", "t", "--step", "1")
    assert 'file = "../data.csv"' in begun.output


def test_the_sheets_of_a_workbook_are_lines_to_paste(tmp_path: Path) -> None:
    write_workbook(tmp_path / "two sheets.xlsx", {"one": [["t", "state"], [1, "still"]], "more": [["a"], [1]]})
    toml = replaced(small(tmp_path, ONE), '"data.csv"', '"two sheets.xlsx"')
    assert 'sql = "FROM \\"one\\""' in words_of(invoke("release", toml))
    answered = ended(2, "init", toml.with_name("two sheets.xlsx"), "-o", tmp_path / "new.toml")
    words = shlex.split(written_in(answered, r"--sql '[^']*'"))
    begun = init(toml.with_name("two sheets.xlsx"), *words, "--unit", "-", "--order", "t", "--step", "1", "-o",
                 tmp_path / "new.toml")  # fmt: skip
    assert "written: " in begun.output


@of("cli/believing.py: beliefs", "cli/examples.py: _list_examples",
    "cli/examples.py: _list_experiments")  # fmt: skip
def test_the_first_of_a_list_is_a_command_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("beliefs", "example"):
        assert pasted(invoke(name), name).exit_code == 0
    assert printed(invoke("reproduce"), "reproduce")[1:]


@pytest.mark.mutants
@of("cli/output.py: print_next", "cli/starting.py: verdict")
def test_what_follows_a_new_file_is_run_as_it_is_printed(tmp_path: Path) -> None:
    said = succeed("example", "people", "--output", tmp_path / "a folder")
    lines = [shlex.split(line) for line in re.findall("^  takifugu (.+?)(?:  .*)?$", said.stdout, re.MULTILINE)]
    assert [line[0] for line in lines] == ["cost", "advise", "release"]
    for line in lines:
        succeed(*line)
    table = table_in(tmp_path, "who,t,state", ("Ana,0,still", "Ana,1,walking", "Ben,0,still"))
    begun = begin(table, "--unit", "who", "--order", "t", "--value", "state", "--output", tmp_path / "a new one.toml")
    assert "belief.states: is missing" in words_of(ended(2, *printed(begun, "advise")))

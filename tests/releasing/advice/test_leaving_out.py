"""What a rule leaves out is counted and said before it is written, to whoever owns the data and to nobody else."""

import json
import re
from pathlib import Path

import pytest
from tests.support.commands import invoke, succeed, words_of
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.terminals import in_streams

from takifugu.cli import advice, calibrating, releasing, starting

SPEC = release_text(
    read_from("study", "data.csv", unit="who", order="t", value="state", budget=400),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True,
            source="a test"),
    publish("walking", "count", states=["walking"], epsilon=4.0),
    output="out", expect=EXPECT,
)  # fmt: skip
#: So many rows of 1,200 say nobody's name; of Ana there are 1,097 in 100 steps.
NOBODY = 3


def written(folder: Path, *rules: str) -> Path:
    rows = [f"Ana,{i % 100},{'walking' if i % 3 else 'still'}" for i in range(1097)]
    rows += [f"Ben,{i},still" for i in range(100)] + [",7,walking"] * NOBODY
    (folder / "data.csv").write_text("\n".join(["who,t,state", *rows]))
    toml = folder / "study.toml"
    toml.write_text(SPEC.replace("budget = 400\n", "".join(["budget = 400\n", *(f"{rule}\n" for rule in rules)])))
    return toml


@pytest.fixture
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (advice, calibrating, releasing, starting):
        monkeypatch.setattr(command, "only_seen", lambda: True)


def counted(text: str) -> set[str]:
    return {*re.findall(r"[\d,]+ of [\d,]+ rows [^.\n]*", text)}


@pytest.mark.usefixtures("on_a_terminal")
def test_it_is_said_before_a_rule_is_written(tmp_path: Path) -> None:
    """The numbers are of rows that are there: 997 share a step with another one of the same person."""
    said = words_of(invoke("advise", written(tmp_path)))
    assert '997 of 1,200 rows would not count with duplicates = "first" or "last"' in said
    assert '3 of 1,200 rows would not count with null_keys = "drop"' in said


@pytest.mark.slow
@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("rule", ["first", "last"])
def test_it_is_said_of_rules_that_are_written(tmp_path: Path, rule: str) -> None:
    toml = written(tmp_path, f'duplicates = "{rule}"', 'null_keys = "drop"')
    said = words_of(succeed("advise", toml))
    assert f'997 of 1,200 rows do not count with duplicates = "{rule}"' in said
    assert '3 of 1,200 rows do not count with null_keys = "drop"' in said
    (document,) = json.loads(invoke("advise", "--json", toml).stdout)["files"]
    assert len(document["left_out"]) == 2


CALENDAR = 'from = "2026-01-05"\nuntil = "2026-01-07"\nstep = "1h"\nroster = ["Ana", "Ben"]\n'
#: What rows say, their keys, and rows of which it is known how many a rule leaves out: by the key of the rule.
OF_RUNS = {
    "changes": (
        'order = "t"\nbefore = "still"\n', "who,t,state",
        [f"{who},2026-01-05 {h:02}:30,{state}" for who in ("Ana", "Ben") for h in range(20)
         for state in (("still", "walking") if who == "Ana" and h < 7 else ("still",))], {"duplicates": 7},
    ),
    "events": (
        'order = "t"\notherwise = "still"\n', "who,t,state",
        [f"{who},2026-01-05 {h:02}:{m:02},walking" for who in ("Ana", "Ben") for h in range(20)
         for m in ((5, 5, 9, 50) if h < 4 else (5,))], {"duplicates": 8, "overlap": 16},
    ),
    "stays": (
        'start = "t"\nend = "end"\notherwise = "still"\n', "who,t,state,end",
        [f"{who},2026-01-05 {h:02}:00,walking,2026-01-05 {h + (3 if h < 6 else 1):02}:00"
         for who in ("Ana", "Ben") for h in range(0, 20, 2)] + ["Ben,2026-01-05 18:00,still,2026-01-05 18:30"],
        {"duplicates": 1, "overlap": 6},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("rows", OF_RUNS)
def test_it_is_said_of_changes_stays_and_events(tmp_path: Path, rows: str, declared: bool) -> None:
    keys, header, lines, lost = OF_RUNS[rows]
    toml = written(tmp_path)
    (tmp_path / "data.csv").write_text("\n".join([header, *lines, ""]))
    keys += "".join(f'{key} = "last"\n' for key in lost if declared)
    toml.write_text(toml.read_text().replace('order = "t"\n', f'rows = "{rows}"\n{keys}{CALENDAR}'))
    said = words_of(invoke("advise", toml))
    verb, rule = ("do", '"last"') if declared else ("would", '"first" or "last"')
    assert len(re.findall(r"\d+ of \d+ rows (?:(?:do|would) not count with|end after)", said)) == len(lost)
    for key, number in lost.items():
        sentence = f"rows {verb} not count with {key} = {rule}"
        if (rows, key) == ("stays", "overlap"):
            sentence = f"rows end after the next stay has started: overlap = {rule} says which of the two counts then"
        assert f"{number} of {len(lines)} {sentence}" in said


@pytest.mark.slow
@pytest.mark.usefixtures("on_a_terminal")
def test_nothing_is_said_of_changes_that_all_count(tmp_path: Path) -> None:
    toml = written(tmp_path)
    keys, header, lines, _ = OF_RUNS["changes"]
    (tmp_path / "data.csv").write_text("\n".join([header, *(line for line in lines if "walking" not in line), ""]))
    toml.write_text(toml.read_text().replace('order = "t"\n', f'rows = "changes"\n{keys}{CALENDAR}'))
    assert not counted(invoke("advise", toml).output)


@pytest.mark.slow
def test_no_other_command_counts_rows(tmp_path: Path) -> None:
    toml = written(tmp_path)
    for command in (["check"], ["compare"], ["calibrate"], ["release", "--dry-run"], ["release"]):
        assert not re.search(r"\b(997|1,?200|1,?097)\b", invoke(*command, toml).output), command


@pytest.mark.sampled(3)
@pytest.mark.parametrize("environment", [{}, {"CI": "true"}])
@pytest.mark.parametrize("words", [[], ["--json"]])
@pytest.mark.parametrize("rules", [[], ['duplicates = "first"', 'null_keys = "drop"']])
def test_pipes_get_no_count(tmp_path: Path, words: list[str], rules: list[str], environment: dict[str, str]) -> None:
    command = ["advise", *words, str(written(tmp_path, *rules))]
    code, printed, seen = in_streams(command, tmp_path, ("stdout", "stderr"), **environment)
    assert (code, seen) == (0 if rules else 2, "")
    assert not re.search(r"\b(997|1,?200|1,?097)\b", printed)
    if words and rules:
        assert json.loads(printed)["files"][0]["left_out"] is None


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_goes_to_a_file_has_no_count(tmp_path: Path, stream: str) -> None:
    """Only one of the two is a terminal: errors of data that cannot be read would be counted in the other."""
    code, printed, seen = in_streams(["advise", str(written(tmp_path))], tmp_path, (stream,))
    assert code == 2
    assert not re.search(r"\b(997|1,?200|1,?097)\b", printed + seen)


def test_a_terminal_gets_the_counts(tmp_path: Path) -> None:
    _, _, seen = in_streams(["advise", str(written(tmp_path))], tmp_path, (), CI="true")
    assert "997 of 1,200 rows would not count" in " ".join(seen.split())


@pytest.mark.usefixtures("on_a_terminal")
def test_nothing_is_said_where_every_row_counts(tmp_path: Path) -> None:
    toml = written(tmp_path)
    rows = [f"{who},{t},still\n" for who in ("Ana", "Ben") for t in range(99)]
    (tmp_path / "data.csv").write_text("".join(["who,t,state\n", *rows]))
    assert counted(succeed("advise", toml).output) == set()


def of_many(folder: Path, lost: int, counting: int, *rules: str) -> Path:
    """Write a file whose table is good, with so many rows beside those that count."""
    toml = written(folder, *rules)
    rows = [f"Ana,{i},walking\n" for i in range(counting)] + [f"Ana,{i},still\n" for i in range(lost)]
    (folder / "data.csv").write_text("".join(["who,t,state\n", *rows]))
    return toml


#: A rule, and the rows that it leaves out beside 900 that count.
_LOSSES = {
    'duplicates = "first"': "Ana,{i},still", 'duplicates = "last"': "Ana,{i},walking",
    'null_keys = "drop"': ",{i},still", 'nulls = "unobserved"': "Ben,{i},",
}  # fmt: skip


@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("rule", _LOSSES)
def test_no_table_is_good_where_a_tenth_of_the_rows_does_not_count(tmp_path: Path, rule: str) -> None:
    toml = written(tmp_path, rule)
    for lost in (100, 101):
        rows = [f"Ana,{i},walking" for i in range(900)] + [_LOSSES[rule].format(i=i) for i in range(lost)]
        (tmp_path / "data.csv").write_text("\n".join(["who,t,state", *rows, ""]))
        for command in (["advise"], ["release", "--dry-run"]):
            said = words_of(succeed(*command, toml))
            words = f"101 of 1,001 rows do not count ({rule}): of the others, "
            assert (words in said) == (lost == 101), said
            assert ("good: " in said) == (lost == 100), said
    (document,) = json.loads(succeed("advise", "--json", toml).stdout)["files"]
    assert document["verdict"] is None


@pytest.mark.usefixtures("on_a_terminal")
def test_what_is_published_does_not_depend_on_the_rows_that_do_not_count(tmp_path: Path) -> None:
    published = dict[str, list[str]]()
    for name, lost in (("few", 100), ("many", 101)):
        folder = tmp_path / name
        folder.mkdir()
        toml = of_many(folder, lost, 900, 'duplicates = "first"')
        said = words_of(succeed("release", toml))
        assert ("101 of 1,001 rows do not count" in said) == (name == "many")
        assert (" Good: " in said) == (name == "few")
        published[name] = sorted(path.name for path in (folder / "out").iterdir())
        for path in (folder / "out").iterdir():
            assert b"do not count" not in path.read_bytes()
            assert b"1,001" not in path.read_bytes()
    assert published["few"] == published["many"]


def test_pipes_call_nothing_good_where_a_rule_may_leave_rows_out(tmp_path: Path) -> None:
    """Whatever the rows are: neither the words nor the exit code tell how many there are."""
    printed = set[str]()
    for lost in (0, 500):
        toml = of_many(tmp_path, lost, 900, 'duplicates = "first"')
        result = succeed("advise", toml)
        printed.add(result.stdout)
        assert "good:" not in words_of(result)
        assert 'duplicates = "first" may leave rows out' in words_of(result)
    assert len(printed) == 1


@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("command", [["advise"], ["release", "--dry-run"], ["release"]])
def test_a_remedy_that_leaves_rows_out_says_so_and_how_many(tmp_path: Path, command: list[str]) -> None:
    refused = invoke(*command, written(tmp_path))
    assert refused.exit_code == 2
    assert '997 of 1,200 rows would not count with duplicates = "first" or "last"' in words_of(refused)
    (tmp_path / "data.csv").write_text("who,t,state\nAna,1,still\nAna,1,walking\n")
    refused = invoke(*command, tmp_path / "study.toml")
    assert 'leave the others out: duplicates = "first" or "last"' in words_of(refused)
    assert not (tmp_path / "out").exists()

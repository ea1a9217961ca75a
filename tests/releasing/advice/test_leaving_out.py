"""What a rule leaves out is counted and said before it is written, to whoever owns the data and to nobody else."""

import html
import json
import re
from pathlib import Path

import pandas
import polars
import pytest
from tests.support.commands import invoke, succeed, words_of
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text
from tests.support.terminals import in_streams

import takifugu as tf
from takifugu.cli import advice, calibrating, releasing, starting
from takifugu.releasing.advice.leaving_out import left_out
from takifugu.releasing.file.loading import load
from takifugu.releasing.steps import dry_run

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
        'order = "t"\ndefault_state = "still"\n', "who,t,state",
        [f"{who},2026-01-05 {h:02}:30,{state}" for who in ("Ana", "Ben") for h in range(20)
         for state in (("still", "walking") if who == "Ana" and h < 7 else ("still",))], {"duplicates": 7},
    ),
    "events": (
        'order = "t"\ndefault_state = "still"\n', "who,t,state",
        [f"{who},2026-01-05 {h:02}:{m:02},walking" for who in ("Ana", "Ben") for h in range(20)
         for m in ((5, 5, 9, 50) if h < 4 else (5,))], {"duplicates": 8, "overlap": 16},
    ),
    "stays": (
        'order = "t"\nend = "end"\ndefault_state = "still"\n', "who,t,state,end",
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
    """Write a file whose table is good and as its belief expects, with so many rows beside those that count."""
    toml = written(folder, *rules)
    rows = [f"Ana,{i},{'walking' if i % 5 < 2 else 'still'}\n" for i in range(counting)]
    rows += [f"Ana,{i},still\n" for i in range(lost)]
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
            assert b"Good" not in path.read_bytes()
        report = html.unescape((folder / "out" / "walking.report.html").read_text(encoding="utf-8"))
        assert '>Rows may be left out (duplicates = "first"): of the others, ' in report
    assert published["few"] == published["many"]


def everything_said(toml: Path) -> str:
    """Return everything that a notebook, a file or a program is told of a release file and its release."""
    advised, outcome = tf.advise(toml), tf.release_file(toml)
    (table,), (worth,) = outcome.tables, advised.tables
    (_, release), *_ = table.releases
    parts = [
        str(advised), repr(advised), advised._repr_html_(), json.dumps(advised.to_dict()), worth.sentence,
        tf.report_html(outcome), tf.report_html(table), tf.report_html(release), str(outcome), repr(table),
        outcome._repr_html_(), table._repr_html_(), release._repr_html_(), str(release.certificate),
        release.certificate._repr_html_(), str(table.to_frame("pandas")), str(dry_run(load(toml, None))),
        *(path.read_text(encoding="utf-8") for path in table.files), invoke("advise", "--json", toml).output,
    ]  # fmt: skip
    return html.unescape("\n".join(parts))


#: A table whose rows lie in hours of local time.
LOCAL = 'order = "t"\nstep = "1h"\nfrom = "2026-10-25"\nuntil = "2026-10-27"\ntimezone = "Europe/Berlin"\n'
#: For each rule the keys beside it, and rows of which it leaves none out.
RULED = {
    **dict.fromkeys(_LOSSES, ("", "who,t,state", ["Ana,1,walking", "Ben,2,still"])),
    'ambiguous = "drop"': (LOCAL, "who,t,state", ["Ana,2026-10-25 09:00,walking", "Ben,2026-10-25 09:00,still"]),
    'overlap = "first"': (
        f'rows = "events"\norder = "t"\ndefault_state = "still"\n{CALENDAR}', "who,t,state",
        ["Ana,2026-01-05 09:00,walking", "Ben,2026-01-05 09:00,walking"],
    ),
    'overlap = "last"': (
        f'rows = "stays"\norder = "t"\nend = "end"\ndefault_state = "still"\n{CALENDAR}', "who,t,state,end",
        ["Ana,2026-01-05 09:00,walking,2026-01-05 10:00", "Ben,2026-01-05 09:00,walking,2026-01-05 10:00"],
    ),
}  # fmt: skip


def ruled(folder: Path, rule: str, rows: list[str]) -> Path:
    keys, header, _ = RULED[rule]
    toml = written(folder, rule)
    (folder / "data.csv").write_text("\n".join([header, *rows, ""]))
    if keys:
        toml.write_text(toml.read_text().replace('order = "t"\n', keys))
    return toml


@pytest.mark.parametrize("rule", RULED)
def test_nothing_that_may_be_kept_says_good_where_a_rule_is_declared(tmp_path: Path, rule: str) -> None:
    """Not the report, a notebook, JSON, a frame or the certificate: no row of these is left out, and none says so."""
    said = everything_said(ruled(tmp_path, rule, RULED[rule][2]))
    assert not re.search(r"\bgood\b", said, re.IGNORECASE)
    assert said.count(f"ows may be left out ({rule}): of the others, ") >= 8


def test_without_a_rule_the_word_stands(tmp_path: Path) -> None:
    said = everything_said(ruled(tmp_path, 'duplicates = "first"', RULED['duplicates = "first"'][2]))
    toml = tmp_path / "study.toml"
    text = toml.read_text().replace('duplicates = "first"\n', "").replace('"out"', '"new"')
    toml.write_text(re.sub(r"^ledger_id.*\n", "", text.replace("ledger.db", "other.db"), flags=re.MULTILINE))
    assert "may be left out" in said
    said = everything_said(toml)
    assert "may be left out" not in said
    assert ">Good: " in said


#: Rows of which so many are left out by a rule of those above, beside others.
LOST = {
    'overlap = "first"': lambda lost: [
        *(f"{who},2026-01-{5 + h // 24:02} {h % 24:02}:00,walking" for who in ("Ana", "Ben") for h in range(45)),
        *(f"Ana,2026-01-05 {h:02}:30,walking" for h in range(lost)),
    ],
    'overlap = "last"': lambda lost: [
        f"{who},2026-01-05 {h:02}:{m:02},walking,2026-01-05 {h:02}:{m + (35 if who == 'Ana' and h < lost else 20)}"
        for who in ("Ana", "Ben") for h in range(20) for m in (0, 20)
    ],
    'ambiguous = "drop"': lambda lost: [
        *(f"Ana,2026-10-{25 + h // 24} {h % 24:02}:00,walking" for h in range(3, 48)),
        *(f"{n},2026-10-25 02:00,walking" for n in range(lost)),
    ],
}  # fmt: skip


@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize(("rule", "few", "many", "rows"), [
    ('overlap = "first"', 10, 11, "11 of 101 rows do not count"),
    ('overlap = "last"', 8, 9, "9 of 80 rows do not count in full"),
    ('ambiguous = "drop"', 5, 6, "6 of 51 rows do not count"),
])  # fmt: skip
def test_overlapping_and_ambiguous_rows_are_counted(tmp_path: Path, rule: str, few: int, many: int, rows: str) -> None:
    for lost in (few, many):
        for command in (["advise"], ["release", "--dry-run"]):
            said = words_of(succeed(*command, ruled(tmp_path, rule, LOST[rule](lost))))
            assert (f"{rows} ({rule}): of the others, " in said) == (lost == many), said
            assert ("good: " in said) == (lost == few), said


@pytest.mark.parametrize("rule", [*_LOSSES, *LOST])
def test_rows_are_counted_alike_in_every_form(tmp_path: Path, rule: str) -> None:
    """The same rows as CSV, as Parquet and as frames."""
    if rule in LOST:
        rows = LOST[rule](7)
    else:
        rows = [f"Ana,{i},walking" for i in range(60)] + [_LOSSES[rule].format(i=i) for i in range(7)]
    toml = ruled(tmp_path, rule, rows)
    frame = pandas.read_csv(tmp_path / "data.csv")
    frame.to_parquet(tmp_path / "data.parquet")
    counts = [left_out(load(toml, data)) for data in (None, frame, polars.from_pandas(frame))]
    toml.write_text(toml.read_text().replace("data.csv", "data.parquet"))
    counts.append(left_out(load(toml)))
    assert [one and one.lost[rule.split(" ")[0]] for one in counts] == [7] * 4
    assert [one and (one.dropped, one.rows) for one in counts] == [(7, len(rows))] * 4


@pytest.mark.parametrize("is_seen", [True, False])
@pytest.mark.parametrize("lost", [5, 500])
def test_no_remedy_promises_good_where_rows_may_be_left_out(tmp_path: Path, lost: int, is_seen: bool) -> None:
    toml = of_many(tmp_path, lost, 900, 'duplicates = "first"')
    toml.write_text(toml.read_text().replace("matters = 1000", "matters = 3").replace("epsilon = 4.0", "epsilon = 1.0"))
    advised = tf.advise(toml, is_seen=is_seen)
    assert any(remedy.worth.verdict == "good" for remedy in advised.remedies)
    said = html.unescape(f"{advised}{advised._repr_html_()}{advised.to_dict()}")
    assert bool(re.search(r"\bgood\b", said)) == (is_seen and lost == 5)
    words = f"{lost} of {900 + lost:,} rows do not count" if is_seen else "rows may be left out"
    assert (f'{words} (duplicates = "first"): of the others, ' in said) == (not is_seen or lost == 500)


def test_pipes_call_nothing_good_where_a_rule_may_leave_rows_out(tmp_path: Path) -> None:
    """Whatever the rows are: neither the words nor the exit code tell how many there are."""
    printed = set[str]()
    for lost in (0, 500):
        toml = of_many(tmp_path, lost, 900, 'duplicates = "first"')
        result = succeed("advise", toml)
        printed.add(result.stdout)
        assert "good:" not in words_of(result)
        assert 'rows may be left out (duplicates = "first"): of the others, ' in words_of(result)
        assert "is said on a terminal alone" in words_of(result)
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

"""What `where` leaves out is counted and said to whoever owns the data, and to nobody else."""

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
from takifugu.cli import advice, publishing, releasing, starting
from takifugu.releasing.advice.leaving_out import left_out
from takifugu.releasing.file.loading import load

SPEC = release_text(
    read_from("study", "data.csv", unit="who", order="t", step=1, value="state", budget=400),
    believe("markov-chain", states=["still", "walking"], matrix=[[0.8, 0.2], [0.3, 0.7]], units_independent=True,
            source="a test"),
    publish("walking", "count", states=["walking"], epsilon=4.0),
    output="out", expect=EXPECT,
)  # fmt: skip
HEADER, WHERE = "who,t,state,kind", "where = \"kind = 'row'\""
#: Rules by which rows may be left out.
SQL = 'sql = "from read_csv(\'data.csv\', all_varchar = true) where kind = \'row\'"'
RULES = {
    WHERE: "where = kind = 'row'", SQL: "a filter in sql", 'nulls = "unobserved"': 'nulls = "unobserved"',
    f'{WHERE}\nnulls = "unobserved"': "where = kind = 'row' and nulls = \"unobserved\"",
}  # fmt: skip


def written(folder: Path, lost: int, counting: int, *rules: str) -> Path:
    """Write a file whose table is good and as its belief expects, with so many sums beside the rows that count."""
    rows = [f"Ana,{i},{'walking' if i % 5 < 2 else 'still'},row" for i in range(counting)]
    rows += [f"Ana,{i},,sum" for i in range(lost)]
    (folder / "data.csv").write_text("\n".join([HEADER, *rows, ""]))
    text = SPEC.replace("budget = 400\n", "".join(["budget = 400\n", *(f"{rule}\n" for rule in rules)]))
    toml = folder / "study.toml"
    toml.write_text(text.replace('file = "data.csv"\n', "") if SQL in rules else text)
    return toml


@pytest.fixture
def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for command in (advice, publishing, releasing, starting):
        monkeypatch.setattr(command, "only_seen", lambda: True)


@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("rules", [[], [WHERE]])
def test_nothing_is_said_where_every_row_counts(tmp_path: Path, rules: list[str]) -> None:
    assert "not count" not in succeed("advise", written(tmp_path, 0, 900, *rules)).output


@pytest.mark.slow
def test_no_other_command_counts_rows(tmp_path: Path) -> None:
    toml = written(tmp_path, 997, 203, WHERE)
    for command in (["check"], ["cost"], ["release", "--dry-run"], ["release"]):
        assert not re.search(r"\b(997|1,?200)\b", invoke(*command, toml).output), command


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("words", "piped", "environment"), [
    ([], ("stdout", "stderr"), {}), ([], ("stdout",), {}), (["--json"], ("stdout", "stderr"), {}),
    ([], ("stderr",), {}), ([], ("stdout", "stderr"), {"CI": "true"}),
])  # fmt: skip
def test_pipes_and_files_get_no_count(
    tmp_path: Path, words: list[str], piped: tuple[str, ...], environment: dict[str, str]
) -> None:
    """Also where only one of the two is a terminal: what one shows, the other may keep."""
    command = ["advise", *words, str(written(tmp_path, 997, 203, WHERE))]
    code, printed, seen = in_streams(command, tmp_path, piped, **environment)
    assert code == 0
    assert not re.search(r"\b(997|1,?200)\b", printed + seen)
    if words:
        assert json.loads(printed)["files"][0]["left_out"] is None


def test_a_terminal_gets_the_counts(tmp_path: Path) -> None:
    _, _, seen = in_streams(["advise", str(written(tmp_path, 997, 203, WHERE))], tmp_path, (), CI="true")
    assert "997 of 1,200 rows do not count" in " ".join(seen.split())


@pytest.mark.mutants
@pytest.mark.usefixtures("on_a_terminal")
def test_no_table_is_good_where_a_tenth_of_the_rows_does_not_count(tmp_path: Path) -> None:
    for lost in (100, 101):
        toml = written(tmp_path, lost, 900, WHERE)
        for command in (["advise"], ["release", "--dry-run"]):
            said = words_of(succeed(*command, toml))
            words = "101 of 1,001 rows do not count (where = kind = 'row'): of the others, "
            assert (words in said) == (lost == 101), said
            assert ("good: " in said) == (lost == 100), said
    (document,) = json.loads(succeed("advise", "--json", toml).stdout)["files"]
    assert document["verdict"] is None
    assert document["left_out"] == ["101 of 1,001 rows do not count (where = kind = 'row')"]


@pytest.mark.usefixtures("on_a_terminal")
@pytest.mark.parametrize("rule", [SQL, 'nulls = "unobserved"'])
def test_what_nobody_has_counted_is_never_good(tmp_path: Path, rule: str) -> None:
    for command in (["advise"], ["release", "--dry-run"]):
        said = words_of(succeed(*command, written(tmp_path, 0, 900, rule)))
        assert f"rows may be left out ({RULES[rule]}): of the others, " in said
        assert "good: " not in said


@pytest.mark.mutants
@pytest.mark.usefixtures("on_a_terminal")
def test_what_is_published_does_not_depend_on_the_rows_that_do_not_count(tmp_path: Path) -> None:
    published = dict[str, list[str]]()
    for name, lost in (("few", 100), ("many", 101)):
        folder = tmp_path / name
        folder.mkdir()
        said = words_of(succeed("release", written(folder, lost, 900, WHERE)))
        assert ("101 of 1,001 rows do not count" in said) == (name == "many")
        assert (" Useful (good). " in said) == (name == "few")
        published[name] = sorted(path.name for path in (folder / "out").iterdir())
        for path in (folder / "out").iterdir():
            assert b"do not count" not in path.read_bytes()
            assert b"1,001" not in path.read_bytes()
            assert b"Good" not in path.read_bytes()
        report = html.unescape((folder / "out" / "walking.report.html").read_text(encoding="utf-8"))
        assert ">Rows may be left out (where = kind = 'row'): of the others, " in report
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
        release.certificate._repr_html_(), str(table.to_frame("pandas")), str(tf.dry_run(toml)),
        *(path.read_text(encoding="utf-8") for path in table.files), invoke("advise", "--json", toml).output,
    ]  # fmt: skip
    return html.unescape("\n".join(parts))


@pytest.mark.mutants
@pytest.mark.parametrize("rule", RULES)
def test_nothing_that_may_be_kept_says_good_where_a_rule_is_declared(tmp_path: Path, rule: str) -> None:
    """Not the report, a notebook, JSON, a frame or the certificate: no row of these is left out, and none says so."""
    said = everything_said(written(tmp_path, 0, 900, *([SQL] if rule == SQL else rule.split("\n"))))
    assert not re.search(r"\bgood\b", said, re.IGNORECASE)
    assert " ".join(said.split()).count(f"ows may be left out ({RULES[rule]}): of the others, ") >= 8


@pytest.mark.mutants
def test_without_a_rule_the_word_stands(tmp_path: Path) -> None:
    said = everything_said(written(tmp_path, 0, 900))
    assert "may be left out" not in said
    assert "Useful (good)." in said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ["samples", "changes", "events"])
def test_rows_are_counted_alike_in_every_form(tmp_path: Path, rows: str) -> None:
    """The same rows as CSV, as Parquet and as frames."""
    toml = written(tmp_path, 7, 60, WHERE)
    runs = 'from = 0\nuntil = 100\nroster = ["Ana"]\ndefault_state = "still"\n' if rows != "samples" else ""
    toml.write_text(toml.read_text().replace('rows = "samples"\n', f'rows = "{rows}"\n{runs}'))
    frame = pandas.read_csv(tmp_path / "data.csv")
    frame.to_parquet(tmp_path / "data.parquet")
    counts = [left_out(load(toml, data)) for data in (None, frame, polars.from_pandas(frame))]
    toml.write_text(toml.read_text().replace("data.csv", "data.parquet"))
    counts.append(left_out(load(toml)))
    assert [one and (one.dropped, one.rows) for one in counts] == [(7, 67)] * 4


@pytest.mark.mutants
@pytest.mark.parametrize("is_seen", [True, False])
@pytest.mark.parametrize("lost", [5, 500])
def test_no_remedy_promises_good_where_rows_may_be_left_out(tmp_path: Path, lost: int, is_seen: bool) -> None:
    toml = written(tmp_path, lost, 900, WHERE)
    toml.write_text(toml.read_text().replace("matters = 1000", "matters = 3").replace("epsilon = 4.0", "epsilon = 1.0"))
    advised = tf.advise(toml, is_seen=is_seen)
    assert any(remedy.worth.verdict == "good" for remedy in advised.remedies)
    said = html.unescape(f"{advised}{advised._repr_html_()}{advised.to_dict()}")
    assert bool(re.search(r"\bgood\b", said)) == (is_seen and lost == 5)
    words = f"{lost} of {900 + lost:,} rows do not count" if is_seen else "rows may be left out"
    assert (f"{words} (where = kind = 'row'): of the others, " in said) == (not is_seen or lost == 500)


def test_pipes_call_nothing_good_where_a_rule_may_leave_rows_out(tmp_path: Path) -> None:
    """Whatever the rows are: neither the words nor the exit code tell how many there are."""
    printed = set[str]()
    for lost in (0, 500):
        result = succeed("advise", written(tmp_path, lost, 900, WHERE))
        printed.add(result.stdout)
        assert "good:" not in words_of(result)
        assert "rows may be left out (where = kind = 'row'): of the others, " in words_of(result)
        assert "is said on a terminal alone" in words_of(result)
    assert len(printed) == 1


def test_a_fault_of_a_row_that_does_not_count_is_none(tmp_path: Path) -> None:
    """The sums have no state; without the rule they are faults, and nothing is published."""
    succeed("advise", written(tmp_path, 5, 900, WHERE))
    for command in (["advise"], ["release"]):
        assert "source.value: row 901 and 4 more: nothing in" in words_of(invoke(*command, written(tmp_path, 5, 900)))
    assert not (tmp_path / "out").exists()


@pytest.mark.mutants
def test_a_remedy_after_which_no_table_is_good_is_a_sentence(tmp_path: Path) -> None:
    """It once said "it is rows may be left out"."""
    toml = written(tmp_path, 0, 12, 'nulls = "unobserved"')
    toml.write_text(toml.read_text().replace("epsilon = 4.0", "epsilon = 0.3").replace("matters = 1000", "matters = 2"))
    said = words_of(invoke("release", toml))
    assert "would be useless" in said
    assert "): rows may be left out (nulls = \"unobserved\"): of the others, " in said

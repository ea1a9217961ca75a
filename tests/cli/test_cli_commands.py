"""What the smaller commands say, their JSON, colours and progress; and bad input of every kind, which harms nothing."""

import errno
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pandas
import pytest
from click.testing import CliRunner
from tests.releasing import files
from tests.support.commands import all_commands, ended, invoke, json_of, refused, succeed, widest, words_of
from tests.support.failing import raising
from tests.support.research import research_file
from tests.support.terminals import AT_ONCE, in_streams
from tools import prose

from takifugu import TakifuguError, release_file
from takifugu.accounting.ledger import Ledger
from takifugu.accounting.suspicion import explain
from takifugu.cli import main
from takifugu.cli.samples import experiments
from takifugu.core.errors import InputError
from takifugu.releasing.publishing import orders, publish

TOP = {"format", "command", "file"}


@pytest.fixture(scope="module")
def publication(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    succeed("release", files.write(folder))
    return folder


@pytest.fixture
def released(publication: Path, tmp_path: Path) -> Path:
    """A folder in which a release was published."""
    return shutil.copytree(publication, tmp_path, dirs_exist_ok=True)


def test_the_commands_in_the_order_of_their_use() -> None:
    assert all_commands() == [
        ("init",), ("check",), ("advise",), ("cost",), ("release",), ("report",), ("verify",), ("rehearse",),
        ("audit",), ("attack",), ("odds",), ("session",), ("explore",), ("app",), ("ledger", "show"),
        ("ledger", "set-budget"), ("ledger", "verify"), ("ledger", "import-certificates"), ("ledger", "key"),
        ("ledger", "resume"), ("keys",), ("example",), ("beliefs",), ("reproduce",),
    ]  # fmt: skip
    first, others = invoke("--help").output.split("First commands:")[1].split("Other commands:")
    listed = [re.findall(r"^  ([a-z]+) ", text, re.MULTILINE) for text in (first, others)]
    assert listed[0] == ["init", "check", "advise", "cost", "release", "report", "verify"]
    assert [*listed[0], *listed[1]] == list(dict.fromkeys(path[0] for path in all_commands()))


def test_help_says_what_the_exit_codes_are() -> None:
    text = invoke("--help").output
    for code, words in (
        (0, "done"), (1, "refused"), (2, "bad input"), (3, "a fault of Takifugu"), (4, "not all is published"),
        (5, "published and not recorded"), (130, "stopped from the keyboard"), (143, "stopped by SIGTERM"),
    ):  # fmt: skip
        assert re.search(rf"^ +{code} +{words}", text, re.MULTILINE)


@pytest.mark.parametrize("path", [(), ("ledger",), *all_commands()], ids=" ".join)
def test_every_help_fits_and_every_command_speaks_json(path: tuple[str, ...]) -> None:
    outcome = succeed(*path, "--help")
    assert widest(outcome.output) <= 80
    if path in all_commands() and path != ("app",):  # which prints an address, and nothing to read on
        assert "--json" in outcome.output
    assert not prose.BANNED.search(re.sub("`[^`]*`", "", outcome.output))


@pytest.mark.parametrize("path", [(), ("ledger",), *all_commands()], ids=" ".join)
def test_each_command_and_each_option_has_one_line_of_help(path: tuple[str, ...]) -> None:
    command: Any = main
    for word in path:
        command = command.commands[word]
    options = [option.help for option in command.params if isinstance(option, click.Option)]
    for line in (command.get_short_help_str(200), *options):
        assert line
        assert len(line.splitlines()) == 1
        assert len(line) <= 72


def test_odds_of_the_example_of_the_documents() -> None:
    outcome = succeed("odds", "--prior", "0.1", "--epsilon", "1")
    for expected in ("between 3.9 % and 23.2 %", "1 to 9", "1 to 3.31", "1 to 24.5", "e^1 < 2.72"):
        assert expected in words_of(outcome)
    assert widest(outcome.output) <= 80
    assert invoke("odds").output == outcome.output


def test_odds_with_delta() -> None:
    outcome = invoke("odds", "--prior", "50%", "--epsilon", "1/2", "--delta", "1e-5")
    assert "with a probability of at most" in outcome.output
    assert "2e-5" in outcome.output
    assert json_of("odds", "--prior", "50%", "--epsilon", "1/2", "--delta", "1e-5") == {
        "format": "takifugu-cli/1", "command": "odds", "file": None,
        **explain("50%", "1/2", "1e-5").to_dict(),
    }  # fmt: skip


@pytest.mark.parametrize(("words", "says"), [
    (("--prior", "2"), "the prior"), (("--epsilon", "0"), "epsilon"), (("--delta", "1"), "delta"),
    (("--epsilon", "much"), "epsilon"), (("--output", "."), "overwritten"),
])  # fmt: skip
def test_odds_refuse_what_means_nothing(words: tuple[str, ...], says: str) -> None:
    assert says in refused("odds", *words)


@pytest.mark.slow
def test_what_a_release_file_costs_at_other_epsilons(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    epsilons = ("--epsilons", "0.1,0.2,0.5,1,2,5,10")
    outcome = succeed("cost", where, *epsilons)
    assert widest(outcome.output, tmp_path) <= 80
    assert re.search(r"^1 \* +influence .* 3\.9 % to 23\.2 % +█", outcome.output, re.MULTILINE)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    (document,) = json_of("cost", where, *epsilons)["files"]
    assert set(document) == {"file", "tables", "forecast", "prices"}
    assert [(t["name"], t["scope"], t["unit"]) for t in document["prices"]] == [
        ("time-use-units", "unit", "zoë"), ("time-use-pooled", "pooled", None),
    ]  # fmt: skip
    for table in document["prices"]:
        rows = table["rows"]
        assert set(rows[0]) == {"epsilon", "in_file", "mechanism", "scale", "expected_error", "low", "high", "reason"}
        assert [r["epsilon"] for r in rows] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]
        assert [r["epsilon"] for r in rows if r["in_file"]] == ["1"]
        errors = [r["expected_error"] for r in rows]
        assert errors == sorted(errors, reverse=True)


def test_cost_says_why_a_row_is_empty(tmp_path: Path) -> None:
    spec = files.SPEC.replace("epsilon = 1.0", 'epsilon = 0.25\nmechanism = "optimal"')
    said = words_of(ended(1, "cost", "--epsilons", "1", files.write(tmp_path, spec)))
    assert [words for words in ("0.25 *", "refused", "optimal does not apply") if words not in said] == []


@pytest.mark.slow
def test_pictures_of_odds_and_costs(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    for words in (["odds"], ["cost", where, "--epsilons", "0.5,2"]):
        picture = tmp_path / "picture.svg"
        succeed(*words, "--output", picture)
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert "--force" in ended(2, *words, "--output", picture).stderr
        succeed(*words, "--output", picture, "--force")
        picture.unlink()
    nowhere = ended(2, "odds", "--output", tmp_path / "no" / "picture.svg")
    assert "cannot be written (no such file or directory)" in nowhere.stderr


def test_a_certificate_is_explained(released: Path) -> None:
    where = released / "out" / "time-use-units.certificate.json"
    outcome = succeed("verify", where)
    assert widest(outcome.output) <= 80
    secret, odds = "the state of one person in any one step", "at most 73.2 % sure (10 %: 23.2 %)"
    for expected in (secret, odds, "Without a signature", "007, Bob, jr., zoë"):
        assert expected in words_of(outcome)
    (document,) = json_of("verify", where)["certificates"]
    assert set(document) == {"name", "unchanged", "table", "unverified", "signed_by", "certificate"}
    assert document["certificate"] == json.loads(where.read_text(encoding="utf-8"))


def test_a_certificate_edited_by_hand(released: Path) -> None:
    where = released / "out" / "time-use-units.certificate.json"
    text = where.read_text(encoding="utf-8")
    where.write_text(text.replace('"epsilon": "1"', '"epsilon": "0.5"'), encoding="utf-8")
    for words in ([], ["--json"]):
        outcome = ended(2, "verify", where, *words)
        assert [*json.loads(outcome.stdout or "{}")] == (["format", "command", "file", "error"] if words else [])
        assert f"{where.name}: this file was changed after it was written" in outcome.stderr


@pytest.mark.slow
def test_long_names_fit_into_the_tables(tmp_path: Path) -> None:
    spec = files.SPEC.replace('name = "study"', f'name = "{"a very long study " * 6}"')
    where = files.write(tmp_path, spec.replace('name = "time-use"', f'name = "{"t" * 64}"'))
    book = tmp_path / "ledger.db"
    on_file = [[word, where] for word in ("cost", "release")]
    for words in (*on_file, ["ledger", "show", book]):
        assert widest(succeed(*words).stdout, tmp_path, "t" * 64) <= 80, words


def test_the_budget_is_told_as_it_was_declared(tmp_path: Path) -> None:
    declared = words_of(invoke("release", files.write(tmp_path)))
    assert re.search(r"epsilon \S+ of 10 spent for each person", declared)
    where, book = files.write(tmp_path / "b", files.SPEC.replace("budget = 10\n", "")), tmp_path / "b" / "ledger.db"
    implied = "No budget was declared in the file: it is what the first release cost"
    assert implied in words_of(invoke("release", where))
    succeed("ledger", "set-budget", book, json_of("ledger", "show", book)["sources"][0]["name"], "30")
    assert f". {implied}, or was set since" in words_of(succeed("release", where))


def checkout(folder: Path) -> Path:
    (folder / "experiments").mkdir()
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    (folder / "experiments" / "good2026.py").write_text(
        '"""Something about\nfish.\n\nMore."""\nREPRODUCES = "Good 2026, Table 1"\nprint("the result is 42")\n'
    )
    (folder / "experiments" / "bad.py").write_text('"""Ends."""\nREPRODUCES = "Bad 2026"\nraise SystemExit(7)\n')
    (folder / "experiments" / "helper.py").write_text("raise RuntimeError('is never imported')\n")
    (folder / "experiments" / "broken.py").write_text("def (\n")
    return folder


def test_targets_are_found_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "ROOT", checkout(tmp_path))
    assert [(t.name, t.reproduces, t.about) for t in experiments.targets()] == [
        ("bad", "Bad 2026", "Ends."), ("good2026", "Good 2026, Table 1", "Something about fish."),
    ]  # fmt: skip


def test_an_installation_without_experiments_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "ROOT", tmp_path)
    with pytest.raises(InputError, match="the experiments are not part of the installed package: get the source"):
        experiments.targets()
    with pytest.raises(InputError, match="not part of the installed package"):
        experiments.find("good2026")


def test_targets_are_listed_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr(experiments, "ROOT", checkout(tmp_path))
    listed = invoke("reproduce")
    assert "good2026" in listed.output
    assert widest(listed.output) <= 80
    assert set(json_of("reproduce")["targets"][0]) == {"name", "reproduces", "about", "file"}
    succeed("reproduce", "good2026")
    assert "the result is 42" in capfd.readouterr().out
    assert "exit code 7" in ended(3, "reproduce", "bad").stderr
    assert "did you mean 'good2026'?" in ended(2, "reproduce", "god2026").stderr


@pytest.mark.slow
def test_without_research_data_a_part_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    root, package = Path(__file__).resolve().parents[2], tmp_path / "takifugu"
    shutil.copytree(root / "experiments", package / "experiments")
    shutil.copytree(root / "docs", package / "docs", ignore=shutil.ignore_patterns("*.svg", "theory"))
    before = sorted(package.rglob("*.py"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(experiments, "ROOT", package)
    monkeypatch.setenv("TAKIFUGU_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "song2017" in invoke("reproduce").output

    succeed("reproduce", "ding2022", "--output", "reproduced/ding2022")
    said, progress = capfd.readouterr()
    assert "2 of 3: Figures 1, 2 and 5 ..." in progress
    assert "left out: Figures 3 and 4: this needs the research data file adult/adult_train.csv.gz" in said
    assert "https://archive.ics.uci.edu/dataset/2/adult" in said
    made = {path.relative_to(here / "reproduced" / "ding2022").as_posix() for path in here.rglob("*.*")}
    assert made == {"ding2022.md", *(f"images/ding2022-figure{n}.svg" for n in (1, 2, 5))}
    page = (here / "reproduced" / "ding2022" / "ding2022.md").read_text(encoding="utf-8")
    committed = (root / "experiments" / "ding2022.md").read_text(encoding="utf-8")
    assert committed.split("<!-- made: table3 -->")[1].split("<!-- end: table3 -->")[0] in page
    assert page.startswith(committed.splitlines()[0])  # its words, without links to pages that are not here
    assert ".md)" not in page
    assert "images/ding2022-figure1.svg" in page
    assert "images/ding2022-figure4.svg" not in page  # nothing was drawn there
    left_out = page.split("<!-- made: adult -->")[1].split("<!-- end: adult -->")[0].strip()
    assert left_out == "*Left out, as the end of this page says.*"
    assert "Grids are coarse" in page
    assert "Left out: Figures 3 and 4: this needs the research data file" in page

    succeed("reproduce", "ding2022", "--all", "--output", "whole")
    assert "Grids are whole" in (here / "whole" / "ding2022.md").read_text(encoding="utf-8")
    capfd.readouterr()

    succeed("reproduce", "networks", "--output", "other")
    said = capfd.readouterr().out
    for words in ("left out: networks", "left out: schools", "nothing is left to make"):
        assert words in said
    assert not (here / "other").exists()
    assert sorted(package.rglob("*.py")) == before


def test_what_is_made_stays_where_a_later_part_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "takifugu"
    shutil.copytree(Path(__file__).resolve().parents[2] / "experiments", package / "experiments")
    (package / "experiments" / "broken2026.py").write_text(
        '"""Breaks."""\nfrom pages import PAGES, make\nREPRODUCES = "Broken 2026"\n'
        'make(PAGES / "broken2026.md", "x", {"first": lambda: {"one": "| 42 |"}, "second": lambda: 1 / 0})\n'
    )
    monkeypatch.setattr(experiments, "ROOT", package)
    monkeypatch.chdir(tmp_path)
    ended(3, "reproduce", "broken2026", "--output", "reproduced/broken2026")
    assert "| 42 |" in (tmp_path / "reproduced" / "broken2026" / "broken2026.md").read_text(encoding="utf-8")


def test_this_checkout_has_targets() -> None:
    for target in experiments.targets():
        assert re.fullmatch(r"[a-z0-9_]+", target.name)
        assert target.about.endswith(".")
        assert target.reproduces


def test_colours_only_where_they_mean_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = files.write(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    lines = [line for line in invoke("cost", "--all", where, color=True).output.splitlines() if "\x1b[" in line]
    assert lines
    ends = r"(chosen|if the only release|promises less|refused by default)\x1b\[0m$"
    assert all(re.search(ends, line) for line in lines)
    assert "\x1b[31mtakifugu:" in invoke("cost", tmp_path / "none.toml", color=True).stderr
    assert "\x1b[" not in invoke("cost", "--all", where).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in invoke("cost", "--all", where, color=True).output


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal long work shows a bar that is gone at the end; elsewhere nothing but the result is printed."""
    where = files.write(tmp_path)
    command = ["cost", str(where)]
    code, table, seen = in_streams(command, tmp_path, ("stdout",), before=AT_ONCE)
    assert code == 0
    assert "calibrating time-use-units" in seen
    assert "calibrating" not in table
    assert in_streams(command, tmp_path, ("stdout", "stderr"), before=AT_ONCE) == (0, table, "")


def test_stopping_it_says_what_was_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "answer_of", raising(KeyboardInterrupt()))
    said = refused("release", files.write(tmp_path), code=130)
    assert "State of the release: paid, not drawn. Its epsilon is spent" in said
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(orders, "validate", raising(KeyboardInterrupt()))
    said = refused("release", files.write(tmp_path / "other"), code=130)
    assert "State of the release: nothing happened." in said


TABLE = files.data()
LINES = TABLE.splitlines()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("content", "says"), [
    (TABLE.encode("utf-16"), "UTF-8"),
    (f'{LINES[0]}\n"zo,0,0,x,walking\n'.encode(), "line 2 of data.csv: a quote is opened and not closed"),
    (f"{LINES[0].replace('état', 'etat')}\n".encode(), "the first line of data.csv has no "),
    ("\n".join([LINES[0], LINES[1], *LINES[1:]]).encode(), "source.order: row 2: a second row of one step in"),
    (TABLE.replace("walking", "swimming", 1).encode(), "source.value: row 1: a value in CASE"),
    (TABLE.replace("zoë,", ",", 1).encode(), "source.unit: row 1: nothing in"),
    (TABLE.replace(",2,x", ",two,x", 1).encode(), "source.order: row 2: a text in \"t [min]\" that is no whole"),
    (b"PAR1nothing", "give it the ending .parquet"),
])  # fmt: skip
def test_data_that_are_not_as_they_should_be(tmp_path: Path, content: bytes, says: str) -> None:
    where = files.write(tmp_path)
    (tmp_path / "data.csv").write_bytes(content)
    for command in ("cost", "release"):
        said = refused(command, where)
        assert says in said
        assert "swimming" not in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data.csv", "release.toml"]


def test_rows_may_come_in_any_mixture_of_units(tmp_path: Path) -> None:
    rows = [line.split(",") for line in files.data({"a": (30, 30), "b": (30, 30)}).splitlines()[1:]]
    mixed = "\n".join([LINES[0], *(",".join(r) for r in sorted(rows, key=lambda r: int(r[2])))]) + "\n"
    succeed("cost", files.write(tmp_path, table=mixed))


def test_mixed_types(tmp_path: Path) -> None:
    where = files.write(tmp_path)
    states = pandas.Series(["walking", 3.5], dtype=object)
    frame = pandas.DataFrame({"Who is it?": ["a", "a"], "run no.": [1, 1], "t [min]": [0, 1], "état; raw": states})
    with pytest.raises(TakifuguError):
        release_file(where, data=frame)
    assert not (tmp_path / "ledger.db").exists()


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = files.write(tmp_path)
    real = os.open

    def refuse(path: Any, *rest: Any, **more: Any) -> int:
        if str(path) == str(where):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert "cannot be read (permission denied)" in refused("release", where)


def test_a_full_disk_publishes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = files.write(tmp_path)
    real = os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith(".csv"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    said = refused("release", where, code=4)
    assert "no space left on device" in said
    assert "drawn, not published. Its epsilon is spent" in said
    out = [f"time-use-units.certificate.{end}" for end in ("json", "txt")]
    assert f"These of its files are out: {', '.join(out)}." in said
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == out
    assert {paid.fate for paid in Ledger.open(tmp_path / "ledger.db").payments("study")} == {"drawn"}
    monkeypatch.undo()
    assert "their epsilon counts as spent" in words_of(invoke("ledger", "show", tmp_path / "ledger.db"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell: str) -> None:
    """click's own completion: `_TAKIFUGU_COMPLETE=bash_source takifugu` prints what the shell needs."""
    outcome = CliRunner().invoke(main, [], env={"_TAKIFUGU_COMPLETE": f"{shell}_source"}, prog_name="takifugu")
    assert outcome.exit_code == 0
    assert "_TAKIFUGU_COMPLETE" in outcome.output
    line = {"COMP_WORDS": "takifugu co", "COMP_CWORD": "1" if shell != "fish" else "co"}
    result = CliRunner().invoke(main, [], env={"_TAKIFUGU_COMPLETE": f"{shell}_complete", **line}, prog_name="takifugu")
    assert "cost" in result.output


def test_published_guarantees_of_a_day_are_priced_where_days_resemble_each_other() -> None:
    losses = {row["name"]: list(row["losses"].values()) for row in json_of("odds", "--deployments")["deployments"]}
    assert losses["Google, Community Mobility Reports"] == pytest.approx([5.27, 6.89, 8.38, 11.68], abs=0.005)
    assert "5.275" in succeed("odds", "--deployments").stdout
    ended(2, "odds", "--deployments", "--output", "picture.svg")


def test_the_published_guarantees_are_those_of_the_registry() -> None:
    rows = [line.split(",") for line in research_file("deployments/event_level.csv").read_text().split()[1:]]
    registered = {(float(epsilon), unit) for _, unit, epsilon in rows}
    priced = json_of("odds", "--deployments")["deployments"]
    units = {"day": "user-day", "6 hours": "user-quarter-day", "contribution": "contribution-day"}
    assert {(row["epsilon"], units[row["event"]]) for row in priced} == registered

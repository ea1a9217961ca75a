"""What the smaller commands say, their JSON, colours and progress; and bad input of every kind, which harms nothing."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner
from tests.releasing import files
from tests.support.commands import all_commands, ended, invoke, json_of, refused, succeed, widest, words_of
from tests.support.failing import FULL, raising
from tests.support.releases import put
from tests.support.research import research_file
from tools import prose

from takifugu.accounting.suspicion import explain
from takifugu.cli import main
from takifugu.cli.samples import experiments
from takifugu.core.errors import InputError
from takifugu.releasing.publishing import orders, publish


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
    text = invoke("--help").output
    first, others = text.split("First commands:")[1].split("Other commands:")
    listed = [re.findall(r"^  ([a-z]+) ", part, re.MULTILINE) for part in (first, others)]
    assert listed[0] == ["init", "check", "advise", "cost", "release", "report", "verify"]
    assert [*listed[0], *listed[1]] == list(dict.fromkeys(path[0] for path in all_commands()))
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
    command: Any = main
    for word in path:
        command = command.commands[word]
    options = [option.help for option in command.params if isinstance(option, click.Option)]
    for line in (command.get_short_help_str(200), *options):
        assert line
        assert len(line.splitlines()) == 1
        assert len(line) <= 72
    assert not any(len(word.strip()) > 26 for word in re.findall(r"(?m)^  --\S+ (\S+)", outcome.output))  # 40 columns


def test_odds_with_delta() -> None:
    words = ("odds", "--prior", "50%", "--epsilon", "1/2", "--delta", "1e-5")
    said = words_of(succeed(*words))
    assert [some for some in ("with a probability of at most", "2e-5") if some not in said] == []
    document = {"format": "takifugu-cli/1", "command": "odds", "file": None}
    assert json_of(*words) == {**document, **explain("50%", "1/2", "1e-5").to_dict()}
    said = succeed("odds", "--prior", "0.1", "--epsilon", "1").output
    assert "between 3.9 % and 23.2 %" in " ".join(said.split())
    assert said == invoke("odds").output


@pytest.mark.mutants
def test_pictures_of_odds_and_costs(tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    for words in (["odds"], ["cost", files.write(tmp_path), "--epsilons", "0.5,2"]):
        succeed(*words, "--output", picture, "--force")
        assert ElementTree.parse(picture).getroot().tag.endswith("svg")
        assert "--force" in ended(2, *words, "--output", picture).stderr
        assert succeed(*words, "--output", picture, "--force").output.startswith("written: ")  # before a pipe closes
    nowhere = ended(2, "odds", "--output", tmp_path / "no" / "picture.svg")
    assert "cannot be written (no such file or directory)" in nowhere.stderr


@pytest.mark.mutants
def test_a_certificate_is_explained(released: Path) -> None:
    where = released / "out" / "time-use-units.certificate.json"
    outcome = succeed("verify", where)
    assert widest(outcome.output) <= 80
    secret, odds = "the state of one person in any one step", "at most 73.2 % sure (10 %: 23.2 %)"
    for expected in (secret, odds, "Without a signature", "007, Bob, jr., zoë"):
        assert expected in words_of(outcome)
    (document,) = json_of("verify", where)["certificates"]
    assert set(document) == {"name", "unchanged", "table", "unverified", "signed_by", "certificate"}
    text = where.read_text(encoding="utf-8")
    assert document["certificate"] == json.loads(text)
    where.write_text(text.replace('"epsilon": "1"', '"epsilon": "0.5"'), encoding="utf-8")
    outcome = ended(2, "verify", where, "--json")
    assert [*json.loads(outcome.stdout)] == ["format", "command", "file", "error"]
    assert f"{where.name}: this file was changed after it was written" in outcome.stderr


@pytest.mark.mutants
def test_the_budget_is_told_as_it_was_declared(tmp_path: Path) -> None:
    declared = words_of(invoke("release", files.write(tmp_path)))
    assert re.search(r"epsilon \S+ of 10 spent for each person", declared)
    where, book = files.write(tmp_path / "b", files.SPEC.replace("budget = 10\n", "")), tmp_path / "b" / "ledger.db"
    implied = "No budget was declared in the file: it is what the first release cost"
    assert implied in words_of(invoke("release", where))
    succeed("ledger", "set-budget", book, json_of("ledger", "show", book)["sources"][0]["name"], "30")
    assert f". {implied}, or was set since" in words_of(succeed("release", where))


def test_targets_are_listed_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """They are found without being imported; an installation has none."""
    monkeypatch.setattr(experiments, "ROOT", tmp_path)
    for refused_one in (experiments.targets, lambda: experiments.find("good2026")):
        with pytest.raises(InputError, match="the experiments are not part of the installed package: get the source"):
            refused_one()
    put(tmp_path, {"pyproject.toml": ""})
    put(tmp_path / "experiments", {
        "good2026.py": '"""Something about\nfish.\n\nMore."""\nREPRODUCES = "Good 2026, Table 1"\nprint("it is 42")\n',
        "bad.py": '"""Ends."""\nREPRODUCES = "Bad 2026"\nraise SystemExit(7)\n',
        "helper.py": "raise RuntimeError('is never imported')\n", "broken.py": "def (\n",
    })  # fmt: skip
    assert [(t.name, t.reproduces, t.about) for t in experiments.targets()] == [
        ("bad", "Bad 2026", "Ends."), ("good2026", "Good 2026, Table 1", "Something about fish."),
    ]  # fmt: skip
    assert "good2026" in invoke("reproduce").output
    assert set(json_of("reproduce")["targets"][0]) == {"name", "reproduces", "about", "file"}
    succeed("reproduce", "good2026")
    assert "it is 42" in capfd.readouterr().out
    assert "exit code 7" in ended(3, "reproduce", "bad").stderr
    assert "did you mean 'good2026'?" in ended(2, "reproduce", "god2026").stderr


@pytest.mark.slow
def test_without_research_data_a_part_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    root, package, here = Path(__file__).resolve().parents[2], tmp_path / "takifugu", tmp_path / "here"
    shutil.copytree(root / "experiments", package / "experiments")
    shutil.copytree(root / "docs", package / "docs", ignore=shutil.ignore_patterns("*.svg", "theory"))
    before = sorted(package.rglob("*.py"))
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(experiments, "ROOT", package)
    monkeypatch.setenv("TAKIFUGU_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

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


def test_this_checkout_has_targets() -> None:
    for target in experiments.targets():
        assert re.fullmatch(r"[a-z0-9_]+", target.name)
        assert target.about.endswith(".")
        assert target.reproduces


@pytest.mark.mutants
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


@pytest.mark.mutants
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


@pytest.mark.sampled(4)
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
    where, real = files.write(tmp_path), os.replace

    def full(source: Any, target: Any) -> None:
        if str(target).endswith(".csv"):
            raise FULL
        real(source, target)

    monkeypatch.setattr(os, "replace", full)
    said = refused("release", where, code=4)
    assert "no space left on device" in said
    assert "drawn, not published. Its epsilon is spent" in said
    out = [f"time-use-units.certificate.{end}" for end in ("json", "txt")]
    assert f"These of its files are out: {', '.join(out)}." in said
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell: str) -> None:
    """click's own completion: `_TAKIFUGU_COMPLETE=bash_source takifugu` prints what the shell needs."""
    line = {"COMP_WORDS": "takifugu co", "COMP_CWORD": "1" if shell != "fish" else "co"}
    for asked, words in (("source", "_TAKIFUGU_COMPLETE"), ("complete", "cost")):
        environment = {"_TAKIFUGU_COMPLETE": f"{shell}_{asked}", **line}
        assert words in CliRunner().invoke(main, [], env=environment, prog_name="takifugu").output


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

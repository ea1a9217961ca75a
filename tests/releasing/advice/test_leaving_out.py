"""What a rule leaves out is counted and said before it is written, to whoever owns the data and to nobody else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.releasing.publishing.test_states import invoke

SPEC = """\
ledger = "ledger.db"
output = "out"

[expect]
source = "a test"
matters = 1000

[source]
name = "study"
file = "data.csv"
unit = "who"
order = "t"
value = "state"
budget = 400

[belief]
kind = "markov-chain"
states = ["still", "walking"]
matrix = [[0.8, 0.2], [0.3, 0.7]]
units_independent = true
source = "a test"

[[release]]
name = "walking"
query = "count"
states = ["walking"]
epsilon = 4.0
"""
#: So many rows of 1,200 say nobody's name; of Ana there are 1,097 in 100 steps.
NOBODY = 3


def written(folder: Path, *rules: str) -> Path:
    rows = [f"Ana,{i % 100},{'walking' if i % 3 else 'still'}" for i in range(1097)]
    rows += [f"Ben,{i},still" for i in range(100)] + [",7,walking"] * NOBODY
    (folder / "data.csv").write_text("\n".join(["who,t,state", *rows]))
    toml = folder / "study.toml"
    toml.write_text(SPEC.replace("budget = 400\n", "".join(["budget = 400\n", *(f"{rule}\n" for rule in rules)])))
    return toml


def counted(text: str) -> set[str]:
    return {*re.findall(r"[\d,]+ of [\d,]+ rows [^.\n]*", text)}


def test_it_is_said_before_a_rule_is_written(tmp_path: Path) -> None:
    """The numbers are of rows that are there: 997 share a step with another one of the same person."""
    outcome = invoke("advise", written(tmp_path))
    assert '997 of 1,200 rows would not count with duplicates = "first" or "last"' in " ".join(outcome.output.split())
    assert '3 of 1,200 rows would not count with null_keys = "drop"' in " ".join(outcome.output.split())


@pytest.mark.parametrize("rule", ["first", "last"])
def test_it_is_said_of_rules_that_are_written(tmp_path: Path, rule: str) -> None:
    toml = written(tmp_path, f'duplicates = "{rule}"', 'null_keys = "drop"')
    outcome = invoke("advise", toml)
    assert outcome.exit_code == 0
    said = " ".join(outcome.output.split())
    assert f'997 of 1,200 rows do not count with duplicates = "{rule}"' in said
    assert '3 of 1,200 rows do not count with null_keys = "drop"' in said
    (document,) = json.loads(invoke("advise", "--json", toml).stdout)["files"]
    assert len(document["left_out"]) == 2


def test_no_other_command_counts_rows(tmp_path: Path) -> None:
    toml = written(tmp_path)
    for command in (["check"], ["compare"], ["calibrate"], ["release", "--dry-run"], ["release"]):
        assert not re.search(r"\b(997|1,?200|1,?097)\b", invoke(*command, toml).output), command


def test_the_log_of_a_build_learns_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = written(tmp_path)
    monkeypatch.setenv("CI", "true")
    outcome = invoke("advise", toml)
    assert "rows that a rule leaves out are counted on a machine without CI" in " ".join(outcome.output.split())
    assert not re.search(r"\b(997|1,?200|1,?097)\b", outcome.output)
    assert not re.search(r"\b(997|1,?200|1,?097)\b", invoke("advise", "--json", toml).output)


def test_nothing_is_said_where_every_row_counts(tmp_path: Path) -> None:
    toml = written(tmp_path)
    rows = [f"{who},{t},still\n" for who in ("Ana", "Ben") for t in range(99)]
    (tmp_path / "data.csv").write_text("".join(["who,t,state\n", *rows]))
    outcome = invoke("advise", toml)
    assert (outcome.exit_code, counted(outcome.output)) == (0, set())

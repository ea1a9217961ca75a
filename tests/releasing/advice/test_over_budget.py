"""A refusal over budget ends in one line for the release file, and pasted it is enough."""

import re
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, succeed

import takifugu as tf
from takifugu.releasing.advice.budgets import beforehand, unpaid
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import plan

#: A file whose one table, or whose two, cost more than the budget; and how it names them.
SINGLE = files.SPEC.replace('per = "both"', 'per = "unit"')
OVER = {
    "by influence": SINGLE.replace("budget = 10", "budget = 0.1"),
    "by group": SINGLE.replace("budget = 10", "budget = 0.1").replace(
        "epsilon = 1.0", 'epsilon = 1\nmechanism = "group-dp"'
    ),
    "both": files.SPEC.replace("budget = 10", "budget = 0.15"),
}


def pasted(text: str, said: str) -> str:
    """Return a release file with the last line of a refusal in its one [[table]]."""
    line = said.strip().splitlines()[0]
    (new,) = re.findall(r"epsilon = ([0-9.e-]+)\s*$", line.split("State of the release")[0].strip())
    return re.sub(r"(?m)^epsilon = .*$", f"epsilon = {new}", text, count=1)


@pytest.mark.mutants
@pytest.mark.parametrize("name", OVER)
@pytest.mark.parametrize("command", [("release", "--allow-useless"), ("release", "--dry-run", "--allow-useless")])
def test_the_last_line_of_a_refusal_is_enough(tmp_path: Path, name: str, command: tuple[str, ...]) -> None:
    where = files.write(tmp_path, OVER[name])
    refusal = ended(1, *command, where).stderr
    (line,) = (line for line in refusal.splitlines() if "left of a budget" in line)
    where.write_text(pasted(OVER[name], line), encoding="utf-8")
    assert invoke("release", "--dry-run", "--allow-useless", where).exit_code == 0
    succeed("release", "--allow-useless", where)


def test_what_is_published_as_it_is_costs_nothing_more(tmp_path: Path) -> None:
    one = SINGLE.replace('per = "unit"', 'per = "pooled"')
    where = files.write(tmp_path, one, files.data({"Ana": (12,)}))
    tf.release_file(where, allow_useless=True)
    assert beforehand(plan(load(where))) == (None, ())
    again = one.split("[[table]]")[1].split("\n[")[0].replace('"time-use"', '"more"')
    where.write_text(f"{one}\n[[table]]{again}", encoding="utf-8")
    assert [table.name for table in unpaid(plan(load(where))).tables] == ["more"]

"""A refusal over budget ends in one line for the release file, and pasted it is enough."""

import re
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, invoke, succeed

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

"""Commands in sentences: quoted for a shell, and whole in lines of every width."""

import shlex

import pytest

from takifugu.core.commands import command
from takifugu.core.text.tables import filled, fitting, labelled

WORDS = ("release", "a study/c.toml", "--again", "both", "--once", 2)


def test_a_command_is_what_a_shell_reads() -> None:
    assert shlex.split(command(*WORDS).strip("`")) == ["takifugu", *map(str, WORDS)]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_command_is_broken_nowhere(columns: int) -> None:
    text = f"it lies elsewhere, which is a long story: take it, or run {command(*WORDS)} now, 50 % of it"
    with fitting(columns):
        for lines in (filled(text).splitlines(), labelled([("note", text)]).splitlines()):
            assert any(command(*WORDS) in line for line in lines)
            assert all(len(line) <= columns for line in lines if "takifugu" not in line)

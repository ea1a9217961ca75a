"""The command line, run in the process of a test."""

import json
from typing import Any

from click.testing import CliRunner, Result

from takifugu.cli import main
from takifugu.cli.group import BAD_INPUT, DONE


def invoke(*words: object, color: bool = False, **environment: str) -> Result:
    """Run a command; an exception that it does not turn into words fails the test."""
    return CliRunner(env=environment).invoke(main, [str(word) for word in words], catch_exceptions=False, color=color)


def all_commands(group: Any = main, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words of every command, in the order of their use."""
    paths = []
    for name, command in group.commands.items():
        path = (*before, name)
        paths += all_commands(command, path) if hasattr(command, "commands") else [path]
    return paths


def ended(code: int, *words: object, **options: Any) -> Result:
    """Run a command that must end with an exit code."""
    outcome = invoke(*words, **options)
    assert outcome.exit_code == code, outcome.output
    return outcome


def succeed(*words: object, **options: Any) -> Result:
    """Run a command that must do what it is for."""
    return ended(DONE, *words, **options)


def refused(*words: object, code: int = BAD_INPUT) -> str:
    """Return all that a command says, as one line, which must be refused and print nothing."""
    outcome = ended(code, *words)
    assert outcome.stdout == ""
    return words_of(outcome)


def words_of(outcome: Result) -> str:
    """Return all that a command said, as one line."""
    return " ".join(outcome.output.split())


def widest(text: str, *private: object) -> int:
    """Return the width of the widest line of a text, without paths and names that no line can be narrower than."""
    for part in private:
        text = text.replace(str(part), "")
    return max(map(len, text.splitlines()))


def json_of(*words: object) -> Any:
    """Return the document that a command prints with `--json`."""
    document = json.loads(succeed(*words, "--json").stdout)
    assert document["format"] == "takifugu-cli/1"
    return document

"""The words of before: each has one precise error with a line to paste; and how many words there are now."""

import re
import shlex

import click
import pytest
from tests.support.commands import all_commands, ended, words_of

from takifugu.cli import main
from takifugu.cli.old_words import COMMANDS, GONE, OPTIONS


def command_of(path: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for word in path:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    return command


def options_of(command: click.Command) -> set[str]:
    return {name for option in command.params if isinstance(option, click.Option) for name in option.opts}


def pasted(said: str) -> list[str]:
    """Return the words of the line that an error tells to write, after takifugu."""
    (line,) = re.findall(r"Write `takifugu (.*?)`", said)
    return shlex.split(line)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_of_before_names_a_line_that_is_understood(path: str) -> None:
    said = words_of(ended(2, *path.split(), "a file.toml", "--json"))
    words = pasted(ended(2, *path.split(), "a file.toml").stderr.replace("\n", " "))
    assert f"'{path}' is " in said
    known = {*all_commands()}
    assert tuple(words[:1]) in known or tuple(words[:2]) in known
    command = command_of(tuple(words[:2]) if tuple(words[:2]) in known else tuple(words[:1]))
    assert {word for word in words if word.startswith("--")} <= options_of(command)
    assert tuple(path.split()) not in known


@pytest.mark.parametrize(("words", "line"), [
    ("compare --all a.toml", "cost --all a.toml"), ("compare", "cost FILE"), ("calibrate a.toml", "cost a.toml"),
    ("plan a.toml", "cost a.toml --windows 52"), ("plan a.toml --releases=4", "cost a.toml --windows=4"),
    ("explain", "odds"), ("explain --prior 20%", "odds --prior 20%"),
    ("explain a.toml", "cost a.toml --epsilons 0.1,0.2,0.5,1,2,5,10"),
    ("init a.csv --whose=who --when day", "init a.csv --unit=who --order day"),
    ("release a.toml --again t --once=2 --anyway", "release a.toml --replace t --idempotency-key=2 --allow-useless"),
    ("certificate show a.json --picture x.png", "verify a.json"), ("open", "report"), ("open out", "report out"),
    ("ask a.toml bar --end", "session a.toml bar --end"), ("schema", "keys markov-chain --json"),
    ("init --app a.csv --unit who --step=1h --yes -o b.toml states=on,off",
     "app a.csv unit=who step=1h -o b.toml states=on,off"),
    ("init a.csv --app --force --unit", "app a.csv --force unit=ANSWER"),
    ("ledger check l.db --json", "ledger verify l.db --json"), ("ledger check", "ledger verify LEDGER"),
    ("ledger budget l.db data 3 --delta 1e-6", "ledger set-budget l.db data 3 --delta 1e-6"),
    ("ledger adopt l.db out --yes", "ledger import-certificates l.db out --yes"),
    ("ledger history l.db data", "ledger show l.db"), ("ledger history --json l.db", "ledger show l.db"),
    ("ledger history", "ledger show LEDGER"), ("ledger init l.db", "release FILE"),
    ("ledger merge l.db other.db --dry-run", "ledger import-certificates l.db FOLDER"),
    ("ledger upgrade l.db", "release FILE --new-ledger"),
    ("schema --kind=users", "keys users --json"), ("demo --folder x", "example --run --output x"),
])  # fmt: skip
def test_the_line_to_paste_keeps_what_was_typed(words: str, line: str) -> None:
    assert pasted(ended(2, *words.split()).stderr.replace("\n", " ")) == line.split()


@pytest.mark.parametrize(("path", "option"), [(path, option) for path in OPTIONS for option in OPTIONS[path]])
def test_an_option_of_before_names_the_one_of_now(path: str, option: str) -> None:
    command = command_of(tuple(path.split()))
    assert option not in options_of(command)
    assert OPTIONS[path][option] in options_of(command)
    assert OPTIONS[path][option] in pasted(ended(2, *path.split(), option, "x").stderr.replace("\n", " "))


@pytest.mark.parametrize(("path", "option"), [(path, option) for path in GONE for option in GONE[path]])
def test_an_option_that_is_gone_says_what_to_write(path: str, option: str) -> None:
    assert GONE[path][option] in words_of(ended(2, *path.split(), option, "x"))


def test_there_are_few_commands_and_options() -> None:
    """At most 20 commands and 50 options: a new one replaces another."""
    options = {max(option.opts, key=len) for option in main.params}
    for path in all_commands():
        options |= {max(option.opts, key=len) for option in command_of(path).params if isinstance(option, click.Option)}
    assert len(main.commands) <= 20
    assert len(options) <= 50, sorted(options)

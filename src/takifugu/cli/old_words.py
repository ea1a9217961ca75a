"""Commands and options of before: what became of each, and the line to write now."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from takifugu.core.escaping import visible

#: What was typed after a word, as the words of a line to write now.
Line = Callable[[Sequence[str]], Sequence[str]]


def _after(*words: str, otherwise: Sequence[str] = ("FILE",)) -> Line:
    """Return a line of these words and of all that was typed after the old one, or of what was to be typed there."""
    return lambda typed: [*words, *(typed or otherwise)]


def _of_ledger(*words: str) -> Line:
    """Return a line in which LEDGER stands for the first thing that was typed."""
    return lambda typed: [_first(typed, "LEDGER") if word == "LEDGER" else word for word in words]


def _first(typed: Sequence[str], otherwise: str) -> str:
    return next((word for word in typed if not word.startswith("-")), otherwise)


def _planned(typed: Sequence[str]) -> Sequence[str]:
    """Return the line for `plan`, which looked 52 windows ahead."""
    words = ["--windows" if word == "--releases" else word.replace("--releases=", "--windows=") for word in typed]
    if not any(word.startswith("--windows") for word in words):
        words += ["--windows", "52"]
    return ["cost", *(words if typed else ["FILE", *words])]


def _explained(typed: Sequence[str]) -> Sequence[str]:
    """Return the line for `explain`, of a file or without one."""
    if file := next((word for word in typed if word.endswith(".toml")), None):
        return ["cost", file, "--epsilons", "0.1,0.2,0.5,1,2,5,10"]
    return ["odds", *_renamed(typed, {"--svg": "--output"})]


def _schema(typed: Sequence[str]) -> Sequence[str]:
    kind = next((word.removeprefix("--kind=") for word in typed if word != "--json" and word != "--kind"), "")
    return ["keys", kind or "markov-chain", "--json"]


def _verified(typed: Sequence[str]) -> Sequence[str]:
    """Return the line for `certificate show`, whose pictures lie beside the certificates."""
    words = [word for word in typed if word == "--json" or not word.startswith("--")]
    return ["verify", *(words[1:2] or ["FILE"]), *(["--json"] if "--json" in words[2:] else [])]


#: The words of before, with what became of them and the line to write now.
COMMANDS: dict[str, tuple[str, Line]] = {
    "compare": ("is part of 'cost' now", _after("cost")),
    "calibrate": ("is 'cost' now", _after("cost")),
    "plan": ("is part of 'cost' now", _planned),
    "explain": ("is 'cost' of a file now, and 'odds' without one", _explained),
    "open": ("is 'report' now", lambda typed: ["report", *typed]),
    "ask": ("is 'session' now", _after("session")),
    "schema": ("is 'keys KIND --json' now", _schema),
    "certificate": ("is gone: 'verify' says what a certificate promises, of a file or a folder", _verified),
    "demo": ("is 'example --run' now", lambda typed: ["example", "--run", *_renamed(typed, {"--folder": "--output"})]),
    "ledger init": (
        "is gone, since a release makes its ledger where there is none", lambda _: ["release", "FILE"]
    ),
    "ledger history": ("is part of 'ledger show' now", _of_ledger("ledger", "show", "LEDGER")),
    "ledger check": ("is 'ledger verify' now", _after("ledger", "verify", otherwise=("LEDGER",))),
    "ledger budget": (
        "is 'ledger set-budget' now", _after("ledger", "set-budget", otherwise=("LEDGER", "SOURCE", "EPSILON"))
    ),
    "ledger adopt": (
        "is 'ledger import-certificates' now", _after("ledger", "import-certificates", otherwise=("LEDGER", "FOLDER"))
    ),
    "ledger merge": (
        "is gone: go on with one of the copies, and enter what the others have published",
        _of_ledger("ledger", "import-certificates", "LEDGER", "FOLDER"),
    ),
    "ledger upgrade": (
        "is gone, since no earlier format is read: publish on in a new ledger",
        lambda _: ["release", "FILE", "--new-ledger"],
    ),
}  # fmt: skip

_INIT = {"whose": "unit", "when": "order", "secret": "kind", "publish": "value"}
#: What is answered without an option, by the options of before.
_ANSWERED = {
    "states": "states", "size": "size", "source": "source", "stay": "mean_duration", "next": "next_state",
    "independent": "units_independent", "from": "from", "until": "until", "roster": "roster",
    "default-state": "default_state", "otherwise": "default_state",
}  # fmt: skip
#: The options of before that have another name, by command.
OPTIONS: dict[str, dict[str, str]] = {
    "init": {f"--{old}": f"--{new}" for old, new in _INIT.items()},
    "release": {"--again": "--replace", "--once": "--idempotency-key", "--anyway": "--allow-useless"},
    "check": {"--anyway": "--allow-useless"},
    "cost": {"--svg": "--output"},
    "odds": {"--svg": "--output"},
    "example": {"--folder": "--output"},
    "reproduce": {"--whole": "--all"},
}
#: The options of before that are no options, and what to write in place of each.
GONE: dict[str, dict[str, str]] = {
    "init": {
        "--public": "Write the file of who met whom under [belief].",
        "--dates": "Write --order \"strptime(date, '%d/%m/%Y')\", with your column.",
        **{f"--{old}": f"Write {key}=ANSWER behind the table, without an option." for old, key in _ANSWERED.items()},
    },
    "release": {
        "--seed": "Whoever knows the seed knows the noise. `takifugu rehearse FILE --seed 7` publishes made-up data."
    },
}


def command_now(path: str, typed: Sequence[str]) -> str | None:
    """Say what became of a command of before, and the line to paste; None of any other.

    >>> command_now("plan", ["weeks.toml"])
    "'plan' is part of 'cost' now. Write `takifugu cost weeks.toml --windows 52`."
    """
    if path not in COMMANDS:
        return None
    became, line = COMMANDS[path]
    return f"'{path}' {became}. Write {_pasted(line(typed))}."


def option_now(path: str, option: str, words: Sequence[str]) -> str | None:
    """Say what became of an option of before, and the line to paste; None of any other.

    `words` are all that was typed after takifugu.
    """
    if words_of_gone := GONE.get(path, {}).get(option):
        return words_of_gone
    names = OPTIONS.get(path, {})
    if option not in names:
        return None
    return f"It is {names[option]} now. Write {_pasted(_renamed(words, names))}."


def _renamed(words: Sequence[str], names: dict[str, str]) -> list[str]:
    """Return words with the options of before by their names of now."""
    renamed = list[str]()
    for word in words:
        name, is_given, value = word.partition("=")
        renamed.append(f"{names.get(name, name)}{is_given}{value}")
    return renamed


def _pasted(words: Sequence[str]) -> str:
    return visible(f"`{shlex.join(['takifugu', *words])}`")

"""Commands and options of before: what became of each, and the line to write now."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence

from takifugu.core.escaping import visible

#: The line to write now for what was typed after a word of before.
Line = Callable[[Sequence[str]], Sequence[str]]
#: Options of these words that have another name.
_RENAMED = {"--svg": "--output", "--folder": "--output", "--releases": "--windows"}


def _line(text: str) -> Line:
    """Return a line in which * stands for all that was typed, or for the words behind it, and LEDGER for the first."""
    words, star, otherwise = (part.split() for part in text.partition("*"))

    def line(typed: Sequence[str]) -> list[str]:
        ledger = next((word for word in typed if not word.startswith("-")), "LEDGER")
        behind = [*typed] or otherwise if star else []
        return [*(ledger if word == "LEDGER" else word for word in words), *behind]

    return line


def _planned(typed: Sequence[str]) -> list[str]:
    """Return the line for `plan`, which looked 52 windows ahead."""
    is_said = any(word.startswith("--windows") for word in typed)
    return ["cost", *(typed or ["FILE"]), *([] if is_said else ["--windows", "52"])]


def _explained(typed: Sequence[str]) -> list[str]:
    """Return the line for `explain`, of a file or without one."""
    file = next((word for word in typed if word.endswith(".toml")), None)
    return ["cost", file, "--epsilons", "0.1,0.2,0.5,1,2,5,10"] if file else ["odds", *typed]


def _schema(typed: Sequence[str]) -> list[str]:
    kind = next((word.removeprefix("--kind=") for word in typed if word != "--json" and word != "--kind"), "")
    return ["keys", kind or "markov-chain", "--json"]


def _verified(typed: Sequence[str]) -> list[str]:
    """Return the line for `certificate show`, whose pictures lie beside the certificates."""
    words = [word for word in typed if word == "--json" or not word.startswith("--")]
    return ["verify", *(words[1:2] or ["FILE"]), *(["--json"] if "--json" in words[2:] else [])]


#: The words of before, with what became of them and the line to write now.
COMMANDS: dict[str, tuple[str, Line]] = {
    "compare": ("is part of 'cost' now", _line("cost * FILE")),
    "calibrate": ("is 'cost' now", _line("cost * FILE")),
    "plan": ("is part of 'cost' now", _planned),
    "explain": ("is 'cost' of a file now, and 'odds' without one", _explained),
    "open": ("is 'report' now", _line("report *")),
    "ask": ("is 'session' now", _line("session * FILE")),
    "schema": ("is 'keys KIND --json' now", _schema),
    "certificate": ("is gone: 'verify' says what a certificate promises, of a file or a folder", _verified),
    "demo": ("is 'example --run' now", _line("example --run *")),
    "ledger init": ("is gone, since a release makes its ledger where there is none", _line("release FILE")),
    "ledger history": ("is part of 'ledger show' now", _line("ledger show LEDGER")),
    "ledger check": ("is 'ledger verify' now", _line("ledger verify * LEDGER")),
    "ledger budget": ("is 'ledger set-budget' now", _line("ledger set-budget * LEDGER SOURCE EPSILON")),
    "ledger adopt": ("is 'ledger import-certificates' now", _line("ledger import-certificates * LEDGER FOLDER")),
    "ledger merge": (
        "is gone: go on with one of the copies, and enter what the others have published",
        _line("ledger import-certificates LEDGER FOLDER"),
    ),
    "ledger upgrade": (
        "is gone, since no earlier format is read: publish on in a new ledger", _line("release FILE --new-ledger")
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


def _served(typed: Sequence[str]) -> list[str]:
    """Return the line for `init --app`, whose options are answers of `app`."""
    line, words = list[str](), iter(typed)
    for word in words:
        name, is_given, value = word.partition("=")
        if not word.startswith("--") or name in ("--output", "--force", "--json"):
            line.append("app" if word == "init" else word)
        elif name not in ("--app", "--yes"):
            line.append(f"{name.removeprefix('--')}={value if is_given else next(words, 'ANSWER')}")
    return line


#: The options of before that are a command, with what became of them and the line to write now.
MOVED: dict[str, tuple[str, Line]] = {"init --app": ("is the command 'app' now", _served)}


def command_now(path: str, typed: Sequence[str]) -> str | None:
    """Say what became of a command of before, and the line to paste; None of any other."""
    if path not in COMMANDS:
        return None
    became, line = COMMANDS[path]
    return f"'{path}' {became}. Write {_pasted(line(_renamed(typed, _RENAMED)))}."


def option_now(path: str, option: str, words: Sequence[str]) -> str | None:
    """Say what became of an option of before, and the line to paste; `words` are all that was typed."""
    if words_of_gone := GONE.get(path, {}).get(option):
        return words_of_gone
    if moved := MOVED.get(f"{path} {option}"):
        became, line = moved
        return f"It {became}. Write {_pasted(line(words))}."
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

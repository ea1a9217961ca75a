"""What lower layers tell people to write in Python, as a release file has it; and that as options of a command."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

#: What is said to Python alone, beside what holds for both.
_ASIDE = re.compile(r" \(\w+=['\w]+(?: in Python)?\)|,? or [A-Z]\w+\.\w+(?=\))")
#: Secrets that are sections of a release file.
_SECRETS = {"every_entry": "record", "dataset_property": "property", "distribution_parameter": "parameter"}
_SECRET = re.compile(rf"\b({'|'.join(_SECRETS)})\(('[^']*'|\"[^\"]*\")(, [^()]*)?\)")
_TABLE = re.compile(r"\b(\w+)=\{([^{}]*)\}")
_LINE = re.compile(r"\b(\w+) = (\"[^\"]*\"|\[[^\[\]]*\]|\{[^{}]*\}|true|[0-9][\w.]*)")
_KEY = re.compile(r"(?<![\w.(])([a-z]\w*)=(True|False|\"[^\"]*\"|'[^']*'|\.\.\.|[0-9][\w.+-]*)")


def in_toml(text: str) -> str:
    """Return a message with its hints as lines of a release file.

    >>> in_toml('use mechanism="quilt-exact"; allow_zero_noise=True accepts that')
    'use mechanism = "quilt-exact"; allow_zero_noise = true accepts that'
    >>> in_toml("give codes, for example codes={'ill': 1}, or write --anyway (anyway=True)")
    'give codes, for example codes = { ill = 1 }, or write --anyway'
    >>> in_toml("write every_entry('age', max_difference=...)")
    'write record = { attribute = "age", max_difference = ... } under [hide]'
    """
    text = _SECRET.sub(_secret, _ASIDE.sub("", text))
    return _KEY.sub(_key, _TABLE.sub(_table, text))


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Return a message with lines of a release file as options, named by key.

    >>> in_options('write mean_duration = { on = "2 h", off = 3 } under [source]', {"mean_duration": "stay"})
    'write --stay "on 2 h, off 3"'
    """

    def option(match: re.Match[str]) -> str:
        if match[1] not in options:
            return match[0]
        try:
            value = tomllib.loads(match[0])[match[1]]
        except tomllib.TOMLDecodeError:  # it stands for any value
            return match[0]
        word = _word(value)
        if not re.fullmatch(r"[\w.:/-]+", word):
            word = json.dumps(word, ensure_ascii=False)
        return f"--{options[match[1]]} {word}"

    replaced = _LINE.sub(option, text)
    return text if replaced == text else replaced.replace(" under [source]", "")


def _word(value: object) -> str:
    """Return a TOML value as the word of an option."""
    if value is True:
        return "yes"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {part}" for key, part in value.items())
    return str(value)


def _secret(match: re.Match[str]) -> str:
    more = _KEY.sub(_key, match[3] or "")
    return f'{_SECRETS[match[1]]} = {{ attribute = "{match[2][1:-1]}"{more} }} under [hide]'


def _table(match: re.Match[str]) -> str:
    pairs = re.sub(r"(?:'([\w-]+)'|(\w+)): ", lambda key: f"{key[1] or key[2]} = ", match[2])
    return f"{match[1]} = {{ {pairs} }}"


def _key(match: re.Match[str]) -> str:
    value = {"True": "true", "False": "false"}.get(match[2], match[2])
    return f"{match[1]} = {value}"

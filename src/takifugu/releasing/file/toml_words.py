"""What lower layers tell people to write in Python, as a release file has it."""

from __future__ import annotations

import re

#: What is said to Python alone, beside what holds for both.
_ASIDE = re.compile(r" \(\w+=['\w-]+(?: in Python)?\)|,? or [A-Z]\w+\.\w+(?=\))")
#: Secrets that are sections of a release file.
_SECRETS = {"every_entry": "record", "dataset_property": "property", "distribution_parameter": "parameter"}
_SECRET = re.compile(rf"\b({'|'.join(_SECRETS)})\(('[^']*'|\"[^\"]*\")(, [^()]*)?\)")
_TABLE = re.compile(r"\b(\w+)=\{([^{}]*)\}")
_KEY = re.compile(r"(?<![\w.(])([a-z]\w*)=(True|False|\"[^\"]*\"|'[^']*'|\.\.\.|[0-9][\w.+-]*)")


def in_toml(text: str) -> str:
    """Return a message with its hints as lines of a release file: mechanism='x' as mechanism = "x"."""
    text = _SECRET.sub(_secret, _ASIDE.sub("", text))
    return _KEY.sub(_key, _TABLE.sub(_table, text))


def _secret(match: re.Match[str]) -> str:
    more = _KEY.sub(_key, match[3] or "")
    return f'{_SECRETS[match[1]]} = {{ attribute = "{match[2][1:-1]}"{more} }} under [hide]'


def _table(match: re.Match[str]) -> str:
    pairs = re.sub(r"(?:'([\w-]+)'|(\w+)): ", lambda key: f"{key[1] or key[2]} = ", match[2])
    return f"{match[1]} = {{ {pairs} }}"


def _key(match: re.Match[str]) -> str:
    value = {"True": "true", "False": "false"}.get(match[2], match[2])
    return f"{match[1]} = {value}"

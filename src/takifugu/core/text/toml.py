"""Plain values as TOML, for drafts, remedies and errors that may be pasted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable


def toml_of(value: object) -> str:
    """Write a plain value as TOML reads it back.

    >>> print(toml_of(["it's", 'a "b"', 1, 0.5, True, {"x y": 1}]))
    ["it's", "a \\"b\\"", 1, 0.5, true, { "x y" = 1 }]
    """
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {toml_of(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_of, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return {True: "true", False: "false"}[value]
    return repr(value)


def either(choices: Iterable[object]) -> str:
    """List choices as they may be pasted.

    >>> either(["first", "last", 3])
    '"first" or "last" or 3'
    """
    return " or ".join(map(toml_of, choices))


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else toml_of(name)

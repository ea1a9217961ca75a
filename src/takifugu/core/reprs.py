"""How public values show themselves: what was said of them, in three lines at most."""

from __future__ import annotations

from dataclasses import MISSING, fields
from reprlib import Repr
from typing import Any

#: The most letters of a value, and of one of its fields: three lines, and one.
MOST, _OF_FIELD = 240, 70

_SHORT = Repr()
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxset = _SHORT.maxfrozenset = 4
_SHORT.maxdict, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother, _SHORT.maxlevel = 3, 40, 40, _OF_FIELD, 3


def short_repr(value: Any) -> str:
    """Return the name of a dataclass and its fields, without those that have their defaults, each shortened."""
    parts, room = list[str](), MOST - len(type(value).__name__) - 8
    for field in fields(value):
        if not field.repr or not hasattr(value, field.name):
            continue
        said = getattr(value, field.name)
        if field.default is not MISSING and type(said) is type(field.default) and said == field.default:
            continue
        text = " ".join(_SHORT.repr(said).split())
        if len(text) > _OF_FIELD:
            text = f"{text[: _OF_FIELD - 4]} ..."
        parts.append(f"{field.name}={text}")
        if sum(map(len, parts)) + 2 * len(parts) > room:
            parts[-1] = "..."
            break
    return f"{type(value).__name__}({', '.join(parts)})"

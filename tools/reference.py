"""The docstrings of the public names as Markdown, for tools/tables.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import takifugu

#: The rooms of the house that a user has to do with, in the order of use, each with what its names are for.
ROOMS = {
    "model.beliefs": "What an adversary may believe",
    "model.secrets": "What must stay hidden",
    "model.frameworks": "What is hidden from whom",
    "model.queries": "What is published",
    "calibration": "How much noise",
    "audit": "What the noise really gives away",
    "analysis": "If the belief is off",
    "releasing": "Publishing",
    "accounting": "What several releases cost together",
    "numbers": "Distributions, and how they move",
}


def lines() -> Iterator[str]:
    for room, title in ROOMS.items():
        yield f"## {title}\n\nPackage `takifugu.{room}`.\n"
        for name in names_in(room):
            thing = getattr(takifugu, name)
            yield f"### {name}\n\n```text\n{signature(name, thing)}\n```\n\n{prose(thing)}\n"
            yield from methods(thing)
    yield "## Errors\n\nA mistake of the user's raises one of these, and nothing else does.\n"
    for name, thing in vars(takifugu.core.errors).items():
        if inspect.isclass(thing) and issubclass(thing, takifugu.TakifuguError):
            yield f"**`{name}`** {prose(thing)}\n"


def names_in(room: str) -> list[str]:
    """Return the public names that a room defines, sorted."""
    named = {name: getattr(takifugu, name) for name in takifugu.__all__}
    inside = f"takifugu.{room}"
    return sorted(
        (name for name, thing in named.items() if described(thing) and f"{thing.__module__}.".startswith(f"{inside}.")),
        key=str.lower,
    )


def described(thing: Any) -> bool:
    return inspect.isroutine(thing) or (inspect.isclass(thing) and not issubclass(thing, Exception))


def methods(thing: Any) -> Iterator[str]:
    for name, member in vars(thing).items() if inspect.isclass(thing) else ():
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
            yield f"**`{signature(name, function)}`** {prose(function)}\n"


def signature(name: str, thing: Any) -> str:
    return f"{name}{inspect.signature(thing)}".replace("'", "")


def prose(thing: Any) -> str:
    """Return the docstring with its examples fenced, and with what Markdown would read as marks protected."""
    blocks = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{b}\n```" if b.startswith(">>>") else escaped(b) for b in blocks)


def escaped(text: str) -> str:
    return "".join(part if part.startswith("`") else re.sub(r"([*_<])", r"\\\1", part) for part in CODE.split(text))


CODE = re.compile(r"(`[^`]*`)")

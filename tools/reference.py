"""The docstrings of the public names as Markdown, for tools/tables.py."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import takifugu

#: The packages that a user needs, in the order of use.
ROOMS = {
    "model.beliefs": "Beliefs",
    "model.secrets": "Secrets",
    "model.frameworks": "Frameworks",
    "model.queries": "Queries",
    "calibration": "Calibration",
    "audit": "Audits",
    "analysis": "Guarantees",
    "releasing": "Releases",
    "accounting": "The ledger",
    "numbers": "Distributions",
}
#: Modules whose names are public, too, as in `takifugu.asymmetric.visits()`.
MODULES = {"numbers": "More distributions", "asymmetric": "Asymmetric privacy", "local": "Local randomisation"}


def lines() -> Iterator[str]:
    for room, title in ROOMS.items():
        yield f"## {title}\n\nPackage `takifugu.{room}`.\n"
        for name in names_in(room):
            yield from entry(name, getattr(takifugu, name))
    for module, title in MODULES.items():
        yield f"## {title}\n\nCalled as `takifugu.{module}.NAME`.\n"
        home = getattr(takifugu, module)
        for name in sorted(home.__all__, key=str.lower):
            yield from entry(name, getattr(home, name))
    yield "## Errors\n\nEvery mistake in the input raises one of these.\n"
    for name, thing in vars(takifugu.core.errors).items():
        if inspect.isclass(thing) and issubclass(thing, takifugu.TakifuguError):
            yield f"**`{name}`** {prose(thing)}\n"


def entry(name: str, thing: Any) -> Iterator[str]:
    yield f"### {name}\n\n```text\n{signature(name, thing)}\n```\n\n{prose(thing)}\n"
    yield from methods(thing)


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
    for name, function in methods_of(thing):
        yield f"**`{signature(name, function)}`** {prose(function)}\n"


def methods_of(thing: Any) -> Iterator[tuple[str, FunctionType]]:
    """Yield the public methods of a class that say what they are for."""
    for name, member in vars(thing).items() if inspect.isclass(thing) else ():
        function = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
            yield name, function


def signature(name: str, thing: Any) -> str:
    return f"{name}{inspect.signature(thing)}".replace("'", "")


def prose(thing: Any) -> str:
    """Return the docstring in Markdown: its sections as lists, its examples fenced, and no mark by accident."""
    text = inspect.getdoc(thing) or ""
    head = _SECTION.split(text)[0].strip()
    parts = ["\n\n".join(escaped(block) for block in head.split("\n\n"))]
    for name, section in sections(text).items():
        if name == "Examples":
            parts.append(f"```pycon\n{section_text(section)}\n```")
        elif name in ("Args", "Raises", "Attributes"):
            items = re.split(r"\n(?=\S)", section_text(section))
            rows = [f"* `{item.partition(':')[0]}`:{escaped(_one_line(item.partition(':')[2]))}" for item in items]
            parts.append("\n".join([f"{_TITLES[name]}:", "", *rows]))
        else:
            parts.append(f"{_TITLES[name]}: {escaped(_one_line(section_text(section)))}")
    return "\n\n".join(parts)


_TITLES = {"Args": "Parameters", "Returns": "Returns", "Raises": "Raises", "Attributes": "Attributes"}
_SECTION = re.compile(r"^(Args|Returns|Attributes|Raises|Examples):\n", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring in the style of Google, by title; each ends where a line is not indented."""
    parts = _SECTION.split(text)
    return {
        name: re.split(r"\n(?=\S)", body, maxsplit=1)[0].rstrip()
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def section_text(section: str) -> str:
    return textwrap.dedent(section)


def _one_line(text: str) -> str:
    return re.sub(r"\s*\n\s*", " ", text)


def escaped(text: str) -> str:
    return "".join(part if part.startswith("`") else re.sub(r"([*_<])", r"\\\1", part) for part in CODE.split(text))


CODE = re.compile(r"(`[^`]*`)")

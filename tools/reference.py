"""Write docs/reference.md from the docstrings of the public names: `python tools/reference.py` (`make docs` does)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import takifugu

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
GROUPS = {
    "What an adversary may believe": ("MarkovChain", "MarkovChainClass", "IndependentPieces", "JointTable", "Pmf"),
    "What must stay hidden": ("every_entry", "entry", "attribute", "between", "Pufferfish"),
    "What is published": ("Count", "Sum", "Mean", "Histogram", "Linear", "Identity"),
    "How much noise": ("calibrate", "compare", "with_scale"),
    "Publishing": ("release", "compose"),
    "Laws": ("w_infinity", "monotone_plan"),
}


def main() -> None:
    PAGE.write_text("\n".join(lines()) + "\n", encoding="utf-8")


def lines() -> Iterator[str]:
    yield "# Reference\n\nEvery public name of `import takifugu as tf`, from its docstring.\n"
    rest = tuple(name for name in takifugu.__all__ if not any(name in names for names in GROUPS.values()))
    for title, names in {**GROUPS, "More": rest}.items():
        found = [(name, getattr(takifugu, name)) for name in names]
        found = [(name, thing) for name, thing in found if inspect.isclass(thing) or inspect.isroutine(thing)]
        if found:
            yield f"## {title}\n"
        for name, thing in found:
            yield f"### {name}\n\n```text\n{signature(name, thing)}\n```\n\n{prose(inspect.getdoc(thing) or '')}\n"
            yield from methods(thing)


def methods(thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        member = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(member) and member.__doc__:
            yield f"**`{name}{inspect.signature(member)}`** {prose(inspect.getdoc(member) or '')}\n"


def signature(name: str, thing: Any) -> str:
    return f"{name}{inspect.signature(thing)}".replace("'", "")


def prose(text: str) -> str:
    """Turn the examples of a docstring into fenced blocks and protect what Markdown would read as marks."""
    parts = []
    for block in text.split("\n\n"):
        if block.startswith(">>>"):
            parts.append(f"```pycon\n{block}\n```")
        else:
            parts.append(re.sub(r"(?<!`)([*_<])", r"\\\1", block) if "`" not in block else block)
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()

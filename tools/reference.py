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
    "What an adversary may believe": (
        "MarkovChain", "MarkovChainClass", "ChainRegion", "BinaryChainInterval", "IndependentPieces", "JointTable",
        "Pmf",
    ),
    "What must stay hidden": ("Pufferfish", "every_entry", "entry", "attribute", "between"),
    "What is published": ("Count", "Sum", "Mean", "Histogram", "Linear", "Identity"),
    "How much noise": ("calibrate", "compare", "with_scale", "promise_if_belief_off"),
    "Publishing": ("release", "release_file", "report_html", "reconcile", "compose"),
    "Laws": ("w_infinity", "monotone_plan"),
}
INTRODUCTION = """# Reference

Every public name of `import takifugu as tf`, from its docstring. Papers are cited by author and year (Song17), their
errors by number ([errors in the papers](errata.md)).
"""


def main() -> None:
    PAGE.write_text("\n".join(lines()) + "\n", encoding="utf-8")


def lines() -> Iterator[str]:
    yield INTRODUCTION
    grouped = {name for names in GROUPS.values() for name in names}
    for title, names in {**GROUPS, "More": tuple(n for n in takifugu.__all__ if n not in grouped)}.items():
        things = [(name, getattr(takifugu, name)) for name in names]
        shown = [(name, thing) for name, thing in things if described(thing)]
        yield from [f"## {title}\n"] if shown else []
        for name, thing in shown:
            yield f"### {name}\n\n```text\n{signature(name, thing)}\n```\n\n{prose(thing)}\n"
            yield from methods(thing)
    yield "## Errors\n\nA mistake of the user's raises one of these, and nothing else does.\n"
    for name, thing in vars(takifugu.core.errors).items():
        if inspect.isclass(thing) and issubclass(thing, takifugu.TakifuguError):
            yield f"**`{name}`** {prose(thing)}\n"


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
    return "\n\n".join(f"```pycon\n{b}\n```" if b.startswith(">>>") else marked(b) for b in blocks)


def marked(text: str) -> str:
    return "".join(part if part.startswith("`") else re.sub(r"([*_<])", r"\\\1", part) for part in CODE.split(text))


CODE = re.compile(r"(`[^`]*`)")

if __name__ == "__main__":
    main()

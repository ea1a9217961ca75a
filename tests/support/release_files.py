"""Release files of tests: one text that works, and small changes of it."""

from __future__ import annotations

import re


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with parts of it replaced; each part must be there."""
    for before, after in changes:
        assert before in text, f"{before!r} is not in the file"
        text = text.replace(before, after)
    return text


def filled(draft: str, source: str = "", belief: str = "", hide: str = "", release: str = "") -> str:
    """Return a draft with lines below the headers of its sections, in place of its own lines with these keys."""
    for header, lines in {"[source]": source, "[belief]": belief, "[hide]": hide, "[[release]]": release}.items():
        if not lines:
            continue
        if header not in draft:
            draft += f"\n{header}\n"
        before, _, after = draft.partition(header)
        within, start, rest = after.partition("\n\n[")
        for key in re.findall(r"^(\w+) = ", lines, re.MULTILINE):
            within = re.sub(rf"\n{key} = .*", "", within)
        draft = f"{before}{header}\n{lines}{within}{start}{rest}"
    return draft


def with_chain(draft: str, states: str) -> str:
    """Return a draft of sequences of people with a chain over two states, as TOML lists them, filled in."""
    matrix = "matrix = [[0.9, 0.1], [0.4, 0.6]]\nmax_length = 1000\nunits_independent = true"
    return filled(draft, belief=f"states = {states}\n{matrix}")

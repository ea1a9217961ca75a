"""Release files of tests: one text that works, and small changes of it."""

from __future__ import annotations


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with parts of it replaced; each part must be there."""
    for before, after in changes:
        assert before in text, f"{before!r} is not in the file"
        text = text.replace(before, after)
    return text

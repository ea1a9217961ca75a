"""Release files of tests: one text that works, and small changes of it."""

from __future__ import annotations


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with parts of it replaced; each part must be there."""
    for before, after in changes:
        assert before in text, f"{before!r} is not in the file"
        text = text.replace(before, after)
    return text


def with_chain(draft: str, states: str) -> str:
    """Return a draft of sequences of people with a chain over two states, as TOML lists them, filled in."""
    return changed(
        draft,
        ('# states = ["still", "walking"]', f"states = {states}"),
        ("# max_length = 1000", "max_length = 1000"),
        ("# matrix = [[0.9, 0.1], [0.4, 0.6]]", "matrix = [[0.9, 0.1], [0.4, 0.6]]"),
        ("# units_independent = true", "units_independent = true"),
    )

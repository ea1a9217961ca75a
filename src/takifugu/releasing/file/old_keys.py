"""Keys that release files had before, each with the line that stands in its place now."""

from __future__ import annotations

from takifugu.core.errors import InputError

#: What is written now, by the old key.
NOW = {"release": "[[table]]"}


def renamed(key: str) -> InputError | None:
    """Return the error about a key of before, None for any other.

    >>> print(renamed("release").line)
    is the key of before; write [[table]]
    """
    if key not in NOW:
        return None
    return InputError("is the key of before", fix=f"write {NOW[key]}")

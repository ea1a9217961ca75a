"""Names and texts as SQL has them, for what DuckDB alone is asked."""

from __future__ import annotations


def identifier(name: str) -> str:
    """Return a column's name in quotes.

    >>> print(identifier("walking speed"))
    "walking speed"
    """
    return '"' + name.replace('"', '""') + '"'


def quoted(text: str) -> str:
    """Return a text in quotes.

    >>> print(quoted("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"

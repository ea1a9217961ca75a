"""Names and texts as SQL writes them."""

from __future__ import annotations


def identifier(name: str) -> str:
    """Return a name in SQL.

    >>> print(identifier('a "b" c'))
    "a ""b"" c"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text in SQL.

    >>> print(literal("Ana's"))
    'Ana''s'
    """
    return "'" + text.replace("'", "''") + "'"

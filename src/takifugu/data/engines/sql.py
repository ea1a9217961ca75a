"""Names and texts as SQL has them, for what DuckDB alone is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


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


def in_utc(connection: DuckDBPyConnection) -> DuckDBPyConnection:
    """Return an instance of DuckDB that reads alike whatever zone the machine is set to."""
    connection.execute("set global timezone = 'UTC'")
    return connection

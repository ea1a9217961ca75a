"""Names and texts as SQL writes them, and SQL as a key of TOML."""

from __future__ import annotations

from takifugu.core.plain import toml_of


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


def toml_line(key: str, sql: str) -> str:
    """Return the line of a key with an expression or a SELECT, to be pasted; quotes in it stay as they are.

    >>> print(toml_line("unit", 'lower("who")'))
    unit = 'lower("who")'
    >>> print(toml_line("value", "nullif(\\"v\\", 'NA')"))
    value = '''nullif("v", 'NA')'''
    """
    if '"' not in sql or "'''" in sql or sql.endswith("'") or "\n" in sql:
        return f"{key} = {toml_of(sql)}"
    return f"{key} = '''{sql}'''" if "'" in sql else f"{key} = '{sql}'"

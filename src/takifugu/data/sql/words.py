"""Names and texts as SQL writes them, and SQL as a key of TOML."""

from __future__ import annotations

from fractions import Fraction

from takifugu.core.plain import toml_of

_CAPITALS = str.maketrans({letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


def folded(name: str) -> str:
    """Return a name as DuckDB compares it: É and é are two, and so are K and the sign of Kelvin."""
    return name.translate(_CAPITALS)


def identifier(name: str) -> str:
    """Return a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def text_or_null(name: str) -> str:
    """Return a column as texts in SQL, NULL for an empty one."""
    return f"nullif({identifier(name)}::varchar, '')"


def double(number: float | Fraction) -> str:
    """Return a number in SQL, infinity too."""
    return f"'{float(number)!r}'::double"


def is_missing(column: str, kind: str) -> str:
    """Return the condition that nothing is in a column of a type; an empty text is nothing."""
    return f"({column} is null or {column} = '')" if kind == "VARCHAR" else f"({column} is null)"


def number_of(column: str, kind: str) -> str:
    """Return a column as a number, NULL for a text that is none."""
    if kind != "VARCHAR":
        return f"{column}::double"
    return f"case when {is_odd_number(column)} then null else try_cast({column} as double) end"


def is_odd_number(text: str, is_whole: bool = False) -> str:
    """Return the condition that a text which DuckDB casts is none: it reads 1_000 as 1000, 1e400 as inf, 0x1F as 31."""
    if is_whole:  # with a fraction it is rounded, and with an exponent it has lost its digits
        return f"regexp_matches({text}, '[_xXbBeE]|[.][0-9]*[1-9]')"
    return f"contains({text}, '_') or (isinf(try_cast({text} as double)) and not contains(lower({text}), 'n'))"


def toml_line(key: str, sql: str) -> str:
    """Return the line of a key with an expression or a SELECT, to be pasted; quotes in it stay as they are."""
    if '"' not in sql or "'''" in sql or sql.endswith("'") or "\n" in sql:
        return f"{key} = {toml_of(sql)}"
    return f"{key} = '''{sql}'''" if "'" in sql else f"{key} = '{sql}'"

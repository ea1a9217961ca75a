"""The ledger's tables: events, the one truth, and what is computed from them (`applying`).

Numbers that are spent are exact rationals, written as text; units are keyed hashes only. A `seal` is a keyed digest of
its row, written at commit (`seals`); whoever updates a row empties it.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

#: So many bytes of its keyed hash stand for a unit, and the tag of what is charged to every unit of a source.
TAG, EVERYONE = 16, b""

#: What `meta.kind` says, so that no other database is taken for a ledger.
KIND = "takifugu-ledger"

#: The format of `schema.sql`: an older one is upgraded (`ledger.opening`), a newer one refused, never guessed.
VERSION = 8
#: The formats that are read: what is older than the newest is upgraded.
READ = (5, 6, 7, VERSION)

#: What is only ever added to. All other tables but `meta` are computed from it, and so are all columns of them but the
#: noisy values that wait to be published.
TRUTH = ("events", "contents")


def make(database: sqlite3.Connection) -> None:
    """Make the ledger's tables and indexes in an empty database."""
    schema = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    for statement in re.sub(" *--.*", "", schema).strip().split(";\n"):
        database.execute(statement)
    for table, names in parts_of(database).items():
        if _is_sealed(table, names):
            database.execute(f"create index {table}_unsealed on {table} (seal) where seal is null")


def parts_of(database: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the columns of a database's tables by name, none of its indexes."""
    query = (
        "select m.name, c.name from sqlite_master m left join pragma_table_xinfo(m.name) c "
        "where substr(m.name, 1, 7) != 'sqlite_' order by m.rowid, c.cid"
    )
    names_by_part: dict[str, tuple[str, ...]] = {}
    for part, column in database.execute(query):
        names = names_by_part.get(part, ())
        names_by_part[part] = names if column is None else (*names, column)
    return names_by_part


@cache
def parts() -> dict[str, tuple[str, ...]]:
    """Return the parts of an empty ledger, tables in their order."""
    with closing(sqlite3.connect(":memory:")) as empty:
        make(empty)
        return parts_of(empty)


def columns() -> dict[str, tuple[str, ...]]:
    """Return the columns of the ledger's tables."""
    return {table: names for table, names in parts().items() if names}


def sealed() -> list[str]:
    """Return the tables with a seal for each row; units have one for each source."""
    return [table for table, names in columns().items() if _is_sealed(table, names)]


def _is_sealed(table: str, names: tuple[str, ...]) -> bool:
    return "seal" in names and table != "meta"

"""Whether a ledger is what its events say: everything is computed from them once more, beside it, and compared.

The database compares the rows, of which there may be millions: only those that differ are looked at here.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from takifugu.accounting.ledger.applying import rebuild
from takifugu.accounting.ledger.disk.backup import in_memory
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.format.chain import breaks
from takifugu.accounting.ledger.format.tables import TRUTH, columns
from takifugu.core.errors import LedgerError
from takifugu.core.lists import without

#: So much of a value is shown.
_LONGEST = 40

#: What tells rows of one table apart; those of others have numbers.
_NAMES = {"units": "lower(hex(tag)) || ' of source ' || source"}

_Table = dict[int | str, dict[str, object]]


def differences(connection: Connection) -> tuple[str, ...]:
    """Return all differences from the events, in words."""
    try:
        return tuple(_differences(connection))
    except LedgerError as error:
        return (error.what,)


def _differences(connection: Connection) -> Iterator[str]:
    with decoding():
        broken = list(breaks(connection))
    events = connection.value("select count(*) from events")
    if len(broken) >= events > 1:
        broken = ["no event follows from the one before it: the ledger's key, id or date is not the one it had"]
    yield from broken
    lost = []
    for digest, body in connection.execute("select digest, body from contents"):
        if not isinstance(body, bytes) or sha256(body).hexdigest() != digest:
            lost.append(f"content {str(digest)[:16]} is not what it was")
    yield from lost
    if broken or lost:
        yield "so what else it holds cannot be computed from its events"
        return
    with in_memory(connection) as copied:
        for name in _TABLES:
            copied.execute(f"create table before_{name} as {_numbered(name)}")
        rebuild(copied)
        for name in _TABLES:
            before, now = f"select * from before_{name}", _numbered(name)
            yield from _of_table(name, _rows(copied, f"{before} except {now}"), _rows(copied, f"{now} except {before}"))


#: What is said of a row that is there and of none, by whether it is missing.
_PRESENCE = {True: "is missing", False: "no event wrote it"}

#: What is computed from the events, and what is said of the ledger as a whole.
_TABLES = tuple(without(columns(), TRUTH))


def _numbered(table: str) -> str:
    return f"select {_NAMES.get(table, 'rowid')} as number, * from {table}"


def _rows(connection: Connection, query: str) -> _Table:
    rows = {}
    for row in connection.all(query):
        values = row._asdict()
        rows[values.pop("number")] = values
    return rows


def _of_table(name: str, rows: _Table, right_rows: _Table) -> Iterator[str]:
    for number in sorted({*rows, *right_rows}):
        row, right = rows.get(number), right_rows.get(number)
        if row is None or right is None:
            yield f"{name}, row {number}: {_PRESENCE[row is None]}"
            continue
        has_other_seal = has_other_value = False
        for column in right:
            if row[column] == right[column]:
                continue
            if column in ("seal", "units_seal", "counts"):
                has_other_seal = True
                continue
            has_other_value = True
            have, want = _words_of(row[column]), _words_of(right[column])
            yield f"{name}, row {number}: {column} is {have}, and its events say {want}"
        if has_other_seal and not has_other_value:
            yield f"{name}, row {number}: its seal is not that of what it holds"


def _words_of(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")

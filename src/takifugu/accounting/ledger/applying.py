"""From events to everything else: each is written and applied at once, and all can be applied anew and compared.

Applied again in their order they give the very same tables: what units have spent is computed from what was known then.

The database compares the rows, of which there may be millions: only those that differ are looked at here.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from takifugu.accounting.ledger import pending as reserved
from takifugu.accounting.ledger import store as rows
from takifugu.accounting.ledger.disk.backup import in_memory
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import amount, decoding
from takifugu.accounting.ledger.facts import Fact, append, content, facts, request_in
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import breaks, check_chain
from takifugu.accounting.ledger.format.tables import TRUTH, columns
from takifugu.accounting.ledger.tallying import Tally, tally
from takifugu.accounting.ledger.values import DRAWN, PUBLISHED, RESERVED
from takifugu.accounting.ledger.writing import write_debits, write_people, write_releases
from takifugu.core.errors import LedgerError
from takifugu.core.lists import without

#: What the history of a source says of releases that were entered from their certificates.
ADOPTED = "entered from the certificates in a folder, at the cost of a change of the whole data, for every person"
AS_PAID = "entered from the certificates in a folder, which a copy of this ledger wrote, as what they are"


def note(connection: Connection, fact: Fact, computed: Tally | None = None) -> None:
    """Write an event and its consequences.

    `computed` is the cost of paid releases, where known. Raises LedgerError for a ledger that was edited: nothing is
    written after that as if it had not been.
    """
    seals.check(connection)
    append(connection, fact)
    apply(connection, fact, computed)
    seals.write(connection)


def rebuild(connection: Connection, unread: list[str] | None = None) -> None:
    """Compute all tables from the events.

    What cannot be applied is told in `unread`, where that is given, and the others are applied without it. Noisy values
    that wait to be published stay with their reservations. Raises LedgerError where the events are not those that were
    written.
    """
    check_chain(connection)
    bundles = connection.all("select public_id, bundle from reservations where bundle is not null")
    for table in reversed(columns()):
        if table not in (*TRUTH, "meta"):
            connection.execute(f"delete from {table}")
    for number, fact in enumerate(list(facts(connection)), 1):
        connection.execute("savepoint event")
        try:
            with decoding():
                apply(connection, fact)
        except LedgerError as error:
            names = ", ".join(f"release {name!r}" for name, _ in fact.body.get("ids", ()))
            about = f"event {number:,} ({fact.kind}, about {fact.source!r}{names and f': {names}'})"
            if unread is None:
                raise LedgerError(f"{about} cannot be applied: {error.what}", rule=error.rule, fix=error.fix) from None
            unread.append(f"{about} cannot be applied: {error.what}")
            connection.execute("rollback to event")
        connection.execute("release event")
    if unread:
        return
    for group, bundle in bundles:
        reserved.set_bundle(connection, group, bundle)
    seals.write(connection)


def apply(connection: Connection, fact: Fact, computed: Tally | None = None) -> None:
    """Write the consequences of an event, without sealing them."""
    if fact.kind == "source":
        rows.add_source(connection, fact.source, fact.body["id"], fact.created)
        return
    if fact.kind == "aside":
        return
    number = rows.known_source(connection, fact.source).number
    if fact.kind == "budget":
        budget = amount(fact.body["epsilon"], fact.body["delta"])
        rows.set_budget(connection, number, budget, fact.body["implied"], fact.created)
    elif fact.kind == "paid":
        _pay(connection, fact, number, computed)
    elif fact.kind == "drawn":
        if reserved.held(connection, fact.body["group"]).state == RESERVED:  # another copy may have gone further
            reserved.set_state(connection, fact.body["group"], DRAWN, fact.created)
    elif fact.kind in ("published", "over"):
        reserved.set_state(connection, fact.body["group"], PUBLISHED, fact.created)
        if fact.kind == "over":
            rows.add_note(connection, number, fact.created, fact.body["why"])
    else:
        raise LedgerError(f"the ledger has an event of the kind {fact.kind!r:.40}", rule="it was edited or damaged")


def _pay(connection: Connection, fact: Fact, number: int, computed: Tally | None) -> None:
    """Write paid or adopted releases and the new costs of units."""
    body, created = fact.body, fact.created
    if computed is None:  # what nobody answered counts as other entries: in an old ledger, or beside another copy's
        same_entries = bool(body.get("same_entries"))
        computed = tally(connection, fact.source, request_in(connection, fact), body["same_people"], same_entries)
    request, recipe = computed.request, content(connection, body["recipe"]).decode()
    row = reserved.add_reservation(connection, number, body["group"], body["identity"], recipe, created)
    released = write_releases(connection, number, row, request, body["software"], created)
    write_debits(connection, computed, number, released)
    if request.is_everyone:
        reserved.set_state(connection, body["group"], PUBLISHED, created)
        is_as_paid = all(part.charge.read_as for part in request.parts)
        words = f"{AS_PAID}, for every person" if is_as_paid else ADOPTED
        rows.add_note(connection, number, created, f"{', '.join(request.ids)}: {words}")
    else:
        write_people(connection, number, computed, created)
        rows.add_readings(connection, number, computed.readings, created)
    rows.changed(connection, number)


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
        yield _NOT_COMPARED
        return
    with in_memory(connection) as copied:
        for name in _TABLES:
            copied.execute(f"create table before_{name} as {_numbered(name)}")
        unread = list[str]()
        rebuild(copied, unread)
        yield from unread
        if unread:
            yield _NOT_COMPARED
            return
        for name in _TABLES:
            before, now = f"select * from before_{name}", _numbered(name)
            yield from _of_table(name, _rows(copied, f"{before} except {now}"), _rows(copied, f"{now} except {before}"))


_NOT_COMPARED = "so what else it holds cannot be computed from its events"

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

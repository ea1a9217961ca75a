"""The ledger as rows: transactions, keyed hashes, sources with their budgets, and what is shown of them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, starmap
from pathlib import Path

from takifugu.accounting.ledger.disk import sqlite
from takifugu.accounting.ledger.disk.places import check_one_name, in_use
from takifugu.accounting.ledger.disk.sqlite import READ_LOCK, WRITE_LOCK, Connection, Row
from takifugu.accounting.ledger.encoding import amount, decoding, known_state
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.readings import Readings, known_reading
from takifugu.accounting.ledger.format.tables import EVERYONE, TAG
from takifugu.accounting.ledger.histories import charge_of_text
from takifugu.accounting.ledger.values import (
    PUBLISHED,
    UNREADABLE,
    Amount,
    Entry,
    Event,
    Source,
    SourceRow,
    UnitSpent,
    most,
)
from takifugu.core.errors import LedgerError, TakifuguError
from takifugu.core.readings import side_by_side
from takifugu.numbers.rationals import to_text

#: How many bytes SHA-256 takes at once.
_BLOCK = 64


@dataclass(frozen=True, eq=False)
class Store:
    """An open ledger: its path, the seconds to wait for others, and the key of hashes.

    `public_id` says which ledger it is; `upgraded_from` where one of an older format is kept. `place` is where `path`
    led when it was opened, whatever the process calls its folder afterwards.
    """

    path: Path
    timeout: float
    key: bytes = field(repr=False)
    is_new: bool = False
    public_id: str = ""
    upgraded_from: Path | None = None
    place: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", self.path.absolute())

    def tag(self, kind: str, content: bytes) -> bytes:
        """Return this ledger's keyed hash of a content of some kind."""
        return hmac.digest(self.key, kind.encode() + b"\0" + content, "sha256")

    def tag_of_unit(self, name: str) -> bytes:
        """Return the keyed hash of a unit's name, cut to length.

        Of two units with one hash both pay for all (Theorem 7).
        """
        begun, inner = self._of_units
        content, keyed_hash = begun.copy(), inner.copy()
        content.update(name.encode())
        keyed_hash.update(content.digest())
        return keyed_hash.digest()[:TAG]

    @cached_property
    def _of_units(self) -> tuple[hashlib._Hash, hashlib._Hash]:
        """Return both hashes of an HMAC up to a unit's name.

        Before it come "unit" and a zero (RFC 2104).
        """
        block = self.key.ljust(_BLOCK, b"\0")
        within, around = (bytes(byte ^ pad for byte in block) for pad in (0x36, 0x5C))
        return hashlib.sha256(within + b"unit\0"), hashlib.sha256(around)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Look at one moment of the ledger until the end."""
        with self._transaction(READ_LOCK) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Hold the write lock until the end; undo all on an exception."""
        with self._transaction(WRITE_LOCK) as connection:
            if self.place.exists():
                check_one_name(self.place)
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        opened = sqlite.shared_transaction(self.place, self.timeout, begin, self.path)
        with sqlite.explained(self.path), in_use(self.place), opened as connection:
            yield connection


def read_source(connection: Connection, name: str) -> Source:
    """Return a source by its normalised name, of number 0 unless it is there."""
    row = connection.first("select * from sources where name = ?", (name,))
    return Source(name, "", None, False) if row is None else _source(row)


def known_source(connection: Connection, name: str) -> Source:
    """Return a source of an earlier event."""
    source = read_source(connection, name)
    if not source.number:
        raise LedgerError("the ledger has an event of a source that it lacks", rule="it was edited or damaged")
    return source


def source_of_row(connection: Connection, number: int) -> Source:
    return _source(connection.one("select * from sources where id = ?", (number,)))


def _source(row: Row) -> Source:
    budget = None
    with decoding():
        if row.budget_epsilon is not None:
            budget = amount(row.budget_epsilon, row.budget_delta)
    return Source(row.name, row.public_id, budget, bool(row.budget_is_implied), row.id)


def add_source(connection: Connection, name: str, public_id: str, created: str) -> None:
    connection.insert(
        "sources", name=name, public_id=public_id, created=created, budget_is_implied=False, changes=0, members=0
    )


def set_budget(connection: Connection, source: int, budget: Amount, implied: bool, created: str) -> None:
    """Write a budget and a trace of it."""
    before = source_of_row(connection, source)
    was = "" if before.budget is None else f" (before: {before.budget.text(up=False)})"
    why = ", what the first release cost, because none was declared" if implied else ""
    add_note(connection, source, created, f"the budget is {budget.text(up=False)}{was}{why}")
    connection.execute(
        "update sources set budget_epsilon = ?, budget_delta = ?, budget_is_implied = ?, seal = null where id = ?",
        (to_text(budget.epsilon), to_text(budget.delta), implied, source),
    )
    changed(connection, source)


def read_readings(connection: Connection, source: int) -> Readings:
    """Return the readings of a source in their classes, oldest first."""
    seals.check_rows(connection, "readings", [source], "source")
    classes: dict[int, list[str]] = {}
    with decoding():
        for row in connection.all("select alike, body from readings where source = ? order by id", (source,)):
            classes.setdefault(row.alike, []).append(known_reading(row.body))
    return Readings({members[0]: tuple(members) for members in classes.values()})


def add_readings(connection: Connection, source: int, now: Readings, created: str) -> None:
    """Write new readings, and the owner's answers."""
    before = read_readings(connection, source)
    for number, members in enumerate(now.classes.values()):
        for body in members[len(before.classes.get(members[0], ())) :]:
            connection.insert("readings", source=source, alike=number, body=body)
            if before.classes:
                answer = "other entries" if members[0] == body else "the same entries"
                lines = side_by_side(before.nearest(body), body)
                add_note(connection, source, created, f"declared to be {answer}:\n{lines}")


def changed(connection: Connection, source: int) -> None:
    """Mark a source's account as changed, for all computations from before."""
    connection.execute("update sources set changes = changes + 1, seal = null where id = ?", (source,))


def open_units(connection: Connection, source: int) -> None:
    """Mark a source's units for sealing."""
    connection.execute("update sources set units_seal = null, seal = null where id = ?", (source,))


def read_counters(connection: Connection) -> list[Row]:
    return connection.all("select id, changes, members from sources order by id")


def has_members(connection: Connection, source: int) -> bool:
    """Return whether a source's releases name their units."""
    return bool(connection.value("select members from sources where id = ?", (source,)))


def read_people(connection: Connection) -> dict[tuple[int, int], bool]:
    """Return all declarations of the same people, by pairs of sources.

    The pair of a source with itself says that it names no units, and is of the same people as others without names.
    """
    return {(row.one, row.other): bool(row.same) for row in connection.all("select * from people")}


def people_of(connection: Connection, source: int) -> dict[str, bool]:
    """Return, by other source, whether like-named units are the same people."""
    declarations = read_people(connection)
    people = {}
    for other in partners(source, declarations):
        people[source_of_row(connection, other).name] = declarations[pair(source, other)]
    return people


def pair(left: int, right: int) -> tuple[int, int]:
    """Return two sources, the lower number first."""
    return (min(left, right), max(left, right))


def partners(source: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the other sources of a source's pairs, by number."""
    others = set[int]()
    for ends in pairs:
        if source in ends:
            others.update(ends)
    return sorted(others - {source})


def add_note(connection: Connection, source: int, created: str, words: str) -> None:
    """Leave a trace in the history of a source."""
    connection.insert("notes", source=source, what=words, created=created)


def read_notes(connection: Connection, source: int) -> tuple[Event, ...]:
    notes = connection.all("select created, what from notes where source = ? order by id", (source,))
    return tuple(starmap(Event, notes))


def read_release_ids(connection: Connection, source: int) -> frozenset[str]:
    releases = connection.all("select public_id from releases where source = ?", (source,))
    return frozenset(chain.from_iterable(releases))


def read_spent(connection: Connection, source: int) -> tuple[UnitSpent, ...]:
    query = (
        "select u.tag, s.epsilon, s.delta from units u join standings s on s.id = u.standing "
        "where u.source = ? and u.tag != ? order by u.tag"
    )
    with decoding():
        rows = connection.tuples().execute(query, (source, EVERYONE))
        return tuple(UnitSpent(tag.hex(), amount(epsilon, delta)) for tag, epsilon, delta in rows)


def most_spent(connection: Connection, source: int) -> Amount:
    """Return the most any unit of a source spent."""
    costs = connection.all("select distinct epsilon, delta from standings where source = ?", (source,))
    with decoding():
        return most(list(starmap(amount, costs)))


def read_history(connection: Connection, source: int) -> tuple[Entry, ...]:
    query = (
        "select r.id, r.public_id, r.name, r.epsilon, r.delta, r.software, r.created, s.state, c.body, f.fingerprint, "
        "b.units from releases r join reservations s on s.id = r.reservation join debits d on d.release = r.id "
        "join batches b on b.id = d.batch join charges c on c.id = d.charge join frameworks f on f.id = c.framework "
        "where r.source = ? order by r.id, d.id"
    )
    rows_by_release: dict[int, list[Row]] = {}
    for row in connection.all(query, (source,)):
        rows_by_release.setdefault(row.id, []).append(row)
    return tuple(starmap(_entry, rows_by_release.values()))


def _entry(first: Row, *others: Row) -> Entry:
    """Return one release; of one whose charge cannot be read, its name, state and cost."""
    try:
        charges = [charge_of_text(row.body) for row in (first, *others)]
    except (TakifuguError, ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        charges = []
    with decoding():
        kinds = {str(charge.covers.composition) for charge in charges}
        fingerprints = dict.fromkeys(row.fingerprint for row in (first, *others))
        return Entry(
            id=first.public_id, name=first.name, state=known_state(first.state),
            amount=amount(first.epsilon, first.delta), kinds=tuple(sorted(kinds)),
            scope=charges[0].scope if charges else UNREADABLE,
            units=first.units + sum(row.units for row in others), frameworks=tuple(fingerprints),
            software=first.software, created=first.created,
        )  # fmt: skip


def read_rows(connection: Connection) -> tuple[SourceRow, ...]:
    units_of = "select count(*) from units where source = ? and tag != ?"
    states_of = (
        "select v.state, count(*) as releases from releases r join reservations v on v.id = r.reservation "
        "where r.source = ? group by v.state"
    )
    summaries = []
    for row in connection.all("select * from sources order by id"):
        source, total = _source(row), most_spent(connection, row.id)
        units = connection.value(units_of, (row.id, EVERYONE))
        count = unpublished = 0
        for state, releases in connection.all(states_of, (row.id,)):
            count += releases
            if state != PUBLISHED:
                unpublished += releases
        budget = (source.budget, source.budget_is_implied)
        summaries.append(SourceRow(source.name, source.id, total, *budget, units, count, unpublished, row.members > 0))
    return tuple(summaries)

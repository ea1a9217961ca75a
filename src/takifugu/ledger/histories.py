"""Histories of units as rows: who has which, what is in them, and what is added to many units at once.

Units that were debited alike share one history, so that what a release writes about them is written once. A history is
a chain of batches, each what one reservation debits a unit; equal batches are summed up, so that a long past of equal
releases is as short as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from takifugu import frameworks as framework_room
from takifugu.composition import completed
from takifugu.errors import LedgerError
from takifugu.frameworks import Framework
from takifugu.guarantee import Charge
from takifugu.ledger.accounts import Item
from takifugu.ledger.encoding import decoding

#: A history as it is summed up: (the first batch of its shape, how many there are of it), in the order of the first.
Sums = tuple[tuple[int, int], ...]


class Hit(NamedTuple):
    """A unit as a source knows it: its row and its tag there, its history, and what it has spent."""

    row: int
    tag: bytes
    known: tuple[int, str, str]


@dataclass(frozen=True)
class Batch:
    """What one reservation debits a unit: its debits in order; `shape` is what equal batches have in common."""

    id: int
    shape: str
    items: tuple[Item, ...]

    @property
    def has_delta(self) -> bool:
        return any(item.charge.delta > 0 for item in self.items)


@lru_cache(maxsize=1024)
def framework_of(body: str) -> Framework:
    """Return the framework that a canonical text describes, always the same object for the same text."""
    return framework_room.from_dict(json.loads(body))


@lru_cache(maxsize=65536)
def charge_of_text(body: str) -> Charge:
    """Return the charge that a canonical text describes; older versions wrote less, and it counts at its worst."""
    return Charge.from_dict({"release": "", **json.loads(body)})


def select_these(connection: Connection, table: str, column: str, values: Iterable[Any]) -> None:
    """Keep values in a temporary table of this connection, to be joined with: there is no limit to their number."""
    raw = connection.connection.cursor()
    raw.execute(f"create temp table if not exists {table} ({column} primary key) without rowid")
    raw.execute(f"delete from {table}")
    raw.executemany(f"insert or ignore into {table} values (?)", [(value,) for value in values])


def hits(
    connection: Connection, tags: Sequence[bytes], spellings: Mapping[bytes, bytes]
) -> dict[bytes, dict[int, tuple[Hit, ...]]]:
    """Return in which sources each of these tags is a unit; what is known under a spelling is of the unit itself."""
    select_these(connection, "wanted_tags", "tag", tags)
    query = (
        "select u.source, u.id, u.tag, u.history, u.epsilon, u.delta "
        "from wanted_tags w cross join units u on u.tag = w.tag"
    )
    found: dict[bytes, dict[int, tuple[Hit, ...]]] = {}
    same: dict[tuple[int, str, str], tuple[int, str, str]] = {}
    for source, row, tag, *rest in connection.connection.cursor().execute(query):
        known = tuple(rest)
        hit = Hit(row, tag, same.setdefault(known, known))
        mine = found.setdefault(spellings.get(tag, tag), {})
        mine[source] = (*mine[source], hit) if source in mine else (hit,)
    return found


def tags_of(connection: Connection, source: int) -> list[bytes]:
    """Return every unit of a source, oldest first."""
    query = "select tag from units where source = ? and not is_everyone order by id"
    return [tag for (tag,) in connection.exec_driver_sql(query, (source,))]


def histories_of_everyone(connection: Connection, chosen: Iterable[int]) -> dict[int, int]:
    """Return of these sources the history that every unit has beside its own, where there is one."""
    chosen = set(chosen)
    query = "select source, history from units where is_everyone"
    return {source: history for source, history in connection.exec_driver_sql(query) if source in chosen}


def has_links(connection: Connection, source: int) -> bool:
    """Whether a pooled output-law promise was ever made about this source."""
    query = "select 1 from charges c join frameworks f on f.id = c.framework where f.source = ? and c.links limit 1"
    return connection.exec_driver_sql(query, (source,)).first() is not None


def sums_of(connection: Connection, chosen: Iterable[int]) -> dict[int, Sums]:
    """Return histories as they are summed up."""
    select_these(connection, "wanted_histories", "id", chosen)
    query = "select h.id, h.sums from wanted_histories w cross join histories h on h.id = w.id"
    with decoding():
        return {history: _sums(text) for history, text in connection.exec_driver_sql(query)}


def _sums(text: str) -> Sums:
    found = tuple((batch, times) for batch, times in json.loads(text))
    if not found or not all(isinstance(n, int) and n > 0 for pair in found for n in pair):
        raise ValueError("a history without debits")
    return found


def paths_of(connection: Connection, chosen: Iterable[int]) -> dict[int, Sums]:
    """Return histories batch by batch, nothing summed up, so that each says which release it is of."""
    select_these(connection, "wanted_histories", "id", chosen)
    query = (
        "with recursive path (leaf, id) as (select id, id from wanted_histories union "
        "select path.leaf, h.parent from path join histories h on h.id = path.id where h.parent is not null) "
        "select path.leaf, h.batch from path join histories h on h.id = path.id order by path.leaf, h.batch"
    )
    found: dict[int, list[tuple[int, int]]] = {}
    for leaf, batch in connection.exec_driver_sql(query):
        found.setdefault(leaf, []).append((batch, 1))
    return {leaf: tuple(path) for leaf, path in found.items()}


def batches_of(connection: Connection, chosen: Iterable[int]) -> tuple[dict[int, Batch], dict[str, Framework]]:
    """Return batches by number, and the frameworks under which they are charged by fingerprint."""
    chosen = set(chosen)
    select_these(connection, "wanted_batches", "id", chosen)
    query = (
        "select b.id, b.shape, d.release, d.recharge, d.charge, d.reading, r.public_id, c.framework "
        "from wanted_batches w cross join batches b on b.id = w.id join debits d on d.batch = b.id "
        "join releases r on r.id = d.release join charges c on c.id = d.charge order by b.id, d.id"
    )
    rows = connection.exec_driver_sql(query).all()
    known = _frameworks(connection, {row.framework for row in rows})
    charges = _charges(connection, {row.charge for row in rows}, known)
    if chosen != {row.id for row in rows}:
        raise LedgerError(
            "the ledger lacks a debit that one of its histories names",
            rule="it was edited or damaged",
            fix="nothing more is released about this source, restore a backup",
        )
    items: dict[int, list[Item]] = {}
    shapes: dict[int, str] = {}
    for row in rows:
        fingerprint, reading = known[row.framework][0], f"{row.id}.{row.reading}" if row.reading else ""
        item = Item(charges[row.charge], fingerprint, row.public_id, row.release, bool(row.recharge), 1, reading)
        items.setdefault(row.id, []).append(item)
        shapes[row.id] = row.shape
    return {n: Batch(n, shapes[n], tuple(held)) for n, held in items.items()}, dict(known.values())


def _frameworks(connection: Connection, chosen: set[int]) -> dict[int, tuple[str, Framework]]:
    select_these(connection, "wanted_rows", "id", chosen)
    query = "select f.id, f.fingerprint, f.body from wanted_rows w cross join frameworks f on f.id = w.id"
    with decoding():
        return {row.id: (row.fingerprint, framework_of(row.body)) for row in connection.exec_driver_sql(query)}


def _charges(
    connection: Connection, chosen: set[int], known: Mapping[int, tuple[str, Framework]]
) -> dict[int, Charge]:
    select_these(connection, "wanted_rows", "id", chosen)
    query = "select c.id, c.body, c.framework from wanted_rows w cross join charges c on c.id = w.id"
    with decoding():
        rows = connection.exec_driver_sql(query).all()
        return {row.id: completed(charge_of_text(row.body), known[row.framework][1]) for row in rows}


def charges_of(connection: Connection, source: int) -> list[tuple[Charge, int]]:
    """Return every charge about a source, each with how many debits of units there were of it."""
    query = (
        "select c.body, sum(b.units) as units from releases r join debits d on d.release = r.id "
        "join batches b on b.id = d.batch join charges c on c.id = d.charge where r.source = ? group by c.id"
    )
    with decoding():
        return [(charge_of_text(row.body), row.units) for row in connection.exec_driver_sql(query, (source,))]


def items_of(sums: Sums, batches: Mapping[int, Batch]) -> Iterator[Item]:
    """Yield the debits of a history."""
    for batch, times in sums:
        for item in batches[batch].items:
            yield item if times == 1 else item.repeated(times)


def with_one_more(sums: Sums, batches: Mapping[int, Batch], new: Batch) -> Sums:
    """Return a history after one more batch, added to an equal one where the order of the two does not matter.

    It does where a release has a delta: what was chosen after its output was seen may count differently.
    """
    if any(batches[batch].has_delta for batch, _ in sums):
        return (*sums, (new.id, 1))
    for place, (batch, times) in enumerate(sums):
        if batches[batch].shape == new.shape:
            return (*sums[:place], (batch, times + 1), *sums[place + 1 :])
    return (*sums, (new.id, 1))


def entry_rows(connection: Connection, source: int) -> Sequence[Row[Any]]:
    """Return every release of a source with its charges and how many units each debits, oldest first."""
    query = (
        "select r.id, r.public_id, r.name, r.epsilon, r.delta, r.software, r.created, s.state, c.body, f.fingerprint, "
        "b.units from releases r join reservations s on s.id = r.reservation join debits d on d.release = r.id "
        "join batches b on b.id = d.batch join charges c on c.id = d.charge join frameworks f on f.id = c.framework "
        "where r.source = ? order by r.id, d.id"
    )
    return connection.exec_driver_sql(query, (source,)).all()

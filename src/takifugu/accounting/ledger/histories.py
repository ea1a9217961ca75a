"""Histories of units as rows: who has which, what is in them, and what is added to many units at once.

Units that were debited alike share one history, so that what a release writes about them is written once. A history is
a chain of batches, each what one reservation debits a unit (`summaries` says what it comes to).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from takifugu.accounting.ledger.accounts import Item
from takifugu.accounting.ledger.disk.sqlite import Connection
from takifugu.accounting.ledger.encoding import decoding
from takifugu.accounting.ledger.format import seals
from takifugu.accounting.ledger.format.chain import edited
from takifugu.analysis.guarantee import SAME, Charge
from takifugu.core.errors import LedgerError
from takifugu.model import frameworks as framework_room
from takifugu.model.frameworks import Framework

#: The batches of the histories in `wanted_histories`.
_PATH = (
    "with recursive path (leaf, history, parent, batch) as "
    "(select h.id, h.id, h.parent, h.batch from wanted_histories w "
    "cross join histories h on h.id = w.id union "
    "select path.leaf, h.id, h.parent, h.batch from path cross join histories h on h.id = path.parent)"
)

#: Tables with the columns that hold the numbers of their rows, among debits.
_NUMBERS = {"histories": "history", "batches": "batch", "debits": "id", "releases": "release"}
#: Fewer than one of so many units are looked up one by one; of more, all are read.
FEW = 8


class Standing(NamedTuple):
    """The common past of units: row, history, amount, and their number."""

    row: int
    history: int
    epsilon: str
    delta: str
    units: int


@lru_cache(maxsize=1024)
def framework_of(body: str) -> Framework:
    """Return the framework of a canonical text, one object for each text."""
    return framework_room.from_dict(json.loads(body))


@lru_cache(maxsize=65536)
def charge_of_text(body: str) -> Charge:
    """Return the charge of a canonical text."""
    return Charge.from_dict({"release": "", **json.loads(body)})


def select_these(connection: Connection, table: str, column: str, values: Iterable[Hashable]) -> None:
    """Put values into a temporary table for joins, without a limit."""
    raw = connection.tuples()
    raw.execute(f"create temp table if not exists {table} ({column} primary key) without rowid")
    raw.execute(f"delete from {table}")
    in_order = sorted(values)  # type: ignore[type-var]  # so that they are written one after the other
    raw.executemany(f"insert or ignore into {table} values (?)", [(value,) for value in in_order])


@dataclass(frozen=True, eq=False)
class Known:
    """The standings of some tags in one source.

    A tag outside `others` has the `usual` standing; without a usual one a source has the others alone. So of people who
    all have one past nothing is held for each.
    """

    tags: Collection[bytes]
    usual: Standing | None = None
    others: dict[bytes, Standing] = field(default_factory=dict)

    def get(self, tag: bytes) -> Standing | None:
        standing = self.others.get(tag)
        if standing is None and self.usual is not None and tag in self.tags:
            return self.usual
        return standing


def hits(connection: Connection, tags: Collection[bytes]) -> dict[int, Known]:
    """Return the standings of units by source and tag."""

    @cache
    def standing_of(row: int) -> Standing:
        query = "select id, history, epsilon, delta, units from standings where id = ?"
        stored = connection.first(query, (row,))
        if stored is None:
            raise edited(connection, "what some people have spent is not there")
        return Standing(*stored)

    counts = Counter((source, row) for source, _, row in _rows_of(connection, tags))
    units, usual = Counter[int](), dict[int, int]()
    for (source, row), count in counts.most_common():
        units[source] += count
        usual.setdefault(source, row)
    others: dict[int, dict[bytes, Standing]] = {source: {} for source in usual}
    alone = {(source, row) for source, row in usual.items() if units[source] >= len(tags)}
    if len(alone) < len(counts):
        for source, tag, row in _rows_of(connection, tags):
            if (source, row) not in alone:
                others[source][tag] = standing_of(row)
    standings = {}
    for source, row in usual.items():
        common = standing_of(row) if (source, row) in alone else None
        standings[source] = Known(tags, common, others[source])
    return standings


def _rows_of(connection: Connection, tags: Collection[bytes]) -> Iterator[tuple[int, bytes, int]]:
    """Yield source, tag and standing by tag."""
    raw = connection.tuples()
    if len(tags) >= connection.value("select count(*) from units") / FEW:
        everyone = raw.execute("select source, tag, standing from units")
        return (row for row in everyone if row[1] in tags)
    select_these(connection, "wanted_tags", "tag", tags)
    query = "select u.source, u.tag, u.standing from wanted_tags w cross join units u on u.tag = w.tag"
    return iter(raw.execute(query))


def tags_of(connection: Connection, source: int) -> list[bytes]:
    """Return every unit of a source, sorted."""
    query = "select tag from units where source = ? and tag != x'' order by tag"
    return list(chain.from_iterable(connection.tuples().execute(query, (source,))))


def histories_of_everyone(connection: Connection, sources: Iterable[int]) -> dict[int, int]:
    """Return each source's common history, beside the units' own ones."""
    sources = set(sources)
    query = "select u.source, s.history from units u join standings s on s.id = u.standing where u.tag = x''"
    return {source: history for source, history in connection.execute(query) if source in sources}


def has_links(connection: Connection, source: int) -> bool:
    """Return whether a source has pooled output-law promises."""
    query = "select 1 from charges c join frameworks f on f.id = c.framework where f.source = ? and c.links limit 1"
    return connection.first(query, (source,)) is not None


def debits_of(connection: Connection, leaves: Iterable[int]) -> dict[int, tuple[Item, ...]]:
    """Return every debit of histories, the oldest first."""
    select_these(connection, "wanted_histories", "id", leaves)
    query = (
        f"{_PATH} select leaf, history, path.batch, d.id, d.release, d.recharge, d.charge, d.reading, r.public_id "
        "from path left join debits d on d.batch = path.batch left join releases r on r.id = d.release "
        "order by leaf, path.batch, d.id"
    )
    rows = connection.all(query)
    for table, column in _NUMBERS.items():
        seals.check_rows(connection, table, set(map(attrgetter(column), rows)))
    charge_by_row = charges_of(connection, {row.charge for row in rows})
    items_of: dict[int, list[Item]] = {}
    for row in rows:
        if row.charge not in charge_by_row or row.public_id is None:
            raise LedgerError(
                "the ledger lacks a debit that one of its histories names",
                rule="it was edited or damaged",
                fix="nothing more is released about this source, restore a backup",
            )
        charge = read_as(charge_by_row[row.charge], row.charge, row.release, row.batch, row.reading)
        item = Item(charge, charge.framework, row.public_id, row.release, bool(row.recharge))
        items_of.setdefault(row.leaf, []).append(item)
    return {leaf: tuple(items) for leaf, items in items_of.items()}


def read_as(charge: Charge, row: int, release: int, batch: int, reading: str) -> Charge:
    """Return a charge as a batch's debit reads it.

    `release` becomes the numbers of its row and its release.
    """
    if reading and not reading.startswith(SAME):
        reading = f"{batch}.{reading}"
    return replace(charge, release=f"{row} {release}", reading=reading)


def rows_of(charge: Charge) -> tuple[int, int]:
    """Return the rows of a charge and its release."""
    row, release = charge.release.split()
    return int(row), int(release)


def charges_of(connection: Connection, numbers: Iterable[int]) -> dict[int, Charge]:
    """Return charges by their rows."""
    select_these(connection, "wanted_rows", "id", numbers)
    seals.check_rows(connection, "charges", numbers)
    query = "select c.id, c.body from wanted_rows w cross join charges c on c.id = w.id"
    with decoding():
        return {row: charge_of_text(body) for row, body in connection.execute(query)}


def frameworks_of(connection: Connection, items_by_history: Iterable[Iterable[Item]]) -> dict[str, Framework]:
    """Return the frameworks of stored debits by fingerprint."""
    charge_rows = {rows_of(item.charge)[0] for item in chain.from_iterable(items_by_history)}
    select_these(connection, "wanted_rows", "id", charge_rows)
    query = (
        "select distinct f.id, f.fingerprint, f.body from wanted_rows w cross join charges c on c.id = w.id "
        "join frameworks f on f.id = c.framework"
    )
    rows = connection.all(query)
    seals.check_rows(connection, "frameworks", {row.id for row in rows})
    with decoding():
        return {row.fingerprint: framework_of(row.body) for row in rows}


def all_charges_of(connection: Connection, source: int) -> list[tuple[Charge, int]]:
    """Return a source's charges with numbers of debits."""
    query = (
        "select c.body, sum(b.units) as units from releases r join debits d on d.release = r.id "
        "join batches b on b.id = d.batch join charges c on c.id = d.charge where r.source = ? group by c.id"
    )
    for table in ("releases", "debits", "batches", "charges"):
        seals.check_rows(connection, table, None)
    with decoding():
        return [(charge_of_text(row.body), row.units) for row in connection.execute(query, (source,))]
